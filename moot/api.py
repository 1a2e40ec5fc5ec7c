"""The verbs that read a run, as functions of the public API. A `run` argument takes a path or a `Run`.

Modules are imported where they are used: a verb of the command line starts faster without those of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledger.state.fold import fold
from moot.app.runs import AnyPath, Run as Run, runs_under
from moot.environment import now, read_settings
from moot.errors import usage

if TYPE_CHECKING:
    from detectors.report import SignalReport
    from ledger.audit.verify import VerifyReport
    from ledger.format.canonical import Head
    from ledger.interchange.report import ExportReport, ImportReport
    from moot.documents import Form
    from moot.view.status import RunList
    from rounds.analysis.compare import RunDiff
    from validators.rulebook import CheckReport


def open_run(path: AnyPath) -> Run:
    """Open a run to read. Raises `LedgerError` when the path holds no run, or a damaged one."""
    return Run(path)


def import_run(format: str, src: AnyPath, out: AnyPath) -> ImportReport:
    """Make the run `out` from another system's files. With bad lines nothing is written (`ok` is false)."""
    from detectors.parameters import DEFAULT_PROFILE, params_hash
    from ledger.interchange.formats import import_run as read_in
    from ledger.interchange.skill_import import Terms
    from rounds.setup.gate import import_screened

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
    from moot.app.readings import refuse_unwatched, signals_of_state

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


def list_runs(directory: AnyPath | None = None, *, at_most: int | None = None) -> RunList:
    """Return the runs below a directory (./runs) with their answers, the last committed first.

    Raises `errors.MootError` when the directory does not exist.
    """
    from moot.view.status import list_of

    runs = read_settings().runs if directory is None else Path(directory)
    if directory is not None and not runs.is_dir():
        raise usage(f"no directory {str(runs)!r}", "name one that holds runs, or leave it out", "moot list")
    paths = runs_under(runs)
    listed = paths[:at_most]
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
