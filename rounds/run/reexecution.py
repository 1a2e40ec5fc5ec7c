"""Re-execution: the protocol run again on the recorded replies must give the same ledger, byte for byte (FORMAT 7).

Given: the opening, every reply with its call, every run of an experiment with what it wrote, what people did, every
fallback, every resumable stop, all instants, the grouping and order of commits, the hashes of rules and parameters.
Verdicts by other rules or thresholds than the installed ones are taken as given too, and counted (`as_given`).
Everything else is computed anew and compared. Where the installed rules give another verdict than the recorded one it
is named (`rules`), and the recorded one goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from ledger.events import (
    Alarm,
    Amendment,
    Decision,
    Event,
    ExperimentRun,
    Fallback,
    RunClosed,
    RunOpened,
    Screening,
    Signals,
    Validation,
)
from ledger.format.canonical import BEGINNING, Head, encode, line_hash, seal
from ledger.state.book import Book, GrowingBook, commits, with_next
from ledger.store.failures import BlobMissing
from roles.brief import derive
from roles.execution import answered, given_up, stored
from roles.prompt_set import PromptSet, read_prompt_set
from roles.protocol import Protocol, open_step
from rounds.run.controller import Controller
from rounds.run.verdicts import Verdicts
from rounds.screening import RULES_VERSION
from validators.finding import verdicts_as_given

VERDICTS: Final = (Validation, Signals, Alarm, Amendment)
DIVERGENCES_MAX: Final = 50


class Divergence(msgspec.Struct, frozen=True):
    """A place where the new ledger leaves the old one: `rules` (another verdict), `brief`, `event` or `step`."""

    kind: Literal["rules", "brief", "event", "step"]
    seq: int
    what: str


class Reexecution(msgspec.Struct, frozen=True):
    """Result of a re-execution; `identical` means the same lines and hence the same head."""

    identical: bool
    head: Head
    expected: Head
    events: int
    divergences: tuple[Divergence, ...] = ()
    as_given: int = 0
    """Recorded verdicts that were not recomputed: other rules or thresholds gave them."""


class _Given(msgspec.Struct, frozen=True):
    """Recorded verdicts that are taken as given: `seqs`, and all looks of a run opened with other thresholds."""

    seqs: frozenset[int]
    looks: bool

    @classmethod
    def of(cls, original: Book, verdicts: Verdicts) -> _Given:
        """Return the verdicts of a recorded run that are taken as given."""
        stop = original.state.opening.stop
        return cls(
            verdicts_as_given(original, verdicts.rules_hash(), verdicts.installs),
            looks=not verdicts.installs(stop.profile, stop.params, original.blobs),
        )

    def beside(self, owed: tuple[Event, ...], recorded: tuple[Event, ...]) -> tuple[Event, ...]:
        """Return the end of a round, with recorded verdicts in the place of those computed now where they are given."""
        validation = recorded[:1] if recorded[0].seq in self.seqs else owed[:1]
        judged = [event for event in recorded[1:] if isinstance(event, Signals | Alarm)]
        # Where thresholds of before raised nothing, those installed may raise an alarm: nothing was recorded then.
        # One look and its alarms share their thresholds, so they are taken together or not at all.
        is_given = any(event.seq in self.seqs for event in judged) if judged else self.looks
        return (*validation, *(recorded[1:] if is_given else owed[1:]))


class _Replica(msgspec.Struct):
    """The ledger as it is computed anew."""

    ledger: GrowingBook
    head: Head = BEGINNING
    divergences: list[Divergence] = msgspec.field(default_factory=list[Divergence])

    @property
    def book(self) -> Book:
        """Return the ledger computed so far."""
        return self.ledger.book()

    def diverged(self, kind: Literal["rules", "brief", "event", "step"], seq: int, what: str) -> None:
        """Note a difference, up to a bound."""
        # A run of another version can differ in every event; the first differences tell what happened.
        if len(self.divergences) < DIVERGENCES_MAX:
            self.divergences.append(Divergence(kind, seq, what))


def re_execute(
    original: Book,
    protocol: Protocol,
    controller: Controller,
    watch: Callable[[tuple[Event, ...]], object] | None = None,
) -> Reexecution:
    """Run the protocol again on the replies of `original` and compare; `watch` sees every new commit."""
    replica = _Replica(GrowingBook(original.blobs))
    as_given = _Given.of(original, controller.verdicts)
    prompt_set = _prompt_set(original)
    for recorded in commits(original.events):
        drafts = _computed(protocol, controller, replica, recorded, prompt_set, as_given)
        # The recorded event goes on where ours differs, so one difference does not make
        # every later event differ.
        agreed = _compared(replica, drafts, recorded)
        sealed = seal(agreed, prev=replica.head.hash, seq=replica.head.seq + 1, at=recorded[0].at)
        replica.ledger.take(sealed.events)
        replica.head = sealed.head
        if watch is not None:
            watch(sealed.events)
    last = original.events[-1]
    expected = Head(last.seq, line_hash(encode(last)))
    return Reexecution(
        identical=replica.head == expected and not replica.divergences,
        head=replica.head,
        expected=expected,
        events=len(replica.book.events),
        divergences=tuple(replica.divergences),
        as_given=len(as_given.seqs),
    )


def _computed(
    protocol: Protocol,
    controller: Controller,
    replica: _Replica,
    recorded: tuple[Event, ...],
    prompt_set: PromptSet,
    as_given: _Given,
) -> tuple[Event, ...]:
    """Return what this moot would commit in the place of `recorded`; given events are taken as they are."""
    first = recorded[0]
    if isinstance(first, RunOpened) and first.origin.type == "import":
        return recorded  # there are no replies behind it: a fork goes on with what it holds
    if isinstance(first, RunOpened) or first.by == "human":
        if isinstance(first, Decision) and first.type == "answer":
            return (first, *protocol.after_answer(with_next(replica.book, first), first))
        # An opening comes alone; what follows another act of a person is taken as recorded.
        return (first,) if isinstance(first, RunOpened) else recorded
    # How a program ended and why a driver stopped come from the world and cannot be computed.
    if isinstance(first, ExperimentRun) or (isinstance(first, RunClosed) and first.state == "stopped"):
        return recorded
    if isinstance(first, Fallback):
        return _given_up(protocol, replica, first)
    if first.call is not None:
        return _answered(protocol, replica, first, prompt_set)
    # Screenings of another rules version are taken as given: they decided whether the run was held up at all.
    if isinstance(first, Screening) and first.rules != RULES_VERSION:
        return recorded
    owed = controller.owed(replica.book)
    return as_given.beside(owed, recorded) if isinstance(first, Validation) else owed


def _given_up(protocol: Protocol, replica: _Replica, fallback: Fallback) -> tuple[Event, ...]:
    step = open_step(protocol, replica.book.state, fallback.step_failed)
    if step is None:
        replica.diverged("step", fallback.seq, f"{fallback.step_failed} was not open")
        return ()
    return given_up(protocol, replica.book, step, fallback.reason, fallback.detail)


def _answered(
    protocol: Protocol, replica: _Replica, first: Event, prompt_set: PromptSet
) -> tuple[Event, ...]:
    call, current = first.call, replica.book
    assert call is not None, "an answer has a call"
    step = open_step(protocol, current.state, first.step or "")
    if step is None:
        replica.diverged("step", first.seq, f"{first.step} was not open")
        return ()
    reply, errors = stored(protocol, current, step, first)
    # A reply whose blob was redacted cannot be executed again; that is a difference and no error.
    if reply is None:
        kind: Literal["event", "step"] = "event" if errors else "step"
        why = f"the reply of {step.id} is refused: {errors[0]}" if errors else f"{step.id} has no reply blob"
        replica.diverged(kind, first.seq, why)
        return ()
    brief = derive(current, protocol, step, prompt_set)
    if brief.sha256 != call.brief:
        replica.diverged("brief", first.seq, f"the brief of {step.id} comes out differently")
    problems = protocol.problems(current, step, reply, frozenset(brief.saw))
    if problems:
        replica.diverged("rules", first.seq, f"the reply of {step.id} would be refused: {problems[0]}")
    return answered(protocol, current, step, reply, call, brief.saw)


def _compared(replica: _Replica, drafts: tuple[Event, ...], recorded: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events to go on with: ours where they agree, the recorded ones where they do not."""
    if len(drafts) != len(recorded):
        kind: Literal["rules", "event"] = "rules" if isinstance(recorded[0], VERDICTS) else "event"
        replica.diverged(kind, recorded[0].seq, f"{_kinds(drafts)} instead of {_kinds(recorded)}")
        return tuple(_unsealed(event) for event in recorded)
    agreed: list[Event] = []
    for draft, old in zip(drafts, recorded, strict=True):
        new = draft
        if _content(new) != _content(old):
            kind = "rules" if isinstance(old, VERDICTS) else "event"
            replica.diverged(kind, old.seq, f"{old.kind} {old.ref} comes out differently")
            new = old
        agreed.append(_unsealed(new, at=old.at))
    return tuple(agreed)


def _unsealed(event: Event, at: str | None = None) -> Event:
    # The envelope is left out of the comparison: hashes follow from the lines, and instants are given.
    return msgspec.structs.replace(event, prev="0" * 64, seq=0, rest=0, at=event.at if at is None else at)


def _content(event: Event) -> bytes:
    return encode(_unsealed(event, at=""))


def _kinds(events: tuple[Event, ...]) -> str:
    return ", ".join(event.kind for event in events) or "nothing"


def _prompt_set(original: Book) -> PromptSet:
    opened = original.state.opening
    blob = original.blobs.read(opened.prompt_set)
    if blob is None:
        raise BlobMissing("the prompt set of this run")
    return read_prompt_set(blob)
