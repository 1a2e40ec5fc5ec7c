"""What a killed process leaves of an experiment is removed by the next one, and nobody else's is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rounds.experiments.left_behind import prefix_of_ours, remove_left_behind

HOLDS = (
    "import time\nfrom rounds.experiments.sandbox import Job, work_directory\n"
    "with work_directory(Job(('true',), {'test.py': b'1'})):\n    print('there', flush=True)\n    time.sleep(60)\n"
)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@contextmanager
def holding() -> Generator[None]:
    """Another process with a work directory in use, that is killed at the end."""
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE, text=True) as made:
        try:
            assert made.stdout is not None
            assert made.stdout.readline() == "there\n"
            yield
        finally:
            os.kill(made.pid, signal.SIGKILL)


def test_what_a_killed_process_left_goes_and_what_is_in_use_stays(temporary: Path) -> None:
    with holding():
        pass
    (left,) = temporary.iterdir()
    assert (left / "work" / "test.py").is_file()
    with holding():  # it cleans up as it begins
        assert not left.exists()
        (in_use,) = temporary.iterdir()
        remove_left_behind()
        assert in_use.exists()


@pytest.mark.parametrize(
    "name",
    [
        "moot-experiment-abc123",
        "moot-experiment-000000000000-1-1-x",
        "another-thing",
        f"{prefix_of_ours()}mine",
    ],
    ids=["of an older kind", "of another boot", "of another program", "of ourselves"],
)
def test_nobody_elses_is_touched(temporary: Path, name: str) -> None:
    """Of no known process, of another start of the system or other numbers, of none of ours, of one alive."""
    (temporary / name).mkdir()
    remove_left_behind()
    assert (temporary / name).is_dir()


def test_a_number_that_was_given_again_is_not_taken_for_its_owner(temporary: Path) -> None:
    head, pid, began, _ = prefix_of_ours().rsplit("-", 3)
    (temporary / f"{head}-{pid}-{int(began) - 1}-old").mkdir()
    remove_left_behind()
    assert not list(temporary.iterdir())


def test_a_link_is_not_followed(temporary: Path) -> None:
    (temporary / "kept").mkdir()
    head, pid, began, _ = prefix_of_ours().rsplit("-", 3)
    (temporary / f"{head}-{pid}-{int(began) - 1}-link").symlink_to(temporary / "kept")
    remove_left_behind()
    assert (temporary / "kept").is_dir()
