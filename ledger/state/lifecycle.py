"""Claim lifecycles: the status machine, and the order in which a claim's moves count (SD-43 … SD-46, FORMAT 2).

pending            → tested_confirmed | tested_refuted | partially_refuted | tested_unclear
tested_* and
partially_refuted  → each other (a re-test; the same outcome again is kept but moves nothing) | superseded
superseded         → nothing

A verdict of a lower evidence class than one that moved the claim before is kept and moves nothing: an argument does not
undo an experiment. Between equals the later one counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from ledger.events.envelope import Bearing, Status

TESTED: Final[tuple[Status, ...]] = (
    "tested_confirmed",
    "tested_refuted",
    "partially_refuted",
    "tested_unclear",
)
STATUSES: Final[tuple[Status, ...]] = ("pending", *TESTED, "superseded")
TRANSITIONS: Final[dict[Status, tuple[Status, ...]]] = {
    "pending": TESTED,
    "tested_confirmed": (*TESTED, "superseded"),
    "tested_refuted": (*TESTED, "superseded"),
    "partially_refuted": (*TESTED, "superseded"),
    "tested_unclear": (*TESTED, "superseded"),
    "superseded": (),
}
OPEN: Final[frozenset[Status]] = frozenset({"pending", "partially_refuted", "tested_unclear"})
"""Statuses of a claim that still asks for work (FORMAT 5)."""
FALLEN: Final[frozenset[Status]] = frozenset({"tested_refuted", "partially_refuted", "superseded"})
"""Statuses that put a decision which cites the claim at risk."""

STATUS_OF_BEARING: Final[dict[Bearing, Status]] = {
    "supports": "tested_confirmed",
    "contradicts": "tested_refuted",
    "partly_contradicts": "partially_refuted",
    "inconclusive": "tested_unclear",
}
BEARING_OF_STATUS: Final[dict[Status, Bearing]] = {
    status: bearing for bearing, status in STATUS_OF_BEARING.items()
}


class Place(NamedTuple):
    """Place of something in the deliberation. Siblings are ordered by it, never by seq."""

    round: int
    phase: str
    group: int
    check_id: int
    n: int


STATUS_OF_RUN: Final[dict[str, Status]] = {
    "holds": "tested_confirmed",
    "fails": "tested_refuted",
    "flaky": "tested_unclear",
    "inconclusive": "tested_unclear",
}
"""Verdict of an experiment → status that it gives its claims; an error gives none."""


class Move(NamedTuple):
    """Entry of a claim's history. `stated_from` is what the event says; replay computes the real one."""

    place: Place
    stated_from: Status
    to: Status
    bearing: Bearing | None
    by: str
    seq: int
    class_: str = ""
    """The evidence class that the event states; empty where it states none."""


WEIGHT: Final[dict[str, int]] = {
    "said": 1,
    "conceded": 2,
    "argued": 2,
    "ran": 3,
    "quoted": 3,
    "calculated": 4,
    "reproduced": 5,
    "measured": 6,
}
"""Evidence class → its weight beside the others."""


class HistoryEntry(NamedTuple):
    """Move as replay sees it. `legal` is false for a move that the status machine forbids: it moves nothing.

    `class_` is the evidence class that the move states, empty where it states none. `outweighed` is true where an
    earlier move has a higher one: it moves nothing either.
    """

    from_: Status
    to: Status
    bearing: Bearing | None
    by: str
    seq: int
    round: int
    legal: bool
    class_: str = ""
    outweighed: bool = False

    @property
    def counts(self) -> bool:
        """Return whether the claim's status follows from it."""
        return self.legal and not self.outweighed


def history(moves: list[Move]) -> list[HistoryEntry]:
    """Return a claim's moves in their order, each with the status it really started from."""
    standing = WeighedStatus()
    entries: list[HistoryEntry] = []
    # Replies of one group arrive in any order. Sorted by place, every order of arrival gives the same history.
    for move in sorted(moves):
        legal, outweighed = standing.allows(move), standing.outweighs(move)
        entries.append(
            HistoryEntry(
                standing.status,
                move.to,
                move.bearing,
                move.by,
                move.seq,
                move.place.round,
                legal,
                move.class_,
                outweighed,
            )
        )
        standing = standing.after(move)
    return entries


class WeighedStatus(NamedTuple):
    """Status of a claim, and the weight of what moved it there; 0 for a move without a class."""

    status: Status = "pending"
    weight: int = 0

    def allows(self, move: Move) -> bool:
        """Return whether the status machine allows the move."""
        return move.to in TRANSITIONS[self.status]

    def outweighs(self, move: Move) -> bool:
        """Return whether the current status has a higher evidence class than the move."""
        return bool(move.class_) and WEIGHT.get(move.class_, 0) < self.weight

    def after(self, move: Move) -> WeighedStatus:
        """Return the status after a move."""
        if not self.allows(move) or self.outweighs(move):
            return self
        return WeighedStatus(move.to, WEIGHT.get(move.class_, 0))


def standing_after(moves: Iterable[Move]) -> WeighedStatus:
    """Return the weighed status that a claim's moves lead to."""
    standing = WeighedStatus()
    for move in sorted(moves):
        standing = standing.after(move)
    return standing


def status_after(moves: Iterable[Move]) -> Status:
    """Return the status that a claim's moves lead to."""
    return standing_after(moves).status


def place_of_experiment(round_: int, phase: str, times: int, n: int, *, waited_for: bool) -> Place:
    """Return the place of the `times`-th judgement on experiment `n`.

    It is after the checks of the phase, or before them where they waited for it.
    """
    return Place(round_, phase, -1 if waited_for else 2, times, n)


def place_of_result(round_: int, phase: str, n: int) -> Place:
    """Return the place of a result that a person measured: after everything else in its phase."""
    return Place(round_, phase, 3, 0, n)


def place_of_check(round_: int, phase: str, check_id: int, n: int) -> Place:
    """Return the place of a verification: check 3 is a group of its own after 1, 2 and 4 (FORMAT 4)."""
    return Place(round_, phase, 1 if phase == "E" and check_id == 3 else 0, check_id, n)
