"""Artifacts: their parts fit together, and none is written as a formality."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, cast

from ledger.events import Artifact
from ledger.events.claims import ArtifactType
from ledger.events.ids import parse_reference, round_of
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule

TRACES: Final = ("happy_path", "edge_case", "cross_round")


@rule("ART001", "error", source="SD-6, SD-10, SD-13, FORMAT 3")
def artifact_agrees_with_itself(index: LedgerIndex) -> Iterator[Breach]:
    """The parts of an artifact fit together: friction and steps, verdict and its reason, sections.

    Friction names a step that was walked. A FAIL names its mechanism and a CONDITIONAL_PASS its condition, and no
    other
    verdict does. The three traces are in their order. Findings and proposed claims name sections that exist.
    """
    for event in index.events:
        if not isinstance(event, Artifact):
            continue
        sections = index.sections(event)
        named = [
            *(entry.section for entry in event.findings),
            *(entry.section for entry in event.proposed_claims),
        ]
        # One finding per name: several entries of one missing section are one mistake.
        for name in dict.fromkeys(named):
            if name not in sections:
                yield Breach(event.seq, f"{event.id} has no section {name!r}")
        for problem in _body(event):
            yield Breach(event.seq, f"{event.id}: {problem}")


def _body(event: Artifact) -> Iterator[str]:
    match event.type:
        case "behavioral_trace_set":
            kinds = tuple(trace.get("kind") for trace in entries(event, "traces"))
            if kinds != TRACES:
                yield f"the traces are {', '.join(map(str, kinds))}, not {', '.join(TRACES)}"
        case "identity_invariant_check":
            verdict = event.body.get("verdict")
            for key, needed_by in (("mechanism", "FAIL"), ("condition", "CONDITIONAL_PASS")):
                if (verdict == needed_by) != bool(event.body.get(key)):
                    yield f"{key} is given if and only if the verdict is {needed_by}"
        case "operator_walkthrough":
            steps = len(entries(event, "steps"))
            for friction in entries(event, "friction"):
                step = friction.get("step")
                # An imported body has no checked shape, so the number may be of any type.
                if not isinstance(step, int) or not 1 <= step <= steps:
                    yield f"friction at step {step}; there are {steps}"
        case "adversarial_test_case":
            pass


CONDITIONAL: Final = re.compile(r"\b(would|could|might|may|should)\b", re.IGNORECASE)
"""Words for what would be done, not for what was done."""


@rule("STY002", "warning", source="SD-13")
def walkthrough_is_walked(index: LedgerIndex) -> Iterator[Breach]:
    """The steps of a walkthrough are told as done, not as what would be done.

    "Would click" was never tried. Friction shows only where the steps were really taken.
    """
    for event in artifacts(index, "operator_walkthrough"):
        steps = [n for n, text in enumerate(texts(event, "steps", "action"), 1) if CONDITIONAL.search(text)]
        if steps:
            yield Breach(
                event.seq, f"{event.id} tells step {', '.join(map(str, steps))} in the conditional mood"
            )


GENERIC: Final = re.compile(
    r"^(the |an? )?((typical|average|generic|regular|normal|any|some|standard) )?"
    r"(user|operator|person|developer|engineer|customer|end user|somebody|someone|persona|n/?a|none|tbd)$",
    re.IGNORECASE,
)
VAGUE: Final = re.compile(
    r"^(average|medium|normal|typical|basic|some|standard|n/?a|none|tbd|skilled|mixed)\.?$", re.IGNORECASE
)


@rule("STY003", "warning", source="SD-12, SD-13")
def persona_is_concrete(index: LedgerIndex) -> Iterator[Breach]:
    """The operator of a walkthrough is a concrete person: a name, a role, a checkable level of skill.

    "A typical user" gets through everything.
    """
    for event in artifacts(index, "operator_walkthrough"):
        persona = part(event, "persona")
        if GENERIC.match(text(persona, "name").strip()):
            yield Breach(event.seq, f"{event.id}: {text(persona, 'name')!r} is nobody in particular")
        if VAGUE.match(text(persona, "skill").strip()):
            yield Breach(
                event.seq,
                f"{event.id}: the skill {text(persona, 'skill')!r} says nothing that could be checked",
            )


WISH: Final = re.compile(
    r"\b(should|hopefully|ideally|try to|tries to|aim to|aims to|strive|strives|reasonable|as much as possible"
    r"|good enough|user[- ]friendly|appropriate|adequate)\b",
    re.IGNORECASE,
)
EXACT: Final = re.compile(
    r"[0-9]|\b(zero|no|none|never|one|two|three|four|five|ten|every|each|all|exact|exactly|identical)\b",
    re.IGNORECASE,
)


@rule("STY004", "warning", source="SD-10, SD-11")
def invariant_is_falsifiable(index: LedgerIndex) -> Iterator[Breach]:
    """An invariant is measured by something and has a tolerance; it is not a wish.

    "Should always be reasonable" cannot be violated.
    """
    for event in artifacts(index, "identity_invariant_check"):
        invariant = part(event, "invariant")
        wish = WISH.search(text(invariant, "always"))
        if wish:
            yield Breach(event.seq, f"{event.id}: the invariant is a wish ({wish[0].lower()!r})")
        tolerance = text(invariant, "tolerance")
        # An empty tolerance is a fault of the shape and not of the wording.
        if tolerance and not EXACT.search(tolerance):
            yield Breach(event.seq, f"{event.id}: the tolerance {tolerance[:60]!r} names no quantity")


@rule("STY005", "warning", source="SD-8")
def edge_case_has_its_own_trigger(index: LedgerIndex) -> Iterator[Breach]:
    """The edge case of a trace set begins with another trigger than the happy path.

    The same trigger twice is one trace told twice.
    """
    for event in artifacts(index, "behavioral_trace_set"):
        triggers = [
            # Triggers are compared by their words alone: case, spacing and a full stop do not make another
            # trigger.
            " ".join(text.casefold().split()).rstrip(".")
            for text in texts(event, "traces", "trigger")
        ]
        if len(triggers) > 1 and triggers[0] and triggers[0] == triggers[1]:
            yield Breach(event.seq, f"{event.id}: happy path and edge case share their trigger")


@rule("STY006", "warning", source="SD-6, SD-7, SD-9")
def cross_round_trace_uses_the_past(index: LedgerIndex) -> Iterator[Breach]:
    """After round 1, the cross-round trace builds on something from an earlier round.

    A deliberation whose rounds do not use each other starts anew every time.
    """
    for event in artifacts(index, "behavioral_trace_set"):
        # Round 1 has no past to build on.
        if event.round <= 1:
            continue
        for trace in entries(event, "traces"):
            if trace.get("kind") == "cross_round" and not _reaches_back(trace.get("hooks"), event.round):
                yield Breach(
                    event.seq, f"{event.id}: the cross-round trace names nothing of an earlier round"
                )


def _reaches_back(hooks: Any, round_: int) -> bool:
    for hook in cast("list[Any]", hooks) if isinstance(hooks, list) else []:
        round_named = round_of(parse_reference(hook).id) if isinstance(hook, str) else None
        if round_named is not None and round_named < round_:
            return True
    return False


def artifacts(index: LedgerIndex, type_: ArtifactType) -> Iterator[Artifact]:
    """Return all artifacts of one type, in order."""
    return (event for event in index.events if isinstance(event, Artifact) and event.type == type_)


def entries(event: Artifact, key: str) -> list[dict[str, Any]]:
    """Return the objects of a list in the body; empty when it is missing."""
    value = event.body.get(key)
    if not isinstance(value, list):
        return []
    # Bodies of imports are free JSON. Other values are skipped instead of failing the rule.
    return [entry for entry in cast("list[Any]", value) if isinstance(entry, dict)]


def part(event: Artifact, key: str) -> dict[str, Any]:
    """Return an object in the body; empty when it is missing."""
    value = event.body.get(key)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def text(values: dict[str, Any], key: str) -> str:
    """Return a string of an object; empty when it is missing."""
    value = values.get(key)
    return value if isinstance(value, str) else ""


def texts(event: Artifact, key: str, field: str) -> list[str]:
    """Return one field of every object of a list in the body."""
    return [text(entry, field) for entry in entries(event, key)]
