"""Four gates on what a run has: every option examined, the answer settled, nothing blocked, readiness within reach.

*examined*: each living option has claims about it alone that a check or an experiment tested; an option lives until a
decision about others cites a verdict that broke it. *settled*: what every role would answer now, sealed once a round,
keeps its leader and hardly moves, by the measure of how far two answers of one role are apart. *blocked*: a decision
rests on an open claim that nothing here can settle by reading. *reachable*: the plan still has what the gates need.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from detectors.beliefs.pool import ByRole, leader_of, mean_of, movement_of, noise_of
from detectors.beliefs.pool import Points as Belief
from detectors.calibrated.parameters import ExaminedTerms, SettledTerms
from detectors.calibrated.rounds import RoundUnits
from detectors.observations import parts
from detectors.report import GateReading
from ledger.events.run import PlanRow
from ledger.events.values import Points
from ledger.state.decided import in_force
from ledger.state.lifecycle import TESTED
from ledger.state.state import ANSWERS, NEITHER, POSITIONS, STANDS, BeliefFacts, ClaimFacts, State

CRITIC: Final = "critic"
SYNTHESIS: Final = "S"
NOT_ASKED: Final = "not asked in this run"
ONLY_OUTSIDE: Final = frozenset({"execution", "person"})
"""How a claim is decided that no reading settles."""
OPEN: Final = frozenset({"pending", "tested_unclear"})
SHOWN: Final = 3


# ---------------------------------------------------------------- examined


def examined(state: State, rule: ExaminedTerms) -> GateReading:
    """Whether each option that is still in the race was tested."""
    needed = rule.tests_at_least
    limit = f"≥{needed} tested claims about each option alone, or dropped by a verdict"
    if not state.options:
        tested = sum(_is_tested(claim, closing=False) for claim in state.claims.values())
        return GateReading(
            "examined", tested >= needed, f"{tested} claims tested", f"≥{needed} tested claims"
        )
    counts, gone = counted_alone(state), dropped(state)
    told = (
        f"{option} dropped" if option in gone else f"{option} {count}" for option, count in counts.items()
    )
    ok = all(count >= needed or option in gone for option, count in counts.items())
    return GateReading("examined", ok, ", ".join(told), limit)


def unexamined(state: State, rule: ExaminedTerms) -> tuple[str, ...]:
    """Options that are in the race and were hardly tested, in order."""
    gone = dropped(state)
    return tuple(
        option
        for option, count in counted_alone(state).items()
        if count < rule.tests_at_least and option not in gone
    )


def counted_alone(state: State, *, closing: bool = False) -> dict[str, int]:
    """Option → tested claims that are about it and no other; `closing` counts those that only the closing settled."""
    counts = {option.id: 0 for option in state.options}
    for claim in state.claims.values():
        if len(claim.about) == 1 and claim.about[0] in counts and _is_tested(claim, closing=closing):
            counts[claim.about[0]] += 1
    return counts


def _is_tested(claim: ClaimFacts, *, closing: bool) -> bool:
    return any(move.to in TESTED and (closing or move.place.phase != SYNTHESIS) for move in claim.moves)


def dropped(state: State) -> frozenset[str]:
    """Options that a check broke, cited by a decision in force that is about others."""
    broken = {
        identity: check.about[0]
        for identity, check in state.checks.items()
        if check.result == "BROKEN" and len(check.about) == 1 and check.phase != SYNTHESIS
    }
    standing = (state.decisions[identity] for identity in in_force(state))
    return frozenset(
        broken[cite.id]
        for decision in standing
        for cite in decision.cites
        if cite.id in broken and decision.about and broken[cite.id] not in decision.about
    )


# ---------------------------------------------------------------- settled


class Course(NamedTuple):
    """The sealed answers by round, and what became of them from round to round."""

    leaders: tuple[str, ...]
    """Of each round that asked, in order."""
    moved: tuple[Fraction | None, ...]
    """Points by which roles moved since the round before; None where none answered both."""
    noise: Fraction | None
    """How far two answers of one role are apart, the mean of all that were asked twice."""
    lost: tuple[Fraction | None, ...] = ()
    """Points by which the leader of the round before is lower, in the mean of the roles that answered both."""

    def steps(self, rule: SettledTerms) -> tuple[Fraction | None, ...]:
        """What counts as a step from one round to the next: what the leader lost, or all that moved."""
        return self.lost if rule.against_leader else self.moved

    def unchanged(self, rule: SettledTerms) -> int:
        """How many rounds running, up to the last, kept the leader and hardly moved, or hardly lowered it."""
        allowed = max(Fraction(rule.points_at_most), self.noise or Fraction())
        course = self.steps(rule)
        count = 0
        for place in range(len(self.leaders) - 1, 0, -1):
            moved = course[place]
            if moved is None or moved > allowed or self.leaders[place] != self.leaders[place - 1]:
                break
            count += 1
        return count


def settled(state: State, through: int, rule: SettledTerms, *, as_recorded: bool = False) -> GateReading:
    """Whether what the roles would answer now still changes, after round `through`; a look records every round that it
    did not, where people are told of no more than are asked for."""
    what = "the same leader, which loses" if rule.against_leader else "the same leader and"
    limit = f"{what} ≤{rule.points_at_most} points or the noise, {rule.rounds_unchanged} rounds running"
    if not state.beliefs and not is_asked(state):
        return GateReading("settled", False, NOT_ASKED, limit)
    course = course_of(state, through)
    if not course.leaders:
        return GateReading("settled", False, "no round has answered yet", limit)
    still = course.unchanged(rule)
    loud = course.noise is not None and course.noise > rule.noise_at_most
    rounds = still if as_recorded else min(still, rule.rounds_unchanged)
    told = [f"{course.leaders[-1]} leads, unchanged for {rounds} of {rule.rounds_unchanged} rounds"]
    told += [f"moved {float(moved):.1f}" for moved in course.moved[-1:] if moved is not None]
    if rule.against_leader:
        told += [f"leader lost {float(lost):.1f}" for lost in course.lost[-1:] if lost is not None]
    told += [f"noise {float(course.noise):.1f}" for _ in [0] if course.noise is not None]
    told += [f"above {rule.noise_at_most}: the answers say nothing"] if loud else []
    return GateReading("settled", still >= rule.rounds_unchanged and not loud, ", ".join(told), limit)


def is_asked(state: State) -> bool:
    """Whether the run asks every role, once a round, what it would answer now."""
    return state.opened is not None and state.opened.rules.get(POSITIONS) == ANSWERS


class LastAnswers(NamedTuple):
    """What every role that was there answered in the last round that asked."""

    round: int
    keys: tuple[str, ...]
    """The options in order, `none` last."""
    by_role: ByRole
    noise: Fraction | None


def last_answers(state: State) -> LastAnswers | None:
    """The sealed answers as they stand; None where nobody has answered."""
    given = [facts for facts in state.beliefs.values() if not facts.derived and not facts.is_redraw]
    if not given:
        return None
    last, keys = max(facts.round for facts in given), _keys(state)
    said = {facts.role: _points(facts.points, keys) for facts in given if facts.round == last}
    order = [member.role for member in state.opening.cast]
    by_role = {role: said[role] for role in sorted(said, key=order.index)}
    return LastAnswers(last, keys, by_role, course_of(state, last).noise)


def _keys(state: State) -> tuple[str, ...]:
    return (*(option.id for option in state.options), NEITHER) if state.options else (STANDS, NEITHER)


def course_of(state: State, through: int) -> Course:
    """The sealed answers of the rounds up to `through`."""
    keys = _keys(state)
    by_round: dict[int, dict[str, Belief]] = {}
    again: list[BeliefFacts] = []
    for facts in state.beliefs.values():
        if facts.round > through or facts.derived:
            continue
        if facts.is_redraw:
            again.append(facts)
        else:
            by_round.setdefault(facts.round, {})[facts.role] = _points(facts.points, keys)
    rounds = [by_round[number] for number in sorted(by_round)]
    noises = [
        noise_of(by_round[one.round][one.role], _points(one.points, keys))
        for one in again
        if one.role in by_round.get(one.round, {})
    ]
    return Course(
        leaders=tuple(keys[leader_of(mean_of(own.values()))] for own in rounds),
        lost=(None, *(_lost(before, after) for before, after in _pairs(rounds)))[: len(rounds)],
        moved=(None, *(movement_of(before, after) for before, after in _pairs(rounds)))[: len(rounds)],
        noise=sum(noises, Fraction()) / len(noises) if noises else None,
    )


def _lost(before: ByRole, after: ByRole) -> Fraction | None:
    """Points that the leader of `before` has lost, in the mean of the roles that answered both; 0 where it gained."""
    both = [role for role in before if role in after]
    if not both:
        return None
    leader = leader_of(mean_of(before.values()))
    lost = sum((before[role][leader] - after[role][leader] for role in both), Fraction()) / len(both)
    return max(Fraction(), lost)


def _pairs(rounds: Sequence[ByRole]) -> Iterator[tuple[ByRole, ByRole]]:
    return itertools.pairwise(rounds)


def _points(points: Points, keys: Sequence[str]) -> Belief:
    return tuple(Fraction(points.get(key, 0)) for key in keys)


# ---------------------------------------------------------------- blocked


def blocked(state: State) -> GateReading:
    """Whether a decision in force rests on what only a run or a person can decide."""
    found = blocks(state)
    told = "; ".join(found[:SHOWN]) + (f"; and {len(found) - SHOWN} more" if len(found) > SHOWN else "")
    return GateReading(
        "blocked", not found, told or "nothing", "nothing that only a run or a person can decide"
    )


def blocks(state: State) -> list[str]:
    """What stands in the way, in words: open claims under decisions; where claims do not say how they are decided,
    decisions that wait for a run (by text)."""
    standing = {identity: state.decisions[identity] for identity in in_force(state)}
    cited: Mapping[str, ClaimFacts] = {
        cite.id: state.claims[cite.id]
        for decision in standing.values()
        for cite in decision.cites
        if cite.id in state.claims
    }
    if any(claim.how is not None for claim in state.claims.values()):
        return [
            f"{identity} is open and only {'a person' if claim.how == 'person' else 'a run'} can decide it"
            for identity, claim in sorted(cited.items(), key=lambda pair: pair[1].seq)
            if claim.how in ONLY_OUTSIDE and claim.status in OPEN
        ]
    return [f"{identity} asks for a run" for identity, facts in standing.items() if facts.asks_for_run]


# ---------------------------------------------------------------- reachable


def reachable(
    state: State, rounds: Sequence[RoundUnits], rule: SettledTerms, *, others_hold: bool = False
) -> GateReading:
    """Whether the plan still has what readiness needs; `others_hold` where nothing is left to be reached."""
    lacking = [] if others_hold else list(lacks(state, rounds, rule))
    return GateReading(
        "reachable", not lacking, "; ".join(lacking) or "yes", "the plan can still become ready"
    )


def lacks(state: State, rounds: Sequence[RoundUnits], rule: SettledTerms) -> Iterator[str]:
    """What the rest of the plan cannot bring any more, each in a clause."""
    if state.opened is None or state.opened.origin.type == "import":
        yield "the run was made by another system"
        return
    left, now = rounds_left(state, len(rounds)), _still_open(state, len(rounds))
    if not left and rounds and "G" not in now:
        yield "no round is left"
    if not is_asked(state):
        yield "nobody is asked what the answer would be now (rule positions=beliefs)"
    else:
        course = course_of(state, len(rounds))
        needed = rule.rounds_unchanged - course.unchanged(rule) + (0 if course.leaders else 1)
        if needed > len(left) and (left or not rounds):
            yield f"settled needs {needed} more rounds and {len(left)} {'is' if len(left) == 1 else 'are'} left"
    if not (_stressed(state, rounds) or any(row.absent == CRITIC for row in left)):
        yield "no round is planned without the critic"
    if not (passes_drift(state) or any(row.drift for row in left) or "H" in now):
        yield "no drift check is planned"
    last = max((row.round for row in state.opened.plan if "G" in row.phases), default=0)
    if state.opened.stop.not_before > last:
        yield f"a stop is obeyed from R{state.opened.stop.not_before} on, and the last round is R{last}"


def rounds_left(state: State, held: int) -> list[PlanRow]:
    """Rows of the plan that deliberate after round `held`, as far as the budget of rounds allows."""
    limit = state.limits.rounds
    rows = state.opening.plan if limit is None else state.opening.plan[:limit]
    return [row for row in rows if "G" in row.phases and row.round > held]


def _still_open(state: State, held: int) -> tuple[str, ...]:
    """Phases of round `held` that nobody has answered yet, while it is the present one."""
    if state.round != held or held not in state.rounds:
        return ()
    rows, at = state.opening.plan, state.rounds[held].plan_row
    phases = rows[at].phases if at < len(rows) else ()
    done = (*state.answered, *state.given_up)
    return tuple(phase for phase in phases if not any(one.startswith(f"r{held}.{phase}.") for one in done))


def _stressed(state: State, rounds: Sequence[RoundUnits]) -> bool:
    part_of = parts(state)
    return any(part_of.get(each.absent or "") == CRITIC for each in rounds)


def passes_drift(state: State) -> bool:
    """Whether the last drift check passed; one that names a neglected goal did not, whatever it calls itself."""
    if not state.drift:
        return False
    last = state.drift[max(state.drift)]
    return last.verdict != "FAIL" and not last.neglected
