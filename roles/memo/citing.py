"""Resolve the refs of a memo to texts, with their strength as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ledger.events import (
    Belief,
    Claim,
    Event,
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Verification,
)
from ledger.events.envelope import EvidenceClass
from ledger.events.ids import kind_of, parse_reference
from ledger.state.book import Book, passages, written
from roles.evidence import ORDER
from roles.memo.checks import CitedText


def cited_texts(
    book: Book, refs: Iterable[str], citable: Mapping[str, Event] | None = None
) -> dict[str, CitedText]:
    """Return ref → its texts, for refs that resolve. `citable`: the events that may be cited (default: all)."""
    by_id = book.by_id if citable is None else citable
    texts = ((ref, _cited(book, ref, by_id)) for ref in dict.fromkeys(refs))
    return {ref: cited for ref, cited in texts if cited is not None}


def _cited(book: Book, ref: str, by_id: Mapping[str, Event]) -> CitedText | None:
    reference = parse_reference(ref)
    texts = passages(reference, by_id, book.state.opening, book.blobs)
    if texts is None:
        return None
    # Documents (K-n) belong to the opening and are not events.
    if kind_of(reference.id) == "document":
        return CitedText(texts, "document")
    match by_id[reference.id]:
        case ExperimentPlanned():
            outputs = tuple(_outputs(book, reference.id))
            facts = book.state.experiments[reference.id]
            # An experiment without a clear result is no evidence either way.
            class_ = _known(facts.class_) if facts.verdict in ("holds", "fails") else None
            return CitedText((*texts, *outputs), "experiment", class_, _writers(book, reference.id, outputs))
        case Claim():
            evidence, class_, experiment = _last_verdict(book, reference.id)
            writers = _writers(book, experiment, evidence) if experiment else ()
            return CitedText((*texts, *evidence), "claim", class_, writers)
        case Belief() as belief:
            return CitedText((*texts, *_points(belief)), "belief")
        case _:
            return CitedText(texts)


def _outputs(book: Book, identity: str) -> Iterator[str]:
    """Yield the output of every repetition of an experiment, then the counts of its results."""
    yield from (text or "" for text in written(book, identity))
    for judged in book.of(ExperimentJudged):
        if judged.of == identity:
            counts = judged.counts
            yield (
                f"{counts.holds} held, {counts.fails} failed, {counts.inconclusive} inconclusive,"
                f" {counts.error} errors"
            )


def _writers(book: Book, identity: str, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Return a label per output: the repetition or control, and the stream; then labels for the counts."""
    runs = [run for run in book.of(ExperimentRun) if run.of == identity]
    names = [
        f"{identity}, control {run.control.replace('_', ' ')}"
        if run.control
        else f"{identity}, repetition {run.n}"
        for run in runs
    ]
    streams = [f"{name}, {stream}" for name in names for stream in ("output", "errors")]
    return (*streams, *(f"{identity}, counted" for _ in outputs[len(streams) :]))


def _last_verdict(book: Book, identity: str) -> tuple[tuple[str, ...], EvidenceClass | None, str | None]:
    """Return the evidence of the last verdict on a claim, its class, and the id of its experiment, if any."""
    moves = book.state.claims[identity].moves
    if not moves:
        return (), None, None
    last = max(moves)
    event = book.by_id.get(last.by)
    if isinstance(event, ExperimentPlanned):
        return tuple(_outputs(book, last.by)), _known(last.class_), last.by
    changes = event.claim_status_changes if isinstance(event, Verification) else ()
    quotes = (piece.quote for change in changes if change.claim_id == identity for piece in change.evidence)
    return tuple(quote for quote in quotes if quote is not None), _known(last.class_), None


def _points(belief: Belief) -> Iterator[str]:
    yield from (f"{option}: {points}" for option, points in belief.points.items())
    for condition in belief.given:
        yield f"{condition.claim}: {condition.q}"


def _known(class_: str | None) -> EvidenceClass | None:
    # A ledger of another version may hold a class that this one does not know.
    return next((known for known in ORDER if known == class_), None)
