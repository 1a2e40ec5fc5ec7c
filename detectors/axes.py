"""The retrospective's axes, as far as the ledger carries them: a value, or why there is none. No overall score, ever.

A  is what was claimed grounded?     A1 groundedness  A2 cross-validation density  A3 verdict confidence
B  did it keep on finding things?    B1 slope of disagreement  B2 discovery  B3 quality  B4 drift
C  did the roles matter?             C1 leads  C2 stress signatures  C3 shared tensions  C4 compactness  C5 resolution

Where a published formula does not hold up its correction is named beside the value (SD-87 … SD-98). An axis that
wants a judgement which nobody recorded is refused, not guessed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from statistics import fmean
from typing import Final

from detectors.disagreement import exact_slope
from detectors.observations import Observations, Tally, observe
from ledger.events.ids import round_of
from ledger.result import Result
from ledger.state.decided import deliberated
from ledger.state.state import State

GROUNDED: Final = ("tested_confirmed", "tested_refuted", "partially_refuted")
HITS_AT_LEAST: Final = 3
RISING: Final = 0.2
EXPLAINED: Final = 0.3
KEPT: Final = 0.8
WINDOW: Final = 3


class Axis(Result, frozen=True):
    """One axis. `value` is null when it is refused, and `note` says why; `low` and `high` are a range instead."""

    id: str
    name: str
    value: float | None
    low: float | None
    high: float | None
    flags: list[str]
    correction: str | None
    note: str


class Axes(Result, frozen=True):
    """All axes, and what stands over them: `incomplete` says what the record lacks (SD-98), null when nothing."""

    axes: list[Axis]
    groups: dict[str, float]
    incomplete: str | None


def axes(state: State, signatures: Sequence[tuple[int, int, int]] = ()) -> Axes:
    """The axes of a run. `signatures` holds, for every stress round, its number, predicted effects seen, and all."""
    seen = observe(state)
    found = [measure(seen) for measure in _MEASURES]
    found.insert(8, _stress(signatures))
    return Axes(axes=found, groups=_groups(found), incomplete=_incomplete(seen))


def _axis(
    identity: str,
    name: str,
    value: float | Fraction | None,
    note: str,
    *,
    flags: Sequence[str] = (),
    correction: str | None = None,
    between: tuple[float, float] | None = None,
) -> Axis:
    low, high = between or (None, None)
    shown = None if value is None else round(float(value), 4)
    return Axis(
        id=identity,
        name=name,
        value=shown,
        low=low,
        high=high,
        flags=list(flags),
        correction=correction,
        note=note,
    )


def _groundedness(seen: Observations) -> Axis:
    claims = list(seen.state.claims.values())
    if len(claims) < HITS_AT_LEAST:
        return _axis("A1", "Claim groundedness", None, f"refused: {len(claims)} claims are too few")
    settled = sum(claim.status in GROUNDED for claim in claims)
    flags = ["below one half"] if settled < len(claims) / 2 else []
    note = f"{settled} of {len(claims)} claims were settled by a test; unclear ones are not"
    return _axis("A1", "Claim groundedness", settled / len(claims), note, flags=flags)


def _density(seen: Observations) -> Axis:
    made, rounds, roles = _made(seen), len(seen.rounds), len(seen.roles)
    if not rounds or roles < 2:
        return _axis("A2", "Cross-validation density", None, "refused: no round was cross-validated")
    raw = made / rounds
    note = f"{made} checks in {rounds} rounds: {raw:.2f} a round, over {roles - 1} other roles"
    correction = "capped at 1: four checks of four roles give 1.33 by the published formula"
    return _axis("A2", "Cross-validation density", min(1.0, raw / (roles - 1)), note, correction=correction)


def _confidence(seen: Observations) -> Axis:
    made = [check for check in seen.state.checks.values() if _is_made(check.result, check.repeats)]
    if len(made) < HITS_AT_LEAST:
        return _axis("A3", "Verdict confidence", None, f"refused: {len(made)} checks are too few")
    deep = sum(len(check.refs) >= 2 for check in made)
    correction = "checks that did not apply are left out; the published formula counts them against it"
    note = f"{deep} of {len(made)} verdicts name two references or more"
    return _axis("A3", "Verdict confidence", deep / len(made), note, correction=correction)


def _slope(seen: Observations) -> Axis:
    points = [(tally.round, tally.disagreement) for tally in seen.calm]
    if len(points) < HITS_AT_LEAST:
        return _axis("B1", "Slope of disagreement", None, f"refused: {len(points)} normal rounds are too few")
    slope, explained = float(exact_slope(points)), _explained(points)
    reading = "against agreeing" if slope >= RISING else "a risk" if slope <= -RISING else "stable"
    flags = [f"R² {explained:.2f}: the line explains little"] if explained < EXPLAINED else []
    return _axis(
        "B1", "Slope of disagreement", slope, f"BROKEN and UNCLEAR a normal round: {reading}", flags=flags
    )


def _discovery(seen: Observations) -> Axis:
    calm = seen.calm
    if len(calm) < WINDOW:
        return _axis("B2", "Discovery", None, f"refused: {len(calm)} normal rounds are too few")
    start = max(0, (len(calm) - WINDOW) // 2)
    window = calm[start : start + WINDOW]
    note = f"new tensions and BROKEN a round, R{window[0].round} to R{window[-1].round}"
    return _axis("B2", "Discovery", fmean(_found(seen, tally) for tally in window), note)


def _quality(seen: Observations) -> Axis:
    del seen
    return _axis(
        "B3", "Quality of what was found", None, "refused: it wants a person's rating of each finding"
    )


def _drift(seen: Observations) -> Axis:
    checks = list(seen.state.drift.values())
    if not checks:
        return _axis("B4", "Serving the goals", None, "refused: drift was never checked")
    failed = [check.deviation_score for check in checks if check.verdict == "FAIL"]
    passed = sum(check.verdict == "PASS" for check in checks) / len(checks)
    value = passed * (1 - fmean(failed) / 5) if failed else passed
    note = ", ".join(f"R{number} {check.verdict}" for number, check in sorted(seen.state.drift.items()))
    return _axis("B4", "Serving the goals", value, note)


def _leads(seen: Observations) -> Axis:
    led = Counter(
        opened.lead for opened in seen.settled if opened.absent is None and opened.lead in seen.roles
    )
    total = sum(led.values())
    if total < HITS_AT_LEAST or len(seen.roles) < 2:
        return _axis("C1", "Spread of the lead", None, f"refused: {total} led rounds are too few")
    shares = [count / total for count in led.values()]
    entropy = -math.fsum(share * math.log2(share) for share in shares) / math.log2(len(seen.roles))
    flags = [f"{role} led {led[role]} of {total}" for role in seen.roles if led[role] > total / 2]
    if "critic" in seen.roles and led["critic"] / total < 0.5 / len(seen.roles):
        flags.append("adversarial underlead: the critic hardly led")
    note = ", ".join(f"{role} {led[role]}" for role in seen.roles)
    return _axis("C1", "Spread of the lead", entropy, f"normal rounds led: {note}", flags=flags)


def _stress(signatures: Sequence[tuple[int, int, int]]) -> Axis:
    """5 where everything predicted was seen, 1 where nothing was, between them a range: nobody judged by how much."""
    rows = [(number, seen, expected) for number, seen, expected in signatures if expected]
    if not rows:
        return _axis("C2", "Stress signatures", None, "refused: no stress round with a prediction was held")
    note = ", ".join(f"R{number} {seen} of {expected} effects" for number, seen, expected in rows)
    scores = [(5.0, 5.0) if s == e else (1.0, 1.0) if not s else (2.0, 4.0) for _, s, e in rows]
    low, high = fmean(low for low, _ in scores), fmean(high for _, high in scores)
    if low == high:
        return _axis("C2", "Stress signatures", low, f"of 5; {note}")
    between = (round(low, 4), round(high, 4))
    return _axis("C2", "Stress signatures", None, f"of 5, a range: {note}", between=between)


def _shared(seen: Observations) -> Axis:
    tensions = [one for one in seen.state.concerns.values() if one.type == "tension"]
    if len(tensions) < HITS_AT_LEAST:
        return _axis(
            "C3", "Tensions that need two roles", None, f"refused: {len(tensions)} tensions are too few"
        )
    shared = sum(len(set(one.between)) >= 2 for one in tensions)
    correction = "each tension is counted once; the published formula may count one twice"
    note = f"{shared} of {len(tensions)} tensions stand between two roles or more"
    return _axis("C3", "Tensions that need two roles", shared / len(tensions), note, correction=correction)


def _compactness(seen: Observations) -> Axis:
    del seen
    return _axis(
        "C4", "Compactness", None, "refused: it is normalised by calibration cases, and there are none"
    )


def _resolution(seen: Observations) -> Axis:
    claims = len(seen.state.claims)
    if not claims:
        return _axis("C5", "Resolution", None, "refused: no claim was raised")
    open_ones = [
        identity
        for identity, one in seen.state.concerns.items()
        if one.type == "tension" and identity not in seen.state.resolved
    ]
    note = f"{claims} claims beside {len(open_ones)} unresolved tensions"
    return _axis("C5", "Resolution", claims / (claims + len(open_ones)), note)


_MEASURES: Final[tuple[Callable[[Observations], Axis], ...]] = (
    _groundedness,
    _density,
    _confidence,
    _slope,
    _discovery,
    _quality,
    _drift,
    _leads,
    _shared,
    _compactness,
    _resolution,
)


def _groups(found: Sequence[Axis]) -> dict[str, float]:
    """The mean of a group, where every axis of it has a value between 0 and 1: A alone can have that (SD-97)."""
    grounded = [axis.value for axis in found if axis.id.startswith("A")]
    values = [value for value in grounded if value is not None]
    return {"A": round(fmean(values), 4)} if len(values) == len(grounded) else {}


def _incomplete(seen: Observations) -> str | None:
    """What the record lacks for these numbers to mean much (SD-98)."""
    rounds = len(seen.rounds)
    lacking: list[str] = []
    if not rounds:
        return "no round was cross-validated"
    decisions = len(deliberated(seen.state))
    if decisions < KEPT * rounds:
        lacking.append(f"{decisions} decisions in {rounds} rounds")
    if sum(opened.lead is not None for opened in seen.settled) < KEPT * rounds:
        lacking.append("leads were not recorded")
    if not any((round_of(identity) or 0) > 1 for identity in seen.state.concerns):
        lacking.append("no tension beyond round 1")
    return "; ".join(lacking) or None


def _made(seen: Observations) -> int:
    return sum(
        _is_made(check.result, check.repeats) for check in seen.state.checks.values() if check.phase != "S"
    )


def _is_made(result: str, repeats: str | None) -> bool:
    return result != "NOT_APPLICABLE" and repeats is None


def _found(seen: Observations, tally: Tally) -> int:
    resolved = seen.state.resolved
    open_tensions = sum(
        one.type == "tension" and one.round == tally.round and identity not in resolved
        for identity, one in seen.state.concerns.items()
    )
    return open_tensions + tally.broken


def _explained(points: Sequence[tuple[int, int]]) -> float:
    """R² of the least-squares line; 0 where nothing varies."""
    mean_x, mean_y = fmean(x for x, _ in points), fmean(y for _, y in points)
    total = math.fsum((y - mean_y) ** 2 for _, y in points)
    spread = math.fsum((x - mean_x) ** 2 for x, _ in points)
    slope = float(exact_slope(points))
    return slope * slope * spread / total if total else 0.0
