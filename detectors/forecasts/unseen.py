"""Estimate of defeaters of the leader that no role found, from how often each was found. Reported, never a gate."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import NamedTuple


class Unseen(NamedTuple):
    """Defeaters found: `distinct`, by exactly one role (`once`), by exactly two (`twice`), over so many `lists`.

    `jackknife` and `chao2` estimate how many there are in all, so at least `estimate − distinct` more.
    """

    distinct: int
    once: int
    twice: int
    lists: int
    jackknife: Fraction
    chao2: Fraction


def unseen_of(sightings: Sequence[Collection[str]], lists: int) -> Unseen | None:
    """Estimate from the roles that found each defeater, sealed from each other; None without a list.

    First-order jackknife S + Q1·(m−1)/m (LIT-4); Chao2, bias-corrected, S + (m−1)/m · Q1(Q1−1)/(2(Q2+1)) (LIT-5).
    Both are counts. Seats of one model find the same things, so both are lower bounds at best.
    """
    if lists < 1:
        return None
    found_by = [len(set(roles)) for roles in sightings if roles]
    distinct, once, twice = len(found_by), found_by.count(1), found_by.count(2)
    share = Fraction(lists - 1, lists)
    return Unseen(
        distinct,
        once,
        twice,
        lists,
        distinct + once * share,
        distinct + share * Fraction(once * (once - 1), 2 * (twice + 1)),
    )
