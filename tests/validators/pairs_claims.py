"""Pairs for claims, their lifecycles, the synthesis and drift checks."""

from __future__ import annotations

from msgspec import structs

from ledger.events import Rating, Verification
from ledger.events.claims import Scale
from ledger.events.envelope import Bearing, Evidence, Result, Status
from ledger.events.verifications import StatusChange
from ledger.state.book import Book
from tests.validators.factory import add, base, body, change, cut, imported, seq_of
from tests.validators.pair import Pair, at
from tests.validators.pairs_order import FALLBACK
from tests.validators.pairs_roles import CHECK, CLAIM


def rated(scale: Scale, value: int | str) -> Book:
    """The good deliberation with a rating behind it."""
    rating = Rating(round=1, phase="G", by="critic", of="N-1-1", scale=scale, value=value, reason="So.")
    return add(base(), rating)


def moved(
    claim: str,
    from_: Status,
    to: Status,
    bearing: Bearing,
    *,
    which: str = "V-1-2",
    result: Result = "ROBUST",
) -> Book:
    """The good deliberation with another status change in a verification."""
    step = StatusChange(
        claim_id=claim, from_=from_, to=to, bearing=bearing, class_="said", evidence=(Evidence(ref=claim),)
    )
    return change(which, result=result, claims_affected=(claim,), claim_status_changes=(step,))


def _twice() -> Book:
    event = base().by_id["V-1-2"]
    assert isinstance(event, Verification), "V-1-2 is a verification"
    return change("V-1-2", claim_status_changes=event.claim_status_changes * 2)


def _imported_change(from_: Status, bearing: Bearing = "contradicts") -> Book:
    claim = structs.replace(CLAIM, id="C-1-1", round=1)
    to: Status = "tested_refuted" if bearing == "contradicts" else "tested_confirmed"
    step = StatusChange(claim_id="C-1-1", from_=from_, to=to, bearing=bearing)
    first = structs.replace(CHECK, id="V-1-1", round=1, claims_affected=("C-1-1",))
    return imported(claim, structs.replace(first, claim_status_changes=(step,)))


def _unresolved(*, given_up: bool) -> Book:
    """The synthesis is reviewed without the resolution, which was given up or just left out."""
    early = cut(seq_of("V-3-5") - 1)
    fallback = structs.replace(
        FALLBACK, round=3, phase="S", role="verifier", step_failed="r3.S.resolve.verifier"
    )
    return add(add(early, fallback) if given_up else early, base().by_id["S-3-S-review-action"])


def _supersedes(older: str | None, which: str = "C-3-4") -> Book:
    return change(which, supersedes=older)


PAIRS = (
    Pair("CLM001", lambda: change("C-1-1", testable_as=" "), lambda: seq_of("C-1-1")),
    Pair("CLM001", lambda: imported(structs.replace(CLAIM, testable_as="")), at(1), lambda: imported(CLAIM)),
    Pair(
        "CLM002",
        lambda: change("C-1-1", text="It holds.", testable_as=" it  holds"),
        lambda: seq_of("C-1-1"),
        severity="warning",
    ),
    Pair(
        "LIF001",
        lambda: moved("C-1-2", "tested_unclear", "tested_confirmed", "supports"),
        lambda: seq_of("V-1-2"),
    ),
    Pair(
        "LIF001",
        lambda: moved("C-3-2", "tested_confirmed", "partially_refuted", "partly_contradicts", which="V-3-4"),
        lambda: seq_of("V-3-4"),
        lambda: moved("C-3-2", "pending", "partially_refuted", "partly_contradicts", which="V-3-4"),
        why="a sibling's move does not count",
    ),
    Pair(
        "LIF001",
        lambda: _imported_change("tested_unclear"),
        at(2),
        lambda: _imported_change("pending"),
        why="in an import, just before",
    ),
    Pair(
        "LIF002",
        lambda: moved("C-1-2", "superseded", "tested_confirmed", "supports"),
        lambda: seq_of("V-1-2"),
        why="superseded is final",
    ),
    Pair("LIF002", lambda: moved("C-1-2", "pending", "pending", "supports"), lambda: seq_of("V-1-2")),
    Pair(
        "LIF002",
        lambda: moved("C-1-2", "pending", "superseded", "contradicts"),
        lambda: seq_of("V-1-2"),
        why="a verification supersedes nothing",
    ),
    Pair("LIF002", _twice, lambda: seq_of("V-1-2"), why="twice in one verification"),
    Pair(
        "LIF002",
        lambda: change("V-3-3", repeats="V-1-3"),
        lambda: seq_of("V-3-3"),
        lambda: change("V-3-3", repeats="V-1-3", claim_status_changes=()),
        why="a re-judgement moves nothing",
    ),
    Pair("LIF003", lambda: moved("C-1-2", "pending", "tested_refuted", "supports"), lambda: seq_of("V-1-2")),
    Pair(
        "LIF003",
        lambda: moved("C-1-2", "pending", "tested_unclear", "inconclusive"),
        lambda: seq_of("V-1-2"),
        lambda: moved("C-1-2", "pending", "tested_unclear", "inconclusive", result="UNCLEAR"),
        why="ROBUST decides",
    ),
    Pair(
        "LIF003",
        lambda: moved("C-1-2", "pending", "tested_confirmed", "supports", result="UNCLEAR"),
        lambda: seq_of("V-1-2"),
        lambda: moved("C-1-2", "pending", "tested_confirmed", "supports", result="BROKEN"),
        why="a flaw is confirmed by BROKEN",
    ),
    Pair(
        "LIF003",
        lambda: moved("C-1-2", "pending", "tested_confirmed", "supports", result="NOT_APPLICABLE"),
        lambda: seq_of("V-1-2"),
        why="an inapplicable check moves nothing",
    ),
    Pair("LIF004", lambda: change("V-1-2", claims_affected=("C-1-5",)), lambda: seq_of("V-1-2")),
    Pair("LIF005", lambda: _supersedes("C-3-4"), lambda: seq_of("C-3-4"), why="itself"),
    Pair("LIF005", lambda: _supersedes("C-9-1"), lambda: seq_of("C-3-4"), why="nothing"),
    Pair("LIF005", lambda: _supersedes("C-3-5"), lambda: seq_of("C-3-4"), why="a later claim"),
    Pair(
        "LIF005",
        lambda: _supersedes("C-2-1"),
        lambda: seq_of("C-3-4"),
        lambda: _supersedes("C-2-2"),
        why="pending",
    ),
    Pair(
        "LIF005",
        lambda: _supersedes("C-3-2"),
        lambda: seq_of("C-3-4"),
        why="a sibling that is raised with it",
    ),
    Pair(
        "SYN001",
        lambda: _unresolved(given_up=False),
        lambda: seq_of("V-3-5"),
        lambda: _unresolved(given_up=True),
    ),
    Pair("DRF001", lambda: change("H-2", anchors=()), lambda: seq_of("H-2")),
    Pair("DRF001", lambda: change("H-2", addresses="H-1"), lambda: seq_of("H-2"), why="nothing had failed"),
    Pair(
        "ART001",
        lambda: body("A-1-observer", friction=[{"step": 9, "text": "It is nowhere."}]),
        lambda: seq_of("A-1-observer"),
        lambda: body("A-1-observer", friction=[{"step": 8, "text": "It is nowhere."}]),
        why="friction at a step that was not walked",
    ),
    Pair(
        "ART001",
        lambda: body("A-1-guardian", verdict="FAIL"),
        lambda: seq_of("A-1-guardian"),
        lambda: body("A-1-guardian", verdict="FAIL", mechanism="The count is taken before the sync."),
        why="a FAIL names its mechanism",
    ),
    Pair(
        "ART001",
        lambda: body("A-1-guardian", condition="When the disk is new."),
        lambda: seq_of("A-1-guardian"),
        why="a PASS has no condition",
    ),
    Pair(
        "RAT001",
        lambda: rated("severity_1_5", 6),
        lambda: len(base().events),
        lambda: rated("severity_1_5", 5),
    ),
    Pair(
        "RAT001",
        lambda: rated("priority_p", "P4"),
        lambda: len(base().events),
        lambda: rated("priority_p", "P3"),
        why="a level",
    ),
)
