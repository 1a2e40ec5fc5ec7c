"""A, B and C of `crux`: the frame, sealed answers, and the agenda that is made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from detectors.forecasts.arithmetic import Numbers, incoherence, points_of
from detectors.parameters import forecast_parameters
from ledger.events import Agenda, Belief, Claim, Concern, Event, Statement
from ledger.events.answers import ConditionalBelief, DroppedProposal, MergedProposals
from ledger.events.ids import label_id, number_of, parse_reference
from ledger.events.run import Labelled
from ledger.language.words import UNSPACED, word_count
from ledger.state.book import Book, sections_of
from ledger.state.state import AGENDA_STEP, OWN, State
from roles.protocol import Step
from rounds.protocols.citations import Quotable, as_points, exactly_one, names, points_problems
from rounds.protocols.crux.replies import (
    WORDS_MAX,
    AgendaReply,
    CruxDraft,
    CruxNumbers,
    ForecastReply,
    FrameReply,
    How,
    MergedCrux,
    NumbersReply,
    SealedAnswer,
)
from rounds.protocols.crux.standing import (
    NONE,
    NUMBERS,
    SEALED,
    answer_id,
    answering_roles,
    forecast_id,
    is_open_ended,
    kept_cruxes,
    option_ids,
    sealed,
    short_way_is_open,
)
from rounds.protocols.plans import AUTHORS
from rounds.protocols.step_table import Numbering, statement

LABELS: Final = ("a", "b", "c", "d")
OPTIONS_MAX: Final = 6


# ---------------------------------------------------------------- checks


def coherence_problems(
    draft: CruxNumbers | CruxDraft, own: Mapping[str, int], options: tuple[str, ...], where: str
) -> Iterator[str]:
    """Complain where both forecasts are none, or contradict the probability and the role's own forecast."""
    yield from points_problems(draft.if_true, options, f"{where}.if_true")
    yield from points_problems(draft.if_false, options, f"{where}.if_false")
    numbers = Numbers(
        draft.probability,
        points_of(as_points(draft.if_true), options),
        points_of(as_points(draft.if_false), options),
    )
    limit = forecast_parameters().limits.incoherent_above
    forecast = points_of(own, options)
    # The parameter is a whole number of points, so honest rounding by a model passes and
    # a contradiction does not.
    for option, points, difference in zip(options, forecast, incoherence(numbers, forecast), strict=True):
        if abs(difference) > limit:
            yield (
                f"{where}: probability, if_true and if_false together give {option}"
                f" {float(points + difference):.1f} points, and your forecast gives it {points}; they may differ by"
                f" {limit}"
            )


def words_problem(text: str, at_most: int, where: str) -> Iterator[str]:
    """Yield a problem where a text has too many words."""
    count = word_count(text)
    if count > at_most:
        # Chinese and Japanese have no spaces, so a model cannot find the mistake from the count alone.
        counted = " (two characters are a word)" if UNSPACED.search(text) else ""
        yield f"{where}: {count} words, {at_most} at most{counted}"


# ---------------------------------------------------------------- A: the frame


def wrong_frame(known: Quotable, reply: FrameReply) -> Iterator[str]:
    """Yield what is wrong with a frame."""
    if reply.ill_posed and not reply.why:
        yield "why: say in a sentence why the question cannot be answered as it stands"
    for n, same in enumerate(reply.double):
        yield from known.option_problems(same, f"double[{n}]")
        if len(set(same)) < 2:
            yield f"double[{n}]: name at least two options that are the same"
    for n, word in enumerate(reply.two_readings):
        if len(word.readings) < 2:
            yield f"two_readings[{n}].readings: two or three are wanted"


# ---------------------------------------------------------------- B: sealed answers


def wrong_answer(known: Quotable, reply: SealedAnswer) -> Iterator[str]:
    """Yield what is wrong with an answer."""
    # Without options of the question, a role can put points only on its own answer and on "none": it has not
    # seen the answers of the others, and a forecast over unknown options would mean nothing.
    open_ended = is_open_ended(known.state)
    options = (OWN, NONE) if open_ended else option_ids(known.state)
    if open_ended and not (reply.answer or "").strip():
        yield f"answer: the question names no options, so give your own answer in {WORDS_MAX} words at most"
    yield from words_problem(reply.answer or "", WORDS_MAX, "answer")
    yield from points_problems(reply.forecast, options, "forecast")
    for n, text in enumerate(reply.reasons):
        yield from words_problem(text, WORDS_MAX, f"reasons[{n}]")
    own = as_points(reply.forecast)
    for n, draft in enumerate(reply.cruxes):
        yield from coherence_problems(draft, own, options, f"cruxes[{n}]")


def answered(numbering: Numbering, step: Step, reply: SealedAnswer) -> tuple[Event, ...]:
    """Return the words of an answer, then its forecast."""
    sections = {
        "answer": reply.answer or "",
        **{f"reason-{n}": text for n, text in enumerate(reply.reasons, 1)},
        **{f"defeater-{n}": text for n, text in enumerate(reply.could_be_wrong, 1)},
        **{
            f"crux-{n}": f"{draft.text}\n\ntest, by {draft.how}: {draft.test}"
            for n, draft in enumerate(reply.cruxes, 1)
        },
    }
    # A statement without a section is invalid, and a role that hands in only numbers still needs one.
    words = sections if any(sections.values()) else {"answer": "No reason was given."}
    conditional = [_conditional(draft, f"crux-{n}", how=draft.how) for n, draft in enumerate(reply.cruxes, 1)]
    return (
        *statement(step, "analysis", words),
        _belief(numbering, step, SEALED, as_points(reply.forecast), conditional),
    )


def _conditional(draft: CruxDraft | CruxNumbers, claim: str, how: How | None = None) -> ConditionalBelief:
    if_true, if_false = as_points(draft.if_true), as_points(draft.if_false)
    return ConditionalBelief(claim=claim, how=how, q=draft.probability, if_true=if_true, if_false=if_false)


def _belief(
    numbering: Numbering,
    step: Step,
    n: int,
    points: Mapping[str, int],
    conditional: Iterable[ConditionalBelief],
) -> Belief:
    forecast: dict[str, Any] = {"points": points, "derived": False, "given": tuple(conditional)}
    return numbering.event(Belief, step, id=forecast_id(1, step.role, n), role=step.role, **forecast)


# ---------------------------------------------------------------- C: the agenda


def shuffled(state: State) -> dict[str, str]:
    """Return label → role: the answers in an order that carries no information, by the run's seed."""

    # A hash of seed, step and role gives an order that re-execution repeats and that no role
    # can guess or influence.
    def place(role: str) -> str:
        return hashlib.sha256(f"{state.opening.seed}\n{AGENDA_STEP}\n{role}".encode()).hexdigest()

    return dict(zip(LABELS, sorted(answering_roles(state), key=place), strict=False))


def answer_of(book: Book, role: str) -> Statement | None:
    """Return the words of a role's answer."""
    event = book.by_id.get(answer_id(role))
    return event if isinstance(event, Statement) else None


def _handles(book: Book, kind: str) -> dict[str, str]:
    """Map each handle, `a#crux-1`, to the place of that proposal, `S-1-B-critic#crux-1`."""
    places: dict[str, str] = {}
    for label, role in shuffled(book.state).items():
        words = answer_of(book, role)
        for section in words.sections if words else ():
            if section.name.startswith(f"{kind}-"):
                places[f"{label}#{section.name}"] = f"{answer_id(role)}#{section.name}"
    return places


def wrong_agenda(known: Quotable, reply: AgendaReply) -> Iterator[str]:
    """Yield what is wrong with an agenda: every crux and every way to be wrong has exactly one place."""
    book = known.book
    cruxes, ways = _handles(book, "crux"), _handles(book, "defeater")
    open_ended = is_open_ended(known.state)
    if open_ended and not 1 <= len(reply.options) <= OPTIONS_MAX:
        yield f"options: the question names none; make 1 to {OPTIONS_MAX} of the answers"
    # Case is ignored: a model that repeats an option with other capitals would split its points.
    if len({text.casefold() for text in reply.options}) < len(reply.options):
        yield "options: two of them are the same"
    if not open_ended and reply.options:
        yield "options: the question names its own; leave the list empty"
    for n, crux in enumerate(reply.cruxes):
        if cruxes.keys().isdisjoint(crux.of):
            yield f"cruxes[{n}].of: name the proposals that say it"
    placed = [
        *(
            (name, "cruxes", {**cruxes, **ways})
            for crux in reply.cruxes
            for name in (*crux.of, *crux.negated)
        ),
        *((name, "could_be_wrong", ways) for way in reply.could_be_wrong for name in way.of),
        *((omission.of, "left_out", {**cruxes, **ways}) for omission in reply.left_out),
    ]
    for name, where, allowed in placed:
        if name not in allowed:
            yield f"{where}: {name!r} has no place there; use {names(allowed) or 'nothing: there are none'}"
    count = [name for name, _, _ in placed]
    # A proposal without a place would disappear unseen, and one with two places would count twice.
    for name in (*cruxes, *ways):
        if count.count(name) != 1:
            yield f"{name!r} needs exactly one place, and has {count.count(name)}"


def agreed(numbering: Numbering, step: Step, reply: AgendaReply) -> tuple[Event, ...]:
    """Return the agenda, then its claims and the ways to be wrong; one that a crux tests names the claim."""
    book = numbering.book
    proposals, defeaters = _handles(book, "crux"), _handles(book, "defeater")
    places = {**proposals, **defeaters}
    claims = [_claim(numbering, step, draft, proposals) for draft in reply.cruxes]
    merged: list[MergedProposals] = []

    def merge(into: object, names: Iterable[str], *, negated: bool = False) -> None:
        refs = tuple(places[name] for name in names)
        merged.append(MergedProposals(into=str(into), from_=refs, negated=negated))

    for claim, draft in zip(claims, reply.cruxes, strict=True):
        merge(claim.id, (name for name in draft.of if name in proposals))
        # A proposal that says the opposite is merged too: its numbers count after they are negated.
        if opposite := [name for name in draft.negated if name in proposals]:
            merge(claim.id, opposite, negated=True)
    concerns: list[Concern] = []

    def add(of: Iterable[str], text: str, between: tuple[str, ...] = ()) -> None:
        sightings = _authors_of(of, places)
        concern = numbering.event(
            Concern, step, text=text, type="defeater", between=between, sightings=sightings
        )
        merge(concern.id, of)
        concerns.append(concern)

    for way in reply.could_be_wrong:
        add(way.of, way.text)
    for claim, draft in zip(claims, reply.cruxes, strict=True):
        for handles in (draft.of, draft.negated):
            # A way to be wrong that a crux tests keeps the words of its author.
            if ways := [name for name in handles if name in defeaters]:
                place = parse_reference(defeaters[ways[0]])
                add(ways, "\n\n".join(sections_of(book.by_id[place.id])[place.section or ""]), (claim.id,))
    agenda = numbering.event(
        Agenda,
        step,
        options=[Labelled(id=label_id("option", n), text=text) for n, text in enumerate(reply.options, 1)],
        shared=reply.shared,
        cruxes=[claim.id for claim in claims],
        merged=merged,
        dropped=[DroppedProposal(from_=places[omission.of], why=omission.why) for omission in reply.left_out],
    )
    return (agenda, *claims, *concerns)


def _authors_of(names: Iterable[str], places: Mapping[str, str]) -> tuple[str, ...]:
    """Return the roles whose proposals these are, each once, in role order.

    How many roles name a way to be wrong feeds the estimate of unseen ones (LIT-4, LIT-5).
    """
    refs = [places[name] for name in names]
    return tuple(role for role in AUTHORS if any(f"-{role}#" in ref for ref in refs))


def _claim(numbering: Numbering, step: Step, draft: MergedCrux, proposals: Mapping[str, str]) -> Claim:
    # The first author in role order raises a merged claim, whatever the order in which the
    # verifier lists the proposals.
    of = [name for name in draft.of if name in proposals]
    raised_by = _authors_of(of, proposals)[0]
    refs = tuple(proposals[name] for name in of)
    return numbering.event(Claim, step, draft, raised_by=raised_by, testable_as=draft.test, places=refs)


def options_of_answers(book: Book) -> tuple[Event, ...]:
    """Return an agenda by code, where the question names no options and no agenda was made: each answer is one."""
    state = book.state
    is_due = AGENDA_STEP in state.given_up or short_way_is_open(state)
    if not is_open_ended(state) or state.agenda is not None or not is_due:
        return ()
    # Answers that are equal word for word become one option; anything looser would need a judgment.
    texts: dict[str, list[str]] = {}
    for role in answering_roles(state):
        words = answer_of(book, role)
        sections = {section.name: section.text for section in words.sections} if words else {}
        texts.setdefault(sections.get("answer", ""), []).append(role)
    merged = tuple(
        MergedProposals(
            into=label_id("option", n),
            from_=tuple(f"{answer_id(role)}#answer" for role in roles),
            negated=False,
        )
        for n, roles in enumerate(texts.values(), 1)
    )
    options = tuple(Labelled(id=label_id("option", n), text=text) for n, text in enumerate(texts, 1))
    return (Agenda(round=1, phase="C", by="controller", options=options, merged=merged),)


# ---------------------------------------------------------------- E: numbers


def wrong_numbers(known: Quotable, reply: NumbersReply | ForecastReply) -> Iterator[str]:
    """Yield what is wrong with numbers: one entry for each crux, none that contradicts the forecast."""
    options = option_ids(known.state)
    own = _forecast_beside(known.state, known.step.role, reply)
    if isinstance(reply, ForecastReply):
        yield from points_problems(reply.forecast, options, "forecast")
    yield from exactly_one(
        (entry.claim for entry in reply.numbers), kept_cruxes(known.state), "numbers", "claim"
    )
    for n, entry in enumerate(reply.numbers):
        yield from coherence_problems(entry, own, options, f"numbers[{n}]")


def _forecast_beside(state: State, role: str, reply: NumbersReply | ForecastReply) -> dict[str, int]:
    """Return the forecast that the numbers go with."""
    if isinstance(reply, ForecastReply):
        return as_points(reply.forecast)
    # The first answer is the sealed forecast: numbers must fit it, or a role could move its
    # forecast after the agenda.
    facts = sealed(state, role, SEALED)
    return dict(facts.points) if facts else {}


def numbered(numbering: Numbering, step: Step, reply: NumbersReply | ForecastReply) -> tuple[Event, ...]:
    """Return sealed numbers, with the forecast that they go with."""
    # Events keep the order of claim ids, so two seats that answer the same in another order
    # write the same bytes.
    ordered = sorted(reply.numbers, key=lambda entry: number_of(entry.claim))
    points = _forecast_beside(numbering.book.state, step.role, reply)
    return (
        _belief(numbering, step, NUMBERS, points, (_conditional(entry, entry.claim) for entry in ordered)),
    )
