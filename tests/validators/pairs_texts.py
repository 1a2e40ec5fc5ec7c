"""Pairs for length, volume and style."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from ledger.events import Artifact, Statement, Verification
from ledger.events.envelope import Evidence
from ledger.state.book import Book, book
from tests.validators.factory import CHOSEN, base, body, change, opened, seq_of
from tests.validators.pair import Pair, at


def _published(proposal: int, supplement: int) -> Book:
    """A run of the published lengths, whose proposals and supplements have so many words."""
    ledger = opened(rules={**CHOSEN, "lengths": "published"})
    for event in base().events:
        if isinstance(event, Statement) and event.type in ("proposal", "supplement"):
            words = proposal if event.type == "proposal" else supplement
            ledger = change(event.seq, ledger, words=words)
    return ledger


def _trace(n: int, identity: str = "A-3-action", **fields: Any) -> Book:
    event = base().by_id[identity]
    assert isinstance(event, Artifact), identity
    traces = [dict(trace) for trace in event.body["traces"]]
    traces[n].update(fields)
    return body(identity, traces=traces)


def _persona(**fields: str) -> Book:
    event = base().by_id["A-1-observer"]
    assert isinstance(event, Artifact), "the observer's artifact"
    return body("A-1-observer", persona={**event.body["persona"], **fields})


def _invariant(**fields: str) -> Book:
    event = base().by_id["A-1-guardian"]
    assert isinstance(event, Artifact), "the guardian's artifact"
    return body("A-1-guardian", invariant={**event.body["invariant"], **fields})


def _steps(action: str) -> Book:
    return body("A-1-observer", steps=[{"action": action, "outcome": "success"}] * 8)


def _evidence(*pieces: tuple[str, str | None]) -> Book:
    return change("V-1-1", evidence_refs=tuple(Evidence(ref=ref, quote=quote) for ref, quote in pieces))


def _unquoted(*, all_of_it: bool) -> Book:
    event = base().by_id["V-1-1"]
    assert isinstance(event, Verification), "V-1-1 is a verification"
    first, second = event.evidence_refs
    return _evidence((first.ref, None if all_of_it else first.quote), (second.ref, None))


def _results(*results: str) -> Book:
    """Round 1 with other results."""
    ledger = base()
    for n, result in enumerate(results, 1):
        ledger = change(f"V-1-{n}", ledger, result=result)
    return ledger


def _many_claims(count: int) -> Book:
    """Round 1 with so many claims: tensions and flips of the round turned into claims."""
    ledger = base()
    first = ledger.by_id["C-1-6"]
    spare = ["N-1-1", "F-1-1-action"][: count - 6]
    return _replaced(ledger, {ledger.by_id[identity].seq: first for identity in spare})


def _replaced(ledger: Book, events: dict[int, Any]) -> Book:
    changed = [
        structs.replace(events[event.seq], seq=event.seq, id=f"C-1-{90 + event.seq}")
        if event.seq in events
        else event
        for event in ledger.events
    ]
    return book(changed, ledger.blobs)


PAIRS = (
    Pair(
        "WRD001",
        lambda: change("A-1-action", words=601),
        lambda: seq_of("A-1-action"),
        lambda: change("A-1-action", words=600),
        severity="warning",
    ),
    Pair(
        "WRD001",
        lambda: change("A-1-action", minutes=31),
        lambda: seq_of("A-1-action"),
        lambda: change("A-1-action", minutes=30),
        severity="warning",
    ),
    Pair(
        "WRD002",
        lambda: change("S-1-B-action", words=501),
        lambda: seq_of("S-1-B-action"),
        lambda: change("S-1-B-action", words=500),
        severity="warning",
    ),
    Pair(
        "WRD002",
        lambda: change("S-1-C-critic", words=251),
        lambda: seq_of("S-1-C-critic"),
        lambda: change("S-1-C-critic", words=250),
        severity="warning",
    ),
    Pair(
        "WRD002",
        lambda: _published(600, 401),
        lambda: seq_of("S-1-C-critic"),
        lambda: _published(800, 400),
        severity="warning",
        why="the published lengths",
    ),
    Pair(
        "WRD002",
        lambda: _published(599, 200),
        lambda: seq_of("S-1-B-action"),
        lambda: _published(600, 200),
        severity="warning",
        why="the published lengths have a least",
    ),
    Pair("WRD003", lambda: change("A-1-action", words=12), lambda: seq_of("A-1-action")),
    Pair("WRD003", lambda: change("S-1-C-critic", words=241), lambda: seq_of("S-1-C-critic")),
    Pair(
        "WRD004",
        lambda: change("C-1-1", text="One. Two. Three. Four."),
        lambda: seq_of("C-1-1"),
        lambda: change("C-1-1", text="Version 1.2.3 is out. It holds? It does!"),
        severity="warning",
    ),
    Pair("WRD004", lambda: change("V-1-1", notes="A. B. C. D."), lambda: seq_of("V-1-1"), severity="warning"),
    Pair(
        "VOL001",
        lambda: _many_claims(8),
        at(41),
        lambda: _many_claims(7),
        severity="warning",
        why="six claims, and as many more as make eight or seven",
    ),
    Pair(
        "STY001",
        lambda: change("C-1-1", text="It might perhaps be lost."),
        lambda: seq_of("C-1-1"),
        lambda: change("C-1-1", text="It is lost in the month of May."),
        severity="warning",
    ),
    Pair(
        "STY012",
        lambda: change("C-1-2", text="It is as A-1-critic says."),
        lambda: seq_of("C-1-2"),
        lambda: change("C-1-2", text="It is as an A-4 sheet says."),
        severity="warning",
    ),
    Pair(
        "STY002",
        lambda: _steps("would open the file"),
        lambda: seq_of("A-1-observer"),
        lambda: _steps("opens the file"),
        severity="warning",
    ),
    Pair(
        "STY003",
        lambda: _persona(name="a typical user"),
        lambda: seq_of("A-1-observer"),
        lambda: _persona(name="Typhaine Usher"),
        severity="warning",
    ),
    Pair(
        "STY003",
        lambda: _persona(skill="average"),
        lambda: seq_of("A-1-observer"),
        lambda: _persona(skill="average of 3 years on call"),
        severity="warning",
    ),
    Pair(
        "STY004",
        lambda: _invariant(always="the reader should be happy"),
        lambda: seq_of("A-1-guardian"),
        lambda: _invariant(always="the reader finds every line"),
        severity="warning",
    ),
    Pair(
        "STY004",
        lambda: _invariant(tolerance="as little as it takes"),
        lambda: seq_of("A-1-guardian"),
        lambda: _invariant(tolerance="at most 2 per million"),
        severity="warning",
    ),
    Pair(
        "STY005",
        lambda: _trace(1, trigger="A client  appends."),
        lambda: seq_of("A-3-action"),
        lambda: _trace(1, trigger="a second client appends"),
        severity="warning",
    ),
    Pair(
        "STY006",
        lambda: _trace(2, hooks=["S-3-B-observer#main"]),
        lambda: seq_of("A-3-action"),
        lambda: _trace(2, "A-1-action", hooks=[]),
        severity="warning",
        why="round 1 has no past",
    ),
    Pair(
        "STY007",
        lambda: _unquoted(all_of_it=True),
        lambda: seq_of("V-1-1"),
        lambda: _unquoted(all_of_it=False),
        severity="warning",
    ),
    Pair(
        "STY008",
        lambda: _evidence(("A-1-critic#hypothesis", None), ("A-1-action", None)),
        lambda: seq_of("V-1-1"),
        lambda: _evidence(("A-1-critic#hypothesis", None), ("K-1#L2", None)),
        severity="warning",
    ),
    Pair(
        "STY009",
        lambda: _results("ROBUST", "ROBUST", "ROBUST"),
        at(41),
        lambda: _results("ROBUST", "ROBUST", "UNCLEAR"),
        severity="warning",
    ),
    Pair(
        "STY010",
        lambda: change("C-3-4", supersedes="C-1-4"),
        lambda: seq_of("C-3-4"),
        severity="warning",
    ),
    Pair(
        "STY011",
        lambda: change("A-3-guardian", cites=()),
        lambda: seq_of("A-3-guardian"),
        lambda: change("A-1-guardian", cites=()),
        severity="warning",
        why="before anything is decided there is nothing to cite",
    ),
)
