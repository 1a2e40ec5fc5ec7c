"""What a study writes down beside its runs is durable, and is read as what a stranger may have written."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.__main__ import main
from moot.errors import DAMAGED, GOOD, WAITING
from moot.studies.units import jobs_of
from tests.studies.scripted import arm, conducted, taped, written

SECONDS_MAX = 5
DEEP = b"[" * 30_000


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study whose two runs came out, played from recordings."""
    place = tmp_path_factory.mktemp("played")
    conducted(taped(place, ["one", "two"], "", arms=1))
    return place


@pytest.fixture
def study(played: Path, tmp_path: Path) -> Path:
    """A copy of that study."""
    shutil.copytree(played, tmp_path, dirs_exist_ok=True)
    return tmp_path / "study"


def pipe(place: Path) -> None:
    os.mkfifo(place)


def content(what: bytes) -> Callable[[Path], None]:
    def write(place: Path) -> None:
        place.write_bytes(what)

    return write


WRONG: dict[str, Callable[[Path], None]] = {
    "null": content(b"null"),
    "list": content(b"[]"),
    "nothing": content(b""),
    "cut": content(b'{"name": "'),
    "deep": content(DEEP),
    "deep_object": content(b'{"a":' * 30_000),
    "not_utf8": content(b'{"name": "\xff"}'),
    "other_types": content(b'{"name": 1, "state": [], "at": {}}'),
    "large": content(b'{"name": "' + b"x" * (1 << 20)),
    "pipe": pipe,
    "directory": Path.mkdir,
    "device": lambda place: place.symlink_to("/dev/zero"),
    "nowhere": lambda place: place.symlink_to("/nowhere/at/all"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("file", ["planned.json", "end"])
def test_damage_is_said_with_the_fix(
    study: Path, capsys: pytest.CaptureFixture[str], file: str, wrong: str
) -> None:
    place = study / file if file != "end" else next(iter(sorted((study / "ends").glob("*.json"))))
    place.unlink()
    WRONG[wrong](place)
    for verb in ("status", "report", "run"):
        began = time.monotonic()
        assert main(["study", verb, str(study)]) == DAMAGED, verb
        assert time.monotonic() - began < SECONDS_MAX
        said = capsys.readouterr().err
        assert str(place) in said
        assert "damaged" in said
        assert "remove it" in said


def test_an_end_of_another_job_is_said(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = sorted((study / "ends").glob("*.json"))[:2]
    second.write_bytes(first.read_bytes())
    assert main(["study", "status", str(study)]) == DAMAGED
    assert "it is about the job" in capsys.readouterr().err


def test_an_end_without_its_run_is_said_and_removing_it_mends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = written(tmp_path, arm("single", "single-pass"))
    assert main(["study", "run", str(tmp_path), "--limit", "1", "--workers", "1"]) == WAITING
    name = next((tmp_path / "runs").glob("*/head")).parent.name
    other = next(job.name for job in jobs_of(study) if job.name != name)
    (tmp_path / "ends").mkdir(exist_ok=True)
    forged = tmp_path / "ends" / f"{other}.json"
    forged.write_text(json.dumps({"name": other, "state": "finished", "reason": None, "detail": ""}))
    assert main(["study", "status", str(tmp_path)]) == DAMAGED
    assert "finished which is not there" in capsys.readouterr().err
    forged.unlink()
    assert main(["study", "status", str(tmp_path)]) == WAITING


def test_a_link_in_the_place_of_its_files_changes_nothing_elsewhere(tmp_path: Path) -> None:
    """A stranger's study may hold links: the lock used to empty what it led to."""
    mine = tmp_path / "mine"
    mine.write_text("kept")
    (tmp_path / "elsewhere").mkdir()
    written(tmp_path / "study", arm("single", "single-pass"))
    (tmp_path / "study/lock").symlink_to(mine)
    assert main(["study", "run", str(tmp_path / "study"), "--workers", "1"]) != GOOD
    assert mine.read_text() == "kept"
    (tmp_path / "study/lock").unlink()
    (tmp_path / "study/planned.json.tmp").symlink_to(mine)
    main(["study", "run", str(tmp_path / "study"), "--workers", "1"])
    assert mine.read_text() == "kept"


def test_what_is_written_down_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file and its directory are synced, in that order."""
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    study = conducted(taped(tmp_path, ["one"], "", arms=1)).study.folder
    (end,) = (study / "ends").iterdir()
    for place in (study / "planned.json", end):
        at = synced.index(f"{place}.tmp")
        assert str(place.parent) in synced[at:], place
