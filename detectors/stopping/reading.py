"""Reading of one failure mode after the last round, with everything that the verdict rests on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Literal

import msgspec

from detectors.parameters import GateParameters, Share
from detectors.report import EVIDENCE_MAX, AlarmVerdict
from detectors.stopping.betting import Stream, e_values, late_value, onset_round, printed, share_stream
from detectors.stopping.rounds import Units
from ledger.events.values import FailureMode
from ledger.state.state import State

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
    variant: Literal["", "flood", "famine"] = ""
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
    late: float = 1.0
    """What the last rounds alone are worth as a coin of their own."""
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
        """Return 1 over the greatest E so far, at most 1, four significant digits: valid however often one looks
        (Ville).
        """
        return printed(1 / max((1.0, *self.rounds)))


def read(
    reading: ModeReading,
    units: Sequence[Units],
    streams: Sequence[Stream],
    parameters: GateParameters,
    planned: int,
    have: Sequence[int] | None = None,
) -> ModeReading:
    """Return the reading of a series of e-values with its verdict, onset and evidence; it comes with its sentence open.

    `have` counts toward the units needed, per round (default: the units).
    """
    counted = have if have is not None else [unit.counts[1] for unit in units]
    totals = list(accumulate(counted))
    # The alarm latches at the first round that reached it: E may fall again, and the failure would be
    # forgotten.
    alarm = next(
        (
            number
            for number, (value, total) in enumerate(zip(reading.rounds, totals, strict=True), 1)
            if value >= parameters.alarm_at and total >= reading.needed
        ),
        None,
    )
    verdict: AlarmVerdict = "CLEAR"
    if alarm is not None:
        verdict = "ALARM"
    elif sum(counted) < reading.needed:
        verdict = "INSUFFICIENT"
    elif reading.rounds and reading.rounds[-1] >= parameters.watch_at:
        verdict = "WATCH"
    onset = onset_round(streams, planned) if verdict in ("WATCH", "ALARM") else None
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


def late_of(streams: Sequence[Stream], parameters: GateParameters) -> float:
    """Return the worth of the last rounds alone in the best of these bets."""
    return max(late_value(stream, parameters.cautious.late_rounds) for stream in streams)


def share_reading(
    mode: FailureMode,
    units: Sequence[Units],
    rule: Share,
    parameters: GateParameters,
    planned: int,
    sentence: str,
) -> ModeReading:
    """Return the reading of a failure mode that is one share against one tolerated share."""
    stream = share_stream([unit.counts for unit in units], rule.p0, rule.grid)
    reading = ModeReading(
        mode=mode,
        rounds=e_values(stream, planned),
        late=late_of([stream], parameters),
        needed=rule.units_at_least,
        sentence=f"{sentence}; {rule.p0:.0%} is tolerated",
        tolerated=rule.p0,
    )
    return read(reading, units, [stream], parameters, planned)
