"""Small lawful events for tests of the store: an opening, claims, verifications and decisions."""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

from ledger.events import Call, Claim, Context, Decision, Event, RunOpened, Statement, Verification
from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence, Section
from ledger.events.run import (
    Budgets,
    CastMember,
    Labelled,
    Origin,
    PlanRow,
    StopRule,
)
from ledger.store.blobs import hash_of

AT = "2026-01-02T03:04:05.000006Z"
PROMPT_SET = b'{"set":1,"name":"test","templates":{}}'
BLOCK = b"the question, the goals"
SCHEMA = b'{"type":"object"}'
REPLY = b'{"text":"a reply"}'
BRIEF = json.dumps(
    {
        "brief": 1,
        "step": "r1.B.action",
        "prompt_set": hash_of(PROMPT_SET),
        "blocks": [{"name": "question", "sha256": hash_of(BLOCK)}],
        "schema": hash_of(SCHEMA),
    },
    separators=(",", ":"),
).encode()
BLOBS = {hash_of(blob): blob for blob in (PROMPT_SET, BLOCK, SCHEMA, REPLY, BRIEF)}
"""The blobs of an opening and a statement."""
OPENED = {hash_of(PROMPT_SET): PROMPT_SET}
"""Those of an opening."""


def opening(question: str = "Which storage for an audit ledger?") -> RunOpened:
    return RunOpened(
        round=0,
        phase="open",
        by="controller",
        protocol="structured",
        question=question,
        goals=(Labelled(id="G-1", text="survives a crash"),),
        cast=(CastMember(role="action", title="Engineer", charge="Says what it does.", seat="host"),),
        plan=(PlanRow(round=1, phases=("A", "B")),),
        stop=StopRule(profile="published", params="0" * 64, check_every=3, not_before=6),
        budgets=Budgets(),
        prompt_set=hash_of(PROMPT_SET),
        seed=7,
        rules={},
        origin=Origin(type="new"),
        moot="0.1.0",
    )


def claim(n: int, round_: int = 1, text: str = "A torn line is always found.") -> Claim:
    return Claim(
        id=f"C-{round_}-{n}",
        round=round_,
        phase="D",
        by="critic",
        raised_by="critic",
        text=f"{text} ({n})",
        testable_as="Cut a line and look.",
    )


def verification(n: int, round_: int = 1) -> Verification:
    return Verification(
        id=f"V-{round_}-{n}",
        round=round_,
        phase="E",
        by="verifier",
        check="claim_retest",
        check_id=5,
        result="ROBUST",
        evidence_refs=(Evidence(ref=f"C-{round_}-1"), Evidence(ref="K-1#L1-L2", quote="a line")),
        notes="It holds.",
    )


def decision(n: int, round_: int = 1) -> Decision:
    return Decision(
        id=f"D-{round_}-{n}",
        round=round_,
        phase="G",
        by="action",
        text="We keep three streams.",
        type="round",
        cites=(Cite(type="claim", id=f"C-{round_}-1", relation="based-on"),),
        made_by="consensus",
    )


def statement(saw: tuple[int, ...] = (0,)) -> Statement:
    """An event with a call whose blobs are in `BLOBS`."""
    call = Call(
        seat="host",
        provider=None,
        model="m",
        context=Context(mode="fresh", id="c1"),
        isolation="trusted",
        prompt_set=hash_of(PROMPT_SET),
        brief=hash_of(BRIEF),
        reply=hash_of(REPLY),
        attempts=(),
        tokens_in=None,
        tokens_cached=None,
        tokens_cache_write=None,
        tokens_out=None,
        cost_usd="0.001200",
        latency_ms=None,
        stop_reason=None,
        simulated=None,
    )
    return Statement(
        id="S-1-B-action",
        round=1,
        phase="B",
        step="r1.B.action",
        by="action",
        saw=saw,
        call=call,
        type="proposal",
        sections=(Section(name="summary", text="Three streams and a chain."),),
        words=5,
    )


def naming(replies: Iterable[bytes]) -> list[Event]:
    """Drafts that name these replies."""
    drafts: list[Event] = []
    for reply in replies:
        event = statement()
        assert event.call is not None
        call = msgspec.structs.replace(event.call, reply=hash_of(reply))
        drafts.append(msgspec.structs.replace(event, call=call))
    return drafts


def mixed(count: int, first: int = 1) -> list[Event]:
    """`count` drafts that go to all three streams."""
    makers = (claim, verification, decision)
    return [makers[n % 3](100 + n) for n in range(first, first + count)]
