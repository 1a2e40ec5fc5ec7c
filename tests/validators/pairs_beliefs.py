"""Pairs for beliefs and agendas, over a run of `crux` that is played once."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import structs

from ledger.events import Agenda, Belief
from ledger.state.book import Book, book
from tests.protocols.playing import begin, play
from tests.validators.factory import Store, change, seq_of
from tests.validators.pair import Pair


@lru_cache
def weighed() -> Book:
    """A run of `crux` with one claim that is tested in round 2."""
    with tempfile.TemporaryDirectory() as place:
        played = play(begin(Path(place) / "run", "crux"))
        blobs = {path.name: path.read_bytes() for path in (Path(place) / "run" / "blobs").iterdir()}
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


def _third_round() -> Book:
    """The numbers of round 2 again, in round 3 and in round 4."""
    events = list(weighed().events)
    given = [event for event in events if isinstance(event, Belief) and event.id == "B-2-action"]
    for round_ in (3, 4):
        events.append(
            structs.replace(
                given[0], seq=len(events), round=round_, id=f"B-{round_}-action", step=None, rest=0
            )
        )
    return book(events, weighed().blobs)


def _second_round() -> Book:
    """The same in round 3 alone."""
    third = _third_round()
    return book(third.events[:-1], third.blobs)


def _again() -> Book:
    """The same numbers twice in one round."""
    events = list(weighed().events)
    given = next(event for event in events if event.id == "B-2-action")
    events.append(structs.replace(given, seq=len(events), id="B-2-action~4", step=None, rest=0))
    return book(events, weighed().blobs)


PAIRS = (
    Pair("BEL001", lambda: _seen("B-2-critic", "B-1-action"), lambda: _at("B-2-critic"), weighed),
    Pair(
        "BEL001",
        lambda: _seen("B-2-action", "B-1-action~2"),
        lambda: _at("B-2-action"),
        lambda: _seen("M-2", "B-1-action"),
        why="second draw",
    ),
    Pair("BEL002", _third_round, lambda: len(weighed().events) + 1, _second_round),
    Pair("BEL002", _again, lambda: len(weighed().events), weighed, why="twice in a round"),
    Pair("AGD001", _left_out, _agenda_seq, weighed),
    Pair("AGD001", _twice, _agenda_seq, weighed, why="twice"),
)
