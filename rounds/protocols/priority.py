"""`priority`: two lenses give every option a level from P0 to P3, independently, and the levels are added (AD-28).

Laws
1. Urgency and impact work side by side and rate every option exactly once.
2. P0 counts 4, P1 3, P2 2, P3 1; the order is by the sum, ties share a rank and keep the order of the options.
   Half the sum, rounded to the more urgent, is the level of both: 8 and 7 are P0, 6 and 5 P1, 4 and 3 P2, 2 P3.
3. Levels two or more apart are a disagreement, shown with both reasons and put to a person.
4. The true Borda order is shown beside the published sum, which is no Borda count. One lens lost: the other's order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Annotated, Final, Literal

from msgspec import Meta

from ledger.events import Argument, Concern, Decision, Event, Rating
from ledger.state.book import Book
from ledger.state.decided import deliberated
from roles.protocol import Loss, Protocol, QuestionKind, RoleDefinition, Step
from roles.replies import Part, Sentence, Word
from rounds.protocols.citations import cites, exactly_one
from rounds.protocols.step_table import Numbering, StepRow, StepTable, asks, handed_in, says

Level = Literal["P0", "P1", "P2", "P3"]
POINTS: Final[Mapping[str, int]] = {"P0": 4, "P1": 3, "P2": 2, "P3": 1}
LENSES: Final = ("urgency", "impact")
DISAGREEMENT_FROM: Final = 2


class LevelRow(Part, frozen=True, kw_only=True):
    """The level of one option, with the reason in a sentence."""

    of: Word
    level: Level
    reason: Sentence


class LevelsReply(Part, frozen=True, kw_only=True):
    """A level for every option, and what decides through this lens."""

    principle: Annotated[str, Meta(min_length=10, max_length=600)]
    reasoning: Annotated[str, Meta(min_length=20, max_length=2_000)]
    evidence: Annotated[str, Meta(min_length=5, max_length=2_000)]
    levels: Annotated[tuple[LevelRow, ...], Meta(min_length=1, max_length=64)]


def _levels(numbering: Numbering, step: Step, reply: LevelsReply) -> Iterator[Event]:
    yield numbering.event(
        Argument, step, reply, label=step.role.upper(), side=step.role, claim=reply.principle
    )
    rows = {row.of: row for row in reply.levels}
    # In the order of the question's options: the order of a reply must not reach the ledger.
    for option in numbering.book.state.opening.options:
        row = rows[option.id]
        yield numbering.event(Rating, step, row, scale="priority_p", value=row.level, criterion=step.role)


def level_of_sum(total: int, lenses: int = 2) -> str:
    """Return the level of a sum of points: its share for each lens, rounded to the more urgent."""
    # Division with the sign turned rounds up, so 7 points of two lenses are P0 and not P1.
    return f"P{4 - -(-total // lenses)}"


def summed(levels: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """Map each option to the points of all lenses together; `levels` maps lens → option → level."""
    totals = Counter[str]()
    for by_option in levels.values():
        for option, level in by_option.items():
            totals[option] += POINTS[level]
    return totals


def borda(levels: Mapping[str, Mapping[str, str]]) -> dict[str, Fraction]:
    """Map each option to its Borda points: the options that each lens puts below it, a tie counting half."""
    points: dict[str, Fraction] = {}
    for by_option in levels.values():
        for option, level in by_option.items():
            own, others = POINTS[level], by_option.values()
            # An option below counts twice and one that is level once, and so does the option itself.
            halves = sum((own > POINTS[other]) + (own >= POINTS[other]) for other in others) - 1
            points[option] = points.get(option, Fraction(0)) + Fraction(halves, 2)
    return points


def ranked(points: Mapping[str, int] | Mapping[str, Fraction]) -> list[tuple[int, str]]:
    """Return (rank, option) by points, the most first; ties share the rank and keep the order of the options."""
    # A stable sort: options with the same points stay in the order of the question.
    ordered = sorted(points, key=lambda option: -points[option])
    return [(1 + sum(other > points[option] for other in points.values()), option) for option in ordered]


def levels_of(book: Book) -> dict[str, dict[str, str]]:
    """Map each lens to its levels by option."""
    levels: dict[str, dict[str, str]] = {}
    for event in book.of(Rating):
        # A ledger that was written by hand may hold ratings on other scales.
        if event.value in POINTS:
            levels.setdefault(event.by, {})[event.of] = str(event.value)
    return levels


def far_apart(levels: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the options whose levels are so far apart that a person decides."""
    points = {
        option: [POINTS[by_option[option]] for by_option in levels.values() if option in by_option]
        for option in summed(levels)
    }
    return [option for option, each in points.items() if max(each) - min(each) >= DISAGREEMENT_FROM]


def borda_text(levels: Mapping[str, Mapping[str, str]]) -> str:
    """Return the Borda order: `1. O-1 (2.5), 2. O-3 (2)`."""
    counts = borda(levels)
    return ", ".join(f"{rank}. {option} ({float(counts[option]):g})" for rank, option in ranked(counts))


def verdict(book: Book) -> tuple[Event, ...]:
    """Return the order by rule, and every disagreement put to a person, once both lenses are in or lost."""
    state, round_ = book.state, book.state.round
    if deliberated(state) or handed_in(state, round_, "rating") == 0:
        return ()
    # A lens that is still expected could change the order, so nothing is decided before it is in or lost.
    if any(not state.is_done(f"r{round_}.rating.{lens}") for lens in LENSES):
        return ()
    reasons = {(event.by, event.of): event.reason for event in book.of(Rating)}
    # A reply has a level for every option. A ledger that lost one of them fails here: its order would be another.
    options = [option.id for option in state.opening.options]
    levels = {lens: {option: given[option] for option in options} for lens, given in levels_of(book).items()}
    numbering = Numbering(book, round_)
    concerns: list[Event] = []
    for option in far_apart(levels):
        views = (f"{lens} says {levels[lens][option]} ({reasons[lens, option]})" for lens in LENSES)
        text = f"{option}: {'; '.join(views)}"
        concerns.append(
            numbering.computed(Concern, type="tension", text=text, between=LENSES, for_human=True)
        )
    return (*concerns, _decision(numbering, levels))


def _decision(numbering: Numbering, levels: Mapping[str, Mapping[str, str]]) -> Decision:
    totals = summed(levels)
    # A lost lens is named, because one lens alone is no agreement.
    lost = [lens for lens in LENSES if lens not in levels]
    alone = f"{', '.join(levels)} alone, as {', '.join(lost)} was lost"
    points = "points {}" if lost else "sum {}"
    order = [
        f"{rank}. {option} {level_of_sum(totals[option], len(levels))} ({points.format(totals[option])})"
        for rank, option in ranked(totals)
    ]
    return numbering.computed(
        Decision,
        text=f"Order by {alone if lost else 'the sum of both lenses'}: {', '.join(order)}.",
        type="final",
        cites=cites("argument", [(event.id, "based-on") for event in numbering.book.of(Argument)]),
        made_by="rule",
        about=[option.id for option in numbering.book.state.opening.options],
        narratives=(f"Borda order: {borda_text(levels)}.",),
    )


def _sides(book: Book) -> Counter[str]:
    """Return how many options had levels so far apart that a person decides."""
    apart = len(far_apart(levels_of(book)))
    # Where levels are far apart a person decides (AD-28), so the human is the side that was followed.
    return Counter({"human": apart} if apart else {})


STEPS: Final = StepTable(
    (
        StepRow(
            "rating",
            asks(*LENSES),
            LevelsReply,
            says("assessment", "principle"),
            _levels,
            lambda known, reply: exactly_one(
                (row.of for row in reply.levels),
                (option.id for option in known.opened.options),
                "levels",
                "option",
            ),
            Loss(
                "survivor_only",
                "the order is the other lens's alone; without either, there is none",
                decides=True,
            ),
        ),
    )
)

PRIORITY: Final[Protocol] = STEPS.protocol(
    "priority",
    "two lenses, urgency and impact, give every option a level; levels far apart are put to you",
    (
        RoleDefinition("urgency", "What gets worse by waiting?", "charters/urgency", "Urgency"),
        RoleDefinition("impact", "What makes the larger difference?", "charters/impact", "Impact"),
    ),
    options_wanted=(2, 64),
    owed=verdict,
    questions=(QuestionKind("order", "a list to put in order"),),
    fits="a list that has to be put in order",
    calls="2",
    sides=_sides,
)
