"""Every reason to stop, each by a table of its own, and what lost replies do to pool and stop."""

from __future__ import annotations

from copy import deepcopy

import pytest

from tests.detectors.beliefs.tables import ROLES, beliefs

SURE = {"O-1": 78, "O-2": 22}
CLOSE = {"O-1": 52, "O-2": 48}
AGREED = {"O-1": 93, "O-2": 7}
DECISIVE = {"q": 70, "if_true": {"O-1": 85, "O-2": 15}, "if_false": {"O-1": 25, "O-2": 75}}
"""11.8 points at .95 and nothing at .70."""
HARMLESS = {"q": 60, "if_true": {"O-1": 84, "O-2": 16}, "if_false": {"O-1": 69, "O-2": 31}}
"""No result changes the leader."""
PREDICTED = {"predicts": "holds"}


def crux(numbers, how="execution", claim="C-1-1", roles=ROLES, result=None, evidence=None):
    found = {"claim": claim, "how": how, "given": {role: dict(numbers) for role in roles}}
    return found | ({"result": result, "class": evidence} if result else {})


def everybody(belief):
    return dict.fromkeys(ROLES, belief)


def first(belief, *cruxes, **more):
    return {"roles": everybody(belief), "cruxes": list(cruxes), **more}


def later(*cruxes, roles=None, **more):
    return {"roles": roles or {}, "cruxes": list(cruxes), **more}


def table(*rounds, experiments=True, **more):
    return {"options": ["O-1", "O-2"], "tau": 3, "experiments": experiments, "rounds": list(rounds), **more}


def stops(*rounds, **more):
    return [one.stop for one in beliefs(table(*rounds, **more)).rounds]


def reasons(*rounds, **more):
    return [stop.reason for stop in stops(*rounds, **more)]


GOOD_FRAME = {"ill_posed": False, "objection": False}


# ---------------------------------------------------------------- the short ways out


def test_short_after_the_first_answer():
    one = {"roles": {"action": AGREED}}
    assert reasons(one, frame=GOOD_FRAME, first=True) == ["short"]
    almost = {"roles": {"action": {"O-1": 89, "O-2": 11}}}
    assert reasons(almost, frame=GOOD_FRAME, first=True) != ["short"]


def test_short_after_all_answers():
    belief = {"O-1": 85, "none": 15}
    assert reasons(first(belief, crux(HARMLESS)), frame=GOOD_FRAME) == ["short"]
    assert reasons(first({"O-1": 84, "O-2": 16}), frame=GOOD_FRAME) == ["settled"]


@pytest.mark.parametrize("frame", [None, {"objection": True}, {"ill_posed": True, "objection": True}])
def test_an_objection_or_a_lost_frame_closes_the_short_way(frame):
    assert reasons(first(AGREED), **({"frame": frame} if frame else {})) == ["settled"]


def test_a_lost_answer_agrees_with_nobody():
    assert reasons({"roles": {"action": AGREED}, "asked": 4}, frame=GOOD_FRAME) == ["settled"]


def test_a_proposal_that_matters_to_its_proposer_alone_closes_the_short_way():
    flips = {"q": 60, "if_true": AGREED, "if_false": {"O-1": 10, "O-2": 90}}
    harmless = {"q": 60, "if_true": AGREED, "if_false": AGREED}
    mixed = crux(flips, roles=ROLES[:1])
    mixed["given"] |= dict.fromkeys(ROLES[1:], harmless)
    assert reasons(first(AGREED, mixed), frame=GOOD_FRAME)[0] != "short"
    assert reasons(first(AGREED, crux(harmless)), frame=GOOD_FRAME) == ["short"]


def test_two_leaders_are_no_agreement():
    split = {"roles": {"action": AGREED, "critic": {"O-2": 95, "O-1": 5}}}
    assert reasons(split, frame=GOOD_FRAME) != ["short"]


# ---------------------------------------------------------------- the reasons in their order


def test_ill_posed():
    nothing = {"none": 50, "O-1": 50}
    assert reasons(first(nothing), frame={"ill_posed": True, "objection": True}) == ["ill_posed"]
    assert reasons(first(nothing)) == ["values"]  # a frame that was lost says nothing
    less = {"none": 49, "O-1": 51}
    assert reasons(first(less), frame={"ill_posed": True, "objection": True}) == ["values"]


def test_budget():
    assert reasons(first(SURE, crux(DECISIVE), no_budget=True)) == ["budget"]


def test_settled():
    assert reasons(first(SURE)) == ["settled"]
    assert reasons(first(SURE, crux(HARMLESS))) == ["settled"]


def test_not_settled_while_the_pool_moves():
    moved = everybody({"O-1": 72, "O-2": 28})
    still = everybody({"O-1": 73, "O-2": 27})
    start = first(SURE, crux(DECISIVE))
    other = crux(HARMLESS, claim="C-1-2")
    over = later(crux(DECISIVE, result="holds", evidence="ran"), deepcopy(other), roles=moved)
    assert reasons(start, over) == ["go_on", "go_on"]
    assert reasons(start, {**over, "roles": still}) == ["go_on", "settled"]


def test_noise_makes_room_for_movement():
    redraw = {"action": {"O-1": 71, "O-2": 29}}
    start = first(SURE, crux(DECISIVE), redraw=redraw)
    moved = everybody({"O-1": 71, "O-2": 29})
    over = later(crux(DECISIVE, result="holds", evidence="ran"), crux(HARMLESS, claim="C-1-2"), roles=moved)
    assert reasons(start, over) == ["go_on", "settled"]
    assert reasons(first(SURE, crux(DECISIVE)), over) == ["go_on", "go_on"]


def test_small_cruxes_can_matter_together():
    small = {"q": 50, "if_true": {"O-1": 75, "O-2": 25}, "if_false": {"O-1": 45, "O-2": 55}}
    start = first({"O-1": 60, "O-2": 40}, *(crux(small, claim=f"C-1-{n}") for n in (1, 2)), no_room=False)
    found = beliefs(table(start, tau=5)).rounds[0]
    assert found.joint is not None
    assert max(one.evsi.reproduced or 0 for one in found.cruxes) < 5 <= found.joint
    assert found.stop.reason == "go_on"


def test_hand_over_to_a_person():
    found = stops(first(SURE, crux(DECISIVE, how="person")))
    assert [(one.reason, one.crux, one.go_on) for one in found] == [("hand_over", "C-1-1", False)]


def test_hand_over_of_a_program_only_once_it_is_planned():
    """It cannot be run here, and arguing about it is worth nothing: round 2 plans and predicts it all the same."""
    start = first({"O-1": 67, "O-2": 33}, crux(DECISIVE))
    planned = later(crux(DECISIVE | PREDICTED))
    assert reasons(start, planned, experiments=False) == ["go_on", "hand_over"]
    assert reasons(start, planned, experiments=True)[1] == "go_on"


def test_a_document_that_is_not_there_is_handed_over():
    start = first({"O-1": 67, "O-2": 33}, crux(DECISIVE, how="document"))
    assert reasons(start, documents=False) == ["hand_over"]
    assert reasons(start, documents=True) == ["go_on"]


def test_what_came_back_hands_over_no_more():
    start = first(SURE, crux(DECISIVE, how="person"))
    back = {"claim": "C-1-1", "how": "person", "given": {}, "result": "holds", "class": "said"}
    assert reasons(start, later(back)) == ["hand_over", "settled"]


def test_values_at_once_where_nothing_is_left_to_test():
    assert reasons(first(CLOSE)) == ["values"]


def test_values_after_two_rounds_that_lacked_the_margin_alone():
    harmless = {"q": 60, "if_true": {"O-1": 53, "O-2": 47}, "if_false": {"O-1": 51, "O-2": 49}}
    start = first(CLOSE, crux(harmless), crux(harmless, claim="C-1-2"))
    over = later(crux(harmless, result="inconclusive", evidence="ran"))
    assert reasons(start, over) == ["go_on", "values"]


def test_cap():
    rounds = [later(crux(DECISIVE | PREDICTED, claim=f"C-1-{n}", result="error")) for n in (1, 2, 3)]
    agenda = [crux(DECISIVE, claim=f"C-1-{n}") for n in (1, 2, 3)]
    assert reasons(first(SURE, *agenda), *rounds) == ["go_on", "go_on", "go_on", "cap"]
    assert reasons(first(SURE, *agenda), rounds[0], rounds_at_most=1) == ["go_on", "cap"]
    assert reasons(first(SURE, *agenda, no_room=True)) == ["cap"]
    assert reasons(first(AGREED), rounds_at_most=0) == ["cap"]


def test_go_on_names_the_crux_that_is_worth_most():
    worth_less = {"q": 70, "if_true": {"O-1": 80, "O-2": 20}, "if_false": {"O-1": 40, "O-2": 60}}
    start = first({"O-1": 67, "O-2": 33}, crux(worth_less, claim="C-1-1"), crux(DECISIVE, claim="C-1-2"))
    assert [(one.reason, one.crux) for one in stops(start)] == [("go_on", "C-1-2")]


# ---------------------------------------------------------------- results and tries


def test_a_crux_is_tried_twice_at_most():
    start = first(SURE, crux(DECISIVE))
    flaky = later(crux(DECISIVE | PREDICTED, result="flaky", evidence="ran"))
    found = beliefs(table(start, flaky, flaky))
    assert [one.stop.reason for one in found.rounds] == ["go_on", "go_on", "settled"]
    assert [one.pool["O-1"] for one in found.rounds] == [78, 78, 78]


def test_an_argued_verdict_leaves_open_what_could_be_run_here():
    start = first(SURE, crux(DECISIVE))
    argued = later(crux(DECISIVE | PREDICTED, result="fails", evidence="argued"))
    assert stops(start, argued)[1].reason == "go_on"
    assert stops(start, argued, experiments=False)[1].reason == "settled"


def test_argued_verdicts_on_one_claim_count_once():
    start = first(SURE, crux(DECISIVE))
    argued = later(crux(DECISIVE | PREDICTED, result="holds", evidence="argued"))
    pools = [one.pool["O-1"] for one in beliefs(table(start, argued, argued)).rounds]
    assert pools[0] < pools[1] == pools[2]


def test_derived_beliefs_and_own_ones():
    start = first({"O-1": 67, "O-2": 33}, crux(DECISIVE))
    own = {"critic": {"O-1": 40, "O-2": 60}}
    over = later(crux(DECISIVE | PREDICTED, result="holds", evidence="reproduced"), roles=own)
    end = beliefs(table(start, over)).rounds[1]
    assert end.derived == ["action", "guardian", "observer"]
    assert end.roles["action"] == {"O-1": 84, "O-2": 16, "none": 0}
    assert end.roles["critic"] == {"O-1": 40, "O-2": 60, "none": 0}
    assert end.movement == (17 * 3 + 27) / 4


# ---------------------------------------------------------------- lost replies


def test_a_lost_answer_is_in_no_pool_until_it_comes():
    two = {"roles": {"action": SURE, "critic": CLOSE}}
    late = {"roles": {"guardian": CLOSE}}
    found = beliefs(table(two, late)).rounds
    assert [sorted(one.roles) for one in found] == [["action", "critic"], ["action", "critic", "guardian"]]
    assert found[0].pool["O-1"] == 65


def test_lost_conditionals_leave_the_pool_until_they_come():
    start = first(SURE, crux(DECISIVE))
    without = later(crux(DECISIVE | PREDICTED, roles=ROLES[:3], result="holds", evidence="ran"))
    back = later(crux(HARMLESS | PREDICTED, claim="C-1-2"))
    found = beliefs(table(start, without, back)).rounds
    assert [len(one.roles) for one in found] == [4, 3, 4]
    assert found[2].roles["critic"] == {"O-1": 78, "O-2": 22, "none": 0}
    answered = beliefs(table(start, {**without, "roles": {"critic": CLOSE}})).rounds
    assert len(answered[1].roles) == 4


def test_nobody_in_the_pool_is_no_reason_of_its_own():
    stranger = later(crux(DECISIVE | PREDICTED, roles=["stranger"]))
    end = beliefs(table(first(SURE), stranger)).rounds[1]
    assert (end.pool, end.leader, end.margin, end.joint) == ({}, None, None, None)
    assert (end.stop.reason, end.stop.go_on) == (None, False)
    assert beliefs(table({"roles": {}})).without == {}


# ---------------------------------------------------------------- without each role


def answers(**points):
    return {role: {"O-1": value, "O-2": 100 - value} for role, value in points.items()}


def test_it_says_on_whom_the_answer_rests():
    start = {
        "roles": {
            "action": {"O-1": 95, "O-2": 5},
            "critic": {"O-1": 40, "O-2": 60},
            "guardian": {"O-1": 45, "O-2": 55},
        }
    }
    found = beliefs(table(start)).without
    assert found["action"].leader == "O-2"
    assert found["action"].changes
    assert (found["critic"].leader, found["critic"].changes) == ("O-1", False)


def test_a_status_can_rest_on_one_role_while_the_leader_does_not():
    start = {
        "roles": {
            "action": {"O-1": 90, "O-2": 10},
            "critic": {"O-1": 52, "O-2": 48},
            "guardian": {"O-1": 53, "O-2": 47},
        }
    }
    found = beliefs(table(start)).without
    assert (found["action"].leader, found["action"].changes) == ("O-1", True)  # values instead of settled
    assert not found["critic"].changes


def test_the_names_of_roles_change_nothing():
    rounds = [first(SURE, crux(DECISIVE)), later(crux(DECISIVE | PREDICTED, result="fails", evidence="ran"))]
    renamed = deepcopy(rounds)
    names = {"action": "critic", "guardian": "zoe", "observer": "action", "critic": "b"}
    for one in renamed:
        one["roles"] = {names[role]: points for role, points in one["roles"].items()}
        for asked in one["cruxes"]:
            asked["given"] = {names[role]: numbers for role, numbers in asked["given"].items()}
    ours, theirs = beliefs(table(*rounds)), beliefs(table(*renamed))
    for one, other in zip(ours.rounds, theirs.rounds, strict=True):
        assert (one.pool, one.stop, one.cruxes, one.joint) == (
            other.pool,
            other.stop,
            other.cruxes,
            other.joint,
        )
        assert {names[role]: points for role, points in one.roles.items()} == other.roles
