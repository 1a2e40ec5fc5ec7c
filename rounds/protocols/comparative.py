"""`comparative`: options in pairs, two advocates, rebuttals, and a weighted scorecard (AD-11 … AD-18).

Laws
1. The judge weights the criteria before any case is heard; `criteria` names the list.
2. Every pair of options is argued twice with the lenses swapped, so that no option owns the long view.
3. A case argues every criterion, gives exactly three risks of the other option and closes in three sentences; hedging
   is refused. A rebuttal takes the three weakest claims of the other case, each quoted, and adds nothing of its own.
4. The judge scores every criterion of both options and says how each rebuttal worked and which claims collapse.
5. A round's decision rests on the arguments for the recommended option that did not collapse.
6. Totals and the recommendation are ours; totals within five per cent are called close. A lost rebuttal: the openings
   are judged. A lost advocate: the survivor's case is. No judge: the cases stand side by side (AD-18).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Annotated, Final, Literal

from msgspec import Meta

from detectors.forecasts.arithmetic import decimal_text
from ledger.events import Argument, Challenge, Concern, Decision, Event, Rating, Score, Standing
from ledger.events.envelope import Five
from ledger.events.ids import StepName, number_of
from ledger.events.run import PlanRow
from ledger.state.book import Book, grouped
from ledger.state.decided import deliberated
from ledger.state.state import State
from roles.protocol import Loss, Pick, Protocol, QuestionKind, RoleDefinition, Rules, Step
from roles.replies import Cited, Evidence, Part, Sentence, Text, Word
from rounds.protocols.citations import Quotable, cites, cites_of_winner, exactly_one, one_for_each, repeated
from rounds.protocols.sides import ADVOCATES, pairing, pairings, preferred_options, sides_of
from rounds.protocols.step_table import (
    Numbering,
    StepRow,
    StepTable,
    Wrong,
    after,
    asks,
    rule,
    says,
    side_by_side,
    statement,
    statement_id,
)

_HEDGES: Final = re.compile(
    r"\b(it depends|arguably|to some extent|might possibly|could potentially|both have merits?)\b", re.I
)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|$)")
_LISTS: Final = {
    "architecture": "complexity, performance, maintainability, team familiarity, migration effort, extensibility,"
    " operational burden",
    "vendor": "cost, feature completeness, integration quality, vendor stability, migration effort, team preference,"
    " support quality",
    "tool": "developer experience, feature completeness, community, cost, integration effort, learning curve",
    "strategy": "alignment, risk, effort, reversibility, stakeholder buy-in, time to value",
}
CRITERIA: Final = {kind: tuple(names.split(", ")) for kind, names in _LISTS.items()}
"""Criteria by kind of comparison (AD-12)."""
WEIGHTS: Final[Mapping[str, int]] = {"High": 3, "Medium": 2, "Low": 1}
CLOSE_WITHIN: Final = Fraction(5, 100)
"""Share of the greater total within which two totals are close (AD-16)."""


def weighted(parts: Mapping[str, int], weights: Mapping[str, str]) -> Fraction:
    """Return the weighted mean of scores from 1 to 5; criterion → score, criterion → High, Medium or Low."""
    # Only the weights of criteria that were scored count, so a missing score does not lower the mean.
    whole = sum(WEIGHTS[weights[name]] for name in parts)
    return Fraction(sum(WEIGHTS[weights[name]] * value for name, value in parts.items()), whole)


def means(totals: Sequence[tuple[str, Fraction]]) -> dict[str, Fraction]:
    """Map each option to the mean of its totals over all rounds."""
    # A mean and not a sum: with a lost round, options have different numbers of totals.
    return {option: sum(values, Fraction(0)) / len(values) for option, values in grouped(totals).items()}


def is_close(first: Fraction, second: Fraction) -> bool:
    """Return whether two totals are within five percent of the greater."""
    return abs(first - second) <= CLOSE_WITHIN * max(first, second)


RISKS: Final = 3  # in a case, and targets of a rebuttal


class WeightRow(Part, frozen=True, kw_only=True):
    """How much a criterion counts here."""

    criterion: Word
    weight: Literal["High", "Medium", "Low"]
    reason: Sentence


class WeightsReply(Part, frozen=True, kw_only=True):
    """A weight for every criterion, before anything is argued."""

    weights: Annotated[tuple[WeightRow, ...], Meta(min_length=1, max_length=12)]


class CriterionCase(Part, frozen=True, kw_only=True):
    """One criterion argued for one's own option and against the other."""

    criterion: Word
    claim: Annotated[str, Meta(min_length=10, max_length=600)]
    reasoning: Annotated[str, Meta(min_length=20, max_length=2_000)]
    evidence: Annotated[str, Meta(min_length=5, max_length=2_000)]


class CaseReply(Part, frozen=True, kw_only=True):
    """The case for one option against another (AD-14)."""

    criteria: Annotated[tuple[CriterionCase, ...], Meta(min_length=1, max_length=12)]
    risks: Annotated[tuple[Text, ...], Meta(min_length=RISKS, max_length=RISKS)]
    stakeholders: Text
    closing: Text


class RebuttalDraft(Part, frozen=True, kw_only=True):
    """One weak claim of the other case, with its words (AD-15)."""

    target: Word
    quote: Sentence
    why: Text
    evidence: Evidence


class RebuttalReply(Part, frozen=True, kw_only=True):
    """Exactly three rebuttals, and what is conceded."""

    rebuttals: Annotated[tuple[RebuttalDraft, ...], Meta(min_length=RISKS, max_length=RISKS)]
    conceded: Text | None


class OptionScore(Part, frozen=True, kw_only=True):
    """One criterion of one option."""

    option: Word
    criterion: Word
    score: Five
    reason: Sentence


class RebuttalJudged(Part, frozen=True, kw_only=True):
    """How a rebuttal worked: 1 beside the point, 5 devastating; and whether its target survives (AD-16)."""

    of: Word
    effectiveness: Five
    target: Literal["SURVIVE", "COLLAPSE"]
    reason: Sentence


class ScorecardReply(Part, frozen=True, kw_only=True):
    """Scores, judged rebuttals, the option they recommend, what would show the other to be right, open questions."""

    scores: Annotated[tuple[OptionScore, ...], Meta(min_length=2, max_length=24)]
    rebuttals: Annotated[tuple[RebuttalJudged, ...], Meta(max_length=6)]
    recommended: Word
    decision: Text
    falsifiers: Annotated[tuple[Sentence, ...], Meta(min_length=2, max_length=6)]
    questions: Annotated[tuple[Sentence, ...], Meta(min_length=2, max_length=4)]
    confidence: Five


def _criteria(state: State) -> tuple[str, ...]:
    return CRITERIA[rule(state, "criteria")]


def _each_criterion(part: str) -> Wrong:
    return lambda known, reply: exactly_one(
        (row.criterion for row in getattr(reply, part)), _criteria(known.state), part, "criterion"
    )


def _weights(numbering: Numbering, step: Step, reply: WeightsReply) -> Iterator[Event]:
    weights = {row.criterion: row for row in reply.weights}
    # Events follow the order of the criteria list; the order of a reply must not reach the ledger.
    for criterion in _criteria(numbering.book.state):
        row, of = weights[criterion], statement_id(step)
        yield numbering.event(Rating, step, row, of=of, scale="weight_hml", value=row.weight)


def _wrong_case(known: Quotable, reply: CaseReply) -> Iterator[str]:
    yield from _each_criterion("criteria")(known, reply)
    yield from repeated(reply.risks, "risks")
    # AD-14: exactly three sentences. A rule that counts keeps closings comparable in length.
    if len(_SENTENCE_END.findall(reply.closing)) != 3:
        yield "closing: exactly three sentences are wanted"
    claims = {f"criteria[{n}].claim": row.claim for n, row in enumerate(reply.criteria)}
    yield from (
        f"{where}: {match[0]!r} hedges; argue the case"
        for where, text in {"closing": reply.closing, **claims}.items()
        if (match := _HEDGES.search(text))
    )


def _case(numbering: Numbering, step: Step, reply: CaseReply) -> Iterator[Event]:
    own, other = sides_of(numbering.book.state, step.name.round, step.role)
    rows = {row.criterion: row for row in reply.criteria}
    yield from (
        numbering.event(Argument, step, rows[name], label=f"{own} {name}", side=own, quotes=())
        for name in _criteria(numbering.book.state)
    )
    yield from (
        # A risk belongs to the option that it is about, which is the other one (AD-14).
        numbering.event(Concern, step, type="concern", text=f"{other}: {text}", rank=rank)
        for rank, text in enumerate(reply.risks, 1)
    )


def _wrong_rebuttal(known: Quotable, reply: RebuttalReply) -> Iterator[str]:
    yield from repeated((draft.target for draft in reply.rebuttals), "rebuttals")
    for n, draft in enumerate(reply.rebuttals):
        event = known.by_id.get(draft.target)
        # AD-15: a rebuttal takes claims of the opponent; one's own arguments are no target.
        if not isinstance(event, Argument) or event.by == known.step.role:
            yield f"rebuttals[{n}].target: {draft.target!r} is no argument of the other case"
        else:
            yield from known.reference_problems(draft.target, f"rebuttals[{n}].quote", draft.quote)


def _rebuttals(numbering: Numbering, step: Step, reply: RebuttalReply) -> Iterator[Event]:
    for draft in sorted(reply.rebuttals, key=lambda draft: number_of(draft.target)):
        # A rebuttal rests on the words that it is about, then on its own evidence.
        evidence = (Cited(ref=draft.target, quote=draft.quote), *draft.evidence)
        fields = {"type": "refute", "claim": draft.quote, "text": draft.why, "evidence": evidence}
        yield numbering.event(Challenge, step, draft, **fields)


def _wrong_scorecard(known: Quotable, reply: ScorecardReply) -> Iterator[str]:
    pair = pairing(known.state, known.step.name.round)
    wanted = sorted((option, criterion) for option in pair for criterion in _criteria(known.state))
    if sorted((row.option, row.criterion) for row in reply.scores) != wanted:
        yield f"scores: exactly one for each criterion of {pair.a} and of {pair.b} is wanted"
    yield from one_for_each("rebuttals", "of", Challenge, "rebuttal")(known, reply)
    if reply.recommended not in pair:
        yield f"recommended: {reply.recommended!r} is neither {pair.a} nor {pair.b}"


def _scorecard(numbering: Numbering, step: Step, reply: ScorecardReply) -> Iterator[Event]:
    # Weights are those given before any case was heard, not what a judge would give them now.
    book = numbering.book
    # Where the weights were lost every criterion counts Medium, which the final decision then says.
    weights = dict.fromkeys(_criteria(book.state), "Medium") | {
        str(event.criterion): str(event.value) for event in book.of(Rating) if event.scale == "weight_hml"
    }
    pair = pairing(book.state, step.name.round)
    for option in pair:
        rows = {row.criterion: row for row in reply.scores if row.option == option}
        parts = {criterion: rows[criterion].score for criterion in _criteria(book.state)}
        # Totals are computed here, with exact fractions; a judge's own arithmetic is never used (XS-9).
        yield numbering.event(
            Score,
            step,
            of=option,
            rubric="weighted_1_5",
            parts=parts,
            total=decimal_text(weighted(parts, weights)),
            notes="; ".join(f"{criterion}: {row.reason}" for criterion, row in rows.items()),
            judge=1,
            order=pair,
        )
    targets = {event.id: event.target for event in book.of(Challenge)}
    for row in sorted(reply.rebuttals, key=lambda row: number_of(row.of)):
        yield numbering.event(Rating, step, row, scale="effectiveness_1_5", value=row.effectiveness)
        yield numbering.event(Standing, step, row, of=targets[row.of], standing=row.target)
    yield from (numbering.event(Concern, step, type="question", text=text) for text in reply.questions)
    # Arguments of earlier rounds concern other pairs or the swapped lenses, and do not carry this decision.
    standings = {targets[row.of]: [row.target] for row in reply.rebuttals}
    yield numbering.decision(
        step,
        reply,
        cites_of_winner(book.of(Argument, step.name.round), reply.recommended, standings),
        text=f"Of {pair.a} and {pair.b}, {reply.recommended}: {reply.decision}",
        type="round",
        about=(reply.recommended,),
    )


def recommendation(book: Book) -> tuple[Event, ...]:
    """Return the decision after the last round: the mean of every option's totals, and what it recommends."""
    state = book.state
    # Without a case of either side there is nothing to score, and the judge is never asked.
    cases = {str(name) for name in _advocates(state, state.round, "case")}
    is_judged = cases <= state.given_up.keys() or state.is_done(f"r{state.round}.scoring.judge")
    is_last = state.round == state.opening.plan[-1].round
    rounds = deliberated(state, "round")
    # A last round whose scoring was lost still leaves the earlier ones, but this decision needs at least one.
    if not (is_last and is_judged and rounds) or deliberated(state, "final"):
        return ()
    totals = means([(event.of, Fraction(event.total)) for event in book.of(Score)])
    # Stable, so options with equal totals stay in the order in which they were scored first.
    ordered = sorted(totals, key=lambda option: -totals[option])
    means_text = ", ".join(f"{option} {decimal_text(totals[option])}" for option in ordered)
    # Within five percent no winner is named (AD-16): the scores are not exact enough for that.
    close = len(ordered) > 1 and is_close(totals[ordered[0]], totals[ordered[1]])
    best = ordered[: 1 + close]
    verdict = f"Close: {' and '.join(best)} are within five per cent" if close else f"Recommended: {best[0]}"
    same = " (whatever the scores, the recommendation would be the same)" * is_settled(book, best[0])
    return (
        Numbering(book, state.round).computed(
            Decision,
            text=f"{verdict}. Weighted means: {means_text}.{_lost(state, same)}",
            type="final",
            cites=cites("decision", [(identity, "based-on") for identity in rounds]),
            made_by="rule",
            about=best,
        ),
    )


def is_settled(book: Book, best: str) -> bool:
    """Return whether rounds without scores would leave the recommended option as it is, whatever their scores."""
    # The least for it and the most for all others is the worst that could be.
    worst = [
        (option, Fraction(1 if option == best else 5))
        for row in book.state.opening.plan
        if f"r{row.round}.scoring.judge" not in book.state.answered
        for option in pairing(book.state, row.round)
    ]
    ends = means([*((event.of, Fraction(event.total)) for event in book.of(Score)), *worst])
    # The others have to lie more than five per cent below. A forged ledger may recommend what nobody scored.
    least = ends.get(best, Fraction(0)) * (1 - CLOSE_WITHIN)
    return all(ends[option] < least for option in ends if option != best)


def _lost(state: State, same: str) -> str:
    """Return what the means lack, in words: rounds without scores, options never scored, weights that were lost."""
    pairs = {row.round: pairing(state, row.round) for row in state.opening.plan}
    scored = {n for n in pairs if f"r{n}.scoring.judge" in state.answered}
    unscored = [f"round {n}, {pair.a} against {pair.b}" for n, pair in pairs.items() if n not in scored]
    never = sorted({o for pair in pairs.values() for o in pair} - {o for n in scored for o in pairs[n]})
    text = f" Not scored: {'; '.join(unscored)}{same}." if unscored else ""
    text += f" Never scored at all: {', '.join(never)}." if never else ""
    # What was judged on one case alone, or on a case without its rebuttal, was judged on less than the others.
    less = [
        f"the {phase} by {option}'s advocate in round {n}{' (so no rebuttals)' * (phase == 'case')}"
        for n, phase in product(sorted(scored), ("case", "rebuttal"))
        for name, option in zip(_advocates(state, n, phase), pairs[n], strict=True)
        if str(name) in state.given_up
    ]
    text += f" Judged without a reply that was lost: {', '.join(less)}." if less else ""
    return text + " Nobody weighted the criteria: each counts Medium." * (
        "r1.weights.judge" in state.given_up
    )


def _advocates(state: State, round_: int, phase: str) -> Iterator[StepName]:
    """Yield both advocates; the act names the option that is argued for: `for_o_1`."""
    # The option is part of the step's id: with the lenses swapped, the same role argues for another option.
    for role, option in zip(ADVOCATES, pairing(state, round_), strict=True):
        yield StepName(round_, phase, f"for_{option.lower().replace('-', '_')}", role)


_CASES: Final = Pick("case", kinds=("statement", "argument", "concern"))

STEPS: Final = StepTable(
    (
        StepRow(
            "weights",
            asks("judge"),
            WeightsReply,
            lambda _, step, reply: statement(
                step,
                "analysis",
                {"weights": "\n\n".join(f"{row.criterion}: {row.weight}" for row in reply.weights)},
            ),
            _weights,
            _each_criterion("weights"),
            Loss("skipped", "every criterion counts Medium"),
        ),
        StepRow(
            "case",
            _advocates,
            CaseReply,
            says("case", "stakeholders", "closing"),
            _case,
            _wrong_case,
            Loss("survivor_only", "its option has no case; without any case the round is not scored"),
        ),
        StepRow(
            "rebuttal",
            _advocates,
            RebuttalReply,
            lambda _, step, reply: statement(
                step,
                "review",
                {
                    "rebuttals": "\n\n".join(f"{draft.target}: {draft.why}" for draft in reply.rebuttals),
                    "conceded": reply.conceded or "",
                },
            ),
            _rebuttals,
            _wrong_rebuttal,
            Loss("skipped", "the other case stands without this rebuttal"),
            sees=(_CASES,),
            when=after("case", len(ADVOCATES)),
        ),
        StepRow(
            "scoring",
            asks("judge"),
            ScorecardReply,
            says("assessment", "recommended", "decision"),
            _scorecard,
            _wrong_scorecard,
            Loss("raw_side_by_side", "this round is not scored, and a person is asked", decides=True),
            sees=(_CASES, Pick("rebuttal", kinds=("statement", "challenge"))),
            when=after("case"),
            stand_in=side_by_side,
        ),
    )
)


def _rounds(_rules: Rules, options: int) -> tuple[PlanRow, ...]:
    later = ("case", "rebuttal", "scoring")
    return tuple(
        PlanRow(round=n, phases=later if n > 1 else ("weights", *later), focus=f"{pair.a} against {pair.b}")
        for n, pair in enumerate(pairings(options), 1)
    )


COMPARATIVE: Final[Protocol] = STEPS.protocol(
    "comparative",
    "options in pairs: two advocates with swapped lenses, rebuttals, and a weighted scorecard",
    (
        RoleDefinition(
            "advocate_a", "What serves best in two or three years?", "charters/advocate_a", "Long view"
        ),
        RoleDefinition(
            "advocate_b", "What works in the next six to twelve months?", "charters/advocate_b", "Near term"
        ),
        RoleDefinition("judge", "Which one, and under which conditions?", "charters/judge", "Judge"),
    ),
    plan=_rounds,
    variants={"criteria": tuple(CRITERIA)},
    options_wanted=(2, 4),
    owed=recommendation,
    questions=(QuestionKind("compare", "named options to compare on criteria"),),
    fits="two to four options and a choice between them",
    calls="11 for two options, 31 for three, 61 for four",
    sides=preferred_options,
)
