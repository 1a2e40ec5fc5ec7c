"""Sides: who argues for what in a comparison, and which sides decisions followed (AD-6).

`Protocol.sides` and `Protocol.disputed` of several protocols count the latter.

A disagreement is a challenge, concern or difference that had to be decided; the side is the one that the decision
followed. Where the form of a protocol fixes how many points are raised, only those count that stayed in dispute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Final, NamedTuple

from ledger.events import Argument, Challenge, Concern, Decision, Disposition, Response
from ledger.events.ids import label_id
from ledger.state.book import Book, grouped, per_book, sections_named
from ledger.state.decided import deliberated
from ledger.state.state import State

TAKEN: Final = frozenset({"accepted", "fixed", "resolved"})
"""Dispositions of an objection that the deciding role accepted."""

ACCEPTED_OR_NOT: Final = {"accepted": "challenger", "rejected": "proposer", "escalated": "human"}
"""Disposition of a challenge to a plan → the side that it follows."""

GIVEN_UP: Final = "Given up: "
"""Beginning of a narrative that says what a verdict gives up of the position that it is about."""
ADVOCATES: Final = ("advocate_a", "advocate_b")


class Pairing(NamedTuple):
    """A round's option for each advocate. `a` looks far ahead, `b` at the next months."""

    a: str
    b: str


def pairings(options: int) -> tuple[Pairing, ...]:
    """Return every pair of options twice, the second time with the lenses swapped (AD-13 confounds lens and option)."""
    pairs = combinations((label_id("option", n) for n in range(1, options + 1)), 2)
    return tuple(Pairing(*pair) for first, second in pairs for pair in ((first, second), (second, first)))


def pairing(state: State, round_: int) -> Pairing:
    """Return who argues for what in a round."""
    return pairings(len(state.opening.options))[round_ - 1]


def sides_of(state: State, round_: int, advocate: str) -> Pairing:
    """Return the option that an advocate argues for in a round, and the one that it argues against."""
    pair = pairing(state, round_)
    return pair if advocate == ADVOCATES[0] else Pairing(pair.b, pair.a)


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


@per_book
def concessions_of(book: Book) -> Mapping[str, list[str]]:
    """Return what was conceded, by id, each with the roles that conceded it: in a crossing, an answer or a closing."""
    crossings = ((event.target, event.by) for event in book.of(Challenge) if event.type == "concede")
    answers = ((event.to, event.by) for event in book.of(Response) if event.outcome == "concede")
    # The closing of a debate has a paragraph for each, which begins with the id.
    closings = (
        (paragraph.partition(": ")[0], event.by)
        for event, text in sections_named(book, "concessions")
        for paragraph in text.split("\n\n")
    )
    # A side may concede a point in the crossing and again in its closing.
    return grouped(dict.fromkeys([*crossings, *answers, *closings]))


def attacks_on(book: Book, argument: Argument) -> list[Challenge]:
    """Return the challenges to an argument, without those that grant it."""
    return [event for event in book.of(Challenge) if event.target == argument.id and event.type != "concede"]


def is_given_up(book: Book, argument: Argument) -> bool:
    """Return whether the author of an argument gave it up, or conceded that it was refuted."""
    refuted = [attack.id for attack in attacks_on(book, argument) if attack.type == "refute"]
    return any(argument.by in concessions_of(book).get(name, ()) for name in (argument.id, *refuted))


def granted_by(book: Book, argument: Argument) -> list[str]:
    """Return the other roles that conceded an argument."""
    return [role for role in concessions_of(book).get(argument.id, ()) if role != argument.by]


def taken_up(book: Book) -> frozenset[str]:
    """Return the objections that are none to the final answer: accepted into it, or put to a person as a question."""
    became = {disposition.of: disposition.disposition for disposition in book.of(Disposition)}
    # What is left of an escalated objection is its question, which `needs you` or the answer to it shows.
    put_to_person = {
        objection
        for concern in book.of(Concern)
        if concern.type == "question" and concern.for_human
        for objection in concern.between
    }
    return frozenset(
        objection
        for objection, disposition in became.items()
        if disposition in TAKEN or (disposition == "escalated" and objection in put_to_person)
    )
