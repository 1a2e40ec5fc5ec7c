"""Annexes: tables and texts that a protocol adds to its decision, for every surface.

annexes_of(book) returns the argument table of a debate, zones and concerns of an adversarial review, scorecard and
recommendations of a comparison, votes of a tribunal, ratings of a priority list, findings of a panel, members of a
council, challenges with their dispositions, and the final text where a run ends in one. Each kind of event has one
table in every protocol. A run without such events has no such annex.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from ledger.events import Argument, Challenge, Decision, Disposition, Response, Standing, Statement
from ledger.language.words import word_count
from ledger.plain_text import first_sentence, one_line, some, visible
from ledger.state.book import Book
from moot.view.annexes_judging import (
    Annex,
    annex_table,
    annex_text,
    arguments_annex,
    case_annex,
    cell,
    concerns_annex,
    judges_annex,
    members_annex,
    questions_annex,
    ratings_annex,
    recommendations_annex,
    scorecard_annex,
    votes_annex,
)
from moot.view.judgements import GAP, majority
from moot.view.reasons import Point
from moot.view.words import counted


class FinalText(NamedTuple):
    """The section that the decision names, in runs that end in a text."""

    ref: str
    text: str
    words: int


def annexes_of(book: Book) -> list[Annex]:
    """Return the annexes of a run; empty where roles only raised and tested claims."""
    return [annex for make in _ANNEXES for annex in make(book)]


def final_text(book: Book, decision: Decision | None) -> FinalText | None:
    """Return the text that a decision hands on: the section that it names, else the plan of its own step.

    Without a decision it is the last draft, where one author wrote all drafts.
    """
    # An override or an answer is a person's own text and hands on no section of a plan.
    if decision is not None and decision.type in ("override", "answer"):
        return None
    drafts = [event for event in book.of(Statement) if event.type in ("proposal", "plan") and event.sections]
    if decision is not None:
        # Several plans may exist (JB council), and only the one of the deciding step is the result.
        step = decision.step
        drafts = [event for event in drafts if event.type == "plan" and step and event.step == step]
    if len({event.by for event in drafts}) != 1:
        return None
    # A decision need not name a section; the first one is then taken as the plan itself.
    sections = {f"{drafts[-1].id}#{section.name}": section.text for section in drafts[-1].sections}
    refs = () if decision is None else decision.round_artifact_refs
    chosen = next(ref for ref in (*refs, *sections) if ref in sections)
    return FinalText(chosen, sections[chosen], word_count(sections[chosen]))


def plans_to_read(run: str, book: Book, plans: Sequence[Decision]) -> Iterator[Point]:
    """Yield where the plans of the members of a council are, as each of them is more than its decision."""
    refs = [text.ref for plan in plans if (text := final_text(book, plan)) is not None]
    if refs:
        plans_ = f"the {len(refs)} plans before you use one" if refs[1:] else "the plan before you use it"
        yield Point.of(
            f"Read {plans_}: {some(refs, 5)}; moot show {run} ID (each decision names its plan)", *refs
        )


def _narratives(book: Book) -> Iterator[Annex]:
    """Yield a judge's key narratives, and the zones where the sides agree and differ."""
    for decision in book.of(Decision):
        # Of several judges a rule decides: the insight of each is beside its recommendation.
        insight = "Agreement of the judges" if decision.made_by == "rule" else "Key insight"
        title = "Key narratives" if decision.zones else insight if any(book.of(Standing)) else "Beside it"
        # The narrative about the gap is computed by the protocol, and the argument table shows it already.
        narratives = [one_line(narrative) for narrative in decision.narratives if GAP not in narrative]
        yield from annex_text(title, narratives, decision.id)
        if decision.zones is not None:
            agreed = [one_line(zone) for zone in decision.zones.agreement]
            contested = [one_line(zone) for zone in decision.zones.contested]
            yield from annex_text("Agreement zones (high confidence)", agreed, decision.id)
            yield from annex_text("Contested zones (flag for attention)", contested, decision.id)


def _challenges(book: Book) -> Iterator[Annex]:
    """Yield the challenges to a text with their answers and dispositions, and the tally."""
    # Attacks on arguments belong to the argument table; this one covers attacks on a text.
    arguments = {argument.id for argument in book.of(Argument)}
    became = {disposition.of: disposition for disposition in book.of(Disposition)}
    answers = {response.to: response for response in book.of(Response)}
    against = [challenge for challenge in book.of(Challenge) if challenge.target not in arguments]
    # Members of a council each criticize their own plan, so one common table would mix them up.
    if majority(book) is not None:
        return
    rows = [
        (
            challenge.id,
            challenge.tag or "",
            one_line(challenge.claim or challenge.text),
            cell(f"{answer.outcome}: {first_sentence(answer.text)}")
            if (answer := answers.get(challenge.id)) is not None
            else "",
            _became(became.get(challenge.id)),
        )
        for challenge in against
    ]
    heads = ("id", "kind", "challenge", "answer", "what became of it")
    yield from annex_table("Challenges", heads, rows, _tally(against, became))


def _became(disposition: Disposition | None) -> str:
    """Return what became of a challenge, with the question that it left to a person."""
    if disposition is None:
        return ""
    ending = cell(f"{disposition.disposition.replace('_', ' ')}: {first_sentence(disposition.reason)}")
    return f"{ending} To a person: {one_line(disposition.question)}" if disposition.question else ending


def _tally(against: Sequence[Challenge], became: dict[str, Disposition]) -> str:
    """Return the tally: `8 challenges (3 structural, 2 assumption, 3 missing): 7 accepted, 1 escalated` (JB-29)."""
    tags = Counter(challenge.tag.lower() for challenge in against if challenge.tag)
    # Count dispositions from typed events: words in the resolver's prose over-count (JB-13).
    ends = Counter(became[challenge.id].disposition for challenge in against if challenge.id in became)
    kinds = f" ({', '.join(f'{number} {tag}' for tag, number in tags.items())})" if tags else ""
    endings = ", ".join(f"{number} {name.replace('_', ' ')}" for name, number in ends.most_common())
    return f"{counted(len(against), 'challenge')}{kinds}: {endings}." if endings else ""


def _final(book: Book) -> Iterator[Annex]:
    """Yield the text that the run ends in, by lines."""
    for decision in book.of(Decision):
        final = final_text(book, decision) if decision.type == "final" else None
        if final is not None:
            # A seat wrote this text, so control characters must not reach a terminal.
            lines = [line.rstrip() for line in visible(final.text).splitlines()]
            # Blank lines are dropped because the limit of the report counts lines.
            yield from annex_text("The final text", [line for line in lines if line.strip()], final.ref)


_ANNEXES: Final[tuple[Callable[[Book], Iterator[Annex]], ...]] = (
    scorecard_annex, recommendations_annex, votes_annex, ratings_annex, members_annex, judges_annex, _narratives,
    questions_annex, case_annex, arguments_annex, concerns_annex, _challenges, _final,
)  # fmt: skip
"""All annexes, in reading order."""
