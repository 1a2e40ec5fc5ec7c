"""The second reader, made from docs/format.md alone, on whole runs: recorded ones, and one of every protocol as it is
opened today."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from ledger.events import STREAMS
from roles.seats.port import Answer
from rounds.protocols import PROTOCOLS
from tests.architecture.test_docs import recipe
from tests.oracles.second_reader import verdict
from tests.protocols.playing import begin, play
from tests.recorded import recorded_names, run_of
from tests.rounds.scripted import Script


def lines(run: Path) -> list[bytes]:
    return [line for name in STREAMS for line in (run / f"{name}.jsonl").read_bytes().splitlines()]


def is_read(run: Path, recipes: Sequence[str] = ("shell", "python")) -> None:
    """Every line is valid, and the recipes of the page find the run intact."""
    assert [line[:200] for line in lines(run) if verdict(line) != "valid"] == []
    for language in recipes:
        found = recipe(language, run)
        assert (found.returncode, found.stdout) == (0, "intact\n"), found.stderr


@pytest.mark.parametrize("name", recorded_names())
def test_a_recorded_run_is_read(name: str) -> None:
    # The recipe in shell starts a process for each line, so it reads the short ones.
    is_read(run_of(name), ("python",) if name.startswith("scripted") else ("shell", "python"))


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - {"structured"}))
def test_a_run_that_is_opened_today_is_read(tmp_path: Path, name: str) -> None:
    play(begin(tmp_path / "run", name))
    assert all(b',"v":3,' in line[:150] for line in lines(tmp_path / "run"))
    is_read(tmp_path / "run", recipes=("python",) if name == "crux" else ())


@pytest.mark.slow
def test_a_run_of_structured_is_read(tmp_path: Path) -> None:
    session, script = begin(tmp_path / "run", "structured", budget={"rounds": 3}), Script(3)
    while asked := session.pending():
        content = script.reply(session.book(), asked[0].step, asked[0].brief.saw)
        session.submit(asked[0].step.id, content, Answer(seat="host", isolation="trusted"))
    is_read(tmp_path / "run")
