"""Judging of a debate: the judge's reply, the scores that follow from it, and the decision of a panel (XS-8, XS-19).

Of several judges, each one's scores are normalised by that judge's mean and deviation, each votes for the side that
scores better so, weighted by confidence, and Krippendorff's alpha over the raw scores says whether the panel measures
one thing. Below `ALPHA_LEAST` there is no determination. The published original gives no formulas: these are our own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from statistics import fmean, pstdev
from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import Meta

from detectors.forecasts.arithmetic import decimal_text
from ledger.events import Argument, Concern, Decision, Event, Score, Standing, Statement
from ledger.events.decisions import Fallacy
from ledger.events.envelope import Five
from ledger.events.ids import number_of, parse_step
from ledger.state.book import Book, grouped
from ledger.state.decided import deliberated
from roles.protocol import Step
from roles.replies import Falsifiers, Part, Reply, Sentence, Text, Word
from rounds.protocols.citations import cites_of_winner, one_for_each
from rounds.protocols.step_table import Numbering, each, rule

RUBRICS: Final[dict[str, dict[str, Fraction]]] = {
    "logic30": {
        "logic_score": Fraction(30, 100),
        "evidence_score": Fraction(30, 100),
        "responsiveness_score": Fraction(25, 100),
        "honesty_score": Fraction(15, 100),
    },
    "evidence40": {
        "evidence_score": Fraction(40, 100),
        "coherence_score": Fraction(30, 100),
        "rebuttal_score": Fraction(20, 100),
        "clarity_score": Fraction(10, 100),
    },
}
"""Weights of the fields of each rubric (XS-8; the second is the variant of the published FAQ, XS-10)."""
EVEN_BELOW: Final = 1
SIGNIFICANT_ABOVE: Final = 3


Ten = Annotated[int, Meta(ge=1, le=10)]
Claimed = Annotated[
    str, Meta(pattern=r"^(0|[1-9][0-9]?)(\.[0-9]{1,4})?$(?!\n)", description="a number as text, such as 7.25")
]


class Scored(Part, frozen=True, kw_only=True):
    """What every rubric asks of one argument."""

    argument_id: Word
    fallacies: Annotated[tuple[Fallacy, ...], Meta(max_length=7)]
    notes: Sentence
    claimed_total: Claimed | None
    standing: Literal["UPHELD", "PARTIALLY_UPHELD", "REFUTED", "UNCERTAIN"]
    reason: Sentence


class LogicScored(Scored, frozen=True, kw_only=True):
    """Scores of the rubric `logic30` (XS-8)."""

    logic_score: Ten
    evidence_score: Ten
    responsiveness_score: Ten
    honesty_score: Ten


class EvidenceScored(Scored, frozen=True, kw_only=True):
    """Scores of the rubric `evidence40` (XS-10)."""

    evidence_score: Ten
    coherence_score: Ten
    rebuttal_score: Ten
    clarity_score: Ten


class JudgedReply(Part, frozen=True, kw_only=True):
    """A judge's words beside the scores."""

    key_insight: Text
    unresolved_questions: Annotated[tuple[Sentence, ...], Meta(max_length=8)]
    recommendation: Text
    confidence: Five


class JudgeReply(JudgedReply, frozen=True, kw_only=True):
    """Every argument scored by logic, and what would show the recommendation to be wrong."""

    scores: Annotated[tuple[LogicScored, ...], Meta(min_length=1, max_length=10)]
    falsifiers: Falsifiers


class JudgeReplyByEvidence(JudgedReply, frozen=True, kw_only=True):
    """Every argument scored by evidence, coherence, rebuttal and clarity."""

    scores: Annotated[tuple[EvidenceScored, ...], Meta(min_length=1, max_length=10)]
    falsifiers: Falsifiers


AnyJudgement = JudgeReply | JudgeReplyByEvidence
JUDGEMENTS: Final[Mapping[str, type[Reply]]] = {
    "logic30": JudgeReply,
    "evidence40": JudgeReplyByEvidence,
}


wrong_judgement = one_for_each("scores", "argument_id", Argument, "argument")
"""Yields a problem when not every argument is scored exactly once."""


def scores(numbering: Numbering, step: Step, reply: AnyJudgement) -> Iterator[Event]:
    """Yield scores with computed totals, standings, open questions, and a single judge's decision."""
    book, rubric = numbering.book, rule(numbering.book.state, "rubric")
    order = _order_read(book, step)
    rows = sorted(reply.scores, key=lambda row: number_of(row.argument_id))
    totals: dict[str, Fraction] = {}
    for row in rows:
        parts = {name: getattr(row, name) for name in RUBRICS[rubric]}
        totals[row.argument_id] = total(rubric, parts)
        # Both totals are kept: the computed one counts, and a reader may compare the judge's own (XS-9).
        score = {"rubric": rubric, "parts": parts, "total": decimal_text(totals[row.argument_id])}
        judge = {"judge": step.name.repeat, "order": order}
        yield numbering.event(Score, step, row, of=row.argument_id, **score, **judge)
    yield from each("scores", Standing, "argument_id", of=lambda _, row: row.argument_id)(
        numbering, step, reply
    )
    for question in reply.unresolved_questions:
        yield numbering.event(Concern, step, type="question", text=question, for_human=False)
    # With several judges the decision belongs to the panel, which is computed after the last of them.
    if rule(book.state, "judges") == "1":
        sides = side_totals(totals, _sides(book))
        standings = {row.argument_id: [row.standing] for row in rows}
        yield numbering.decision(
            step,
            reply,
            cites_of_winner(book.of(Argument), _leader(sides), standings),
            text=reply.recommendation,
            narratives=(reply.key_insight, in_words(sides)),
        )


def _leader(values: Mapping[str, Any]) -> str | None:
    """Return the side with the most, None when the best are equal."""
    best = max(values.values())
    leaders = [side for side, value in values.items() if value == best]
    return leaders[0] if len(leaders) == 1 else None


def _order_read(book: Book, step: Step) -> tuple[str, ...]:
    """Return the arguments as the judge read them: every second judge reads the sides in the other order."""
    sides = _sides(book)
    # Judges may favor what they read first, so half of a panel starts with the other side.
    if step.name.repeat % 2 == 0:
        last_first = list(dict.fromkeys(sides.values()))[::-1]
        return tuple(sorted(sides, key=lambda argument: last_first.index(sides[argument])))
    return tuple(sides)


def total(rubric: str, parts: Mapping[str, int]) -> Fraction:
    """Return the weighted total of one argument, 1 to 10 (XS-8)."""
    return sum((weight * parts[name] for name, weight in RUBRICS[rubric].items()), Fraction(0))


def _sides(book: Book) -> dict[str, str]:
    return {event.id: event.side for event in book.of(Argument)}


def side_totals(totals: Mapping[str, Fraction], sides: Mapping[str, str]) -> dict[str, Fraction]:
    """Return the mean of each side's arguments."""
    values_of = grouped((sides[identity], value) for identity, value in totals.items())
    return {side: sum(values, Fraction(0)) / len(values) for side, values in values_of.items()}


def in_words(sides: Mapping[str, Fraction]) -> str:
    """Return the totals of the sides and the reading of their distance (XS-14)."""
    totals = ", ".join(f"{side} {decimal_text(value)}" for side, value in sides.items())
    if len(sides) < 2:
        return f"{totals}; only one side was heard."
    gap = max(sides.values()) - min(sides.values())
    reading = (
        "even"
        if gap < EVEN_BELOW
        else "significant"
        if gap > SIGNIFICANT_ABOVE
        else "neither even nor significant"
    )
    return (
        f"{totals}; the gap of {decimal_text(gap)} is {reading}. It says who argued better, not who is right."
    )


# ---------------------------------------------------------------- several judges

ALPHA_LEAST: Final = 0.667
"""Lowest alpha from which tentative conclusions are usually drawn."""
RESAMPLES: Final = 1_000
SHARE_IN_INTERVAL: Final = 0.95


class Judged(NamedTuple):
    """One judge's totals by argument, and confidence from 1 to 5."""

    totals: Mapping[str, float]
    confidence: int


def panel_decision(book: Book) -> tuple[Event, ...]:
    """Return the panel's decision after the last of several judges, or that it has no answer."""
    state = book.state
    steps = [step for step in (*state.answered, *state.given_up) if ".judging." in step]
    wanted = int(rule(state, "judges"))
    # Lost judges count as finished: the others decide, and the text names how many there were.
    if wanted < 2 or len(steps) < wanted or not book.of(Score) or deliberated(state):
        return ()
    judges, sides = _judges(book), _sides(book)
    winner, votes, value = weighed(judges, sides)
    # The seed drives the resampling of the interval, so a re-execution gives the same digits.
    interval = bootstrap(_units(judges, sides), state.opening.seed)
    numbering = Numbering(book, state.round)
    sitting = f"{len(judges)} of {wanted} judges" if len(judges) < wanted else f"{wanted} judges"
    standings = grouped((event.of, event.standing) for event in book.of(Standing))
    decision = numbering.computed(
        Decision,
        text=_verdict(winner, votes, value),
        type="final",
        cites=cites_of_winner(book.of(Argument), winner, standings),
        made_by="rule",
        narratives=(f"{sitting}; {_agreement(value, interval)}",),
    )
    if winner is not None:
        return (decision,)
    text = "The judges come to no determination. Which side is right has to be decided by a person."
    return (decision, numbering.computed(Concern, type="question", text=text, for_human=True))


def side_preferred(book: Book) -> str | None:
    """Return the side with the higher scores, of several judges by their vote; None where no side is ahead."""
    sides = _sides(book)
    if rule(book.state, "judges") not in ("1", "None"):
        return weighed(_judges(book), sides)[0]
    # Exact sums, as the judgement had them: sides that are even have to be equal.
    totals = {score.of: Fraction(score.total) for score in book.of(Score) if score.of in sides}
    return _leader(side_totals(totals, sides)) if totals else None


def _judges(book: Book) -> list[Judged]:
    """Return what each judge gave, in order. A judge's own confidence is kept in the text of its judgment."""
    totals: dict[int, dict[str, float]] = {}
    for score in book.of(Score):
        totals.setdefault(score.judge, {})[score.of] = float(score.total)
    # A judge without a recorded confidence counts with the middle of the scale.
    confidences = dict.fromkeys(totals, 3)
    for text in book.of(Statement):
        name = parse_step(text.step or "")
        if name is not None and text.phase == "judging":
            stated = (int(section.text) for section in text.sections if section.name == "confidence")
            confidences[name.repeat] = next(stated, 3)
    return [Judged(totals[judge], confidences[judge]) for judge in sorted(totals)]


def _verdict(winner: str | None, votes: Mapping[str, int], value: float | None) -> str:
    if winner is None and value is None:
        return "No determination: whether the judges agree cannot be measured."
    if winner is None:
        return "No determination: the judges do not agree enough to say which side argued better."
    tally = ", ".join(f"{side} {weight}" for side, weight in votes.items())
    return f"{winner} argued better by the panel's weighted vote ({tally})."


def _agreement(value: float | None, interval: tuple[float, float] | None) -> str:
    if value is None or interval is None:
        return "their agreement cannot be measured."
    low, high = interval
    return f"Krippendorff's alpha {value:.4f}, 95 % interval {low:.4f} to {high:.4f}."


def weighed(
    judges: Sequence[Judged], sides: Mapping[str, str]
) -> tuple[str | None, dict[str, int], float | None]:
    """Return the panel's winner, the weighted votes and alpha, without the interval, which costs most of the work."""
    votes = dict.fromkeys(sorted(set(sides.values())), 0)
    for judge in judges:
        preferred = _preferred(judge.totals, sides)
        # A judge who scores both sides alike has no preference, and casts no vote rather than half of one.
        if preferred is not None:
            votes[preferred] += judge.confidence
    value = alpha(_units(judges, sides))
    # Judges who measure different things have no common result, whatever the vote says.
    agrees = value is not None and value >= ALPHA_LEAST
    return _leader(votes) if agrees and any(votes.values()) else None, votes, value


def _units(judges: Sequence[Judged], sides: Mapping[str, str]) -> list[list[float]]:
    """Return the judges' totals of each argument."""
    return [[judge.totals[argument] for judge in judges if argument in judge.totals] for argument in sides]


def _preferred(totals: Mapping[str, float], sides: Mapping[str, str]) -> str | None:
    # A ledger from outside may score an argument that does not exist on it.
    totals = {argument: total for argument, total in totals.items() if argument in sides}
    if not totals:
        return None
    mean, deviation = fmean(totals.values()), pstdev(totals.values())
    # All arguments alike: there is nothing to normalize, and a division by zero would follow.
    if deviation == 0:
        return None
    # Judges use the scale differently; after this a strict judge and a generous one count the same.
    normal = {argument: (total - mean) / deviation for argument, total in totals.items()}
    means = {
        side: fmean(normal[argument] for argument in normal if sides[argument] == side)
        for side in {sides[argument] for argument in normal}
    }
    return _leader(means)


def alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Return Krippendorff's alpha for interval data; a unit holds the scores that several judges gave one argument.

    1 is perfect agreement, 0 the agreement of chance. None when no argument was judged twice or all scores are equal.
    """
    # A score without a second judge says nothing about agreement.
    paired = [unit for unit in units if len(unit) > 1]
    values = [value for unit in paired for value in unit]
    if len(values) < 2:
        return None
    expected = sum((a - b) ** 2 for a, b in permutations(values, 2)) / (len(values) - 1)
    # Without any difference between scores alpha is 0 divided by 0, and undefined.
    if expected == 0:
        return None
    observed = sum(sum((a - b) ** 2 for a, b in permutations(unit, 2)) / (len(unit) - 1) for unit in paired)
    return 1 - observed / expected


def bootstrap(units: Sequence[Sequence[float]], seed: int) -> tuple[float, float] | None:
    """Return the 95 % interval of alpha over arguments drawn again with replacement."""
    # A generator of its own with the run's seed: re-execution must give the same interval.
    draw = random.Random(seed)
    alphas = sorted(
        value
        for value in (alpha(draw.choices(units, k=len(units))) for _ in range(RESAMPLES))
        # A sample can draw one argument only, for which alpha is undefined.
        if value is not None
    )
    if not alphas:
        return None
    tail = (1 - SHARE_IN_INTERVAL) / 2
    last = len(alphas) - 1
    return alphas[round(tail * last)], alphas[round((1 - tail) * last)]
