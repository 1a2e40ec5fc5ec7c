"""Sides that decisions followed, as several protocols count them (AD-6): `Protocol.sides` and `Protocol.disputed`.

A disagreement is a challenge, concern or difference that had to be decided; the side is the one that the decision
followed. Where the form of a protocol fixes how many points are raised, only those count that stayed in dispute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from ledger.events import Decision, Disposition, Response
from ledger.state.book import Book
from ledger.state.decided import deliberated

ACCEPTED_OR_NOT: Final = {"accepted": "challenger", "rejected": "proposer", "escalated": "human"}
"""Disposition of a challenge to a plan → the side that it follows."""


def by_disposition(sides: Mapping[str, str]) -> Callable[[Book], Counter[str]]:
    """Build the count of a protocol whose challenges get a disposition: disposition → side."""
    return lambda book: Counter(
        sides[event.disposition] for event in book.of(Disposition) if event.disposition in sides
    )


def defended(book: Book) -> int:
    """Return the number of challenges that were not conceded; both sides agree on the others."""
    return sum(event.outcome == "defend" for event in book.of(Response))


def preferred_options(book: Book) -> Counter[str]:
    """Return how often each option was preferred by the decision of a round."""
    rounds = set(deliberated(book.state, "round"))
    return Counter(event.about[0] for event in book.of(Decision) if event.id in rounds and event.about)
