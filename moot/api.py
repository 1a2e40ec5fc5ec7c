"""The public API (DESIGN 7): the verbs as functions. A `run` argument takes a path or a `Run`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ledger.state.fold import fold
from ledger.store.disk import read_plain
from moot.app.run import AnyPath
from moot.app.run import Run as Run
from moot.environment import now
from moot.errors import usage

if TYPE_CHECKING:
    from detectors.report import SignalReport
    from ledger.audit.verify import VerifyReport
    from ledger.format.chain import Head
    from ledger.interchange.report import ExportReport, ImportReport
    from moot.app.session import Session
    from moot.documents import Form
    from moot.view.protocols import Gated, Protocols
    from moot.view.status import RunList
    from roles.seats.port import Seat
    from rounds.analysis.compare import RunDiff
    from rounds.experiments.bench import Bench
    from rounds.setup.deliberation import Deliberation
    from validators.rulebook import CheckReport

    Deliberating = AnyPath | Mapping[str, Any] | Deliberation
    """A deliberation: a file, the table that such a file holds, or one that was read."""
    Seats = str | Mapping[str, Seat | str]
    """Seats: one specification for all roles, as for `moot run --seats`, or a specification or a seat by role."""


def open_run(path: AnyPath) -> Run:
    """Open a run to read. Raises `LedgerError` when the path holds no run, or a damaged one."""
    return Run(path)


def import_run(format: str, src: AnyPath, out: AnyPath) -> ImportReport:
    """Make the run `out` from another system's files. With bad lines nothing is written (`ok` is false)."""
    from detectors.parameters import DEFAULT_PROFILE, params_hash
    from ledger.interchange.formats import import_run as read_in
    from ledger.interchange.skill_import import Terms
    from rounds.setup.screened import import_screened

    # An import gets the thresholds of today, because its files name none.
    terms = Terms(profile=DEFAULT_PROFILE, params=params_hash(DEFAULT_PROFILE))
    return read_in(format, src, out, at=now(), terms=terms, screened=import_screened)


def check(run: AnyPath | Run, phase: str | None = None) -> CheckReport:
    """Return every rule that the ledger breaks. `phase` judges it as it was when that phase last ended."""
    from rounds.protocols import DEFAULT_PROTOCOL, PROTOCOLS, named_protocol
    from rounds.run.verdicts import standard
    from validators import rulebook

    ours = _run(run)
    # The raw book: a ledger that is not a run at all is still checked, and its findings say why.
    book = ours.raw_book
    opened = book.state.opened
    protocol = (
        named_protocol(opened) if opened else PROTOCOLS[DEFAULT_PROTOCOL]
    )  # ORD001 says what is missing
    context = msgspec.structs.replace(
        standard(protocol).context(),
        run=str(ours.path),
        unknown=_unknown_fields(ours),
        ledger_problems=tuple(ours.problems()),
    )
    return rulebook.check(book, context, phase)


def signals(
    run: AnyPath | Run, profile: str | None = None, at: int | None = None, params: AnyPath | None = None
) -> SignalReport:
    """Return the stop signals after event `at` (None: the last one), in the run's own profile by default.

    `params` is a parameter file for the profile `gates`, an edited copy of the installed one.
    """
    from moot.app.signals import refuse_unwatched, signals_of_state

    ours = _run(run)
    # The state at the head is kept between calls; an earlier one is folded again up to `at`.
    state = ours.state if at is None else fold(ours.stream(at))
    refuse_unwatched(ours)
    return signals_of_state(ours, state, profile, params=params)


def diff(a: AnyPath | Run, b: AnyPath | Run) -> RunDiff:
    """Compare two runs: what they share, and where they diverge."""
    from detectors.parameters import PROFILES
    from detectors.signals import signals as read
    from rounds.analysis.compare import compare

    first, second = _run(a), _run(b)
    own = first.book.state.opening.stop.profile
    profile = own if own in PROFILES else "published"  # forecasts are no signals
    names = (str(first.path), str(second.path))
    return compare(first.book, second.book, names, signals=lambda book: read(book, profile))


def verify(path: AnyPath | Run, checkpoints: Sequence[Head] = ()) -> VerifyReport:
    """Check that a run is, byte for byte, what was committed."""
    from ledger.audit.verify import verify as verified

    return verified(path.path if isinstance(path, Run) else path, checkpoints)


def start(
    deliberation: Deliberating,
    out: AnyPath | None = None,
    seats: Seats = "host",
) -> Session:
    """Open a run and its first round, for step-by-step work; no seat is called.

    `deliberation` is a file, or its table; `out` a new directory, by default one below ./runs. `seats` are recorded as
    what answers. Raises `errors.DeliberationError` for an invalid deliberation.
    """
    return _opened(deliberation, seats, out)[0]


def run_deliberation(deliberation: Deliberating, seats: Seats, out: AnyPath | None = None) -> Run:
    """Run a deliberation until it ends or has to wait, and return the run.

    `deliberation` is a file, its table, or a parsed one; `seats` is a specification for all roles, or a specification
    or a seat by role. Raises `errors.DeliberationError` for an invalid deliberation, `errors.MootError` when a role has
    no seat, and `errors.SeatFailed` when a seat fails for good.
    """
    import asyncio

    return asyncio.run(run_deliberation_async(deliberation, seats, out))


async def run_deliberation_async(deliberation: Deliberating, seats: Seats, out: AnyPath | None = None) -> Run:
    """Do the same as `run_deliberation` inside an event loop."""
    return await _driven(*_opened(deliberation, seats, out))


def resume(run: AnyPath | Run, seats: Seats | None = None, *, programs: bool = False) -> Run:
    """Continue a run until it ends or has to wait, by default with the seats that it names itself.

    `programs`: run programs of its replies here, if the run says so; without it the run waits for them. A run that
    another person opened names no seats by itself. Raises what `run_deliberation` raises.
    """
    import asyncio

    from moot.app.consent import need_word_for_seats, was_opened_here
    from moot.app.running import bench_of, seats_again
    from moot.app.seats import SeatChoice, seated
    from moot.app.session import Session
    from moot.environment import read_settings

    session = Session(_run(run).path)
    if seats is None:
        seats = seats_again(str(session.path), session, SeatChoice(None, {}))
        # A library call has no terminal to ask on, so a stranger's run needs its seats named.
        need_word_for_seats(str(session.path), seats, None, is_allowed=was_opened_here(session.path))
    built = seated(session.state.roles, seats, offline=read_settings().offline)
    return asyncio.run(_driven(session, built, bench_of(session, None) if programs else None))


def fork(
    run: AnyPath | Run,
    round: int,
    out: AnyPath | None = None,
    *,
    without: str | None = None,
    seats: str = "host",
) -> Session:
    """Create a run that shares everything before `round` with `run`, byte for byte, and goes on with `seats`.

    `without` names a role that is absent from that round. Raises `errors.MootError` for an impossible fork.
    """
    from moot.app.forks import made_fork
    from moot.app.session import Session

    place = None if out is None else Path(out)
    return Session(made_fork(_run(run).path, round, without=without, everybody=seats, out=place).run)


def list_runs(directory: AnyPath | None = None, *, at_most: int | None = None) -> RunList:
    """Return the runs below a directory (./runs) with their answers, the last committed first.

    Raises `errors.MootError` when the directory does not exist.
    """
    from moot.app.runs import runs_under
    from moot.environment import read_settings
    from moot.view.status import list_of

    runs = read_settings().runs if directory is None else Path(directory)
    if directory is not None and not runs.is_dir():
        raise usage(f"no directory {str(runs)!r}", "name one that holds runs, or leave it out", "moot list")
    paths = runs_under(runs)
    listed = paths if at_most is None else paths[:at_most]
    # The number left out is passed on, so that a cut list does not look complete.
    return list_of(runs, listed, len(paths) - len(listed))


def report(run: AnyPath | Run, *, form: Form = "pages") -> str:
    """Return the run as one Markdown document.

    `form`: `pages`, three of them; `full`, with its record, every event once; `page`, one to hand on, with the tables
    of its protocol; `adr`, a decision record of MADR 4.
    """
    from moot.documents import run_report

    ours = _run(run)
    return run_report(ours.view, ours.head, form)


def export_run(run: AnyPath | Run, format: str, out: AnyPath) -> ExportReport:
    """Write a run in another system's form into `out`, a new or empty directory."""
    from ledger.interchange.formats import export_run as written

    return written(_run(run).book, format, out)


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
    from moot.app.choices import choice_for, choices_for
    from moot.app.run_options import RunOptions, deliberation_of
    from moot.view.protocols import gated_of
    from rounds.setup import gate as rules

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
    return gated_of(choice, chosen, also, choices_for(count))


def protocols(name: str | None = None) -> Protocols:
    """Return the protocols with roles, variants and number of replies, the plans and the castings; or one protocol."""
    from moot.view.protocols import protocols as listed
    from rounds.protocols import PROTOCOLS
    from rounds.setup.toml_file import nearest

    if name is not None and name not in PROTOCOLS:
        raise usage(f"no protocol {name!r}", f"did you mean {nearest(name, PROTOCOLS)!r}?", "moot gate")
    return listed(name)


def _opened(source: Deliberating, seats: Seats, out: AnyPath | None) -> tuple[Session, dict[str, Seat]]:
    from moot.app.consent import note_opened
    from moot.app.run_options import documents_of
    from moot.app.running import open_deliberation, place_of
    from moot.app.seats import check_ready, seated
    from moot.environment import read_settings
    from rounds.setup.opening import cast_roles

    deliberation, file = _deliberation(source)
    name = file or "deliberation"
    built = seated(cast_roles(deliberation, name), seats, offline=read_settings().offline)
    check_ready(built)
    place = place_of(None if out is None else os.fspath(out))
    documents = documents_of(deliberation, file)
    session = open_deliberation(deliberation, built, place, documents=documents, name=name)
    note_opened(session.path)
    return session, built


async def _driven(session: Session, seats: Mapping[str, Seat], bench: Bench | None = None) -> Run:
    from moot.app.running import drive_run
    from roles.seats.port import SeatFailed

    ended = await drive_run(session.inner, seats, bench=bench)
    if ended.state == "failed":
        # The run stays on the disk and can be resumed; the caller learns which seat failed.
        raise SeatFailed("unavailable", ended.detail, fatal=True)
    return Run(session.path)


def _deliberation(source: Deliberating) -> tuple[Deliberation, str | None]:
    from rounds.setup.deliberation import Deliberation, checked, parse
    from rounds.setup.toml_file import FILE_BYTES_MAX

    if isinstance(source, Deliberation):
        return source, None
    if isinstance(source, Mapping):
        return checked(dict(source), name="deliberation"), None
    file = os.fspath(source)
    return parse(read_plain(file, FILE_BYTES_MAX), file), file


def _run(run: AnyPath | Run) -> Run:
    return run if isinstance(run, Run) else Run(run)


def _unknown_fields(run: Run) -> dict[int, tuple[str, ...]]:
    """Return fields that this version does not know, by sequence number."""
    from ledger.format.canonical import unknown_fields

    unknown: dict[int, tuple[str, ...]] = {}
    # The events have lost unknown fields when they were read, so the lines are looked at again.
    for event, (_, _, line) in zip(run.events, run.lines(), strict=False):
        fields = unknown_fields(line, event)
        if fields:
            unknown[event.seq] = fields
    return unknown
