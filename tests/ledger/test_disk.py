"""What is written for a person, and directories that appear whole: under calls that fail, and after a kill."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.store import disk
from ledger.store.disk import read_plain, staged, write_out
from ledger.store.store import RunStore
from tests.campaign.acts import new_run
from tests.campaign.calls import Real, Watched, refused
from tests.slowly import mostly_slow

ROOT = Path(__file__).resolve().parents[2]


def failing(name: str, at: int) -> Any:
    """The `at`-th call of that name finds no room."""
    count = 0

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        nonlocal count
        count += said == name
        if said == name and count == at:
            raise refused(errno.ENOSPC, name)
        return real(*arguments, **named)

    return see


@pytest.mark.parametrize("name", ["open", "write", "fsync", "rename"])
def test_a_document_is_written_whole_or_not_at_all(tmp_path: Path, name: str) -> None:
    """F-15: on a full disk a report left half of itself, or destroyed the one before."""
    place = tmp_path / "report.md"
    for before in (None, b"the one before"):
        if before is not None:
            place.write_bytes(before)
        with pytest.raises(OSError, match="No space"), Watched(failing(name, 1)):
            write_out(place, b"x" * 100_000)
        assert (place.read_bytes() if place.exists() else None) == before
        assert [path.name for path in tmp_path.iterdir()] == ([place.name] if before is not None else [])
    write_out(place, b"new")
    assert place.read_bytes() == b"new"


def test_a_document_is_synced_with_its_directory_before_it_is_acknowledged(tmp_path: Path) -> None:
    """F-15: a seal was acknowledged before its directory was on the disk."""
    synced: list[str] = []

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if said == "fsync":
            synced.append(os.readlink(f"/proc/self/fd/{arguments[0]}"))
        return real(*arguments, **named)

    with Watched(see):
        write_out(tmp_path / "note", b"signed")
    assert synced[-1] == str(tmp_path)
    assert Path(synced[0]).parent == tmp_path


def test_a_file_keeps_its_rights_a_new_one_gets_its_own_and_a_link_stays_one(tmp_path: Path) -> None:
    old, secret, link = tmp_path / "old", tmp_path / "secret", tmp_path / "link"
    old.write_bytes(b"1")
    old.chmod(0o640)
    link.symlink_to(old)
    write_out(link, b"2")
    write_out(secret, b"s", mode=0o600, over=False)
    assert (old.read_bytes(), old.stat().st_mode & 0o777, link.is_symlink()) == (b"2", 0o640, True)
    assert secret.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_out(secret, b"t", mode=0o600, over=False)
    assert secret.read_bytes() == b"s"


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")
    write_out(link, b"gone")
    assert Path("/dev/null").is_char_device()


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 11)
    assert read_plain(tmp_path / "file", 11) == b"x" * 11
    with pytest.raises(OSError, match="more than 10 bytes"):
        read_plain(tmp_path / "file", 10)


KILLED = """
import os, signal, sys
from collections.abc import Callable
from pathlib import Path
from ledger.store.disk import staged
with staged(Path(sys.argv[1])) as staging:
    (staging / "half").write_bytes(b"x")
    print(staging.name, flush=True)
    if sys.argv[2] == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.readline()
"""


def test_what_a_killed_creation_left_is_removed_by_the_next_and_a_living_one_is_left_alone(
    tmp_path: Path,
) -> None:
    """F-15: hidden directories of killed creations stayed for ever."""

    def start(name: str, how: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path / name), how],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        left = process.stdout.readline().strip()
        assert (tmp_path / left).is_dir()
        return process

    with start("one", "killed") as dead:
        assert dead.wait(60) == -signal.SIGKILL
    with start("two", "living") as living:
        names = sorted(path.name.split(".")[1] for path in tmp_path.iterdir())
        assert names == ["two"]  # the dead one's is gone already
        new_run(tmp_path / "run")
        assert sorted(path.name.split(".")[1] for path in tmp_path.iterdir() if path.name[0] == ".") == [
            "two"
        ]
        living.communicate("go on\n", timeout=60)
        assert living.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "two"]
    assert (tmp_path / "two" / "half").exists()
    assert RunStore(tmp_path / "run").events()


def test_a_directory_that_fails_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), staged(tmp_path / "out") as staging:
        (staging / "nowhere" / "file").write_bytes(b"x")
    assert list(tmp_path.iterdir()) == []


SIDE_BY_SIDE = """
import sys
from collections.abc import Callable
from pathlib import Path
from ledger.store.disk import staged

for n in range(150):
    with staged(Path(sys.argv[1]) / f"{sys.argv[2]}-{n}") as staging:
        (staging / "file").write_bytes(b"x")
"""


@pytest.mark.parametrize("many", mostly_slow([4, 8], quick=1))
def test_many_make_something_side_by_side(tmp_path: Path, many: int) -> None:
    """Whoever looks for what was abandoned takes nothing from a neighbour that has just made its directory."""
    words = [sys.executable, "-c", SIDE_BY_SIDE, str(tmp_path)]
    running = [subprocess.Popen([*words, str(n)], stderr=subprocess.PIPE) for n in range(many)]
    said = [process.communicate()[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * many, said
    assert len(list(tmp_path.glob("*-*/file"))) == many * 150


@pytest.mark.parametrize(
    "act",
    [
        lambda path: disk.append(path, b"more", 4),
        lambda path: disk.write_at(path, b"more", 0),
        lambda path: disk.truncate(path, 2),
        lambda path: disk.settle(path),
        lambda path: disk.settle(path.parent),
    ],
    ids=["append", "write_at", "truncate", "settle a file", "settle a directory"],
)
def test_the_disk_syncs_what_it_wrote(tmp_path: Path, act: Callable[[Path], object]) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"some")
    synced: list[str] = []

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        synced.extend([said] if said in ("fsync", "fdatasync") else [])
        return real(*arguments, **named)

    with Watched(see):
        act(path)
    assert len(synced) == 1
