"""Simulated worlds: facts decide which option is right, and seats see the facts through noise that they share.

A world has options, facts that are true or false, and weights by which true facts speak for options. The right option
is the one with most weight. A seat has log-odds for every fact: a signal, noise that all seats share (they are one
model), and noise of its own. Its forecast is how often each option would be right under its facts. One seat may be
disturbed: a stubborn seat never changes its forecast. A persuasive seat is convinced of a wrong option, more or less.
In release 0.1, which asked roles again, it pulled the others toward it.

Everything in a world follows from its seed, so that two rules can be compared on the same worlds. Draws that were
added later have generators of their own: the worlds of release 0.1 come out the same as then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Final, Literal, NamedTuple

Verdict = Literal["holds", "fails", "inconclusive"]

ROLES: Final = ("action", "guardian", "observer", "critic")
NOISE: Final = {"little": 0.3, "some": 0.7, "much": 1.2}
"""Standard deviation of a seat's own noise, in log-odds."""
DISTURBED: Final = ("nobody", "stubborn", "persuasive")
CONVICTION: Final = (0.5, 0.95)
"""How much of a persuasive seat's forecast lies on its option, drawn evenly from this range."""
POINTS_ON_NONE: Final = 2


class Circumstances(NamedTuple):
    """Parameters that vary between rows of the table. Shares and probabilities are from 0 to 1."""

    name: str
    runnable: float
    """Share of the cruxes that a program can decide here. The others cannot be tested; release 0.1 argued them."""
    run_is_right: float = 0.95
    argument_is_right: float = 0.65
    """How often an argument of release 0.1 was right."""
    run_is_inconclusive: float = 0.0
    retry_is_new: bool = True
    """Whether another program on an inconclusive fact, which only release 0.1 asked for, had new luck."""
    argument_is_unclear: float = 0.0
    """How often an argument of release 0.1 settled nothing."""
    disturbed: str | None = None
    """Who is disturbed in every world. None: nobody, a stubborn or a persuasive seat, each in a third."""
    pull: float = 0.25
    """How far the others follow a persuasive seat when they answer again, which only release 0.1 asked for."""
    signal: float = 0.6
    """Log-odds that a seat without noise would have for a true fact."""
    shared: float = 0.9
    """Standard deviation of the noise that all seats share, in log-odds."""
    own: float = 1.0
    """Factor on a seat's own noise."""


CIRCUMSTANCES: Final = (
    Circumstances("all cruxes can be run", 1.0),
    Circumstances("half can be run, arguments right in 65 %", 0.5),
    Circumstances("none can be run, arguments right in 65 %", 0.0, argument_is_right=0.65),
    Circumstances("none can be run, arguments right in 60 %", 0.0, argument_is_right=0.60),
    Circumstances("none can be run, arguments right in 55 %", 0.0, argument_is_right=0.55),
    Circumstances("tests right in 80 %", 1.0, run_is_right=0.80),
    Circumstances("tests right in 65 %", 1.0, run_is_right=0.65),
    Circumstances("40 % of programs inconclusive, each try anew", 1.0, run_is_inconclusive=0.4),
    Circumstances(
        "40 % of programs inconclusive, every try alike", 1.0, run_is_inconclusive=0.4, retry_is_new=False
    ),
    Circumstances("none can be run, arguments unclear in 9 of 10", 0.0, argument_is_unclear=0.9),
    Circumstances("half can be run, arguments unclear in 9 of 10", 0.5, argument_is_unclear=0.9),
    Circumstances("one persuasive seat, pull .25", 1.0, disturbed="persuasive", pull=0.25),
    Circumstances("one persuasive seat, pull .5", 1.0, disturbed="persuasive", pull=0.5),
    Circumstances("one persuasive seat, pull .25, none can be run", 0.0, disturbed="persuasive", pull=0.25),
    Circumstances("one persuasive seat, pull .5, none can be run", 0.0, disturbed="persuasive", pull=0.5),
    Circumstances("correlated seats", 1.0, shared=1.5, own=1 / 3),
    Circumstances("good seats", 1.0, signal=1.8, shared=0.6),
    Circumstances("good seats, none can be run", 0.0, signal=1.8, shared=0.6),
)


class Numbers(NamedTuple):
    """A seat's numbers about a crux: points that it is true, and its forecast if it is true and if it is false."""

    probability: int
    if_true: tuple[int, ...]
    if_false: tuple[int, ...]

    @property
    def effect(self) -> int:
        """Return the largest difference that the crux makes to an option, in points."""
        return max(abs(true - false) for true, false in zip(self.if_true, self.if_false, strict=True))


@dataclass
class Seat:
    """A role's mind: log-odds of every fact, and its latest forecast."""

    role: str
    odds: list[float]
    forecast: tuple[int, ...]
    stubborn: bool = False
    drawn_to: int | None = None
    drawn: float = 0.0
    """How much of its forecast lies on an option whatever the facts are."""


@dataclass
class World:
    """One simulated world, everything in it from its seed."""

    seed: int
    circumstances: Circumstances
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        # The order of these draws is a contract: the stored results of release 0.1 belong to it.
        self.random = random = Random(f"world {self.seed}")
        options, facts = random.randint(2, 4), random.randint(3, 5)
        self.base = [random.gauss(0, 0.6) for _ in range(options)]
        self.weights = [[random.gauss(0, 1) for _ in range(options)] for _ in range(facts)]
        self.truth = [random.random() < 0.5 for _ in range(facts)]
        self._winners = [self._winner(case) for case in product((True, False), repeat=facts)]
        self.right = self._winner(self.truth)
        self.noise = random.choice(list(NOISE))
        drawn = random.choice(DISTURBED)
        self.disturbed = self.circumstances.disturbed or drawn
        shared = [random.gauss(0, self.circumstances.shared) for _ in range(facts)]
        self.seats = [self._seat(role, shared) for role in ROLES]
        self._disturb()
        draws = Random(f"results {self.seed}")
        luck = [draws.random() for _ in range(2 * facts)]
        self._luck = luck[::2]  # the others belong to arguments of release 0.1
        self.runnable = [draws.random() < self.circumstances.runnable for _ in range(facts)]
        self._programs = Random(f"programs {self.seed}")
        self._unclear = [[self._programs.random() for _ in range(2)] for _ in range(facts)]
        for _ in range(2 * facts):
            self._programs.random()  # whether an argument of release 0.1 is unclear
        self._second = [(self._programs.random(), self._programs.random()) for _ in range(facts)]

    @property
    def facts(self) -> range:
        """Return the indices of the facts."""
        return range(len(self.truth))

    def _winner(self, case: Sequence[bool]) -> int:
        """Return the option with most weight if the facts were so."""
        scores = [
            base + sum(weight[option] for weight, true in zip(self.weights, case, strict=True) if true)
            for option, base in enumerate(self.base)
        ]
        return scores.index(max(scores))

    def chances(self, odds: Sequence[float]) -> list[float]:
        """Return how often each option would be right if the facts were as likely as these log-odds say."""
        weights = [1.0]
        for value in odds:
            likely = 1 / (1 + math.exp(-value))
            weights = [weight * share for weight in weights for share in (likely, 1 - likely)]
        totals = [0.0] * len(self.base)
        for winner, weight in zip(self._winners, weights, strict=True):
            totals[winner] += weight
        return totals

    def _seat(self, role: str, shared: Sequence[float]) -> Seat:
        own = NOISE[self.noise] * self.circumstances.own
        odds = [
            (self.circumstances.signal if true else -self.circumstances.signal)
            + common
            + self.random.gauss(0, own)
            for true, common in zip(self.truth, shared, strict=True)
        ]
        return Seat(role, odds, _points(self.chances(odds)))

    def _disturb(self) -> None:
        seat = self.random.choice(self.seats)
        if self.disturbed == "stubborn":
            seat.stubborn = True
        elif self.disturbed == "persuasive":
            wrong = self.random.choice([option for option in range(len(self.base)) if option != self.right])
            seat.drawn_to, seat.drawn = wrong, self.random.uniform(*CONVICTION)
            seat.forecast = self.forecast(seat)

    # ------------------------------------------------------------ what seats answer

    def forecast(self, seat: Seat) -> tuple[int, ...]:
        """Return a seat's forecast by its facts and by what it is drawn to."""
        return _points(
            [
                (1 - seat.drawn) * chance + seat.drawn * (option == seat.drawn_to)
                for option, chance in enumerate(self.chances(seat.odds))
            ]
        )

    def numbers(self, seat: Seat, fact: int) -> Numbers:
        """Return a seat's numbers about a fact, coherent with its forecast; a stubborn seat sees no effect."""
        probability = min(99, max(1, round(100 / (1 + math.exp(-seat.odds[fact])))))
        if seat.stubborn:
            return Numbers(probability, seat.forecast, seat.forecast)
        true, false = (
            self.chances([*seat.odds[:fact], certain, *seat.odds[fact + 1 :]]) for certain in (30.0, -30.0)
        )
        moved = 1 - seat.drawn
        effect = [100 * moved * (t - f) for t, f in zip(true, false, strict=True)] + [0.0]
        pairs = list(zip(seat.forecast, effect, strict=True))
        return Numbers(
            probability,
            _whole([float(p) + (100 - probability) / 100 * change for p, change in pairs]),
            _whole([float(p) - probability / 100 * change for p, change in pairs]),
        )

    # ------------------------------------------------------------ what tests say

    def program(self, fact: int) -> Verdict:
        """Return the verdict of the first program."""
        if self._unclear[fact][0] < self.circumstances.run_is_inconclusive:
            return "inconclusive"
        return self._verdict(fact, self._luck[fact] < self.circumstances.run_is_right)

    def second_program(self, fact: int, repeats: float) -> Verdict:
        """Return the verdict of a program that another role wrote after a conclusive first one.

        `repeats` is the share of the first program's errors that the second one makes again. In all other cases the
        second program has luck of its own.
        """
        same, luck = self._second[fact]
        first_is_right = self._luck[fact] < self.circumstances.run_is_right
        if not first_is_right and same < repeats:
            return self._verdict(fact, False)
        if self._unclear[fact][1] < self.circumstances.run_is_inconclusive:
            return "inconclusive"
        return self._verdict(fact, luck < self.circumstances.run_is_right)

    def _verdict(self, fact: int, is_right: bool) -> Verdict:
        return "holds" if self.truth[fact] == is_right else "fails"


def leader(forecasts: Sequence[Sequence[int]]) -> int:
    """Return the option with the highest mean forecast, ties in option order."""
    totals = [sum(column) for column in zip(*forecasts, strict=True)]
    return totals.index(max(totals))


def _points(chances: Sequence[float]) -> tuple[int, ...]:
    """Return whole points over the options and `none`: never 0 for an option, always 2 for `none`."""
    raw = [round(1000 * chance) + 10 for chance in chances]
    return (*_largest_remainder(raw, 100 - POINTS_ON_NONE), POINTS_ON_NONE)


def _whole(points: Sequence[float]) -> tuple[int, ...]:
    """Return whole points that sum to 100, exact: floats are read as the fractions that they are."""
    ratios = [max(0.0, value).as_integer_ratio() for value in points]
    common = max(denominator for _, denominator in ratios)  # powers of two, so the largest is common to all
    return _largest_remainder([top * (common // bottom) for top, bottom in ratios], 100)


def _largest_remainder(weights: Sequence[int], whole: int) -> tuple[int, ...]:
    total = sum(weights)
    shares = [divmod(weight * whole, total) for weight in weights]
    result = [floor for floor, _ in shares]
    by_remainder = sorted(range(len(shares)), key=lambda place: -shares[place][1])
    for place in by_remainder[: whole - sum(result)]:
        result[place] += 1
    return tuple(result)
