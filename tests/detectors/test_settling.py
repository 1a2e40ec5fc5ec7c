"""[settled] from runs, worked by hand: which steps count, the tolerance of five, and what too few leave as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest

from detectors.calibrated.parameters import calibrated_parameters
from detectors.calibrated.readiness import course_of
from detectors.settling import POINTS_MOST, last_steps, settled_of
from ledger.events import RunOpened
from ledger.state.state import BeliefFacts, State
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve

INSTALLED = calibrated_parameters()
RULE = INSTALLED.settled
assert RULE is not None
assert (RULE.rounds_unchanged, RULE.points_at_most, RULE.noise_at_most) == (2, 5, 15)


def opened() -> RunOpened:
    table = {
        "deliberation": {"question": "Which?", "goals": ["One"], "options": ["a", "b"], "plan": "short-5"}
    }
    return resolve(checked(table), {}, moot="0.1.0").event


OPENED = opened()


def state(rounds: Sequence[Mapping[str, int]], redraw: int | None = None) -> State:
    """A run whose roles put so many points on O-1 in each round, the rest on O-2; `redraw`: action's second answer."""
    beliefs = {
        f"B-{n}-{role}": facts(n, role, 1, points)
        for n, by_role in enumerate(rounds, 1)
        for role, points in by_role.items()
    }
    if redraw is not None:
        beliefs["B-1-action~2"] = facts(1, "action", 2, redraw)
    return State(opened=OPENED, beliefs=beliefs, rounds=dict.fromkeys(range(1, len(rounds) + 1)))  # type: ignore[arg-type]


def facts(round_: int, role: str, n: int, points: int) -> BeliefFacts:
    return BeliefFacts(
        f"B-{round_}-{role}", round_, role, n, {"O-1": points, "O-2": 100 - points}, derived=False, seq=round_
    )


def moving(*steps: int) -> State:
    """Two roles that start from 95: one goes down by twice each step, the other not at all; the leader loses it."""
    rounds, at = [{"action": 95, "critic": 95}], 95
    for step in steps:
        at -= 2 * step
        rounds.append({"action": at, "critic": 95})
    return state(rounds)


@pytest.mark.parametrize(
    ("steps", "largest"),
    [
        ((2, 4), 4.0),  # both of the last two count, the larger one is it
        ((9, 3, 1), 3.0),  # what moved before them does not
        ((3,), None),  # one step is too few
        ((), None),
    ],
)
def test_the_largest_of_the_last_two_steps_counts(steps: tuple[int, ...], largest: float | None) -> None:
    assert RULE is not None
    run = moving(*steps)
    assert last_steps(course_of(run, len(run.rounds)), RULE) == largest


def test_a_leader_that_changed_in_them_says_nothing_of_settled_answers() -> None:
    assert RULE is not None
    run = state([{"action": 52}, {"action": 49}, {"action": 48}])  # O-1, then O-2 twice
    assert last_steps(course_of(run, 3), RULE) is None
    later = state([{"action": 52}, {"action": 44}, {"action": 45}, {"action": 47}])
    assert last_steps(course_of(later, 4), RULE) == 2.0


def test_a_leader_that_gains_takes_no_step_by_the_installed_thresholds() -> None:
    assert RULE is not None
    gaining = course_of(state([{"action": 60}, {"action": 70}, {"action": 80}]), 3)
    assert last_steps(gaining, RULE) == 0.0
    assert last_steps(gaining, msgspec.structs.replace(RULE, against_leader=False)) == 10.0


def test_five_runs_by_hand() -> None:
    """Steps 2, 4, 4, 6, 4: mean 4, spread √((4+0+0+4+0)/4) = 1.414.

    Natrella's factor for five runs: z = 1.2816, z² = 1.6425, a = 1 − 1.6425/8 = 0.7947, b = 1.6425 − 1.6425/5 = 1.3140,
    (1.2816 + √(1.6425 − 0.7947·1.3140)) / 0.7947 = 2.586. So 4 + 2.586·1.414 = 7.66, in whole points 8.
    """
    found, estimates = settled_of(
        [moving(1, 2), moving(4, 1), moving(4, 4), moving(2, 6), moving(4, 2)], INSTALLED
    )
    assert found.settled is not None
    assert (found.settled.points_at_most, found.settled.noise_at_most) == (8, 15)
    assert found.settled.rounds_unchanged == 2
    assert [(one.name, one.installed, one.estimated, one.runs) for one in estimates] == [
        ("settled.points", 5.0, 8.0, 5),
        ("settled.noise", 15.0, 15.0, 0),
    ]
    assert msgspec.structs.replace(found, settled=INSTALLED.settled) == INSTALLED


def test_noise_by_hand() -> None:
    """Action says 60 and again 54, 55, 56, 57, 58: distances 6, 5, 4, 3, 2, mean 4, spread √(10/4) = 1.581.

    4 + 2.586·1.581 = 8.09, in whole points 9.
    """
    runs = [state([{"action": 60}], again) for again in (54, 55, 56, 57, 58)]
    found, estimates = settled_of(runs, INSTALLED)
    assert found.settled is not None
    assert (found.settled.points_at_most, found.settled.noise_at_most) == (5, 9)
    assert (estimates[0].runs, estimates[1].runs) == (0, 5)


def test_four_runs_that_tell_leave_the_installed_numbers() -> None:
    silent = [state([{"action": 60}])] * 3
    found, estimates = settled_of([moving(9, 9), *[moving(8, 8)] * 3, *silent], INSTALLED)
    assert found == INSTALLED
    assert (estimates[0].runs, estimates[0].estimated) == (4, 5.0)


def test_answers_that_never_stand_still_do_not_teach_that_they_are_settled() -> None:
    found, _ = settled_of(
        [moving(2, 1), moving(18, 2), moving(2, 18), moving(1, 1), moving(3, 17)], INSTALLED
    )
    assert found.settled is not None
    assert found.settled.points_at_most == found.settled.noise_at_most == POINTS_MOST


def test_thresholds_of_before_have_no_such_table() -> None:
    before = msgspec.structs.replace(INSTALLED, settled=None)
    assert settled_of([moving(1, 2)] * 5, before) == (before, ())
