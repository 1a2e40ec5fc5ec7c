"""A ledger of payments and refunds as doubles, and four orders in which to add them up."""

from fractions import Fraction
from random import Random


def amounts(seed=5, count=40_000):
    """Payments between a cent and many millions, most of them refunded in part or in full later."""
    rng = Random(seed)
    found = []
    for _ in range(count):
        amount = round(10 ** rng.uniform(-2, 9), 2)
        found.append(amount)
        if rng.random() < 0.7:
            refund = amount if rng.random() < 0.8 else round(amount * rng.random(), 2)
            found.insert(rng.randint(max(0, len(found) - 2_000), len(found)), -refund)
    return found


def as_they_come(values):
    """One after the other."""
    total = 0.0
    for value in values:
        total += value
    return total


def small_first(values):
    """By absolute amount, smallest first."""
    return as_they_come(sorted(values, key=abs))


def large_first(values):
    """By absolute amount, largest first."""
    return as_they_come(sorted(values, key=abs, reverse=True))


def by_sign(values):
    """All payments smallest first, all refunds smallest first, then the difference."""
    paid = as_they_come(sorted(value for value in values if value > 0))
    back = as_they_come(sorted(-value for value in values if value < 0))
    return paid - back


def pairwise(values):
    """Halves added up apart, down to eight values."""
    if len(values) <= 8:
        return as_they_come(values)
    half = len(values) // 2
    return pairwise(values[:half]) + pairwise(values[half:])


def error(total, values):
    """How far a total is from the exact sum of the doubles."""
    return abs(float(Fraction(total) - sum(map(Fraction, values))))
