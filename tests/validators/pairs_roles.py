"""Pairs for who may say what, for stress rounds, and for sealed positions."""

from __future__ import annotations

from msgspec import structs

from ledger.events import Claim, Decision, RoundOpened, Verification
from ledger.events.decisions import Cite
from ledger.events.envelope import Context, Evidence
from ledger.events.run import Signature
from ledger.state.book import Book
from tests.validators.factory import add, base, change, cut, end_of, imported, opened, seq_of
from tests.validators.pair import Pair, at
from tests.validators.pairs_order import FALLBACK, NOTE

CLAIM = Claim(
    id="C-2-4",
    round=2,
    phase="D",
    by="import",
    raised_by="critic",
    text="It is lost.",
    testable_as="a line is gone",
)
ROUND = RoundOpened(round=2, phase="A", by="import", lead="action", focus="", absent="critic", plan_row=1)
CHECK = Verification(
    id="V-2-1",
    round=2,
    phase="E",
    by="import",
    check="critic_attack_on_action_trace",
    check_id=1,
    result="BROKEN",
    evidence_refs=(Evidence(ref="a.md#x-1"), Evidence(ref="b.md#y-2")),
    notes="It breaks.",
)


def _context(which: str, context: Context) -> Book:
    call = base().by_id[which].call
    assert call is not None, "an event with a call"
    return change(which, call=structs.replace(call, context=context))


def _decided_by(author: str) -> Book:
    cite = Cite(type="verification", id="V-3-2", relation="based-on")
    return add(
        base(),
        Decision(
            id="D-3-3",
            round=3,
            phase="close",
            by=author,
            type="answer",
            text="Yes.",
            cites=(cite,),
            made_by="human",
        ),
    )


def _without_position() -> Book:
    """The critic's positions of round 1 are not there when check 1 is judged."""
    early = cut(end_of("P-1-1-observer"))
    return add(early, base().by_id["V-1-1"])


def _position_given_up() -> Book:
    fallback = structs.replace(FALLBACK, phase="E", role="critic", step_failed="r1.E.position.critic")
    early = add(cut(end_of("P-1-1-observer")), fallback)
    return add(early, base().by_id["V-1-1"])


def _late_position() -> Book:
    """The critic seals its positions when check 1 is already judged."""
    early = add(cut(end_of("P-1-1-observer")), base().by_id["V-1-1"])
    seq = seq_of("P-1-1-critic")
    return add(early, *base().events[seq : seq + 3])


def _flip(**fields: object) -> Book:
    return change("F-1-1-action", **fields)


PAIRS = (
    Pair("AUT001", lambda: change("C-1-2", by="verifier", raised_by="verifier"), lambda: seq_of("C-1-2")),
    Pair(
        "AUT001",
        lambda: change("V-1-1", by="critic"),
        lambda: seq_of("V-1-1"),
        lambda: change("V-1-2", by="critic"),
        why="a role that tests what others wrote",
    ),
    Pair("AUT002", lambda: change("C-1-2", raised_by="gardian"), lambda: seq_of("C-1-2")),
    Pair("AUT002", lambda: change(1, lead="critc"), at(1), why="a lead"),
    Pair(
        "AUT002", lambda: imported(structs.replace(CLAIM, raised_by="sage")), at(1), lambda: imported(CLAIM)
    ),
    Pair("AUT003", lambda: _decided_by("controller"), at(121), lambda: _decided_by("human")),
    Pair("AUT003", lambda: change("C-1-2", by="import"), lambda: seq_of("C-1-2"), why="no import"),
    Pair(
        "AUT003",
        lambda: add(base(), structs.replace(NOTE, by="guardian")),
        at(121),
        lambda: add(base(), NOTE),
        why="a role outside its steps",
    ),
    Pair("LED001", lambda: change(68, lead="critic"), at(68)),
    Pair(
        "LED002",
        lambda: imported(structs.replace(ROUND, lead="critic")),
        at(1),
        lambda: imported(ROUND),
    ),
    Pair(
        "CTX001",
        lambda: _context("S-1-C-critic", Context(mode="continued", id="c1")),
        lambda: seq_of("S-1-C-critic"),
    ),
    Pair(
        "CTX001",
        lambda: _context("A-1-action", Context(mode="fresh", id="c1")),
        lambda: seq_of("A-1-action"),
        lambda: _context("S-3-S-close-observer", Context(mode=None, id=None)),
        why="called fresh, and is not",
    ),
    Pair("STR001", lambda: change("C-2-3", raised_by="critic"), lambda: seq_of("C-2-3")),
    Pair(
        "STR001", lambda: change("A-2-observer", by="critic", role="critic"), lambda: seq_of("A-2-observer")
    ),
    Pair(
        "STR001",
        lambda: imported(ROUND, CLAIM),
        at(2),
        lambda: imported(ROUND, structs.replace(CLAIM, raised_by="action")),
        why="in an import",
    ),
    Pair("STR002", lambda: change(41, applicable=(1, 2, 4)), at(41), why="the list"),
    Pair(
        "STR002",
        lambda: change("V-2-1", result="BROKEN"),
        lambda: seq_of("V-2-1"),
        why="a verdict on nothing",
    ),
    Pair(
        "STR002",
        lambda: change("V-1-2", result="NOT_APPLICABLE"),
        lambda: seq_of("V-1-2"),
        why="it could be made",
    ),
    Pair(
        "STR002",
        lambda: imported(ROUND, CHECK),
        at(2),
        lambda: imported(ROUND, structs.replace(CHECK, result="NOT_APPLICABLE", evidence_refs=())),
        why="an import",
    ),
    Pair("STR002", lambda: _f_without_check3(), lambda: seq_of("V-1-3"), why="a check is missing"),
    Pair("STR003", lambda: change(41, predicted_signature=()), at(41)),
    Pair(
        "STR003",
        lambda: change(41, predicted_signature=(Signature(code="no_broken", text="found afterwards"),)),
        at(41),
        why="another signature than predicted",
    ),
    Pair("STR003", lambda: opened(predict=()), at(41), why="never predicted"),
    Pair("POS001", _without_position, lambda: end_of("P-1-1-observer") + 1, _position_given_up),
    Pair("POS001", _late_position, lambda: end_of("P-1-1-observer") + 2, why="sealed after the verdict"),
    Pair(
        "POS001",
        lambda: change("P-1-1-critic", on="V-1-2"),
        lambda: seq_of("P-1-1-critic"),
        why="on another check",
    ),
    Pair(
        "POS001",
        lambda: change("P-1-2-critic", check_id=1),
        lambda: seq_of("P-1-2-critic"),
        why="two on one check",
    ),
    Pair("POS002", lambda: _flip(of="P-1-1-guardian"), lambda: seq_of("F-1-1-action"), why="somebody else's"),
    Pair("POS002", lambda: _flip(from_="UNCLEAR"), lambda: seq_of("F-1-1-action"), why="from another stance"),
    Pair("POS002", lambda: _flip(to="ROBUST"), lambda: seq_of("F-1-1-action"), why="to itself"),
    Pair("POS002", lambda: _flip(of="P-9-1-action"), lambda: seq_of("F-1-1-action"), why="of nothing"),
    Pair(
        "POS003",
        lambda: _flip(because=(Evidence(ref="A-1-critic#attack-2"),)),
        lambda: seq_of("F-1-1-action"),
        lambda: _flip(because=()),
        severity="warning",
        why="no reason is no old reason",
    ),
)


def _f_without_check3() -> Book:
    return add(cut(seq_of("V-1-2")), base().by_id["S-1-F-guardian"])
