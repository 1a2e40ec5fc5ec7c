"""A drive that pauses after each round or phase: it writes nothing of its own, and the stop checks say the same."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from detectors.signals import signals
from ledger.events import Signals
from ledger.state.book import book
from ledger.store.store import RunStore
from rounds.run.driver import Drive, DriveEnd, Pause
from rounds.run.session import RunSession
from tests.rounds.openings import ROLES, begin, play
from tests.rounds.scripted import Script, ScriptedSeat


def driven(session: RunSession, pause: Pause | None) -> DriveEnd:
    seat = ScriptedSeat(session, Script())
    return asyncio.run(Drive(session, dict.fromkeys(ROLES, seat), monotonic=lambda: 0.0, pause=pause).run())


def paused(path: Path, pause: Pause) -> tuple[RunSession, list[str]]:
    """Drive a run to its end, stretch by stretch; the first open step at each pause."""
    session, stops = begin(path, "short-5", profile="gates", positions="beliefs"), list[str]()
    while (end := driven(session, pause)).state == "paused":
        stops.append(end.waiting[0].rpartition(".")[0])
    assert end.state in ("finished", "waiting")
    return session, stops


@pytest.mark.parametrize(
    ("pause", "stops"),
    [
        ("round", ["r2.B", "r3.B", "r4.B", "r5.S"]),
        ("phase", ["r1.C", "r1.D", "r1.E", "r1.F", "r1.G", "r2.B", "r2.C"]),
    ],
)
def test_it_stops_where_a_round_or_phase_ends(tmp_path: Path, pause: Pause, stops: list[str]) -> None:
    _, places = paused(tmp_path / "run", pause)
    heads = [".".join(place.split(".")[:2]) for place in places]
    assert heads[: len(stops)] == stops
    assert len(set(heads)) == len(heads)


@pytest.mark.slow
def test_the_ledger_and_the_stop_checks_are_those_of_a_run_without_pauses(tmp_path: Path) -> None:
    session, _ = paused(tmp_path / "paused", "round")
    whole = begin(tmp_path / "whole", "short-5", profile="gates", positions="beliefs")
    play(whole)
    ours, theirs = session.book(), whole.book()
    assert [event.kind for event in ours.events] == [event.kind for event in theirs.events]
    looks = [event.seq for event in ours.events if isinstance(event, Signals)]
    assert looks
    for at in looks:
        assert signals(ours, "gates", at) == signals(theirs, "gates", at)


def test_the_stop_checks_at_a_pause_are_those_of_the_look(tmp_path: Path) -> None:
    """A round that is open and has no check yet changes no verdict."""
    session = begin(tmp_path / "run", "short-5", profile="gates", positions="beliefs")
    compared = 0
    while driven(session, "round").state == "paused":
        events = RunStore(tmp_path / "run").events()
        look = next((event for event in reversed(events) if isinstance(event, Signals)), None)
        if look is None or look.round < session.book().state.round - 1:
            continue
        now = signals(session.book(), "gates")
        then = signals(book(events, session.run.blobs), "gates", look.seq)
        assert [(gate.name, gate.ok, gate.value) for gate in now.gates] == [
            (gate.name, gate.ok, gate.value) for gate in then.gates
        ]
        compared += 1
    assert compared
