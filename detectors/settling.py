"""How far settled answers still move, and how far one role is from itself: the gate *settled*, estimated from runs.

Of each run that kept its leader over its last steps from one sealed round to the next counts the largest of these
steps, in points that the leader lost (by thresholds that count every movement: in points that moved), and apart from it
the mean distance of answers that were given twice. Tolerated is the mean over runs and `tolerance_factor` spreads, in
whole points, rounded up. Nothing is taken out for chance: both are distances in themselves. With fewer than
`RUNS_FEWEST` runs that tell, the installed number is kept.

A run that was stopped because it was settled moved no more than its thresholds allowed: such runs cannot ask for more
than that by much, and runs that went on to the end of their plan teach more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from detectors.calibrated.estimation import RUNS_FEWEST, RateEstimate, upper
from detectors.calibrated.parameters import CalibratedParameters, SettledTerms
from detectors.calibrated.readiness import Course, course_of
from ledger.state.state import State

POINTS_MOST: Final = 30
"""Beyond this an answer that moves, or that is so far from itself, is not settled, whatever runs did."""


def settled_of(
    states: Sequence[State], base: CalibratedParameters
) -> tuple[CalibratedParameters, tuple[RateEstimate, ...]]:
    """Thresholds with [settled] for runs like these, and what the two numbers rest on."""
    rule = base.settled
    if rule is None:
        return base, ()
    courses = [course_of(state, max(state.rounds, default=0)) for state in states]
    steps = [step for course in courses if (step := last_steps(course, rule)) is not None]
    noises = [float(course.noise) for course in courses if course.noise is not None]
    points, noise = _points(steps, rule.points_at_most), _points(noises, rule.noise_at_most)
    noise = max(points, noise)  # an answer may be as far from itself as it may move
    terms = msgspec.structs.replace(rule, points_at_most=points, noise_at_most=noise)
    estimates = (
        _estimate("settled.points", rule.points_at_most, terms.points_at_most, steps, rule.rounds_unchanged),
        _estimate("settled.noise", rule.noise_at_most, terms.noise_at_most, noises, 1),
    )
    return msgspec.structs.replace(base, settled=terms), estimates


def last_steps(course: Course, rule: SettledTerms) -> float | None:
    """The largest of the last steps, in points; None where there are too few, or where the leader changed in them."""
    steps = course.steps(rule)[-rule.rounds_unchanged :]
    told = [float(step) for step in steps if step is not None]
    kept = len(set(course.leaders[-rule.rounds_unchanged - 1 :])) == 1
    return max(told) if kept and len(told) == rule.rounds_unchanged else None


def _points(told: Sequence[float], installed: int) -> int:
    if len(told) < RUNS_FEWEST:
        return installed
    found = upper([(one, 1.0) for one in told], lambda _mean, _units: 0.0)
    assert found is not None, "some runs tell"
    return min(POINTS_MOST, max(1, math.ceil(round(found, 6))))


def _estimate(name: str, installed: int, estimated: int, told: Sequence[float], units: int) -> RateEstimate:
    return RateEstimate(name, float(installed), float(estimated), len(told), units * len(told))
