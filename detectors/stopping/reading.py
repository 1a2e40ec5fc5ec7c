"""Reading of one failure mode after the last round, by a change-point e-process for its rate.

    M_0 = 0;  M_t = (M_{t-1} + w_t) · LR_t,  w_t = 2 (B + 1 − t) / (B (B + 1)) for t ≤ B, else 0
    E_t = mean over the grid of M_t + what is not staked yet

A capital of 1 is bet on the rate having got worse. Of it, w_t is staked on a change that began in round t of B planned
ones; a stake grows by the likelihood ratio LR of every round from then on (worse rate against tolerated rate), and the
grid lists the worse rates. If the true rate is at most the tolerated one, E reaches 20 with a chance of at most 5%,
however often you look (Ville's inequality). With no data E = 1. Worked in logarithms. Stakes fall over the plan: a
change that begins late cannot be found within it, so less of the capital waits for the late rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, Literal, NamedTuple

import msgspec

from detectors.parameters import GateParameters
from detectors.report import EVIDENCE_MAX, AlarmVerdict
from detectors.stopping.rounds import RoundUnits, Units
from ledger.events.envelope import FailureMode
from ledger.state.state import State

E_MAX: Final = 1_000_000.0
"""Where a printed e-value ends."""


class Stream(msgspec.Struct, frozen=True):
    """Log likelihood ratios: one row for every worse rate of the grid, one column per round (round 1 first)."""

    rows: tuple[tuple[float, ...], ...]


def share_stream(counts: Sequence[tuple[int, int]], p0: float, grid: Sequence[float]) -> Stream:
    """Return the stream of a share: `counts` holds (x bad, n units) per round.

    If everything is tolerated, all ratios are 1.
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
    depend on each other; a product is not.
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
    """Return the stream of a count: `counts` holds (x, L) per round.

    The mean L is tolerated, and the grid holds multiples of L.
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
    """Return the part of the capital that waits for the rounds after t."""
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


def late_value(stream: Stream, rounds_at_most: int) -> float:
    """Return the greatest worth, now, of the whole capital staked at the start of one of the last rounds; else 1."""
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


COUNTER_EVIDENCE_MAX = 10


class CountedShare(msgspec.Struct, frozen=True):
    """Share by round, (bad, all), and how much of it is tolerated."""

    counts: tuple[tuple[int, int], ...]
    tolerated: float

    def since(self, round_: int) -> tuple[int, int]:
        """Return (bad, all) of the rounds after this one."""
        after = self.counts[round_:]
        return sum(bad for bad, _ in after), sum(units for _, units in after)

    def is_kept_since(self, round_: int) -> bool:
        """Return whether the rounds after this one stayed within the tolerated share; true without any unit."""
        bad, units = self.since(round_)
        return bad <= self.tolerated * units


class ModeReading(msgspec.Struct, frozen=True):
    """Failure mode as it reads after the last round.

    `rounds` is E after every round; `alarm_round` the first round at whose end it reached the alarm (it latches).
    `bad` and `units` count since `onset`.
    """

    mode: FailureMode
    needed: int
    sentence: str
    verdict: AlarmVerdict = "CLEAR"
    rounds: tuple[float, ...] = ()
    alarm_round: int | None = None
    onset: int | None = None
    evidence: tuple[str, ...] = ()
    counter_evidence: tuple[str, ...] = ()
    bad: int = 0
    units: int = 0
    counts: tuple[tuple[int, int], ...] = ()
    """(bad, all) of every round."""
    tolerated: float | None = None
    """The tolerated share, where the mode is one share; else None."""
    variant: Literal["", "inflation", "starvation"] = ""
    subject: str = ""
    """The role that the mode is about: who dominates (FM-4), whose absence was avoided (FM-7)."""
    seen: int = 0
    """What `needed` is held against, in all."""
    beside: CountedShare | None = None
    """Of a mode that reads two shares (FM-1) the one that is not told: recovered is where both are."""

    allowed: tuple[tuple[int, float], ...] = ()
    """Of a mode that is a count: (number, what is tolerated) of every round."""
    mended: tuple[int, ...] = ()
    """Of a certain mode: rounds that made good what it is about."""
    late_value: float = 1.0
    """What a capital of 1 that was staked on the last rounds alone is worth."""
    has_begun: bool = False
    """Whether the last round has what alarms if another one follows: too young for an alarm."""

    def has_recovered(self, since_round: int) -> bool:
        """Return whether the rounds after `since_round` kept what is tolerated: two rounds and four units at least.

        A deterministic mode has recovered with the first round that made it good.
        """
        if any(round_ > since_round for round_ in self.mended):
            return True
        if self.allowed:
            later = self.allowed[since_round:]
            return len(later) >= 2 and sum(count for count, _ in later) <= sum(most for _, most in later)
        if self.tolerated is None or len(self.counts[since_round:]) < 2:
            return False
        own = CountedShare(self.counts, self.tolerated)
        shares = [own] if self.beside is None else [own, self.beside]
        # Two shares of one mode must both recover: the one that is not reported may have caused the alarm.
        return own.since(since_round)[1] >= 4 and all(share.is_kept_since(since_round) for share in shares)

    @property
    def e_value(self) -> str:
        """Return E now, four significant digits."""
        return printed(self.rounds[-1]) if self.rounds else "1"

    @property
    def p_anytime(self) -> str:
        """Return 1 over the greatest E so far, at most 1, with four significant digits.

        It is valid however often you look (Ville).
        """
        return printed(1 / max((1.0, *self.rounds)))


class RunSoFar(NamedTuple):
    """A run after its last round: what was counted in each round, and the thresholds that it is read by."""

    state: State
    rounds: Sequence[RoundUnits]
    parameters: GateParameters
    planned: int
    """Rounds of the plan that deliberate."""

    def e_of(self, streams: Sequence[Stream], parts: Sequence[int] = (1,)) -> tuple[float, ...]:
        """Return E after every round: a capital of 1 was divided in these parts between the bets."""
        values = [e_values(stream, self.planned) for stream in streams]
        return tuple(
            sum(part * value for part, value in zip(parts, at, strict=True)) / sum(parts)
            for at in zip(*values, strict=True)
        )

    def late_value_of(self, streams: Sequence[Stream]) -> float:
        """Return the worth of the last rounds alone in the best of these bets."""
        return max(late_value(stream, self.parameters.cautious.late_rounds) for stream in streams)


def read(
    run: RunSoFar,
    reading: ModeReading,
    units: Sequence[Units],
    streams: Sequence[Stream],
    have: Sequence[int] | None = None,
) -> ModeReading:
    """Return a mode, whose E is known, with its verdict, onset and evidence, and its sentence filled in.

    The evidence are the bad ones of `units`, from the onset of the best of `streams` on. `have` counts toward the units
    needed, per round (default: the units).
    """
    counted = have if have is not None else [unit.counts[1] for unit in units]
    totals = list(accumulate(counted))
    # The alarm latches at the first round that reached it: E may fall again, and the failure would be
    # forgotten.
    alarm = next(
        (
            number
            for number, (value, total) in enumerate(zip(reading.rounds, totals, strict=True), 1)
            if value >= run.parameters.alarm_at and total >= reading.needed
        ),
        None,
    )
    verdict: AlarmVerdict = "CLEAR"
    if alarm is not None:
        verdict = "ALARM"
    elif sum(counted) < reading.needed:
        verdict = "INSUFFICIENT"
    elif reading.rounds and reading.rounds[-1] >= run.parameters.watch_at:
        verdict = "WATCH"
    onset = onset_round(streams, run.planned) if verdict in ("WATCH", "ALARM") else None
    # Counts before the onset are from healthy rounds and would dilute the sentence.
    since = units[(onset or 1) - 1 :]
    bad = [identity for unit in since for identity in unit.bad]
    good = [identity for unit in since for identity in unit.good]
    return msgspec.structs.replace(
        reading,
        verdict=verdict,
        alarm_round=alarm,
        onset=onset,
        evidence=tuple(dict.fromkeys(bad))[:EVIDENCE_MAX] if onset else (),
        counter_evidence=tuple(dict.fromkeys(good))[:COUNTER_EVIDENCE_MAX] if onset else (),
        bad=len(bad),
        units=len(bad) + len(good),
        sentence=reading.sentence.format(bad=len(bad), units=len(bad) + len(good), onset=onset or 1),
        counts=tuple(unit.counts for unit in units),
        seen=sum(counted),
    )


def closing_round(state: State, mode: FailureMode) -> int:
    """Return the round in which the last alarm of a mode was closed; 0 where none was."""
    closings = (alarm.round for alarm in state.alarms if alarm.fm == mode and alarm.action == "closed")
    return max(closings, default=0)


def is_open(state: State, reading: ModeReading) -> bool:
    """Return whether an alarm is raised and not answered: it latches until a recorded closing.

    New evidence opens it again: an onset after the closing.
    """
    if reading.verdict != "ALARM":
        return False
    # A closing covers what was seen by then. An alarm or onset after it is a new one.
    return closing_round(state, reading.mode) < max(reading.alarm_round or 0, reading.onset or 0)
