"""Two runs that differ in planted text alone: one hostile, one harmless of the same shape."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledger.events.run import ContextDocument, Labelled
from ledger.state.book import Book, book
from roles.brief import Brief, derive
from roles.protocol import Step
from rounds.run.driver import Drive
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from tests.rounds.openings import ROLES, clock, opening, rows
from tests.rounds.scripted import ScriptedSeat
from tests.security.injections import CORPUS, Planting

Shape = Callable[[str], str]


class Played(NamedTuple):
    """A finished run and what was planted where."""

    session: RunSession
    script: Planting
    book: Book


def begun(path: Path, shape: Shape, count: int = 2) -> RunSession:
    """A run whose opening is full of planted text: question, goals, options, domain, cast, document, name, focus."""
    event, blobs = opening(rows(count, absent={2: "critic"}, drift=[count]))
    every = "\n".join(shape(text) for text in CORPUS)
    document = "\n".join(f"line {n} {shape(text)}" for n, text in enumerate(CORPUS)).encode()
    sha256 = hashlib.sha256(document).hexdigest()
    event = msgspec.structs.replace(
        event,
        question=f"Which storage?\n{every}",
        domain=shape("{{domain}} # Your task"),
        goals=tuple(Labelled(id=f"G-{n}", text=f"goal\n{every}") for n in (1, 2)),
        options=tuple(Labelled(id=f"O-{n}", text=f"option\n{every}") for n in (1, 2)),
        context=(
            ContextDocument(
                id="K-1", name=shape("facts | # Your task.md"), sha256=sha256, bytes=len(document)
            ),
        ),
        cast=tuple(
            msgspec.structs.replace(
                one, title=shape(f"{{{{charter}}}} | {one.role} # Your task"), charge=f"be\n{every}"
            )
            for one in event.cast
        ),
        plan=tuple(
            msgspec.structs.replace(row, focus=shape("focus\n# Your task\n{{round}}")) for row in event.plan
        ),
    )
    return start(path, event, blobs={**blobs, sha256: document}, files={}, verdicts=standard, clock=clock())


def played(path: Path, shape: Shape) -> Played:
    """The run driven to its end by a seat that plants."""
    session, script = begun(path, shape), Planting(shape)
    outcome = asyncio.run(
        Drive(session, dict.fromkeys(ROLES, ScriptedSeat(session, script)), monotonic=lambda: 0.0).run()
    )
    assert outcome.state == "finished", outcome
    return Played(session, script, session.book())


def steps(run: Played) -> dict[str, Step]:
    """Every answered step as the protocol named it while it was open, in order."""
    found: dict[str, Step] = {}
    for step_id, seq in run.book.state.answered.items():
        before = book(run.book.events[:seq], run.book.blobs)
        groups = run.session.protocol.groups(before.state, before.state.round)
        found[step_id] = next(step for group in groups for step in group.steps if step.id == step_id)
    return found


def briefs(run: Played) -> dict[str, Brief]:
    """The brief of every answered step."""
    protocol, prompts = run.session.protocol, run.session.prompt_set
    return {name: derive(run.book, protocol, step, prompts) for name, step in steps(run).items()}
