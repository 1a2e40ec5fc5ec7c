"""Opening a deliberation and going on with one, for `moot run`, agent hosts and the library.

Before that, what each protocol and plan would take for a question, in replies and dollars.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledger.state.book import grouped
from ledger.store.commit import AlreadyARun
from moot import version
from moot.app.runs import new_directory
from moot.app.seat_specs import choose, model_of
from moot.app.seats import (
    Agreed,
    SeatChoice,
    bench_for,
    check_ready,
    declared_seats,
    make_seats,
    need_word_for_programs,
    note_opened,
    prices_in_force,
    was_opened_here,
)
from moot.app.session import Session, open_session
from moot.app.settings import COMMAND_LINE, RunOptions, deliberation_of, documents_of
from moot.environment import now, read_settings
from moot.errors import MootError, usage
from moot.view.estimate import Estimate, estimate_of, limits_text
from moot.view.protocols import Choice, Gated, Protocols, choice_of, gate_line, protocols as protocols_of
from roles.seats.port import Seat
from roles.seats.registry import DEFAULT, PROVIDERS
from roles.seats.tape import TapeSeat
from rounds.protocols import PROTOCOLS, experiments_awaited
from rounds.protocols.plans import PLANS
from rounds.run.human_actions import amend_budgets, amend_experiments, stop_waiting
from rounds.run.session import start
from rounds.run.verdicts import standard
from rounds.setup import gate as rules
from rounds.setup.deliberation import Deliberation, checked, checked_budget
from rounds.setup.on_tape import on_tape
from rounds.setup.opening import Opening, cast_roles, resolve
from rounds.setup.toml_file import nearest

if TYPE_CHECKING:
    from rounds.experiments.bench import Bench


def estimate_for(opening: Opening, specs: Mapping[str, str], name: str) -> Estimate:
    """Return what a run may take in replies, tokens, dollars and time. `specs` maps each role to its seat."""
    # Commands, people and hosts name no model, so they have no price and stay out of the table.
    models = {spec: model for spec in specs.values() if (model := model_of(spec)) is not None}
    return estimate_of(name, opening.event, specs, models, prices_in_force())


def choices_for(options: int) -> list[Choice]:
    """Return every protocol and plan that a question with this many options could be given to, the shortest first."""
    choices = [
        choice_for(protocol.name, options, plan=plan)
        for protocol in PROTOCOLS.values()
        # A protocol with a fixed plan is one choice; every other one can be run with each of the plans.
        for plan in ((None,) if protocol.fixed_plan else PLANS)
    ]
    # By name among equals, so that the list is the same in every process.
    return sorted(choices, key=lambda choice: (choice.replies, choice.protocol))


def choice_for(protocol: str, options: int, spec: str = DEFAULT, *, plan: str | None = None) -> Choice:
    """Return what a protocol takes for a question with this many options and `spec` in every seat."""
    # Some protocols need at least two options or take a limited number: an estimate outside of that would fail.
    least, most = PROTOCOLS[protocol].options_wanted
    # Placeholder options: replies and prices depend on how many options there are, never on their words.
    named = [f"option {n}" for n in range(1, min(max(options, least), most) + 1)]
    subject = {"question": "Which?", "protocol": protocol, "options": named}
    deliberation = checked(
        {"deliberation": subject | ({} if plan is None else {"plan": plan})}, name=COMMAND_LINE
    )
    specs = choose(cast_roles(deliberation, COMMAND_LINE), spec, {}, {})
    estimate = estimate_for(resolve(deliberation, {}, moot=version(), seats=specs), specs, COMMAND_LINE)
    return choice_of(estimate, plan, model_of(spec) or spec)


def gate(
    text: str,
    options: Sequence[str] = (),
    *,
    triggers: Sequence[str] = (),
    compete: bool = False,
    single: bool = False,
) -> Gated:
    """Return the protocol that `moot run` would give a question, and why. No model is asked.

    `text` may name a deliberation file (.toml). `single` is one reply; `compete`, or one of the words in `triggers`,
    rules one reply out. Raises `errors.MootError`.
    """
    if not text.strip():
        what = "there is no question"
        raise usage(what, "say what is to be decided, or name a deliberation file", "moot gate")
    # A question may end in a file name; a space tells that it is a sentence.
    is_file = text.endswith(".toml") and " " not in text
    written = rules.question_of(deliberation_of(text, RunOptions())) if is_file else None
    question = written or rules.GateQuestion(text, len(options))
    question = question._replace(
        triggers=(*question.triggers, *triggers),
        single=question.single or single,
        compete=question.compete or compete,
    )
    try:
        choice = rules.gate(question)
    except rules.GateRefused as error:
        raise usage(str(error), "give one of --single and --compete", "moot gate") from None
    count = question.options or len(choice.items)
    chosen, *also = (choice_for(protocol, count) for protocol in (choice.protocol, *choice.also))
    return Gated.from_parts(choice, chosen=chosen, also=also, choices=choices_for(count))


def protocols(name: str | None = None) -> Protocols:
    """Return the protocols with roles, variants and number of replies, the plans and the castings; or one protocol."""
    if name is not None and name not in PROTOCOLS:
        raise usage(f"no protocol {name!r}", f"did you mean {nearest(name, PROTOCOLS)!r}?", "moot gate")
    return protocols_of(name)


GIT_ATTRIBUTES: Final = """\
# The hashes of a run cover its exact bytes, so no checkout may translate line ends here.
* -text
"""


def open_run_at(path: Path, opening: Opening, seats: Mapping[str, Seat]) -> Session:
    """Create the run and open its first round. A new directory for runs tells git to leave their bytes alone."""
    # A tape fits no prompts but those of its recording.
    if tapes := [seat.tape for seat in seats.values() if isinstance(seat, TapeSeat)]:
        opening = on_tape(opening, tapes)
    # Only a directory that moot makes itself: an existing one may have git attributes of its own.
    # Made rather than looked for, because another process may open its first run there at the same time.
    with suppress(FileExistsError):
        path.parent.mkdir(parents=True)
        (path.parent / ".gitattributes").write_text(GIT_ATTRIBUTES)
    files = {"deliberation.toml": opening.toml.encode()}
    start(path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=now)
    return Session(path)


def opened(
    file: str | None, options: RunOptions, choice: SeatChoice, directory: Path
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
    seats = make_seats(specs)
    # A missing key or program is found now, and not after the first replies are paid for.
    check_ready(seats)
    choice.check_costs(seats, deliberation.budget.usd)
    documents = documents_of(deliberation, file, options.files)
    params = options.thresholds()
    choice.check_size(
        # A function, because the estimate is needed only if a seat can cost money.
        lambda: estimate_for(
            resolve(deliberation, documents, moot=version(), name=name, seats=specs), specs, name
        ),
        seats,
        _gate_line(deliberation, specs),
    )
    opening = resolve(
        deliberation,
        documents,
        moot=version(),
        name=name,
        casting=options.casting,
        seats=declared_seats(seats),
        params=params,
        experiments=choice.programs_run_by(deliberation, options.of("experiments").get("run")),
        changes=options.changes,
    )
    session = open_run_at(directory, opening, seats)
    # Only a run that was opened with this person's word goes on later without asking again.
    note_opened(session.path)
    return session, seats


def _gate_line(deliberation: Deliberation, specs: Mapping[str, str]) -> Callable[[Estimate], str] | None:
    """Return a function that words the gate's choice in a line; None where the gate chose nothing."""
    from statistics import mode  # it loads slowly

    gated = rules.routed(deliberation)[1]
    # --single is a choice of the person, so there is no choice of the gate to explain.
    if gated is None or gated.kind == "single":
        return None
    # Without options in the file, the items that the gate read in the question are the options.
    options = len(deliberation.deliberation.options) or len(gated.items)
    # What else would fit is priced with the seat that most roles have; a mix is spread over the roles.
    spec = mode(specs.values())
    also = [choice_for(protocol, options, spec) for protocol in gated.also]
    return lambda estimate: gate_line(
        choice_of(estimate, None, spec), also, gated.items, limits_text(estimate.limits)
    )


def estimated(file: str | None, options: RunOptions, choice: SeatChoice) -> Estimate:
    """Return what a run may take, without opening it. A role without a seat is priced as the default seat.

    Raises `MootError` and `DeliberationError` where opening the run would.
    """
    name = file or COMMAND_LINE
    deliberation = deliberation_of(file, options)
    roles = cast_roles(deliberation, name)
    written = {role: row.seat for role, row in deliberation.cast.items() if row.seat is not None}
    # Seats of the file come last and win over the default.
    specs = choice.seats(roles, {**dict.fromkeys(roles, DEFAULT), **written})
    opening = resolve(
        deliberation,
        documents_of(deliberation, file, options.files),
        moot=version(),
        name=name,
        casting=options.casting,
        seats=specs,
        params=options.thresholds(),
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
    word, budget = options.of("experiments").get("run"), options.of("budget")
    # A ledger may come from another person: its seats and programs need this person's consent once.
    if not was_opened_here(session.path):
        choice.check_file_seats(str(session.path), specs)
        if session.state.runs_programs and word != "off":
            need_word_for_programs(str(session.path), choice.agreed, is_allowed=word == "on")
    seats = make_seats(specs)
    choice.check_costs(seats, budget.get("usd", session.state.limits.usd))
    if budget:
        # A new limit is an event on the ledger: a replay must stop where this run stops.
        amend_budgets(run, checked_budget(budget))
    if word in ("on", "off"):
        allow_programs(session, choice.agreed, is_allowed=word == "on")
    if options.ends_waiting:
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
    of_seat = grouped((declared[role], spec) for role, spec in by_role.items())
    alike = {seat: specs[0] for seat, specs in of_seat.items() if ":" in seat and len({*specs}) == 1}
    # A vendor's own seat names its default model by its kind alone; programs and people need more than that.
    plain = {
        role: kind
        for role, kind in kinds.items()
        if (row := PROVIDERS.get(kind)) is not None and row.runs == "api" and row.family is not None
    }
    return {**plain, **{role: alike[seat] for role, seat in declared.items() if seat in alike}, **by_role}


def bench_of(session: Session, agreed: Agreed | None) -> Bench | None:
    """Return the sandbox for a run that runs programs. Raises `NoSandbox` and `MootError`."""
    return bench_for(agreed) if session.state.runs_programs else None


def asks_about_programs(session: Session) -> bool:
    """Return whether a program is ready and the person has not yet said whether it may run."""
    state = session.state
    return state.experiments_at(state.seq) == "ask" and bool(experiments_awaited(state))
