"""Twelve readings of one quantity from a sensor that now and then repeats itself or jumps."""

from random import Random
from statistics import fmean, median

N = 12
TRUE = 20.0


def readings(rng):
    """Twelve readings; the quantity is TRUE."""
    found = []
    last = None
    for _ in range(N):
        draw = rng.random()
        if last is not None and draw < 0.2:
            value = last  # the sensor says the same again
        elif draw < 0.28:
            value = TRUE + rng.uniform(-4.0, 4.0)  # a jump
        else:
            value = TRUE + rng.choice((-1, 1)) * (1.0 + rng.gauss(0.0, 0.2))  # it sits on either side
        found.append(value)
        last = value
    return found


def mean(values):
    """The plain mean."""
    return fmean(values)


def middle(values):
    """The median."""
    return median(values)


def trimmed(values, cut=2):
    """The mean without the two lowest and the two highest."""
    return fmean(sorted(values)[cut:-cut])


def midhinge(values):
    """The mean of the 3rd and the 10th of the twelve."""
    ordered = sorted(values)
    return (ordered[2] + ordered[-3]) / 2


def squared_error(estimator, rounds=60_000, seed=8):
    """Mean squared error over many rounds of twelve readings."""
    rng = Random(seed)
    return fmean((estimator(readings(rng)) - TRUE) ** 2 for _ in range(rounds))
