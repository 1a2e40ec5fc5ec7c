"""`moot demo`: a recorded real run, played through the real engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ledger.events import Event
from ledger.plain_text import one_line, visible
from ledger.state.book import GrowingBook, commits
from ledger.state.decided import final_in_force
from moot.api import Run, open_run
from moot.app.runs import example, examples, find_run, finished_examples
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, NO, MootError, usage
from moot.terminal.console import console
from moot.terminal.live import view_of
from moot.terminal.playback import pause_seconds, player, recorded_seconds
from moot.terminal.streams import out_json
from moot.view.labels import Label
from moot.view.outcome import outcome_of
from moot.view.outcome_text import outcome_text
from moot.view.played import Demo, reexecuted
from moot.view.stop_checks import why_it_stopped
from rounds.protocols import protocol_of
from rounds.run.controller import Controller
from rounds.run.reexecution import Reexecution, re_execute
from rounds.run.verdicts import standard


def demo(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Another example (`moot list runs/examples`), or any run."),
    ] = None,
    speed: Annotated[
        float, typer.Option(metavar="N", min=0, help="Times faster than brisk; 0 is at once.")
    ] = 1.0,
    no_live: Annotated[bool, typer.Option("--no-live", help="Plain lines instead of the live view.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Play a recorded deliberation through the real engine, without a key, and compare the ledger that comes out.

    Every reply was recorded; protocol, validators and signals run for real. Exit code 0: the same head hash.

    Example: moot demo crux-balance --speed 3
    """
    ours = open_run(_first_example() if run is None else example(run) or find_run(run))
    _can_be_played(ours)
    if json or quiet:
        result = _executed(ours, _unseen)
        if json:
            out_json(_summary(ours, result))
        return GOOD if result.identical else NO
    return GOOD if _play(ours, console(), live=not no_live, speed=speed) else NO


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


def _can_be_played(ours: Run) -> None:
    opened = ours.state.opened
    # An import has events but no replies: there is nothing that the engine could read again.
    if opened is not None and opened.origin.type == "import":
        raise usage(
            "an import has no replies to play", "name a run that was made by `moot run`", str(ours.path)
        )


def _play(ours: Run, screen: Console, *, live: bool, speed: float) -> bool:
    """Play the run for people; return whether the ledger came out the same."""
    labels = (_label(ours),)
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


def _label(ours: Run) -> Label:
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


def _executed(ours: Run, watch: Callable[[tuple[Event, ...]], None]) -> Reexecution:
    protocol = protocol_of(ours.state.opening)
    return re_execute(ours.book, protocol, Controller(protocol, standard(protocol)), watch)


def _summary(ours: Run, result: Reexecution) -> Demo:
    compared = reexecuted(str(ours.path), result)
    return Demo(
        run=str(ours.path),
        recorded=True,
        events=result.events,
        stopped=why_it_stopped(ours.state),
        decisions=final_in_force(ours.state),
        identical=result.identical,
        head=result.head.hash,
        expected_head=result.expected.hash,
        divergences=compared.divergences,
        outcome=ours.outcome,
    )


def _unseen(_: tuple[Event, ...]) -> None:
    """Ignore the commits."""
