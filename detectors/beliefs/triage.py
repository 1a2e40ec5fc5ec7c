"""Which claims are cruxes, which of them are tested next, and who plans the tests."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from detectors.beliefs.parameters import CruxParameters
from detectors.beliefs.pool import ByRole
from detectors.beliefs.values import CruxMove
from ledger.events.values import HowTested


class CruxValue(NamedTuple):
    """An open crux and what a test of it is worth, in points, at the best quality and at the one here.

    `testable`: somebody here can test it. `planned`: it was asked about in a round of tests.
    """

    claim: str
    how: HowTested
    at_best: Fraction
    here: Fraction
    testable: bool
    planned: bool


def admitted(effect: Fraction, how: HowTested | None, parameters: CruxParameters) -> bool:
    """Whether a proposal may come to the agenda: an effect of 10 points or more, and a test that somebody could do.

    `effect` is the proposer's greatest |T − F| in points. What rests on judgement alone has no test.
    """
    return how not in (None, "judgement") and effect >= parameters.crux.effect_at_least


def ranked(cruxes: Iterable[CruxValue]) -> list[CruxValue]:
    """Cruxes by value at best, the highest first; ties by claim id, C-1-2 before C-1-10."""
    return sorted(cruxes, key=lambda one: (-one.at_best, _by_number(one.claim)))


def _by_number(claim: str) -> tuple[tuple[int, str], ...]:
    return tuple((int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", claim))


def to_test(cruxes: Iterable[CruxValue], parameters: CruxParameters) -> list[CruxValue]:
    """The cruxes of the next round: the first three by rank that somebody here can test."""
    return ranked(one for one in cruxes if one.testable)[: parameters.crux.tested_at_most]


def doubter_of(
    q: Mapping[str, Fraction],
    beliefs: ByRole,
    moves: CruxMove,
    proposers: Collection[str],
    order: Sequence[str],
) -> str:
    """Who plans the test of a crux: the role that doubts it most.

    `q`: points that it is true, by role. Among several the lowest. Where only proposers gave one, it is the other role
    in the pool whose belief speaks most against it: lowest in the option that it moves `for`, highest in the one that
    it moves `against`; and nobody left, the proposer. Ties in the order of roles. Raises `ValueError` without any q.
    """
    others = [role for role in order if role in beliefs and role not in proposers]
    if set(q) <= set(proposers) and others:
        sign = 1 if moves.direction == "for" else -1
        return min(others, key=lambda role: sign * beliefs[role][moves.option])
    return min((role for role in order if role in q), key=q.__getitem__)


def holder_of(q: Mapping[str, Fraction], doubter: str, order: Sequence[str]) -> str | None:
    """Who argues for a crux that cannot be run: the highest q but the doubter's, ties in the order of roles."""
    others = [role for role in order if role in q and role != doubter]
    return max(others, key=q.__getitem__) if others else None
