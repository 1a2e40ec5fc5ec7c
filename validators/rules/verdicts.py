"""Recorded verdicts: every round has a validation, and validations and signals come out the same again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from ledger.events import Event, RoundOpened, RunClosed, Signals, Validation
from ledger.state.book import Book
from ledger.state.fold import step as take
from ledger.state.state import State
from validators.finding import Breach, standing
from validators.ledger_index import LedgerIndex
from validators.moments import commits
from validators.rule import rule
from validators.rules.replay import compare


@rule("VER003", "error", source="SD-21, SD-49, FORMAT 2, FORMAT 9", applies_to_imports=False)
def round_is_validated(index: LedgerIndex) -> Iterator[Breach]:
    """Every round ends with a validation, and a round of synthesis with one after S.

    A ledger that was never judged on the way was judged only when it was too late to act.
    """
    opened: RoundOpened | None = None
    phases: set[str] = set()
    synthesis = False
    for event, step in zip(index.events, index.steps, strict=True):
        if isinstance(event, RoundOpened) or (isinstance(event, RunClosed) and event.state == "finished"):
            # Rounds of an imported parent were never validated by moot.
            held_here = opened is not None and not index.is_imported(opened.seq)
            if opened is not None and held_here and not phases:
                yield Breach(event.seq, f"round {opened.round} ends without a validation")
            elif opened is not None and synthesis and "S" not in phases:
                yield Breach(event.seq, f"the synthesis of round {opened.round} ends without a validation")
            if isinstance(event, RoundOpened):
                opened, phases, synthesis = event, set[str](), False
        elif isinstance(event, Validation):
            phases.add(event.after)
        elif step is not None and step.phase == "S":
            synthesis = True


@rule("VER002", "error", source="SD-60, DESIGN 3, FORMAT 2", applies_to_imports=False, recorded=False)
def recorded_signals_hold(index: LedgerIndex) -> Iterator[Breach]:
    """Recorded stop signals come out the same when they are computed again.

    The stop rests on them. Verdicts by thresholds that are not installed are counted, not judged.
    Where a protocol looks for itself, each round is looked at once, with the validation before its closing steps.
    """
    read, protocol = index.context.signals, index.context.protocol
    if protocol is not None and protocol.look is not None:
        yield from _looks(index, protocol.look)
        return
    if read is None:
        return
    prefix = _Prefix(index)
    for event in index.events:
        if not isinstance(event, Signals):
            continue
        if event.seq in index.as_given:
            continue
        report = read(prefix.through(event.through), event.profile)
        yield from (Breach(event.seq, f"{what} on recomputing") for what in _differences(event, report))


Look = Callable[[Book, str], tuple[Event, ...]]
"""A protocol's own look: (the book before the validation, the phase that ended) → its signals, and what it asks."""


def _looks(index: LedgerIndex, look: Look) -> Iterator[Breach]:
    """Yield breaches of stop checks: every one that was due must be there in full, and no other."""
    for events, book in commits(index):
        first, behind = events[0], events[1:]
        if isinstance(first, Validation):
            yield from _look(index, look(book, first.after) if first.after != "S" else (), first, behind)
            continue
        for event in events:
            if isinstance(event, Signals):
                yield Breach(event.seq, "signals that no validation made due")


def _look(
    index: LedgerIndex, due: Sequence[Event], validation: Validation, behind: Sequence[Event]
) -> Iterator[Breach]:
    """Yield differences of one stop check; one by other parameters is not judged, only required."""
    stated = next((event for event in behind if isinstance(event, Signals)), None)
    expected = next((event for event in due if isinstance(event, Signals)), None)
    # Parameters may have been tuned since. The recorded verdict is accepted, and the remaining events must
    # still agree.
    if stated and expected and stated.params != expected.params:
        message = f"recorded with parameters {stated.params[:12]}…: not recomputed"
        yield Breach(stated.seq, message, "warning")
        due = (stated, *(event for event in behind if not isinstance(event, Signals)))
    for breach in compare(due, behind, validation.seq, "the look"):
        # a question repeats the words of its claim, which a redacted copy has no longer
        at = validation.seq if breach.seq is None else breach.seq
        words = not isinstance(index.events[at], Signals | Validation)
        gone = words and any(seq <= at for seq in index.reworded)
        yield breach._replace(severity="warning") if gone else breach
    for event in behind[len(due) :]:
        yield Breach(event.seq, f"a {event.kind} that nothing made due")


class _Prefix:
    """Book as it was after an event. Stop checks follow one another, so the fold goes on from the last one."""

    def __init__(self, index: LedgerIndex) -> None:
        self._book = index.book
        self._state = State()

    def through(self, seq: int) -> Book:
        """Return the book through event `seq`; a book returned before is no longer valid."""
        # A damaged ledger may hold stop checks out of order; then the fold starts again.
        if seq < self._state.seq:
            self._state = State()
        events = self._book.events[: seq + 1]
        for event in events[self._state.seq + 1 :]:
            take(self._state, event)
        return Book(events, self._state, self._book.by_id, self._book.blobs)


def _differences(event: Signals, report: Any) -> Iterator[str]:
    for name in ("satisfied", "of", "stop", "advice"):
        if getattr(event, name) != getattr(report, name):
            yield f"{name} is {getattr(event, name)}, and {getattr(report, name)}"
    readings = {reading.id: reading for reading in report.signals}
    for stated in event.signals:
        recomputed = readings.pop(stated.id, None)
        if recomputed is None:
            yield f"{stated.id} is recorded, and not there"
            continue
        for name in ("satisfied", "value", "threshold"):
            if getattr(stated, name) != getattr(recomputed, name):
                yield f"{stated.id} {name} is {getattr(stated, name)}, and {getattr(recomputed, name)}"
        # Evidence is compared in order, because the report lists it in a fixed one.
        if tuple(stated.evidence) != tuple(str(entry) for entry in recomputed.evidence):
            yield f"{stated.id} evidence is {', '.join(stated.evidence) or 'nothing'}, and another"
    if readings:
        yield f"{', '.join(readings)} is not recorded, and there"


FINDINGS_MAX: Final = 100
"""Findings that a validation keeps (FORMAT 2)."""


@rule(
    "VER001",
    "error",
    source="SD-49, FORMAT 2 (`validation`), DESIGN 3",
    applies_to_imports=False,
    recorded=False,
)
def recorded_validation_holds(event: Validation, index: LedgerIndex) -> Iterator[Breach | str]:
    """A recorded validation is what these rules find over the same prefix.

    A validation that was written kinder than the ledger deserved would have let the run go on. One by rules of another
    version is counted, not judged. What a redacted copy makes differ is a warning: it names the events it changed. Last
    in the rulebook: it reads what the other rules found.
    """
    if event.seq in index.as_given:
        return
    for what in _otherwise(index, event):
        # Replaced words can make a rule find more or less, for example a hedge that is gone.
        if any(seq <= event.through for seq in index.reworded):
            yield Breach(event.seq, f"{what}; words of what it judged were redacted", "warning")
        else:
            yield what


def _otherwise(index: LedgerIndex, event: Validation) -> Iterator[str]:
    """Yield what the rules say differently from a recorded validation."""
    findings = standing(index.recorded, event.through)
    ok = not any(finding.severity == "error" for finding in findings)
    if event.ok != ok:
        yield f"recorded as {_word(event.ok)} through event {event.through}; it is {_word(ok)}"
    # The event keeps at most 100 findings, so the recomputed list is cut before the comparison.
    stated = [(entry.code, entry.severity, entry.seq, entry.message) for entry in event.findings]
    expected = [(entry.code, entry.severity, entry.seq, entry.message) for entry in findings[:FINDINGS_MAX]]
    if stated != expected:
        yield f"records {len(stated)} findings that are not the {len(expected)} found again"


def _word(ok: bool) -> str:
    return "good" if ok else "broken"
