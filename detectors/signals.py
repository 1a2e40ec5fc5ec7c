"""Stop checks of a run: the gates or, as published, the six signals S1 … S6 (SD-60 … SD-70) with FM-1 and FM-8.

Disagreement is read by its slope: S2 at the end, and in mid-run when it fades two rounds running (SD-22, SD-63, FM-1).
In mid-run the slope is negative at the end of two rounds running, read over the rounds in which no role was absent,
because an absent role takes checks away. A slope needs three such rounds and two readings in a row need one more, so
the alarm can be raised from the fourth on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import chain
from math import fsum, log2
from typing import Final

import msgspec

from detectors.observations import Observations, Tally, deliberation_rounds, observe, untested
from detectors.parameters import (
    PROFILES,
    GateParameters,
    PublishedParameters,
    parameters_of,
    published_parameters,
)
from detectors.report import (
    EVIDENCE_MAX,
    AlarmReading,
    Signal,
    SignalReport,
    StepQuorum,
    StopVerdict,
    decimal_string,
    listed,
    reading,
    short,
)
from detectors.stopping.gates import StopJudgement, judge
from detectors.stopping.questions import deciding_questions
from ledger.events.decisions import Advice
from ledger.events.envelope import FailureMode
from ledger.plain_text import counted
from ledger.state.book import Blobs, Book
from ledger.state.fold import fold
from ledger.state.state import State

FADES: Final = "Disagreement fades with discovery"
SLOPES_SHOWN: Final = 4


def claim_testing_slows(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether fewer claims leave pending than in the peak (SD-61 [T]).

    A re-test is not a transition: a claim leaves pending once. Rounds are all deliberation rounds, silent ones too.
    """
    rule, tested = parameters.claim_testing_slows, [tally.tested for tally in seen.rounds]
    counts = [len(identities) for identities in tested]
    if len(counts) < rule.rounds_at_least:
        return reading("S1", False, f"{counted(len(counts), 'round')}; a trend needs {rule.rounds_at_least}")
    width = rule.window_rounds
    means = [Fraction(sum(counts[start : start + width])) / width for start in range(len(counts) - width + 1)]
    # Fractions, because a mean that equals the limit must not fall below it by a rounding error.
    limit = max(means) * Fraction(rule.share_of_peak)
    recent = means[-rule.windows_below :]
    return reading(
        "S1",
        # Without any test there is no peak, and silence from the start is no slowdown.
        limit > 0 and max(recent) < limit,
        f"last means of {width} rounds: {', '.join(map(short, recent))} claims tested for the first time;"
        f" {'half' if rule.share_of_peak == Fraction(1, 2) else f'{float(rule.share_of_peak):.0%}'}"
        f" of the peak is {short(limit)}",
        max(recent),
        limit,
        dict.fromkeys(chain.from_iterable(reversed(tested))),
    )


def exact_slope(points: Sequence[tuple[int, int]]) -> Fraction:
    """Return the slope of the regression line through `points`, two or more with different x."""
    return exact_slopes(points)[-1]


def exact_slopes(points: Sequence[tuple[int, int]]) -> list[Fraction]:
    """Return the slope after every point from the second on; x must not repeat. One pass."""
    slopes: list[Fraction] = []
    sum_x = sum_y = sum_xy = sum_xx = 0
    for count, (x, y) in enumerate(points, start=1):
        sum_x, sum_y, sum_xy, sum_xx = sum_x + x, sum_y + y, sum_xy + x * y, sum_xx + x * x
        if count > 1:
            # Exact fractions: whether a slope is negative must not depend on the order of float additions.
            slopes.append(Fraction(count * sum_xy - sum_x * sum_y, count * sum_xx - sum_x * sum_x))
    return slopes


def disagreement_persists(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether the slope without stress holds, overall and at the end, or discovery fell (SD-63 [T], SD-91).

    The second way to hold is the source's own: a slope below zero beside fewer new tensions and BROKEN verdicts is
    called legitimate convergence. Nothing persists there, so the reading does not carry that name.
    """
    rule = parameters.disagreement_persists
    limit = Fraction(rule.slope_at_least)
    rounds = seen.calm
    if len(rounds) < rule.rounds_at_least:
        few = f"{counted(len(rounds), 'round')} without stress; a slope needs {rule.rounds_at_least}"
        return reading("S2", False, few)
    points = [(tally.round, tally.disagreement) for tally in rounds]
    slope, last_slope = exact_slope(points), exact_slope(points[-rule.last_rounds :])
    # The failure modes that came up: new tensions and BROKEN verdicts (SD-91).
    discovery = exact_slope([(tally.round, tally.tensions + tally.broken) for tally in rounds])
    if slope >= limit:
        satisfied, reason = last_slope >= limit, f"the last {rule.last_rounds} alone: {short(last_slope)}"
    elif discovery < 0:
        satisfied = True
        reason = (
            f"it falls, and new tensions and BROKEN verdicts fall too, by {short(-discovery)}: the source calls "
            "that convergence and lets it pass (SD-63)"
        )
    else:
        satisfied = False
        reason = f"it falls, and new tensions and BROKEN verdicts do not: {short(discovery)}"
    return reading(
        "S2",
        satisfied,
        f"disagreement changes by {short(slope)} a round over {len(rounds)} rounds without stress; {reason}",
        slope,
        limit,
        [identity for tally in reversed(rounds) for identity in tally.disagreeing],
        name=FADES if satisfied and slope < limit else None,
    )


def every_role_led(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether every role led and the entropy of the leads, in bits, reaches its share of log2 N (SD-66 [T])."""
    # A lead in a stress round is left out, because the absent role could not have been chosen.
    rounds = [event for event in seen.settled if event.absent is None and event.lead in seen.roles]
    leads = Counter(event.lead for event in rounds if event.lead is not None)
    limit = float(parameters.every_role_led["entropy_share"]) * log2(len(seen.roles))
    total = leads.total()
    # Shannon entropy in bits. The sum is exact: the order of the roles must not decide whether the limit is reached.
    spread = fsum(count / total * log2(total / count) for count in leads.values())
    missing = [role for role in seen.roles if role not in leads]
    # Reversed, so that the earliest round of each lead is kept as evidence.
    first = {event.lead: event.seq for event in reversed(rounds)}
    return reading(
        "S3",
        not missing and spread >= limit,
        f"never led a round without stress: {listed(missing)}"
        if missing
        else f"leads have {short(spread)} bits of {short(limit)}",
        spread,
        limit,
        [f"@{seq}" for seq in sorted(first.values())],
    )


def roles_were_stressed(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether N − 1 roles (at least one) were really absent, or the one whose absence says most (SD-67 [T])."""
    rule = parameters.roles_were_stressed
    first: dict[str, int] = {}
    for event in seen.settled:
        if event.absent is not None and event.absent in seen.roles:
            first.setdefault(event.absent, event.seq)
    # A run with one role still needs one absence to satisfy the signal.
    needed = max(1, len(seen.roles) - rule.roles_spared)
    return reading(
        "S4",
        len(first) >= needed or rule.or_role in first,
        f"{len(first)} roles were absent for a round, {needed} needed or the {rule.or_role}: {listed(tuple(first))}",
        len(first),
        needed,
        [f"@{seq}" for seq in first.values()],
    )


def drift_checks_pass(seen: Observations, _parameters: PublishedParameters) -> Signal:
    """Report whether the last drift check passes and every FAIL was answered (SD-68 [T]).

    A FAIL is answered by a later PASS that names it in `addresses`. Where every check passes, no answer is needed.
    """
    checks = [seen.state.drift[number] for number in sorted(seen.state.drift)]
    passed = sum(check.verdict == "PASS" for check in checks)
    # Only an earlier check can be answered, so a PASS that names a later one answers nothing.
    answered = {
        check.addresses
        for number, check in enumerate(checks)
        if check.verdict == "PASS" and check.addresses in {earlier.id for earlier in checks[:number]}
    }
    unanswered = [check.id for check in checks if check.verdict == "FAIL" and check.id not in answered]
    verdicts = ", ".join(f"{check.id} {check.verdict}" for check in checks) or "no drift check"
    return reading(
        "S5",
        bool(checks) and checks[-1].verdict == "PASS" and not unanswered,
        f"{verdicts}; unanswered: {', '.join(unanswered)}" if unanswered else verdicts,
        passed,
        len(checks),
        [check.id for check in reversed(checks)],
    )


def few_claims_untested(seen: Observations, parameters: PublishedParameters) -> Signal:
    """Report whether few claims were never tested (SD-70).

    The closing synthesis settles what is pending and tests nothing (SD-19), so what it settled stays untested.
    """
    limit = Fraction(parameters.few_claims_pending["share_below"])
    claims, pending = len(seen.state.claims), untested(seen.state)
    # No claims at all would be a share of nothing, which must not count as "few untested".
    if not claims:
        return reading("S6", False, "no claims", None, limit)
    share = Fraction(len(pending), claims)
    return reading(
        "S6",
        share < limit,
        f"{len(pending)} of {claims} claims were tested in no round; below {short(limit * 100)} % is few",
        share,
        limit,
        pending,
    )


SIGNALS: Final[tuple[Callable[[Observations, PublishedParameters], Signal], ...]] = (
    claim_testing_slows,
    disagreement_persists,
    every_role_led,
    roles_were_stressed,
    drift_checks_pass,
    few_claims_untested,
)


class SlopeReading(msgspec.Struct, frozen=True):
    """Slope of disagreement per round (decimal string) at the end of a round."""

    round: int
    slope: str


class SlopeAlarm(msgspec.Struct, frozen=True):
    """Fall of disagreement since `onset_round`, with one reading for every round since then.

    `evidence`: the ROBUST verdicts from the onset on, the latest first: what took the place of disagreement.
    """

    onset_round: int
    slopes: tuple[SlopeReading, ...]
    evidence: tuple[str, ...]


def slope_alarm(state: State) -> SlopeAlarm | None:
    """Return the alarm after the last whole round, None when disagreement holds."""
    return alarm_over(tuple(tally for tally in deliberation_rounds(state) if not tally.stress))


def alarm_over(rounds: tuple[Tally, ...]) -> SlopeAlarm | None:
    """Return the same over rounds without stress."""
    rule = published_parameters().slope_alarm
    points = [(tally.round, tally.disagreement) for tally in rounds]
    slopes = exact_slopes(points)  # slopes[k] is read at the end of round k + 1, counted from 0
    falling: list[SlopeReading] = []
    # Walk back from the last round to the first one with enough points, and stop where the slope did not fall.
    for index in range(len(slopes) - 1, rule.rounds_at_least - 3, -1):
        if slopes[index] >= 0:
            break
        falling.append(SlopeReading(points[index + 1][0], decimal_string(slopes[index])))
    if len(falling) < rule.readings_running:
        return None
    onset = falling[-1].round
    # The checks that came out ROBUST since the onset are what a person must look at again.
    robust = [identity for tally in reversed(rounds) if tally.round >= onset for identity in tally.robust]
    return SlopeAlarm(onset, tuple(reversed(falling)), tuple(robust[:EVIDENCE_MAX]))


def published_alarms(seen: Observations, satisfied: int) -> Iterator[AlarmReading]:
    """Yield fading disagreement (FM-1, SD-22), and a plan that is over with few signals (FM-8, SD-85)."""
    slope = alarm_over(seen.calm)
    if slope is not None:
        slopes = ", ".join(f"R{reading.round} {reading.slope}" for reading in slope.slopes[-SLOPES_SHOWN:])
        closed = any(
            closing.fm == "FM-1" and closing.action == "closed" and closing.round >= slope.onset_round
            for closing in seen.state.alarms
        )
        detail = f"disagreement is falling: slope at the end of {slopes}"
        yield _alarm("FM-1", slope.onset_round, detail, slope.evidence, is_open=not closed)
    opened = seen.state.opened
    planned = sum("G" in row.phases for row in opened.plan) if opened is not None else 0
    # A plan that is over with few signals shows a run that deliberates without converging.
    if 0 < planned <= len(seen.rounds) and satisfied <= published_parameters().overrun["signals_at_most"]:
        detail = f"all {planned} planned rounds were held, and {satisfied} of {len(SIGNALS)} signals hold"
        yield _alarm("FM-8", planned, detail, (), is_open=not seen.state.finished)


def _alarm(
    mode: FailureMode, onset: int, detail: str, evidence: Sequence[str], is_open: bool
) -> AlarmReading:
    return AlarmReading(
        id=mode,
        verdict="ALARM",
        is_open=is_open,
        e_value=None,
        p_anytime=None,
        onset_round=onset,
        detail=detail,
        evidence=list(evidence),
    )


ADVICE: Final[dict[int, Advice]] = {6: "strong_stop", 5: "wrap_up", 4: "borderline"}
"""Signals satisfied → advice; fewer say `continue`."""


class UnknownProfile(ValueError):
    """Profile that is not installed."""


def signals(book: Book, profile: str, at: int | None = None) -> SignalReport:
    """Return the stop checks of `book` as they read after event `at` (a seq; None: after the last event)."""
    # The folded state of the whole run exists already; only an earlier point needs a second fold.
    if at is None or at >= book.state.seq:
        return signals_of_state(book.state, profile, book.blobs)
    prefix = fold(event for event in book.events if event.seq <= at)
    return signals_of_state(prefix, profile, book.blobs)


def signals_of_state(
    state: State,
    profile: str,
    blobs: Blobs | None = None,
    *,
    run: str = "",
    parameters: GateParameters | None = None,
) -> SignalReport:
    """Return the same from a folded state alone; `parameters` replace the run's own in the profile `gates`.

    `run` is the name that the report carries; a state does not know where it was read from.
    """
    if profile not in PROFILES:
        raise UnknownProfile(f"no profile {profile!r}: gates or published")
    seen, rule = observe(state), published_parameters()
    readings = [read(seen, rule) for read in SIGNALS]
    satisfied = sum(signal.satisfied for signal in readings)
    if profile == "gates":
        judged = judge(state, parameters or parameters_of(state, blobs))
    else:
        stops = satisfied >= rule.stop["satisfied_at_least"]
        advice = ADVICE.get(satisfied, "continue")
        judged = StopJudgement(stops, stops, advice, [], list(published_alarms(seen, satisfied)))
    verdict: StopVerdict = "stop" if judged.ready else "wait" if judged.stop else "go_on"
    # A finished run cannot go on or wait, whatever its gates say.
    if state.finished and not judged.ready:
        verdict = "ended"
    return SignalReport(
        run=run,
        profile=profile,
        at=state.seq,
        round=state.round,
        verdict=verdict,
        headline="",
        waits_for=[question.id for question in deciding_questions(state)] if verdict == "wait" else [],
        satisfied=satisfied,
        of=len(readings),
        quorum=StepQuorum(declared=state.quorum.declared, actual=state.quorum.actual),
        signals=readings,
        **msgspec.structs.asdict(judged),
    )
