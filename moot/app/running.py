"""Opening, resuming and driving a deliberation, for `moot run`, agent hosts and the library."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ledger.store.commit import AlreadyARun
from ledger.store.spending import Spending
from ledger.store.store import DriverLease
from moot.app.choices import choice_for, estimate_for, opening_of
from moot.app.consent import Agreed, bench_for, need_word_for_programs, note_opened, was_opened_here
from moot.app.removal import remove_run
from moot.app.run_options import COMMAND_LINE, RunOptions, deliberation_of, documents_of, read_params
from moot.app.runs import new_directory
from moot.app.seats import SeatChoice, check_ready, declared_seat, unknown_costs
from moot.app.session import Session, open_session
from moot.app.speech import Speech
from moot.environment import now, read_settings
from moot.errors import SEAT_FAILED, WAITING, MootError, usage
from moot.view.results import RunEnd
from roles.seats.registry import DEFAULT, PROVIDERS
from rounds.protocols import experiments_awaited
from rounds.run.budget import Reservations
from rounds.run.driver import DriveEnd, Pause, Watch, drive
from rounds.run.human_actions import amend_budgets, amend_experiments, stop_waiting
from rounds.run.outcome import quorum_of
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked_budget
from rounds.setup.gate import routed
from rounds.setup.opening import Opening, Programs, cast_roles

if TYPE_CHECKING:
    from ledger.events import Event
    from moot.view.estimate import Estimate
    from roles.seats.port import Seat, SeatFailed
    from rounds.experiments.bench import Bench
    from rounds.run.session import AskedStep
    from rounds.setup.deliberation import Deliberation

QUIET: Final = Watch()
UNWATCHED: Final = nullcontext(QUIET)


GIT_ATTRIBUTES: Final = """\
# The hashes of a run cover its exact bytes, so no checkout may translate line ends here.
* -text
"""


def open_deliberation(
    deliberation: Deliberation,
    seats: Mapping[str, Seat],
    directory: Path,
    *,
    documents: Mapping[str, bytes],
    casting: str | None = None,
    name: str = "deliberation.toml",
    params: bytes | None = None,
    experiments: Programs | None = None,
    changes: Collection[str] = (),
) -> Session:
    """Create a run in `directory` and open its first round. Writes nothing when anything is wrong.

    `experiments`: the person's consent to run programs of replies here, in a sandbox that passed its test.
    """
    kinds = {role: declared_seat(seat) for role, seat in seats.items()}
    plain = opening_of(
        deliberation,
        documents,
        kinds,
        casting=casting,
        name=name,
        params=params,
        experiments=experiments,
        changes=changes,
    )
    open_run_at(directory, _with_tapes(plain, seats))
    return Session(directory)


def open_run_at(path: Path, opening: Opening) -> RunSession:
    """Create the run and open its first round. A new directory for runs tells git to leave their bytes alone."""
    # Only a directory that moot makes itself: an existing one may have git attributes of its own.
    if not path.parent.exists():
        path.parent.mkdir(parents=True)
        (path.parent / ".gitattributes").write_text(GIT_ATTRIBUTES)
    files = {"deliberation.toml": opening.toml.encode()}
    return start(path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=now)


def _with_tapes(opening: Opening, seats: Mapping[str, Seat]) -> Opening:
    """Return the opening with the prompts of the recording that its seats play: a tape fits no others."""
    if not any(seat.kind == "tape" for seat in seats.values()):
        return opening
    from roles.seats.tape import TapeSeat
    from rounds.setup.on_tape import on_tape

    return on_tape(opening, [seat.tape for seat in seats.values() if isinstance(seat, TapeSeat)])


def opened(
    file: str | None, options: RunOptions, choice: SeatChoice, *, casting: str | None, directory: Path
) -> tuple[Session, dict[str, Seat]]:
    """Return a new run from a file and the flags over it, with its seats. Writes nothing when anything is wrong."""
    # Checked before the seats are built and the person is asked, although `start` refuses it too.
    if (directory / "head").exists():
        raise AlreadyARun(directory)
    name = file or COMMAND_LINE
    deliberation = deliberation_of(file, options)
    written = {role: row.seat for role, row in deliberation.cast.items() if row.seat is not None}
    specs = choice.seats(cast_roles(deliberation, name), written)
    choice.check_file_seats(name, specs)
    seats = choice.build(specs)
    # A missing key or program is found now, and not after the first replies are paid for.
    check_ready(seats)
    choice.check_costs(seats, deliberation.budget.usd)
    documents = documents_of(deliberation, file, options.contexts)
    params = read_params(options.params)[1] if options.params is not None else None
    choice.check_size(
        # A function, because the estimate is needed only if a seat can cost money.
        lambda: estimate_for(opening_of(deliberation, documents, specs, name=name), specs, name),
        seats,
        deliberation.budget.usd,
        _gate_line(deliberation, specs, choice),
    )
    session = open_deliberation(
        deliberation,
        seats,
        directory,
        documents=documents,
        casting=casting,
        name=name,
        params=params,
        experiments=choice.programs_run_by(deliberation, options.experiments),
        changes=options.changes,
    )
    # Only a run that was opened with this person's word goes on later without asking again.
    note_opened(session.path)
    return session, seats


def _gate_line(
    deliberation: Deliberation, specs: Mapping[str, str], seats: SeatChoice
) -> Callable[[Estimate], str] | None:
    """Return a function that words the gate's choice in a line; None where the gate chose nothing."""
    from moot.view.protocols import choice_of, gate_line

    gated = routed(deliberation)[1]
    # --single is a choice of the person, so there is no choice of the gate to explain.
    if gated is None or gated.kind == "single":
        return None
    # Without options in the file, the items that the gate read in the question are the options.
    options = len(deliberation.deliberation.options) or len(gated.items)
    spec = seats.everybody or next(iter(specs.values()))
    cap = deliberation.budget.usd
    also = [choice_for(protocol, options, spec) for protocol in gated.also]
    return lambda estimate: gate_line(choice_of(estimate, None, spec), also, gated.items, cap)


def estimated(
    file: str | None, options: RunOptions, choice: SeatChoice, casting: str | None = None
) -> Estimate:
    """Return what a run may take, without opening it. A role without a seat is priced as the default seat.

    Raises `MootError` and `DeliberationError` where opening the run would.
    """
    name = file or COMMAND_LINE
    deliberation = deliberation_of(file, options)
    roles = cast_roles(deliberation, name)
    written = {role: row.seat for role, row in deliberation.cast.items() if row.seat is not None}
    # Seats of the file come last and win over the default.
    specs = choice.seats(roles, {**dict.fromkeys(roles, DEFAULT), **written})
    params = read_params(options.params)[1] if options.params is not None else None
    opening = opening_of(
        deliberation,
        documents_of(deliberation, file, options.contexts),
        specs,
        casting=casting,
        name=name,
        params=params,
    )
    return estimate_for(opening, specs, name)


def place_of(directory: str | None) -> Path:
    """Return the directory of a new run: the person's, or one under the runs with a random name."""
    return new_directory(read_settings().runs, date.today()) if directory is None else Path(directory)


def resumed(name: str, choice: SeatChoice, options: RunOptions) -> tuple[Session, dict[str, Seat]]:
    """Return a run that goes on, with its seats and the limits of this call."""
    session = open_session(name)
    run = session.inner
    # An import has no protocol that could open a next step, and its ledger must stay what was imported.
    if run.opened.origin.type == "import":
        raise usage("an import asks nobody", f"go on in a fork: `moot fork {name} --seats host`", name)
    specs = seats_again(name, session, choice)
    # A ledger may come from another person: its seats and programs need this person's consent once.
    if not was_opened_here(session.path):
        choice.check_file_seats(str(session.path), specs)
        if session.state.runs_programs and options.experiments != "off":
            need_word_for_programs(str(session.path), choice.agreed, is_allowed=options.experiments == "on")
    seats = choice.build(specs)
    choice.check_costs(seats, options.budget.get("usd", session.state.limits.usd))
    if options.budget:
        # A new limit is an event on the ledger: a replay must stop where this run stops.
        amend_budgets(run, checked_budget(options.budget))
    if options.experiments in ("on", "off"):
        allow_programs(session, choice.agreed, is_allowed=options.experiments == "on")
    if options.no_wait:
        stop_waiting(run)
    return session, seats


def allow_programs(session: Session, agreed: Agreed | None, *, is_allowed: bool) -> None:
    """Record a person's consent to run programs of replies, or its withdrawal. Raises `NoSandbox`."""
    if is_allowed:
        bench_for(agreed)
    amend_experiments(session.inner, is_allowed=is_allowed)


def seats_again(name: str, session: Session, choice: SeatChoice) -> dict[str, str]:
    """Return role → specification: the flags of this call, then what the run itself names.

    A model is the one that answered last for the role. Raises `MootError` with the command to type where a role has no
    seat.
    """
    kinds = {member.role: member.seat.partition(":")[0] for member in session.inner.opened.cast}
    rows = {role: PROVIDERS.get(kind) for role, kind in kinds.items()}
    named = {role: row.name for role, row in rows.items() if row is not None and row.rest == "nothing"}
    named |= _models_again(session)
    roles = session.state.roles
    missing = [role for role in roles if role not in named and role not in choice.specs]
    # With unknown roles in --seat, `choose` has the better error.
    if choice.everybody is not None or not missing or not set(choice.specs) <= set(roles):
        return choice.seats(roles, named)
    # No ledger holds a program, an address, or the model of who did not answer yet.
    wanted = {role: (row.example or row.name) if (row := rows.get(role)) else "SPEC" for role in missing}
    # One --seats is easier to type than the same --seat for every role.
    if len(missing) == len(roles) and len(set(wanted.values())) == 1:
        seats = f"--seats {shlex.quote(wanted[missing[0]])}"
    else:
        seats = " ".join(f"--seat {shlex.quote(f'{role}={spec}')}" for role, spec in wanted.items())
    what = f"the run does not say what answers for {', '.join(missing)}"
    raise MootError("no_seat", what, name, f"say it again: moot run --resume {shlex.quote(name)} {seats}")


def _models_again(session: Session) -> dict[str, str]:
    """Return role → the model that answered last for it, or else for every role of the same seat that has answered.

    A model whose address was named with the seat is not found again: no ledger holds an address.
    """
    declared = {member.role: member.seat for member in session.inner.opened.cast}
    kinds = {role: seat.partition(":")[0] for role, seat in declared.items()}
    by_role: dict[str, str] = {}
    for event in session.inner.book().events:
        call, row = event.call, PROVIDERS.get(kinds.get(event.by, ""))
        if call is None or call.model is None or row is None or row.runs != "api" or call.seat != row.seat:
            continue
        # A seat like `openai:MODEL@URL` asked another server than its provider's; asking the provider instead would
        # be a different model at a different price.
        is_elsewhere = row.rest == "model@url" and call.provider != row.name
        if not is_elsewhere or os.environ.get(row.address_variable):
            by_role[event.by] = f"{row.name}:{call.model}"
    # Roles that were cast with one declared seat share its model, as long as all that answered agree on it.
    of_seat: dict[str, set[str]] = {}
    for role, spec in by_role.items():
        of_seat.setdefault(declared[role], set()).add(spec)
    alike = {seat: next(iter(specs)) for seat, specs in of_seat.items() if ":" in seat and len(specs) == 1}
    # A vendor's own seat names its default model by its kind alone; programs and people need more than that.
    plain = {
        role: kind
        for role, kind in kinds.items()
        if (row := PROVIDERS.get(kind)) is not None and row.runs == "api" and row.family is not None
    }
    return {**plain, **{role: alike[seat] for role, seat in declared.items() if seat in alike}, **by_role}


def driven(
    session: Session,
    seats: Mapping[str, Seat],
    watched: AbstractContextManager[Watch] = UNWATCHED,
    *,
    is_new: bool = False,
    pause: Pause | None = None,
    bench: Bench | None = None,
) -> RunEnd:
    """Drive a run until it ends, has to wait, or reaches a `pause`. Without a `bench` no program is run.

    Raises `MootError` when it is interrupted or a seat fails for good. A new run that failed before anything was
    answered or paid is then removed: it would only lead the list of runs.
    """
    try:
        with watched as watch:
            ended = _drive_here(session.inner, seats, watch, pause, bench)
    except KeyboardInterrupt:
        what, fix = (
            "interrupted; everything accepted is kept",
            f"go on with `moot run --resume {session.path}`",
        )
        raise MootError("interrupted", what, str(session.path), fix, WAITING) from None
    # Only a new run: a resumed one holds work of an earlier call, whatever failed now.
    if ended.state == "failed" and is_new and _came_to_nothing(session, seats):
        remove_run(session.path)
        what = f"a seat failed for good before anything was answered or paid: {ended.detail}"
        fix = "the run was removed: put that right and start it again"
        raise MootError("seat_failed", what, str(session.path), fix, SEAT_FAILED)
    if ended.state == "failed":
        fix = f"fix the seat, or give another one: `moot run --resume {session.path} --seats …`"
        so_far = quorum_of(session.state)
        after = "before any step was answered"
        if so_far.declared:
            after = f"after {so_far.actual} of {so_far.declared} steps were answered"
        what = f"a seat failed for good {after}: {ended.detail}"
        raise MootError("seat_failed", what, str(session.path), fix, SEAT_FAILED)
    # Steps first: a host can answer them without the person, who is needed for the rest.
    awaited = session.open_ids or [*session.experiments, *session.questions]
    return RunEnd(
        run=str(session.path),
        state=ended.state,
        reason=ended.reason,
        waiting=awaited if ended.state in ("waiting", "paused") else [],
        detail=ended.detail,
        quorum=session.quorum,
        outcome=session.outcome,
    )


def bench_of(session: Session, agreed: Agreed | None) -> Bench | None:
    """Return the sandbox for a run that runs programs. Raises `NoSandbox` and `MootError`."""
    return bench_for(agreed) if session.state.runs_programs else None


def asks_about_programs(session: Session) -> bool:
    """Return whether a program is ready and the person has not yet said whether it may run."""
    state = session.state
    return state.experiments_at(state.seq) == "ask" and bool(experiments_awaited(state))


def _came_to_nothing(session: Session, seats: Mapping[str, Seat]) -> bool:
    """Return whether a failed run holds no reply and its attempts certainly cost nothing.

    The price of a program is unknown, so a run of programs is kept.
    """
    # Attempts whose answer never reached the ledger still cost: the spending file has them, the state has not.
    beyond = Reservations(Spending(session.path).entries()).beyond
    is_free = beyond.tokens == beyond.micro_usd == 0 and not unknown_costs(seats)
    return is_free and not session.state.answered


def _drive_here(
    run: RunSession, seats: Mapping[str, Seat], watch: Watch, pause: Pause | None, bench: Bench | None
) -> DriveEnd:
    """Drive from outside any event loop. Ctrl-C, SIGTERM and SIGHUP close the run resumably and end its programs."""
    try:
        return asyncio.run(_until_ended(drive_run(run, seats, watch, pause, bench)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        # The stop is written after the loop has ended, so that no reply can be committed after it.
        run.stop("human")
        raise KeyboardInterrupt from None


async def _until_ended(driving: Coroutine[Any, Any, DriveEnd]) -> DriveEnd:
    """Drive until the end or a signal to stop: programs of seats would outlive the run that pays for them."""
    task, loop = asyncio.ensure_future(driving), asyncio.get_running_loop()
    asked: list[int] = []

    def stop(number: int) -> None:
        if not asked:  # a second signal must not interrupt the ending of the programs
            task.cancel()
        asked.append(number)

    # A closed terminal and a shutdown end a run as cleanly as Ctrl-C does.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        # `nohup` ignores SIGHUP on purpose; a thread other than the first one may set no handler.
        if signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(RuntimeError, ValueError, NotImplementedError):
                loop.add_signal_handler(number, stop, number)
    return await task


async def drive_run(
    run: RunSession,
    seats: Mapping[str, Seat],
    watch: Watch = QUIET,
    pause: Pause | None = None,
    bench: Bench | None = None,
) -> DriveEnd:
    """Drive a run under its lease until it ends or has to wait. Raises `DriverBusy` when another process drives it.

    `bench` runs the programs of a run that runs them: a ledger's word alone is not the person's consent.
    """
    path = run.run.path
    with DriverLease(path) as lease:
        # Read before the first call, so that a budget counts what earlier processes spent.
        spending = Spending(path)
        reservations = Reservations(spending.entries(), spending.note)
        with Speech(path, now=now, monotonic=time.monotonic) as speech:
            beating = _beating(watch, lease, speech)
            return await drive(
                run,
                seats,
                monotonic=time.monotonic,
                watch=beating,
                reservations=reservations,
                bench=bench,
                pause=pause,
            )


def _beating(watch: Watch, lease: DriverLease, speech: Speech) -> Watch:
    """Return the same watch, with a heartbeat at every call and commit, and news for other processes that watch."""

    def asked(step: AskedStep, seat: Seat) -> None:
        lease.beat()
        speech.asked(step.step.id)
        watch.asked(step, seat)

    def committed(events: tuple[Event, ...]) -> None:
        lease.beat()
        speech.answered({event.step for event in events if event.step is not None})
        watch.committed(events)

    def lost(step: str, failure: SeatFailed) -> None:
        speech.answered({step})
        watch.lost(step, failure)

    def words(step: str, piece: str) -> None:
        speech.words(step, piece)
        watch.words(step, piece)

    return Watch(asked=asked, committed=committed, lost=lost, words=words)
