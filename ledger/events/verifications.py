"""What is tested: the kinds of `verifications.jsonl` (FORMAT 2)."""

from collections.abc import Mapping
from typing import Final, Literal

from ledger.events.envelope import (
    Bearing,
    CheckId,
    Envelope,
    Evidence,
    EvidenceClass,
    Five,
    Hash,
    Id,
    Identified,
    Name,
    Nat,
    Positive,
    Prose,
    Ref,
    Result,
    Severity,
    Status,
    Value,
)

Check = Literal[
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
    "claim_retest",
    "synthesis_resolution",
]
CHECK_NEEDS: Final[Mapping[int, tuple[str, ...]]] = {
    1: ("action", "critic"),
    2: ("guardian", "observer"),
    3: ("observer", "critic"),
    4: (),
}
"""Check → roles whose artifact it cannot do without (SD-35). Check 4 needs an earlier decision instead."""
CHECKS: tuple[Check, ...] = (
    "critic_attack_on_action_trace",
    "guardian_vs_observer_walkthrough",
    "observer_friction_vs_critic_attack",
    "all_vs_prior_decisions",
)


class StatusChange(Value, frozen=True, kw_only=True, rename={"from_": "from", "class_": "class"}):
    """What a verification does to a claim; `to` follows from `bearing` (SD-45)."""

    claim_id: Id  # the claim that moves
    from_: Status  # as the author knew it; replay computes the real one
    to: Status  # follows from bearing
    bearing: Bearing  # what the evidence does to the claim
    class_: EvidenceClass | None = None  # how it was tested; computed from the evidence
    evidence: tuple[Evidence, ...] = ()  # for this claim alone


class Anchor(Value, frozen=True, kw_only=True):
    """Whether a goal was served, with where it shows."""

    goal: Id  # the goal
    served: Literal["yes", "partly", "no"]  # whether the decisions serve it
    evidence: tuple[Evidence, ...] = ()  # where it shows


class ScreeningIssue(Value, frozen=True, kw_only=True):
    """One part of a screening score, in points."""

    kind: Name  # the pattern
    points: Nat  # what it adds to the score
    detail: Prose  # what was found


class ValidationFinding(Value, frozen=True, kw_only=True):
    """A broken rule as a `validation` event keeps it."""

    code: Name  # the rule
    severity: Severity  # an error holds a run up, a warning does not
    seq: Nat | None  # the event that breaks it
    message: Prose  # what is wrong


class SentenceCheck(Value, frozen=True, kw_only=True):
    """Whether what a sentence of a memo cites says what the sentence says."""

    of: Ref  # the sentence, as M-n#sk
    verdict: Literal["supported", "partly", "not"]  # whether the cited text says it
    reason: Prose  # why


class Verification(Identified, frozen=True, kw_only=True):
    """One check of a round, or the test of one claim (SD-27 … SD-38, SD-45)."""

    kind: Literal["verification"] = "verification"
    check: Check  # what was tested
    check_id: CheckId  # its number, 1 to 5
    result: Result  # how it came out
    evidence_refs: tuple[Evidence, ...] = ()  # all that the verdict rests on
    notes: Prose  # the verdict in words
    claims_affected: tuple[Id, ...] = ()  # claims that it is about
    claim_status_changes: tuple[StatusChange, ...] = ()  # claims that it moves
    about: tuple[Id, ...] = ()  # options and decisions that it is about
    repeats: Id | None = None  # the verification that it repeats; it moves no claim
    confidence: Five | None = None  # 1 guess to 5 sure


class Challenge(Identified, frozen=True, kw_only=True):
    """An attack on something that is on the ledger (JB-3, XS-4, S4-10, AD-20, AD-30)."""

    kind: Literal["challenge"] = "challenge"
    target: Ref  # what is attacked
    tag: Literal["STRUCTURAL", "ASSUMPTION", "MISSING", "DRIFT"] | None = None  # what is wrong with it
    # what the challenge does
    type: Literal["refute", "challenge", "concede", "partial", "question", "attack"] | None = None
    claim: Prose  # what is attacked, in the attacker's words
    text: Prose  # the attack
    rank: Positive | None = None  # from 1, the strongest
    follow_up_question: Prose | None = None  # what is asked next
    evidence: tuple[Evidence, ...] = ()  # what it rests on
    severity: Five | None = None  # 1 minor to 5 fatal


class Response(Identified, frozen=True, kw_only=True):
    """The answer to a challenge or a question (AD-20, AD-24, AD-30, XS-7)."""

    kind: Literal["response"] = "response"
    to: Id  # the challenge or question
    outcome: Literal["defend", "concede", "revise", "answer", "fix", "justify"]  # what the answer does
    text: Prose  # the answer
    evidence: tuple[Evidence, ...] = ()  # what it rests on
    revised: Ref | None = None  # what was changed for it


class Flip(Identified, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A sealed position changed after the verdict, with the new evidence for it, if any (DETECTORS FM-1)."""

    kind: Literal["flip"] = "flip"
    of: Id  # the position
    from_: Literal["BROKEN", "ROBUST", "UNCLEAR", "for", "against", "abstain"]  # what it was
    to: Literal["BROKEN", "ROBUST", "UNCLEAR", "for", "against", "abstain"]  # what it is now
    because: tuple[Evidence, ...] = ()  # what the role did not know before; empty is noted


class DriftCheck(Identified, frozen=True, kw_only=True):
    """Whether the decisions still serve the goals (SD-58, SD-68)."""

    kind: Literal["drift_check"] = "drift_check"
    verdict: Literal["PASS", "FAIL", "PARTIAL"]  # whether the decisions still serve the goals
    deviation_score: Five  # 1 none to 5 lost
    notes: Prose  # the verdict in words
    anchors: tuple[Anchor, ...] = ()  # goal by goal
    addresses: Id | None = None  # the drift check that it answers
    sentences: tuple[SentenceCheck, ...] = ()  # sentences of the memo, held against what they cite


class Screening(Envelope, frozen=True, kw_only=True):
    """An additive risk score of text from outside (S4-22 … S4-28)."""

    kind: Literal["screening"] = "screening"
    of: Literal["question", "context", "import", "reply"]  # what was screened
    sha256: Hash  # of the text
    score: Nat  # sum of the points
    action: Literal["ALLOW", "WARN", "ESCALATE", "BLOCK"]  # what follows from the score
    issues: tuple[ScreeningIssue, ...] = ()  # what was found
    rules: Name  # version of the patterns


FINDINGS_MAX: Final = 100
"""Most findings that a validation keeps: a broken ledger could otherwise write a line of megabytes."""


class Validation(Envelope, frozen=True, kw_only=True):
    """The validators' result that the run acted on (SD-21, SD-49)."""

    kind: Literal["validation"] = "validation"
    after: Name  # the phase behind which it stands
    through: Nat  # last seq that was judged
    ok: bool  # no errors
    findings: tuple[ValidationFinding, ...] = ()  # rules that are broken
    rules: Hash  # SHA-256 of the rulebook
