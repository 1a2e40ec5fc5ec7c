"""Short protocols by model seats: the real SDK against the fake of the Messages API, which answers by script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger.state.book import Book
from ledger.store.store import RunStore
from roles.protocol import Step
from rounds.protocols import PROTOCOLS
from tests.fake_api.scripted import answering
from tests.fake_api.server import FakeApi
from tests.protocols.playing import begin
from tests.protocols.scripts import reply
from tests.rounds.scripted import Script
from tests.seats.driven import sound
from tests.seats.test_run_by_model import resume


class Short(Script):
    """The script of a short protocol."""

    def reply(self, book: Book, step: Step, saw: Any) -> bytes:
        """The lawful reply of its step."""
        return reply(book, step, saw)


@pytest.mark.slow  # whole runs against a server of its own
@pytest.mark.parametrize("name", ["panel", "debate", "tribunal"])
def test_runs_to_its_end(name: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    begin(run, name)
    with FakeApi(answering(run, Short())) as api:
        process = resume(api, run)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    state = RunStore(run).book().state
    assert state.finished
    assert not state.given_up
    sound(run)


@pytest.mark.campaign
@pytest.mark.parametrize(
    "name", sorted(PROTOCOLS.keys() - {"structured", "jugalbandi", "panel", "debate", "tribunal"})
)
def test_the_others_too(name: str, tmp_path: Path) -> None:
    test_runs_to_its_end(name, tmp_path)
