"""Acts of a person on a run: answers, overrides, acknowledgments, notes; always `by: human` (DESIGN 3, FORMAT 8).

`name` is the person's name, where it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeVar

import msgspec

from ledger.events import Alarm, Amendment, Claim, Concern, Decision, Event, ExperimentPlanned
from ledger.events.decisions import Cite, Relation
from ledger.events.envelope import Envelope, TestResult
from ledger.events.ids import event_id
from ledger.events.run import Change
from ledger.state.amendments import GOES_ON
from ledger.state.book import Book
from ledger.state.decided import final_in_force, replacement
from ledger.state.experiments import planned_note
from ledger.state.state import EXPERIMENTS, EXPERIMENTS_PATH, WAIT_PATH, State
from ledger.store.blobs import hash_of
from rounds.run.acceptance import (
    ACCEPTED,
    DISTANCE,
    PATH,
    Fate,
    became_of,
    current_acceptance,
    edit_distance,
    output_of,
)
from rounds.run.same_question import covers
from rounds.run.session import RunSession, is_on_ledger


class NotThere(LookupError):
    """A target that is missing from the ledger or does not allow the act; `fix` names one that does."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


Act = TypeVar("Act", Decision, Alarm, Amendment)

Events = tuple[Event, ...]
# Two acts are the same when all but the envelope is equal: instants and hashes always differ.
_ENVELOPE: Final = frozenset(Envelope.__struct_fields__)


def _named(act: Act, name: str | None) -> Act:
    return act if name is None else msgspec.structs.replace(act, name=name)


def _once(book: Book, act: Act, name: str | None) -> Event:
    """Return the same act of a person in this round, if it is on the ledger already; otherwise `act`.

    A disk may fail after the write and before the acknowledgment: the act is then kept, its author has to do it
    again, and doing it again must not make two (FORMAT 8).
    """
    act = _named(act, name)
    content = _content(act)
    before = (event for event in book.events if event.by == act.by and event.round == act.round)
    return next((event for event in before if event.kind == act.kind and _content(event) == content), act)


def _content(act: Event) -> dict[str, Any]:
    return {name: getattr(act, name) for name in act.__struct_fields__ if name not in _ENVELOPE}


def answer(
    session: RunSession,
    question: str,
    text: str,
    name: str | None = None,
    *,
    result: TestResult | None = None,
    output: bytes | None = None,
) -> Events:
    """Answer a question, or a claim with the `result` of a test by a person; `output` is what the test produced.

    A question counts as resolved from then on. With a result the answer settles the claims that the question tests;
    without one it is context, which later prompts show. Raises `NotThere`.
    """
    blobs = {} if output is None else {hash_of(output): output}

    def make(book: Book) -> Events:
        cite, claims = _answered(book, question, result)
        draft = msgspec.structs.replace(
            _decision(book, "answer", text, cite),
            result=result,
            claims=claims if result else (),
            output=next(iter(blobs), None),
        )
        event = book.by_id.get(question)
        # A person who answered "how many users?" should not be asked again in other words, so open questions
        # that ask the same are resolved too.
        alike = _same_open(book, event, text) if isinstance(event, Concern) else []
        same = tuple(Cite(type="concern", id=other_id, relation="resolves") for other_id in alike)
        act = _once(book, msgspec.structs.replace(draft, cites=(*draft.cites, *same)), name)
        # An answer given twice after a failed acknowledgment is the event that is there, and no error.
        is_answered = question in book.state.concerns and question in book.state.resolved
        if is_answered and not is_on_ledger(act):
            raise NotThere(
                f"{question} is answered already",
                f"correct it: `moot answer RUN {claims[0]} --holds|--fails 'TEXT'`"
                if claims
                else "see `moot decisions`",
            )
        return (act,)

    return session.append(make, blobs)


def _answered(
    book: Book, question: str, result: TestResult | None
) -> tuple[tuple[str, str, Relation], tuple[str, ...]]:
    """Return how an answer cites its question or claim, and the claims that a result would settle."""
    event = book.by_id.get(question)
    if isinstance(event, Claim):
        if result is None:
            raise NotThere(
                f"{question} is a claim, and an answer to it needs a result",
                "add --holds or --fails, or answer an open question: see `moot status`",
            )
        # SD-44: superseded is final, so a result for it could move nothing.
        if book.state.claims[question].status == "superseded":
            raise NotThere(f"{question} is superseded", "see `moot claims`")
        return ("claim", question, "resolves"), (question,)
    if not isinstance(event, Concern):
        open_ones = ", ".join(i for i in book.state.concerns if i not in book.state.resolved) or "none"
        raise NotThere(f"no question {question!r} in this run", f"open questions: {open_ones}")
    claims = tuple(claim_id for claim_id in event.between if claim_id in book.state.claims)
    # Silently dropping the result would let a person believe that a claim was settled.
    if result is not None and not claims:
        raise NotThere(
            f"{question} tests no claim, so it neither holds nor fails",
            f"leave --{result} out: `moot answer RUN {question} 'TEXT'`",
        )
    return ("concern", question, "resolves"), claims


def _same_open(book: Book, concern: Concern, text: str) -> list[str]:
    """Return the open questions that ask the same as one that is answered; each question about a claim stands alone.

    What this very answer resolved before counts as open, so that giving it again after a failed acknowledgement makes
    the same event.
    """
    state = book.state
    resolved_before = {
        cite.id
        for event in book.of(Decision)
        if event.type == "answer" and event.text == text and event.cites[0].id == concern.id
        for cite in event.cites
    }
    return [
        other.id
        for other in book.of(Concern)
        if other.for_human and other.id != concern.id
        if other.id not in state.resolved or other.id in resolved_before
        # Questions that test claims are never merged: the same words can ask about different claims.
        if not state.claims.keys() & {*other.between, *concern.between}
        if covers(concern.text, other.text) and covers(other.text, concern.text)
    ]


def override(session: RunSession, target_id: str, text: str, name: str | None = None) -> Events:
    """Overturn a decision in force (`D-3-1`), or a ruling or a screening (`@seq`)."""

    def make(book: Book) -> Events:
        held = target_id in book.state.screened or target_id in book.state.held_up
        kind = "verification" if held else "decision"
        # An override that is on the ledger already is returned, although its target
        # cannot be overturned twice.
        act = _once(book, _decision(book, "override", text, (kind, target_id, "overturns")), name)
        if not is_on_ledger(act):
            _refuse_what_no_override_ends(book.state, target_id)
        return (act,)

    return session.append(make)


def _refuse_what_no_override_ends(state: State, target_id: str) -> None:
    if target_id in state.held_up:
        return
    # Its forecasts follow from what was measured, so only another measurement can take it back.
    if (decision := state.decisions.get(target_id)) and decision.result:
        raise NotThere(
            f"{target_id} is the result of a test, and only another result takes its place",
            f"hand it in: `moot answer RUN {decision.claims[0]} --holds|--fails 'TEXT'`",
        )
    target = state.rulings.get(target_id) or decision
    if target is None and target_id.startswith("@"):
        held = ", ".join(state.held_up)
        raise NotThere(
            f"no ruling at {target_id}, and no screening that holds the run up",
            f"held up by {held}" if held else "see `moot decisions`",
        )
    if target is None:
        raise NotThere(f"no decision {target_id!r} in this run", "see `moot decisions`")
    if target.overturned_by is not None:
        # An override of an override is allowed; the one in force is named, so a person need
        # not follow the chain.
        now = replacement(state, target.overturned_by)
        raise NotThere(f"{target_id} was overturned by {target.overturned_by}", f"override {now} instead")


def acknowledge(session: RunSession, alarm: str, because: str, name: str | None = None) -> Events:
    """Close an open alarm, named by its seq (`@41`) or failure mode (`FM-1`), or release what an error holds up."""
    # To a person both are "I have seen this, go on", although the ledger records a held run as an override.
    if alarm in session.book().state.held_up:
        return override(session, alarm, because, name)

    def make(book: Book) -> Events:
        open_matches = [open_ for open_ in book.state.open_alarms() if alarm in (open_.fm, f"@{open_.seq}")]
        # Nothing open: perhaps the same acknowledgment was written before a disk error, and
        # then it is returned.
        if not open_matches:
            done = [event for event in book.events if _closes(event, alarm, because)]
            if done:
                return (done[-1],)
            names = ", ".join(f"{open_.fm} @{open_.seq}" for open_ in book.state.open_alarms()) or "none"
            raise NotThere(f"no open alarm {alarm}", f"open ones: {names}")
        raised = open_matches[0]
        closed = Alarm(
            **_envelope(book),
            fm=raised.fm,
            action="closed",
            verdict=raised.verdict,
            e_value=raised.e_value,
            onset_round=raised.onset_round,
            evidence=raised.evidence,
            params=raised.params,
            closes=raised.seq,
            because=because,
        )
        return (_named(closed, name),)

    return session.append(make)


def _closes(event: Event, alarm: str, because: str) -> bool:
    """Return whether a person closed this alarm with these words."""
    return (
        isinstance(event, Alarm)
        and (event.by, event.action, event.because) == ("human", "closed", because)
        and alarm in (event.fm, f"@{event.closes}")
    )


def note(session: RunSession, text: str, name: str | None = None) -> Events:
    """Put a remark on the ledger; no prompt shows it."""
    return session.append(lambda book: (_once(book, _amendment(book, text), name),))


def accept(
    session: RunSession, used: str | None, *, rejected: bool = False, name: str | None = None
) -> Events:
    """Note how the outcome was used; `used` is the text that was really used, None when it was used unchanged."""

    def make(book: Book) -> Events:
        outcome = output_of(book)
        if not outcome:
            raise NotThere("this run has no final decision", "finish it first: see `moot status`")
        share, distance = edit_distance(outcome, used) if used is not None else (0.0, "low")
        changes = [Change(path=ACCEPTED, from_=None, to=not rejected)]
        if not rejected:
            changes.append(Change(path=DISTANCE, from_=None, to=distance))
        edited = f"used with {share:.0%} of its words changed" if used is not None else "used as it is"
        reason = f"The outcome was {'not used' if rejected else edited}."
        act, before = _named(_amendment(book, reason, *changes), name), current_acceptance(book)
        # Repeating the same word is no second act; after another word, or an override, it is.
        if before is not None and _content(book.events[before.seq]) == _content(act):
            return (book.events[before.seq],)
        return (act,)

    return session.append(make)


def say_what_became(
    session: RunSession, fate: Fate, text: str, decision: str | None = None, name: str | None = None
) -> Events:
    """Note what became of a decision, by default the first final one; earlier notes are kept."""

    def make(book: Book) -> Events:
        finals = final_in_force(book.state)
        target = decision if decision is not None else next(iter(finals), None)
        if target is None:
            raise NotThere("this run has no final decision", "finish it first: see `moot status`")
        if target not in book.state.decisions:
            raise NotThere(
                f"no decision {target!r} in this run", f"final ones: {', '.join(finals) or 'none'}"
            )
        before = became_of(book).get(target)
        change = Change(path=f"{PATH}{target}", from_=before.fate if before else None, to=fate)
        # The same word again is the event that is there; a new word is added and the old
        # one stays as history.
        if before is not None and (before.fate, before.text) == (fate, text):
            return (next(event for event in book.events if event.seq == before.seq),)
        return (_named(_amendment(book, text, change), name),)

    return session.append(make)


def amend_budgets(session: RunSession, limits: Mapping[str, int | str]) -> Events:
    """Change limits of the run, named as in `Budgets`; limits already in force are left alone."""
    reason = "New limits were given when the run went on."

    def changes(book: Book) -> Iterator[Change]:
        for limit_name, limit in limits.items():
            present = getattr(book.state.limits, limit_name)
            # Every resume passes the same limits again, and without a change there is nothing to record.
            if present != limit:
                yield Change(path=f"budgets.{limit_name}", from_=present, to=limit)

    return _amend(session, reason, changes, what="budget")


def amend_experiments(session: RunSession, *, is_allowed: bool) -> Events:
    """Allow or forbid programs of replies, in a sandbox, from now on; nothing when that holds already."""
    word = "on" if is_allowed else "off"
    reason = "Programs are run in a sandbox." if is_allowed else "Programs are not run any more."

    def changes(book: Book) -> Iterator[Change]:
        before = book.state.experiments_at(book.state.seq)
        if before != word:
            yield Change(path=EXPERIMENTS_PATH, from_=before, to=word)

    return _amend(session, reason, changes)


def stop_waiting(session: RunSession) -> Events:
    """Let the run go on without an open answer; nothing when it does not wait."""
    change = Change(path=WAIT_PATH, from_="on", to="off")
    reason = "The run goes on without an answer."
    return _amend(session, reason, lambda book: [change] if book.state.waits else [])


def allow_experiment(session: RunSession, experiment: str, name: str | None = None) -> Events:
    """Allow one experiment to run in a sandbox; nothing when it is allowed already."""
    change = Change(path=f"{EXPERIMENTS}.{experiment}", from_=None, to="on")
    reason = f"{experiment} is run in a sandbox."
    return _amend(session, reason, lambda book: [] if book.state.may_run(experiment) else [change], name)


def go_on(session: RunSession) -> Events:
    """Record that a stopped run goes on, so that its seats answer again; nothing when it is not stopped."""
    return _amend(
        session, "The run goes on.", lambda book: [GOES_ON] if book.state.stopped_by is not None else []
    )


def _amend(
    session: RunSession,
    reason: str,
    changes: Callable[[Book], Iterable[Change]],
    name: str | None = None,
    what: Literal["note", "budget"] = "note",
) -> Events:
    """Record the changes that `changes` finds under the lock; nothing where it finds none."""

    def make(book: Book) -> Events:
        present = tuple(changes(book))
        return (_named(_amendment(book, reason, *present, what=what), name),) if present else ()

    return session.append(make)


def _amendment(
    book: Book, reason: str, *changes: Change, what: Literal["note", "budget"] = "note"
) -> Amendment:
    return Amendment(**_envelope(book), what=what, change=changes, cause="human", reason=reason)


def plan_experiment(
    session: RunSession, plan: ExperimentPlanned, blobs: Mapping[str, bytes], name: str | None = None
) -> Events:
    """Put a person's plan on the ledger under the next number of the round, with the person's name. Runs nothing.

    Raises `NotThere` for an unknown or superseded claim.
    """

    def make(book: Book) -> Events:
        for claim in plan.claims:
            facts = book.state.claims.get(claim)
            if facts is None or facts.status == "superseded":
                why = "no claim" if facts is None else "a superseded claim"
                raise NotThere(f"{why} {claim!r}", "see `moot claims`")
        number = 1 + sum(facts.round == book.state.round for facts in book.state.experiments.values())
        named = {"id": event_id("experiment_planned", book.state.round, number), **_envelope(book)}
        planned = msgspec.structs.replace(plan, **named)
        # A plan has no field for a name, so the note beside it keeps who planned it.
        if name is None:
            return (planned,)
        return planned, _named(_amendment(book, planned_note(planned.id)), name)

    return session.commit(make, blobs)


def _envelope(book: Book) -> dict[str, Any]:
    state = book.state
    # After the end no phase is open, so acts are recorded under `close`.
    return {"round": state.round, "phase": "close" if state.finished else state.phase, "by": "human"}


def _decision(book: Book, kind: Any, text: str, cite: tuple[Any, str, Relation]) -> Decision:
    # Under the lock, so that two people who act at once cannot get the same number.
    number = 1 + sum(facts.round == book.state.round for facts in book.state.decisions.values())
    return Decision(
        **_envelope(book),
        id=event_id("decision", book.state.round, number),
        text=text,
        type=kind,
        cites=(Cite(type=cite[0], id=cite[1], relation=cite[2]),),
        made_by="human",
    )
