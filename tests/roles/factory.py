"""A run of two rounds, made directly: every kind of step, and a word of its own in every text.

The text of the record `C-1-2` holds the word `w_C_1_2_`, and so on, so that a test can say exactly what a
brief shows. Round 1 is led by action; check 4 does not apply. Round 2 goes without the observer, is led by
guardian and ends in S.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ledger.events import (
    Alarm,
    Amendment,
    Artifact,
    Call,
    Claim,
    Concern,
    Context,
    Decision,
    DriftCheck,
    Event,
    Flip,
    Position,
    RoundOpened,
    RunOpened,
    Screening,
    Signals,
    Statement,
    Validation,
    Verification,
)
from ledger.events.claims import Finding, ProposedClaim
from ledger.events.decisions import Cite, Dissent, Requirement, SignalReading
from ledger.events.envelope import Evidence, Section
from ledger.events.run import (
    Budgets,
    CastMember,
    Change,
    ContextDocument,
    Labelled,
    Origin,
    PlanRow,
    Prediction,
    Signature,
    StopRule,
    Waiver,
)
from ledger.events.verifications import CHECKS, StatusChange, ValidationFinding
from ledger.format.canonical import decode, encode
from ledger.state.book import Book, book
from ledger.state.lifecycle import STATUS_OF_BEARING
from ledger.store.blobs import hash_of
from roles.prompt_set import installed_prompt_set

AT = "2026-01-02T03:04:05.000006Z"
AUTHORS = ("action", "guardian", "observer", "critic")
ROLES = (*AUTHORS, "verifier")
DOCUMENT = b"first line w_K_1_\nsecond line\n\nfourth: | # not a head\n"
RULES: dict[str, str | int | bool | None] = {
    "positions": "sealed",
    "rivals": "free",
    "lengths": "short",
    "wait": "off",
    "validate": "round",
}
PHASES = ("A", "B", "C", "D", "E", "F", "G")

Order = Callable[[Sequence["Handed"]], Sequence["Handed"]]


def word(identity: str) -> str:
    """The word that the record with this id alone uses."""
    return f"w_{identity.replace('-', '_')}_"


def words_in(text: str) -> set[str]:
    """All such words in a text."""
    return set(re.findall(r"w_[A-Za-z0-9_]+_", text))


class Memory:
    """Blobs in memory."""

    def __init__(self) -> None:
        self.held: dict[str, bytes] = {}

    def read(self, sha256: str) -> bytes | None:
        """The bytes, None when not there."""
        return self.held.get(sha256)

    def keep(self, content: bytes) -> str:
        """Store and name."""
        sha256 = hashlib.sha256(content).hexdigest()
        self.held[sha256] = content
        return sha256


@dataclass
class Handed:
    """One reply: its step and the events it yields at once."""

    step: str
    events: list[Event]


@dataclass
class Ledger:
    """Events with the numbers that a store would give them; `via` of a closing event comes from its step."""

    events: list[Event] = field(default_factory=list[Event])
    firsts: dict[str, int] = field(default_factory=dict[str, int])

    def commit(self, drafts: Sequence[Event]) -> None:
        """Number the events of one commit."""
        for n, draft in enumerate(drafts):
            seq = len(self.events)
            via = None if draft.call or draft.step is None else self.firsts.get(draft.step)
            numbered = msgspec.structs.replace(draft, seq=seq, rest=len(drafts) - 1 - n, at=AT, via=via)
            self.events.append(decode(encode(numbered)))

    def group(self, replies: Sequence[Handed], closing: Sequence[Event] = ()) -> None:
        """Commit replies in the order given, and what closing the group yields with the last one."""
        for n, handed in enumerate(replies):
            self.firsts[handed.step] = len(self.events)
            first, *others = handed.events
            drafts = [msgspec.structs.replace(first, saw=(0,), call=CALL), *others]
            self.commit([*drafts, *(closing if n == len(replies) - 1 else ())])


CALL = Call(
    seat="host",
    provider="w_provider_",
    model="w_model_",
    context=Context(mode="fresh", id="c1"),
    isolation="trusted",
    prompt_set="1" * 64,
    brief="2" * 64,
    reply="3" * 64,
    attempts=(),
    tokens_in=987654,
    tokens_cached=None,
    tokens_cache_write=None,
    tokens_out=876543,
    cost_usd="76.543210",
    latency_ms=765432,
    stop_reason="w_stop_reason_",
    simulated="fake",
)


def same(replies: Sequence[Handed]) -> Sequence[Handed]:
    """Siblings in role order."""
    return replies


def two_rounds(order: Order = same, fillers: int = 0, *, stop_after: str | None = None) -> Book:
    """The run. `order` permutes siblings; `fillers` screenings before round 1 move seqs."""
    blobs = Memory()
    blobs.keep(installed_prompt_set("structured"))
    ledger = Ledger()
    ledger.commit([run_opened(blobs)])
    for n in range(fillers):
        ledger.commit([screening(n)])
    first_round(ledger, order)
    second_round(ledger, order)
    events = ledger.events
    if stop_after is not None:
        last = next(event for event in reversed(events) if event.step == stop_after)
        events = events[: last.seq + last.rest + 1]
    return book(events, blobs)


def run_opened(blobs: Memory) -> RunOpened:
    """Two rows of plan, goals, options, a document and a cast."""
    return RunOpened(
        round=0,
        phase="open",
        by="controller",
        protocol="structured",
        question=word("question"),
        domain=word("domain"),
        goals=(Labelled(id="G-1", text=word("G-1")), Labelled(id="G-2", text=word("G-2"))),
        options=(Labelled(id="O-1", text=word("O-1")),),
        context=(
            ContextDocument(id="K-1", name="notes.txt", sha256=blobs.keep(DOCUMENT), bytes=len(DOCUMENT)),
        ),
        cast=tuple(
            CastMember(role=role, title=word(f"title-{role}"), charge=word(f"charge-{role}"), seat="host")
            for role in ROLES
        ),
        plan=(
            PlanRow(round=1, drift=True, phases=(*PHASES, "H"), focus=word("plan-1")),
            PlanRow(round=2, absent="observer", drift=True, phases=(*PHASES, "H", "S")),
        ),
        predict=(Prediction(role="observer", code="no_goal_verdict", text=word("predict")),),
        stop=StopRule(profile="published", params="4" * 64, check_every=3, not_before=6),
        budgets=Budgets(tokens=654321),
        prompt_set=hash_of(installed_prompt_set("structured")),
        seed=543210,
        rules=RULES,
        origin=Origin(type="new"),
        moot="0.1.0",
        waived=(Waiver(what="nothing", why=word("waiver")),),
    )


def screening(n: int) -> Screening:
    """An event that no brief shows."""
    return Screening(
        round=0,
        phase="open",
        by="controller",
        of="question",
        sha256="5" * 64,
        score=n % 100,
        action="ALLOW",
        rules=word("screening"),
    )


def first_round(ledger: Ledger, order: Order) -> None:
    """All roles present; every phase but S."""
    ledger.commit([opened(1, lead="action", absent=None, applicable=(1, 2, 3))])
    ledger.group([statement(1, "B", "action", "proposal")])
    ledger.group(order([statement(1, "C", role, "supplement") for role in AUTHORS[1:]]))
    claims = [
        claim("C-1-1", "action", "A-1-action#trace-1-step-2"),
        claim("C-1-2", "guardian", "A-1-guardian#invariant"),
        claim("C-1-3", "observer", "A-1-observer#friction-1"),
        claim("C-1-4", "critic", "A-1-critic#attack-2", places=("S-1-C-observer#p1",)),
        claim("C-1-5", "critic", "A-1-critic#finding-1"),
    ]
    ledger.group(order([artifact(1, role) for role in AUTHORS]), claims)
    ledger.commit([written_off(1, 4)])
    ledger.group(order([positions(1, role, (1, 2, 3)) for role in AUTHORS]))
    ledger.group(
        order(
            [
                check(1, 1, "BROKEN", ("C-1-4", "supports"), ("C-1-1", "contradicts")),
                check(1, 2, "ROBUST", ("C-1-2", "supports")),
            ]
        )
    )
    ledger.group([check(1, 3, "UNCLEAR", ("C-1-3", "inconclusive"))])
    ledger.group(
        order([review(1, role, flips=(1,) if role == "action" else ()) for role in AUTHORS]),
        [
            claim(
                "C-1-6", "observer", "S-1-F-observer#summary", phase="F", places=("A-1-guardian#invariant",)
            ),
            tension("N-1-1", "critic"),
        ],
    )
    cites = (("C-1-2", "based-on"), ("V-1-1", "supported-by"))
    ledger.group([assessment(1, "action", decision("D-1-1", "action", cites))])
    ledger.group([drift(1, "FAIL")])
    ledger.commit(looked(1, len(ledger.events)))
    ledger.commit([note()])


def second_round(ledger: Ledger, order: Order) -> None:
    """Without the observer, and with the synthesis."""
    ledger.commit([opened(2, lead="guardian", absent="observer", applicable=(1, 4))])
    ledger.group([statement(2, "B", "guardian", "proposal")])
    present = ("action", "guardian", "critic")
    ledger.group(order([statement(2, "C", role, "supplement") for role in ("action", "critic")]))
    claims = [
        claim("C-2-1", "action", "A-2-action#trace-2-step-3", supersedes="C-1-1"),
        claim("C-2-2", "critic", "A-2-critic#attack-1"),
    ]
    ledger.group(order([artifact(2, role) for role in present]), claims)
    ledger.commit([written_off(2, 2), written_off(2, 3)])
    ledger.group(order([positions(2, role, (1, 4)) for role in present]))
    ledger.group(
        order(
            [
                check(2, 1, "ROBUST", ("C-2-2", "contradicts"), ("C-1-5", "contradicts")),
                check(2, 4, "ROBUST", ("C-1-3", "supports"), also=("C-1-6",)),
            ]
        )
    )
    ledger.group(order([review(2, role) for role in present]), [tension("N-2-1", "critic")])
    cites = (("D-1-1", "overturns"), ("C-1-5", "based-on"), ("N-2-1", "resolves"), ("V-2-1", "supported-by"))
    ledger.group([assessment(2, "guardian", decision("D-2-1", "guardian", cites))])
    ledger.group([drift(2, "PASS")])
    ledger.commit([validation(2, "H")])
    ledger.group([resolutions(2, ("C-1-6", "C-2-1"))])
    ledger.group(order([retrospective(2, role) for role in AUTHORS]))
    final = decision("D-2-2", "guardian", (("C-1-3", "based-on"),), kind="final")
    ledger.group([closing(2, "guardian", final)])


def opened(round_: int, *, lead: str, absent: str | None, applicable: tuple[int, ...]) -> RoundOpened:
    """A round begins."""
    signature = (Signature(code="no_goal_verdict", text=word(f"signature-{round_}")),) if absent else None
    return RoundOpened(
        round=round_,
        phase="A",
        by="controller",
        lead=lead,
        focus=word(f"focus-{round_}"),
        absent=absent,
        planned_stress=absent,
        applicable=applicable,
        predicted_signature=signature,
        plan_row=round_ - 1,
    )


def _sections(identity: str, name: str) -> tuple[Section, ...]:
    text = f"First {word(identity)} paragraph.\n\nSecond one,\nof two lines."
    return (Section(name=name, text=text), Section(name="limits", text="A third | paragraph."))


def statement(round_: int, phase: str, role: str, kind: Any) -> Handed:
    """B or C."""
    identity, step = f"S-{round_}-{phase}-{role}", f"r{round_}.{phase}.{role}"
    made = Statement(
        id=identity,
        round=round_,
        phase=phase,
        step=step,
        by=role,
        type=kind,
        sections=_sections(identity, "mechanism"),
        words=9,
        responds_to=(),
    )
    return Handed(step, [made])


def artifact(round_: int, role: str) -> Handed:
    """D."""
    identity, step = f"A-{round_}-{role}", f"r{round_}.D.{role}"
    kind, body = BODIES[role](word(identity), f"S-{round_}-B-{'action' if round_ == 1 else 'guardian'}#p1")
    made = Artifact(
        id=identity,
        round=round_,
        phase="D",
        step=step,
        by=role,
        role=role,
        type=kind,
        body=body,
        findings=(Finding(section="finding-1", text="A finding."),),
        proposed_claims=(
            ProposedClaim(section="finding-1", text=word(f"draft-{role}"), testable_as="It shows."),
        ),
        cites=("D-1-1",) if round_ == 2 else (),
        words=80,
    )
    return Handed(step, [made])


def _traces(mark: str, ref: str) -> tuple[str, dict[str, Any]]:
    def trace(kind: str) -> dict[str, Any]:
        return {
            "kind": kind,
            "trigger": f"{kind} begins {mark}",
            "initial_state": [{"name": f"v{n}", "value": str(n)} for n in range(3)],
            "steps": [{"action": f"do {n}\nand wait", "delta": f"v={n}"} for n in range(10)],
            "outcome": "tail=4 is read back",
            "hooks": [ref],
        }

    return "behavioral_trace_set", {"traces": [trace(k) for k in ("happy_path", "edge_case", "cross_round")]}


def _invariant(mark: str, ref: str) -> tuple[str, dict[str, Any]]:
    return "identity_invariant_check", {
        "invariant": {"always": f"order is kept {mark}", "measured_by": "a scan", "tolerance": "none"},
        "why_it_matters": "Everything else rests on it.",
        "verdict": "CONDITIONAL_PASS",
        "evidence": [{"ref": ref, "quote": "paragraph."}, {"ref": ref, "quote": "First"}],
        "confidence": 4,
        "mechanism": None,
        "condition": "when the disk is honest",
        "failure_scenario": "A disk that lies.",
    }


def _walk(mark: str, ref: str) -> tuple[str, dict[str, Any]]:
    del ref
    return "operator_walkthrough", {
        "persona": {"name": "Ines", "role": "on-call engineer", "skill": "restored a backup twice"},
        "session_goal": f"prove it by four {mark}",
        "starting_context": "A terminal.",
        "steps": [{"action": f"she types {n}", "outcome": "confusion"} for n in range(8)],
        "friction": [{"step": 3, "text": "No message."}, {"step": 5, "text": "Which file?"}],
        "verdict": {
            "goal_achieved": "Partially",
            "time_to_first_output": "9 minutes",
            "would_recommend": "No",
        },
    }


def _attack(mark: str, ref: str) -> tuple[str, dict[str, Any]]:
    return "adversarial_test_case", {
        "target": ref,
        "why_this_target": "All rests on it.",
        "hypothesis": f"It tears {mark}",
        "preconditions": ["power fails", "two writers"],
        "attack": [{"action": f"cut {n}", "observable": f"line {n} is gone"} for n in range(5)],
        "expected": {"broken": "a line is gone", "robust": "none is"},
        "verdict": "BROKEN",
        "verdict_reason": "Line 2 is gone.",
        "confidence": 3,
        "assumption": "Writes are ordered.",
    }


BODIES: dict[str, Callable[[str, str], tuple[Any, dict[str, Any]]]] = {
    "action": _traces,
    "guardian": _invariant,
    "observer": _walk,
    "critic": _attack,
}


def claim(
    identity: str,
    role: str,
    raised_at: str,
    *,
    phase: str = "D",
    supersedes: str | None = None,
    places: tuple[str, ...] = (),
) -> Claim:
    """A claim as it is minted when its group closes."""
    round_ = int(identity.split("-")[1])
    return Claim(
        id=identity,
        round=round_,
        phase=phase,
        step=f"r{round_}.{phase}.{role}",
        by=role,
        raised_by=role,
        text=f"It is so that {word(identity)}.",
        testable_as="Cut the power and look.",
        raised_at_artifact=raised_at,
        anchor_ref="G-1",
        supersedes=supersedes,
        places=places,
    )


def written_off(round_: int, check_id: int) -> Verification:
    """A check that does not apply."""
    return Verification(
        id=f"V-{round_}-{check_id}",
        round=round_,
        phase="E",
        by="controller",
        check=CHECKS[check_id - 1],
        check_id=check_id,
        result="NOT_APPLICABLE",
        notes=word(f"V-{round_}-{check_id}"),
    )


def positions(round_: int, role: str, checks: tuple[int, ...]) -> Handed:
    """E.position."""
    step = f"r{round_}.E.position.{role}"
    return Handed(
        step,
        [
            Position(
                id=f"P-{round_}-{n}-{role}",
                round=round_,
                phase="E",
                step=step,
                by=role,
                on=f"V-{round_}-{n}",
                check_id=n,
                stance="ROBUST",
                confidence=2,
                reason=word(f"P-{round_}-{n}-{role}"),
            )
            for n in checks
        ],
    )


def check(
    round_: int, check_id: int, result: Any, *moves: tuple[str, Any], also: tuple[str, ...] = ()
) -> Handed:
    """E.check1 … check4."""
    step, identity = f"r{round_}.E.check{check_id}.verifier", f"V-{round_}-{check_id}"
    made = Verification(
        id=identity,
        round=round_,
        phase="E",
        step=step,
        by="verifier",
        check=CHECKS[check_id - 1],
        check_id=check_id,
        result=result,
        evidence_refs=(
            Evidence(ref=f"A-{round_}-critic#attack-2", quote="line 1 is gone"),
            Evidence(ref=f"A-{round_}-action#trace-1-step-1"),
        ),
        notes=word(identity),
        claims_affected=(*(claim_id for claim_id, _ in moves), *also),
        claim_status_changes=tuple(
            StatusChange(
                claim_id=claim_id,
                from_="pending",
                to=STATUS_OF_BEARING[bearing],
                bearing=bearing,
                evidence=(Evidence(ref=f"A-{round_}-critic#attack-2", quote="line 1 is gone"),),
            )
            for claim_id, bearing in moves
        ),
        confidence=4,
    )
    return Handed(step, [made])


def review(round_: int, role: str, flips: tuple[int, ...] = ()) -> Handed:
    """F; the critic has an objection."""
    identity, step = f"S-{round_}-F-{role}", f"r{round_}.F.{role}"
    sections = {"summary": word(identity)}
    if role == "critic":
        sections["against"] = word(f"dissent-{round_}")
    made: list[Event] = [
        Statement(
            id=identity,
            round=round_,
            phase="F",
            step=step,
            by=role,
            type="review",
            sections=tuple(Section(name=name, text=text) for name, text in sections.items()),
            words=len(sections),
        )
    ]
    made += [
        Flip(
            id=f"F-{round_}-{n}-{role}",
            round=round_,
            phase="F",
            step=step,
            by=role,
            of=f"P-{round_}-{n}-{role}",
            from_="ROBUST",
            to="BROKEN",
            because=(Evidence(ref="A-1-critic#attack-3", quote=f"w_F_{round_}_{n}_{role}_"),),
        )
        for n in flips
    ]
    return Handed(step, made)


def tension(identity: str, role: str) -> Concern:
    """A tension, numbered when F closes."""
    round_ = int(identity.split("-")[1])
    return Concern(
        id=identity,
        round=round_,
        phase="F",
        step=f"r{round_}.F.{role}",
        by=role,
        type="tension",
        text=word(identity),
        severity=3,
        between=("action", "critic"),
        evidence=(Evidence(ref=f"A-{round_}-critic#attack-2"),),
    )


def assessment(round_: int, role: str, decided: Decision) -> Handed:
    """G."""
    identity, step = f"S-{round_}-G-{role}", f"r{round_}.G.{role}"
    made = Statement(
        id=identity,
        round=round_,
        phase="G",
        step=step,
        by=role,
        type="assessment",
        sections=_sections(identity, "convergence"),
        words=9,
    )
    question = Concern(
        id=f"N-{round_}-2",
        round=round_,
        phase="G",
        step=step,
        by=role,
        type="question",
        text=word(f"N-{round_}-2"),
        for_human=True,
    )
    return Handed(step, [made, decided, question])


def decision(identity: str, role: str, cites: Sequence[tuple[str, Any]], kind: Any = "round") -> Decision:
    """A decision of phase G, or a final one of S."""
    round_ = int(identity.split("-")[1])
    types: dict[str, Any] = {"C": "claim", "V": "verification", "D": "decision", "N": "concern"}
    phase, act = ("S", "close.") if kind == "final" else ("G", "")
    return Decision(
        id=identity,
        round=round_,
        phase=phase,
        step=f"r{round_}.{phase}.{act}{role}",
        by=role,
        text=word(identity),
        type=kind,
        cites=tuple(Cite(type=types[cited[0]], id=cited, relation=relation) for cited, relation in cites),
        made_by="round_lead",
        round_artifact_refs=(f"A-{round_}-action#trace-1-step-1",),
        falsifiers=("the disk lies",),
        requirements=(Requirement(text="the disk is tried", by="person"),),
        dissent=(Dissent(role="critic", ref=f"S-{round_}-F-critic", text=word(f"dissent-{round_}")),),
    )


def drift(round_: int, verdict: Any) -> Handed:
    """H."""
    step = f"r{round_}.H.verifier"
    made = DriftCheck(
        id=f"H-{round_}",
        round=round_,
        phase="H",
        step=step,
        by="verifier",
        verdict=verdict,
        deviation_score=3,
        notes=word(f"H-{round_}"),
        addresses="H-1" if verdict == "PASS" else None,
    )
    return Handed(step, [made])


def validation(round_: int, phase: str) -> Validation:
    """The validators at the end of a round."""
    found = ValidationFinding(code="X", severity="warning", seq=None, message=word("finding"))
    return Validation(
        round=round_,
        phase=phase,
        by="controller",
        after=phase,
        through=0,
        ok=True,
        findings=(found,),
        rules="6" * 64,
    )


def looked(round_: int, next_seq: int) -> list[Event]:
    """What the controller writes after a round: validation, signals, an alarm and what answers it."""
    envelope: dict[str, Any] = {"round": round_, "phase": "H", "by": "controller"}
    reading = SignalReading(id="S1", satisfied=False, value="0.123456", threshold="0.654321")
    return [
        validation(round_, "H"),
        Signals(
            **envelope,
            profile="published",
            params="4" * 64,
            through=0,
            signals=(reading,),
            satisfied=1,
            of=6,
            stop=False,
            advice="continue",
        ),
        Alarm(
            **envelope,
            fm="FM-1",
            action="raised",
            verdict="ALARM",
            e_value="12.34",
            params="4" * 64,
            because=word("alarm"),
        ),
        Amendment(
            **envelope,
            what="charter",
            change=(Change(path="charter.critic", from_=None, to="harden_critic"),),
            cause=next_seq + 2,
            reason=word("reason"),
        ),
    ]


def note() -> Amendment:
    """A person's remark: for readers, never for seats."""
    return Amendment(round=1, phase="H", by="human", what="note", cause="human", reason=word("note"))


def resolutions(round_: int, claims: tuple[str, ...]) -> Handed:
    """S.resolve."""
    step = f"r{round_}.S.resolve.verifier"
    return Handed(
        step,
        [
            Verification(
                id=f"V-{round_}-{n}",
                round=round_,
                phase="S",
                step=step,
                by="verifier",
                check="synthesis_resolution",
                check_id=5,
                result="UNCLEAR",
                evidence_refs=(Evidence(ref=identity), Evidence(ref="A-2-critic#attack-1")),
                notes=word(f"V-{round_}-{n}"),
                claims_affected=(identity,),
                claim_status_changes=(
                    StatusChange(
                        claim_id=identity,
                        from_="pending",
                        to="tested_unclear",
                        bearing="inconclusive",
                        evidence=(Evidence(ref=identity),),
                    ),
                ),
            )
            for n, identity in enumerate(claims, 5)
        ],
    )


def retrospective(round_: int, role: str) -> Handed:
    """S.review."""
    identity, step = f"S-{round_}-S-review-{role}", f"r{round_}.S.review.{role}"
    made = Statement(
        id=identity,
        round=round_,
        phase="S",
        step=step,
        by=role,
        type="retrospective",
        sections=(Section(name="summary", text=word(identity)),),
        words=1,
    )
    return Handed(step, [made])


def closing(round_: int, role: str, final: Decision) -> Handed:
    """S.close."""
    identity, step = f"S-{round_}-S-close-{role}", f"r{round_}.S.close.{role}"
    made = Statement(
        id=identity,
        round=round_,
        phase="S",
        step=step,
        by=role,
        type="summary",
        sections=_sections(identity, "answer"),
        words=9,
    )
    return Handed(step, [made, final])
