"""Readiness of a run: the gates `examined`, `settled` and `unblocked`, and the notice `reachable`.

*examined*: claims that name it were tested by a check or an experiment, for each option still in the race; an option
leaves the race when a decision about others cites a verdict that broke it. *settled*: every role seals once per round
what it would answer now, and the leader of these answers stays the same, loses little and leads clearly. *unblocked*:
no question that decides is open, no decision rests on an open claim that only a run or a person can settle, and no
final decision requires only what happens outside the run. *reachable*: whether the rest of the plan still has what the
gates need.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from detectors.forecasts.arithmetic import Forecast, group_forecast, points_of
from detectors.observations import first_test, is_tested, parts
from detectors.parameters import ExaminedTerms, SettledTerms
from detectors.report import GateReading
from detectors.stopping.questions import OpenQuestion, deciding_questions
from detectors.stopping.rounds import RoundUnits
from ledger.events.run import PlanRow
from ledger.plain_text import counted
from ledger.state.decided import final_in_force, in_force
from ledger.state.state import ANSWERS, NEITHER, POSITIONS, STANDS, ClaimFacts, State

CRITIC: Final = "critic"
SYNTHESIS: Final = "S"
NOT_ASKED: Final = "not asked in this run"
ONLY_OUTSIDE: Final = frozenset({"execution", "person"})
"""How a claim is decided that no reading settles."""
OPEN: Final = frozenset({"pending", "tested_unclear"})
REFUTED: Final = frozenset({"tested_refuted", "partially_refuted"})
SHOWN: Final = 3


# ---------------------------------------------------------------- examined


class Tested(NamedTuple):
    """Tested claims that name an option: all, and those that are refuted or partly refuted."""

    claims: int = 0
    refuted: int = 0


def examined(state: State, rule: ExaminedTerms) -> GateReading:
    """Return the gate that holds when each option still in the race was tested."""
    needed = rule.tests_at_least
    if not state.options:
        tested = sum(is_tested(claim) for claim in state.claims.values())
        text = f"{counted(tested, 'tested claim')} ({needed} needed)"
        return GateReading(
            "examined", tested >= needed, f"{tested} claims tested", f"≥{needed} tested claims", text
        )
    counts, gone, short = counts_by_option(state), dropped(state), unexamined(state, rule)
    summary = ", ".join(
        f"{option} dropped" if option in gone else f"{option} {count.claims} ({count.refuted} refuted)"
        for option, count in counts.items()
    )
    text = f"every option was tested (claims: {_claims(counts)})"
    if short:
        text = f"hardly tested: {', '.join(short)} ({needed} claims needed; now {_claims(counts)})"
    limit = f"≥{needed} tested claims for each option, or dropped by a verdict"
    return GateReading("examined", not short, summary, limit, text)


def _claims(counts: Mapping[str, Tested]) -> str:
    return ", ".join(f"{option} {count.claims}" for option, count in counts.items())


def unexamined(state: State, rule: ExaminedTerms, through: int | None = None) -> tuple[str, ...]:
    """Return the options that are in the race and were hardly tested by the end of round `through` (None: now)."""
    # An option that a verdict removed needs no further tests.
    gone = dropped(state)
    return tuple(
        option
        for option, count in counts_by_option(state, through).items()
        if count.claims < rule.tests_at_least and option not in gone
    )


def counts_by_option(state: State, through: int | None = None) -> dict[str, Tested]:
    """Return the claims that name each option and were tested by the end of round `through` (None: now).

    A claim that compares two options counts for both; one that only the closing settled was not tested.
    """
    counts = {option.id: Tested() for option in state.options}
    for claim in state.claims.values():
        if not is_tested(claim, through):
            continue
        for option in set(claim.about) & counts.keys():
            before = counts[option]
            counts[option] = Tested(before.claims + 1, before.refuted + (claim.status in REFUTED))
    return counts


def tests_by_round(state: State) -> Counter[int]:
    """Return how many claims about some option were tested first in each round."""
    options = {option.id for option in state.options}
    first = (first_test(claim) for claim in state.claims.values() if options & set(claim.about))
    return Counter(move.place.round for move in first if move is not None)


def counted_alone(state: State) -> dict[str, int]:
    """Return the tested claims that are about each option and no other: what a role's own claim is spread by."""
    counts = {option.id: 0 for option in state.options}
    for claim in state.claims.values():
        if len(claim.about) == 1 and claim.about[0] in counts and is_tested(claim):
            counts[claim.about[0]] += 1
    return counts


def dropped(state: State) -> frozenset[str]:
    """Return options that a check broke, cited by a decision in force that is about others."""
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
        # A decision about the option itself that cites the broken check may well keep it.
        if cite.id in broken and decision.about and broken[cite.id] not in decision.about
    )


# ---------------------------------------------------------------- settled


class Course(NamedTuple):
    """Sealed answers by round, and how the leader changed from round to round."""

    leaders: tuple[str, ...]
    """Of each round that asked, in order."""
    lost: tuple[Fraction | None, ...]
    """Points by which the leader of the round before is lower, in the mean of the roles that answered both."""
    margins: tuple[Fraction, ...]
    """Points by which the leader leads the group forecast."""

    def unchanged(self, rule: SettledTerms) -> int:
        """Return how many rounds, up to the last, had the same leader, which lost little from each to the next."""
        count = min(1, len(self.leaders))
        for place in range(len(self.leaders) - 1, 0, -1):
            lost = self.lost[place]
            changed = self.leaders[place] != self.leaders[place - 1]
            # A leader that erodes slowly is not settled, even while it stays in front.
            if changed or lost is None or lost > rule.points_lost_at_most:
                break
            count += 1
        return count


def settled(state: State, through: int, rule: SettledTerms) -> GateReading:
    """Return the gate that holds when the roles' present answers no longer change, after round `through`."""
    needed = rule.rounds_with_same_leader
    limit = (
        f"same leader for {needed} rounds, losing ≤{rule.points_lost_at_most} points,"
        f" {rule.margin_at_least} points ahead"
    )
    if not state.beliefs and not is_asked(state):
        return GateReading("settled", False, NOT_ASKED, limit, "no role was asked what it would answer now")
    course = course_of(state, through)
    if not course.leaders:
        return GateReading("settled", False, "no round has answered yet", limit, "no role has answered yet")
    still, margin, lost = course.unchanged(rule), course.margins[-1], course.lost[-1]
    clauses = [f"{course.leaders[-1]} leads by {float(margin):.1f} points"]
    clauses += [f"same leader for {min(still, needed)} of {needed} rounds"]
    clauses += [f"lost {float(lost):.1f}"] if lost is not None else []
    ok = still >= needed and margin >= rule.margin_at_least
    return GateReading("settled", ok, ", ".join(clauses), limit, _settled_text(course, still, rule))


def _settled_text(course: Course, still: int, rule: SettledTerms) -> str:
    leads, lost = f"{course.leaders[-1]} leads by {float(course.margins[-1]):.0f} points", course.lost[-1]
    if course.margins[-1] < rule.margin_at_least:
        return f"{leads} ({rule.margin_at_least} needed)"
    if still >= rule.rounds_with_same_leader:
        return f"{leads}, unchanged for {rule.rounds_with_same_leader} rounds"
    if course.leaders[-2:-1] and course.leaders[-2] != course.leaders[-1]:
        return f"{leads}, and led not yet a round ago"
    if lost is not None and lost > rule.points_lost_at_most:
        return f"{leads}, but the leader lost {float(lost):.0f} points last round"
    return f"{leads}, for {counted(still, 'round')} ({rule.rounds_with_same_leader} needed)"


def is_asked(state: State) -> bool:
    """Return whether the run asks every role, once per round, what it would answer now."""
    return state.opened is not None and state.opened.rules.get(POSITIONS) == ANSWERS


class LastAnswers(NamedTuple):
    """Answers of every present role in the last round that asked."""

    round: int
    keys: tuple[str, ...]
    """The options in order, `none` last."""
    by_role: Mapping[str, Forecast]


def last_answers(state: State) -> LastAnswers | None:
    """Return the last sealed answers; None before the first answer."""
    answers = [facts for facts in state.beliefs.values() if not facts.derived]
    if not answers:
        return None
    last, keys = max(facts.round for facts in answers), answer_keys(state)
    by_role = {facts.role: points_of(facts.points, keys) for facts in answers if facts.round == last}
    # The order of the cast is stable, unlike the order in which answers arrived.
    order = [member.role for member in state.opening.cast]
    return LastAnswers(last, keys, {role: by_role[role] for role in sorted(by_role, key=order.index)})


def answer_keys(state: State) -> tuple[str, ...]:
    """Return the keys that points may be put on."""
    return (*(option.id for option in state.options), NEITHER) if state.options else (STANDS, NEITHER)


def course_of(state: State, through: int) -> Course:
    """Return the course of the sealed answers of the rounds up to `through`."""
    keys = answer_keys(state)
    by_round: dict[int, dict[str, Forecast]] = {}
    for facts in state.beliefs.values():
        if facts.round <= through and not facts.derived:
            by_round.setdefault(facts.round, {})[facts.role] = points_of(facts.points, keys)
    rounds = [by_round[number] for number in sorted(by_round)]
    groups = [group_forecast(answers.values()) for answers in rounds]
    return Course(
        leaders=tuple(keys[group.leader] for group in groups),
        lost=(None, *(_lost(before, after) for before, after in itertools.pairwise(rounds)))[: len(rounds)],
        margins=tuple(group.margin for group in groups),
    )


def _lost(before: Mapping[str, Forecast], after: Mapping[str, Forecast]) -> Fraction | None:
    """Return how many points the leader of `before` has lost; 0 where it gained.

    It is the mean of the roles that answered both rounds.
    """
    # Only roles that answered both rounds are compared, because an absent role shifts the mean by itself.
    both = [role for role in before if role in after]
    if not both:
        return None
    leader = group_forecast(before.values()).leader
    lost = sum(before[role][leader] - after[role][leader] for role in both)
    # A gain is not a negative loss: it must not offset an earlier one.
    return max(Fraction(), Fraction(lost, len(both)))


# ---------------------------------------------------------------- unblocked


def unblocked(state: State) -> GateReading:
    """Return the gate that holds when nothing is open that more rounds of reading cannot settle."""
    open_ones = list(blocks(state))
    summary = "; ".join(open_ones[:SHOWN]) + (
        f"; and {len(open_ones) - SHOWN} more" if len(open_ones) > SHOWN else ""
    )
    limit = "no open question that decides, and nothing that only a run or events outside can settle"
    text = _blocked_text(state, open_ones) if open_ones else "no open question would change the outcome"
    return GateReading("unblocked", not open_ones, summary or "nothing", limit, text)


def _blocked_text(state: State, open_ones: Sequence[str]) -> str:
    """Return the questions by name, and of other open points only their number."""
    questions = [question.id for question in deciding_questions(state)]
    others = len(open_ones) - len(questions)
    if not questions:
        return open_ones[0] if others == 1 else f"{others} points that no reading can settle"
    decide = "decides" if len(questions) == 1 else "decide"
    more = f"; {counted(others, 'point')} that no reading can settle" if others else ""
    return f"{counted(len(questions), 'open question')} {decide}: {', '.join(questions)}{more}"


def blocks(state: State) -> Iterator[str]:
    """Yield each obstacle: open questions, open claims under decisions, and what final decisions require."""
    yield from (_question(question) for question in deciding_questions(state))
    standing = {identity: state.decisions[identity] for identity in in_force(state)}
    cited: Mapping[str, ClaimFacts] = {
        cite.id: state.claims[cite.id]
        for decision in standing.values()
        for cite in decision.cites
        if cite.id in state.claims
    }
    # Older runs did not record how a claim is tested. There the words of decisions are read instead.
    if any(claim.how is not None for claim in state.claims.values()):
        for identity, claim in sorted(cited.items(), key=lambda pair: pair[1].seq):
            if claim.how in ONLY_OUTSIDE and claim.status in OPEN:
                yield f"{identity} is open and only {'a person' if claim.how == 'person' else 'a run'} can decide it"
    else:
        yield from (
            f"{identity} asks for a run" for identity, facts in standing.items() if facts.asks_for_run
        )
    for identity in final_in_force(state):
        required_by = state.decisions[identity].required_by if identity in state.decisions else ()
        # Requirements that a later round can meet do not block. Only those outside the run do.
        if required_by and "run" not in required_by:
            yield f"{identity} requires only what happens outside the run"


def _question(question: OpenQuestion) -> str:
    why = f"would change {question.option}" if question.option else ""
    repeats = (
        f"asked in {', '.join(f'R{number}' for number in question.rounds)}"
        if len(question.rounds) > 1
        else ""
    )
    reasons = ", ".join(reason for reason in (why, repeats) if reason)
    return f"{question.id} is open" + (f" ({reasons})" if reasons else "")


# ---------------------------------------------------------------- reachable


def reachable(
    state: State, rounds: Sequence[RoundUnits], rule: SettledTerms, *, others_hold: bool = False
) -> GateReading:
    """Return the notice whether the plan still has what readiness needs.

    `others_hold` is true where nothing is left to be reached.
    """
    lacking = [] if others_hold else list(lacks(state, rounds, rule))
    summary = "; ".join(lacking) or "yes"
    text = f"this plan cannot become ready: {summary}" if lacking else "this plan can still become ready"
    return GateReading(
        "reachable", not lacking, summary, "the plan can still become ready", text, decides=False
    )


def lacks(state: State, rounds: Sequence[RoundUnits], rule: SettledTerms) -> Iterator[str]:
    """Yield what the rest of the plan cannot provide any more, each in a clause."""
    if state.opened is None or state.opened.origin.type == "import":
        yield "the run was made by another system"
        return
    left, now = rounds_left(state, len(rounds)), _still_open(state, len(rounds))
    if not left and rounds and "G" not in now:
        yield "no round is left"
    if not is_asked(state):
        yield "no role is asked what it would answer now (rule positions=beliefs)"
    else:
        # The last rounds that already agree count, so only the missing ones must fit into the plan.
        needed = rule.rounds_with_same_leader - course_of(state, len(rounds)).unchanged(rule)
        if needed > len(left) and (left or not rounds):
            yield f"settled needs {counted(needed, 'more round')}, and {len(left)} are left"
    if not (without_critic(state, rounds) or any(row.absent == CRITIC for row in left)):
        yield "no round is planned without the critic"
    if not (passes_drift(state) or any(row.drift for row in left) or "H" in now):
        yield "no drift check is planned"
    last = max((row.round for row in state.opened.plan if "G" in row.phases), default=0)
    if state.opened.stop.not_before > last:
        yield f"a stop is obeyed from R{state.opened.stop.not_before} on, and the last round is R{last}"


def rounds_left(state: State, held: int) -> list[PlanRow]:
    """Return rows of the plan that deliberate after round `held`, as far as the budget of rounds allows."""
    limit = state.limits.rounds
    # A budget of rounds ends the run before the plan does.
    rows = state.opening.plan if limit is None else state.opening.plan[:limit]
    return [row for row in rows if "G" in row.phases and row.round > held]


def _still_open(state: State, held: int) -> tuple[str, ...]:
    """Return phases of round `held` that have no answer yet, while it is the present one."""
    if state.round != held or held not in state.rounds:
        return ()
    rows, at = state.opening.plan, state.rounds[held].plan_row
    phases = rows[at].phases if at < len(rows) else ()
    done = (*state.answered, *state.given_up)
    return tuple(phase for phase in phases if not any(step.startswith(f"r{held}.{phase}.") for step in done))


def without_critic(state: State, rounds: Sequence[RoundUnits]) -> list[int]:
    """Return the rounds from which the critic was really absent."""
    part_of = parts(state)
    return [each.round for each in rounds if part_of.get(each.absent or "") == CRITIC]


def passes_drift(state: State) -> bool:
    """Return whether the last drift check passed. One that names a neglected goal did not, whatever its verdict."""
    if not state.drift:
        return False
    last = state.drift[max(state.drift)]
    return last.verdict != "FAIL" and not last.neglected
