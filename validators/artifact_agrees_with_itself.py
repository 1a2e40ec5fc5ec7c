"""ART001, error: the parts of an artifact fit together.

Friction names a step that was walked; a FAIL names its mechanism and a CONDITIONAL_PASS its condition, and no other
verdict does; the three traces stand in their order; findings and proposed claims name sections that are there.
Source: SD-6, SD-10, SD-13, FORMAT 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Artifact
from validators.reading.bodies import entries
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

TRACES: Final = ("happy_path", "edge_case", "cross_round")


def check(docket: Docket) -> Iterator[Breach]:
    """Everything in an artifact that contradicts the rest of it."""
    for event in docket.events:
        if not isinstance(event, Artifact):
            continue
        sections = docket.sections(event)
        named = [
            *(entry.section for entry in event.findings),
            *(entry.section for entry in event.proposed_claims),
        ]
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
                if not isinstance(step, int) or not 1 <= step <= steps:
                    yield f"friction at step {step}; there are {steps}"
        case "adversarial_test_case":
            pass


RULE: Final = Rule(
    code="ART001",
    name="artifact_agrees_with_itself",
    severity="error",
    summary="The parts of an artifact fit together: friction and steps, verdict and its reason, sections.",
    check=check,
)
