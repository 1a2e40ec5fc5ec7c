"""Pairs for replies, briefs, blobs and recorded verdicts."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec import structs

from ledger.events import Call, Signals, Statement, Validation
from ledger.events.envelope import GENESIS, Section
from ledger.events.verifications import ValidationFinding
from ledger.state.book import Book, book
from tests.validators.factory import Store, add, base, change, cut, find, seq_of, without_blob
from tests.validators.pair import Pair, at

FINDING = ValidationFinding(code="STY001", severity="warning", seq=3, message="hedges")


def _call(which: str) -> Call:
    call = base().by_id[which].call
    assert call is not None, f"{which} carries a call"
    return call


def _without_layout() -> Book:
    """The good deliberation, whose prompt set does not say where the columns of a brief stand."""
    whole, key = base(), _call("A-1-critic").prompt_set
    assert isinstance(whole.blobs, Store)
    prompt_set = orjson.loads(whole.blobs.content[key])
    del prompt_set["layout"]
    return book(whole.events, Store({**whole.blobs.content, key: orjson.dumps(prompt_set)}))


def _called(which: str, **fields: Any) -> Book:
    return change(which, call=structs.replace(_call(which), **fields))


def _attempt(**fields: Any) -> Book:
    attempt = structs.replace(_call("S-1-C-critic").attempts[0], **fields)
    return _called("S-1-C-critic", attempts=(attempt,))


def _reworded() -> Book:
    """The proposal of round 1 in other words, as many as before."""
    event = base().by_id["S-1-B-action"]
    assert isinstance(event, Statement), "the proposal"
    text = event.sections[0].text.replace("loses", "keeps").replace("writer", "author")
    return change("S-1-B-action", sections=(Section(name="main", text=text),))


def _unvalidated() -> Book:
    """Round 2 opens where the validation of round 1 should stand."""
    return add(cut(39), base().events[41])


def _look(**fields: Any) -> Book:
    return change(find(Signals), **fields)


def _validation(**fields: Any) -> Book:
    return change(find(Validation), **fields)


def _readings(**fields: Any) -> tuple[Any, ...]:
    event: Any = base().events[find(Signals)]
    first, *others = event.signals
    return (structs.replace(first, **fields), *others)


PAIRS = (
    Pair("BLB001", lambda: without_blob(_call("S-1-C-critic").reply), lambda: seq_of("S-1-C-critic")),
    Pair("BLB001", lambda: without_blob(_call("S-1-C-critic").brief), lambda: seq_of("S-1-C-critic")),
    Pair("BLB001", lambda: without_blob(_call("S-1-C-critic").prompt_set), at(0), severity="warning"),
    Pair("BLB002", lambda: _attempt(n=2), lambda: seq_of("S-1-C-critic"), why="numbered from 1"),
    Pair(
        "BLB002",
        lambda: _attempt(error="not JSON"),
        lambda: seq_of("S-1-C-critic"),
        why="the last one was good",
    ),
    Pair("BLB002", lambda: _attempt(brief=GENESIS), lambda: seq_of("S-1-C-critic"), why="another brief"),
    Pair("BLB002", lambda: _called("S-1-C-critic", attempts=()), lambda: seq_of("S-1-C-critic"), why="none"),
    Pair(
        "BLB002",
        lambda: _called(
            "S-1-C-critic",
            cost_usd="0.020000",
            attempts=(structs.replace(_call("S-1-C-critic").attempts[0], cost_usd="0.010000"),),
        ),
        lambda: seq_of("S-1-C-critic"),
        lambda: _called(
            "S-1-C-critic",
            cost_usd="0.010000",
            attempts=(structs.replace(_call("S-1-C-critic").attempts[0], cost_usd="0.01"),),
        ),
        why="sums",
    ),
    Pair("FLW001", lambda: change("P-1-1-critic", stance="ROBUST"), lambda: seq_of("P-1-1-critic")),
    Pair("FLW001", lambda: change("C-1-2", text="Something milder."), lambda: seq_of("C-1-2"), why="a claim"),
    Pair("FLW001", lambda: change("D-1-1", falsifiers=()), lambda: seq_of("D-1-1"), why="a decision"),
    Pair(
        "FLW001",
        lambda: _called("S-1-C-critic", reply=_call("A-1-critic").reply),
        lambda: seq_of("S-1-C-critic"),
        why="another reply",
    ),
    Pair("FLW001", lambda: cut(seq_of("C-1-4")), lambda: seq_of("A-1-critic"), why="a claim is missing"),
    Pair(
        "BRF001", lambda: _called("A-1-critic", brief=_call("A-1-action").brief), lambda: seq_of("A-1-critic")
    ),
    Pair(
        "BRF001",
        lambda: change("A-1-critic", saw=(*base().by_id["A-1-critic"].saw, 6)),
        lambda: seq_of("A-1-critic"),
        why="it saw a sibling's draft",
    ),
    Pair(
        "BRF001",
        _reworded,
        lambda: seq_of("A-1-critic"),
        why="a text was edited after it was shown",
    ),
    Pair(
        "BRIEF-UNAVAILABLE",
        lambda: without_blob(_call("A-1-critic").prompt_set),
        at(0),
        severity="warning",
        why="no prompt set",
    ),
    Pair("BRIEF-UNAVAILABLE", _without_layout, at(0), severity="warning", why="no layout"),
    Pair("VER001", lambda: _validation(ok=False), lambda: find(Validation)),
    Pair(
        "VER001",
        lambda: _validation(findings=(FINDING,)),
        lambda: find(Validation),
        why="invented",
    ),
    Pair(
        "VER001",
        lambda: change("D-1-1", anchor_ref="G-7"),
        lambda: find(Validation),
        why="an error that the validation had not found",
    ),
    Pair("VER002", lambda: _look(stop=True), lambda: find(Signals)),
    Pair("VER002", lambda: _look(signals=_readings(value="0.5")), lambda: find(Signals), why="a value"),
    Pair("VER002", lambda: _look(signals=()), lambda: find(Signals), why="nothing read"),
    Pair("VER003", _unvalidated, at(40)),
)
