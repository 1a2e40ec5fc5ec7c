"""Words as they come: what a driving process says beside the ledger, and what a viewer elsewhere makes of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import pytest

from ledger.events.ids import parse_step
from ledger.store.lock import DriverLease
from moot.app.driving import drive_run
from moot.app.speech import FILE, PAUSE_SECONDS, Speech, read_speech
from moot.web.rounds import readable
from roles.seats.port import Request, SeatReply
from rounds.run.session import RunSession
from tests.rounds.openings import ROLES, begin, rows
from tests.rounds.scripted import Script, ScriptedSeat
from tests.web.viewer import viewer

PIECE = '{"sections":[{"name":"main","text":"Halfway through a \\"sentence\\"'


class Streaming(ScriptedSeat):
    """Says a piece, looks at what is beside the ledger then, and answers."""

    def __init__(self, session: RunSession) -> None:
        super().__init__(session, Script(seed=1))
        self.path = session.run.path
        self.heard: dict[str, str] = {}

    async def reply(self, request: Request) -> SeatReply:
        await asyncio.sleep(PAUSE_SECONDS * 1.2)
        request.words(PIECE)
        said = read_speech(self.path)
        assert said is not None
        self.heard |= {one.step: one.words for one in said.asked if one.step == request.step.id}
        return await super().reply(request)


def test_words_are_beside_the_ledger_while_they_come_and_sealed_ones_never(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", rows(1))
    seat = Streaming(session)
    assert asyncio.run(drive_run(session, dict.fromkeys(ROLES, seat))).state == "finished"
    sealed = {
        step for step in seat.heard if (name := parse_step(step)) is not None and name.act == "position"
    }
    assert len(sealed) == 4
    assert all(
        words
        == ("" if step in sealed else PIECE.rpartition(" ")[0] + " ")  # the last word may be half of a key
        for step, words in seat.heard.items()
        if words or step in sealed
    )
    assert sum(bool(words) for words in seat.heard.values()) > 5
    assert not (tmp_path / "run" / FILE).exists()
    assert not list((tmp_path / "run").glob("*.tmp"))


def test_a_viewer_shows_who_thinks_and_the_words_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = begin(tmp_path / "run", rows(1))
    with viewer(tmp_path) as serving:
        waiting = serving.get("/run/run/live").body
        assert "waits for an answer" in waiting
        with DriverLease(session.run.path):
            ticks = iter(range(100))
            monkeypatch.setattr("moot.app.speech.now", lambda: "2026-03-04T05:06:07.000000Z")
            clock = SimpleNamespace(monotonic=lambda: next(ticks))
            monkeypatch.setattr("moot.app.speech.time", clock)
            with Speech(session.run.path) as speech:
                speech.started("r1.B.action")
                speech.words("r1.B.action", PIECE)
                page = serving.get("/run/run/live").body
                assert "<strong>thinks</strong>" in page
                assert "Halfway through a &#34;sentence&#34;" in page
                assert 'data-since="2026-03-04T05:06:07.000000Z"' in page
                assert "running" in serving.get("/").body
                speech.answered(["r1.B.action"])
                assert "Halfway" not in serving.get("/run/run/live").body


def test_a_reply_that_is_half_there_reads_as_prose() -> None:
    assert readable(PIECE) == 'main,Halfway through a "sentence"'
    assert readable("") == ""
    assert "<script>" in readable('{"text":"<script>')  # escaped where it is shown, like every text
