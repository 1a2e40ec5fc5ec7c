"""Which decisions were deliberated, which stand, and what they rest on: one module answers for everybody."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledger.events import Concern, Decision, Event, Ruling, Screening, Verification
from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence
from ledger.events.verifications import StatusChange
from ledger.state import decided
from ledger.state.decided import Fallen
from ledger.state.fold import fold
from ledger.state.lifecycle import STATUS_OF_BEARING
from ledger.state.state import State
from tests.ledger import samples


def state(*drafts: Event) -> State:
    """The state after an opening and some events, numbered as they come."""
    return fold(replace(event, seq=n) for n, event in enumerate((samples.opening(), *drafts)))


def made(
    identity: str, type_: Any = "round", cites: tuple[tuple[str, Any], ...] = (), by: str = "action"
) -> Decision:
    """A decision; cites are (id, relation)."""
    kinds = {"C": "claim", "D": "decision", "@": "verification", "N": "concern"}
    return Decision(
        id=identity,
        round=int(identity.split("-")[1]),
        phase="G",
        by=by,
        text=f"Decided in {identity}.",
        type=type_,
        cites=tuple(Cite(type=kinds[name[0]], id=name, relation=how) for name, how in cites),  # type: ignore[arg-type]
        made_by="human" if by == "human" else "rule" if by == "controller" else "round_lead",
    )


def override(identity: str, target: str) -> Decision:
    return made(identity, "override", ((target, "overturns"),), by="human")


def moved(n: int, claim: str, bearing: Any) -> Verification:
    """A check that moves a pending claim."""
    change = StatusChange(
        claim_id=claim,
        from_="pending",
        to=STATUS_OF_BEARING[bearing],
        bearing=bearing,
        evidence=(Evidence(ref=claim),),
    )
    return replace(samples.verification(n), claim_status_changes=(change,), claims_affected=(claim,))


def held_up() -> Screening:
    return Screening(
        round=0,
        phase="open",
        by="controller",
        of="question",
        sha256="0" * 64,
        score=90,
        action="BLOCK",
        issues=(),
        rules="screening-1",
    )


def ruling() -> Ruling:
    return Ruling(
        round=3,
        phase="revise",
        by="controller",
        decision="ACT",
        rule="majority",
        rules="documented",
        votes=(),
        metadata={},
    )


GATE = made("D-0-1", "gate", (("@1", "based-on"),), by="controller")
ANSWER = made("D-1-1", "answer", (("N-1-1", "resolves"),), by="human")
QUESTION = Concern(
    id="N-1-1", round=1, phase="G", by="action", type="question", text="Who pays?", for_human=True
)


def test_a_routing_an_answer_and_an_override_were_not_deliberated() -> None:
    """R-3: whatever a person or the gate says, the run has not decided yet."""
    stands = state(held_up(), GATE, override("D-0-2", "@1"), QUESTION, ANSWER)
    assert decided.deliberated(stands) == []
    assert decided.deliberated(stands) == []
    assert not decided.has_precedent(stands)
    assert decided.in_force(stands) == decided.quoted(stands) == ["D-1-1"]
    assert decided.final_in_force(stands) == []


def test_an_override_of_a_final_decision_is_final_in_its_place() -> None:
    """R-6: and so is an override of that override; what was overturned is in force nowhere."""
    first, second = made("D-1-1", "final"), made("D-1-2", "final")
    stands = state(first, second, override("D-1-3", "D-1-1"))
    assert decided.final_in_force(stands) == decided.outcome(stands) == ["D-1-3", "D-1-2"]
    assert decided.deliberated(stands, "final") == ["D-1-1", "D-1-2"]
    assert decided.standings(stands) == {"D-1-1": "overturned", "D-1-2": "in_force", "D-1-3": "in_force"}
    again = state(first, second, override("D-1-3", "D-1-1"), override("D-1-4", "D-1-3"))
    assert decided.final_in_force(again) == ["D-1-4", "D-1-2"]
    assert decided.replacement(again, "D-1-1") == "D-1-4"
    assert decided.overridden(again, "D-1-4") == "D-1-1"


def test_an_override_of_a_round_s_decision_or_an_answer_is_not_final() -> None:
    """R-6: an override has the rank of what it overturns."""
    stands = state(
        made("D-1-1"),
        QUESTION,
        made("D-1-2", "answer", by="human"),
        override("D-1-3", "D-1-1"),
        override("D-1-4", "D-1-2"),
    )
    assert [stands.decisions[one].rank for one in ("D-1-3", "D-1-4")] == ["round", "answer"]
    assert decided.final_in_force(stands) == []
    # What a person said to a question is context, whatever its place.
    assert decided.outcome(stands) == ["D-1-3"]


def test_overriding_a_ruling_ends_the_decision_that_says_it_and_the_other_way_round() -> None:
    """R-6: a tribunal's ruling and its decision are one."""
    by_rule = made("D-3-1", "final", by="controller")
    for target in ("@1", "D-3-1"):
        stands = state(ruling(), by_rule, override("D-3-2", target))
        assert decided.final_in_force(stands) == ["D-3-2"]
        assert stands.rulings["@1"].overturned_by == stands.decisions["D-3-1"].overturned_by == "D-3-2"
    alone = state(ruling(), override("D-3-1", "@1"))
    assert decided.final_in_force(alone) == ["D-3-1"]


@pytest.mark.parametrize(
    ("bearing", "status"),
    [("contradicts", "tested_refuted"), ("partly_contradicts", "partially_refuted")],
)
@pytest.mark.parametrize("before", [True, False])
def test_a_decision_on_a_fallen_claim_is_at_risk_whenever_it_fell(
    bearing: Any, status: Any, before: bool
) -> None:
    """R-16: one definition, for what fell later and for what had fallen already."""
    check, decision = moved(1, "C-1-1", bearing), made("D-1-1", "final", (("C-1-1", "based-on"),))
    stands = state(samples.claim(1), *((check, decision) if before else (decision, check)))
    assert decided.standing(stands, "D-1-1") == "at_risk"
    assert decided.fallen_under(stands, "D-1-1") == (Fallen("C-1-1", status, [], before),)
    assert bool(decided.fallen_under(stands, "D-1-1", stands.decisions["D-1-1"].seq)) == before


def test_risk_goes_up_through_the_decisions_that_were_built_on() -> None:
    """R-16: a final decision that builds on one at risk is at risk."""
    stands = state(
        samples.claim(1),
        made("D-1-1", cites=(("C-1-1", "based-on"),)),
        made("D-1-2", cites=(("D-1-1", "builds-on"),)),
        made("D-1-3", "final", (("D-1-2", "supported-by"),)),
        made("D-1-4", "final", (("D-1-2", "supersedes"),)),
        moved(1, "C-1-1", "contradicts"),
    )
    assert decided.fallen_under(stands, "D-1-3") == (
        Fallen("C-1-1", "tested_refuted", ["D-1-2", "D-1-1"], False),
    )
    assert decided.standing(stands, "D-1-4") == "in_force"


def test_what_builds_on_an_overturned_decision_is_at_risk_and_a_refinement_leaves_it_alone() -> None:
    """R-16: overturned is not superseded: a successor carries what was built on its predecessor."""
    base, upper = made("D-1-1"), made("D-1-2", "final", (("D-1-1", "builds-on"),))
    overturned = state(base, upper, override("D-1-3", "D-1-1"))
    assert decided.fallen_under(overturned, "D-1-2") == (Fallen("D-1-1", "overturned", [], False),)
    assert (
        decided.standing(state(base, upper, made("D-1-3", cites=(("D-1-1", "supersedes"),))), "D-1-2")
        == "in_force"
    )


def test_decisions_that_cite_each_other_come_to_an_end() -> None:
    """R-16: an import may hold what the rules forbid."""
    stands = state(
        samples.claim(1),
        moved(1, "C-1-1", "contradicts"),
        made("D-1-1", cites=(("D-1-2", "based-on"), ("D-1-1", "based-on"))),
        made("D-1-2", cites=(("D-1-1", "based-on"), ("C-1-1", "based-on"))),
    )
    assert [one.id for one in decided.fallen_under(stands, "D-1-1")] == ["C-1-1"]


def test_what_was_quoted_when_stays_what_was_quoted() -> None:
    """R-3: a brief asks for an earlier instant."""
    stands = state(made("D-1-1"), made("D-2-1", cites=(("D-1-1", "supersedes"),)))
    assert decided.quoted(stands, at=1) == ["D-1-1"]
    assert decided.quoted(stands) == ["D-2-1"]
