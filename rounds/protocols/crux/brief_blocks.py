"""Blocks that prompts of `crux` show after the question: claims, programs, results and the memo.

No prompt before the closing shows another role's forecast. None shows the value of a test, or which seat plays a role.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from ledger.events import (
    Belief,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    Event,
    ExperimentJudged,
    Frame,
    Memo,
    Statement,
    Verification,
)
from ledger.events.ids import event_id
from ledger.state.book import Book
from ledger.state.decided import in_force
from roles.brief.quote import person_answer, verification as verdict_quoted
from roles.memo.citing import cited_texts
from roles.prompt_set import bar
from roles.protocol import Column, Step
from rounds.protocols.crux.answers import answer_of, shuffled
from rounds.protocols.crux.assignments import (
    assigned,
    broken_program,
    test_of,
    to_read,
    why_nothing_was_tested,
)
from rounds.protocols.crux.memo import likelihood_now, memos_of, to_judge
from rounds.protocols.crux.standing import (
    SEALED,
    cruxes_of,
    disagreeing,
    is_open_ended,
    kept_cruxes,
    last_look,
    option_ids,
    option_texts,
    sealed,
    standing_of_look,
)
from rounds.protocols.crux.testing import failure_of
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import how_to_write, ran, shown_program

Shown = tuple[str, str, tuple[int, ...]]
"""(Name, text, seqs of the events that it quotes)."""


def blocks(book: Book, step: Step, column: Column) -> tuple[Shown, ...]:
    """Return what a step is shown, by column."""
    if column is Column.BEFORE:
        return tuple(_before(book, step))
    return tuple(block for make in _BLOCKS.get(step.task, ()) for block in make(book, step))


def _block(event: Event, lines: Iterable[str], name: str = "") -> Shown:
    return (name or event.id or event.kind, "\n".join(lines), (event.seq,))


# ---------------------------------------------------------------- after the question, for everybody


def _before(book: Book, step: Step) -> Iterator[Shown]:
    """Yield options that were made of the answers, and what the check of the question found."""
    # The step of phase A makes the frame, so there is nothing to show it yet.
    if step.name.phase == "A":
        return
    # Ledger order keeps the beginning of a prompt stable from step to step, which lets vendors serve
    # it from their cache.
    for event in book.events:
        if event.kind == "agenda" and book.state.agenda and book.state.agenda.options:
            options = (bar(option.id, option.text) for option in book.state.agenda.options)
            yield _block(event, ["options, made of the answers", *options])
        if event.kind == "frame" and book.state.frame and book.state.frame.two_readings:
            words = (bar(word.word, " / ".join(word.readings)) for word in book.state.frame.two_readings)
            yield _block(event, ["words that can be read in two ways", *words])
        if isinstance(event, Frame):
            yield from _objections(book, event)


def _objections(book: Book, frame: Frame) -> Iterator[Shown]:
    """Yield options that the question lacks, options that are the same, and why it is ill-posed."""
    if frame.missing:
        head = "options that the check of the question found missing: points for one of them go to `none`"
        yield _block(frame, [head, *(bar("missing", text) for text in frame.missing)], "missing")
    if frame.double:
        texts = option_texts(book.state)
        same = (
            bar("same", " = ".join(f"{option} ({texts.get(option, '')})" for option in group))
            for group in frame.double
        )
        yield _block(
            frame, ["options that the check of the question found to be the same thing", *same], "double"
        )
    if frame.ill_posed:
        head = "the check of the question found that no answer could be right or wrong as it is written"
        yield _block(frame, [head, bar("why", frame.why or "")], "ill-posed")


# ---------------------------------------------------------------- answers, claims


def _answers(book: Book, _step: Step) -> Iterator[Shown]:
    """Yield the answers under letters, in an order that carries no information, without names and numbers."""
    for label, role in shuffled(book.state).items():
        words = answer_of(book, role)
        if words is not None:
            lines = [f"answer {label}"]
            for section in words.sections:
                lines += [f"{label}#{section.name}", bar("", section.text)]
            yield _block(words, lines, label)


def _claim(book: Book, claim: str) -> Shown:
    event = book.by_id[claim]
    assert isinstance(event, Claim), claim
    lines = [f"{claim} · how it would be settled: {event.how}", bar("claim", event.text)]
    return _block(event, [*lines, bar("test", event.testable_as)])


def _claims(which: Callable[[Book, Step], Iterable[str]]) -> Callable[[Book, Step], Iterator[Shown]]:
    return lambda book, step: (_claim(book, claim) for claim in which(book, step))


def _agenda(book: Book, _step: Step) -> Iterator[Shown]:
    """Yield what is common to the answers, every crux, and the ways in which an answer could be wrong."""
    agenda = book.state.agenda
    if agenda is None:
        return
    event = next(e for e in book.events if e.kind == "agenda")
    if agenda.shared:
        yield _block(event, ["what all answers share", *(bar("", text) for text in agenda.shared)])
    yield from (_claim(book, claim) for claim in agenda.cruxes)
    for concern in book.of(Concern):
        if concern.type == "defeater":
            tests = "".join(f" · {claim} tests it" for claim in concern.between)
            yield _block(
                concern, [f"{concern.id} · an answer could be wrong{tests}", bar("text", concern.text)]
            )


def _own_forecast(book: Book, step: Step) -> Iterator[Shown]:
    """Yield the role's own forecast and reasons."""
    facts, options = sealed(book.state, step.role, SEALED), option_ids(book.state)
    words = answer_of(book, step.role)
    if words is not None:
        named = [section for section in words.sections if section.name.startswith(("answer", "reason"))]
        yield _block(
            words,
            [f"{words.id} · your answer", *(bar(f"#{section.name}", section.text) for section in named)],
        )
    # With options of its own a role gave points on `own` and `none`, which are no options anymore.
    if facts is not None and not is_open_ended(book.state):
        points = ", ".join(f"{option} {facts.points.get(option, 0)}" for option in options)
        yield _block(book.by_id[facts.id], [f"{facts.id} · your forecast", bar("points", points)])


# ---------------------------------------------------------------- tests and results


def _how_to_write(book: Book, step: Step) -> Iterator[Shown]:
    claim = assigned(book.state, step.name).claim
    yield "programs", how_to_write(book.state, f"write a program that tests {claim}"), ()


def _broken(book: Book, step: Step) -> Iterator[Shown]:
    """Yield the program that is to be mended, and what went wrong; never what it printed."""
    identity = broken_program(book.state, step.name)
    if identity is None:
        return
    yield shown_program(book, identity)
    judged = [event for event in book.of(ExperimentJudged) if event.of == identity]
    lines = [
        f"{identity} · could not settle the claim",
        *(bar(*failure) for failure in failure_of(book, identity)),
    ]
    # The judgment may be recorded more than once after a resume; the last one is in force.
    yield identity, "\n".join(lines), tuple(event.seq for event in judged[-1:])


def _results(book: Book, _step: Step) -> Iterator[Shown]:
    """Yield every verdict: of documents, of expressions, of programs."""
    for event in book.of(Verification):
        quoted = verdict_quoted(event, classes=False)
        levels = [
            bar("level", f"{change.claim_id}: {change.class_}") for change in event.claim_status_changes
        ]
        yield quoted.name, "\n".join([quoted.text, *levels]), quoted.seqs
    yield from ran(book, book.of(ExperimentJudged))
    # Two results that disagree cancel each other, and a writer who sees only the two verdicts would pick one.
    for claim in kept_cruxes(book.state):
        if disagreeing(book.state, claim):
            head = f"{claim} · two programs disagree, so it is not settled"
            yield claim, head, (book.by_id[claim].seq,)


def _person_answers(book: Book, _step: Step) -> Iterator[Shown]:
    """Yield answers of people in force, with the question, claim and test that they answer."""
    for event in map(book.by_id.__getitem__, in_force(book.state)):
        if isinstance(event, Decision) and book.state.decisions[event.id].rank == "answer":
            quoted = person_answer(book, event)
            yield quoted.name, quoted.text, quoted.seqs


# ---------------------------------------------------------------- the closing


def _forecasts(book: Book, step: Step) -> Iterator[Shown]:
    """Yield each role's forecast now, by role."""
    # The standing of this round's look is shown, not the newest: a person's result that arrives now belongs
    # to the next round.
    standing, options = standing_of_look(book.state, step.name.round), option_ids(book.state)
    for role, forecast in standing.forecasts.items():
        facts = book.state.beliefs_at(step.name.round).get(role)
        event = book.by_id[facts.id] if facts else None
        if isinstance(event, Belief):
            points = ", ".join(f"{option} {value}" for option, value in zip(options, forecast, strict=True))
            yield _block(event, [f"{event.id} · forecast of {role}", bar("points", points)])


def _computed(book: Book, step: Step) -> Iterator[Shown]:
    """Yield what moot computed: group forecast, status, and the unsettled cruxes with their value."""
    state, look = book.state, last_look(book.state)
    standing, options = standing_of_look(state, step.name.round), option_ids(state)
    if standing.group is None or standing.leader is None or look is None:
        return
    leader, group = options[standing.leader], standing.group
    points = ", ".join(f"{option} {figure(group.points(n))}" for n, option in enumerate(options))
    lines = [
        "computed, and printed beside your memo",
        bar("group forecast", f"{points} (mean of {group.roles} {'role' if group.roles == 1 else 'roles'})"),
        bar("leader", f"{leader}: {option_texts(state)[leader]}"),
        bar("how likely", str(likelihood_now(state))),
        bar("status", standing.status.replace("_", " ")),
    ]
    lines += [
        bar("not settled", f"{crux.claim}: a test would be worth {figure(crux.best)} points")
        for crux in standing.unsettled
    ]
    yield _block(book.events[look.seq], lines, "computed")


def _tests(book: Book, step: Step) -> Iterator[Shown]:
    """Yield each crux with what tested it or why nothing did; without a crux, why nothing was tested at all."""
    state = book.state
    if reason := why_nothing_was_tested(state):
        yield "tests", "\n".join(["what was tested", bar("nothing", reason)]), ()
        return
    for claim in cruxes_of(state):
        event = book.by_id[claim]
        assert isinstance(event, Claim), claim
        lines = [f"{claim} · whether it was tested", bar("claim", event.text)]
        yield _block(event, [*lines, bar("tested", test_of(book, claim, step.name.round))], f"{claim} tested")


def figure(value: Fraction) -> str:
    """Format a figure with one decimal at most."""
    # The fraction is rounded exactly before it becomes a float, so a half never
    # depends on binary representation.
    return f"{float(round(value, 1)):g}"


def _answers_by_role(book: Book, _step: Step) -> Iterator[Shown]:
    """Yield the answers, for the writer of the memo."""
    for role in AUTHORS:
        words = answer_of(book, role)
        if isinstance(words, Statement):
            sections = (bar(f"#{section.name}", section.text) for section in words.sections)
            yield _block(words, [f"{words.id} · answer of {role}", *sections])


def _memo(book: Book, step: Step) -> Iterator[Shown]:
    """Yield the memo, sentence by sentence."""
    event = memos_of(book.state, step.name.round)[0]
    if isinstance(event, Memo):
        lines = [
            bar(f"#s{n} {sentence.field}", sentence.text) for n, sentence in enumerate(event.sentences, 1)
        ]
        answers = f"{event.answers}: {option_texts(book.state).get(event.answers or '', '')}"
        yield _block(event, [f"{event.id} · the memo", bar("answers with", answers), *lines])


def _refused(book: Book, step: Step) -> Iterator[Shown]:
    """Yield the role's own memo when it comes back: each sentence, and why it is unsupported."""
    if step.name.repeat == 1:
        return
    first, _ = memos_of(book.state, step.name.round)
    check = next(
        (drift for drift in book.of(DriftCheck) if drift.id == event_id("drift_check", step.name.round)), None
    )
    if first is None or check is None:
        return
    wrong = {sentence.of: sentence.reason for sentence in check.sentences if sentence.verdict == "not"}
    lines = [f"{first.id} · your memo: hand it in again, with each unsupported sentence changed or left out"]
    for n, sentence in enumerate(first.sentences, 1):
        lines.append(bar(f"#s{n} {sentence.field}", sentence.text))
        if (why := wrong.get(f"{first.id}#s{n}")) is not None:
            lines.append(bar(f"#s{n} unsupported", why))
    yield _block(first, lines)


def _cited(book: Book, step: Step) -> Iterator[Shown]:
    """Yield the question with its options, and each sentence of the memo with the text that it cites."""
    options = (bar(option, text) for option, text in option_texts(book.state).items())
    yield "question", "\n".join([bar("question", book.state.opening.question), *options]), ()
    event, wanted = book.state.memo, to_judge(book, step)
    # A memo of an earlier round can still be the newest one; its sentences were checked there.
    if event is None or event.round != step.name.round:
        return
    for n, sentence in enumerate(event.sentences, 1):
        if n not in wanted:
            continue
        kind = f"{sentence.field}, a judgment" if sentence.judgment else sentence.field
        lines = [f"sentence {n}, {kind}", bar("says", sentence.text)]
        for ref in sentence.refs:
            lines += _cited_lines(book, ref)
        lines += [bar("quotes", sentence.quote)] if sentence.quote else []
        yield _block(event, lines, f"sentence {n}")


def _cited_lines(book: Book, ref: str) -> Iterator[str]:
    """Yield the text that a sentence cites; outputs of a program with the repetition or the control that wrote them."""
    there = cited_texts(book, (ref,)).get(ref)
    # The reference is shown empty rather than left out, so that the verifier can mark
    # the sentence as unsupported.
    if there is None:
        yield bar(f"cites {ref}", "")
        return
    words = tuple(text for text, label in zip(there.texts, there.labels, strict=True) if not label)
    yield bar(f"cites {ref}", "\n".join(words))
    for text, label in zip(there.texts, there.labels, strict=True):
        if label and text:
            yield bar(label, text)


def _planned(book: Book, step: Step) -> Iterable[str]:
    return (assigned(book.state, step.name).claim,)


_BLOCKS: Final[Mapping[str, tuple[Callable[[Book, Step], Iterable[Shown]], ...]]] = {
    "C.agenda": (_answers,),
    "E": (_claims(lambda book, _: kept_cruxes(book.state)), _own_forecast, _person_answers),
    "D.program": (_claims(_planned), _how_to_write, _person_answers),
    "D.again": (_claims(_planned), _how_to_write, _broken, _person_answers),
    "D.calculation": (_claims(_planned), _person_answers),
    "D.read": (_claims(lambda book, _: to_read(book.state)), _person_answers),
    "S.memo": (
        _refused,
        _agenda,
        _answers_by_role,
        _results,
        _person_answers,
        _forecasts,
        _computed,
        _tests,
    ),
    "S.objection": (_memo, _person_answers),
    "S.check": (_cited, _tests),
}
"""Blocks of each task's prompt, in order."""
