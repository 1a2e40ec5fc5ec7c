"""Annexes: what a protocol brings out beside its decision, as titled tables and texts, for every surface.

annexes_of(book) → the argument table of a debate, zones and concerns of an adversarial review, scorecard and
recommendations of a comparison, votes of a tribunal, ratings of a priority list, findings of a panel, members of a
council, challenges with what became of them, and the final text of whatever ends in one. A kind of thing has one
table, whatever the protocol is called: a run without such events has no such annex.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ledger.events import (
    Argument,
    Challenge,
    Concern,
    Decision,
    Disposition,
    Rating,
    Response,
    Score,
    Standing,
    Statement,
    Vote,
)
from ledger.plain_text import first_sentence, one_line, shortened, visible
from ledger.result import Result
from ledger.state.book import Book
from moot.view.judged import GAP, majority, option_of, ruling_of, scorecard, side_means, view_of, votes_of
from moot.view.options import named
from moot.view.words import counted


class Annex(Result, frozen=True):
    """A titled table (`heads`, `rows` of as many cells) with `notes` above it, or `paragraphs` of text from `ref`."""

    title: str
    notes: list[str]
    heads: list[str]
    rows: list[list[str]]
    paragraphs: list[str]
    ref: str | None


class FinalText(NamedTuple):
    """What a run ends in where it ends in a text: the section that the decision names."""

    ref: str
    text: str
    words: int


CELL: Final = 200
"""The most characters of a cell; what is cut ends in … and stands whole under its id."""
POINTS: Final = {"logic30": "logic, evidence, responsiveness, honesty: 30, 30, 25, 15 %"}
"""What the parts of a rubric are and how they are weighed."""


def annexes_of(book: Book) -> list[Annex]:
    """What the protocol of a run brings out; empty where only claims were raised and tested."""
    return [annex for make in _ANNEXES for annex in make(book)]


def final_text(book: Book, decision: Decision | None) -> FinalText | None:
    """The text that a decision hands on: the section that it names, else the plan of its own step."""
    if decision is None or decision.type in ("override", "answer"):
        return None
    for event in book.of(Statement):
        own = event.step is not None and event.step == decision.step
        if not own or event.type != "plan":
            continue
        sections = {f"{event.id}#{one.name}": one.text for one in event.sections}
        chosen = next((ref for ref in decision.round_artifact_refs if ref in sections), None)
        chosen = chosen or next(iter(sections), None)
        if chosen is not None:
            return FinalText(chosen, sections[chosen], len(sections[chosen].split()))
    return None


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *notes: str) -> Iterator[Annex]:
    """A table without the columns in which no row has anything."""
    used = [n for n in range(len(heads)) if any(row[n] for row in rows)]
    if rows:
        yield Annex(
            title=title,
            notes=[one for one in notes if one],
            heads=[heads[n] for n in used],
            rows=[[row[n] for n in used] for row in rows],
            paragraphs=[],
            ref=None,
        )


def _text(title: str, paragraphs: Sequence[str], ref: str | None) -> Iterator[Annex]:
    if paragraphs:
        yield Annex(title=title, notes=[], heads=[], rows=[], paragraphs=list(paragraphs), ref=ref)


def _narratives(book: Book) -> Iterator[Annex]:
    """What a judge says shows best, and where the sides agree and differ."""
    for decision in book.of(Decision):
        title = (
            "Key narratives" if decision.zones else "Key insight" if any(book.of(Standing)) else "Beside it"
        )
        told = [one_line(one) for one in decision.narratives if GAP not in one]
        yield from _text(title, told, decision.id)
        if decision.zones is not None:
            yield from _text(
                "Agreement zones (high confidence)",
                [one_line(one) for one in decision.zones.agreement],
                decision.id,
            )
            yield from _text(
                "Contested zones (flag for attention)",
                [one_line(one) for one in decision.zones.contested],
                decision.id,
            )


def _arguments(book: Book) -> Iterator[Annex]:
    """One row an argument: whose side, what it claims, what was said against it, its points, what is left of it."""
    arguments = list(book.of(Argument))
    challenges = list(book.of(Challenge))
    answers = {one.to: one.outcome for one in book.of(Response)}
    standings = {one.of: one for one in book.of(Standing)}
    scores = {one.of: one for one in book.of(Score)}
    rows = [
        (
            one.id or "",
            one.side,
            one_line(one.claim),
            "; ".join(_met(attack, answers) for attack in challenges if attack.target == one.id),
            _points(scores.get(one.id or "")),
            _stood(standings.get(one.id or "")),
        )
        for one in arguments
    ]
    one_sided = len({one.by for one in arguments}) == 1
    traced = any(one.id in standings for one in arguments)
    title = "Argument trace table" if traced else "Advocate position" if one_sided else "Arguments"
    yield from _table(
        title, ("id", "side", "claim", "met with", "points", "standing, and why"), rows, _totals(book)
    )


def _met(attack: Challenge, answers: Mapping[str, str]) -> str:
    answer = answers.get(attack.id or "")
    return f"{attack.by} {attack.type or 'attack'} {attack.id}{f', answered: {answer}' if answer else ''}"


def _points(score: Score | None) -> str:
    if score is None:
        return ""
    parts = " ".join(f"{name.removesuffix('_score')} {value}" for name, value in score.parts.items())
    wrong = f"; fallacies: {', '.join(score.fallacies)}" if score.fallacies else ""
    return f"{score.total} ({parts}{wrong})"


def _stood(standing: Standing | None) -> str:
    if standing is None:
        return ""
    return f"{standing.standing.lower().replace('_', ' ')}: {one_line(standing.reason)}"


def _totals(book: Book) -> str:
    """The totals of the sides and what the gap says."""
    sides = {side: mean for side, mean in side_means(book).items() if not side.startswith("O-")}
    if not sides:
        return ""
    judged = [one for decision in book.of(Decision) for one in decision.narratives if GAP in one]
    rubric = next((POINTS[one.rubric] for one in book.of(Score) if one.rubric in POINTS), "")
    weighed = f" Points are of 10 ({rubric})." if rubric else ""
    if judged:
        return f"Totals: {one_line(judged[-1])}{weighed}"
    said = ", ".join(f"{side} {mean:.2f}" for side, mean in sides.items())
    gap = max(sides.values()) - min(sides.values())
    return f"Mean points: {said}; gap {gap:.2f}. They say who argued better, not who is right.{weighed}"


def _scorecard(book: Book) -> Iterator[Annex]:
    """Options by criterion, with the weights."""
    cards = scorecard(book)
    weights = {one.criterion: str(one.value) for one in book.of(Rating) if one.scale == "weight_hml"}
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
    yield from _table(
        "Scorecard", heads, [*rows, total] if rows else [], "Means over all judgements, 1 to 5."
    )


def _recommendations(book: Book) -> Iterator[Annex]:
    """Of decisions on the way that say which option is ahead and why: their words."""
    if not scorecard(book):
        return
    for decision in book.of(Decision):
        if decision.type == "round":
            yield from _text("Recommendation", [named(book, one_line(decision.text))], decision.id)


def _concerns(book: Book) -> Iterator[Annex]:
    """Findings and concerns that others rated, the gravest first."""
    ratings = severities(book)
    rated = [one for one in book.of(Concern) if one.id in ratings]
    rated.sort(key=lambda one: -_mean([float(rating.value) for rating in ratings[one.id or ""]]))
    rows = [
        (
            one.id or "",
            one.by,
            _shorter(one.text),
            str(one.severity or ""),
            ", ".join(f"{rating.by} {rating.value}" for rating in ratings[one.id or ""]),
        )
        for one in rated
    ]
    yield from _table(
        "Concerns, the gravest first", ("id", "by", "concern", "own severity", "others' severity"), rows
    )


def severities(book: Book) -> dict[str, list[Rating]]:
    """Id of a concern → how severe others found it, 1 to 5."""
    found: dict[str, list[Rating]] = {}
    for one in book.of(Rating):
        if one.scale == "severity_1_5":
            found.setdefault(one.of, []).append(one)
    return found


def _shorter(text: str) -> str:
    """As much of a text as a cell has room for, to the end of a word."""
    return shortened(text, CELL)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def open_questions(book: Book) -> list[Concern]:
    """Questions that a judge leaves open and that are not put to a person."""
    return [
        one
        for one in book.of(Concern)
        if one.type == "question" and not one.for_human and one.id not in book.state.resolved
    ]


def _questions(book: Book) -> Iterator[Annex]:
    asked = open_questions(book) if any(book.of(Argument)) else []
    rows = [(one.id or "", one_line(one.text)) for one in sorted(asked, key=lambda one: -one.round)]
    yield from _table("Unresolved questions", ("id", "question"), rows)


def _challenges(book: Book) -> Iterator[Annex]:
    """What was said against a text, how it was answered and what became of it, with the tally."""
    arguments = {one.id for one in book.of(Argument)}
    became = {one.of: one for one in book.of(Disposition)}
    answers = {one.to: one for one in book.of(Response)}
    against = [one for one in book.of(Challenge) if one.target not in arguments]
    if majority(book) is not None:
        return
    rows = [
        (
            one.id or "",
            one.tag or "",
            one_line(one.claim or one.text),
            _answered(answers.get(one.id or "")),
            _became(became.get(one.id or "")),
        )
        for one in against
    ]
    heads = ("id", "kind", "challenge", "answer", "what became of it")
    yield from _table("Challenges", heads, rows, _tally(against, became))


def _answered(answer: Response | None) -> str:
    return "" if answer is None else _shorter(f"{answer.outcome}: {first_sentence(answer.text)}")


def _became(disposition: Disposition | None) -> str:
    if disposition is None:
        return ""
    said = _shorter(f"{disposition.disposition.replace('_', ' ')}: {first_sentence(disposition.reason)}")
    return f"{said} To a person: {one_line(disposition.question)}" if disposition.question else said


def _tally(against: Sequence[Challenge], became: dict[str, Disposition]) -> str:
    """`8 challenges (3 structural, 2 assumption, 3 missing): 7 accepted, 1 escalated.` (JB-29)"""
    tags = Counter(one.tag.lower() for one in against if one.tag)
    ends = Counter(became[one.id].disposition for one in against if one.id in became)
    kinds = f" ({', '.join(f'{number} {tag}' for tag, number in tags.items())})" if tags else ""
    told = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in ends.most_common())
    return f"{counted(len(against), 'challenge')}{kinds}: {told}." if told else ""


def _votes(book: Book) -> Iterator[Annex]:
    """The votes of every ballot, the rule's reason, and what all seats came to alike."""
    votes, ruling = list(book.of(Vote)), ruling_of(book)
    rows = [
        (view_of(one), str(one.ballot), "no vote (counts as REFUSE)", "", "", "")
        if one.fallback
        else (
            view_of(one),
            str(one.ballot),
            one.decision,
            f"{one.confidence}%",
            str(one.risk),
            first_sentence(one.reasoning),
        )
        for one in votes
    ]
    notes = (
        ()
        if ruling is None
        else (f"{ruling.decision} by the rule {ruling.rule.replace('_', ' ')}.", _shared(book))
    )
    heads = ("seat", "ballot", "vote", "confidence", "risk of 100", "why, as it begins")
    yield from _table("Votes", heads, rows, *notes)


def _shared(book: Book) -> str:
    """Return how the last votes that were given are spread, and the least risk; agreement in words is recorded nowhere."""
    ruling = ruling_of(book)
    last = [one for one in votes_of(book, ruling) if not one.fallback] if ruling is not None else []
    if not last:
        return ""
    ways = Counter(one.decision for one in last).most_common()
    spread = ", ".join(f"{number} of {len(last)} vote {way}" for way, number in ways)
    return f"{spread}; every vote puts the risk at {min(one.risk for one in last)} of 100 or more."


def _ratings(book: Book) -> Iterator[Annex]:
    """Priorities by lens; two levels apart or more is marked."""
    rated: dict[str, dict[str, Rating]] = {}
    for one in book.of(Rating):
        if one.scale == "priority_p":
            rated.setdefault(one.of, {})[one.criterion or one.by] = one
    lenses = list(dict.fromkeys(lens for one in rated.values() for lens in one))
    rows = [
        (
            named(book, option),
            *(
                f"{ratings[lens].value}: {one_line(ratings[lens].reason)}" if lens in ratings else ""
                for lens in lenses
            ),
            "yes" if _apart(ratings) >= 2 else "",
        )
        for option, ratings in sorted(rated.items())
    ]
    yield from _table("Priorities by lens", ("option", *lenses, "two levels apart"), rows)


def _apart(ratings: dict[str, Rating]) -> int:
    words = [str(one.value).removeprefix("P") for one in ratings.values()]
    levels = [int(word) for word in words if word.isdecimal()]
    return max(levels, default=0) - min(levels, default=0)


def _members(book: Book) -> Iterator[Annex]:
    """What independent members decided, with how many named which option."""
    if majority(book) is None:
        return
    plans = [one for one in book.of(Decision) if one.made_by == "resolver" and one.type == "round"]
    counts = Counter(option_of(one) or "no option" for one in plans)
    note = ", ".join(f"{number} of {len(plans)} {option}" for option, number in counts.most_common())
    rows = [
        (one.id or "", option_of(one) or "", str(one.confidence or ""), first_sentence(one.text))
        for one in plans
    ]
    yield from _table("Members", ("id", "option", "confidence", "decision, as it begins"), rows, f"{note}.")


def _final(book: Book) -> Iterator[Annex]:
    """The text that the run ends in."""
    for decision in book.of(Decision):
        found = final_text(book, decision) if decision.type == "final" else None
        if found is not None:
            lines = [line.rstrip() for line in visible(found.text).splitlines()]
            yield from _text("The final text", [line for line in lines if line.strip()], found.ref)


_ANNEXES: Final[tuple[Callable[[Book], Iterator[Annex]], ...]] = (
    _scorecard, _recommendations, _votes, _ratings, _members, _narratives, _questions, _arguments, _concerns,
    _challenges, _final,
)  # fmt: skip
"""In the order in which they are read."""
