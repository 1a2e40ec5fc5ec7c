"""Judging of a debate: the judge's reply, the scores that follow from it, and the decision of a panel of judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from ledger.events import Argument, Concern, Decision, Event, Score, Standing, Statement
from ledger.events.decisions import Cite, Fallacy
from ledger.events.ids import number_of, parse_step
from ledger.events.values import Five
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import deliberated
from roles.protocol import Step
from roles.replies import Part, Reply, Sentence, Text, Word
from rounds.protocols.hanging import Falsifiers, hangs_on
from rounds.protocols.judge_panel import Judged, PanelResult, panel_result, weighed
from rounds.protocols.quotable import Quotable, exactly_one
from rounds.protocols.step_table import Numbering, by, cites_of_winner, rule

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
SIDES: Final = ("PRO", "CON")
EVEN_BELOW: Final = 1
SIGNIFICANT_ABOVE: Final = 3


class ScoreRefused(ValueError):
    """A judge's rows that cannot be scored; the message names the row and the field."""


class ArgumentScore(Result, frozen=True):
    """One argument's weighted score, 1 to 10."""

    argument_id: str
    score: float


class DebateScore(Result, frozen=True):
    """Unrounded scores. `gap` is the distance of the sides; below 1 is even, above 3 significant, else between."""

    arguments: list[ArgumentScore]
    sides: dict[str, float]
    gap: float
    reading: Literal["even", "between", "significant"]


def score_debate(scores: Sequence[Mapping[str, Any]], rubric: str = "logic30") -> DebateScore:
    """Score a judge's rows `{argument_id, <fields of the rubric>}`, integers from 1 to 10.

    Argument ids begin with `PRO-` or `CON-`, and both sides have at least one. Raises `ScoreRefused`.
    """
    weights = RUBRICS.get(rubric)
    if weights is None:
        raise ScoreRefused(f"no rubric {rubric!r}: {' or '.join(RUBRICS)}")
    # Sums are exact fractions: a gap of exactly 1 must not become "even" by a rounding of 0.3.
    exact = {_identity(row, n): _score(row, weights) for n, row in enumerate(scores)}
    # The dictionary keeps one row per argument, so a shorter one betrays a repeated id.
    if len(exact) != len(scores):
        raise ScoreRefused("an argument is scored twice")
    sides = {
        side: _mean([value for key, value in exact.items() if key.startswith(f"{side}-")], side)
        for side in SIDES
    }
    gap = abs(sides["PRO"] - sides["CON"])
    return DebateScore(
        arguments=[ArgumentScore(identity, float(value)) for identity, value in exact.items()],
        sides={side: float(value) for side, value in sides.items()},
        gap=float(gap),
        reading="even" if gap < EVEN_BELOW else "significant" if gap > SIGNIFICANT_ABOVE else "between",
    )


def _identity(row: Mapping[str, Any], number: int) -> str:
    identity = row.get("argument_id")
    if not isinstance(identity, str) or identity.partition("-")[0] not in SIDES:
        raise ScoreRefused(f"row {number + 1}: argument_id {identity!r} is neither PRO-n nor CON-n")
    return identity


def _score(row: Mapping[str, Any], weights: Mapping[str, Fraction]) -> Fraction:
    total = Fraction(0)
    for field, weight in weights.items():
        value = row.get(field)
        # A bool is an int in Python, and a score of `true` would count as 1.
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10:
            raise ScoreRefused(f"{row.get('argument_id')}: {field} {value!r} is no integer from 1 to 10")
        total += weight * value
    return total


def _mean(values: Sequence[Fraction], side: str) -> Fraction:
    if not values:
        raise ScoreRefused(f"no argument of {side} is scored")
    return sum(values, Fraction(0)) / len(values)


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


def wrong_judgement(known: Quotable, reply: AnyJudgement) -> Iterator[str]:
    """Yield a problem when not every argument is scored exactly once."""
    named = (row.argument_id for row in reply.scores)
    yield from exactly_one(named, known.ids_of(Argument), "scores", "argument")


def scores(numbering: Numbering, step: Step, reply: AnyJudgement) -> Iterator[Event]:
    """Yield scores with computed totals, standings, open questions, and a single judge's decision."""
    rubric = rule(numbering.book.state, "rubric")
    order = _order_read(numbering.book, step)
    rows = sorted(reply.scores, key=lambda row: number_of(row.argument_id))
    for row in rows:
        parts = {name: getattr(row, name) for name in RUBRICS[rubric]}
        yield Score(
            **by(step),
            of=row.argument_id,
            rubric=rubric,
            parts=parts,
            # Both totals are kept: the computed one counts, and a reader may compare the judge's own (XS-9).
            total=four_digits(total(rubric, parts)),
            claimed_total=row.claimed_total,
            fallacies=row.fallacies,
            notes=row.notes,
            judge=step.name.repeat,
            order=order,
        )
    for row in rows:
        yield Standing(**by(step), of=row.argument_id, standing=row.standing, reason=row.reason)
    for question in reply.unresolved_questions:
        yield Concern(
            **by(step), id=numbering.number("concern"), type="question", text=question, for_human=False
        )
    # With several judges the decision belongs to the panel, which is computed after the last of them.
    if rule(numbering.book.state, "judges") == "1":
        totals = {
            row.argument_id: total(rubric, {n: getattr(row, n) for n in RUBRICS[rubric]}) for row in rows
        }
        sides = side_totals(totals, _sides(numbering.book))
        yield Decision(
            **by(step),
            id=numbering.number("decision"),
            text=reply.recommendation,
            type="final",
            cites=_cites(numbering.book, _ahead(sides), {row.argument_id: [row.standing] for row in rows}),
            made_by="judge",
            confidence=reply.confidence,
            narratives=(reply.key_insight, in_words(sides)),
            **hangs_on(reply),
        )


def _cites(book: Book, winner: str | None, standings: Mapping[str, Sequence[str]]) -> tuple[Cite, ...]:
    """Return what the decision rests on."""
    return cites_of_winner(book.of(Argument), winner, standings)


def _ahead(sides: Mapping[str, Fraction]) -> str | None:
    """Return the side that argued better by the totals, None when they are equal."""
    best = max(sides.values())
    leaders = [side for side, value in sides.items() if value == best]
    return leaders[0] if len(leaders) == 1 else None


def _order_read(book: Book, step: Step) -> tuple[str, ...]:
    """Return the arguments as the judge read them: every second judge reads the sides in the other order."""
    arguments = [event for event in book.events if isinstance(event, Argument)]
    # Judges may favor what they read first, so half of a panel starts with the other side.
    if step.name.repeat % 2 == 0:
        sides = list(dict.fromkeys(event.side for event in arguments))[::-1]
        arguments.sort(key=lambda event: sides.index(event.side))
    return tuple(event.id for event in arguments)


def total(rubric: str, parts: Mapping[str, int]) -> Fraction:
    """Return the weighted total of one argument, 1 to 10 (XS-8)."""
    return sum((weight * parts[name] for name, weight in RUBRICS[rubric].items()), Fraction(0))


def four_digits(value: Fraction) -> str:
    """Return a decimal string with four digits, rounded half to even."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{exact.quantize(Decimal('0.0001'), rounding=ROUND_HALF_EVEN):f}"


def _sides(book: Book) -> dict[str, str]:
    return {event.id: event.side for event in book.events if isinstance(event, Argument)}


def side_totals(totals: Mapping[str, Fraction], sides: Mapping[str, str]) -> dict[str, Fraction]:
    """Return the mean of each side's arguments."""
    values_of: dict[str, list[Fraction]] = {}
    for identity, value in totals.items():
        values_of.setdefault(sides[identity], []).append(value)
    return {side: sum(values, Fraction(0)) / len(values) for side, values in values_of.items()}


def in_words(sides: Mapping[str, Fraction]) -> str:
    """Return the totals of the sides and the reading of their distance (XS-14)."""
    totals = ", ".join(f"{side} {four_digits(value)}" for side, value in sides.items())
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
        f"{totals}; the gap of {four_digits(gap)} is {reading}. It says who argued better, not who is right."
    )


def panel_decision(book: Book) -> tuple[Event, ...]:
    """Return the panel's decision after the last of several judges, or that there is none."""
    state = book.state
    steps = [step for step in (*state.answered, *state.given_up) if ".judging." in step]
    judged = [event for event in book.events if isinstance(event, Score)]
    wanted = int(rule(state, "judges"))
    # Lost judges count as finished: the others decide, and the text names how many there were.
    if wanted < 2 or len(steps) < wanted or not judged or deliberated(state):
        return ()
    opened = state.opening
    # The seed drives the resampling of the interval, so a re-execution gives the same digits.
    result = panel_result(_by_judge(book, judged), _sides(book), opened.seed)
    numbering = Numbering(book, state.round)
    common: dict[str, Any] = {"round": state.round, "phase": state.phase, "by": "controller"}
    decision = Decision(
        **common,
        id=numbering.number("decision"),
        text=_verdict(result),
        type="final",
        cites=_cites(book, result.winner, _standings(book)),
        made_by="rule",
        narratives=(_agreement(result, _sitting(book, wanted)),),
    )
    if result.is_determined:
        return (decision,)
    question = Concern(
        **common,
        id=numbering.number("concern"),
        type="question",
        text="The judges come to no determination. Which side is right has to be decided by a person.",
        for_human=True,
    )
    return (decision, question)


def side_preferred(book: Book) -> str | None:
    """Return the side that several judges prefer; None where they came to no determination."""
    return weighed(_by_judge(book, list(book.of(Score))), _sides(book))[0]


def _standings(book: Book) -> dict[str, list[str]]:
    standings: dict[str, list[str]] = {}
    for event in book.of(Standing):
        standings.setdefault(event.of, []).append(event.standing)
    return standings


def _sitting(book: Book, wanted: int) -> str:
    """Return how many judges judged, and out of how many where some are missing."""
    judged = len({score.judge for score in book.of(Score)})
    return f"{judged} of {wanted} judges" if judged < wanted else f"{wanted} judges"


def _by_judge(book: Book, judged: list[Score]) -> list[Judged]:
    totals: dict[int, dict[str, float]] = {}
    for score in judged:
        totals.setdefault(score.judge, {})[score.of] = float(score.total)
    return [Judged(totals[judge], _confidence(book, judge)) for judge in sorted(totals)]


def _confidence(book: Book, judge: int) -> int:
    """Return a judge's own confidence, which is kept in the text of its judgment."""
    for event in book.events:
        name = parse_step(event.step or "")
        if isinstance(event, Statement) and event.phase == "judging" and name and name.repeat == judge:
            value = next((section.text for section in event.sections if section.name == "confidence"), "3")
            return int(value)
    # A judge without a recorded confidence counts with the middle of the scale.
    return 3


def _verdict(result: PanelResult) -> str:
    if result.winner is None:
        return "No determination: the judges do not agree enough to say which side argued better."
    votes = ", ".join(f"{side} {weight}" for side, weight in result.votes.items())
    return f"{result.winner} argued better by the panel's weighted vote ({votes})."


def _agreement(result: PanelResult, judges: str) -> str:
    if result.alpha is None or result.interval is None:
        return f"{judges}; their agreement cannot be measured."
    low, high = result.interval
    return f"{judges}; Krippendorff's alpha {result.alpha:.4f}, 95 % interval {low:.4f} to {high:.4f}."
