"""Arguments that attack arguments: grounded labels (Dung) and DF-QuAD strengths, as fixpoints over the whole graph.

Both follow from one antitone map, so both are found by closing in from two sides:

    grounded   an argument is IN when all its attackers are OUT, OUT when one of them is IN, else UNDEC
    DF-QuAD    strength = base − base · F(strengths of its attackers),   F(S) = 1 − ∏(1 − s)

Without a cycle either has one solution, reached from the unattacked arguments onwards. On a cycle grounded labels are
the least fixpoint, as published. The recursion of DF-QuAD is published for graphs without cycles only; here bounds
start at 0 and at the base and are put through the map until they stand still. Where they meet that is the one
solution. Where they do not the graph leaves the strength open, and the middle of the bounds is taken: the counterpart
of UNDEC.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Final, Literal

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
