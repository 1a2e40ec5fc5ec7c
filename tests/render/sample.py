"""A small deliberation written by hand: two rounds, the second one without the critic, with everything that views show.

Positions that differ, a flip without evidence, a claim that falls under a decision, a lost step, an alarm, dissent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

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
    Fallback,
    Flip,
    Position,
    RoundOpened,
    RunClosed,
    RunOpened,
    Signals,
    Statement,
    Validation,
    Verification,
)
from ledger.events.claims import ModeSeen, ProposedClaim
from ledger.events.decisions import Cite, Dissent, SignalReading
from ledger.events.envelope import Evidence, Quorum, Section
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
)
from ledger.events.verifications import Anchor, StatusChange
from ledger.format.canonical import BEGINNING, Head, seal
from ledger.state.book import Book, book
from ledger.state.lifecycle import STATUS_OF_BEARING

DOCUMENT = "The ledger is written by one process.\nA power cut may come between any two writes.\n"
SHA = {"K-1": "a" * 64}
CAST = {
    "action": ("Engineer who builds it", "Show what each write does."),
    "guardian": ("Keeper of the promise", "No acknowledged line is lost."),
    "observer": ("On-call engineer", "Restore the ledger at night."),
    "critic": ("Red team", "Break it cheaply."),
    "verifier": ("Independent examiner", "Say what the evidence shows."),
}
NORMAL = ("A", "B", "C", "D", "E", "F", "G")
MODEL = "a-model-1"


@dataclass
class Blobs:
    """Blobs in memory."""

    content: Mapping[str, bytes] = field(default_factory=lambda: {SHA["K-1"]: DOCUMENT.encode()})

    def read(self, sha256: str) -> bytes | None:
        """The bytes with that hash."""
        return self.content.get(sha256)


class Scribe:
    """Collects drafts and seals them, every list as one commit.

    With `unchecked` the codec is left out: it refuses control characters, and views must hold without it.
    """

    def __init__(self, *, unchecked: bool = False) -> None:
        self.unchecked = unchecked
        self.head: Head = BEGINNING
        self.events: list[Event] = []
        self.seconds = 0

    def commit(self, *drafts: Event) -> None:
        """One commit, seven seconds after the last one."""
        self.seconds += 7
        at = f"2026-03-04T05:{self.seconds // 60:02d}:{self.seconds % 60:02d}.000000Z"
        first = drafts[0]
        via = self.head.seq + 1 if first.call is not None else None
        drafts = (
            first,
            *(replace(draft, via=via) if draft.step == first.step else draft for draft in drafts[1:]),
        )
        if self.unchecked:
            self.events += [
                replace(draft, seq=len(self.events) + n, rest=len(drafts) - 1 - n, at=at)
                for n, draft in enumerate(drafts)
            ]
            self.head = Head(len(self.events) - 1, "0" * 64)
            return
        sealed = seal(drafts, prev=self.head.hash, seq=self.head.seq + 1, at=at)
        self.events += sealed.events
        self.head = sealed.head


def call(role: str, *, seat: str = "host", simulated: Any = None) -> Call:
    """A call with a context of its own for each role."""
    number = list(CAST).index(role) + 1
    return Call(
        seat=seat,
        provider=None,
        model=MODEL,
        context=Context(mode="continued", id=f"c{number}"),
        isolation="trusted",
        prompt_set="b" * 64,
        brief="c" * 64,
        reply="d" * 64,
        attempts=(),
        tokens_in=1_200,
        tokens_cached=None,
        tokens_cache_write=None,
        tokens_out=300,
        cost_usd="0.001500",
        latency_ms=4_000,
        stop_reason=None,
        simulated=simulated,
    )


def opening(question: str) -> RunOpened:
    """The opening of the sample."""
    return RunOpened(
        round=0,
        phase="open",
        by="controller",
        protocol="structured",
        question=question,
        goals=(Labelled(id="G-1", text="No acknowledged line is ever lost"),),
        options=(Labelled(id="O-1", text="one journal"), Labelled(id="O-2", text="SQLite")),
        context=(ContextDocument(id="K-1", name="facts.md", sha256=SHA["K-1"], bytes=len(DOCUMENT)),),
        cast=tuple(
            CastMember(role=role, title=who, charge=charge, seat="host")
            for role, (who, charge) in CAST.items()
        ),
        plan=(
            PlanRow(round=1, phases=NORMAL),
            PlanRow(round=2, absent="critic", drift=True, phases=(*NORMAL, "H")),
            PlanRow(round=3, phases=("A", "S")),
        ),
        predict=(Prediction(role="critic", code="no_broken", text="no check will come out BROKEN"),),
        stop=StopRule(profile="published", params="e" * 64, check_every=2, not_before=2),
        budgets=Budgets(),
        prompt_set="b" * 64,
        seed=0,
        rules={"positions": "sealed"},
        origin=Origin(type="new"),
        moot="0.1.0",
    )


def statement(
    round_: int, phase: str, role: str, type_: Any, text: str, act: str = "", **more: str
) -> Statement:
    """A statement with a call of its own; `more` are further sections."""
    step = f"r{round_}.{phase}{f'.{act}' if act else ''}.{role}"
    sections = (
        Section(name="summary", text=text),
        *(Section(name=name, text=said) for name, said in more.items()),
    )
    return Statement(
        id=f"S-{round_}-{phase}{f'-{act}' if act else ''}-{role}",
        round=round_,
        phase=phase,
        step=step,
        by=role,
        saw=(0,),
        call=call(role),
        type=type_,
        sections=sections,
        words=sum(len(section.text.split()) for section in sections),
    )


def critic_artifact(round_: int, hypothesis: str) -> Artifact:
    """An attack; its schema is checked as in any ledger."""
    return Artifact(
        id=f"A-{round_}-critic",
        round=round_,
        phase="D",
        step=f"r{round_}.D.critic",
        by="critic",
        saw=(0,),
        call=call("critic"),
        role="critic",
        type="adversarial_test_case",
        body={
            "target": f"S-{round_}-B-action#summary",
            "why_this_target": "it carries the promise",
            "hypothesis": hypothesis,
            "preconditions": ["one writer"],
            "attack": [
                {"action": f"cut the power at write {n}", "observable": "a torn line"} for n in range(1, 6)
            ],
            "expected": {"broken": "a line is lost", "robust": "the tail is cut back"},
            "verdict": "BROKEN",
            "verdict_reason": "nothing syncs the directory",
            "confidence": 4,
            "assumption": "the disk keeps its promises",
        },
        findings=(),
        proposed_claims=(
            ProposedClaim(section="attack-1", text="A rename can be lost.", testable_as="cut the power"),
        ),
        words=40,
    )


def claim(round_: int, n: int, role: str, text: str, **fields: Any) -> Claim:
    """A claim, as minted when its group closes."""
    return Claim(
        id=f"C-{round_}-{n}",
        round=round_,
        phase=fields.pop("phase", "D"),
        by=role,
        raised_by=role,
        text=text,
        testable_as="cut the power between two writes and read the file again",
        raised_at_artifact=fields.pop("source", f"A-{round_}-critic#attack-1"),
        **fields,
    )


def positions(round_: int, role: str, stances: Mapping[int, Any]) -> list[Position]:
    """A role's sealed positions; the first one carries the call."""
    return [
        Position(
            id=f"P-{round_}-{check}-{role}",
            round=round_,
            phase="E",
            step=f"r{round_}.E.position.{role}",
            by=role,
            saw=(0,) if n == 0 else (),
            call=call(role) if n == 0 else None,
            on=f"V-{round_}-{check}",
            check_id=check,
            stance=stance,
            confidence=3,
            reason=f"{role} has seen it happen",
        )
        for n, (check, stance) in enumerate(stances.items())
    ]


CHECKS = (
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
)


def verdict(
    round_: int,
    check: int,
    result: Any,
    notes: str,
    evidence: tuple[Evidence, ...],
    *moves: tuple[str, Any, Any],
) -> Verification:
    """A check by the verifier; moves are (claim, from, bearing)."""
    asked = result != "NOT_APPLICABLE"
    changes = tuple(
        StatusChange(
            claim_id=moved,
            from_=before,
            to=STATUS_OF_BEARING[bearing],
            bearing=bearing,
            class_="argued",
            evidence=evidence[:1],
        )
        for moved, before, bearing in moves
    )
    return Verification(
        id=f"V-{round_}-{check}",
        round=round_,
        phase="E",
        step=f"r{round_}.E.check{check}.verifier" if asked else None,
        by="verifier" if asked else "controller",
        saw=(0,) if asked else (),
        call=call("verifier") if asked else None,
        check=CHECKS[check - 1],  # type: ignore[arg-type]
        check_id=check,
        result=result,
        evidence_refs=evidence,
        notes=notes,
        claims_affected=tuple(change.claim_id for change in changes),
        claim_status_changes=changes,
    )


ATTACK = (
    Evidence(ref="A-1-critic#hypothesis", quote="the rename is not durable"),
    Evidence(ref="K-1#L2", quote="between any two writes"),
)


def sample(question: str = "Which storage keeps every acknowledged line?", hostile: str = "") -> Scribe:
    """The whole sample. `hostile` is put into texts of every kind."""
    scribe = Scribe(unchecked=bool(hostile))
    scribe.commit(opening(question + hostile))
    _first_round(scribe, hostile)
    _second_round(scribe, hostile)
    _synthesis(scribe)
    return scribe


def _first_round(scribe: Scribe, hostile: str) -> None:
    scribe.commit(
        RoundOpened(
            round=1,
            phase="A",
            by="controller",
            lead="action",
            focus="durability",
            applicable=(1, 2),
            plan_row=0,
        )
    )
    scribe.commit(
        statement(1, "B", "action", "proposal", f"Write one journal and sync it at every commit.{hostile}")
    )
    scribe.commit(
        statement(1, "C", "guardian", "supplement", "The promise is about acknowledged lines alone.")
    )
    scribe.commit(
        critic_artifact(1, "After a crash the rename is not durable"),
        claim(1, 1, "action", f"An acknowledged line survives a power cut.{hostile}", anchor_ref="G-1"),
        claim(1, 2, "critic", "A rename without a directory sync can be lost."),
    )
    scribe.commit(verdict(1, 4, "NOT_APPLICABLE", "No earlier decision exists.", ()))
    scribe.commit(*positions(1, "action", {1: "ROBUST", 2: "ROBUST"}))
    scribe.commit(*positions(1, "guardian", {1: "BROKEN", 2: "ROBUST"}))
    scribe.commit(*positions(1, "critic", {1: "BROKEN", 2: "UNCLEAR"}))
    scribe.commit(
        verdict(
            1,
            1,
            "BROKEN",
            f"The attack loses the renamed head.{hostile}",
            ATTACK,
            ("C-1-2", "pending", "supports"),
            ("C-1-1", "pending", "inconclusive"),
        )
    )
    scribe.commit(
        verdict(
            1,
            2,
            "ROBUST",
            "The walkthrough ends with the last line.",
            ATTACK,
            ("C-1-1", "pending", "supports"),
        )
    )
    review = statement(1, "F", "action", "review", "I had trusted the rename too much.")
    flip = Flip(
        id="F-1-1-action",
        round=1,
        phase="F",
        step="r1.F.action",
        by="action",
        of="P-1-1-action",
        from_="ROBUST",
        to="BROKEN",
    )
    tension = Concern(
        id="N-1-1",
        round=1,
        phase="F",
        by="critic",
        type="tension",
        severity=3,
        between=("action", "critic"),
        text=f"Speed against durability.{hostile}",
    )
    scribe.commit(review, flip, tension)
    decision = Decision(
        id="D-1-1",
        round=1,
        phase="G",
        by="action",
        type="round",
        made_by="round_lead",
        confidence=4,
        anchor_ref="G-1",
        text=f"Use one journal with a sync at every commit.{hostile}",
        cites=(
            Cite(type="claim", id="C-1-1", relation="based-on"),
            Cite(type="verification", id="V-1-1", relation="supported-by"),
        ),
    )
    question = Concern(
        id="N-1-2",
        round=1,
        phase="G",
        by="action",
        type="question",
        text="How long may a commit take?",
        for_human=True,
    )
    scribe.commit(statement(1, "G", "action", "assessment", "One journal, with a sync."), decision, question)
    scribe.commit(
        Validation(
            round=1,
            phase="G",
            by="controller",
            after="G",
            through=len(scribe.events) - 1,
            ok=True,
            rules="f" * 64,
        )
    )


def _second_round(scribe: Scribe, hostile: str) -> None:
    scribe.commit(
        RoundOpened(
            round=2,
            phase="A",
            by="controller",
            lead="guardian",
            focus="durability",
            absent="critic",
            planned_stress="critic",
            applicable=(2,),
            plan_row=1,
            predicted_signature=(
                Signature(code="no_broken", text="no check will come out BROKEN"),
                Signature(code="fewer_claims", text="fewer claims than around it"),
            ),
        )
    )
    scribe.commit(statement(2, "B", "guardian", "proposal", "Sync the directory as well."))
    scribe.commit(
        Fallback(
            round=2,
            phase="D",
            by="controller",
            role="observer",
            step_failed="r2.D.observer",
            reason="timeout",
            detail=f"no answer for ten minutes{hostile}",
            instead="skipped",
            quorum=Quorum(declared=14, actual=13),
        )
    )
    scribe.commit(
        claim(2, 1, "guardian", "With the directory synced nothing is lost.", source="S-2-B-guardian#summary")
    )
    scribe.commit(verdict(2, 1, "NOT_APPLICABLE", "STRESS-CRITIC: critic is absent.", ()))
    scribe.commit(*positions(2, "guardian", {2: "BROKEN"}))
    scribe.commit(
        verdict(
            2,
            2,
            "ROBUST",
            "Without a directory sync an acknowledged line was lost.",
            ATTACK,
            ("C-1-1", "tested_confirmed", "contradicts"),
            ("C-2-1", "pending", "supports"),
        )
    )
    decision = Decision(
        id="D-2-1",
        round=2,
        phase="G",
        by="guardian",
        type="round",
        made_by="round_lead",
        text="Sync the directory after every rename.",
        cites=(
            Cite(type="claim", id="C-2-1", relation="based-on"),
            Cite(type="concern", id="N-1-1", relation="resolves"),
        ),
        dissent=(
            Dissent(role="guardian", ref="S-2-F-guardian", text="The invariant does not hold at night."),
        ),
    )
    scribe.commit(statement(2, "G", "guardian", "assessment", "The directory was the hole."), decision)
    drift = DriftCheck(
        id="H-2",
        round=2,
        phase="H",
        step="r2.H.verifier",
        by="verifier",
        saw=(0,),
        call=call("verifier"),
        verdict="PASS",
        deviation_score=1,
        notes="Every decision serves G-1.",
        anchors=(Anchor(goal="G-1", served="yes"),),
    )
    scribe.commit(drift)
    through = len(scribe.events) - 1
    looks = tuple(
        SignalReading(id=f"S{n}", satisfied=n in (3, 4, 5, 6), value="1", threshold="1")  # type: ignore[arg-type]
        for n in range(1, 7)
    )
    scribe.commit(
        Validation(round=2, phase="H", by="controller", after="H", through=through, ok=True, rules="f" * 64),
        Signals(
            round=2,
            phase="H",
            by="controller",
            profile="published",
            params="e" * 64,
            through=through,
            signals=looks,
            satisfied=4,
            of=6,
            stop=True,
            advice="borderline",
        ),
        Alarm(
            round=2,
            phase="H",
            by="controller",
            fm="FM-1",
            action="raised",
            verdict="ALARM",
            onset_round=1,
            evidence=("V-1-1", "V-2-2"),
            params="e" * 64,
            because=f"disagreement has fallen two rounds running{hostile}",
        ),
        Amendment(
            round=2,
            phase="H",
            by="controller",
            what="charter",
            cause=through + 3,
            reason="The slope is negative.",
            change=(Change(path="charter.critic", from_=None, to="harden_critic"),),
        ),
    )


def _synthesis(scribe: Scribe) -> None:
    scribe.commit(
        RoundOpened(round=3, phase="A", by="controller", lead="observer", focus="durability", plan_row=2)
    )
    looked = statement(3, "S", "action", "retrospective", "We looked where it hurt.", "review")
    held = statement(3, "S", "guardian", "retrospective", "The promise held.", "review")
    modes: list[Any] = [f"FM-{n}" for n in range(1, 9)]
    unseen = tuple(ModeSeen(mode=mode, seen="no") for mode in modes)
    flipped = (ModeSeen(mode="FM-1", seen="yes"), *unseen[1:])
    scribe.commit(msgspec.structs.replace(looked, checklist=unseen))
    scribe.commit(msgspec.structs.replace(held, checklist=flipped))
    final = Decision(
        id="D-3-1",
        round=3,
        phase="S",
        by="observer",
        type="final",
        made_by="consensus",
        confidence=4,
        text="One journal; sync the file and its directory at every commit.",
        cites=(
            Cite(type="claim", id="C-2-1", relation="based-on"),
            Cite(type="decision", id="D-2-1", relation="builds-on"),
        ),
        falsifiers=("a file system that acknowledges before it writes",),
    )
    scribe.commit(statement(3, "S", "observer", "summary", "What we leave behind.", "close"), final)
    scribe.commit(
        Validation(
            round=3,
            phase="S",
            by="controller",
            after="S",
            through=len(scribe.events) - 1,
            ok=True,
            rules="f" * 64,
        )
    )
    scribe.commit(
        RunClosed(
            round=3,
            phase="close",
            by="controller",
            state="finished",
            reason="protocol_end",
            outcome=("D-3-1",),
            open=("N-1-2",),
            quorum=Quorum(declared=19, actual=18),
            through=len(scribe.events) - 1,
        )
    )


def sample_book(events: int | None = None, hostile: str = "") -> Book:
    """The sample as a book, cut after so many events."""
    return book(sample(hostile=hostile).events[:events], Blobs())
