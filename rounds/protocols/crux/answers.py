"""Round 1 of `crux`: the frame, sealed answers, and the agenda that they come to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from detectors.beliefs.parameters import crux_parameters
from detectors.beliefs.values import Conditional, incoherence, mean_conditional, moves_of
from ledger.events import Agenda, Belief, Claim, Concern, Event, Frame, Statement
from ledger.events.answers import ConditionalBelief, DroppedProposal, MergedProposals, WordReadings
from ledger.events.claims import Effect
from ledger.events.run import Labelled
from ledger.state.book import Book
from ledger.state.state import VERIFIER, State
from roles.protocol import Step
from rounds.protocols.crux.replies import (
    AgendaReply,
    ChoiceReply,
    CruxDraft,
    CruxNumbers,
    FrameReply,
    PointsOn,
    SealedAnswer,
)
from rounds.protocols.crux.standing import (
    NONE,
    OWN,
    belief,
    is_admitted,
    is_open_ended,
    option_ids,
    points_of,
)
from rounds.protocols.plans import AUTHORS
from rounds.protocols.points import as_points, points_problems
from rounds.protocols.quotable import Quotable, names
from rounds.protocols.step_table import Numbering, by, statement

WORDS_MAX: Final = 25
LABELS: Final = ("a", "b", "c", "d")
OPTIONS_MAX: Final = 6


# ---------------------------------------------------------------- points


def coherence_problems(
    given: CruxNumbers, own: Mapping[str, int], options: tuple[str, ...], where: str
) -> Iterator[str]:
    """Complain where q, both conditionals and the belief contradict each other by more than 10 points."""
    numbers = Conditional(
        Fraction(given.q),
        points_of(as_points(given.if_true), options),
        points_of(as_points(given.if_false), options),
    )
    limit = crux_parameters().crux.incoherent_above
    for option, off in zip(options, incoherence(numbers, points_of(own, options)), strict=True):
        if abs(off) > limit:
            mixed = own.get(option, 0) + off
            yield (
                f"{where}: {option} would be {float(mixed):.0f} points by q, if_true and if_false together, and your"
                f" belief says {own.get(option, 0)}; they may differ by {int(limit)}"
            )


def words_problem(text: str, at_most: int, where: str) -> Iterator[str]:
    """Complain about too many words."""
    count = len(text.split())
    if count > at_most:
        yield f"{where}: {count} words; {at_most} at most"


# ---------------------------------------------------------------- A: the frame


def wrong_frame(known: Quotable, reply: FrameReply) -> Iterator[str]:
    """What is wrong with a frame."""
    if reply.ill_posed and not reply.why:
        yield "why: say in a sentence why the question cannot be answered as it stands"
    for n, same in enumerate(reply.double):
        yield from known.option_problems(same, f"double[{n}]")
        if len(set(same)) < 2:
            yield f"double[{n}]: name at least two options that are the same"
    for n, word in enumerate(reply.two_readings):
        if len(word.readings) < 2:
            yield f"two_readings[{n}].readings: two or three are wanted"


def framed(_: Numbering, step: Step, reply: FrameReply) -> tuple[Event, ...]:
    """The frame as an event."""
    return (
        Frame(
            **by(step),
            ill_posed=reply.ill_posed,
            why=reply.why,
            missing=reply.missing,
            double=reply.double,
            two_readings=tuple(
                WordReadings(word=one.word, readings=one.readings) for one in reply.two_readings
            ),
            runnable=reply.runnable,
        ),
    )


# ---------------------------------------------------------------- B: sealed answers


def wrong_answer(known: Quotable, reply: SealedAnswer) -> Iterator[str]:
    """What is wrong with an answer."""
    open_ended = is_open_ended(known.state)
    options = (OWN, NONE) if open_ended else option_ids(known.state)
    if open_ended and not reply.answer:
        yield f"answer: no options are given, so give yours in {WORDS_MAX} words at most"
    yield from words_problem(reply.answer or "", WORDS_MAX, "answer")
    yield from points_problems(reply.belief, options, "belief")
    for n, text in enumerate(reply.reasons):
        yield from words_problem(text, WORDS_MAX, f"reasons[{n}]")
    own = as_points(reply.belief)
    for n, draft in enumerate(reply.cruxes):
        yield from points_problems(draft.if_true, options, f"cruxes[{n}].if_true")
        yield from points_problems(draft.if_false, options, f"cruxes[{n}].if_false")
        numbers = CruxNumbers(claim="", q=draft.q, if_true=draft.if_true, if_false=draft.if_false)
        yield from coherence_problems(numbers, own, options, f"cruxes[{n}]")


def answered(_: Numbering, step: Step, reply: SealedAnswer) -> tuple[Event, ...]:
    """Its words, then its belief."""
    sections = {
        "answer": reply.answer or "",
        **{f"reason-{n}": text for n, text in enumerate(reply.reasons, 1)},
        **{f"defeater-{n}": text for n, text in enumerate(reply.defeaters, 1)},
        **{f"crux-{n}": _proposal(draft) for n, draft in enumerate(reply.cruxes, 1)},
    }
    said = sections if any(sections.values()) else {"answer": "No reason was given."}
    given = tuple(
        ConditionalBelief(
            claim=f"crux-{n}", q=draft.q, if_true=as_points(draft.if_true), if_false=as_points(draft.if_false)
        )
        for n, draft in enumerate(reply.cruxes, 1)
    )
    return (*statement(step, "analysis", said), _belief(step, 1, reply.belief, given, reply.share_found))


def _proposal(draft: CruxDraft) -> str:
    """A proposal in words, without its numbers."""
    return f"{draft.text}\n\ntest, by {draft.how}: {draft.test}"


def redrawn(_: Numbering, step: Step, reply: SealedAnswer) -> tuple[Event, ...]:
    """The belief of a second draw, for the measure of noise alone."""
    return (_belief(step, 2, reply.belief, (), None),)


def _belief(
    step: Step,
    n: int,
    given: Iterable[PointsOn],
    conditionals: tuple[ConditionalBelief, ...],
    share_found: int | None,
) -> Belief:
    return Belief(
        **by(step),
        id=f"B-{step.name.round}-{step.role}" + (f"~{n}" if n > 1 else ""),
        role=step.role,
        points=as_points(given),
        derived=False,
        given=conditionals,
        share_found=share_found,
    )


# ---------------------------------------------------------------- C: the agenda


def shuffled(state: State) -> dict[str, str]:
    """Label → role: the answers in an order that says nothing, by the run's seed."""
    given = [role for role in AUTHORS if belief(state, 1, role, 1) is not None]
    step_id = f"r1.C.{VERIFIER}"

    def place(role: str) -> str:
        return hashlib.sha256(f"{state.opening.seed}\n{step_id}\n{role}".encode()).hexdigest()

    return dict(zip(LABELS, sorted(given, key=place), strict=False))


def answer_of(book: Book, role: str) -> Statement | None:
    """The words of a role's answer."""
    event = book.by_id.get(f"S-1-B-{role}")
    return event if isinstance(event, Statement) else None


def _handles(book: Book, kind: str) -> dict[str, str]:
    """`a#crux-1` → the place of that proposal, `S-1-B-critic#crux-1`."""
    found: dict[str, str] = {}
    for label, role in shuffled(book.state).items():
        words = answer_of(book, role)
        for section in words.sections if words else ():
            if section.name.startswith(f"{kind}-"):
                found[f"{label}#{section.name}"] = f"S-1-B-{role}#{section.name}"
    return found


def wrong_agenda(known: Quotable, reply: AgendaReply) -> Iterator[str]:
    """What is wrong with an agenda: every proposal and defeater has its place, exactly once."""
    book = known.book
    cruxes, defeaters = _handles(book, "crux"), _handles(book, "defeater")
    open_ended = is_open_ended(known.state)
    if open_ended and not 1 <= len(reply.options) <= OPTIONS_MAX:
        yield f"options: make 1 to {OPTIONS_MAX} options of the answers"
    if not open_ended and reply.options:
        yield "options: the question has its own; make none"
    merged = [name for one in reply.cruxes for name in (*one.of, *one.negated)]
    seen = [name for one in reply.defeaters for name in one.of]
    left = [one.of for one in reply.left_out]
    for n, one in enumerate(reply.cruxes):
        if not one.of:
            yield f"cruxes[{n}].of: name the proposals that say it"
    for name in (*merged, *seen, *left):
        if name not in cruxes and name not in defeaters:
            yield f"{name!r} is unknown; there are {names((*cruxes, *defeaters)) or 'none'}"
    for name in merged:
        if name in defeaters:
            yield f"cruxes: {name!r} is a defeater and no proposal"
    placed = (*merged, *seen, *left)
    for name in (*cruxes, *defeaters):
        if placed.count(name) != 1:
            yield f"{name!r} is to be merged or left out exactly once, not {placed.count(name)} times"


def agreed(numbering: Numbering, step: Step, reply: AgendaReply) -> tuple[Event, ...]:
    """The agenda, then its claims and defeaters. A proposal without an effect or a test stays in its answer."""
    book = numbering.book
    places = {**_handles(book, "crux"), **_handles(book, "defeater")}
    made = tuple(Labelled(id=f"O-{n}", text=text) for n, text in enumerate(reply.options, 1))
    claims: list[Claim] = []
    concerns: list[Concern] = []
    merged: list[MergedProposals] = []
    dropped = [DroppedProposal(from_=places[one.of], why=one.why) for one in reply.left_out]
    for one in reply.cruxes:
        numbers = _numbers(book.state, places, one.of, one.negated)
        if numbers is None or not is_admitted(numbers, one.how):
            why = "It would move no option by ten points, by its own numbers."
            dropped += [DroppedProposal(from_=places[name], why=why) for name in (*one.of, *one.negated)]
            continue
        identity = numbering.number("claim")
        claims.append(_claim(step, identity, one.text, one.test, one.how, book, places, one.of, numbers))
        merged.append(MergedProposals(into=identity, from_=tuple(places[n] for n in one.of), negated=False))
        if one.negated:
            opposite = tuple(places[name] for name in one.negated)
            merged.append(MergedProposals(into=identity, from_=opposite, negated=True))
    for defeater in reply.defeaters:
        identity = numbering.number("concern")
        refs = tuple(places[name] for name in defeater.of)
        seen_by = tuple(role for role in AUTHORS if any(f"-{role}#" in ref for ref in refs))
        concerns.append(
            Concern(**by(step), id=identity, type="defeater", text=defeater.text, sightings=seen_by)
        )
        merged.append(MergedProposals(into=identity, from_=refs, negated=False))
    agenda = Agenda(
        **by(step),
        options=made,
        shared=reply.shared,
        cruxes=tuple(str(claim.id) for claim in claims),
        merged=tuple(merged),
        dropped=tuple(dropped),
    )
    return (agenda, *claims, *concerns)


def _numbers(
    state: State, places: Mapping[str, str], of: Iterable[str], negated: Iterable[str]
) -> Conditional | None:
    """The mean of the proposers' numbers, what said the opposite turned round."""
    options = (OWN, NONE) if is_open_ended(state) else option_ids(state)
    found: dict[str, Conditional] = {}
    for handles, opposite in ((of, False), (negated, True)):
        for name in handles:
            identity, _, section = places[name].partition("#")
            role = identity.rpartition("-")[2]
            sealed = belief(state, 1, role, 1)
            for given in sealed.given if sealed else ():
                if given.claim == section and role not in found:
                    numbers = Conditional(
                        Fraction(given.q),
                        points_of(given.if_true, options),
                        points_of(given.if_false, options),
                    )
                    found[role] = numbers.negated if opposite else numbers
    return mean_conditional(found.values()) if found else None


def _claim(
    step: Step,
    identity: str,
    text: str,
    test: str,
    how: str,
    book: Book,
    places: Mapping[str, str],
    of: Iterable[str],
    numbers: Conditional,
) -> Claim:
    refs = tuple(places[name] for name in of)
    raised_by = next(role for role in AUTHORS if any(f"-{role}#" in ref for ref in refs))
    options = option_ids(book.state)
    known = not is_open_ended(book.state)
    move = moves_of(numbers)
    effect = Effect(option=options[move.option], direction=move.direction, points=int(move.points))
    return Claim(
        **by(step),
        id=identity,
        raised_by=raised_by,
        text=text,
        testable_as=test,
        about=(effect.option,) if known and effect.option != NONE else (),
        how=how,  # type: ignore[arg-type]  # the reply's literals are among the event's
        moves=(effect,) if known else (),
        places=refs,
    )


# ---------------------------------------------------------------- C: beliefs over options that were made


def wrong_choice(known: Quotable, reply: ChoiceReply) -> Iterator[str]:
    """What is wrong with a belief over the made options, or with its numbers."""
    options = option_ids(known.state)
    yield from points_problems(reply.belief, options, "belief")
    cruxes = known.state.agenda.cruxes if known.state.agenda else ()
    yield from numbers_problems(known, reply.given, cruxes, as_points(reply.belief), options)


def numbers_problems(
    known: Quotable,
    given: Sequence[CruxNumbers],
    cruxes: Sequence[str],
    own: Mapping[str, int],
    options: tuple[str, ...],
) -> Iterator[str]:
    """Complain when a crux has no numbers, or numbers that contradict the belief."""
    del known
    if sorted(one.claim for one in given) != sorted(cruxes):
        yield f"given: exactly one for each crux is wanted: {names(cruxes) or 'none'}"
    for n, one in enumerate(given):
        yield from points_problems(one.if_true, options, f"given[{n}].if_true")
        yield from points_problems(one.if_false, options, f"given[{n}].if_false")
        yield from coherence_problems(one, own, options, f"given[{n}]")


def chosen(_: Numbering, step: Step, reply: ChoiceReply) -> tuple[Event, ...]:
    """A belief over the made options; the second draw of one role measures noise."""
    n = 2 if step.name.repeat > 1 else 3
    given = tuple(
        ConditionalBelief(
            claim=one.claim, q=one.q, if_true=as_points(one.if_true), if_false=as_points(one.if_false)
        )
        for one in reply.given
    )
    return (_belief(step, n, reply.belief, given if n == 3 else (), None),)
