"""Scripted worlds in which the right answer is known: facts decide, seats see them through noise that they share.

A world has options, facts that are true or not, and weights by which true facts speak for options; right is the option
with most weight. A seat has log-odds for every fact: a signal, noise that all seats share (they are one model), and
noise of its own. Its belief is how often each option would be right under its facts. Seats can be disturbed: a stubborn
one never changes its belief; a persuasive wrong one is convinced of a wrong option, more or less, and pulls the others
towards it when they answer again.

The run is the protocol's, through the pure functions alone: answers, redraw, cruxes by value, conditionals, results,
derived beliefs, beliefs of the surprised, the stop. Nobody waits: what would be handed over ends the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from random import Random
from typing import Final, NamedTuple

from detectors.beliefs.agenda import AskedCrux
from detectors.beliefs.course import BeliefRound, RoundEnd, round_end
from detectors.beliefs.parameters import CruxTerms, FrameCheck, crux_parameters
from detectors.beliefs.pool import Points, by_largest_remainder, leader_of, mean_of
from detectors.beliefs.stop import short_way
from detectors.beliefs.triage import CruxValue, doubter_of, holder_of, to_test
from detectors.beliefs.update import CruxResult, Predicted, Verdict, derived, surprised
from detectors.beliefs.values import Conditional, evsi, mean_conditional, moves_of
from ledger.events.values import HowTested

ROLES: Final = ("action", "guardian", "observer", "critic")
PARAMETERS: Final = crux_parameters()
SIGNAL: Final = 0.6
"""Log-odds that a seat would have for a true fact without noise."""
SHARED: Final = 0.9
"""Standard deviation of the noise that all seats share, in log-odds."""
NOISE: Final[Mapping[str, float]] = {"little": 0.3, "some": 0.7, "much": 1.2}
"""Standard deviation of a seat's own noise, in log-odds."""
DISTURBED: Final = ("nobody", "stubborn", "persuasive")
CONVICTION: Final = (0.5, 0.95)
"""How much of a persuasive wrong seat's belief lies on its option, drawn evenly from this range."""
PULL: Final = 0.25
"""How far the others follow it when they answer again."""
REPRODUCED: Final = 0.95
CLOSE: Final = 3
"""Replies of the close: memo, objection, check."""
WORST_ROUND: Final = 4 + 4 + 1 + 4
"""Replies of a round of tests at most: plans, conditionals, check, beliefs of the surprised."""
TRUST: Final = PARAMETERS.qualities["reproduced"]


class Circumstances(NamedTuple):
    """What can be found out: the share of cruxes that can be run, how often a run and an argument are right."""

    name: str
    runnable: float
    run_is_right: float = REPRODUCED
    argument_is_right: float = 0.65


CIRCUMSTANCES: Final = (
    Circumstances("all cruxes can be run", 1.0),
    Circumstances("half can be run, arguments right in 65 %", 0.5),
    Circumstances("none can be run, arguments right in 65 %", 0.0, argument_is_right=0.65),
    Circumstances("none can be run, arguments right in 60 %", 0.0, argument_is_right=0.60),
    Circumstances("none can be run, arguments right in 55 %", 0.0, argument_is_right=0.55),
    Circumstances("all can be run, a test trusted at .95 is right in 80 %", 1.0, run_is_right=0.80),
)


class Played(NamedTuple):
    """What a world came to: right by the mean of first answers, by the rule, by testing everything; replies, reason."""

    noise: str
    disturbed: str
    mean: bool
    rule: bool
    everything: bool
    replies: int
    rounds: int
    reason: str


@dataclass
class Seat:
    """A role's mind: log-odds of every fact, and its latest belief."""

    role: str
    odds: list[float]
    belief: Points
    stubborn: bool = False
    drawn_to: int | None = None
    drawn: float = 0.0
    """How much of its belief lies on an option whatever the facts are: its own conviction, or another's persuasion."""


@dataclass
class World:
    """One scripted world, everything in it from its seed."""

    seed: int
    circumstances: Circumstances
    random: Random = field(init=False)

    def __post_init__(self) -> None:
        self.random = random = Random(f"world {self.seed}")
        options, facts = random.randint(2, 4), random.randint(3, 5)
        self.base = [random.gauss(0, 0.6) for _ in range(options)]
        self.weights = [[random.gauss(0, 1) for _ in range(options)] for _ in range(facts)]
        self.truth = [random.random() < 0.5 for _ in range(facts)]
        self.right = self.best(self.truth)
        self.noise = random.choice(list(NOISE))
        self.disturbed = random.choice(DISTURBED)
        shared = [random.gauss(0, SHARED) for _ in range(facts)]
        self.seats = [self._seat(role, shared) for role in ROLES]
        self._disturb()
        draws = Random(f"results {self.seed}")
        self.hows: list[HowTested] = []
        self.luck = [(draws.random(), draws.random()) for _ in range(facts)]
        for _ in range(facts):
            not_run: HowTested = (
                "document" if self.circumstances.runnable else "execution"
            )  # no documents, no sandbox
            self.hows.append("execution" if draws.random() < self.circumstances.runnable else not_run)

    def best(self, facts: Sequence[bool]) -> int:
        """The option with most weight under these facts."""
        scores = [
            base + sum(weight[option] for weight, true in zip(self.weights, facts, strict=True) if true)
            for option, base in enumerate(self.base)
        ]
        return scores.index(max(scores))

    def chances(self, odds: Sequence[float]) -> list[float]:
        """How often each option would be right, if facts were as likely as these log-odds say."""
        found = [0.0] * len(self.base)
        likely = [1 / (1 + math.exp(-one)) for one in odds]
        for facts in product((True, False), repeat=len(odds)):
            chance = math.prod(q if true else 1 - q for q, true in zip(likely, facts, strict=True))
            found[self.best(facts)] += chance
        return found

    def points(self, chances: Sequence[float]) -> Points:
        """Whole points over the options and `none`, as a seat would say them: never nothing, two for none."""
        raw = [Fraction(round(1000 * chance) + 10) for chance in chances]
        return tuple(Fraction(one) for one in (*by_largest_remainder(raw, 98), 2))

    def _seat(self, role: str, shared: Sequence[float]) -> Seat:
        odds = [
            (SIGNAL if true else -SIGNAL) + common + self.random.gauss(0, NOISE[self.noise])
            for true, common in zip(self.truth, shared, strict=True)
        ]
        return Seat(role, odds, self.points(self.chances(odds)))

    def _disturb(self) -> None:
        one = self.random.choice(self.seats)
        if self.disturbed == "stubborn":
            one.stubborn = True
        elif self.disturbed == "persuasive":
            wrong = self.random.choice([option for option in range(len(self.base)) if option != self.right])
            one.drawn_to, one.drawn = wrong, self.random.uniform(*CONVICTION)
            one.belief = self.belief(one)
            for other in self.seats:
                if other is not one:
                    other.drawn_to, other.drawn = wrong, PULL

    def belief(self, seat: Seat) -> Points:
        """What a seat believes by its facts and by what it is drawn to."""
        rational = self.chances(seat.odds)
        return self.points(
            [(1 - seat.drawn) * one + seat.drawn * (at == seat.drawn_to) for at, one in enumerate(rational)]
        )

    # ------------------------------------------------------------ what seats say

    def conditional(self, seat: Seat, fact: int) -> Conditional:
        """q, T and F of a seat, made to agree with its latest belief; a stubborn one sees no effect."""
        q = min(99, max(1, round(100 / (1 + math.exp(-seat.odds[fact])))))
        if seat.stubborn:
            return Conditional(Fraction(q), seat.belief, seat.belief)
        sure = [self.chances([*seat.odds[:fact], odds, *seat.odds[fact + 1 :]]) for odds in (30.0, -30.0)]
        own = 1 - (seat.drawn if seat.drawn > PULL else 0)
        effect = [100 * own * (t - f) for t, f in zip(*sure, strict=True)] + [0.0]
        if_true = [float(p) + (100 - q) / 100 * one for p, one in zip(seat.belief, effect, strict=True)]
        if_false = [float(p) - q / 100 * one for p, one in zip(seat.belief, effect, strict=True)]
        return Conditional(Fraction(q), _whole(if_true), _whole(if_false))

    def again(self, seat: Seat) -> Points:
        """What a seat answers when it is asked for a belief of its own after results."""
        if seat.stubborn:
            return seat.belief
        return self.belief(seat)

    def redraw(self, seat: Seat) -> Points:
        """A second first answer: other noise of the seat's own."""
        extra = NOISE[self.noise] / 2
        return self.points(self.chances([one + self.random.gauss(0, extra) for one in seat.odds]))

    # ------------------------------------------------------------ what is found out

    def result(self, fact: int, *, run: bool) -> bool:
        """Whether the verdict says that the fact is true; the luck of a fact does not change between tries."""
        ran, argued = self.luck[fact]
        right = (
            ran < self.circumstances.run_is_right if run else argued < self.circumstances.argument_is_right
        )
        return self.truth[fact] == right

    def learn(self, fact: int, holds: bool, quality: Fraction) -> None:
        """Every seat that learns moves its log-odds as the quality says."""
        step = math.log(quality / (1 - quality)) * (1 if holds else -1)
        for seat in self.seats:
            seat.odds[fact] += step


def _whole(points: Sequence[float]) -> Points:
    return tuple(Fraction(one) for one in by_largest_remainder([Fraction(max(0.0, one)) for one in points]))


def everything_tested(world: World) -> bool:
    """Whether the mean of the seats is right once every fact was run."""
    for fact in range(len(world.truth)):
        world.learn(fact, world.result(fact, run=True), TRUST)
    beliefs = [seat.belief if seat.stubborn else world.belief(seat) for seat in world.seats]
    return leader_of(mean_of(beliefs)) == world.right


class Proposals(NamedTuple):
    """Cruxes of round 1: the facts on the agenda, and their proposers' numbers."""

    facts: list[int]
    given: dict[int, dict[str, Conditional]]


def proposals(world: World, asked: Sequence[Seat]) -> Proposals:
    """Up to three of each seat, with an effect of 10 points or more; the five worth most come to the agenda."""
    given: dict[int, dict[str, Conditional]] = {}
    for seat in asked:
        own = {fact: world.conditional(seat, fact) for fact in range(len(world.truth))}
        admitted = [fact for fact in own if moves_of(own[fact]).points >= PARAMETERS.crux.effect_at_least]
        admitted.sort(key=lambda fact: -evsi(own[fact], TRUST))
        for fact in admitted[: PARAMETERS.crux.proposals_at_most]:
            given.setdefault(fact, {})[seat.role] = own[fact]
    facts = sorted(given, key=lambda fact: (-evsi(mean_conditional(given[fact].values()), TRUST), fact))
    return Proposals(facts[: PARAMETERS.crux.agenda_at_most], given)


class Ended(NamedTuple):
    """Where a run came to: the leader, the replies it took, its rounds of tests, and why it stopped."""

    leader: int
    replies: int
    rounds: int
    reason: str


def play(
    seed: int, circumstances: Circumstances, noticed: Callable[[RoundEnd], None] | None = None
) -> Played:
    """One world through the protocol; `noticed` sees the end of every round."""
    world = World(seed, circumstances)
    mean = leader_of(mean_of(seat.belief for seat in world.seats)) == world.right
    terms = CruxTerms(
        tau=PARAMETERS.tau(),
        experiments=circumstances.runnable > 0,
        parameters=PARAMETERS,
        documents=False,
        frame=FrameCheck(ill_posed=False, objection=False),
    )
    ended = _run(world, terms, noticed)
    everything = everything_tested(World(seed, circumstances))
    right = ended.leader == world.right
    return Played(
        world.noise, world.disturbed, mean, right, everything, ended.replies, ended.rounds, ended.reason
    )


def _run(world: World, terms: CruxTerms, noticed: Callable[[RoundEnd], None] | None) -> Ended:
    first = world.seats[world.seed % len(world.seats)]
    if _is_short_after(first, world, terms):
        return Ended(leader_of(first.belief), 4, 0, "short")  # frame, answer, memo, check
    found = proposals(world, world.seats)
    answers = BeliefRound(
        own={seat.role: seat.belief for seat in world.seats},
        cruxes=[_proposed(world, fact, found) for fact in found.given],
        redraw=(first.role, world.redraw(first)),
        asked=len(world.seats),
    )
    end = round_end(None, answers, terms)
    replies = 1 + 4 + 1  # frame, answers, redraw
    if _reason(end) != "short":
        replies += 1  # agenda
        on_agenda = [_proposed(world, fact, found) for fact in found.facts]
        end = round_end(None, answers._replace(cruxes=on_agenda), terms)
    while end.stop is not None and end.stop.go_on:
        if noticed is not None:
            noticed(end)
        end, asked = _test_round(world, end, terms, replies)
        replies += asked
    if noticed is not None:
        noticed(end)
    return Ended(end.leader or 0, replies + CLOSE, end.number - 1, _reason(end))


def _reason(end: RoundEnd) -> str:
    return end.stop.reason if end.stop else "nobody"


def _is_short_after(first: Seat, world: World, terms: CruxTerms) -> bool:
    alone = proposals(world, [first])
    return short_way(
        {first.role: first.belief},
        1,
        [one for given in alone.given.values() for one in given.values()],
        terms.frame,
        at_least=PARAMETERS.short.first_from,
        tau=terms.tau,
        parameters=PARAMETERS,
    )


def _proposed(world: World, fact: int, found: Proposals) -> AskedCrux:
    return AskedCrux(f"C-1-{fact}", world.hows[fact], found.given[fact], {})


def _fact(claim: str) -> int:
    return int(claim.rpartition("-")[2])


def _test_round(world: World, before: RoundEnd, terms: CruxTerms, replies: int) -> tuple[RoundEnd, int]:
    """One round of tests, and the replies that it took: plans, conditionals, check, beliefs of the surprised."""
    chosen = to_test(before.values, PARAMETERS)
    planners = {role for one in chosen for role in _planners(before, one, terms)}
    cruxes = [_tested(world, one, terms) for one in chosen]
    argued = any(crux.evidence == "argued" for crux in cruxes)
    own = _answers_of_the_surprised(world, cruxes, before)
    taken = len(planners) + len(world.seats) + argued + len(own)
    no_room = replies + taken + WORST_ROUND + CLOSE + 1 > PARAMETERS.stop.replies_at_most
    end = round_end(before, BeliefRound(own=own, cruxes=cruxes, no_room=no_room), terms)
    for seat in world.seats:
        seat.belief = end.roles[seat.role]
    return end, taken


def _tested(world: World, one: CruxValue, terms: CruxTerms) -> AskedCrux:
    """A crux with everybody's numbers and its verdict: by a run, by argument where that is worth it, or none."""
    fact = _fact(one.claim)
    given = {seat.role: world.conditional(seat, fact) for seat in world.seats}
    predicts: dict[str, Predicted] = {
        role: "holds" if view.q >= 50 else "fails" for role, view in given.items()
    }
    run = terms.experiments and one.how == "execution"
    if not run and one.here < terms.tau:
        return AskedCrux(one.claim, one.how, given, predicts)
    result: CruxResult = "holds" if world.result(fact, run=run) else "fails"
    return AskedCrux(one.claim, one.how, given, predicts, result, "reproduced" if run else "argued")


def _planners(before: RoundEnd, one: CruxValue, terms: CruxTerms) -> set[str]:
    given = before.agenda[one.claim].given
    q = {role: view.q for role, view in given.items()}
    moves = moves_of(mean_conditional(given.values()))
    doubter = doubter_of(q, before.roles, moves, set(q) if before.number == 1 else (), ROLES)
    runs_here = terms.experiments and one.how == "execution"
    holder = None if runs_here or one.here < terms.tau else holder_of(q, doubter, ROLES)
    return {doubter} | ({holder} if holder else set())


def _answers_of_the_surprised(
    world: World, cruxes: Sequence[AskedCrux], before: RoundEnd
) -> dict[str, Points]:
    results = {crux.claim: crux.result for crux in cruxes if crux.result is not None}
    counted = [
        (crux, PARAMETERS.qualities[crux.evidence])
        for crux in cruxes
        if crux.held is not None
        and crux.evidence is not None
        and not (crux.evidence == "argued" and before.agenda[crux.claim].argued)
    ]
    moved = {
        seat.role: derived(
            seat.belief,
            [Verdict(crux.given[seat.role], bool(crux.held), quality) for crux, quality in counted],
        )
        for seat in world.seats
    }
    for crux, quality in counted:
        world.learn(_fact(crux.claim), bool(crux.held), quality)
    return {
        seat.role: world.again(seat)
        for seat in world.seats
        if results
        and surprised(
            seat.belief,
            moved[seat.role],
            {crux.claim: crux.predicts[seat.role] for crux in cruxes},
            results,
            PARAMETERS,
        )
    }
