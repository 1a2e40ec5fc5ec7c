"""A claim's standing by the strength of its arguments, beside its status: a small graph that anybody can recompute.

Every verification that tested the claim is an argument. It weighs 2q − 1, q being 0.8 with two references to a
numbered place and 0.6 with fewer. Its bearing on the claim says for or against (SD-45); an import that states none
has it from the result, ROBUST for and BROKEN against. UNCLEAR adds nothing. A later verification that names it and
came out otherwise attacks it in turn, and so does a second judgement of the same check (`repeats`) that differs.

    F(S) = 1 − ∏(1 − w)                         b = ½
    strength = b − b·(F(att) − F(sup))          if F(att) ≥ F(sup)
             = b + (1 − b)·(F(sup) − F(att))    otherwise

That is DF-QuAD, F over strengths and not over weights: what an attacker amounts to depends on who attacks it, to the
end of the chain. From 0.7 on a claim is confirmed, to 0.3 refuted, between them contested. Beside it the grounded label
(Dung) and a probability: the log-odds of the q of those arguments that are IN. The status stays what the last verdict
made it.

Both follow from one antitone map, so both are found as fixpoints over the whole graph, by closing in from two sides:

    grounded   an argument is IN when all its attackers are OUT, OUT when one of them is IN, else UNDEC
    DF-QuAD    strength = base − base · F(strengths of its attackers)

Without a cycle either has one solution, reached from the unattacked arguments onwards. On a cycle grounded labels are
the least fixpoint, as published. The recursion of DF-QuAD is published for graphs without cycles only; here bounds
start at 0 and at the base and are put through the map until they stand still. Where they meet that is the one
solution. Where they do not the graph leaves the strength open, and the middle of the bounds is taken: the counterpart
of UNDEC.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from detectors.calibrated.rounds import line_level
from detectors.observations import is_import
from ledger.events.ids import parse_reference
from ledger.result import Result
from ledger.state.state import CheckFacts, State

Grounded = Literal["IN", "OUT", "UNDEC"]
Attacks = Mapping[str, Collection[str]]
"""Argument → those that attack it; every attacker is a key too."""

STILL: Final = 1e-12
"""Bounds that move by less have arrived."""
PASSES_ON_CYCLES: Final = 500


def aggregate(strengths: Collection[float]) -> float:
    """F: how much several arguments for one thing amount to, 0 to 1."""
    return 1 - math.prod(1 - strength for strength in strengths)


def df_quad(base: float, attacks: Collection[float], supports: Collection[float]) -> float:
    """The strength of something with this base under these attacks and supports."""
    against, support = aggregate(attacks), aggregate(supports)
    if against >= support:
        return base - base * (against - support)
    return base + (1 - base) * (support - against)


def grounded(attacks: Attacks) -> dict[str, Grounded]:
    """Every argument's label in the grounded extension."""
    attacked: dict[str, list[str]] = {}
    for argument, attackers in attacks.items():
        for attacker in set(attackers):
            attacked.setdefault(attacker, []).append(argument)
    unanswered = {argument: len(set(attackers)) for argument, attackers in attacks.items()}
    labels: dict[str, Grounded] = {}
    free = [argument for argument, count in unanswered.items() if not count]
    while free:
        argument = free.pop()
        labels[argument] = "IN"
        for beaten in attacked.get(argument, ()):
            if beaten in labels:
                continue
            labels[beaten] = "OUT"
            for defended in attacked.get(beaten, ()):
                unanswered[defended] -= 1
                if not unanswered[defended] and defended not in labels:
                    free.append(defended)
    return {argument: labels.get(argument, "UNDEC") for argument in attacks}


def label_under(attackers: Collection[Grounded]) -> Grounded:
    """The label of something that only these attack and that attacks none of them."""
    if "IN" in attackers:
        return "OUT"
    return "UNDEC" if "UNDEC" in attackers else "IN"


def strengths(bases: Mapping[str, float], attacks: Attacks) -> dict[str, float]:
    """Every argument's DF-QuAD strength; `bases` and `attacks` have the same keys."""
    low, high = dict.fromkeys(bases, 0.0), dict(bases)
    for _ in range(len(bases) + PASSES_ON_CYCLES):
        weaker, stronger = _through(bases, attacks, high), _through(bases, attacks, low)
        moved = max(
            (abs(stronger[one] - high[one]) + abs(weaker[one] - low[one]) for one in bases), default=0
        )
        low, high = weaker, stronger
        if moved < STILL:
            break
    return {argument: (low[argument] + high[argument]) / 2 for argument in bases}


def _through(
    bases: Mapping[str, float], attacks: Attacks, strengths: Mapping[str, float]
) -> dict[str, float]:
    """Every strength under attackers of these strengths: the stronger those, the weaker these."""
    return {
        argument: df_quad(base, [strengths[by] for by in attacks[argument]], ())
        for argument, base in bases.items()
    }


Label = Literal["confirmed", "refuted", "contested", "untested"]
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


class ClaimArgument(Result, frozen=True):
    """A verification as an argument about a claim. `strength` is its weight less what its attackers amount to."""

    by: str
    side: Side
    weight: float
    strength: float
    attacked_by: list[str]


class ClaimStanding(Result, frozen=True):
    """Where a claim stands by its arguments; `strength` and `probability` are 0.5 while there are none."""

    label: Label
    strength: float
    grounded: Grounded
    probability: float
    arguments: list[ClaimArgument]


class OptionStanding(Result, frozen=True):
    """The claims about an option, counted by label; `strength` is the mean of those that were tested."""

    option: str
    confirmed: int
    refuted: int
    contested: int
    untested: int
    strength: float | None


class _Graph(NamedTuple):
    """Every verification as an argument: who attacks it, its strength and its label under all attacks there are."""

    attackers: dict[str, tuple[str, ...]]
    strength: dict[str, float]
    label: dict[str, Grounded]


def standings(state: State) -> dict[str, ClaimStanding]:
    """Every claim's standing."""
    about, graph = _tests(state), _graph(state)
    return {claim: _standing(state, claim, about.get(claim, ()), graph) for claim in state.claims}


def by_option(
    options: Sequence[str], about: Sequence[tuple[Sequence[str], ClaimStanding]]
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


def _graph(state: State) -> _Graph:
    """The graph of all verifications: a later one that names another and came out otherwise attacks it."""
    found: dict[str, list[str]] = {identity: [] for identity in state.checks}
    for identity, check in state.checks.items():
        named = {parse_reference(ref).id for ref in check.refs} | {check.repeats or ""}
        for other in sorted(named & state.checks.keys()):
            earlier = state.checks[other]
            decided = {earlier.result, check.result} == {"ROBUST", "BROKEN"}
            if decided and earlier.seq <= check.seq and other != identity:
                found[other].append(identity)
    attackers = {identity: tuple(by) for identity, by in found.items()}
    weights = {identity: _weight(check) for identity, check in state.checks.items()}
    return _Graph(attackers, strengths(weights, attackers), grounded(attackers))


def _standing(state: State, claim: str, tests: Sequence[str], graph: _Graph) -> ClaimStanding:
    arguments = [
        argument for identity in tests if (argument := _argument(state, claim, identity, graph)) is not None
    ]
    strength = round(
        df_quad(
            BASE,
            [graph.strength[one.by] for one in arguments if one.side == "attacks"],
            [graph.strength[one.by] for one in arguments if one.side == "supports"],
        ),
        4,
    )
    attacks: list[Grounded] = [graph.label[one.by] for one in arguments if one.side == "attacks"]
    return ClaimStanding(
        label=_label(strength) if arguments else "untested",
        strength=strength,
        grounded=label_under(attacks) if arguments else "UNDEC",
        probability=_probability([one for one in arguments if graph.label[one.by] == "IN"]),
        arguments=arguments,
    )


def _argument(state: State, claim: str, identity: str, graph: _Graph) -> ClaimArgument | None:
    check = state.checks[identity]
    bearing = next((move.bearing for move in state.claims[claim].moves if move.by == identity), None)
    side = _SIDES.get(bearing or (check.result if is_import(state) else ""))
    if side is None:
        return None
    return ClaimArgument(
        by=identity,
        side=side,
        weight=round(_weight(check), 4),
        strength=round(graph.strength[identity], 4),
        attacked_by=list(graph.attackers[identity]),
    )


def _weight(check: CheckFacts) -> float:
    deep = sum(line_level(ref) for ref in check.refs) >= DEEP_REFERENCES
    return 2 * (DEEP_QUALITY if deep else SHALLOW_QUALITY) - 1


def _label(strength: float) -> Label:
    if strength >= CONFIRMED_FROM:
        return "confirmed"
    return "refuted" if strength <= REFUTED_TO else "contested"


def _probability(arguments: Sequence[ClaimArgument]) -> float:
    """Log-odds of the qualities of arguments that hold."""
    odds = 0.0
    for one in arguments:
        quality = (one.weight + 1) / 2
        odds += math.log(quality / (1 - quality)) * (1 if one.side == "supports" else -1)
    return round(1 / (1 + math.exp(-odds)), 4)
