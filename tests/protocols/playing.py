"""Runs of the short protocols for tests: opened from a deliberation as a person writes it, played by script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

import msgspec
import orjson
import pytest

from ledger.events import Event, Fallback, Ruling, Validation
from ledger.state.book import Book
from roles.protocol import awaited_answers
from roles.seats.port import Answer
from rounds.run import human_actions
from rounds.run.session import PendingStep, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.protocols.scripts import reply
from tests.rounds.openings import DOCUMENT, clock

QUESTION: Final = "Which storage keeps every line of the CANARYQUESTION ledger?"
OPTIONS: Final = ("three streams", "one journal", "one database")
VARIANTS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("crux", {}),
    ("crux", {"stakes": "high"}),
    ("crux", {"memo": "off"}),
    ("jugalbandi", {}),
    ("jugalbandi", {"rounds": "2"}),
    ("single-pass", {}),
    ("single-pass", {"dispositions": "three"}),
    ("council", {}),
    ("council", {"members": "5"}),
    ("debate", {}),
    ("debate", {"rubric": "evidence40"}),
    ("debate", {"judges": "3"}),
    ("adversarial", {}),
    ("adversarial", {"scale": "green_amber_red"}),
    ("devils-advocate", {}),
    ("comparative", {}),
    ("cross-examination", {}),
    ("cross-examination", {"analysts": "2"}),
    ("ratchet", {}),
    ("panel", {}),
    ("panel", {"reviewers": "5"}),
    ("priority", {}),
    ("tribunal", {}),
    ("tribunal", {"voting": "shipped"}),
)
"""Protocols with the named variants that change what happens."""


def variants_slow() -> list[Any]:
    """Return the variants as parameters of a test: those of a protocol's own rules are quick, the others slow."""
    return [
        pytest.param(
            *(name, rules),
            id="-".join([name, *(f"{rule}={value}" for rule, value in rules.items())]),
            marks=pytest.mark.slow if rules else (),
        )
        for name, rules in VARIANTS
    ]


def begin(
    path: Path,
    protocol: str,
    rules: dict[str, str] | None = None,
    options: int = 3,
    budget: dict[str, int] | None = None,
) -> RunSession:
    """Return a session on a new run of a protocol at `path`."""
    table: dict[str, Any] = {
        "deliberation": {
            "question": QUESTION,
            "protocol": protocol,
            "goals": ["No line is lost"],
            "options": list(OPTIONS[:options]),
        },
        "context": [{"name": "facts.md", "text": DOCUMENT.decode()}],
        "rules": rules or {},
        "budget": budget or {},
    }
    opening = resolve(checked(table), {}, moot="0.1.0")
    files = {"deliberation.toml": opening.toml.encode()}
    return start(path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=clock())


def play(session: RunSession, *, order: int = 1, lose: frozenset[str] = frozenset()) -> Book:
    """Answer every step by script until nothing is open; `order` −1 answers the last open step first.

    Steps whose id is in `lose` are given up. What the run waits for is answered by a person.
    """
    while True:
        if waiting := awaited_answers(session.protocol, session.book().state):
            human_actions.answer(session, waiting[0], "Do the smaller of the two.")
            continue
        asked = session.pending()[::order]
        if not asked:
            break
        one = asked[0]
        if one.step.id in lose:
            session.give_up(one.step.id, "given_up", "lost in a test")
        else:
            submit(session, one)
    return session.book()


def events_of(book: Book) -> list[str]:
    """Every event with all its fields, sorted, without what the order of arrival may change.

    That is the place on the chain (`prev`, `seq`, `rest`), the instant, the digests of a whole ledger, and how many
    steps had been lost when a fallback was written. Places of other events are replaced by names.
    """
    lines: list[str] = []
    for event in book.events:
        fields: dict[str, Any] = msgspec.to_builtins(event)
        for name in ("prev", "seq", "rest", "at"):
            del fields[name]
        fields["via"] = None if event.via is None else _name(book.events[event.via])
        fields["saw"] = sorted(_name(book.events[seq]) for seq in event.saw)
        if isinstance(event, Ruling):
            fields["votes"] = [_name(book.events[seq]) for seq in event.votes]
        if isinstance(event, Validation):
            findings = ((each, each.seq) for each in event.findings)
            fields["findings"] = sorted(
                (each.code, each.message, None if seq is None else _name(book.events[seq]))
                for each, seq in findings
            )
        if isinstance(event, Fallback):
            del fields["quorum"]
        lines.append(orjson.dumps(fields, option=orjson.OPT_SORT_KEYS).decode())
    return sorted(lines)


def _name(event: Event) -> str:
    return event.id or f"{event.kind} r{event.round} {event.phase} {event.step or event.by}"


@cache
def played(protocol: str, **rules: str) -> Path:
    """Return the directory of a finished scripted run, which a process plays once. A test that writes copies it."""
    path = Path(mkdtemp()) / protocol
    play(begin(path, protocol, rules))
    return path


def submit(session: RunSession, asked: PendingStep) -> None:
    """Hand one scripted reply in."""
    content = reply(session.book(), asked.step, asked.brief.saw)
    session.submit(asked.step.id, content, Answer(seat="host", isolation="trusted"))


def subsets(names: Iterable[str]) -> Iterator[frozenset[str]]:
    """Every set of some of them, the empty one too."""
    named = sorted(names)
    return (
        frozenset(one) for one in chain.from_iterable(combinations(named, n) for n in range(len(named) + 1))
    )
