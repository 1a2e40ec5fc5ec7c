"""Only plain files are read, and no more of them than the limit; a pipe or a device is refused in words (F-9, F-13).

A device is read in a process with little memory, which ends if it reads all of it. A read that waits for a pipe is
interrupted by the test.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from ledger.store.failures import Unreadable
from ledger.store.spending import Entry, Spending
from moot.app.speech import read_speech
from tests.cli.conftest import Moot, moot, opened
from tests.slowly import mostly_slow

__all__ = ["moot", "opened"]

ROOT = Path(__file__).resolve().parents[2]
MEMORY_BYTES_MAX = 1 << 30
HANGS_SECONDS = 120
ZERO = "/dev/zero"


def called(*arguments: object, stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
    """`moot` as a process that can have a gigabyte and no more."""
    return subprocess.run(
        [sys.executable, "-m", "moot", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX)),
    )


@contextmanager
def ended_in_time() -> Iterator[None]:
    """Interrupt what waits for ever: opening a pipe without a writer does."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"nothing for {HANGS_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGS_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A pipe that nobody ever writes to."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize("place", mostly_slow(["pipe", ZERO], quick=1))
@pytest.mark.parametrize(
    "verb",
    [
        ("submit", "RUN", "r1.B.action", "PLACE"),
        ("outcome", "RUN", "edited", "PLACE"),
        ("import", "jugalbandi", "PLACE", "--out", "out"),
        ("verify", "RUN", "--checkpoint", "PLACE"),
        ("verify", "RUN", "--checkpoint", "0:" + "0" * 64, "--key", "PLACE"),
        ("seal", "RUN", "--key", "PLACE"),
        ("run", "PLACE", "--seats", "host", "--out", "out"),
        ("run", "-q", "Which?", "--context", "PLACE", "--seats", "host", "--out", "out"),
        ("run", "PLACE", "--dry-run"),
        ("signals", "RUN", "--params", "PLACE"),
        ("redact", "RUN", "--secret", "PLACE", "--out", "copy"),
    ],
    ids=lambda verb: " ".join(verb),
)
def test_what_never_ends_is_refused_in_a_line(
    opened: Path, pipe: Path, moot: Moot, place: str, verb: tuple[str, ...]
) -> None:
    """F-13: `/dev/zero` was read whole before any limit, and a pipe as TOML waited for ever.

    The device is read by a process, which can have a gigabyte and no more.
    """
    words = {"RUN": str(opened), "PLACE": ZERO if place == ZERO else str(pipe)}
    arguments = [words.get(word, word) for word in verb]
    if place == ZERO:
        process = called(*arguments)
        code, complaint = process.returncode, process.stderr
    else:
        with ended_in_time():
            said = moot(*arguments)
        code, complaint = said.code, said.err
    assert code == 2, complaint
    assert "Traceback" not in complaint
    assert complaint.count("\n") == 1
    assert complaint.startswith("moot: ")
    assert not Path("out").exists()


@pytest.mark.parametrize("place", mostly_slow(["pipe", ZERO], quick=1))
def test_a_price_list_is_read_from_a_plain_file_only(
    pipe: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe in its place hung `run`, a device ate the memory."""
    monkeypatch.setenv("MOOT_PRICES", ZERO if place == ZERO else str(pipe))
    said = called("run", "-q", "Which?", "--dry-run")
    assert said.returncode == 2, said
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("place", mostly_slow(["pipe", ZERO], quick=1))
def test_a_deliberation_file_of_a_run_is_read_from_a_plain_file_only(
    opened: Path, pipe: Path, place: str
) -> None:
    file = opened / "deliberation.toml"
    file.unlink(missing_ok=True)
    file.symlink_to(ZERO if place == ZERO else pipe)
    for verb in (
        ("fork", opened, "--here", "--out", opened.with_name("forked")),
        ("redact", opened, "r1.B.action", "--reason", "x", "--out", opened.with_name("copy")),
    ):
        said = called(*verb)
        assert said.returncode in (1, 2), said
        assert "Traceback" not in said.stderr


def test_endless_standard_input_is_a_reply_that_is_too_long(opened: Path) -> None:
    """F-13: standard input is read up to the limit of a reply."""
    with open(ZERO, "rb") as endless:
        said = called("submit", opened, "r1.B.action", stdin=endless.fileno())
    assert said.returncode == 1, said
    assert "more than" in said.stderr


def test_speech_is_read_from_a_plain_file_only(tmp_path: Path) -> None:
    """F-9: a pipe in its place hung the live page."""
    os.mkfifo(tmp_path / "speech")
    assert read_speech(tmp_path) is None
    (tmp_path / "speech").unlink()
    (tmp_path / "speech").symlink_to(ZERO)
    assert read_speech(tmp_path) is None


@pytest.mark.parametrize("place", mostly_slow(["pipe", ZERO], quick=1))
def test_what_was_spent_is_read_from_a_plain_file_only(opened: Path, pipe: Path, place: str) -> None:
    """F-9: a pipe in its place hung `--resume`, a device ate the memory; what was spent is then not known."""
    file = opened / "spending.jsonl"
    file.symlink_to(ZERO if place == ZERO else pipe)
    with pytest.raises(Unreadable):
        list(Spending(opened).entries())
    file.unlink()
    Spending(opened).note(Entry("reserve", 1, "r1.B.action", 1, 10, 5))
    assert [entry.n for entry in Spending(opened).entries()] == [1]
