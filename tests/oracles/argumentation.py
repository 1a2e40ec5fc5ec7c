"""What an attack graph means, slowly: the grounded extension by its definition, DF-QuAD by its published recursion.

`attacks` maps every argument to its attackers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

Attacks = Mapping[str, Collection[str]]


def grounded_extension(attacks: Attacks) -> set[str]:
    """The least fixpoint of the characteristic function: what a set defends is put in until nothing is new."""
    accepted: set[str] = set()
    while True:
        defended = {
            argument
            for argument, attackers in attacks.items()
            if all(any(defender in accepted for defender in attacks[attacker]) for attacker in attackers)
        }
        if defended == accepted:
            return accepted
        accepted = defended


def label(argument: str, attacks: Attacks) -> str:
    """IN the grounded extension, OUT when it attacks the argument, else UNDEC."""
    extension = grounded_extension(attacks)
    if argument in extension:
        return "IN"
    return "OUT" if any(attacker in extension for attacker in attacks[argument]) else "UNDEC"


def strength(argument: str, bases: Mapping[str, float], attacks: Attacks) -> float:
    """The published recursion, for a graph without cycles: v0 − v0 · |0 − va|, va folded one attacker at a time."""
    amounts = 0.0
    for attacker in attacks[argument]:
        one = strength(attacker, bases, attacks)
        amounts = amounts + one - amounts * one
    return bases[argument] - bases[argument] * abs(0.0 - amounts)
