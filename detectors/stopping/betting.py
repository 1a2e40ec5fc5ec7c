"""Change-point e-process for a rate: evidence that the rate got worse than tolerated at some unknown round.

    M_0 = 0;  M_t = (M_{t-1} + w_t) · LR_t,  w_t = 2 (B + 1 − t) / (B (B + 1)) for t ≤ B, else 0
    E_t = mean over the grid of M_t + what is not staked yet

If the true rate is at most the tolerated one, E reaches 20 with a chance of at most 5%, however often one looks
(Ville).
With no data E = 1. Worked in logarithms (FM-1 … FM-6). Stakes fall over the plan: a change that begins late cannot be
found within it, so less of the coin waits for the late rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import msgspec

E_MAX: Final = 1_000_000.0
"""Where a printed e-value ends."""


class Stream(msgspec.Struct, frozen=True):
    """Log likelihood ratios: one row for every worse rate of the grid, one column per round (round 1 first)."""

    rows: tuple[tuple[float, ...], ...]


def share_stream(counts: Sequence[tuple[int, int]], p0: float, grid: Sequence[float]) -> Stream:
    """Return the stream of a share: `counts` holds (x bad, n units) per round. If everything is tolerated, all ratios
    are 1.
    """
    if p0 >= 1:
        return Stream(tuple((0.0,) * len(counts) for _ in grid))
    return Stream(
        tuple(
            tuple(x * math.log(p1 / p0) + (n - x) * math.log((1 - p1) / (1 - p0)) for x, n in counts)
            for p1 in grid
        )
    )


def clustered_stream(rounds: Sequence[Sequence[tuple[int, int]]], p0: float, grid: Sequence[float]) -> Stream:
    """Return the stream of a share whose units come in clusters, (x, n) each: a cluster bets once.

    Units of a cluster may move together. It multiplies by the mean of its units' ratios, which is fair however they
    depend
    on each other; a product is not.
    """
    return Stream(
        tuple(
            tuple(
                math.fsum(math.log((x * p1 / p0 + (n - x) * (1 - p1) / (1 - p0)) / n) for x, n in clusters)
                for clusters in rounds
            )
            for p1 in grid
        )
    )


def count_stream(counts: Sequence[tuple[int, float]], grid: Sequence[float]) -> Stream:
    """Return the stream of a count: `counts` holds (x, L) per round, the mean L is tolerated, the grid holds
    multiples of L.
    """
    return Stream(tuple(tuple(x * math.log(g) - (g - 1) * mean for x, mean in counts) for g in grid))


def product(stream: Stream, other: Stream) -> Stream:
    """Return both bets at once, rate by rate; a grid of one rate goes with every rate of the other."""
    pairs = (
        zip(stream.rows, other.rows, strict=True)
        if len(stream.rows) == len(other.rows)
        else ((row, other.rows[0]) for row in stream.rows)
    )
    return Stream(tuple(tuple(a + b for a, b in zip(left, right, strict=True)) for left, right in pairs))


def e_values(stream: Stream, planned_rounds: int) -> tuple[float, ...]:
    """Return E after every round."""
    if not stream.rows:
        return ()
    wealth = [_wealth(row, planned_rounds) for row in stream.rows]
    return tuple(
        sum(row[t] for row in wealth) / len(wealth) + _unstaked(t + 1, planned_rounds)
        for t in range(len(stream.rows[0]))
    )


def _unstaked(t: int, planned_rounds: int) -> float:
    """Return what is left of the coin for the rounds after t."""
    left = max(0, planned_rounds - t)
    return left * (left + 1) / (planned_rounds * (planned_rounds + 1))


def _log_stake(t: int, planned_rounds: int) -> float:
    if t > planned_rounds:
        return -math.inf
    return math.log(2 * (planned_rounds + 1 - t) / (planned_rounds * (planned_rounds + 1)))


def _wealth(row: Sequence[float], planned_rounds: int) -> list[float]:
    logarithm, wealth = -math.inf, list[float]()
    for t, ratio in enumerate(row, 1):
        # The stake for round t is added before the ratio of round t, because a change may begin in that very
        # round.
        logarithm = _log_sum(logarithm, _log_stake(t, planned_rounds)) + ratio
        # exp overflows a float above 709. Evidence that large is an alarm anyway.
        wealth.append(math.exp(min(logarithm, 700.0)))
    return wealth


def mixed(parts: Sequence[int], values: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return E of a coin that was split in these parts between bets."""
    return tuple(
        sum(part * value for part, value in zip(parts, at, strict=True)) / sum(parts)
        for at in zip(*values, strict=True)
    )


def late_value(stream: Stream, rounds_at_most: int) -> float:
    """Return the greatest worth, now, of a whole coin staked at the start of one of the last rounds; 1 without any."""
    held = len(stream.rows[0]) if stream.rows else 0
    return max(
        (
            math.fsum(math.exp(min(math.fsum(row[held - back :]), 700.0)) for row in stream.rows)
            / len(stream.rows)
            for back in range(1, min(rounds_at_most, held) + 1)
        ),
        default=1.0,
    )


def _log_sum(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    # The larger logarithm is factored out, so that `exp` never overflows.
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))


def onset_round(streams: Sequence[Stream], planned_rounds: int) -> int | None:
    """Return the round whose single bet is worth most now: where the worse rate most likely began."""
    best: tuple[float, int] | None = None
    for stream in streams:
        for row in stream.rows:
            total = 0.0
            for index in range(len(row) - 1, -1, -1):
                # Sums from the end give the worth of a bet that started at each round, in one pass.
                total += row[index]
                # Nothing is staked on a start after the plan, so an onset there cannot be named.
                if index < planned_rounds and (best is None or total > best[0]):
                    best = (total, index + 1)
    return best[1] if best else None


def printed(value: float) -> str:
    """Return an e-value as a decimal string of four significant digits, at most 1000000."""
    if value >= E_MAX:
        return "1000000"
    if value < 1e-8:
        return "0"
    digits = max(0, 3 - math.floor(math.log10(value)))
    text = f"{value:.{min(digits, 9)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
