"""Evidence: how strong what a verdict rests on is, and what reasons of several strengths come to.

The class of a verdict is computed from what it cites; nobody claims one. `ran` and `reproduced` come from experiments
alone (`ledger/state/experiments.py`). How often a verdict of a class is right stands in the parameters of `crux`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple, get_args

from ledger.events.ids import parse_reference
from ledger.events.values import Bearing, Evidence, EvidenceClass
from ledger.language.numbers import values_in
from ledger.state.anchors import contains_quote, passages
from ledger.state.book import Book
from roles.calculation import calculation

Basis = Literal["weak", "moderate", "strong"]

ORDER: Final[tuple[EvidenceClass, ...]] = get_args(EvidenceClass)
"""The strongest first."""
BASES: Final[tuple[Basis, ...]] = get_args(Basis)
"""The weakest first."""
NO_ARGUMENT: Final = frozenset({"verifier", "controller", "human", "import"})
"""Who argues nothing: what they write is no argument of another role."""
GIVEN_UP: Final[frozenset[Bearing]] = frozenset({"contradicts", "partly_contradicts"})
"""Verdicts that an author can concede; nobody confirms a claim by repeating it."""


class Exhibit(NamedTuple):
    """One piece of evidence with what stands where it points.

    `texts`: the strings at its reference, empty when it does not resolve. `by`: who wrote them, None of a document.
    `later`: whether it was written after the claim.
    """

    ref: str
    quote: str | None
    texts: tuple[str, ...]
    by: str | None
    later: bool = False

    @property
    def stands(self) -> bool:
        """Whether its quote stands where it points; true without a quote if something is there at all."""
        return bool(self.texts) if self.quote is None else contains_quote(self.texts, self.quote)

    @property
    def said(self) -> tuple[str, ...]:
        """The words that it brings: its quote, or everything that stands there."""
        return self.texts if self.quote is None else (self.quote,)


def exhibits(book: Book, claim: str, evidence: Iterable[Evidence]) -> tuple[Exhibit, ...]:
    """The evidence of a verdict on a claim, with what stands there, who wrote it, and whether after the claim."""
    raised = book.by_id[claim].seq
    found: list[Exhibit] = []
    for piece in evidence:
        reference = parse_reference(piece.ref)
        texts = passages(reference, book.by_id, book.state.opening, book.blobs) or ()
        event = book.by_id.get(reference.id)
        by, later = (event.by, event.seq > raised) if event is not None else (None, False)
        found.append(Exhibit(piece.ref, piece.quote, texts, by, later))
    return tuple(found)


def evidence_class(evidence: Sequence[Exhibit], raised_by: str, bearing: Bearing) -> EvidenceClass:
    """The class of a verifier's verdict: the strongest of what its evidence, piece by piece, comes to."""
    good = tuple(piece for piece in evidence if piece.stands)
    return strongest(_class_of_piece(piece, good, raised_by, bearing) for piece in good)


def strongest(classes: Iterable[EvidenceClass]) -> EvidenceClass:
    """The strongest of several classes; `said` of none."""
    found = set(classes)
    for one in ORDER:
        if one in found:
            return one
    return "said"


def exceeds(shown: EvidenceClass, allowed: EvidenceClass) -> bool:
    """Whether a class is stronger than another."""
    return ORDER.index(shown) < ORDER.index(allowed)


def _class_of_piece(
    piece: Exhibit, evidence: Sequence[Exhibit], raised_by: str, bearing: Bearing
) -> EvidenceClass:
    if piece.quote is not None and _is_redone(piece, evidence, raised_by):
        return "calculated"
    if piece.by is None:
        return "quoted" if piece.quote is not None else "said"
    if piece.by == raised_by:
        return "conceded" if piece.later and bearing in GIVEN_UP else "said"
    return "said" if piece.by in NO_ARGUMENT else "argued"


def _is_redone(piece: Exhibit, evidence: Sequence[Exhibit], raised_by: str) -> bool:
    """Whether a quote is a calculation that comes out, over numbers that stand in other evidence.

    Other evidence stands elsewhere, is not the claim's author's own, and is no calculation itself.
    """
    found = calculation(piece.quote or "")
    if found is None or not found.holds:
        return False
    given = {
        value
        for other in evidence
        if other.ref != piece.ref and other.by != raised_by and calculation(other.quote or "") is None
        for text in other.said
        for value in values_in(text)
    }
    return given.issuperset(found.operands)


# ---------------------------------------------------------------- what reasons come to


def basis(reasons: Sequence[EvidenceClass]) -> Basis:
    """What an answer rests on, by the classes of its reasons.

    strong: one was reproduced or measured and none is below quoted; weak: none is above argued; else moderate.
    """
    if {"reproduced", "measured"} & set(reasons) and not any(exceeds("quoted", one) for one in reasons):
        return "strong"
    return "moderate" if any(exceeds(one, "argued") for one in reasons) else "weak"


_HOW: Final[tuple[tuple[frozenset[EvidenceClass], str, str], ...]] = (
    (frozenset({"measured"}), "was measured by a person", "were measured by a person"),
    (frozenset({"reproduced", "ran"}), "was run", "were run"),
    (frozenset({"calculated"}), "was calculated", "were calculated"),
    (frozenset({"quoted"}), "is quoted from the documents", "are quoted from the documents"),
    (frozenset({"argued"}), "was argued", "were argued"),
    (frozenset({"conceded"}), "was conceded", "were conceded"),
    (frozenset({"said"}), "was stated, not tested", "were stated, not tested"),
)


def basis_sentence(
    reasons: Sequence[EvidenceClass], *, families: int | None = None, over_roles: Sequence[Fraction] = ()
) -> str:
    """The basis in a sentence of its own: how the reasons were tested, who answered, how far the roles differ.

    `families`: of models among the seats, None where they are not known. `over_roles`: each role's points for the
    answer.
    """
    counts = [(sum(one in classes for one in reasons), alone, several) for classes, alone, several in _HOW]
    parts = [f"{count} {alone if count == 1 else several}" for count, alone, several in counts if count]
    if parts:
        first, _, rest = parts[0].partition(" ")
        parts[0] = f"{first} of {len(reasons)} {'reason' if len(reasons) == 1 else 'reasons'} {rest}"
    else:
        parts = ["no reason is given"]
    if families is not None:
        parts.append("all seats were one model" if families == 1 else f"the seats were {families} models")
    if over_roles:
        low, high = round(min(over_roles)), round(max(over_roles))
        parts.append(
            f"each role gave it {low} points" if low == high else f"the roles gave it {low} to {high} points"
        )
    return f"The basis is {basis(reasons)}: {', '.join(parts)}."
