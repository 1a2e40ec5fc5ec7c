"""Pairs for the laws of single events, and for order, steps and ids."""

from __future__ import annotations

from msgspec import structs

from ledger.events import (
    Amendment,
    Decision,
    Fallback,
    RoundOpened,
    Statement,
    Verification,
)
from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence, Quorum, Section
from ledger.events.verifications import StatusChange
from ledger.state.book import Book, book
from ledger.store.failures import Problem
from tests.validators.factory import (
    CONTEXT,
    add,
    base,
    change,
    cut,
    end_of,
    find,
    imported,
    opened,
    seq_of,
)
from tests.validators.pair import Pair, at

NOTE = Amendment(round=3, phase="close", by="human", what="note", cause="human", reason="Read again in May.")
STATEMENT = Statement(
    id="S-1-C-critic",
    round=1,
    phase="C",
    by="import",
    type="supplement",
    sections=(Section(name="main", text="short"),),
    words=1,
)
CHECKED = Verification(
    id="V-1-1",
    round=1,
    phase="E",
    by="import",
    check="critic_attack_on_action_trace",
    check_id=1,
    result="BROKEN",
    notes="",
)
FALLBACK = Fallback(
    round=1,
    phase="B",
    by="controller",
    role="action",
    step_failed="r1.B.action",
    reason="timeout",
    detail="no reply in time",
    instead="skipped",
    quorum=Quorum(declared=1, actual=0),
)


def _moves(evidence: tuple[Evidence, ...]) -> tuple[StatusChange, ...]:
    """The moves of V-1-2, with other evidence for each."""
    event = base().by_id["V-1-2"]
    assert isinstance(event, Verification), "V-1-2 is a verification"
    return tuple(structs.replace(move, evidence=evidence) for move in event.claim_status_changes)


def _swapped(first: int, second: int) -> Book:
    """Two single-event commits in the other order."""
    events = list(base().events)
    events[first], events[second] = (
        structs.replace(events[second], seq=first),
        structs.replace(events[first], seq=second),
    )
    return book(events, base().blobs)


def _round_left_open() -> Book:
    """Round 2 opens before round 1 has had its assessment."""
    early = cut(end_of("S-1-F-critic"))
    event = base().events[find(RoundOpened, lambda event: event.round == 2)]
    return add(early, event)


def _given_up_for_b() -> Book:
    return add(cut(1), FALLBACK)


def _overridden(by: str) -> Book:
    cite = Cite(type="decision", id="D-3-2", relation="overturns")
    decision = Decision(
        id="D-3-3",
        round=3,
        phase="close",
        by=by,
        type="override",
        text="Not so.",
        cites=(cite,),
        made_by="human",
    )
    return add(base(), decision)


PAIRS = (
    Pair("ORD008", lambda: change(7, at="2025-12-31T23:59:59.999999Z"), at(7), severity="warning"),
    Pair(
        "CHN001",
        base,
        at(7),
        context=structs.replace(CONTEXT, ledger_problems=(Problem("another hash", 7, "claims", 5),)),
        why="verify's problems are passed on",
    ),
    Pair("FLD001", base, at(7), severity="warning", context=structs.replace(CONTEXT, unknown={7: ("mood",)})),
    Pair(
        "LAW001",
        lambda: change("C-1-1", text=""),
        lambda: seq_of("C-1-1"),
        lambda: imported(structs.replace(CHECKED, claims_affected=())),
        why="a waived law is a warning in an import",
    ),
    Pair(
        "LAW001",
        lambda: change("V-1-2", claim_status_changes=_moves(())),
        lambda: seq_of("V-1-2"),
        lambda: change("V-1-2", claim_status_changes=_moves((Evidence(ref="A-1-observer#step-3"),))),
        why="a claim is moved by evidence of its own",
    ),
    Pair(
        "LAW001",
        lambda: change("A-1-observer", body={"persona": {}}),
        lambda: seq_of("A-1-observer"),
        why="the shape of a body",
    ),
    Pair(
        "LAW002",
        lambda: imported(CHECKED),
        at(1),
        lambda: imported(structs.replace(CHECKED, notes="The trace breaks.")),
        severity="warning",
    ),
    Pair("ORD001", lambda: change(5, seq=6), at(6), why="a gap"),
    Pair("ORD001", lambda: book(base().events[1:2], base().blobs), at(1), why="no opening"),
    Pair("ORD001", lambda: add(base(), base().events[0]), at(121)),
    Pair("ORD002", _round_left_open, lambda: end_of("S-1-F-critic") + 1),
    Pair("ORD002", lambda: change(41, absent="guardian"), at(41), why="another role is absent"),
    Pair("ORD002", lambda: change(68, plan_row=1), at(68), why="a row twice"),
    Pair("ORD002", lambda: change(41, planned_stress=None), at(41), why="a stress round renamed"),
    Pair("ORD003", lambda: change("C-1-3", round=2), lambda: seq_of("C-1-3"), why="id and round"),
    Pair(
        "ORD003", lambda: change("A-1-action", phase="E"), lambda: seq_of("A-1-action"), why="step and phase"
    ),
    Pair(
        "ORD003",
        lambda: change("P-1-1-critic", by="action"),
        lambda: seq_of("P-1-1-critic"),
        why="step and author",
    ),
    Pair("ORD003", lambda: change("V-1-2", check_id=1), lambda: seq_of("V-1-2"), why="id and check"),
    Pair(
        "ORD003",
        lambda: imported(structs.replace(STATEMENT, round=2)),
        at(1),
        lambda: imported(STATEMENT),
        why="also in an import",
    ),
    Pair("ORD004", lambda: _swapped(5, 6), at(5), why="D before C is complete"),
    Pair("ORD004", lambda: _swapped(27, 28), at(27), why="a verdict before the last position"),
    Pair(
        "ORD004",
        lambda: add(cut(1), structs.replace(FALLBACK, role="critic", step_failed="r1.C.critic")),
        at(2),
        _given_up_for_b,
        why="a fallback of a step that is not open",
    ),
    Pair("ORD005", lambda: add(cut(3), base().events[3]), at(4), why="answered twice"),
    Pair("ORD005", lambda: change("C-1-4", via=6), lambda: seq_of("C-1-4"), why="another role's reply"),
    Pair("ORD005", lambda: change("C-1-4", via=None), lambda: seq_of("C-1-4"), why="nobody's reply"),
    Pair("ORD006", lambda: _overridden("controller"), at(121), lambda: _overridden("human")),
    Pair(
        "ORD006",
        lambda: add(base(), structs.replace(NOTE, what="plan")),
        at(121),
        lambda: add(base(), NOTE),
        why="a note may follow",
    ),
    Pair("ORD007", lambda: change(10, rest=2), at(10)),
    Pair("IDS001", lambda: change("C-1-2", id="C-1-1"), lambda: seq_of("C-1-2")),
    Pair(
        "IDS001",
        lambda: opened(goals=(base().events[0].goals[0],) * 2),  # type: ignore[union-attr]
        at(0),
        why="a goal twice",
    ),
    Pair("IDS002", lambda: change("C-1-3", id="C-1-7"), lambda: seq_of("C-1-3")),
    Pair(
        "IDS002", lambda: change("V-3-6", id="V-3-9"), lambda: seq_of("V-3-6"), why="resolutions count from 5"
    ),
    Pair(
        "IDS002",
        lambda: _swapped_claims(),
        lambda: seq_of("C-1-3"),
        why="numbers in role order",
    ),
    Pair("KND001", lambda: change("D-1-1", type="final"), lambda: seq_of("D-1-1")),
    Pair("KND001", lambda: change("S-1-F-critic", type="summary"), lambda: seq_of("S-1-F-critic")),
)


def _swapped_claims() -> Book:
    """Claim 2 by the observer, claim 3 by the guardian."""
    ledger = change("C-1-2", by="observer", raised_by="observer", step="r1.D.observer")
    return change("C-1-3", ledger, by="guardian", raised_by="guardian", step="r1.D.guardian")


__all__ = ["CHECKED", "FALLBACK", "NOTE", "PAIRS"]
