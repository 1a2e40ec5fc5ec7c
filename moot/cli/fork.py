"""`moot fork`: a new run that shares the beginning of another one, byte for byte."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from moot.app.forks import made_fork
from moot.app.run_options import RunOptions
from moot.app.runs import find_run
from moot.app.seat_specs import read_seats
from moot.cli.options import GoalOption, JsonOption, OptionOption, PlanOption, QuietOption, RunArgument
from moot.errors import GOOD
from moot.terminal.streams import out_json, show
from moot.view.results import Fork


def fork(
    run: RunArgument,
    round: Annotated[
        int | None,
        typer.Option(
            "--round", metavar="N", min=1, help="Share everything before this round opened (an import: all)."
        ),
    ] = None,
    here: Annotated[
        bool, typer.Option("--here", help="Share everything up to the last commit, to try another answer.")
    ] = False,
    without: Annotated[
        str | None, typer.Option(metavar="ROLE", help="Let this role be absent from the round.")
    ] = None,
    through: Annotated[
        int | None, typer.Option(metavar="M", min=1, help="Absent up to this round (N alone if not said).")
    ] = None,
    seats: Annotated[str | None, typer.Option(metavar="SPEC", help="Who answers from there on.")] = None,
    seat: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=SPEC", help="Who answers for one role; may be repeated.")
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(
            "-q", "--question", metavar="TEXT", help="What an import deliberates, if it does not say."
        ),
    ] = None,
    goal: GoalOption = None,
    option: OptionOption = None,
    plan: PlanOption = None,
    directory: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Its directory (beside RUN; under ./runs for an example)."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Make a run that shares everything before a round with RUN, and goes on differently.

    The shared lines are the same bytes. What differs is a role that is absent, or who answers; `moot run --resume` (or
    `moot next` and `moot submit`) goes on with it, `moot diff` says what came out differently. A fork of an import goes
    on behind its last round, with the rounds of --plan that are left. With --here it shares everything so far: fork a
    run that waits, and answer its question both ways.

    Example: moot fork runs/examples/storage-minimum-8 --round 7 --without critic --seats host
    """
    everybody, specs = read_seats(seats, seat or ())
    found = made_fork(
        find_run(run),
        round,
        without=without,
        through=through,
        everybody=everybody,
        specs=specs,
        out=directory,
        here=here,
        options=RunOptions(
            question=question, goals=tuple(goal or ()), options=tuple(option or ()), plan=plan
        ),
    )
    if json:
        out_json(found)
    elif not quiet:
        show(_told(found))
    return GOOD


def _told(found: Fork) -> str:
    away = ""
    if found.without is not None:
        last = found.through or found.round
        away = f", without {found.without} in round {found.round}" + (
            f" to {last}" if last > found.round else ""
        )
    return (
        f"{found.run}: a fork of {found.of}, the same to event @{found.seq}{away}\n"
        f"open now: {', '.join(found.waiting) or 'nothing'}\n"
        f"go on: moot run --resume {found.run} --seats SPEC, or moot next {found.run}\n"
    )
