"""`moot run`: run a deliberation, or go on with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from moot.cli import options as common
from moot.errors import GOOD, SEAT_FAILED, WAITING, MootError, usage
from moot.output.run import RunEnd
from moot.render.plain import run_end_text
from moot.running import drive_here, new_directory, open_run_at, opening_of
from moot.seats import NO_SEAT, choose, make_seats, no_seat, read_seats
from moot.sessions import open_now, open_session
from moot.settings import read_settings
from moot.terminal import err, out_json, show
from moot.wishes import COMMAND_LINE, Wishes, documents_of, wished
from roles.seats.port import Seat
from rounds.deliberation import checked_budget
from rounds.driver import Outcome
from rounds.people import amend_budgets
from rounds.session import Session

EPILOG = "Example: moot run -q 'Which storage for our audit ledger?' --plan minimum-8 --seats host"
EXITS = {"finished": GOOD, "waiting": WAITING, "stopped": WAITING}
"""How a drive ended → exit code."""


def run(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="A deliberation file (TOML).")] = None,
    question: common.QuestionOption = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with this run.")] = None,
    seats: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Who answers: host, human or tape:RUN.")
    ] = None,
    seat: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=SPEC", help="Who answers for one role; may be repeated.")
    ] = None,
    directory: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The run's directory (./runs/<date>-<slug>).")
    ] = None,
    protocol: common.ProtocolOption = None,
    plan: common.PlanOption = None,
    context: common.ContextOption = None,
    goal: common.GoalOption = None,
    option: common.OptionOption = None,
    domain: common.DomainOption = None,
    cast: common.CastOption = None,
    profile: common.ProfileOption = None,
    check_every: common.CheckEveryOption = None,
    no_stress: common.NoStressOption = False,
    max_usd: common.MaxUsdOption = None,
    max_tokens: common.MaxTokensOption = None,
    max_calls: common.MaxCallsOption = None,
    max_minutes: common.MaxMinutesOption = None,
    max_rounds: common.MaxRoundsOption = None,
    offline: Annotated[bool, typer.Option("--offline", help="Refuse seats that leave this machine.")] = False,
    no_live: Annotated[bool, typer.Option("--no-live", help="Plain lines instead of the live view.")] = False,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> int:
    """Run a deliberation from a file or a question until it ends or has to wait.

    With host seats the run is opened and its open steps are printed (exit code 4): answer them with `moot next` and
    `moot submit`, and whoever submits last opens what comes next.
    """
    everybody, specs = _said_seats(seats, seat or (), needed=resume is None and file is None, json=json)
    limits = {
        "usd": max_usd,
        "tokens": max_tokens,
        "calls": max_calls,
        "minutes": max_minutes,
        "rounds": max_rounds,
    }
    wishes = Wishes(
        question=question,
        domain=domain,
        goals=tuple(goal or ()),
        options=tuple(option or ()),
        protocol=protocol,
        plan=plan,
        profile=profile,
        check_every=check_every,
        no_stress=no_stress,
        contexts=tuple(context or ()),
        budget={name: limit for name, limit in limits.items() if limit is not None},
    )
    del offline  # every seat of this release stays on this machine
    if resume is None:
        session, made = _opened(file, wishes, everybody, specs, cast, directory, json)
    else:
        if file is not None or directory is not None or cast is not None or wishes.is_more_than_budgets:
            raise usage("a run that goes on keeps its opening", "give only seats and budgets beside --resume")
        session, made = _resumed(resume, everybody, specs, wishes, json)
    return _driven(session, made, live=not no_live, json=json, quiet=quiet)


def _said_seats(
    everybody: str | None, one_by_one: Sequence[str], *, needed: bool, json: bool
) -> tuple[str | None, dict[str, str]]:
    """The seats of the command line; without any, when no file can name them, the ways forward."""
    if needed and everybody is None and not one_by_one:
        raise _nobody(no_seat(), json)
    return read_seats(everybody, one_by_one)


def _nobody(error: MootError, json: bool) -> MootError:
    """Show the ways forward beside the error."""
    if not json:
        err(NO_SEAT)
    return error


def _opened(
    file: str | None,
    wishes: Wishes,
    everybody: str | None,
    specs: Mapping[str, str],
    casting: str | None,
    out_directory: str | None,
    json: bool,
) -> tuple[Session, dict[str, Seat]]:
    from rounds.protocols import PROTOCOLS

    deliberation = wished(file, wishes)
    name = file or COMMAND_LINE
    written = {role: row.seat for role, row in deliberation.cast.items() if row.seat is not None}
    protocol = PROTOCOLS.get(deliberation.deliberation.protocol)
    roles = protocol.role_ids() if protocol else tuple(written)
    chosen = _chosen(roles, everybody, specs, written, json)
    made = make_seats(chosen)
    opening = opening_of(deliberation, documents_of(deliberation, file), chosen, casting=casting, name=name)
    path = Path(out_directory) if out_directory else _new_path(opening.event.question)
    return open_run_at(path, opening), made


def _new_path(question: str) -> Path:
    return new_directory(read_settings().runs, question, date.today())


def _resumed(
    said: str, everybody: str | None, specs: Mapping[str, str], wishes: Wishes, json: bool
) -> tuple[Session, dict[str, Seat]]:
    session = open_session(said)
    kinds = {member.role: member.seat for member in session.opened.cast if member.seat in ("host", "human")}
    made = make_seats(_chosen(session.protocol.role_ids(), everybody, specs, kinds, json))
    if wishes.budget:
        amend_budgets(session, checked_budget(wishes.budget))
    return session, made


def _chosen(
    roles: Sequence[str],
    everybody: str | None,
    specs: Mapping[str, str],
    written: Mapping[str, str],
    json: bool,
) -> dict[str, str]:
    try:
        return choose(roles, everybody, specs, written)
    except MootError as error:
        raise _nobody(error, json) if error.code == "no_seat" else error from None


def _driven(session: Session, made: Mapping[str, Seat], *, live: bool, json: bool, quiet: bool) -> int:
    path = session.run.path
    try:
        outcome = _watched(session, made, live=live, silent=json or quiet)
    except KeyboardInterrupt:
        mend = f"go on with `moot run --resume {path}`"
        raise MootError(
            "interrupted", "interrupted; everything accepted is kept", str(path), mend, WAITING
        ) from None
    waiting = open_now(session) if outcome.state == "waiting" else []
    end = RunEnd(
        run=str(path), state=outcome.state, reason=outcome.reason, waiting=waiting, detail=outcome.detail
    )
    if outcome.state == "failed":
        raise MootError(
            "seat_failed", f"a seat failed for good: {outcome.detail}", str(path), _again(path), SEAT_FAILED
        )
    if json:
        out_json(end)
    elif not quiet:
        show(run_end_text(end))
    return EXITS[outcome.state]


def _watched(session: Session, made: Mapping[str, Seat], *, live: bool, silent: bool) -> Outcome:
    """Drive a run, shown live on a terminal, in plain lines elsewhere, or not at all."""
    if silent or all(seat.kind == "host" for seat in made.values()):
        return drive_here(session, made)
    from moot.console import console
    from moot.render.live import watched

    by_hand = any(seat.kind == "human" for seat in made.values())  # a person types where the view would draw
    with watched(session.book, console(), live=live and not by_hand) as watch:
        return drive_here(session, made, watch)


def _again(path: Path) -> str:
    return f"mend the seat, or give another one: `moot run --resume {path} --seats …`"
