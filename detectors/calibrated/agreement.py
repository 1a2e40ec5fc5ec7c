"""Verdicts given twice: Krippendorff's alpha (nominal) with its interval, and how often a swapped order flips one.

    alpha = 1 − D_o / D_e      D_o: pairs that differ; D_e: pairs of all verdicts that would, drawn at random

The interval is a bootstrap over the repeated checks, drawn by a fixed sequence: the same ledger gives the same bounds.
Below 0.8 the verdicts deserve a warning; with a lower bound below 0.667 nothing that is counted from them can be
trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from detectors.calibrated.parameters import Judges
from detectors.contribution import binomial_at_most
from ledger.result import Result
from ledger.state.state import State

RESAMPLES: Final = 1000
TAIL: Final = 0.05
"""Of each side: the interval is one of 90 %, the bound on flips one of 95 %."""

Pair = tuple[str, str]
"""The first verdict and the second."""


class Agreement(Result, frozen=True):
    """`repeats` checks were judged twice, `flips` of them differently; `flips_at_most` bounds that share exactly.

    `alpha`, `low` and `high` are null below `needed` repeats. `unreliable`: the lower bound is too low.
    """

    repeats: int
    needed: int
    flips: int
    flips_at_most: float | None
    alpha: float | None
    low: float | None
    high: float | None
    warned: bool
    unreliable: bool


def agreement(state: State, rule: Judges) -> Agreement | None:
    """How far repeated verdicts agree; None for a ledger that repeats none."""
    pairs = repeated_pairs(state)
    if not pairs:
        return None
    flips = sum(first != second for first, second in pairs)
    if len(pairs) < rule.repeats_at_least:
        return _agreement(pairs, rule, flips, None, (None, None))
    low, high = interval(pairs)
    return _agreement(pairs, rule, flips, alpha(pairs), (low, high))


def repeated_pairs(state: State) -> list[Pair]:
    """First and second verdict of every check that was really judged twice, in order."""
    found: list[Pair] = []
    for check in state.checks.values():
        first = state.checks.get(check.repeats or "")
        if first is not None and "NOT_APPLICABLE" not in (first.result, check.result):
            found.append((first.result, check.result))
    return found


def alpha(pairs: Sequence[Pair]) -> float:
    """Krippendorff's alpha of two judgements a unit; 1 where nothing varies and nothing differs."""
    counts = Counter(verdict for pair in pairs for verdict in pair)
    total = sum(counts.values())
    observed = sum(first != second for first, second in pairs) / len(pairs)
    expected = 1 - sum(count * (count - 1) for count in counts.values()) / (total * (total - 1))
    return 1.0 if expected == 0 else 1 - observed / expected


def interval(pairs: Sequence[Pair]) -> tuple[float, float]:
    """The 90 % bootstrap interval of alpha."""
    drawn = _draws(len(pairs))
    values = sorted(alpha([pairs[next(drawn)] for _ in pairs]) for _ in range(RESAMPLES))
    return values[int(TAIL * RESAMPLES)], values[int((1 - TAIL) * RESAMPLES) - 1]


def share_at_most(count: int, trials: int) -> float:
    """The exact (Clopper and Pearson) upper bound of 95 % on a share."""
    low, high = count / trials, 1.0
    if count == trials:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if binomial_at_most(count, trials, middle) > TAIL:
            low = middle
        else:
            high = middle
    return high


def _agreement(
    pairs: Sequence[Pair],
    rule: Judges,
    flips: int,
    found: float | None,
    bounds: tuple[float | None, float | None],
) -> Agreement:
    low, high = bounds
    return Agreement(
        repeats=len(pairs),
        needed=rule.repeats_at_least,
        flips=flips,
        flips_at_most=round(share_at_most(flips, len(pairs)), 4),
        alpha=_rounded(found),
        low=_rounded(low),
        high=_rounded(high),
        warned=found is not None and found < rule.alpha_warned_below,
        unreliable=low is not None and low < rule.alpha_refused_below,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _draws(count: int) -> Iterator[int]:
    """Numbers below `count` in a fixed sequence: a 64-bit linear congruence, its upper half (Knuth's constants)."""
    state = 1
    while True:
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield (state >> 33) % count
