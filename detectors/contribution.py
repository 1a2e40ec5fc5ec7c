"""Contribution of a role, and how far it can be measured: stress rounds are leave-one-out, and few (SD-75 … SD-77).

The drop in a stress round is compared with the two rounds before and after it in which no role was absent, by a
conditional binomial test: of the claims of all these rounds, how many would fall into the stress rounds if they were
like the others? The power of what was observed is given beside it. INSUFFICIENT is the default: one stress round per
role cannot show that it carries anything, and an unchanged round does not prove that it does not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final, Literal

from detectors.observations import deliberating_roles, deliberation_rounds
from ledger.events import Claim, Event, Rating
from ledger.events.ids import kind_of, parse_reference
from ledger.result import Result
from ledger.state.lifecycle import TESTED
from ledger.state.state import State

Verdict = Literal["INSUFFICIENT", "CARRIES", "NO_DROP"]
LEVEL: Final = 0.05
POWER_ENOUGH: Final = 0.8
SHARES: Final = (0.25, 0.4, 0.6)
"""Shares of the output that a role might carry, for which the power is reported."""
AROUND: Final = 2
CLAIMS_MAX: Final = 400


class Power(Result, frozen=True):
    """The chance that this many stress rounds would show a role that carries this share of the claims."""

    share: float
    power: float


class Contribution(Result, frozen=True):
    """A role's part in a run.

    `unique_claims`: raised by it and sighted by no other role. `changes_caused`: status changes by checks that cite
    its artifacts. `claims_absent` fell into its stress rounds, `claims_around` into the `rounds_around` normal
    rounds beside them; `p_value` is that of so few or fewer, null without a stress round.
    """

    role: str
    claims: int
    unique_claims: int
    changes_caused: int
    stress_rounds: list[int]
    claims_absent: int
    rounds_around: int
    claims_around: int
    p_value: float | None
    power: list[Power]
    verdict: Verdict
    detail: str


def sighted_by_others(events: Iterable[Event]) -> frozenset[str]:
    """Return claims that another role saw, too (`sightings`, or a rating of scale sighting)."""
    raised: dict[str, str] = {}
    sighted: set[str] = set()
    for event in events:
        if isinstance(event, Claim):
            raised[event.id] = event.raised_by
            if any(sighting.role != event.raised_by for sighting in event.sightings):
                sighted.add(event.id)
        elif isinstance(event, Rating) and event.scale == "sighting" and raised.get(event.of) != event.by:
            sighted.add(event.of)
    return frozenset(sighted)


def contributions(state: State, shared: frozenset[str] = frozenset()) -> list[Contribution]:
    """Return every deliberating role's contribution; `shared` are claims that another role saw, too."""
    raised = Counter(claim.round for claim in state.claims.values())
    return [_contribution(state, role, raised, shared) for role in deliberating_roles(state)]


def _contribution(state: State, role: str, raised: Counter[int], shared: frozenset[str]) -> Contribution:
    own = [identity for identity, claim in state.claims.items() if claim.raised_by == role]
    absent, around = _compared(state, role)
    fewer, beside = sum(raised[n] for n in absent), sum(raised[n] for n in around)
    p_value = drop(fewer, len(absent), beside, len(around)) if absent and around else None
    powers = _powers(len(absent), len(around), beside)
    verdict, detail = _verdict(role, absent, p_value, powers)
    return Contribution(
        role=role,
        claims=len(own),
        unique_claims=sum(identity not in shared for identity in own),
        changes_caused=_caused(state, role),
        stress_rounds=absent,
        claims_absent=fewer,
        rounds_around=len(around),
        claims_around=beside,
        p_value=None if p_value is None else round(p_value, 4),
        power=powers,
        verdict=verdict,
        detail=detail,
    )


def _compared(state: State, role: str) -> tuple[list[int], list[int]]:
    """Return the role's stress rounds, and the normal rounds beside them."""
    held = [tally.round for tally in deliberation_rounds(state) if tally.round in state.rounds]
    normal = [number for number in held if state.rounds[number].absent is None]
    absent = [number for number in held if state.rounds[number].absent == role]
    beside: set[int] = set()
    for number in absent:
        # Only neighbors are compared: claims per round may fall over a run, and distant rounds would look like
        # a drop.
        beside.update([n for n in normal if n < number][-AROUND:])
        beside.update([n for n in normal if n > number][:AROUND])
    return absent, sorted(beside)


def _caused(state: State, role: str) -> int:
    """Count status changes by checks whose evidence is in an artifact of the role (moot's own, or an import's path)."""
    # An import cites files, and moot's own runs cite artifact ids; `_is_of` recognizes both.
    citing = {
        identity
        for identity, check in state.checks.items()
        if check.repeats is None and any(_is_of(parse_reference(ref).id, role) for ref in check.refs)
    }
    return sum(
        move.by in citing and move.to in TESTED for claim in state.claims.values() for move in claim.moves
    )


def _is_of(target: str, role: str) -> bool:
    is_artifact = kind_of(target) == "artifact" or target.startswith("artifacts/")
    return is_artifact and target.endswith((f"/{role}.md", f"-{role}"))


def drop(inside: int, inside_rounds: int, beside: int, beside_rounds: int) -> float:
    """Return P(this few or fewer claims in the stress rounds | their sum), if all rounds were alike."""
    share = inside_rounds / (inside_rounds + beside_rounds)
    return binomial_at_most(inside, inside + beside, share)


def binomial_at_most(count: int, trials: int, share: float) -> float:
    """Return P(X ≤ count) of a binomial."""
    # `fsum` adds without rounding drift, and the cap removes the last bit above 1.
    chances = (
        math.comb(trials, k) * share**k * (1 - share) ** (trials - k) for k in range(min(count, trials) + 1)
    )
    return min(1.0, math.fsum(chances))


def _powers(stress_rounds: int, rounds_around: int, claims_around: int) -> list[Power]:
    # Without claims around the stress rounds there is no rate, and a power of such a test would be a guess.
    if not stress_rounds or not rounds_around or not claims_around:
        return []
    rate = claims_around / rounds_around
    return [
        Power(share=share, power=round(power(share, stress_rounds, rounds_around, rate), 2))
        for share in SHARES
    ]


@cache
def power(share: float, stress_rounds: int, rounds_around: int, claims_per_round: float) -> float:
    """Return the chance that the test, at 5% one-sided, detects a role that carries `share` of the claims."""
    less = _poisson(claims_per_round * (1 - share) * stress_rounds)
    usual = _poisson(claims_per_round * rounds_around)
    chance, limit = 0.0, -1
    for beside, likely in enumerate(usual):
        # Tail terms this small change nothing in two printed digits, and each would cost a search for its
        # limit.
        if likely < 1e-9:
            continue
        # The greatest count in the stress rounds that the test calls a drop only grows with what is beside them.
        while drop(limit + 1, stress_rounds, beside, rounds_around) <= LEVEL:
            limit += 1
        chance += likely * math.fsum(less[: limit + 1])
    return min(1.0, chance)


def _poisson(mean: float) -> list[float]:
    if mean <= 0:
        return [1.0]
    # Ten standard deviations hold the whole mass. The cap bounds the work on a ledger with absurd counts.
    top = min(CLAIMS_MAX, int(mean + 10 * math.sqrt(mean) + 10))
    # In logarithms, because the factorial overflows a float from 171 on.
    return [math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(top + 1)]


def _verdict(
    role: str, absent: Sequence[int], p_value: float | None, powers: Sequence[Power]
) -> tuple[Verdict, str]:
    if p_value is None:
        return "INSUFFICIENT", f"{role} was never absent, so nothing shows what it carries"
    where = ", ".join(f"R{number}" for number in absent)
    if p_value <= LEVEL:
        return (
            "CARRIES",
            f"without {role} ({where}) claims fell more than chance explains (p = {p_value:.3f})",
        )
    odds = ", ".join(f"{entry.power:.0%} if it carried {entry.share:.0%}" for entry in powers)
    # "No drop" is said only if even the smallest share would probably have shown.
    if powers and powers[0].power >= POWER_ENOUGH:
        return "NO_DROP", f"without {role} ({where}) claims did not fall; a drop would have shown: {odds}"
    seen = f"a drop would have shown with a chance of {odds}" if odds else "there is nothing to compare with"
    return "INSUFFICIENT", f"{where} without {role}: no clear drop (p = {p_value:.3f}), and {seen}"
