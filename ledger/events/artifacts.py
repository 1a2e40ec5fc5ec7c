"""The bodies of the four artifacts: counts, enums and references that are schema (SD-6, SD-10, SD-12, SD-14).

What is a matter of judgement (word budgets, hedging, generic personas) is a finding of a validator, not a shape.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events.claims import ArtifactType
from ledger.events.envelope import Five, Positive, Prose, Ref, Value

DELTA_PATTERN: Final = r"^[A-Za-z_][A-Za-z0-9_.\[\]-]*\s*=\s*\S"

Filled = Annotated[str, Meta(min_length=1, max_length=4_000)]
FilledShort = Annotated[str, Meta(min_length=1, max_length=500)]


class Variable(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One state variable with its initial value."""

    name: FilledShort  # its name
    value: FilledShort  # its value at the start


class TraceStep(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step and the state change it makes, written `variable=new value` (SD-7)."""

    action: FilledShort  # what happens
    delta: Annotated[str, Meta(pattern=DELTA_PATTERN, max_length=500)]  # variable = new value


class Trace(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A behaviour told as state transitions."""

    kind: Literal["happy_path", "edge_case", "cross_round"]  # in this order
    trigger: FilledShort  # what sets it off
    initial_state: Annotated[tuple[Variable, ...], Meta(min_length=3, max_length=12)]  # before the first step
    steps: Annotated[tuple[TraceStep, ...], Meta(min_length=10, max_length=15)]  # 10 to 15
    outcome: FilledShort  # where it ends
    hooks: Annotated[tuple[Ref, ...], Meta(max_length=12)]  # what it refers to


class BehavioralTraceSet(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """action: what does the system do? Happy path, edge case, cross-round reference, in this order (SD-6)."""

    traces: Annotated[tuple[Trace, ...], Meta(min_length=3, max_length=3)]  # three, one of each kind


class Invariant(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One falsifiable sentence in its three parts (SD-10)."""

    always: FilledShort
    measured_by: FilledShort
    tolerance: FilledShort


class QuotedEvidence(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A quoted element; a paraphrase is no evidence (SD-11)."""

    ref: Ref
    quote: Filled


class IdentityInvariantCheck(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """guardian: what must hold? (SD-10)."""

    invariant: Invariant
    why_it_matters: Filled
    verdict: Literal["PASS", "FAIL", "CONDITIONAL_PASS", "INCONCLUSIVE"]
    evidence: Annotated[tuple[QuotedEvidence, ...], Meta(min_length=1, max_length=8)]
    confidence: Five
    mechanism: Prose | None
    condition: Prose | None
    failure_scenario: Filled


class Persona(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A concrete operator (SD-12)."""

    name: FilledShort
    role: FilledShort
    skill: FilledShort


class WalkStep(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing the operator does, and how it went."""

    action: FilledShort
    outcome: Literal["success", "confusion", "stuck"]


class Friction(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where it hurt; `step` is the number of the step, from 1 (SD-13)."""

    step: Positive
    text: Filled


class WalkVerdict(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether the operator got there."""

    goal_achieved: Literal["Yes", "No", "Partially"]
    time_to_first_output: FilledShort
    would_recommend: Literal["Yes", "No", "With reservations"]


class OperatorWalkthrough(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """observer: can a real operator get through? (SD-12)."""

    persona: Persona
    session_goal: FilledShort
    starting_context: Filled
    steps: Annotated[tuple[WalkStep, ...], Meta(min_length=8, max_length=15)]
    friction: Annotated[tuple[Friction, ...], Meta(max_length=15)]
    verdict: WalkVerdict


class AttackStep(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One step of an attack, and what can be seen when it works."""

    action: FilledShort
    observable: FilledShort


class Expected(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What would count as broken, what as robust."""

    broken: FilledShort
    robust: FilledShort


class AdversarialTestCase(Value, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """critic: what is the strongest counter-argument? (SD-14, SD-15)."""

    target: Ref
    why_this_target: FilledShort
    hypothesis: Filled
    preconditions: Annotated[tuple[FilledShort, ...], Meta(min_length=1, max_length=8)]
    attack: Annotated[tuple[AttackStep, ...], Meta(min_length=5, max_length=10)]
    expected: Expected
    verdict: Literal["BROKEN", "ROBUST", "UNCLEAR"]
    verdict_reason: Filled
    confidence: Five
    assumption: Filled


Body = BehavioralTraceSet | IdentityInvariantCheck | OperatorWalkthrough | AdversarialTestCase

BODIES: Final[dict[ArtifactType, type[Body]]] = {
    "behavioral_trace_set": BehavioralTraceSet,
    "identity_invariant_check": IdentityInvariantCheck,
    "operator_walkthrough": OperatorWalkthrough,
    "adversarial_test_case": AdversarialTestCase,
}
