"""A tournament of the repeated prisoner's dilemma; moves are now and then heard wrongly."""

from itertools import combinations_with_replacement
from random import Random

PAY = {("C", "C"): (3, 3), ("C", "D"): (0, 5), ("D", "C"): (5, 0), ("D", "D"): (1, 1)}
TURNS = 200
NOISE = 0.04
REPEATS = 12


def tit_for_tat(own, heard, rng):
    """What the other did last."""
    return heard[-1] if heard else "C"


def two_tats(own, heard, rng):
    """Defect after two defections in a row."""
    return "D" if heard[-2:] == ["D", "D"] else "C"


def generous(own, heard, rng):
    """Tit for tat that forgives a third of the time."""
    return "D" if heard and heard[-1] == "D" and rng.random() > 1 / 3 else "C"


def pavlov(own, heard, rng):
    """Stay after a good result, change after a bad one."""
    if not own:
        return "C"
    return own[-1] if heard[-1] == "C" else ("D" if own[-1] == "C" else "C")


def grim(own, heard, rng):
    """Cooperate until the first defection."""
    return "D" if "D" in heard else "C"


def majority(own, heard, rng):
    """What the other did more often, cooperate when equal."""
    return "D" if heard.count("D") * 2 > len(heard) else "C"


def prober(own, heard, rng):
    """D, C, C; then defect for good against who did not answer, else tit for tat."""
    opening = ["D", "C", "C"]
    if len(own) < 3:
        return opening[len(own)]
    return "D" if heard[1:3] == ["C", "C"] else heard[-1]


def sneaky(own, heard, rng):
    """Tit for tat that defects one time in ten."""
    return "D" if rng.random() < 0.1 else tit_for_tat(own, heard, rng)


def always_defect(own, heard, rng):
    """Never cooperate."""
    return "D"


def always_cooperate(own, heard, rng):
    """Always cooperate."""
    return "C"


PLAYERS = (
    tit_for_tat,
    two_tats,
    generous,
    pavlov,
    grim,
    majority,
    prober,
    sneaky,
    always_defect,
    always_cooperate,
)


def match(one, other, rng):
    """Points of both over the turns; each hears the other's move through noise."""
    moves, heard = ([], []), ([], [])
    points = [0, 0]
    for _ in range(TURNS):
        a, b = one(moves[0], heard[0], rng), other(moves[1], heard[1], rng)
        gained = PAY[a, b]
        points[0] += gained[0]
        points[1] += gained[1]
        moves[0].append(a)
        moves[1].append(b)
        for hearer, said in ((0, b), (1, a)):
            wrong = rng.random() < NOISE
            heard[hearer].append(said if not wrong else ("D" if said == "C" else "C"))
    return points


def tournament(seed=1):
    """Player → points over all matches, each pair and each with itself."""
    rng = Random(seed)
    total = {player.__name__: 0 for player in PLAYERS}
    for _ in range(REPEATS):
        for one, other in combinations_with_replacement(PLAYERS, 2):
            first, second = match(one, other, rng)
            total[one.__name__] += first
            if one is not other:
                total[other.__name__] += second
    return total
