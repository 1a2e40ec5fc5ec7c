"""Compute the evidence class of a verdict, and which ids of the run a claim names.

The class of a verdict is computed from its citations and never claimed by a seat. `ran` and `reproduced` come only from
experiments (`ledger/state/experiments.py`). The parameters of `crux` hold how often a verdict of a class is right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple, get_args

from ledger.events import Artifact, Claim, Event
from ledger.events.envelope import Bearing, Evidence, EvidenceClass
from ledger.events.ids import MENTION, parse_reference
from ledger.language.numbers import values_in
from ledger.state.book import Book, contains_quote, passages
from roles.calculation import calculation

_LIKE_AN_ID: Final = re.compile(rf"\b{MENTION}(?:~[0-9]+)?")


def ids_in(text: str, known: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the ids of the run that a text names, each once; `known` tells whether an id exists."""
    # Words of the subject such as "A-4 paper" look like ids, so only existing ids count.
    return tuple(match for match in dict.fromkeys(_LIKE_AN_ID.findall(text)) if known(match))


def claims_with_ids(event: Event, known: Callable[[str], bool]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (label, ids) for every claim of an event, raised or proposed, whose text names ids of the run."""
    match event:
        case Claim():
            claims = [(event.id, f"{event.text} {event.testable_as}")]
        case Artifact():
            claims = [
                (f"claim {n} of {event.id}", f"{draft.text} {draft.testable_as}")
                for n, draft in enumerate(event.proposed_claims, 1)
            ]
        case _:
            claims = []
    for name, text in claims:
        if ids := ids_in(text, known):
            yield name, ids


ORDER: Final[tuple[EvidenceClass, ...]] = get_args(EvidenceClass)
"""Evidence classes, the strongest first."""
NO_ARGUMENT: Final = frozenset({"verifier", "controller", "human", "import"})
"""Authors whose texts are not arguments of another role."""
GIVEN_UP: Final[frozenset[Bearing]] = frozenset({"contradicts", "partly_contradicts"})
"""Bearings that an author can concede; repeating one's own claim does not confirm it."""


class Exhibit(NamedTuple):
    """Piece of evidence with the texts at its reference.

    `texts`: empty when the reference does not resolve. `by`: their author, None for a document. `later`: whether it was
    written after the claim.
    """

    ref: str
    quote: str | None
    texts: tuple[str, ...]
    by: str | None
    later: bool = False

    @property
    def stands(self) -> bool:
        """Return whether its quote occurs at the reference; without a quote, whether the reference resolves."""
        return bool(self.texts) if self.quote is None else contains_quote(self.texts, self.quote)

    @property
    def words(self) -> tuple[str, ...]:
        """Return its quote, or all texts at the reference if it has none."""
        return self.texts if self.quote is None else (self.quote,)


def exhibits(book: Book, claim: str, evidence: Iterable[Evidence]) -> tuple[Exhibit, ...]:
    """Resolve the evidence of a verdict on a claim to texts, authors, and whether they are later than the claim."""
    raised = book.by_id[claim].seq
    resolved: list[Exhibit] = []
    for piece in evidence:
        reference = parse_reference(piece.ref)
        texts = passages(reference, book.by_id, book.state.opening, book.blobs) or ()
        event = book.by_id.get(reference.id)
        by, later = (event.by, event.seq > raised) if event is not None else (None, False)
        resolved.append(Exhibit(piece.ref, piece.quote, texts, by, later))
    return tuple(resolved)


def evidence_class(evidence: Sequence[Exhibit], raised_by: str, bearing: Bearing) -> EvidenceClass:
    """Return the class of a verifier's verdict: the strongest class among its pieces of evidence."""
    standing = tuple(piece for piece in evidence if piece.stands)
    return strongest(_class_of_piece(piece, standing, raised_by, bearing) for piece in standing)


def strongest(classes: Iterable[EvidenceClass]) -> EvidenceClass:
    """Return the strongest of several classes; `said` when there are none."""
    return min((*classes, ORDER[-1]), key=ORDER.index)


def exceeds(class_: EvidenceClass, limit: EvidenceClass) -> bool:
    """Return whether a class is stronger than `limit`."""
    return ORDER.index(class_) < ORDER.index(limit)


def _class_of_piece(
    piece: Exhibit, evidence: Sequence[Exhibit], raised_by: str, bearing: Bearing
) -> EvidenceClass:
    if piece.quote is not None and _is_redone(piece, evidence, raised_by):
        return "calculated"
    if piece.by is None:
        return "quoted" if piece.quote is not None else "said"
    if piece.by == raised_by:
        # Only words after the claim can concede it; its own wording never counts against it.
        return "conceded" if piece.later and bearing in GIVEN_UP else "said"
    return "said" if piece.by in NO_ARGUMENT else "argued"


def _is_redone(piece: Exhibit, evidence: Sequence[Exhibit], raised_by: str) -> bool:
    """Return whether a quote is a correct calculation with numbers from other evidence.

    Other evidence has a different reference, is not by the author of the claim, and is not a calculation itself.
    """
    quoted = calculation(piece.quote or "")
    if quoted is None or not quoted.holds:
        return False
    # Otherwise a claim could support itself with numbers that its own author made up.
    numbers = {
        value
        for other in evidence
        if other.ref != piece.ref and other.by != raised_by and calculation(other.quote or "") is None
        for text in other.words
        for value in values_in(text)
    }
    return numbers.issuperset(quoted.operands)
