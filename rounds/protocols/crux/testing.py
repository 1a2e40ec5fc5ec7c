"""D of `crux`: programs, expressions, and what documents say; each settles a crux or leaves it unsettled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from ledger.events import Claim, Event, ExperimentPlanned, ExperimentRun, Verification
from ledger.events.envelope import Bearing, Evidence, Result, Status, TestResult
from ledger.events.ids import event_id, kind_of, number_of
from ledger.events.verifications import StatusChange
from ledger.language.numbers import values_in
from ledger.state.book import Book
from ledger.state.experiments import CONTROLS, content_of, plan_of, runs_of, verdict_of
from ledger.state.lifecycle import STATUS_OF_BEARING
from ledger.state.state import VERIFIER, State
from roles.calculation import evaluated
from roles.evidence import evidence_class, exhibits
from roles.protocol import Group, Step
from roles.replies import Reply
from rounds.protocols.citations import Quotable, evidence_of, exactly_one, names
from rounds.protocols.crux.assignments import assigned, broken_program, to_read
from rounds.protocols.crux.replies import (
    CalculationReply,
    DocumentVerdict,
    ProgramReply,
    ReadingReply,
)
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import PlannedProgram, experiment, files_of, wrong_program
from rounds.protocols.step_table import Numbering, statement, statement_id

_BEARING: Final[Mapping[str, Bearing]] = {
    "holds": "supports",
    "fails": "contradicts",
    "not_settled": "inconclusive",
}
_RESULT: Final[Mapping[Bearing, Result]] = {
    "supports": "ROBUST",
    "contradicts": "BROKEN",
    "partly_contradicts": "BROKEN",
    "inconclusive": "UNCLEAR",
}
CHECKS: Final = 4
"""Verifications are numbered after the four checks that a round of `structured` has."""


def _verification_id(numbering: Numbering, before: int = 0) -> str:
    """Return the next id; `before` counts verifications of the same commit that are not on the ledger yet."""
    return event_id("verification", 1, CHECKS + before + number_of(numbering.number(Verification)))


def _read_in_this_commit(numbering: Numbering) -> int:
    """Return how many verdicts on documents come with the reply that closes the group; they are numbered first."""
    step, state = f"r1.D.{VERIFIER}", numbering.book.state
    # The group can close with another reply, after the reading was written; then its
    # verdicts are counted already.
    return len(to_read(state)) if step in numbering.closing and step not in state.answered else 0


# ---------------------------------------------------------------- programs


def wrong_plan(known: Quotable, reply: ProgramReply) -> Iterator[str]:
    """Yield what is wrong with a program: why it could settle nothing, and what a repair may not change."""
    yield from (
        f"program: {problem}" for problem in wrong_program(known.step, reply.program, known.opened.seed)
    )
    broken = broken_program(known.state, known.step.name)
    if broken is not None:
        before = plan_of(known.book, broken)
        after = _experiment(known.book, known.step, reply.program, broken)
        # A repair that moves the bar could turn a failed test into a passed one without any new evidence.
        for name in ("pass_if", "fail_if"):
            if getattr(before, name) != getattr(after, name):
                yield f"program.{name}: a repair may change files and argv, and not what counts as the result"


def _experiment(book: Book, step: Step, program: PlannedProgram, number: str) -> ExperimentPlanned:
    claim = assigned(book.state, step.name).claim
    event = book.by_id[claim]
    assert isinstance(event, Claim), claim
    return experiment(step, claim, event.testable_as, program, number, book.state.opening.seed)


def measured(_: Numbering, step: Step, reply: ProgramReply) -> tuple[Event, ...]:
    """Return what the program measures, in words."""
    return statement(step, "plan", {"measures": reply.measures})


def programs(numbering: Numbering, step: Step, reply: ProgramReply) -> Iterator[Event]:
    """Yield the experiment of a program, numbered when its group closes."""
    book = numbering.book
    # A later word about experiments can reopen a group that closed before; its programs are there already.
    if not any(plan.step == step.id for plan in book.of(ExperimentPlanned)):
        yield _experiment(book, step, reply.program, numbering.number(ExperimentPlanned))


def brought(reply: Reply) -> Mapping[str, bytes]:
    """Return the files of a program, by hash."""
    return files_of([reply.program]) if isinstance(reply, ProgramReply) else {}


def runs_first(state: State, group: Group) -> tuple[str, ...]:
    """Return programs that are run before a repair or a second program is asked for."""
    if not group.name.startswith("D.again") or state.experiments_at(state.seq) == "off":
        # Only the waves wait for results. The first programs are all written before any of them is run.
        return ()
    return tuple(identity for identity in state.unjudged if state.experiments[identity].by in AUTHORS)


def failure_of(book: Book, identity: str) -> Iterator[tuple[str, str]]:
    """Yield (label, text) of what went wrong with a program: the unreadable predicate, or what it wrote to stderr.

    Standard output stays hidden: the role that mends a program must not see its result.
    """
    plan, content = plan_of(book, identity), content_of(book.blobs)
    for predicate in book.state.experiments[identity].unreadable:
        yield "cannot be read", predicate
    for run in runs_of(book, identity):
        name = f"the control that must {run.control.removeprefix('must_')}" if run.control else "the program"
        verdict = verdict_of(plan, run, content)
        if run.control is not None and verdict in ("holds", "fails") and verdict != CONTROLS[run.control]:
            yield name, "came out the other way, so the test decides nothing"
        elif verdict in ("error", "inconclusive"):
            ended = f"exit {run.exit}" if run.exit is not None else f"signal {run.signal} (a limit ended it)"
            yield f"{name} ended with", ended
            yield "stderr", content(run.stderr.kept).decode("utf-8", "replace")[-STDERR_SHOWN:]
            # The first broken run is enough: repetitions of one fault would fill the prompt
            # with the same traceback.
            return


# Characters of standard error in a repair prompt; the end of a traceback names the fault,
# the beginning rarely does.
STDERR_SHOWN: Final = 4_000


# ---------------------------------------------------------------- expressions


def wrong_calculation(known: Quotable, reply: CalculationReply) -> Iterator[str]:
    """Yield what is wrong with an expression: it cannot be computed, or a number in it has no source."""
    if reply.expression is None:
        return
    left, right = evaluated(reply.expression), evaluated(reply.value)
    if left is None:
        yield "expression: write numbers, + - * / and parentheses, as in (40 + 2) * 25"
        return
    if right is None or len(right.operands) != 1:
        yield "value: write one number, as in 1200"
        return
    # A number from nowhere would make the verdict an assertion; every operand must be written in a
    # source of the run.
    there = _stated(known.book)
    missing = [operand for operand in (*left.operands, *right.operands) if operand not in there]
    if missing:
        yield (
            f"expression: {names(dict.fromkeys(missing))} stands neither in the question nor in a document nor in an"
            " experiment's output; use only numbers that do, or give null"
        )


def _stated(book: Book) -> frozenset[str]:
    """Return the numbers of the question, the documents and the outputs of experiments."""
    opened = book.state.opening
    texts = [opened.question, *(item.text for item in (*opened.goals, *opened.options))]
    blobs = [document.sha256 for document in opened.context] + [
        run.stdout.kept for run in book.of(ExperimentRun)
    ]
    texts += [(book.blobs.read(blob) or b"").decode("utf-8", "replace") for blob in blobs]
    return frozenset[str]().union(*(values_in(text) for text in texts))


def calculated(_: Numbering, step: Step, reply: CalculationReply) -> tuple[Event, ...]:
    """Return the expression in words."""
    sections = {"calculation-1": calculation_text(reply)} if reply.expression else {}
    return statement(step, "plan", {**sections, "why": reply.why})


def calculation_text(reply: CalculationReply) -> str:
    """Format the expression, its value, and what it is compared with."""
    calculation = evaluated(reply.expression or "")
    result = "" if calculation is None else f" = {float(calculation.value):.6g}"
    return f"{reply.expression}{result}, which must be {reply.comparison.replace('_', ' ')} {reply.value}"


def calculation_verdicts(numbering: Numbering, step: Step, reply: CalculationReply) -> Iterator[Event]:
    """Yield the verdict of an expression, computed by moot and written by the controller."""
    left, right = evaluated(reply.expression or ""), evaluated(reply.value)
    if left is None or right is None:
        return
    claim = assigned(numbering.book.state, step.name).claim
    # A group can be closed again after a resume; the verdict of the first time is on the ledger then.
    if any(
        event.by == "controller" and claim in event.claims_affected
        for event in numbering.book.of(Verification)
    ):
        return
    # Both sides are exact fractions, so `equal` means equal and no tolerance is needed.
    comparisons = {
        "above": left.value > right.value,
        "at_least": left.value >= right.value,
        "equal": left.value == right.value,
        "at_most": left.value <= right.value,
        "below": left.value < right.value,
    }
    result: TestResult = "holds" if comparisons[reply.comparison] else "fails"
    text, before = calculation_text(reply), _read_in_this_commit(numbering)
    evidence = (Evidence(ref=f"{statement_id(step)}#calculation-1", quote=text),)
    change = _change(claim, numbering.book.state.claims[claim].status, _BEARING[result], evidence)
    yield numbering.computed(
        Verification,
        "D",
        id=_verification_id(numbering, before),
        **_moved(msgspec.structs.replace(change, class_="calculated")),
        notes=f"{text}: it {result}.",
    )


# ---------------------------------------------------------------- documents


def wrong_reading(known: Quotable, reply: ReadingReply) -> Iterator[str]:
    """Yield what is wrong with verdicts on documents: one for each crux, and none without an exact quote."""
    yield from exactly_one(
        (verdict.claim for verdict in reply.verdicts), to_read(known.state), "verdicts", "claim"
    )
    for n, entry in enumerate(reply.verdicts):
        if entry.verdict == "not_settled":
            continue
        if not any(kind_of(cited.ref) == "document" and cited.quote for cited in entry.quotes):
            yield (
                f"verdicts[{n}]: {entry.verdict} needs an exact quote of a document, with its lines as ref; without one"
                " the verdict is not_settled"
            )


def read(numbering: Numbering, step: Step, reply: ReadingReply) -> tuple[Event, ...]:
    """Return one verification for each crux, in the order of their ids."""
    verdicts = sorted(reply.verdicts, key=lambda verdict: to_read(numbering.book.state).index(verdict.claim))
    return tuple(_document_verdict(numbering, step, verdict) for verdict in verdicts)


def _document_verdict(numbering: Numbering, step: Step, verdict: DocumentVerdict) -> Verification:
    book = numbering.book
    # Without a quote the verifier read all of the documents, and they do not settle it.
    documents = tuple(Evidence(ref=document.id) for document in book.state.opening.context)
    bearing, evidence = _BEARING[verdict.verdict], evidence_of(verdict.quotes) or documents
    # A crux that is tested was pending when the step opened, whatever a person measured since.
    change = _change(verdict.claim, "pending", bearing, evidence)
    raised_by = book.state.claims[verdict.claim].raised_by
    class_ = evidence_class(exhibits(book, verdict.claim, evidence), raised_by, bearing)
    moved = _moved(msgspec.structs.replace(change, class_=class_))
    return numbering.event(Verification, step, id=_verification_id(numbering), notes=verdict.notes, **moved)


def _change(claim: str, before: Status, bearing: Bearing, evidence: tuple[Evidence, ...]) -> StatusChange:
    after = STATUS_OF_BEARING[bearing]
    return StatusChange(claim_id=claim, from_=before, to=after, bearing=bearing, evidence=evidence)


def _moved(change: StatusChange) -> dict[str, Any]:
    """Return the fields of a verdict on one claim alone."""
    return {
        "check": "claim_retest",
        "check_id": 5,
        "result": _RESULT[change.bearing],
        "evidence_refs": change.evidence,
        "claims_affected": (change.claim_id,),
        "claim_status_changes": (change,),
    }
