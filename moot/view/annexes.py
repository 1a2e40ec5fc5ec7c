"""Annexes: what a protocol brings out beside its decision, as titled tables and texts, for every surface.

annexes_of(book) → the argument table of a debate, zones and concerns of an adversarial review, scorecard and
recommendations of a comparison, votes of a tribunal, ratings of a priority list, findings of a panel, members of a
council, challenges with what became of them, and the final text of whatever ends in one. A kind of thing has one
table, whatever the protocol is called: a run without such events has no such annex.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from ledger.events import (
    Argument,
    Challenge,
    Decision,
    Disposition,
    Response,
    Standing,
    Statement,
)
from ledger.language.words import word_count
from ledger.plain_text import first_sentence, one_line, visible
from ledger.state.book import Book
from moot.view.annex_parts import Annex, annex_table, annex_text, cell
from moot.view.annexes_judging import (
    arguments_annex,
    case_annex,
    concerns_annex,
    judges_annex,
    members_annex,
    punches_annex,
    questions_annex,
    ratings_annex,
    recommendations_annex,
    scorecard_annex,
    votes_annex,
)
from moot.view.judged import GAP, majority
from moot.view.words import counted


class FinalText(NamedTuple):
    """What a run ends in where it ends in a text: the section that the decision names."""

    ref: str
    text: str
    words: int


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
        sections = {f"{event.id}#{section.name}": section.text for section in event.sections}
        chosen = next((ref for ref in decision.round_artifact_refs if ref in sections), None)
        chosen = chosen or next(iter(sections), None)
        if chosen is not None:
            return FinalText(chosen, sections[chosen], word_count(sections[chosen]))
    return None


def _narratives(book: Book) -> Iterator[Annex]:
    """What a judge says shows best, and where the sides agree and differ."""
    for decision in book.of(Decision):
        title = (
            "Key narratives" if decision.zones else "Key insight" if any(book.of(Standing)) else "Beside it"
        )
        narratives = [one_line(narrative) for narrative in decision.narratives if GAP not in narrative]
        yield from annex_text(title, narratives, decision.id)
        if decision.zones is not None:
            yield from annex_text(
                "Agreement zones (high confidence)",
                [one_line(zone) for zone in decision.zones.agreement],
                decision.id,
            )
            yield from annex_text(
                "Contested zones (flag for attention)",
                [one_line(zone) for zone in decision.zones.contested],
                decision.id,
            )


def _challenges(book: Book) -> Iterator[Annex]:
    """What was said against a text, how it was answered and what became of it, with the tally."""
    arguments = {argument.id for argument in book.of(Argument)}
    became = {disposition.of: disposition for disposition in book.of(Disposition)}
    answers = {response.to: response for response in book.of(Response)}
    against = [challenge for challenge in book.of(Challenge) if challenge.target not in arguments]
    if majority(book) is not None:
        return
    rows = [
        (
            challenge.id or "",
            challenge.tag or "",
            one_line(challenge.claim or challenge.text),
            _answered(answers.get(challenge.id or "")),
            _became(became.get(challenge.id or "")),
        )
        for challenge in against
    ]
    heads = ("id", "kind", "challenge", "answer", "what became of it")
    yield from annex_table("Challenges", heads, rows, _tally(against, became))


def _answered(answer: Response | None) -> str:
    return "" if answer is None else cell(f"{answer.outcome}: {first_sentence(answer.text)}")


def _became(disposition: Disposition | None) -> str:
    if disposition is None:
        return ""
    ending = cell(f"{disposition.disposition.replace('_', ' ')}: {first_sentence(disposition.reason)}")
    return f"{ending} To a person: {one_line(disposition.question)}" if disposition.question else ending


def _tally(against: Sequence[Challenge], became: dict[str, Disposition]) -> str:
    """`8 challenges (3 structural, 2 assumption, 3 missing): 7 accepted, 1 escalated.` (JB-29)"""
    tags = Counter(challenge.tag.lower() for challenge in against if challenge.tag)
    ends = Counter(became[challenge.id].disposition for challenge in against if challenge.id in became)
    kinds = f" ({', '.join(f'{number} {tag}' for tag, number in tags.items())})" if tags else ""
    endings = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in ends.most_common())
    return f"{counted(len(against), 'challenge')}{kinds}: {endings}." if endings else ""


def _final(book: Book) -> Iterator[Annex]:
    """The text that the run ends in."""
    for decision in book.of(Decision):
        final = final_text(book, decision) if decision.type == "final" else None
        if final is not None:
            lines = [line.rstrip() for line in visible(final.text).splitlines()]
            yield from annex_text("The final text", [line for line in lines if line.strip()], final.ref)


_ANNEXES: Final[tuple[Callable[[Book], Iterator[Annex]], ...]] = (
    scorecard_annex, recommendations_annex, votes_annex, ratings_annex, members_annex, judges_annex, _narratives,
    questions_annex, case_annex, arguments_annex, punches_annex, concerns_annex, _challenges, _final,
)  # fmt: skip
"""In the order in which they are read."""
