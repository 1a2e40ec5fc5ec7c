"""Claim lifecycles: the status machine, and the order in which a claim's moves count (SD-43 … SD-46, FORMAT 2).

pending            → tested_confirmed | tested_refuted | partially_refuted | tested_unclear
tested_* and
partially_refuted  → each other (a re-test; the same outcome again is kept but moves nothing) | superseded
superseded         → nothing
"""

from __future__ import annotations

from typing import Final, NamedTuple

from ledger.events.values import Bearing, Status

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
    """Where in the deliberation something happened; siblings are ordered by it, never by seq."""

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
    """One entry of a claim's history. `stated_from` is what the event says; replay computes the real one."""

    place: Place
    stated_from: Status
    to: Status
    bearing: Bearing | None
    by: str
    seq: int
    class_: str = ""
    """The evidence class that the event states; empty where it states none."""


class HistoryEntry(NamedTuple):
    """A move as replay sees it. `legal` is false for a move that the status machine forbids: it moves nothing.

    `class_` is the evidence class that the move states, empty where it states none.
    """

    from_: Status
    to: Status
    bearing: Bearing | None
    by: str
    seq: int
    round: int
    legal: bool
    class_: str = ""


def history(moves: list[Move]) -> list[HistoryEntry]:
    """A claim's moves in their order, each with the status it really found."""
    status: Status = "pending"
    entries: list[HistoryEntry] = []
    for move in sorted(moves):
        legal = move.to in TRANSITIONS[status]
        entries.append(
            HistoryEntry(
                status, move.to, move.bearing, move.by, move.seq, move.place.round, legal, move.class_
            )
        )
        if legal:
            status = move.to
    return entries


def status_after(moves: list[Move]) -> Status:
    """The status that a claim's moves lead to."""
    status: Status = "pending"
    for move in sorted(moves):
        if move.to in TRANSITIONS[status]:
            status = move.to
    return status


def place_of_experiment(round_: int, phase: str, times: int, n: int) -> Place:
    """The place of a judgement on experiment `n`, the `times`-th on it: behind the checks of the phase."""
    return Place(round_, phase, 2, times, n)


def place_of_check(round_: int, phase: str, check_id: int, n: int) -> Place:
    """The place of a verification: check 3 is a group of its own behind 1, 2 and 4 (FORMAT 4)."""
    return Place(round_, phase, 1 if phase == "E" and check_id == 3 else 0, check_id, n)
