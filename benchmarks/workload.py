"""Generate any number of events: rounds with invented text, and with the kinds and sizes of recorded runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from ledger.events import (
    STREAMS,
    Artifact,
    Attempt,
    Call,
    Claim,
    Concern,
    Context,
    Decision,
    Event,
    Flip,
    Position,
    RoundOpened,
    RunOpened,
    Statement,
    Validation,
    Verification,
    stream_of,
)
from ledger.events.claims import Finding, ProposedClaim
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
from ledger.events.verifications import CHECKS, StatusChange
from ledger.format.canonical import BEGINNING, Head, encode, line_hash
from ledger.state.lifecycle import STATUS_OF_BEARING
from ledger.store.streams import BLOBS, head_bytes, stream_path

PLANNED: Final = 13
ROLES: Final = ("action", "guardian", "observer", "critic")
PARAGRAPH: Final = (
    "the ledger a writer must keep after crash and before every commit line hash of one stream reader when power "
    "fails because nobody can see which bytes were durable — “fsync” returned, yet: order, tampering, recovery "
    "naïve quarantine said so; an operator looks at it twice and decides whether to restore or go on →"
)
WORDS: Final = PARAGRAPH.split()


class Text:
    """Source of sentences from a seeded generator."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def sentences(self, words: int) -> str:
        """Return about `words` words; a long text has paragraphs of 80 words and quotation marks, like a reply."""
        paragraphs = [
            " ".join(self.chance.choices(WORDS, k=min(80, words - done))) for done in range(0, words, 80)
        ]
        return '.\n\nThe "next" point: '.join(paragraphs).capitalize() + "."

    def hash(self) -> str:
        """Return 64 hex digits."""
        return f"{self.chance.getrandbits(256):064x}"


def opening(text: Text, rounds: int) -> RunOpened:
    """Return the first event of a run."""
    return RunOpened(
        round=0,
        phase="open",
        by="controller",
        protocol="structured",
        question=text.sentences(40),
        goals=tuple(Labelled(id=f"G-{n}", text=text.sentences(12)) for n in (1, 2, 3)),
        cast=tuple(
            CastMember(role=role, title=role.title(), charge=text.sentences(30), seat="host")
            for role in ROLES
        ),
        plan=tuple(PlanRow(round=n, phases=tuple("ABCDEFG")) for n in range(1, rounds + 1)),
        stop=StopRule(profile="published", params="0" * 64, check_every=3, not_before=6),
        budgets=Budgets(),
        prompt_set="0" * 64,
        seed=1,
        rules={},
        origin=Origin(type="new"),
        moot="0.1.0",
    )


class RoundWriter:
    """Generator of rounds of drafts; keeps the `seq` of the next event, because events cite earlier ones."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.seq = 1
        self._contexts = 0
        self._claims: list[str] = []

    def round(self, n: int) -> Iterator[Event]:
        """Yield the events of round `n`: phases A to G with their calls, and a validation."""
        for event in self._round(n):
            yield event
            self.seq += 1

    def _round(self, n: int) -> Iterator[Event]:
        lead = ROLES[n % 4]
        yield RoundOpened(
            round=n,
            phase="A",
            by="controller",
            lead=lead,
            focus=self.text.sentences(15),
            applicable=(1, 2, 3, 4),
            plan_row=(n - 1) % PLANNED,
        )
        yield self._statement(n, "B", lead, "proposal", 720)
        yield from (self._statement(n, "C", role, "supplement", 340) for role in ROLES if role != lead)
        yield from (self._artifact(n, role) for role in ROLES)
        claims = [self._claim(n, k) for k in range(1, 7)]
        yield from claims
        for role in ROLES:
            first = self.seq
            yield from (self._position(n, check, role, first) for check in (1, 2, 3, 4))
        self._claims = [*self._claims[-6:], *(f"C-{n}-{k}" for k in range(1, 7))]
        yield from (self._verification(n, check) for check in (1, 2, 3, 4))
        for role in ROLES:
            first = self.seq
            yield self._statement(n, "F", role, "review", 130)
            yield self._flip(n, role, first)
        yield self._statement(n, "G", lead, "assessment", 520)
        yield self._decision(n)
        yield from (self._concern(n, k) for k in (1, 2, 3))
        yield Validation(
            round=n, phase="G", by="controller", after="G", through=self.seq, ok=True, rules="a" * 64
        )

    def _call(self) -> Call:
        self._contexts += 1
        brief, reply = self.text.hash(), self.text.hash()
        attempt = Attempt(
            n=1,
            brief=brief,
            reply=reply,
            error=None,
            stop_reason="end_turn",
            tokens_in=9_000,
            tokens_out=1_200,
            cost_usd="0.045000",
            latency_ms=31_000,
        )
        return Call(
            seat="anthropic",
            provider="anthropic",
            model="a-model-name-20260101",
            context=Context(mode="fresh", id=f"c{self._contexts}"),
            isolation="enforced",
            prompt_set="0" * 64,
            brief=brief,
            reply=reply,
            attempts=(attempt,),
            tokens_in=9_000,
            tokens_cached=8_000,
            tokens_cache_write=0,
            tokens_out=1_200,
            cost_usd="0.045000",
            latency_ms=31_000,
            stop_reason="end_turn",
            simulated=None,
        )

    def _saw(self, count: int) -> tuple[int, ...]:
        return tuple(range(max(0, self.seq - count), self.seq))

    def _by(self, n: int, phase: str, role: str, act: str = "") -> dict[str, Any]:
        step = f"r{n}.{phase}.{act}.{role}" if act else f"r{n}.{phase}.{role}"
        return {"round": n, "phase": phase, "by": role, "step": step}

    def _statement(self, n: int, phase: str, role: str, type_: Any, words: int) -> Event:
        return Statement(
            id=f"S-{n}-{phase}-{role}",
            **self._by(n, phase, role),
            saw=self._saw(25),
            call=self._call(),
            type=type_,
            sections=(
                Section(name="summary", text=self.text.sentences(words // 4)),
                Section(name="detail", text=self.text.sentences(words - words // 4)),
            ),
            words=words,
        )

    def _artifact(self, n: int, role: str) -> Event:
        kind: Any = {
            "action": "behavioral_trace_set",
            "guardian": "identity_invariant_check",
            "observer": "operator_walkthrough",
            "critic": "adversarial_test_case",
        }[role]
        return Artifact(
            id=f"A-{n}-{role}",
            **self._by(n, "D", role),
            saw=self._saw(12),
            call=self._call(),
            role=role,
            type=kind,
            body=body(kind, self.text),
            findings=tuple(Finding(section=f"finding-{k}", text=self.text.sentences(30)) for k in (1, 2)),
            proposed_claims=(
                ProposedClaim(
                    section="verdict", text=self.text.sentences(30), testable_as=self.text.sentences(18)
                ),
            ),
            cites=(f"D-{max(1, n - 1)}-1",),
            self_assessment=3,
            minutes=None,
            words=300,
        )

    def _claim(self, n: int, k: int) -> Event:
        role = ROLES[k % 4]
        return Claim(
            id=f"C-{n}-{k}",
            **self._by(n, "D", role),
            via=self.seq - 1,
            raised_by=role,
            text=self.text.sentences(36),
            testable_as=self.text.sentences(28),
            raised_at_artifact=f"A-{n}-{role}#verdict",
            anchor_ref="G-1",
        )

    def _position(self, n: int, check: int, role: str, first: int) -> Event:
        leads = self.seq == first
        return Position(
            id=f"P-{n}-{check}-{role}",
            **self._by(n, "E", role, "position"),
            saw=self._saw(20) if leads else (),
            call=self._call() if leads else None,
            via=None if leads else first,
            on=f"V-{n}-{check}",
            check_id=check,
            stance="BROKEN" if check == 1 else "ROBUST",
            confidence=3,
            reason=self.text.sentences(45),
        )

    def _verification(self, n: int, check: int) -> Event:
        claim = self._claims[(check * 3) % len(self._claims)]
        bearing: Any = self.text.chance.choice(list(STATUS_OF_BEARING))
        result: Any = "UNCLEAR" if bearing == "inconclusive" else "ROBUST"
        return Verification(
            id=f"V-{n}-{check}",
            **self._by(n, "E", "verifier", f"check{check}"),
            saw=self._saw(30),
            call=self._call(),
            check=CHECKS[check - 1],
            check_id=check,
            result=result,
            evidence_refs=(
                Evidence(ref=f"A-{n}-action#trace-1-step-3", quote=self.text.sentences(14)),
                Evidence(ref=f"A-{n}-critic#attack-2", quote=self.text.sentences(14)),
                Evidence(ref="K-1#L10-L20"),
            ),
            notes=self.text.sentences(60),
            claims_affected=(claim,),
            claim_status_changes=(
                StatusChange(
                    claim_id=claim,
                    from_="pending",
                    to=STATUS_OF_BEARING[bearing],
                    bearing=bearing,
                    class_="said",
                    evidence=(Evidence(ref=claim),),
                ),
            ),
            confidence=4,
        )

    def _flip(self, n: int, role: str, first: int) -> Event:
        return Flip(
            id=f"F-{n}-1-{role}",
            **self._by(n, "F", role),
            via=first,
            of=f"P-{n}-1-{role}",
            from_="BROKEN",
            to="ROBUST",
            because=(Evidence(ref=f"V-{n}-1", quote=self.text.sentences(16)),),
        )

    def _concern(self, n: int, k: int) -> Event:
        return Concern(
            id=f"N-{n}-{k}",
            **self._by(n, "G", ROLES[n % 4]),
            via=self.seq - 1 - k,
            type="tension" if k == 1 else "concern",
            text=self.text.sentences(40),
            severity=3,
            evidence=(Evidence(ref=f"A-{n}-critic#attack-1", quote=self.text.sentences(12)),),
            between=("critic", "action") if k == 1 else (),
        )

    def _decision(self, n: int) -> Event:
        return Decision(
            id=f"D-{n}-1",
            **self._by(n, "G", ROLES[n % 4]),
            via=self.seq - 1,
            text=self.text.sentences(70),
            type="round",
            cites=(
                Cite(type="claim", id=f"C-{n}-1", relation="based-on"),
                Cite(type="verification", id=f"V-{n}-2", relation="supported-by"),
            ),
            made_by="round_lead",
            round_artifact_refs=(f"A-{n}-critic#verdict",),
            anchor_ref="G-1",
            falsifiers=(self.text.sentences(10),),
        )


def body(kind: str, text: Text) -> dict[str, Any]:
    """Return a valid body of an artifact."""

    def say(words: int) -> str:
        return text.sentences(words)

    match kind:
        case "behavioral_trace_set":
            steps = [{"action": say(14), "delta": f"state = {n}"} for n in range(10)]
            variables = [{"name": f"v{n}", "value": str(n)} for n in range(3)]
            return {
                "traces": [
                    {
                        "kind": name,
                        "trigger": say(5),
                        "initial_state": variables,
                        "steps": steps,
                        "outcome": say(8),
                        "hooks": [],
                    }
                    for name in ("happy_path", "edge_case", "cross_round")
                ]
            }
        case "identity_invariant_check":
            return {
                "invariant": {"always": say(12), "measured_by": say(8), "tolerance": "none"},
                "why_it_matters": say(90),
                "verdict": "PASS",
                "evidence": [{"ref": "K-1#L1-L2", "quote": say(9)}],
                "confidence": 3,
                "mechanism": None,
                "condition": None,
                "failure_scenario": say(130),
            }
        case "operator_walkthrough":
            return {
                "persona": {"name": "Ada", "role": say(4), "skill": say(4)},
                "session_goal": say(8),
                "starting_context": say(50),
                "steps": [{"action": say(35), "outcome": "success"} for _ in range(10)],
                "friction": [{"step": n, "text": say(30)} for n in (2, 5, 8)],
                "verdict": {
                    "goal_achieved": "Yes",
                    "time_to_first_output": "4 min",
                    "would_recommend": "Yes",
                },
            }
        case _:
            return {
                "target": "A-1-action#trace-1",
                "why_this_target": say(8),
                "hypothesis": say(50),
                "preconditions": [say(7), say(6)],
                "attack": [{"action": say(35), "observable": say(25)} for _ in range(6)],
                "expected": {"broken": say(6), "robust": say(6)},
                "verdict": "UNCLEAR",
                "verdict_reason": say(40),
                "confidence": 3,
                "assumption": say(10),
            }


def drafts(events: int, seed: int = 1) -> Iterator[Event]:
    """Yield an opening and rounds, cut after `events` events. After round 9999 the numbers start again at 1."""
    text = Text(seed)
    yield opening(text, PLANNED)
    rounds = RoundWriter(text)
    number = 0
    while True:
        number = number % 9_999 + 1
        for event in rounds.round(number):
            if rounds.seq >= events:
                return
            yield event


def _at(seq: int) -> str:
    """Return a timestamp that is a little later for every event."""
    minute, second = divmod(seq + 1, 60)
    day, hour = minute // 1440 % 28 + 1, minute // 60 % 24
    return f"2026-03-{day:02}T{hour:02}:{minute % 60:02}:{second:02}.{seq % 999_983:06}Z"


def write_run(directory: Path, events: int, seed: int = 1) -> Head:
    """Write a run of `events` events to `directory`, one event per commit, without locks or syncs."""
    directory.mkdir(parents=True)
    (directory / BLOBS).touch()
    head = BEGINNING
    files = {stream: stream_path(directory, stream).open("wb") for stream in STREAMS}
    for draft in drafts(events, seed):
        line = encode(
            msgspec.structs.replace(draft, prev=head.hash, seq=head.seq + 1, rest=0, at=_at(head.seq))
        )
        files[stream_of(draft)].write(line + b"\n")
        head = Head(head.seq + 1, line_hash(line))
    for file in files.values():
        file.close()
    (directory / "head").write_bytes(head_bytes(head, 0))
    return head
