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
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from ledger.events import Argument, Challenge, Concern, Decision, Event, Rating, Score, Standing
from ledger.events.decisions import Cite
from ledger.events.ids import StepName, event_id, number_of
from ledger.events.run import PlanRow
from ledger.state.book import Book
from ledger.state.decided import deliberated
from ledger.state.state import State
from roles.protocol import Pick, Protocol, RoleDefinition, Rules, Step
from roles.replies import Cited
from rounds.protocols.debate_judging import four_digits
from rounds.protocols.quotable import Quotable, exactly_one, repeated
from rounds.protocols.scorecard import (
    CRITERIA,
    CaseReply,
    Pairing,
    RebuttalReply,
    ScorecardReply,
    WeightsReply,
    is_close,
    means,
    pairings,
    weighted,
)
from rounds.protocols.step_table import (
    Numbering,
    Sheet,
    StepRow,
    asks,
    by,
    cites_of_winner,
    evidence_of,
    handed_in,
    rule,
    side_by_side,
    statement,
)

ADVOCATES: Final = ("advocate_a", "advocate_b")
_HEDGES: Final = re.compile(
    r"\b(it depends|arguably|to some extent|might possibly|could potentially|both have merits?)\b", re.I
)
_SENTENCE_END: Final = re.compile(r"[.!?](?:\s|$)")


def pairing(state: State, round_: int) -> Pairing:
    """Return who argues for what in a round."""
    return pairings(len(state.opening.options))[round_ - 1]


def _criteria(state: State) -> tuple[str, ...]:
    return CRITERIA[rule(state, "criteria")]


def _wrong_weights(known: Quotable, reply: WeightsReply) -> Iterator[str]:
    yield from _each_criterion(known, [row.criterion for row in reply.weights], "weights")


def _each_criterion(known: Quotable, named: list[str], where: str) -> Iterator[str]:
    yield from exactly_one(named, _criteria(known.state), where, "criterion")


def _weights(numbering: Numbering, step: Step, reply: WeightsReply) -> Iterator[Event]:
    weights = {row.criterion: row for row in reply.weights}
    # Events follow the order of the criteria list; the order of a reply must not reach the ledger.
    for criterion in _criteria(numbering.book.state):
        yield Rating(
            **by(step),
            of=event_id("statement", step.name.round, "weights", step.role),
            scale="weight_hml",
            value=weights[criterion].weight,
            criterion=criterion,
            reason=weights[criterion].reason,
        )


def _wrong_case(known: Quotable, reply: CaseReply) -> Iterator[str]:
    yield from _each_criterion(known, [row.criterion for row in reply.criteria], "criteria")
    yield from repeated(reply.risks, "risks")
    # AD-14: exactly three sentences. A rule that counts keeps closings comparable in length.
    if len(_SENTENCE_END.findall(reply.closing)) != 3:
        yield "closing: exactly three sentences are wanted"
    for where, text in (
        ("closing", reply.closing),
        *((f"criteria[{n}].claim", row.claim) for n, row in enumerate(reply.criteria)),
    ):
        match = _HEDGES.search(text)
        if match:
            yield f"{where}: {match[0]!r} hedges; argue the case"


def _case(numbering: Numbering, step: Step, reply: CaseReply) -> Iterator[Event]:
    pair = pairing(numbering.book.state, step.name.round)
    own, other = (pair.a, pair.b) if step.role == ADVOCATES[0] else (pair.b, pair.a)
    rows = {row.criterion: row for row in reply.criteria}
    for criterion in _criteria(numbering.book.state):
        row = rows[criterion]
        yield Argument(
            **by(step),
            id=numbering.number("argument"),
            label=f"{own} {criterion}",
            side=own,
            claim=row.claim,
            reasoning=row.reasoning,
            evidence=row.evidence,
        )
    for rank, text in enumerate(reply.risks, 1):
        identity = numbering.number("concern")
        # A risk belongs to the option that it is about, which is the other one (AD-14).
        yield Concern(**by(step), id=identity, type="concern", text=f"{other}: {text}", rank=rank)


def _wrong_rebuttal(known: Quotable, reply: RebuttalReply) -> Iterator[str]:
    yield from repeated((draft.target for draft in reply.rebuttals), "rebuttals")
    for n, draft in enumerate(reply.rebuttals):
        event = known.by_id.get(draft.target)
        # AD-15: a rebuttal takes claims of the opponent; one's own arguments are no target.
        if not isinstance(event, Argument) or event.by == known.step.role:
            yield f"rebuttals[{n}].target: {draft.target!r} is no argument of the other case"
        else:
            yield from known.reference_problems(draft.target, f"rebuttals[{n}].quote", draft.quote)
        yield from known.evidence_problems(draft.evidence, f"rebuttals[{n}].evidence")


def _rebuttals(numbering: Numbering, step: Step, reply: RebuttalReply) -> Iterator[Event]:
    for draft in sorted(reply.rebuttals, key=lambda draft: number_of(draft.target)):
        own = evidence_of((Cited(ref=draft.target, quote=draft.quote), *draft.evidence))
        yield Challenge(
            **by(step),
            id=numbering.number("challenge"),
            target=draft.target,
            type="refute",
            claim=draft.quote,
            text=draft.why,
            evidence=own,
        )


def _wrong_scorecard(known: Quotable, reply: ScorecardReply) -> Iterator[str]:
    pair = pairing(known.state, known.step.name.round)
    wanted = sorted((option, criterion) for option in pair for criterion in _criteria(known.state))
    if sorted((row.option, row.criterion) for row in reply.scores) != wanted:
        yield f"scores: exactly one for each criterion of {pair.a} and of {pair.b} is wanted"
    yield from exactly_one(
        (row.of for row in reply.rebuttals), known.ids_of(Challenge), "rebuttals", "rebuttal"
    )
    if reply.recommended not in pair:
        yield f"recommended: {reply.recommended!r} is neither {pair.a} nor {pair.b}"


def _scorecard(numbering: Numbering, step: Step, reply: ScorecardReply) -> Iterator[Event]:
    # Weights are those given before any case was heard, not what a judge would give them now.
    pair, weights = pairing(numbering.book.state, step.name.round), _given_weights(numbering.book)
    for option in pair:
        parts = {row.criterion: row.score for row in reply.scores if row.option == option}
        ordered = {criterion: parts[criterion] for criterion in _criteria(numbering.book.state)}
        reasons = "; ".join(f"{row.criterion}: {row.reason}" for row in reply.scores if row.option == option)
        yield Score(
            **by(step),
            of=option,
            rubric="weighted_1_5",
            parts=ordered,
            # Totals are computed here, with exact fractions; a judge's own arithmetic is never used (XS-9).
            total=four_digits(weighted(ordered, weights)),
            notes=reasons,
            judge=1,
            order=tuple(pair),
        )
    targets = {event.id: event.target for event in numbering.book.events if isinstance(event, Challenge)}
    for row in sorted(reply.rebuttals, key=lambda row: number_of(row.of)):
        yield Rating(
            **by(step), of=row.of, scale="effectiveness_1_5", value=row.effectiveness, reason=row.reason
        )
        yield Standing(**by(step), of=targets[row.of], standing=row.target, reason=row.reason)
    for question in reply.questions:
        yield Concern(**by(step), id=numbering.number("concern"), type="question", text=question)
    # Arguments of earlier rounds concern other pairs or the swapped lenses, and do not carry this decision.
    arguments = [
        event
        for event in numbering.book.events
        if isinstance(event, Argument) and event.round == step.name.round
    ]
    standings = {targets[row.of]: [row.target] for row in reply.rebuttals}
    yield Decision(
        **by(step),
        id=numbering.number("decision"),
        text=f"Of {pair.a} and {pair.b}, {reply.recommended}: {reply.decision}",
        type="round",
        cites=cites_of_winner(arguments, reply.recommended, standings),
        made_by="judge",
        about=(reply.recommended,),
        confidence=reply.confidence,
        falsifiers=reply.falsifiers,
    )


def _given_weights(book: Book) -> dict[str, str]:
    weights = {
        str(event.criterion): str(event.value)
        for event in book.events
        if isinstance(event, Rating) and event.scale == "weight_hml"
    }
    # Where the weights were lost every criterion counts Medium, which the final decision then says.
    return {criterion: weights.get(criterion, "Medium") for criterion in _criteria(book.state)}


def recommendation(book: Book) -> tuple[Event, ...]:
    """Return the decision after the last round: the mean of every option's totals, and what it recommends."""
    state = book.state
    is_last = state.round == state.opening.plan[-1].round
    is_judged = state.is_done(f"r{state.round}.scoring.judge")
    rounds = deliberated(state, "round")
    # A last round whose scoring was lost still leaves the earlier ones, but this decision needs at least one.
    if not (is_last and is_judged and rounds) or deliberated(state, "final"):
        return ()
    totals = means([(event.of, Fraction(event.total)) for event in book.events if isinstance(event, Score)])
    # Stable, so options with equal totals stay in the order in which they were scored first.
    ordered = sorted(totals, key=lambda option: -totals[option])
    means_text = ", ".join(f"{option} {four_digits(totals[option])}" for option in ordered)
    # Within five percent no winner is named (AD-16): the scores are not exact enough for that.
    close = len(ordered) > 1 and is_close(totals[ordered[0]], totals[ordered[1]])
    verdict = (
        f"Close: {ordered[0]} and {ordered[1]} are within five per cent"
        if close
        else f"Recommended: {ordered[0]}"
    )
    return (
        Decision(
            round=state.round,
            phase=state.phase,
            by="controller",
            id=Numbering(book, state.round).number("decision"),
            text=f"{verdict}. Weighted means: {means_text}.{_lost(state)}",
            type="final",
            cites=tuple(Cite(type="decision", id=identity, relation="based-on") for identity in rounds),
            made_by="rule",
            about=tuple(ordered[:2]) if close else (ordered[0],),
        ),
    )


def _lost(state: State) -> str:
    """Return what the means lack, in words: rounds without scores, options never scored, weights that were lost."""
    pairs = {row.round: pairing(state, row.round) for row in state.opening.plan}
    scored = {n for n in pairs if f"r{n}.scoring.judge" in state.answered}
    unscored = [f"round {n}, {pair.a} against {pair.b}" for n, pair in pairs.items() if n not in scored]
    never = sorted({o for pair in pairs.values() for o in pair} - {o for n in scored for o in pairs[n]})
    text = f" Not scored: {'; '.join(unscored)}." if unscored else ""
    text += f" Never scored at all: {', '.join(never)}." if never else ""
    unweighted = "r1.weights.judge" in state.given_up
    return text + (" Nobody weighted the criteria: each counts Medium." if unweighted else "")


def _heard(state: State, round_: int) -> bool:
    return handed_in(state, round_, "case") > 0


def _both_heard(state: State, round_: int) -> bool:
    return handed_in(state, round_, "case") == len(ADVOCATES)


def _advocates(state: State, round_: int, phase: str) -> Iterator[StepName]:
    """Yield both advocates; the act names the option that is argued for: `for_o_1`."""
    # The option is part of the step's id: with the lenses swapped, the same role argues for another option.
    for role, option in zip(ADVOCATES, pairing(state, round_), strict=True):
        yield StepName(round_, phase, f"for_{option.lower().replace('-', '_')}", role)


_CASES: Final = Pick("case", kinds=("statement", "argument", "concern"))

SHEET: Final = Sheet(
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
            _wrong_weights,
        ),
        StepRow(
            "case",
            _advocates,
            CaseReply,
            lambda _, step, reply: statement(
                step, "case", {"stakeholders": reply.stakeholders, "closing": reply.closing}
            ),
            _case,
            _wrong_case,
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
            sees=(_CASES,),
            when=_both_heard,
        ),
        StepRow(
            "scoring",
            asks("judge"),
            ScorecardReply,
            lambda _, step, reply: statement(
                step, "assessment", {"recommended": reply.recommended, "decision": reply.decision}
            ),
            _scorecard,
            _wrong_scorecard,
            sees=(_CASES, Pick("rebuttal", kinds=("statement", "challenge"))),
            when=_heard,
            stand_in=side_by_side,
        ),
    )
)


def _rounds(rules: Rules, options: int) -> tuple[PlanRow, ...]:
    del rules
    later = ("case", "rebuttal", "scoring")
    return tuple(
        PlanRow(
            round=n,
            phases=later if n > 1 else ("weights", *later),
            focus=f"{pair.a} against {pair.b}",
        )
        for n, pair in enumerate(pairings(options), 1)
    )


COMPARATIVE: Final[Protocol] = SHEET.protocol(
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
    fits="two to four options and a choice between them",
    calls="11 for two options, 31 for three, 61 for four",
)
