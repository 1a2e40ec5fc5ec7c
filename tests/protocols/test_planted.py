"""Violations planted in ledgers of the short protocols, sealed again so that the chain is whole: all are found."""

from __future__ import annotations

import copy
import hashlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, cast

import msgspec
import orjson
import pytest

from ledger.events import Event
from ledger.events.envelope import GENESIS
from ledger.format.canonical import decode, encode, seal
from ledger.state.book import Book, book, grouped
from roles.protocol import UNLAWFUL
from rounds.protocols import PROTOCOLS
from rounds.run.verdicts import standard
from tests.blob_lines import blobs_of
from tests.protocols.playing import begin, play
from tests.validators.factory import findings
from validators import rulebook
from validators.rulebook import CheckReport
from validators.rules import calls, replay, rounds

pytestmark = pytest.mark.slow

PLAIN: Final = sorted(PROTOCOLS.keys() - {"structured"})
RULED: Final = ("priority", "tribunal", "comparative")
"""Protocols in which a rule of ours decides."""
SEALED: Final = frozenset({"prev", "seq", "rest", "v", "at", "kind", "call", "saw", "via"})
FREE: Final = frozenset({"validation", "run_closed", "run_opened", "round_opened"})
"""Kinds of which rules of their own judge every field."""


DEAR: Final = (
    calls.brief_is_derived_again,
    replay.event_follows_from_its_reply,
    rounds.recorded_validation_holds,
)


ALIKE = 3
"""How many events of one kind and phase are tried, from either end of the run."""


class _Kept:
    """Blobs in memory."""

    def __init__(self, content: Mapping[str, bytes]) -> None:
        self.content = content

    def read(self, sha256: str) -> bytes | None:
        return self.content.get(sha256)


@cache
def run(name: str) -> Book:
    """A finished run of a protocol."""
    with TemporaryDirectory() as folder:
        # a person's answer may be left out or reworded: nobody can know what a person would have said
        rules = {"wait": "off"} if name == "jugalbandi" else None
        played = play(begin(Path(folder) / "run", name, rules))
        blobs = blobs_of(Path(folder) / "run")
    return book(played.events, _Kept(blobs))


def resealed(whole: Book, events: list[Event]) -> Book:
    """The events as somebody would write them who hides that anything was changed: numbers and hashes fit."""
    moved = {event.seq: n for n, event in enumerate(events)}
    prev, sealed = GENESIS, list[Event]()
    for event in events:
        fields: dict[str, Any] = {"saw": tuple(moved[seq] for seq in event.saw if seq in moved)}
        if event.via is not None:
            fields["via"] = moved.get(event.via, 0)
        if event.kind in ("validation", "run_closed"):
            fields["through"] = len(sealed) - 1
        if event.kind == "ruling":
            fields["votes"] = tuple(moved.get(seq, 0) for seq in cast("Any", event).votes)
        fresh = msgspec.structs.replace(event, **fields)
        made = seal((fresh,), prev=prev, seq=len(sealed), at=event.at)
        one = msgspec.structs.replace(made.events[0], rest=event.rest)
        prev = made.head.hash
        sealed.append(one)
    return book(sealed, whole.blobs)


def judged(name: str, planted: Book) -> CheckReport:
    """What `moot check` says, but for the hashes of lines, which are a file's."""
    return rulebook.check(planted, standard(PROTOCOLS[name]).context())


def finds(name: str, planted: Book) -> bool:
    """Whether `check` finds an error. Rules that derive prompts and replies again are asked only where none is yet."""
    context = standard(PROTOCOLS[name]).context()
    quick = [rule for rule in rulebook.RULES if rule not in DEAR]
    with suppress(*UNLAWFUL):  # of a rule that gave up: all of them together say why
        if any(one.severity == "error" for one in findings(planted, context, rules=quick)):
            return True
    return not judged(name, planted).ok


def places(whole: Book) -> Iterator[tuple[int, Event]]:
    """Where events are left out or said twice: of those that are alike, the first and the last few."""
    alike = grouped(((event.kind, event.phase), place) for place, event in enumerate(whole.events))
    few = {place for all_ in alike.values() for place in (*all_[:ALIKE], *all_[-ALIKE:])}
    return ((n, event) for n, event in enumerate(whole.events) if n in few and event.kind not in FREE)


def left_out(whole: Book) -> Iterator[tuple[str, list[Event]]]:
    """The run without one of its events."""
    for place, event in places(whole):
        yield f"without {event.kind} {event.id}", [*whole.events[:place], *whole.events[place + 1 :]]


def doubled(whole: Book) -> Iterator[tuple[str, list[Event]]]:
    """The run with one event said twice."""
    for place, event in places(whole):
        yield f"twice {event.kind} {event.id}", [*whole.events[: place + 1], *whole.events[place:]]


def reworded(whole: Book) -> Iterator[tuple[str, list[Event]]]:
    """The run with one value of one event changed to another lawful one."""
    for place, event in enumerate(whole.events):
        if event.kind in FREE:
            continue
        fields = orjson.loads(encode(event))
        for path in _leaves(fields):
            for value in _others(_at(fields, path)):
                changed = copy.deepcopy(fields)
                _put(changed, path, value)
                try:
                    other = decode(orjson.dumps(changed))
                except (ValueError, msgspec.MsgspecError):
                    continue  # no lawful line: the schema rule has it
                if path[0] not in SEALED:
                    yield (
                        f"{event.kind} {event.id} {path}: {value!r}"[:120],
                        [*whole.events[:place], other, *whole.events[place + 1 :]],
                    )


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        if value:
            yield path
        for n, inner in enumerate(cast("list[Any]", value)):
            yield from _leaves(inner, (*path, n))
    else:
        yield path


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _put(value: Any, path: tuple[Any, ...], other: Any) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = other


def _others(value: Any) -> tuple[Any, ...]:
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (value + 1, value - 1)
    if isinstance(value, list):
        return (value[:-1],)
    if isinstance(value, str):
        words = {
            "accepted": "rejected",
            "defended": "deflected",
            "UPHELD": "REFUTED",
            "SURVIVE": "COLLAPSE",
            "ACT": "REFUSE",
            "P0": "P3",
            "final": "round",
        }
        return (words.get(value, f"{value} indeed"),)
    return ("said",)


@pytest.mark.parametrize("name", PLAIN)
def test_a_good_run_has_no_finding_even_sealed_again(name: str) -> None:
    assert not judged(name, resealed(run(name), list(run(name).events))).findings


@pytest.mark.parametrize("plant", [left_out, doubled], ids=lambda plant: plant.__name__)
@pytest.mark.parametrize("name", PLAIN)
def test_what_is_left_out_or_said_twice_is_found(name: str, plant: Any) -> None:
    planted = list(plant(run(name)))
    assert len(planted) >= 3
    assert [what for what, events in planted if not finds(name, resealed(run(name), events))] == []


@pytest.mark.parametrize("name", PLAIN)
def test_a_changed_value_is_found(name: str) -> None:
    planted = list(reworded(run(name)))
    assert len(planted) >= 10
    step = max(1, len(planted) // 30)
    assert [what for what, events in planted[::step] if not finds(name, resealed(run(name), events))] == []


@pytest.mark.campaign
def test_every_event_that_is_left_out_or_said_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "ALIKE", 1_000)
    for name in PLAIN:
        for plant in (left_out, doubled):
            test_what_is_left_out_or_said_twice_is_found(name, plant)


@pytest.mark.campaign
@pytest.mark.parametrize("name", PLAIN)
def test_every_changed_value_is_found(name: str) -> None:
    planted = list(reworded(run(name)))
    assert [what for what, events in planted if not finds(name, resealed(run(name), events))] == []


@pytest.mark.parametrize("name", RULED)
def test_what_a_rule_decides_cannot_be_decided_otherwise(name: str) -> None:
    whole = run(name)
    codes: set[str] = set()
    for what, events in reworded(whole):
        place = next(n for n, event in enumerate(events) if event is not whole.events[n])
        if events[place].by == "controller":
            report = judged(name, resealed(whole, events))
            assert not report.ok, what
            codes |= {finding.code for finding in report.findings}
    assert "FLW002" in codes


LEAKS = (
    ("jugalbandi", "challenge", "the question reaches the challenger"),
    ("debate", "opening", "the other side's sealed opening"),
    ("tribunal", "challenge", "the numbers of the one that is challenged"),
    ("panel", "findings", "another reviewer's findings"),
)


@pytest.mark.parametrize(("name", "phase", "what"), LEAKS, ids=[leak[2] for leak in LEAKS])
def test_a_brief_that_showed_more_than_the_table_allows_fails(name: str, phase: str, what: str) -> None:
    """The leaked brief is a blob of its own, named by the call, and the events behind it are in `saw`."""
    del what
    whole = run(name)
    assert isinstance(whole.blobs, _Kept)
    place = max(n for n, event in enumerate(whole.events) if event.call and event.phase == phase)
    event = whole.events[place]
    assert event.call is not None
    brief = orjson.loads(whole.blobs.content[event.call.brief])
    leaked = b"CANARY " + whole.blobs.content[brief["blocks"][-1]["sha256"]]
    block = hashlib.sha256(leaked).hexdigest()
    brief["blocks"][-1]["sha256"] = block
    manifest = orjson.dumps(brief)
    sha256 = hashlib.sha256(manifest).hexdigest()
    call = msgspec.structs.replace(event.call, brief=sha256)
    saw = tuple(sorted({*event.saw, place - 1}))
    events = list(whole.events)
    events[place] = msgspec.structs.replace(event, call=call, saw=saw)
    blobs = _Kept({**whole.blobs.content, block: leaked, sha256: manifest})
    found = judged(name, book(resealed(whole, events).events, blobs))
    assert "BRF001" in {finding.code for finding in found.findings if finding.severity == "error"}
