"""`moot fork`: make a run that shares the beginning of another, and compare the forks that exist (--stress)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from moot.app.forks import ForkPoint, made_fork, stress as stress_of
from moot.app.runs import find_run
from moot.app.seat_specs import read_seats
from moot.cli.command import RunArgument, VerbResult
from moot.cli.settings import GoalOption, OptionOption, PlanOption, SeatOption, wanted
from moot.errors import refuse
from moot.view.comparison import stress_text
from moot.view.results import Fork

FORKS_PER_ROLE: Final = 3


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
        int | None, typer.Option(metavar="M", min=1, help="Absent up to this round. Default: round N alone.")
    ] = None,
    seats: Annotated[str | None, typer.Option(metavar="SPEC", help="Who answers from there on.")] = None,
    seat: SeatOption = None,
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
    stress: Annotated[
        bool,
        typer.Option(
            "--stress", help="Compare the forks of RUN without each role, and list those still missing."
        ),
    ] = False,
    role: Annotated[
        list[str] | None, typer.Option(metavar="ROLE", help="--stress: only this role; may be repeated.")
    ] = None,
    forks: Annotated[
        int | None, typer.Option(metavar="K", min=1, max=20, help="--stress: forks per role (3).")
    ] = None,
    make: Annotated[bool, typer.Option("--make", help="--stress: make the forks that are missing.")] = False,
) -> VerbResult:
    """Make a run that shares everything before a round with RUN, and goes on differently.

    The shared lines are the same bytes. What differs is a role that is absent, or who answers; `moot run --resume` (or
    `moot next` and `moot submit`) goes on with it, `moot diff` says what came out differently. A fork of an import goes
    on after its last round, with the rounds of --plan that are left. With --here it
    shares everything so far: fork a run that waits, and answer its question both ways.

    --stress compares the forks that exist with RUN, to show what is lost without each role, and plans the missing ones.
    Sealed answers come first, where the run asked for them: who would lead without a role costs no reply. What the
    others would have said without it takes forks. With few forks INSUFFICIENT is the usual verdict. Its power is
    printed beside it.

    Example: moot fork @last --round 7 --without critic --seats host
    """
    if stress:
        # An ignored option would look as if it had shaped the comparison.
        refuse(
            round or without or through or seats or seat or question or goal or option or plan or directory,
            "--stress plans its forks itself",
            "give only --role, --forks and --make",
            "--stress",
        )
        comparison = stress_of(
            find_run(run), roles=tuple(role or ()), per_role=forks or FORKS_PER_ROLE, make=make
        )
        return VerbResult(comparison, lambda: stress_text(comparison))
    # Without --stress these would be ignored, and the person would wait for forks that never come.
    refuse(
        role or forks or make, "--role, --forks and --make are about --stress", "add --stress", "moot fork"
    )
    result = made_fork(
        find_run(run),
        ForkPoint(round, without, through, here),
        read_seats(seats, seat or ()),
        out=directory,
        options=wanted({"question": question, "goal": goal, "option": option, "plan": plan}),
    )
    return VerbResult(result, lambda: _fork_text(result))


def _fork_text(result: Fork) -> str:
    away = ""
    if result.without is not None:
        # Without --through a role is absent from one round only.
        last = result.through or result.round
        away = f", without {result.without} in round {result.round}" + (
            f" to {last}" if last > result.round else ""
        )
    return (
        f"{result.run}: a fork of {result.of}, the same to event @{result.seq}{away}\n"
        f"open now: {', '.join(result.waiting) or 'nothing'}\n"
        f"go on: moot run --resume {result.run} --seats SPEC, or moot next {result.run}\n"
    )
