"""Verbs that play a run again: `demo` and `replay`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console

from ledger.events import Event
from ledger.plain_text import one_line, visible
from ledger.state.book import GrowingBook, commits
from ledger.state.decided import final_in_force
from moot.api import Run, open_run
from moot.app.experiments import re_run
from moot.app.runs import example, examples, find_run, finished_examples
from moot.app.seats import bench_for
from moot.cli.command import JsonOption, QuietOption, RunArgument, VerbResult, confirmation
from moot.errors import GOOD, NO, MootError, refuse, usage
from moot.terminal.live import pause_seconds, player, recorded_seconds, view_of
from moot.terminal.theme import console
from moot.view.labels import Label
from moot.view.outcome import outcome_of
from moot.view.outcome_text import outcome_text
from moot.view.results import Demo, Replay, re_run_text, reexecuted, replay_text
from moot.view.stop_checks import why_it_stopped
from rounds.experiments.bench import NoSandbox
from rounds.protocols import protocol_of
from rounds.run.controller import Controller
from rounds.run.reexecution import Reexecution, re_execute
from rounds.run.verdicts import standard

NoLiveOption = Annotated[bool, typer.Option("--no-live", help="Plain lines instead of the live view.")]


def demo(
    run: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Another example (`moot list runs/examples`), or any run."),
    ] = None,
    speed: Annotated[
        float, typer.Option(metavar="N", min=0, help="Times faster than brisk; 0 is at once.")
    ] = 1.0,
    no_live: NoLiveOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult | int:
    """Play a recorded deliberation through the real engine, without a key, and compare the ledger that comes out.

    Every reply was recorded; protocol, validators and signals run for real. Exit code 0: the same head hash.

    Example: moot demo crux-balance --speed 3
    """
    ours = open_run(_first_example() if run is None else example(run) or find_run(run))
    _refuse_import(ours, "play", "name")
    if json or quiet:
        result = _executed(ours)
        summary = Demo.from_parts(
            reexecuted(str(ours.path), result),
            recorded=True,
            stopped=why_it_stopped(ours.state),
            decisions=final_in_force(ours.state),
            outcome=ours.outcome,
        )
        return VerbResult(summary, str, GOOD if result.identical else NO)
    return GOOD if _perform(ours, console(), live=not no_live, speed=speed) else NO


def _first_example() -> Path:
    """Return the example that every installation has, or else the shortest finished one."""
    finished = finished_examples()
    if finished:
        return finished[0]
    there = ", ".join(path.name for path in examples())
    what = f"no recorded example is finished yet ({there})" if there else "no recorded example is here"
    fix = (
        "name a finished run: `moot demo RUN`"
        if there
        else "run it in a checkout of moot, or name a run: `moot demo RUN`"
    )
    raise MootError("no_example", what, "runs/examples", fix)


def _refuse_import(ours: Run, act: str, instead: str) -> None:
    # An import has events but no replies: there is nothing that the engine could read again.
    if ours.state.opening.origin.type == "import":
        fix = f"{instead} a run that was made by `moot run`"
        raise usage(f"an import has no replies to {act}", fix, str(ours.path))


def _perform(ours: Run, screen: Console, *, live: bool, speed: float) -> bool:
    """Play the run for people; return whether the ledger came out the same."""
    labels = (_demo_label(ours),)
    growing = GrowingBook(ours.blobs)
    protocol = protocol_of(ours.state.opening)
    view = view_of(growing.book, screen, live=live, clock=lambda: recorded_seconds(growing), labels=labels)
    # There is no viewer at a pipe or a file, so there the run is played at once.
    seconds = pause_seconds(sum(1 for _ in commits(ours.events)), speed) if screen.is_terminal else 0.0
    with view:
        # The view follows the commits of the new execution: what is shown is computed now, not read from the
        # recording.
        result = _executed(ours, player(growing, view, protocol, pause=_pace(seconds)))
    for divergence in result.divergences:
        screen.print(f"diverged: {divergence.kind} at event {divergence.seq}: {one_line(divergence.what)}")
    same = f"identical: same head {result.head.hash}"
    other = f"diverged: head {result.head.hash}, recorded {result.expected.hash}"
    screen.print(same if result.identical else other, soft_wrap=True)
    outcome = outcome_of(str(ours.path), growing.book())
    screen.print(f"\n{visible(outcome_text(outcome, str(ours.path), screen.width))}", soft_wrap=True, end="")
    return result.identical


def _demo_label(ours: Run) -> Label:
    began = ours.events[0].at[:10]
    replies = sum(event.call is not None for event in ours.events)
    text = f"{ours.path.name}: {replies} replies recorded on {began}; nobody is asked now, the engine runs for real"
    return Label("RECORDED", text)


def _pace(seconds: float) -> Callable[[], None]:
    """Return a pause that keeps to a timetable: time that the engine takes is not waited for again."""
    due = [time.monotonic()]

    def pause() -> None:
        # The lower bound keeps a slow stretch from being made up for by a rush of commits.
        due[0] = max(due[0] + seconds, time.monotonic() - seconds)
        left = due[0] - time.monotonic()
        if left > 0:
            time.sleep(left)

    return pause


def _executed(ours: Run, watch: Callable[[tuple[Event, ...]], None] = lambda _: None) -> Reexecution:
    """Run the protocol of a run again, on its recorded replies."""
    protocol = protocol_of(ours.book.state.opening)
    return re_execute(ours.book, protocol, Controller(protocol, standard(protocol)), watch)


def replay(
    run: RunArgument,
    again: Annotated[
        bool,
        typer.Option("--re-execute", help="Run the protocol again on the recorded replies, and compare."),
    ] = False,
    rerun: Annotated[
        bool, typer.Option("--re-run", help="Run the run's experiments again, in a sandbox, and compare.")
    ] = False,
    to: Annotated[int | None, typer.Option(metavar="SEQ", min=0, help="Stop after this event.")] = None,
    speed: Annotated[
        float, typer.Option(metavar="N", min=0, help="Times faster than brisk, on a terminal; 0 is at once.")
    ] = 1.0,
    no_live: NoLiveOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult | int:
    """Play the events in order. With --re-execute exit code 0 means: the new ledger is the same, byte for byte.

    --re-run is your word for running the run's experiments again here, from their blobs: exit code 0 means that every
    verdict came out as recorded. Those that did not, or could not be run here, are named, with the sentences of the
    memo that would fall. Nothing is written.

    Example: moot replay @last --re-execute
    """
    ours = open_run(find_run(run))
    if rerun:
        return _run_again(ours, silent=json or quiet)
    if again:
        # A part of the ledger has another head than the whole, so a comparison would always fail.
        refuse(to is not None, "--to plays a part, --re-execute compares the whole", "give one of them")
        _refuse_import(ours, "run again", "replay")
        comparison = reexecuted(str(ours.path), _executed(ours))
        # Even with --quiet a divergence is printed: it is what the call was made to find.
        code = GOOD if comparison.identical else NO
        return VerbResult(comparison, lambda: replay_text(comparison), code, insists=not comparison.identical)
    events = [event for event in ours.events if to is None or event.seq <= to]
    if json:
        return VerbResult(_played(ours, len(events)), str)
    if not quiet:
        _play(ours, events, speed=speed, live=not no_live)
    return GOOD


def _run_again(ours: Run, *, silent: bool) -> VerbResult:
    """Compare the verdicts of all experiments with the verdicts of new runs."""
    book = ours.book
    bench, why_not = None, ""
    # Without a judged experiment the sandbox is not needed, and the person is not asked about it.
    if any(facts.judged for facts in book.state.experiments.values()):
        try:
            bench = bench_for(confirmation(silent=silent))
        # Without a sandbox the experiments are still listed, with the reason why none was run.
        except NoSandbox as error:
            why_not = f"{error.what}; {error.fix}"
    played = _played(ours, len(ours.events))
    comparison = msgspec.structs.replace(played, re_run=re_run(book, bench, why_not))
    code = GOOD if all(row.same for row in comparison.re_run) else NO
    return VerbResult(comparison, lambda: re_run_text(comparison), code)


def _play(ours: Run, events: Sequence[Event], *, speed: float, live: bool) -> None:
    """Show the run as it grew, commit by commit."""
    screen, growing = console(), GrowingBook(ours.blobs)
    # The view needs the opening before it can draw; it is not played as a commit of its own.
    growing.take(events[:1])
    played = list(commits(events[1:]))
    seconds = pause_seconds(len(played), speed) if screen.is_terminal else 0.0
    with view_of(growing.book, screen, live=live, clock=lambda: recorded_seconds(growing)) as view:
        play = player(growing, view, protocol_of(ours.book.state.opening), pause=lambda: time.sleep(seconds))
        for commit in played:
            play(commit)


def _played(ours: Run, events: int) -> Replay:
    return Replay(
        run=str(ours.path),
        events=events,
        re_executed=False,
        identical=None,
        head=None,
        expected_head=ours.head.hash,
        divergences=[],
    )
