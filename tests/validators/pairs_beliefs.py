"""Pairs for beliefs and agendas, over a run of `crux` that is played once."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import structs

from ledger.events import Agenda, Belief
from ledger.state.book import Book, book
from tests.blob_lines import blobs_of
from tests.protocols.playing import begin, play
from tests.validators.factory import Store, change, seq_of
from tests.validators.pair import Pair

NUMBERS = "B-1-critic~3"


@lru_cache
def weighed() -> Book:
    """A run of `crux` with one claim that is tested."""
    with tempfile.TemporaryDirectory() as place:
        played = play(begin(Path(place) / "run", "crux"))
        blobs = blobs_of(Path(place) / "run")
    return book(played.events, Store(blobs))


def _at(which: str) -> int:
    return seq_of(which, weighed())


def _agenda_seq() -> int:
    return next(event.seq for event in weighed().events if isinstance(event, Agenda))


def _agenda(**fields: Any) -> Book:
    return change(_agenda_seq(), weighed(), **fields)


def _merged() -> tuple[Any, ...]:
    event: Any = weighed().events[_agenda_seq()]
    return tuple(event.merged)


def _left_out() -> Book:
    """The agenda forgets what it merged first."""
    return _agenda(merged=_merged()[1:])


def _twice() -> Book:
    return _agenda(merged=(*_merged(), _merged()[0]))


def _seen(reply: str, belief: str) -> Book:
    """A reply whose brief showed one belief more."""
    event = weighed().by_id[reply]
    return change(reply, weighed(), saw=tuple(sorted({*event.saw, _at(belief)})))


def _given_again(**fields: Any) -> Book:
    """The numbers of a role once more, as the last event."""
    events = list(weighed().events)
    event = next(one for one in events if isinstance(one, Belief) and one.id == NUMBERS)
    again = {"seq": len(events), "id": "B-1-critic~9", "step": None, "rest": 0, "derived": True}
    events.append(structs.replace(event, **{**again, **fields}))
    return book(events, weighed().blobs)


def _again() -> Book:
    """The same role gives numbers about the claim a second time."""
    return _given_again(derived=False)


def _after_its_test() -> Book:
    """Another role gives its first numbers about a claim that was tested by then."""
    events = [event for event in weighed().events if event.id != NUMBERS]
    late = next(event for event in weighed().events if event.id == NUMBERS)
    events.append(structs.replace(late, step=None, rest=0))
    return book([structs.replace(event, seq=n) for n, event in enumerate(events)], weighed().blobs)


PAIRS = (
    Pair("BEL001", lambda: _seen("B-1-critic~3", "B-1-action"), lambda: _at("B-1-critic~3"), weighed),
    Pair("BEL002", _again, lambda: len(weighed().events), _given_again, why="twice"),
    Pair("BEL002", _after_its_test, lambda: len(weighed().events) - 1, weighed, why="after its test"),
    Pair("AGD001", _left_out, _agenda_seq, weighed),
    Pair("AGD001", _twice, _agenda_seq, weighed, why="twice"),
)
