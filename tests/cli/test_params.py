"""Parameter files: edited thresholds change what `signals` reads, and a run keeps the file it was opened with."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.parameters import params_bytes
from ledger.store.store import RunStore
from tests.blob_lines import blobs_of
from tests.cli.conftest import Moot


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """A copy of the installed file in which a person tolerates less giving in."""
    text = params_bytes("gates").decode()
    edited = text.replace("p0 = 0.18\n", "p0 = 0.1\n", 1)
    assert edited != text
    (tmp_path / "ours.toml").write_text(edited)
    return tmp_path / "ours.toml"


@pytest.fixture
def imported(moot: Moot, tmp_path: Path) -> Path:
    source = tmp_path / "source"
    source.mkdir()
    for name, content in Simulation(Setting(seed=1)).files().items():
        (source / name).write_bytes(content)
    assert moot("import", "skill", source, "--out", tmp_path / "imported").code == 0
    return tmp_path / "imported"


def test_an_edited_file_changes_what_is_read(moot: Moot, imported: Path, ours: Path) -> None:
    plain = moot("signals", imported, "--json").json
    edited = moot("signals", imported, "--params", ours, "--json").json
    assert (plain["profile"], edited["profile"]) == ("gates", "gates")
    assert [alarm["e_value"] for alarm in plain["alarms"]] != [alarm["e_value"] for alarm in edited["alarms"]]
    assert moot("signals", imported, "--params", ours, "--profile", "published").code == 2


def test_a_run_keeps_the_thresholds_that_it_was_opened_with(moot: Moot, tmp_path: Path, ours: Path) -> None:
    ask = ("run", "-q", "Which?", "--seats", "host", "--rule", f"params={ours}")
    moot(*ask, "--out", tmp_path / "new")
    opened = RunStore(tmp_path / "new").state().opened
    assert opened is not None
    assert opened.stop.params == sha256(ours.read_bytes()).hexdigest()
    assert blobs_of(tmp_path / "new")[opened.stop.params] == ours.read_bytes()
    assert moot(*ask, "--rule", "profile=published", "--out", tmp_path / "n").code == 2


def test_a_file_without_thresholds_is_refused(moot: Moot, tmp_path: Path, finished: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("watch_at = 3\n")
    refusal = moot("signals", finished, "--params", wrong)
    assert refusal.code == 2
    assert "edit a copy of detectors/parameters.toml" in refusal.err


def test_a_file_that_bets_the_wrong_way_is_refused_by_its_name_and_key(
    moot: Moot, tmp_path: Path, imported: Path
) -> None:
    """The message names file, key and what to change, and nothing is opened."""
    wrong = tmp_path / "wrong.toml"
    text = params_bytes("gates").decode().replace("above_share = 0.09", "above_share = 0.4")
    wrong.write_text(text)
    run = ("run", "-q", "Which?", "--seats", "host", "--out", tmp_path / "n")
    for words in (("signals", imported, "--params", wrong), (*run, "--rule", f"params={wrong}")):
        refusal = moot(*words)
        assert refusal.code == 2
        for part in ("wrong.toml", "$.domination_cited", "grid: 0.55", "above_share"):
            assert part in refusal.err
        assert "Traceback" not in refusal.err
    assert not (tmp_path / "n").exists()
