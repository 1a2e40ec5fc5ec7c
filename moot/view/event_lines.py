"""Lines of events: one per event for the log, and a few for the plain lines of a running deliberation.

@41  R3 E     verifier   V-3-1          ✗ BROKEN attack × trace: The retry loses the second line.
R3 E   verdict    V-3-1 ✗ BROKEN by verifier, attack × trace: The retry loses the second line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import (
    Alarm,
    Belief,
    Decision,
    Event,
    Position,
    RoundOpened,
    RunOpened,
    Signals,
    Statement,
    Validation,
    Verification,
)
from ledger.plain_text import counted, first_sentence, one_line, shortened
from ledger.state.book import Book
from moot.view import marks, words
from moot.view.events import words_of
from moot.view.marks import mark_of, move_text, shown_as

TEXT: Final = 160
"""Maximum characters of a text in a plain line; the ledger has the rest."""
WIDTH: Final = 110
"""Maximum characters of a line of the log."""


def event_line(event: Event, book: Book) -> str:
    """Return one line of the log: `@41  R3 E  verifier  V-3-1  ✗ BROKEN attack × trace: …`.

    Marks show what was so when the event was written. What was sealed then is shown once it may be read.
    """
    where = f"R{event.round} {event.phase}"
    wording = words_of(event, book if isinstance(event, Belief | Position) else None)
    text = f"@{event.seq:<4} {where:<9} {event.by:<10} {event.id or event.kind:<14} {wording.marked}"
    # Texts of seats may hold line feeds, and a log line must stay one line for grep.
    flat = " ".join(text.split("\n"))
    return flat if len(flat) <= WIDTH else f"{flat[: WIDTH - 1]}…"


def event_lines(book: Book, event: Event) -> Iterator[str]:
    """Yield plain lines for a pipe, a file or `--no-live`, easy to grep.

    `book` holds at least everything up to the event.
    """
    where = f"R{event.round} {event.phase}"
    for word, text in _lines(book, event):
        # This output may go to a terminal, so control characters of seats are removed.
        yield f"{where:<6} {word:<10} {one_line(text)}".rstrip()


def _lines(book: Book, event: Event) -> Iterator[tuple[str, str]]:
    match event:
        case RunOpened():
            yield from _opening(event)
        case RoundOpened():
            yield from _round(book, event)
        case Position():
            if event.via is None:  # one line for all positions of a reply, at the first of them
                checks = [
                    position.on
                    for position in book.of(Position, event.round)
                    if event.seq in (position.seq, position.via)
                ]
                yield "sealed", f"{marks.SEALED.shape * len(checks)} {event.by} on {', '.join(checks)}"
        case Verification():
            yield _line(event)
            yield from _moved(book, event)
        case Decision():
            word, text = _line(event)
            cites = ", ".join(f"{cite.relation} {cite.id}" for cite in event.cites)
            yield word, f"{text} ({cites})"
            yield from (
                ("dissent", f"{dissenter.role}: {dissenter.text} ({dissenter.ref})")
                for dissenter in event.dissent
            )
        case Validation():
            yield _line(event)
            for finding in event.findings:
                # Warnings are counted in the line above; listing them would bury the errors.
                if finding.severity == "error":
                    yield "finding", f"✗ {finding.code} {shortened(finding.message, TEXT)}"
        case Signals():
            held = " ".join(f"{'✓' if signal.satisfied else '✗'}{signal.id}" for signal in event.signals)
            word, text = _line(event)
            yield word, f"{text} {held}"
        case Alarm():
            seen = f" (see {', '.join(event.evidence)})" if event.evidence else ""
            word, text = _line(event)
            yield word, f"{text}{seen}"
        case _:
            yield _line(event)


def _line(event: Event) -> tuple[str, str]:
    """Return the word by which a line is grepped, and its text."""
    wording = words_of(event)
    # Statements run to hundreds of words, while other events are short by their schema.
    text = first_sentence(wording.text) if isinstance(event, Statement) else wording.text
    head = " ".join(part for part in (event.id, wording.head) if part)
    return wording.word, ": ".join(part for part in (head, shortened(text, TEXT)) if part)


def _opening(event: RunOpened) -> Iterator[tuple[str, str]]:
    for waiver in event.waived:
        yield "WAIVED", f"{waiver.what}: {waiver.why}"
    yield "question", shortened(event.question, TEXT)
    for goal in event.goals:
        yield "goal", f"{goal.id} {shortened(goal.text, TEXT)}"
    for option in event.options:
        yield "option", f"{option.id} {shortened(option.text, TEXT)}"
    for document in event.context:
        yield "context", f"{document.id} {document.name}, {document.bytes} bytes"
    for member in event.cast:
        yield "seat", f"{member.role} is {member.title}, answered by {member.seat}"
    rounds = counted(len(event.plan), "round")
    from rounds.protocols import is_watched  # the log never asks

    if not is_watched(event):
        yield "plan", f"{rounds} of {event.protocol}"
        return
    stress = ", ".join(f"R{row.round} without {row.absent}" for row in event.plan if row.absent) or "none"
    drift = ", ".join(f"R{row.round}" for row in event.plan if row.drift) or "none"
    # Only watched protocols have stress rounds, drift checks and looks.
    yield "plan", f"{rounds}; stress {stress}; drift checks {drift}"
    every = f"a look every {event.stop.check_every} rounds ({event.stop.profile})"
    yield "stop", f"{every}, obeyed from round {event.stop.not_before} on"


def _round(book: Book, event: RoundOpened) -> Iterator[tuple[str, str]]:
    opened = book.state.opening
    absent = f", STRESS without {event.absent}" if event.absent else ""
    checks = ", ".join(map(str, event.applicable)) or "none"
    led = f", lead {event.lead}{absent}, checks {checks}" if event.lead else ""
    yield "round", f"{words.round_in(opened.protocol, event.round, len(opened.plan))}{led}"
    for entry in event.predicted_signature or ():
        yield "predicted", f"{entry.text} ({entry.code})"


def _moved(book: Book, event: Verification) -> Iterator[tuple[str, str]]:
    """Yield the positions that a verdict opens and the claims that it moves."""
    # Positions were sealed before the verdict, so they open together with it.
    held = [position for position in book.of(Position, event.round) if position.on == event.id]
    if held:
        opened = (
            f"{position.by} {mark_of(marks.RESULTS, position.stance).plain}{' ≠' * (position.stance != event.result)}"
            for position in held
        )
        yield "opened", f"{event.id}: {', '.join(opened)}"
    for change in event.claim_status_changes:
        how = shown_as(change.class_) if change.class_ else f"read by {event.by}"
        after = move_text(change.to, change.class_ or "", how, event.id)
        yield "claim", f"{change.claim_id} {marks.STATUSES[change.from_].plain} → {after}"
