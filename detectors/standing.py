"""A claim's standing by the strength of its arguments, beside its status: a small argument graph anybody can recompute.

Every verification that tested the claim is an argument. It weighs 2q − 1, q being 0.8 with two references to a
numbered place and 0.6 with fewer. Its bearing on the claim says for or against (SD-45); an import that states none
has it from the result, ROBUST for and BROKEN against. UNCLEAR adds nothing. A later verification that names it and
came out otherwise attacks it in turn, and so does a second judgement of the same check (`repeats`) that differs.

    F(S) = 1 − ∏(1 − w)                         b = ½
    strength = b − b·(F(att) − F(sup))          if F(att) ≥ F(sup)
             = b + (1 − b)·(F(sup) − F(att))    otherwise

That is DF-QuAD. From 0.7 on a claim is confirmed, to 0.3 refuted, between them contested. Beside it the grounded label
(Dung) and a probability (log-odds of the q). The status stays what the last verdict made it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from detectors.calibrated.rounds import line_level
from detectors.observations import is_import
from ledger.ids import parse_reference
from ledger.result import Result
from ledger.state import CheckFacts, State

Label = Literal["confirmed", "refuted", "contested", "untested"]
Grounded = Literal["IN", "OUT", "UNDEC"]
Side = Literal["supports", "attacks"]

BASE: Final = 0.5
DEEP_QUALITY: Final = 0.8
SHALLOW_QUALITY: Final = 0.6
DEEP_REFERENCES: Final = 2
CONFIRMED_FROM: Final = 0.7
REFUTED_TO: Final = 0.3
_SIDES: Final[dict[str, Side]] = {
    "supports": "supports",
    "contradicts": "attacks",
    "partly_contradicts": "attacks",
    "ROBUST": "supports",
    "BROKEN": "attacks",
}


class Argument(Result, frozen=True):
    """A verification as an argument about a claim. `strength` is its weight less what attacks it."""

    by: str
    side: Side
    weight: float
    strength: float
    attacked_by: list[str]


class Standing(Result, frozen=True):
    """Where a claim stands by its arguments; `strength` and `probability` are 0.5 while there are none."""

    label: Label
    strength: float
    grounded: Grounded
    probability: float
    arguments: list[Argument]


class OptionStanding(Result, frozen=True):
    """The claims about an option, counted by label; `strength` is the mean of those that were tested."""

    option: str
    confirmed: int
    refuted: int
    contested: int
    untested: int
    strength: float | None


def standings(state: State) -> dict[str, Standing]:
    """Every claim's standing."""
    about = _tests(state)
    challengers = _challengers(state)
    return {claim: _standing(state, claim, about.get(claim, ()), challengers) for claim in state.claims}


def by_option(
    options: Sequence[str], about: Sequence[tuple[Sequence[str], Standing]]
) -> list[OptionStanding]:
    """The standings of claims gathered by option; `about` holds (options of a claim, its standing)."""
    rows: list[OptionStanding] = []
    for option in options:
        found = [standing for named, standing in about if option in named]
        tested = [one.strength for one in found if one.label != "untested"]
        counts = {
            label: sum(one.label == label for one in found)
            for label in ("confirmed", "refuted", "contested", "untested")
        }
        mean = round(math.fsum(tested) / len(tested), 4) if tested else None
        rows.append(OptionStanding(option=option, strength=mean, **counts))
    return rows


def aggregate(strengths: Sequence[float]) -> float:
    """F: how much several arguments for one thing amount to, 0 to 1."""
    return 1 - math.prod(1 - strength for strength in strengths)


def df_quad(base: float, attacks: Sequence[float], supports: Sequence[float]) -> float:
    """The strength of something with this base under these attacks and supports."""
    against, support = aggregate(attacks), aggregate(supports)
    if against >= support:
        return base - base * (against - support)
    return base + (1 - base) * (support - against)


def _tests(state: State) -> dict[str, tuple[str, ...]]:
    """Claim → the verifications that tested it, in order; a repeated one is no new test."""
    found: dict[str, list[str]] = {}
    for identity, check in state.checks.items():
        if check.repeats is None and check.result != "NOT_APPLICABLE":
            for claim in check.affected:
                found.setdefault(claim, []).append(identity)
    for claim, facts in state.claims.items():
        for move in facts.moves:
            if move.by in state.checks and move.by not in found.setdefault(claim, []):
                found[claim].append(move.by)
    return {claim: tuple(tests) for claim, tests in found.items()}


def _challengers(state: State) -> dict[str, tuple[str, ...]]:
    """Verification → later ones that name it and came out otherwise."""
    found: dict[str, list[str]] = {}
    for identity, check in state.checks.items():
        named = {parse_reference(ref).id for ref in check.refs} | {check.repeats or ""}
        for other in sorted(named & state.checks.keys()):
            earlier = state.checks[other]
            decided = {earlier.result, check.result} == {"ROBUST", "BROKEN"}
            if decided and earlier.seq <= check.seq and other != identity:
                found.setdefault(other, []).append(identity)
    return {identity: tuple(by) for identity, by in found.items()}


def _standing(
    state: State, claim: str, tests: Sequence[str], challengers: dict[str, tuple[str, ...]]
) -> Standing:
    arguments = [
        argument
        for identity in tests
        if (argument := _argument(state, claim, identity, challengers.get(identity, ()))) is not None
    ]
    attacks = [one.strength for one in arguments if one.side == "attacks"]
    supports = [one.strength for one in arguments if one.side == "supports"]
    strength = round(df_quad(BASE, attacks, supports), 4)
    return Standing(
        label=_label(strength) if arguments else "untested",
        strength=strength,
        grounded=_grounded(arguments),
        probability=_probability(arguments),
        arguments=arguments,
    )


def _argument(state: State, claim: str, identity: str, by: Sequence[str]) -> Argument | None:
    check = state.checks[identity]
    bearing = next((move.bearing for move in state.claims[claim].moves if move.by == identity), None)
    side = _SIDES.get(bearing or (check.result if is_import(state) else ""))
    if side is None:
        return None
    weight = _weight(check)
    strength = df_quad(weight, [_weight(state.checks[other]) for other in by], ())
    return Argument(
        by=identity, side=side, weight=round(weight, 4), strength=round(strength, 4), attacked_by=list(by)
    )


def _weight(check: CheckFacts) -> float:
    deep = sum(line_level(ref) for ref in check.refs) >= DEEP_REFERENCES
    return 2 * (DEEP_QUALITY if deep else SHALLOW_QUALITY) - 1


def _label(strength: float) -> Label:
    if strength >= CONFIRMED_FROM:
        return "confirmed"
    return "refuted" if strength <= REFUTED_TO else "contested"


def _grounded(arguments: Sequence[Argument]) -> Grounded:
    """OUT under an attack that nothing answers, IN when all were answered or none was made, UNDEC untested."""
    if not arguments:
        return "UNDEC"
    standing = [one for one in arguments if one.side == "attacks" and not one.attacked_by]
    return "OUT" if standing else "IN"


def _probability(arguments: Sequence[Argument]) -> float:
    """Log-odds of the qualities, an attacked argument counting for nothing."""
    odds = 0.0
    for one in arguments:
        quality = (one.weight + 1) / 2
        if not one.attacked_by:
            odds += math.log(quality / (1 - quality)) * (1 if one.side == "supports" else -1)
    return round(1 / (1 + math.exp(-odds)), 4)
