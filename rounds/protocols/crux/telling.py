"""What briefs of `crux` tell behind the question: the agenda, plans, results and one's own numbers, never another's.

No brief before the closing shows what another role believes; none shows a redraw, the value of a test or seats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from detectors.beliefs.stop import STATUS, in_words
from ledger.events import (
    Artifact,
    Belief,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Event,
    ExperimentJudged,
    Memo,
    Statement,
    Verification,
)
from ledger.events.answers import ConditionalBelief
from ledger.state.book import Book
from roles.brief.quote import verification as verdict_quoted
from roles.memo.citing import cited_texts
from roles.memo.likelihood import likelihood_of
from roles.protocol import Column, Step
from roles.templates import bar
from rounds.protocols.crux import rewriting
from rounds.protocols.crux.answers import answer_of, shuffled
from rounds.protocols.crux.asked import planned_by, to_check
from rounds.protocols.crux.closing import last_look
from rounds.protocols.crux.memo import to_judge
from rounds.protocols.crux.programs import told_to_write
from rounds.protocols.crux.standing import (
    DERIVED,
    end_of,
    latest,
    option_ids,
    terms_now,
    tested_in,
)
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import planned_programs, ran

Told = tuple[str, str, tuple[int, ...]]
"""(Name, text, seqs of the events shown)."""


def tells(book: Book, step: Step, column: Column) -> tuple[Told, ...]:
    """What a step is told, by column."""
    if column is Column.BEFORE:
        return tuple(_before(book)) if step.name.phase not in ("A", "B") else ()
    return tuple(told for tell in _TOLD.get(step.task, ()) for told in tell(book, step))


def _made(event: Event, lines: Iterable[str], name: str = "") -> Told:
    return (name or event.id or event.kind, "\n".join(lines), (event.seq,))


def _of(book: Book, kind: type[Event], round_: int | None = None) -> list[Event]:
    found = [e for e in book.events if isinstance(e, kind) and round_ in (None, e.round)]
    return sorted(found, key=lambda event: (event.round, event.id or ""))


# ---------------------------------------------------------------- behind the question, for everybody


def _before(book: Book) -> Iterator[Told]:
    """Options that were made of the answers, and words with two readings."""
    for event in book.events:
        if event.kind == "agenda" and book.state.agenda and book.state.agenda.options:
            lines = ["options, made of the answers"]
            yield _made(event, [*lines, *(bar(one.id, one.text) for one in book.state.agenda.options)])
        if event.kind == "frame" and book.state.frame and book.state.frame.two_readings:
            words = book.state.frame.two_readings
            lines = [bar(one.word, " / ".join(one.readings)) for one in words]
            yield _made(event, ["words that can be read in two ways", *lines])


# ---------------------------------------------------------------- answers, agenda, cruxes


def _answers(book: Book, step: Step) -> Iterator[Told]:
    """The answers under letters, in an order that says nothing; no names and no numbers."""
    del step
    for label, role in shuffled(book.state).items():
        words = answer_of(book, role)
        if words is not None:
            lines = [f"answer {label}"]
            for section in words.sections:
                lines += [f"{label}#{section.name}", bar("", section.text)]
            yield _made(words, lines, label)


def _claim(book: Book, claim: str) -> Told:
    event = book.by_id[claim]
    assert isinstance(event, Claim), claim
    lines = [f"{claim} · to be tested by {event.how}", bar("text", event.text)]
    return _made(event, [*lines, bar("test", event.testable_as)])


def _claims(which: Callable[[Book, Step], Iterable[str]]) -> Callable[[Book, Step], Iterator[Told]]:
    return lambda book, step: (_claim(book, claim) for claim in which(book, step))


def _agenda(book: Book, step: Step) -> Iterator[Told]:
    """What all share, every crux, and what would defeat an answer."""
    agenda = book.state.agenda
    if agenda is None:
        return
    event = next(e for e in book.events if e.kind == "agenda")
    if agenda.shared:
        yield _made(event, ["what all answers share", *(bar("", text) for text in agenda.shared)])
    yield from (_claim(book, claim) for claim in agenda.cruxes)
    for concern in _of(book, Concern):
        if isinstance(concern, Concern) and concern.type == "defeater":
            yield _made(concern, [f"{concern.id} · would defeat an answer", bar("text", concern.text)])
    del step


# ---------------------------------------------------------------- plans and results


def _plans(book: Book, step: Step) -> Iterator[Told]:
    """The plans of this round."""
    for event in _of(book, Artifact, step.name.round):
        if isinstance(event, Artifact):
            lines = [f"{event.id} · plans of {event.role}"]
            for n, plan in enumerate(event.body.get("plans", ()), 1):
                lines.append(f"#plan-{n} for {plan['claim']}, a {plan['form']}")
                lines += [bar("step", text) for text in plan["steps"]]
                lines += [bar("holds if", plan["holds_if"]), bar("fails if", plan["fails_if"])]
            yield _made(event, lines)


def _results(earlier: bool) -> Callable[[Book, Step], Iterator[Told]]:
    """Verdicts of earlier rounds, or of this one as well."""

    def tell(book: Book, step: Step) -> Iterator[Told]:
        for event in _of(book, Verification):
            if isinstance(event, Verification) and (event.round < step.name.round or not earlier):
                quoted = verdict_quoted(event, classes=False)
                classes = [
                    bar("class", f"{one.claim_id}: {one.class_}") for one in event.claim_status_changes
                ]
                yield quoted.name, "\n".join([quoted.text, *classes]), quoted.seqs
        run = (event for event in book.of(ExperimentJudged) if event.round < step.name.round or not earlier)
        yield from ran(book, run)

    return tell


def _said_by_a_person(book: Book, step: Step) -> Iterator[Told]:
    """What a person answered."""
    del step
    for event in _of(book, Decision):
        if isinstance(event, Decision) and event.type == "answer":
            yield _made(event, [f"{event.id} · answered by a person", bar("text", event.text)])


# ---------------------------------------------------------------- one's own


def _points(points: Mapping[str, int]) -> str:
    return ", ".join(f"{option} {value}" for option, value in points.items())


def _own_belief(book: Book, step: Step) -> Iterator[Told]:
    """The role's latest belief before this round, and its reasons."""
    facts = latest(book.state, step.role, step.name.round)
    if facts is not None:
        event = book.by_id[facts.id]
        yield _made(event, [f"{facts.id} · your belief so far", bar("points", _points(facts.points))])
    words = book.by_id.get(f"S-1-B-{step.role}")
    if isinstance(words, Statement):
        named = [one for one in words.sections if one.name.startswith("reason")]
        lines = [bar(f"#{one.name}", one.text) for one in named]
        yield _made(words, [f"{words.id} · your reasons", *lines])


def _own_numbers(book: Book, step: Step) -> Iterator[Told]:
    """What the role said of this round's cruxes, and the belief that follows from it by the results."""
    sealed = book.by_id.get(f"B-{step.name.round}-{step.role}")
    if isinstance(sealed, Belief):
        lines = [line for one in sealed.given for line in _numbers(one)]
        yield _made(sealed, [f"{sealed.id} · what you said before the results", *lines])
    derived = book.by_id.get(f"B-{step.name.round}-{step.role}~{DERIVED}")
    if isinstance(derived, Belief):
        head = f"{derived.id} · what follows from your numbers by the results"
        yield _made(derived, [head, bar("points", _points(derived.points))])


def _numbers(one: ConditionalBelief) -> Iterator[str]:
    yield f"{one.claim}: {one.q} points that it is true; you expected that it {one.predicts}"
    yield bar("if true", _points(one.if_true))
    yield bar("if false", _points(one.if_false))


# ---------------------------------------------------------------- the closing


def _beliefs(book: Book, step: Step) -> Iterator[Told]:
    """The latest belief of every role, and the pool."""
    state = book.state
    for role, facts in state.beliefs_at(step.name.round).items():
        if role in AUTHORS:
            head = f"{facts.id} · the belief of {role}"
            yield _made(book.by_id[facts.id], [head, bar("points", _points(facts.points))])


def _computed(book: Book, step: Step) -> Iterator[Told]:
    """What the controller computed for the answer: it is printed beside the memo, and a memo may say it."""
    state, seen = book.state, last_look(book.state)
    end, options = end_of(state, step.name.round), option_ids(state)
    if end.pool is None or end.leader is None or end.stop is None or seen is None:
        return
    named = {option.id: option.text for option in state.options}
    leader = options[end.leader]
    shown = ", ".join(f"{option} {_said(value)}" for option, value in zip(options, end.pool, strict=True))
    lines = [
        "computed, and printed beside your memo",
        bar("pool", f"{shown} (the mean of {len(end.roles)} roles)"),
        bar("leader", f"{leader}: {named.get(leader, 'none of the options')}"),
        bar("how likely", str(likelihood_of(end.pool[end.leader]))),
        bar("status", STATUS[end.stop.reason]),
        bar("it stops because", in_words(end.stop, end.values, end.joint, terms_now(state).tau)),
    ]
    lines += [
        bar("a test of", f"{one.claim} would be worth {_said(one.at_best)} points") for one in end.values
    ]
    yield _made(book.events[seen.seq], lines, "computed")


def _said(value: Fraction) -> str:
    """A figure with two decimals at most."""
    return f"{float(round(value, 2)):g}"


def _answers_by_role(book: Book, step: Step) -> Iterator[Told]:
    """The answers, for whoever writes the memo."""
    del step
    for role in AUTHORS:
        words = answer_of(book, role)
        if words is not None:
            lines = [f"{words.id} · answer of {role}"]
            lines += [bar(f"#{section.name}", section.text) for section in words.sections]
            yield _made(words, lines)


def _memo(book: Book, step: Step) -> Iterator[Told]:
    """The memo, sentence by sentence."""
    for event in _of(book, Memo, step.name.round):
        if isinstance(event, Memo):
            lines = [bar(f"#s{n} {one.field}", one.text) for n, one in enumerate(event.sentences, 1)]
            yield _made(event, [f"{event.id} · the memo", *lines])


def _refused(book: Book, step: Step) -> Iterator[Told]:
    """The role's own memo when it goes back to it: sentence by sentence, with what nothing supports and why."""
    if step.name.repeat == 1:
        return
    first, _ = rewriting.memos_of(book.state, step.name.round)
    check = next((one for one in book.of(DriftCheck) if one.id == f"H-{step.name.round}"), None)
    if first is None or check is None:
        return
    wrong = {one.of: one.reason for one in check.sentences if one.verdict == "not"}
    lines = [
        f"{first.id} · your memo: hand it in again whole, with each refused sentence changed or left out"
    ]
    for n, one in enumerate(first.sentences, 1):
        lines.append(bar(f"#s{n} {one.field}", one.text))
        if (why := wrong.get(f"{first.id}#s{n}")) is not None:
            lines.append(bar(f"#s{n} refused, nothing that it cites says so", why))
    yield _made(first, lines)


def _cited(book: Book, step: Step) -> Iterator[Told]:
    """The question, and each sentence of the memo with the text that it cites, and nothing else."""
    yield "question", bar("question", book.state.opening.question), ()
    event, wanted = book.state.memo, to_judge(book, step)
    if event is not None and event.round == step.name.round:
        for n, one in enumerate(event.sentences, 1):
            if n not in wanted:
                continue
            kind = f"{one.field}, a judgment" if one.judgment else one.field
            lines = [f"sentence {n}, {kind}", bar("says", one.text)]
            for ref in one.refs:
                there = cited_texts(book, (ref,)).get(ref)
                lines.append(bar(f"cites {ref}", "\n".join(there.texts if there else ())))
            lines += [bar("quotes", one.quote)] if one.quote else []
            yield _made(event, lines, f"sentence {n}")


def _round(book: Book, step: Step) -> tuple[str, ...]:
    return tested_in(book.state, step.name.round)


_TOLD: Final[Mapping[str, tuple[Callable[[Book, Step], Iterable[Told]], ...]]] = {
    "C.agenda": (_answers,),
    "C.choice": (_claims(lambda book, _: book.state.agenda.cruxes if book.state.agenda else ()),),
    "D": (
        _claims(lambda book, step: planned_by(book.state, step.name.round, step.role)),
        told_to_write,
        _results(earlier=True),
    ),
    "E.forecast": (_claims(_round), _plans, planned_programs, _results(earlier=True), _own_belief),
    "E.check": (_claims(lambda book, step: to_check(book.state, step.name.round)), _plans),
    "F": (_claims(_round), _results(earlier=False), _said_by_a_person, _own_belief, _own_numbers),
    "S.memo": (
        _refused,
        _agenda,
        _answers_by_role,
        _results(earlier=False),
        _said_by_a_person,
        _beliefs,
        _computed,
    ),
    "S.objection": (_memo,),
    "S.check": (_cited,),
}
"""Task → what it is told, in order."""
