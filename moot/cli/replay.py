"""`moot replay`: play the events of a run, or run its protocol again and compare."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer

from ledger.events import Event
from ledger.state.book import GrowingBook, commits
from moot.api import Run, open_run
from moot.app.runs import find_run
from moot.cli.options import JsonOption, QuietOption, RunArgument, asking
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import err, out_json, show
from moot.view.played import Replay, re_run_text, reexecuted, replay_text
from rounds.protocols import protocol_of
from rounds.run.controller import Controller
from rounds.run.reexecution import Reexecution, re_execute
from rounds.run.verdicts import standard


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
    no_live: Annotated[bool, typer.Option("--no-live", help="Plain lines instead of the live view.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Play the events in order. With --re-execute exit code 0 means: the new ledger is the same, byte for byte.

    --re-run is your word for running the run's experiments again here, from their blobs: exit code 0 means that every
    verdict came out as recorded. Those that did not, or could not be run here, are named, with the sentences of the
    memo that would fall. Nothing is written.

    Example: moot replay @last --re-execute
    """
    ours = open_run(find_run(run))
    if rerun:
        return _run_again(ours, json=json, quiet=quiet)
    if again:
        # A part of the ledger has another head than the whole, so a comparison would always fail.
        if to is not None:
            raise usage("--to plays a part, --re-execute compares the whole", "give one of them")
        return _execute(ours, json=json, quiet=quiet)
    events = [event for event in ours.events if to is None or event.seq <= to]
    if json:
        out_json(_played(ours, len(events)))
    elif not quiet:
        _play(ours, events, speed=speed, live=not no_live)
    return GOOD


def _run_again(ours: Run, *, json: bool, quiet: bool) -> int:
    """Compare the verdicts of all experiments with the verdicts of new runs."""
    from moot.app.consent import bench_for
    from moot.app.experiments import re_run
    from rounds.experiments.bench import NoSandbox

    book = ours.book
    bench, why_not = None, ""
    # Without a judged experiment the sandbox is not needed, and the person is not asked about it.
    if any(facts.judged for facts in book.state.experiments.values()):
        try:
            bench = bench_for(asking(silent=json or quiet))
        # Without a sandbox the experiments are still listed, with the reason why none was run.
        except NoSandbox as error:
            why_not = f"{error.what}; {error.fix}"
    played = _played(ours, len(ours.events))
    comparison = msgspec.structs.replace(played, re_run=re_run(book, bench, why_not))
    if json:
        out_json(comparison)
    elif not quiet:
        show(re_run_text(comparison))
    return GOOD if all(row.same for row in comparison.re_run) else NO


def _play(ours: Run, events: Sequence[Event], *, speed: float, live: bool) -> None:
    """Show the run as it grew, commit by commit."""
    from moot.terminal.console import console
    from moot.terminal.live import view_of
    from moot.terminal.playback import pause_seconds, player, recorded_seconds

    screen, growing = console(), GrowingBook(ours.blobs)
    # The view needs the opening before it can draw; it is not played as a commit of its own.
    growing.take(events[:1])
    played = list(commits(events[1:]))
    seconds = pause_seconds(len(played), speed) if screen.is_terminal else 0.0
    with view_of(growing.book, screen, live=live, clock=lambda: recorded_seconds(growing)) as view:
        play = player(growing, view, protocol_of(ours.book.state.opening), pause=lambda: time.sleep(seconds))
        for commit in played:
            play(commit)


def executed_again(ours: Run) -> Reexecution:
    """Run the protocol of a run again, on its recorded replies."""
    protocol = protocol_of(ours.book.state.opening)
    return re_execute(ours.book, protocol, Controller(protocol, standard(protocol)))


def _execute(ours: Run, *, json: bool, quiet: bool) -> int:
    if ours.book.state.opening.origin.type == "import":
        raise usage(
            "an import has no replies to run again",
            "replay a run that was made by `moot run`",
            str(ours.path),
        )
    comparison = reexecuted(str(ours.path), executed_again(ours))
    if json:
        out_json(comparison)
    elif not quiet:
        show(replay_text(comparison))
    # Even with --quiet a divergence is printed: it is what the call was made to find.
    elif not comparison.identical:
        err(replay_text(comparison))
    return GOOD if comparison.identical else NO


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
