"""Annexes of judged protocols: arguments and their points, judges, scorecards, concerns, votes, ratings, members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Final

import msgspec

from ledger.events import (
    Argument,
    Challenge,
    Concern,
    Decision,
    Event,
    Rating,
    Response,
    Score,
    Standing,
    Statement,
    Vote,
)
from ledger.events.ids import parse_step
from ledger.plain_text import first_sentence, one_line, shortened
from ledger.result import Result
from ledger.state.book import Book, grouped, sections_named
from moot.view.judgements import (
    majority,
    means_text,
    named,
    option_of,
    options_of,
    scorecard,
    view_of,
)
from moot.view.marks import STANDINGS, Mark, mark_of
from moot.view.reasons import approval_of, judged, severities, severity
from rounds.protocols.sides import is_given_up
from rounds.run.same_question import covers

POINTS: Final = {"logic30": "logic, evidence, responsiveness, honesty: 30, 30, 25, 15 %"}
"""Rubric → its parts and their weights."""


class Annex(Result, frozen=True):
    """A titled table (`heads`, `rows` of as many cells) with `notes` above it, or `paragraphs` of text from `ref`."""

    title: str
    notes: list[str]
    heads: list[str]
    rows: list[list[str]]
    paragraphs: list[str]
    ref: str | None


CELL: Final = 200
"""Maximum characters of a cell; a cut text ends in … and can be read in full under its id."""


def annex_table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *notes: str
) -> Iterator[Annex]:
    """Yield a table without its empty columns; nothing when there are no rows."""
    # A column that no row fills would only take width from those that matter.
    used = [n for n in range(len(heads)) if any(row[n] for row in rows)]
    if rows:
        yield Annex(
            title=title,
            notes=[note for note in notes if note],
            heads=[heads[n] for n in used],
            rows=[[row[n] for n in used] for row in rows],
            paragraphs=[],
            ref=None,
        )


def annex_text(title: str, paragraphs: Sequence[str], ref: str | None) -> Iterator[Annex]:
    """Yield an annex of paragraphs; none where there are no paragraphs."""
    if paragraphs:
        yield Annex(title=title, notes=[], heads=[], rows=[], paragraphs=list(paragraphs), ref=ref)


def cell(text: str) -> str:
    """Return the words of a text that fit into a cell."""
    return shortened(text, CELL)


_SECTIONS: Final[Mapping[str, str]] = {
    "summary": "The advocate's case",
    "works": "What works, as the challenger says",
    "punches": "Whether the challenger held back",
}
"""Section of a statement → its title."""


def case_annex(book: Book) -> Iterator[Annex]:
    """Yield the advocate's case, what works by the challenger, and whether it held back by the judge (AD-5)."""
    # Only adversarial runs have an advocate whose summary is a case; elsewhere it is just a section.
    for name, title in _SECTIONS.items() if approval_of(book) is not None else ():
        for event, text in sections_named(book, name):
            yield from annex_text(title, [one_line(text)], f"{event.id}#{name}")


def judges_annex(book: Book) -> Iterator[Annex]:
    """Yield one row per judge: recommendation, key insight, and what would show it wrong."""
    judged = [statement for statement in book.of(Statement) if statement.phase == "judging"]
    # A single judge's assessment is the decision itself and would only be repeated.
    if len(judged) < 2:
        return
    texts = [{section.name: one_line(section.text) for section in event.sections} for event in judged]
    rows = [
        (
            f"judge {_judge_of(event)}",
            *(sections.get(name, "") for name in ("recommendation", "insight", "falsifiers", "confidence")),
        )
        for event, sections in zip(judged, texts, strict=True)
    ]
    heads = ("judge", "recommendation", "key insight", "would show it wrong", "confidence of 5")
    yield from annex_table("Judges", heads, rows)


def arguments_annex(book: Book) -> Iterator[Annex]:
    """Yield one row per argument: side, claim, attacks on it, points, and its standing by judge."""
    arguments, challenges, approval = list(book.of(Argument)), list(book.of(Challenge)), approval_of(book)
    answers = {response.to: f", answered: {response.outcome}" for response in book.of(Response)}
    standings = grouped((standing.of, standing) for standing in book.of(Standing))
    scores = grouped((score.of, score) for score in book.of(Score))
    # With several judges every figure must name its judge, and means replace totals.
    several = len({score.judge for score in book.of(Score)}) > 1
    rows = [
        (
            argument.id,
            argument.side,
            one_line(argument.claim),
            "; ".join(
                [
                    f"{attack.by} {attack.type or 'attack'} {attack.id}{answers.get(attack.id, '')}"
                    for attack in challenges
                    if attack.target == argument.id
                ]
                + [f"given up by {argument.by}"] * is_given_up(book, argument)
            ),
            _points(scores.get(argument.id, []), several=several),
            "; ".join(
                f"{f'judge {_judge_of(judgement)}, ' if several else ''}"
                f"{judgement.standing.lower().replace('_', ' ')}: {one_line(judgement.reason)}"
                for judgement in standings.get(argument.id, ())
            )
            or (f"judge: {judged(book, argument, approval)}" if approval else ""),
        )
        for argument in arguments
    ]
    # An advocate argues for a proposal, so the table is a position and not a debate.
    title = "Argument trace table" if standings else "Advocate position" if approval else "Arguments"
    rubric = next(
        (
            f" Points are of 10 ({POINTS[score.rubric]})."
            for score in book.of(Score)
            if score.rubric in POINTS
        ),
        "",
    )
    # The means are computed from the scores, since models add up their own totals wrongly (XS-9).
    means = means_text(book)
    heads = ("id", "side", "claim", "met with", "points", "standing, and why")
    yield from annex_table(title, heads, rows, f"{means}{rubric * bool(means)}")


def _judge_of(event: Event) -> int:
    """Return the number of the judge who wrote an event."""
    name = parse_step(event.step or "")
    return name.repeat if name is not None else 1


def _points(scores: Sequence[Score], *, several: bool) -> str:
    """Return the total with its parts; of several judges the mean, then each judge's total."""
    wrong = "; ".join(
        f"fallacies{f' (judge {score.judge})' if several else ''}: {', '.join(score.fallacies)}"
        for score in scores
        if score.fallacies
    )
    if not scores:
        return ""
    if several:
        # Totals are recorded as decimal strings; Decimal keeps their mean free of binary rounding.
        mean = sum(Decimal(score.total) for score in scores) / len(scores)
        total = f"mean {mean:.2f}: {', '.join(f'judge {score.judge} {score.total}' for score in scores)}"
    else:
        # One judge may score an argument again; the last score is the one that counts.
        score = scores[-1]
        parts = " ".join(f"{name.removesuffix('_score')} {value}" for name, value in score.parts.items())
        total = f"{score.total} ({parts})"
    return f"{total}; {wrong}" if wrong else total


def scorecard_annex(book: Book) -> Iterator[Annex]:
    """Yield options by criterion, with the weights."""
    cards = scorecard(book)
    weights = {
        rating.criterion: str(rating.value) for rating in book.of(Rating) if rating.scale == "weight_hml"
    }
    criteria = list(cards[0].parts) if cards else []
    rows = [
        (
            name,
            weights.get(name, ""),
            *(f"{card.parts[name]:.2f}" if name in card.parts else "" for card in cards),
        )
        for name in criteria
    ]
    total = ("weighted mean", "", *(f"{card.total:.4f}" for card in cards))
    heads = ("criterion", "weight", *(named(book, card.option) for card in cards))
    yield from annex_table(
        "Scorecard", heads, [*rows, total] if rows else [], "Means over all judgements, 1 to 5."
    )


def recommendations_annex(book: Book) -> Iterator[Annex]:
    """Yield the text of each round decision that recommends an option and gives reasons."""
    # Without a scorecard, round decisions are ordinary decisions and appear as such.
    if not scorecard(book):
        return
    for decision in book.of(Decision):
        if decision.type == "round":
            yield from annex_text("Recommendation", [named(book, one_line(decision.text))], decision.id)


def concerns_annex(book: Book) -> Iterator[Annex]:
    """Yield review findings and rated concerns with risk and fix, by the mean of the others' ratings."""
    ratings, approval = severities(book), approval_of(book)
    concerns = [
        concern
        for concern in book.of(Concern)
        if concern.id in ratings or (approval is not None and concern.type == "concern")
    ]
    rows = [
        (
            concern.id,
            concern.by,
            cell(concern.text),
            str(concern.severity or ""),
            ", ".join(f"{rating.by} {rating.value}" for rating in ratings.get(concern.id, ())),
            cell(concern.risk or ""),
            cell(concern.fix or ""),
            judged(book, concern, approval),
        )
        for concern in sorted(concerns, key=lambda concern: -severity(book, concern))
    ]
    heads = (
        "id",
        "by",
        "concern",
        "own severity",
        "others' severity",
        "risk in operation",
        "fix",
        "what the judge says",
    )
    yield from annex_table("Concerns, by the mean of the others' ratings, else by their own", heads, rows)


def open_questions(book: Book) -> list[Concern]:
    """Return the questions that a judge leaves open and does not put to a person."""
    return [
        concern
        for concern in book.of(Concern)
        if concern.type == "question" and not concern.for_human and concern.id not in book.state.resolved
    ]


def merged_questions(questions: Iterable[Concern]) -> list[tuple[str, list[str]]]:
    """Return questions with the ids of all that ask the same, in the order in which each was met first."""
    merged: list[tuple[str, list[str]]] = []
    for question in questions:
        # Judges phrase the same question differently, so compare what they ask for, not the text.
        same = next((ids for text, ids in merged if covers(text, question.text)), None)
        if same is None:
            merged.append((question.text, [question.id]))
        else:
            same.append(question.id)
    return merged


def questions_annex(book: Book) -> Iterator[Annex]:
    """Yield the questions that judges leave open; questions that ask the same share a row."""
    # Questions of the last round come first: they are open after everything that was argued.
    questions = sorted(
        open_questions(book) if any(book.of(Argument)) else [], key=lambda question: -question.round
    )
    rows = [(", ".join(ids), one_line(text)) for text, ids in merged_questions(questions)]
    yield from annex_table("Unresolved questions", ("id", "question"), rows)


def votes_annex(book: Book) -> Iterator[Annex]:
    """Yield the votes of every ballot."""
    rows = [
        # A lost vote has no numbers of its own; the stored defaults would look like an opinion.
        (view_of(vote), str(vote.ballot), "no vote (counts as REFUSE)", "", "", "")
        if vote.fallback
        else (
            view_of(vote),
            str(vote.ballot),
            vote.decision,
            f"{vote.confidence}%",
            str(vote.risk),
            first_sentence(vote.reasoning),
        )
        for vote in book.of(Vote)
    ]
    heads = (
        "seat",
        "ballot",
        "vote by rule",
        "sure that acting is right",
        "risk of 100",
        "why, as it begins",
    )
    yield from annex_table("Votes", heads, rows)


def ratings_annex(book: Book) -> Iterator[Annex]:
    """Yield priorities by lens, and mark options whose levels are two or more apart (AD-28)."""
    from rounds.protocols.priority import far_apart, levels_of  # the other protocols give no levels

    rated, apart = dict[str, dict[str, Rating]](), far_apart(levels_of(book))
    for rating in book.of(Rating):
        if rating.scale == "priority_p":
            # The lens is the criterion of a rating; ratings without one are told apart by their author.
            rated.setdefault(rating.of, {})[rating.criterion or rating.by] = rating
    lenses = list(dict.fromkeys(lens for ratings in rated.values() for lens in ratings))
    rows = [
        (
            named(book, option),
            *(
                f"{ratings[lens].value}: {one_line(ratings[lens].reason)}" if lens in ratings else ""
                for lens in lenses
            ),
            # Two levels apart is a disagreement that a person should confirm (AD-28).
            "yes" if option in apart else "",
        )
        for option, ratings in sorted(rated.items())
    ]
    yield from annex_table("Priorities by lens", ("option", *lenses, "two levels apart"), rows)


def members_annex(book: Book) -> Iterator[Annex]:
    """Yield the decisions of independent members, and how many named each option."""
    members = majority(book)
    if members is None:
        return
    plans = members.plans
    rows = [
        (plan.id, option_of(book, plan) or "", str(plan.confidence or ""), first_sentence(plan.text))
        for plan in plans
    ]
    yield from annex_table("Members", ("id", "option", "confidence", "decision, as it begins"), rows)


class ScoreRow(msgspec.Struct, frozen=True):
    """A scored argument or option: id, label with side, text; totals and standings in judging order; reasons."""

    of: str
    label: str
    text: str
    totals: tuple[str, ...]
    stands: tuple[Mark, ...]
    fallacies: tuple[str, ...]
    because: tuple[str, ...]


def scores_of(book: Book) -> tuple[ScoreRow, ...]:
    """Return everything with a score or a standing, in the order of the first judgement."""
    judged = grouped((event.of, event) for event in book.events if isinstance(event, Score | Standing))
    return tuple(_score_row(book, of, events) for of, events in judged.items())


def _score_row(book: Book, of: str, events: list[Score | Standing]) -> ScoreRow:
    """Return the judgements of one argument or option as a row."""
    label = ""
    text = options_of(book).get(of, "")
    scored = book.by_id.get(of)
    if isinstance(scored, Argument):
        text, side = scored.claim, scored.side
        # Labels such as PRO-1 carry their side already (XS-2).
        has_side = scored.label.casefold().startswith(side.casefold())
        label = scored.label if has_side else f"{scored.label} ({side})"
    scores = [event for event in events if isinstance(event, Score)]
    because = (event.notes if isinstance(event, Score) else event.reason for event in events)
    return ScoreRow(
        of,
        label,
        text,
        totals=tuple(score.total for score in scores),
        stands=tuple(mark_of(STANDINGS, event.standing) for event in events if isinstance(event, Standing)),
        fallacies=tuple(fallacy for score in scores for fallacy in score.fallacies),
        because=tuple(filter(None, because)),
    )
