"""Calls that the system refuses: said in words, nothing stays locked, and what is kept is written once more."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.verify import problems_of, verify
from ledger.store.failures import NotARun, Unreadable, WriteFailed
from ledger.store.lock import DriverLease
from ledger.store.store import RunStore, create_run
from tests.campaign.acts import new_run, with_whole_tail
from tests.campaign.calls import Real, Watched, refused
from tests.ledger import samples


def failing(name: str, place: str = "") -> Any:
    """Every call of that name, whose first argument has `place` in it, meets an I/O error."""

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if said == name and place in str(arguments[0]):
            raise refused(errno.EIO, name)
        return real(*arguments, **named)

    return see


def test_a_lock_that_fails_is_not_held_afterwards(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    for name, place in (("fcntl", ""), ("stat", "lock")):
        with pytest.raises(WriteFailed), Watched(failing(name, place)), run.writer():
            raise AssertionError("a writer without a lock")
    with run.writer(wait_seconds=0.0) as writer:
        writer.commit([samples.claim(1)], at=samples.AT)


def test_a_lease_that_cannot_be_written_is_free_again(tmp_path: Path) -> None:
    with pytest.raises(WriteFailed), Watched(failing("ftruncate")), DriverLease(tmp_path):
        raise AssertionError("a driver without a lease")
    with DriverLease(tmp_path) as lease, Watched(failing("lseek")), pytest.raises(WriteFailed):
        lease.beat()
    with DriverLease(tmp_path):
        pass


def test_streams_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    with_whole_tail(tmp_path / "run")
    run = RunStore(tmp_path / "run")
    with pytest.raises(Unreadable), Watched(failing("open", "claims")), run.writer():
        raise AssertionError("a writer that cannot read")
    assert len(run.events()) == 9
    for look in (lambda: problems_of(run), lambda: verify(run.path)):
        with pytest.raises(Unreadable), Watched(failing("open", "decisions")):
            look()


def test_what_recovery_keeps_is_written_again_because_a_second_sync_proves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with_whole_tail(path)
    tail = {one: one.read_bytes() for one in path.glob("*.jsonl") if one.name != "blobs.jsonl"}
    written: list[bytes] = []

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if said == "write":
            written.append(bytes(arguments[1]))
        return real(*arguments, **named)

    with Watched(see), RunStore(path).writer() as writer:
        assert len(writer.recovered.kept) == 4
    for content in tail.values():
        assert any(content.endswith(one) and one.endswith(b"}\n") for one in written)
    assert {one: one.read_bytes() for one in tail} == tail


def test_a_run_that_died_while_it_was_made_in_a_directory_is_none_and_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    with pytest.raises(WriteFailed), Watched(failing("rename", "head.tmp")):
        create_run(path, samples.opening(), blobs=samples.OPENED, at=samples.AT)
    assert any(one.read_bytes() for one in path.glob("*.jsonl"))
    with pytest.raises(NotARun, match="never opened"):
        RunStore(path).events()
    run = create_run(path, samples.opening(), blobs=samples.OPENED, at=samples.AT)
    assert len(run.events()) == 1
    assert not (path / "opening.tmp").exists()
    (path / "head").unlink()
    assert verify(path).damaged


def test_directories_above_a_new_run_are_synced(tmp_path: Path) -> None:
    synced: list[str] = []

    def see(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if said == "fsync":
            synced.append(os.readlink(f"/proc/self/fd/{arguments[0]}"))
        return real(*arguments, **named)

    with Watched(see):
        create_run(tmp_path / "a/b/run", samples.opening(), blobs=samples.OPENED, at=samples.AT)
    assert {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a/b")} <= set(synced)
