"""A run from the command line: opened or resumed with its seats, driven, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from moot.api import read_params
from moot.app.naming import named_directory, new_directory
from moot.app.run_options import COMMAND_LINE, Wishes, documents_of, wished
from moot.app.running import drive_here, open_run_at, opening_of, with_tapes
from moot.app.seats import choose, is_program, make_seats, unknown_costs
from moot.app.sessions import open_now, open_session
from moot.app.settings import read_settings
from moot.errors import SEAT_FAILED, WAITING, MootError, usage
from moot.view.played import RunEnd
from moot.view.quorum import outcome_told
from rounds.run.budget import budgets_in_force
from rounds.run.human_actions import amend_budgets
from rounds.run.outcome import outcome_of
from rounds.setup.deliberation import checked_budget
from rounds.setup.opening import cast_roles

if TYPE_CHECKING:
    from roles.seats.port import Seat
    from rounds.run.driver import Outcome
    from rounds.run.session import RunSession

KEPT = ("host", "human")
"""Kinds of seat that a run's opening names wholly; a tape has to be named again."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """`--seats` and every `--seat ROLE=SPEC`."""

    everybody: str | None
    specs: Mapping[str, str]
    offline: bool = False
    unknown_cost: bool = False
    """Seats whose cost is not known may sit under a budget of dollars."""
    commands: bool = False
    """Programs that a deliberation file names may be started."""
    agreed: Callable[[str], bool] | None = None
    """Shows a text to the person and asks for a yes; None where nobody can be asked."""

    def seats(self, roles: Sequence[str], written: Mapping[str, str]) -> dict[str, str]:
        """Role → specification, `written` standing in where nothing was said. Raises `MootError`."""
        return choose(roles, self.everybody, self.specs, written)

    def made(self, specs: Mapping[str, str]) -> dict[str, Seat]:
        """The seats. Raises `MootError` when one may not leave the machine, and offline was said."""
        return make_seats(specs, offline=self.offline or read_settings().offline)

    def check_programs(self, file: str, specs: Mapping[str, str]) -> None:
        """A program that only the file names needs the person's word: who wrote the file is not at the keyboard."""
        if self.commands or self.everybody is not None:
            return
        named = {role: spec for role, spec in specs.items() if is_program(spec) and role not in self.specs}
        if not named:
            return
        listed = "".join(f"  {role}: {spec}\n" for role, spec in named.items())
        if self.agreed is not None and self.agreed(
            f"{file} names programs to start on this machine:\n{listed}"
        ):
            return
        what = f"the file names a program to start: {next(iter(named.values()))}"
        fix = "read it, and add --allow-commands if you mean it, or name the seat yourself with --seat"
        raise MootError("command_refused", what, file, fix, more=listed if len(named) > 1 else "")

    def check_costs(self, made: Mapping[str, Seat], usd: str | None) -> None:
        """A budget of dollars binds nobody whose cost is unknown: refuse that unless it was allowed."""
        if usd is None or self.unknown_cost:
            return
        unknown = unknown_costs(made)
        if unknown:
            raise usage(
                f"what the seat of {', '.join(unknown)} costs is unknown, and --max-usd could not hold it",
                "name a model with a price (MOOT_PRICES), or add --allow-unknown-cost",
                "--max-usd",
            )


def opened(
    file: str | None, wishes: Wishes, spoken: Spoken, *, casting: str | None, directory: Path
) -> tuple[RunSession, dict[str, Seat]]:
    """A new run, and its seats. Nothing is written when anything is wrong."""
    deliberation = wished(file, wishes)
    written = {role: row.seat for role, row in deliberation.cast.items() if row.seat is not None}
    specs = spoken.seats(cast_roles(deliberation, file or COMMAND_LINE), written)
    spoken.check_programs(file or COMMAND_LINE, specs)
    made = spoken.made(specs)
    spoken.check_costs(made, deliberation.budget.usd)
    documents = documents_of(deliberation, file, wishes.contexts)
    params = read_params(wishes.params)[1] if wishes.params is not None else None
    plain = opening_of(
        deliberation, documents, specs, casting=casting, name=file or COMMAND_LINE, params=params
    )
    opening = with_tapes(plain, made.values())
    return open_run_at(directory, opening), made


def place_of(directory: str | None, name: str | None) -> Path:
    """Where a new run goes: where the person says, or under the runs, by the person's name for it or one of ours."""
    if directory is not None and name is not None:
        raise usage("--out and --name both say where the run goes", "give one of them", "--name")
    if directory is not None:
        return Path(directory)
    runs = read_settings().runs
    return new_directory(runs, date.today()) if name is None else named_directory(runs, name)


def resumed(said: str, spoken: Spoken, wishes: Wishes) -> tuple[RunSession, dict[str, Seat]]:
    """A run that goes on, with its seats and perhaps other limits."""
    session = open_session(said)
    if session.opened.origin.type == "import":
        raise usage("an import asks nobody", f"go on in a fork: `moot fork {said} --seats host`", said)
    kinds = {member.role: member.seat for member in session.opened.cast if member.seat in KEPT}
    made = spoken.made(spoken.seats(session.book().state.roles, kinds))
    usd = wishes.budget.get("usd", budgets_in_force(session.book().state).usd)
    spoken.check_costs(made, usd)
    if wishes.budget:
        amend_budgets(session, checked_budget(wishes.budget))
    return session, made


def driven(session: RunSession, made: Mapping[str, Seat], *, live: bool, silent: bool) -> RunEnd:
    """Drive a run until it ends or has to wait. Raises `MootError` when it is interrupted or a seat fails for good."""
    path = session.run.path
    try:
        outcome = _watched(session, made, live=live, silent=silent)
    except KeyboardInterrupt:
        what, fix = "interrupted; everything accepted is kept", f"go on with `moot run --resume {path}`"
        raise MootError("interrupted", what, str(path), fix, WAITING) from None
    if outcome.state == "failed":
        fix = f"fix the seat, or give another one: `moot run --resume {path} --seats …`"
        so_far = outcome_of(session.book().state)
        after = f"after {so_far.counted}" if so_far.declared else "before any step was answered"
        what = f"a seat failed for good {after}: {outcome.detail}"
        raise MootError("seat_failed", what, str(path), fix, SEAT_FAILED)
    waiting = open_now(session) if outcome.state == "waiting" else []
    return RunEnd(
        run=str(path),
        state=outcome.state,
        reason=outcome.reason,
        waiting=waiting,
        detail=outcome.detail,
        outcome=outcome_told(session.book().state),
    )


def _watched(session: RunSession, made: Mapping[str, Seat], *, live: bool, silent: bool) -> Outcome:
    """Drive a run, shown live on a terminal, in plain lines elsewhere, or not at all."""
    if silent or all(seat.kind == "host" for seat in made.values()):
        return drive_here(session, made)
    from moot.terminal.console import console
    from moot.terminal.live import watched

    by_hand = any(seat.kind == "human" for seat in made.values())  # a person types where the view would draw
    with watched(session.book, console(), live=live and not by_hand) as watch:
        return drive_here(session, made, watch)
