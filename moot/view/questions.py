"""Open questions to a person: awaited ones, those of the protocol's rule, the newest; repeated ones are merged.

Beside them, what a decision leaves open: risks, blockers and findings.

An older question joins a newer one whose text asks all that the older one asks, so one answer covers both. A question
that asks for more, or for something else, stays separate.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from ledger.events import (
    Argument,
    Challenge,
    Concern,
    Decision,
    Disposition,
    Event,
    Frame,
    Statement,
    Vote,
)
from ledger.events.ids import kind_of, role_of
from ledger.plain_text import counted, first_sentence, one_line, shortened
from ledger.result import Result
from ledger.state.book import Book, grouped, sections_from, sections_named
from ledger.state.decided import in_force, is_overruled, overridden
from ledger.state.state import AGENDA_STEP
from moot.view.events import words_of
from moot.view.judgements import has_beliefs, named, options_of
from moot.view.labels import is_held_by_an_error
from moot.view.reasons import Point, approval_of, blockers, judged, markers_of, weight_text
from moot.view.words import fork_for_lost
from roles.outcome_status import OutcomeStatus
from rounds.protocols import awaited_of, experiments_awaited
from rounds.protocols.adversarial import SCALES
from rounds.protocols.sides import GIVEN_UP, concessions_of, is_given_up, sides_of
from rounds.protocols.step_table import rule
from rounds.run.same_question import asks_all_of, words_asked

SHOWN: Final = 5
_HANDED_IN: Final = (
    "closing", "vote", "argument", "blocker", "concern", "challenge", "statement", "response", "disposition",
)  # fmt: skip
_CHOICES: Final[Mapping[str, str]] = {
    "debate": "the side to follow: PRO or CON",
    "devils-advocate": "what becomes of the position: it is kept, changed or given up",
    "tribunal": "one of ACT, WARN, REFUSE",
}
"""Protocol whose verdict names no option → what a person chooses in its place."""
REMINDER: Final = 80
"""Maximum characters of a question next to its answer."""


class Asking(Result, frozen=True):
    """A question to a person, merged from `ids`, with the command that answers it.

    `asks`: for an answer, an override, a program to be run here; `read`: the command lists what is left.
    """

    text: str
    ids: list[str]
    command: str
    asks: Literal["answer", "override", "run", "read"] = "answer"


class _Question(NamedTuple):
    text: str
    words: frozenset[str]
    ids: list[str]
    is_open: bool


def asked_of_you(run: str, book: Book) -> list[Asking]:
    """Return what a run asks of a person, at most five entries; `run` is how commands name it."""
    named = shlex.quote(run)
    # Nothing can go on while the run is blocked, so this is the only thing to ask.
    if book.state.held_up:
        place = book.state.held_up[0]
        command = f"moot override {named} {place} 'why it is harmless'"
        text = "The screening of what was asked holds the run up."
        if is_held_by_an_error(book.state):
            mend = f"mend it (moot check {named}), or say why it is harmless."
            text = f"An error that the validation {place} found holds the run up: {mend}"
        return [Asking(text=text, ids=[place], command=command, asks="override")]
    # Results of programs may answer the open questions, so they go first.
    if due := experiments_awaited(book.state):
        verb = "waits" if len(due) == 1 else "wait"
        text = f"{counted(len(due), 'program')} that the seats planned {verb} to be run here, in a sandbox."
        return [Asking(text=text, ids=list(due), command=f"moot experiment run {named}", asks="run")]
    questions = _questions(book)
    # When the list is too long, the last place announces the rest.
    listed = questions if len(questions) <= SHOWN else questions[: SHOWN - 1]
    askings = [_request(run, book, question) for question in listed]
    # One id of each, so that their number is that of the questions.
    rest = [question.ids[0] for question in questions if question not in listed]
    if rest:
        command = f"moot log {named} --kind concern"
        askings.append(Asking(text=f"{len(rest)} older questions.", ids=rest, command=command, asks="read"))
    return askings


def _request(run: str, book: Book, question: _Question) -> Asking:
    """Return a question with its answer command; it asks for a result where seats planned a program."""
    facts = book.state.concerns[question.ids[0]]
    claims = [claim for claim in facts.between if claim in book.state.claims]
    # A tension only states two views, so it is asked which one holds.
    text = (
        f"Which view holds? {question.text}"
        if facts.type == "tension" and "?" not in question.text
        else question.text
    )
    # A question may be what is left of an objection.
    text = f"{''.join(f'After {ref}: ' for ref in facts.between if kind_of(ref) == 'challenge')}{text}"
    # Outside `crux` an answer is free text and settles no claim by itself.
    if not claims or not has_beliefs(book):
        command = f"moot answer {shlex.quote(run)} {question.ids[0]} 'TEXT'"
        return Asking(text=text, ids=question.ids, command=command)
    from moot.view.forecasts import program_text, standing_now, worth_text

    command = f"moot answer {shlex.quote(run)} {question.ids[0]} --holds|--fails 'TEXT'"
    values = {crux.claim: crux.best for crux in standing_now(book).unsettled}
    worth = "".join(f" ({worth_text(values[claim])})" for claim in claims if claim in values)
    program, _ = program_text(run, book, claims[0])
    return Asking(text=f"{text}{worth}{program}", ids=question.ids, command=command)


def open_questions_merged(book: Book) -> list[list[str]]:
    """Return the open questions to a person as groups of ids: what asks the same is one group."""
    return [question.ids for question in _questions(book)]


def _questions(book: Book) -> list[_Question]:
    """Return open questions, merged: awaited ones first, then those of the protocol's rule, then the newest first.

    An answered question covers older ones that asked the same.
    """
    state, awaited = book.state, awaited_of(book.state)
    first, groups = list[_Question](), list[_Question]()
    put = [event for event in reversed(book.of(Concern)) if event.for_human]
    for event in put:
        tested = [claim for claim in event.between if claim in state.claims]
        # A test is over in `crux` by any result, also that of another test; a person's decision ends all questions.
        needless = has_beliefs(book) and tested and _worth_a_test(book).isdisjoint(tested)
        is_over = needless or (event.by == "controller" and is_overruled(state))
        is_open = event.id not in state.resolved and not is_over
        waits = event.id in awaited
        # The same words can ask about different claims, so a question that tests one is never merged.
        words = frozenset[str]() if tested else words_asked(event.text)
        # Newer questions come first in this loop, so an older one joins the newer text. The run itself waits for some:
        # these merge only when both ask for the same.
        group = next(
            (
                question
                for question in (first if waits else (*first, *groups))
                if asks_all_of(question.words, words) and (not waits or asks_all_of(words, question.words))
            ),
            None,
        )
        if group is None:
            question = _Question(one_line(event.text), words, [event.id], is_open)
            (first if waits or event.by == "controller" else groups).append(question)
        # An older question that was answered stays closed and adds no id to the open group.
        elif is_open:
            group.ids.append(event.id)
    # The loop met the newest first; what the run waits for, and what its rule leaves open, is asked in order.
    return [group for group in (*first[::-1], *groups) if group.is_open]


def _worth_a_test(book: Book) -> set[str]:
    """Return the claims of a run with forecasts whose test could still change the answer."""
    from moot.view.forecasts import standing_now
    from rounds.protocols.crux.standing import table_at

    return {crux.claim for crux in standing_now(book).worth(table_at(book.state).terms.tau)}


def to_decide_on(book: Book, status: OutcomeStatus) -> Iterator[Point]:
    """Yield what a person can decide on after a lost verdict: the choices, then what each role handed in."""
    if status is not OutcomeStatus.NOBODY_ANSWERED:
        return
    points = grouped(
        (event.by, event)
        for event in book.events
        # What concedes another's point, or was given up, is listed by itself.
        if event.step and _sort(event) in _HANDED_IN and getattr(event, "type", "") != "concede"
        if not (isinstance(event, Argument) and is_given_up(book, event))
    )
    choices = SCALES.get(rule(book.state, "scale")) or options_of(book)
    choice = _CHOICES.get(book.state.opening.protocol, f"one of {', '.join(choices)}" * bool(choices))
    if points and choice:
        yield Point.of(named(book, f"Choose {choice}."))
    for role, events in points.items():
        # The gravest point is shown, or the last text. Next to its points a role's statement only says them again.
        events.sort(
            key=lambda event: (
                _HANDED_IN.index(_sort(event)),
                -(getattr(event, "severity", 0) or 0),
                -event.seq * (event.kind == "statement"),
            )
        )
        own = [event for event in events if _sort(event) != "statement" or _sort(events[0]) == "statement"]
        sorts = grouped((_sort(event), _labeled(book, event)) for event in own).items()
        listed = [
            # More ids would leave no room for the words.
            counted(len(ids), sort) + f" ({', '.join(ids[:3])}{' and others' * bool(ids[3:])})" * (n < 2)
            for n, (sort, ids) in enumerate(sorts)
        ]
        conceded = sum(role in roles for roles in concessions_of(book).values())
        whose = f"{role}, which concedes {counted(conceded, 'point')}" if conceded else role
        # A closing ends with the position of its side.
        texts = [section.text for section in getattr(own[0], "sections", ())] or [words_of(own[0]).text]
        yield Point.of(f"Weigh {', '.join(listed)} of {whose}: {texts[-1]}", *(event.ref for event in own))


def _sort(event: Event) -> str:
    """Return what an event is as something to weigh; a concern of the advocate is against its own case."""
    if event.kind == "concern" and event.by == "advocate":
        return "blocker"
    return "closing" if getattr(event, "type", "") == "closing" else event.kind


def _labeled(book: Book, event: Event) -> str:
    """Return the id of something to weigh, with the vote, rating or severity that it is."""
    if isinstance(event, Disposition):
        return f"{event.of} {words_of(event).mark.word}"
    if isinstance(event, Vote):
        return f"{event.id} {words_of(event).mark.word}"
    if not isinstance(event, Concern) or event.severity is None:
        return event.ref
    markers = markers_of(book, event)
    return f"{event.id} severity {event.severity}{f' marked by {markers}' * bool(markers)}"


def recommended(book: Book, chief: Decision | None) -> list[Point]:
    """Return what each judge recommends where a rule decided, and what a judge gives up of a position."""
    if chief is None:
        return []
    return [
        Point.of(f"Give up, as the judge says: {text.removeprefix(GIVEN_UP)}", chief.id)
        for text in chief.narratives
        if text.startswith(GIVEN_UP)
    ] + [
        Point.of(f"{event.by} recommends: {text}", event.id)
        for event, text in sections_named(book, "recommendation")
        if chief.made_by == "rule"
    ]


def tests_not_listed(book: Book) -> Iterator[Point]:
    """Yield the tests that sealed answers propose where the reply that lists them was lost, so that none was run."""
    for event, section in sections_from(book, "crux-") if AGENDA_STEP in book.state.given_up else ():
        # The claim and its test are a paragraph each.
        proposed = one_line(section.text.replace("\n\n", "; "))
        yield Point.of(f"Proposed, and no reply listed it: {proposed}", f"{event.id}#{section.name}")


def again_after_loss(run: str, book: Book, status: OutcomeStatus) -> Iterator[Point]:
    """Yield the command that asks for lost replies again: a person decides, a lost vote counts, no test is listed."""
    lost_vote = status is OutcomeStatus.DECIDED and any(vote.fallback for vote in book.of(Vote))
    unlisted = AGENDA_STEP in book.state.given_up
    if (status is OutcomeStatus.YOUR_CALL or lost_vote or unlisted) and (
        fork := fork_for_lost(run, book.state, 0)
    ):
        yield Point.of(f"To ask again: {fork} (all of that round and of later ones)")


def objections_to_question(book: Book) -> list[Point]:
    """Return that the check of the question found it ill-posed, and the options that it found missing."""
    # The answer is only the best of the options that were named, so this has to be said.
    return [
        Point.of(text, frame.ref)
        for frame in book.of(Frame)[:1]
        for text, is_so in (
            (f"The check of the question found it ill-posed: {frame.why}", frame.ill_posed),
            (f"The question does not name: {' / '.join(map(first_sentence, frame.missing))}", frame.missing),
        )
        if is_so
    ]


def answered_since(run: str, book: Book, chief: Decision) -> Iterator[Point]:
    """Yield answers of a person that the decision lacks: later ones, and those that its rule does not count.

    `run` is how commands name it, quoted.
    """
    # An override of an answer answers the same question.
    for event in map(book.by_id.__getitem__, in_force(book.state)):
        answer = book.state.decisions[overridden(book.state, event.ref)]
        questions = [
            question for cite in answer.cites if isinstance(question := book.by_id.get(cite.id), Concern)
        ]
        # A rule counts replies of seats alone, also where it asked a person about one that was lost.
        ruled = chief.made_by == "rule" and any(question.by == "controller" for question in questions)
        # Answers before the decision were in the brief of its step, and while a run goes on its next steps read them.
        if (
            answer.type == "answer"
            and isinstance(event, Decision)
            and questions
            and (ruled or (book.state.finished and event.seq > chief.seq))
        ):
            others = f" and {len(questions) - 1} that ask the same" if questions[1:] else ""
            # A question may be what is left of an objection.
            source = "".join(f", after {ref}" for ref in questions[0].between if kind_of(ref) == "challenge")
            reminder = shortened(one_line(questions[0].text), REMINDER)
            override = f"moot override {run} {chief.id} 'TEXT'"
            yield Point.of(
                f"{'Weigh' if ruled else 'Work in'} what a person answered to {questions[0].id}"
                f" (“{reminder}”{source}){others}"
                f"{f', which the rule does not count (to follow it: {override})' * ruled}: {event.text}",
                event.id,
            )


def risks_of(run: str, book: Book, decision: Decision, elsewhere: set[str]) -> Iterator[Point]:
    """Yield open blockers, findings of a panel and risks that are against the decision and not `elsewhere` already."""
    protocol = book.state.opening.protocol
    # A person's decision is not what they were named against.
    if decision.type == "override":
        return
    approval = approval_of(book)
    yield from (
        Point.of(
            f"A blocker that the advocate itself names (judge: {judged(book, concern, approval)}): {concern.text}",
            concern.id,
        )
        for concern in (book.of(Concern) if approval else ())
        if concern.by == "advocate" and concern.id not in book.state.resolved
    )
    # A view meets what was put to it in its next vote, if anywhere.
    # What was put to safety weighs the most, since safety alone can veto.
    put = sorted(book.of(Challenge), key=lambda event: role_of(event.target) != "safety")
    if put and protocol == "tribunal":
        view = role_of(put[0].target)
        number = f"{counted(len(put), 'challenge')} (moot log {run} --kind challenge)"
        text = f"What became of {number} is not stated{', none of them to safety' * (view != 'safety')}"
        yield Point.of(f"{text}; one by {put[0].by} to {view}: {put[0].claim}", *(event.id for event in put))
    # The strongest of what matters most to the judge of a panel is the objection, or all of it is why.
    named = blockers(book, decision) if protocol == "panel" else []
    for concern in named:
        weighed = f"{concern.text}{weight_text(book, concern)}"
        yield Point.of(f"Among what matters most to the judge: {concern.by}: {weighed}", concern.id)
    listed = elsewhere.union(book.state.resolved, (concern.id for concern in named))
    left = sorted(
        (event for event in book.of(Concern) if event.id not in listed and event.type != "question"),
        key=lambda event: -(event.severity or 0),
    )
    if left and protocol in ("panel", "structured"):
        gravest, *rest = left
        alike = sum(event.severity == gravest.severity for event in rest)
        more = "more " * any(event.id in elsewhere for event in book.of(Concern))
        sort = "more finding" if protocol == "panel" else f"{more}open concern"
        which = (
            f"{'the gravest by its author, ' * bool(rest)}{gravest.by}{f', {alike} as grave' * bool(alike)}"
        )
        text = f"{which}: {gravest.text}{weight_text(book, gravest)}"
        yield Point.of(f"{counted(len(left), sort)} (moot log {run} --kind concern), {text}", gravest.id)
    # No other role says whether an objection to a closing is met.
    yield from (
        Point.of(f"The objection of {role_of(ref)} is met, as {event.by} alone says.", ref)
        for event in book.of(Statement)
        if event.step == decision.step
        for ref in event.responds_to
    )
    if protocol == "comparative":
        cases = [event for event in book.of(Concern) if event.phase == "case"]
        if risks := [risk for risk in cases if sides_of(book.state, risk.round, risk.by).b in decision.about]:
            number = f"{counted(len(risks), 'risk')} of {' and '.join(decision.about)}, named and not judged"
            number += f" (all risks named: moot log {run} --kind concern)"
            first = f"{risks[0].text.partition(': ')[2]} ({risks[0].by})"
            yield Point.of(f"{number}, the first: {first}", *(risk.id for risk in risks))
