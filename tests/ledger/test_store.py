"""A run on disk: created once, appended to under a lock, read up to its head.

Of `ledger/store/failures.py`.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from ledger.format.canonical import BEGINNING, NotCanonical, line_hash
from ledger.store.blobs import hash_of
from ledger.store.commit import AlreadyARun
from ledger.store.failures import Damaged, LockTimeout, NotARun, OtherFormat, Unreadable, WriteFailed
from ledger.store.store import RunStore, create_run
from tests.blob_lines import change, write_lines
from tests.campaign.calls import Real, Watched
from tests.ledger import samples


def new_run(path: Path, extra=()) -> RunStore:
    return create_run(path, samples.opening(), extra, blobs=samples.BLOBS, at=samples.AT)


@pytest.fixture
def run(tmp_path: Path) -> RunStore:
    return new_run(tmp_path / "run", [samples.statement()])


def files(path: Path) -> dict[str, bytes]:
    ignored = {"lock"}
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and file.name not in ignored
    }


def test_what_was_committed_is_read_back_in_order(run: RunStore) -> None:
    drafts = samples.mixed(7)
    with run.writer() as writer:
        written = writer.commit(drafts, at=samples.AT)
    for read in (run.events(), RunStore(run.path).events(), tuple(RunStore(run.path).stream())):
        assert read[2:] == written
        assert [event.seq for event in read] == list(range(9))
    assert [event.rest for event in written] == [6, 5, 4, 3, 2, 1, 0]
    assert {event.at for event in written} == {samples.AT}


def test_every_line_names_the_hash_of_the_line_before_and_head_that_of_the_last(run: RunStore) -> None:
    with run.writer() as writer:
        writer.commit(samples.mixed(5), at=samples.AT)
    previous = BEGINNING.hash
    lines = list(run.lines())
    for seq, (stream, number, line) in enumerate(lines):
        assert line.startswith(f'{{"prev":"{previous}","seq":{seq},'.encode())
        assert (run.path / f"{stream}.jsonl").read_bytes().split(b"\n")[number - 1] == line
        previous = line_hash(line)
    assert run.head().seq == len(lines) - 1
    assert run.head().hash == previous


def test_a_draft_keeps_the_instant_it_has(run: RunStore) -> None:
    import msgspec

    earlier = "2025-12-31T23:59:59.999999Z"
    draft = msgspec.structs.replace(samples.claim(1), at=earlier)
    with run.writer() as writer:
        (event,) = writer.commit([draft], at=samples.AT)
    assert event.at == earlier


def test_no_drafts_write_nothing(run: RunStore) -> None:
    before = files(run.path)
    with run.writer() as writer:
        assert writer.commit([], at=samples.AT, blobs={}) == ()
    assert files(run.path) == before


def test_an_unlawful_draft_writes_nothing(run: RunStore) -> None:
    import msgspec

    before = files(run.path)
    bad = [
        msgspec.structs.replace(samples.claim(1), id="C-1-0"),
        msgspec.structs.replace(samples.claim(1), text=""),
        msgspec.structs.replace(samples.claim(1), text="bell \x07"),
        msgspec.structs.replace(samples.claim(1), text="lone \ud800"),
        msgspec.structs.replace(samples.claim(1), via=3, call=samples.statement().call),
    ]
    for draft in bad:
        with run.writer() as writer, pytest.raises(NotCanonical):
            writer.commit([samples.claim(5), draft], at=samples.AT)
    assert files(run.path) == before
    with run.writer() as writer:
        assert not writer.recovered
        assert writer.commit([samples.claim(1)], at=samples.AT)


def test_a_writer_sees_its_own_commits_and_those_of_others(run: RunStore) -> None:
    other = RunStore(run.path)
    with run.writer() as writer:
        before = writer.book()
        writer.commit([samples.claim(1)], at=samples.AT)
        assert "C-1-1" not in before.by_id
        assert "C-1-1" in writer.book().by_id
        writer.commit([samples.claim(2)], at=samples.AT)
        assert set(writer.book().state.claims) == {"C-1-1", "C-1-2"}
    with other.writer() as writer:
        assert len(writer.book().events) == 4
        writer.commit([samples.claim(3)], at=samples.AT)
    assert run.raw_book().events == RunStore(run.path).raw_book().events
    assert run.raw_book() is run.raw_book()


def test_commits_of_two_processes_are_one_chain(run: RunStore) -> None:
    script = (
        "import sys; from ledger.store.store import RunStore; from tests.ledger import samples\n"
        "run = RunStore(sys.argv[1])\n"
        "for n in range(20):\n"
        "    with run.writer() as w: w.commit([samples.claim(int(sys.argv[2]) + n)], at=samples.AT)\n"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", script, str(run.path), str(base)]) for base in (100, 200)
    ]
    assert [child.wait(60) for child in children] == [0, 0]
    assert {event.id for event in run.events()[2:]} == {f"C-1-{b + n}" for b in (100, 200) for n in range(20)}


def test_a_second_writer_waits_and_gives_up(run: RunStore) -> None:
    with run.writer(), pytest.raises(LockTimeout) as caught, RunStore(run.path).writer(wait_seconds=0.05):
        raise AssertionError("two writers at once")
    assert caught.value.exit_code == 3
    assert "lock" in caught.value.where


def test_a_waiting_writer_gets_the_lock_when_it_is_free(run: RunStore) -> None:
    entered = threading.Event()

    def hold() -> None:
        with run.writer():
            entered.set()
            threading.Event().wait(0.1)

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(5)
    with RunStore(run.path).writer() as writer:
        writer.commit([samples.claim(1)], at=samples.AT)
    thread.join()


def test_a_lock_file_that_was_removed_locks_the_next_one(run: RunStore) -> None:
    with run.writer():
        (run.path / "lock").unlink()
    with run.writer(), pytest.raises(LockTimeout), RunStore(run.path).writer(wait_seconds=0.02):
        raise AssertionError("two writers at once")


def test_creating_needs_a_place_without_a_run(run: RunStore, tmp_path: Path) -> None:
    before = files(run.path)
    with pytest.raises(AlreadyARun) as caught:
        new_run(run.path)
    assert caught.value.exit_code == 2
    assert files(run.path) == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_the_marker_of_a_killed_creation_goes_with_the_next_commit(run: RunStore) -> None:
    """It would make a head that is lost later look like a run that was never opened."""
    (run.path / "opening.tmp").write_bytes(b"")
    with run.writer() as writer:
        writer.commit([samples.claim(1)], at=samples.AT)
    (run.path / "head").unlink()
    with pytest.raises(Damaged):
        RunStore(run.path).head()


def test_a_disk_that_fails_after_the_rename_is_no_other_run(tmp_path: Path) -> None:
    """The directory above cannot be synced once the new run is in it."""

    def fail(said: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        if said == "fsync" and (tmp_path / "run").exists():
            raise OSError(errno.EIO, "Input/output error")
        return real(*arguments, **named)

    with pytest.raises(WriteFailed), Watched(fail):
        new_run(tmp_path / "run")


def test_a_directory_without_a_commit_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "claims.jsonl").write_bytes(b'{"prev":"')
    (path / "notes.txt").write_bytes(b"mine")
    with pytest.raises(NotARun, match="never opened"):
        RunStore(path).events()
    run = new_run(path)
    assert len(run.events()) == 1
    assert (path / "notes.txt").read_bytes() == b"mine"
    assert [file.read_bytes() for file in (path / "quarantine").iterdir()] == [b'{"prev":"']


def test_files_are_written_beside_the_ledger(tmp_path: Path) -> None:
    create_run(
        tmp_path / "deep" / "run",
        samples.opening(),
        blobs=samples.BLOBS,
        at=samples.AT,
        files={"deliberation.toml": b"[deliberation]\n"},
    )
    assert (tmp_path / "deep/run/deliberation.toml").read_bytes() == b"[deliberation]\n"
    names = {entry.name for entry in (tmp_path / "deep/run").iterdir()}
    assert names == {
        "blobs.jsonl",
        "claims.jsonl",
        "verifications.jsonl",
        "decisions.jsonl",
        "deliberation.toml",
        "head",
    }


def test_what_is_no_run_says_so_with_the_mend(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    file = tmp_path / "file"
    file.write_text("x")
    for path in (tmp_path / "missing", empty, file):
        with pytest.raises(NotARun) as caught:
            RunStore(path).head()
        assert caught.value.exit_code == 2
        assert caught.value.where == str(path)
        assert caught.value.fix
        with pytest.raises(NotARun), RunStore(path).writer():
            raise AssertionError("a writer of nothing")
    assert list(empty.iterdir()) == []


def test_a_missing_head_beside_commits_is_damage(run: RunStore) -> None:
    (run.path / "head").unlink()
    with pytest.raises(Damaged) as caught:
        run.events()
    assert caught.value.exit_code == 3
    assert "head" in caught.value.what
    with pytest.raises(Damaged):
        new_run(run.path)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"seq":1}', b'{"seq":-1,"hash":"%b"}\n' % (b"0" * 64)])
def test_an_unreadable_head_is_damage(run: RunStore, content: bytes) -> None:
    (run.path / "head").write_bytes(content)
    with pytest.raises(Damaged):
        run.head()


def test_a_newer_format_is_refused_not_called_damage(run: RunStore) -> None:
    stream = run.path / "claims.jsonl"
    stream.write_bytes(stream.read_bytes().replace(b'"v":3', b'"v":4'))
    from ledger.format.canonical import Head
    from ledger.store.streams import head_bytes

    last = stream.read_bytes().rstrip(b"\n")
    (run.path / "head").write_bytes(
        head_bytes(Head(1, line_hash(last)), (run.path / "blobs.jsonl").stat().st_size)
    )
    with pytest.raises(OtherFormat) as caught:
        RunStore(run.path).events()
    assert caught.value.exit_code == 2
    assert "4" in caught.value.fix


def test_a_reader_ignores_what_is_beyond_the_head(run: RunStore) -> None:
    before = run.events()
    with (run.path / "claims.jsonl").open("ab") as file:
        file.write(b'{"prev":"torn')
    assert RunStore(run.path).events() == before
    assert tuple(run.stream()) == before


def test_an_event_makes_no_call_that_it_does_not_need(run: RunStore) -> None:
    """After a sync nothing is in the cache of the processor, and each call costs. The syncs are all there, in order."""
    with run.writer() as writer:
        writer.commit([samples.claim(1)], at=samples.AT)
    calls: list[str] = []

    def see(name: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        calls.append(f"{name} {Path(arguments[0]).name}" if isinstance(arguments[0], str | Path) else name)
        return real(*arguments, **named)

    with Watched(see), run.writer() as writer:
        writer.commit([samples.claim(2)], at=samples.AT)
    appended = ("claims.jsonl", "verifications.jsonl", "decisions.jsonl", "blobs.jsonl")
    assert calls == [
        *("open lock", "fcntl", "fcntl", "fcntl", "stat lock", "fstat"),
        *("open head", "fstat", "pread", "pread", "close"),
        *(f"stat {name}" for name in appended),
        "listdir quarantine",
        *("open claims.jsonl", "fstat", "write", "fdatasync", "close"),
        *("open head", "lseek", "write", "fdatasync", "close", "close"),
    ]


def test_a_full_disk_is_one_error_and_loses_nothing(run: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    before = run.events()
    real = os.write

    def write(descriptor: int, content: bytes) -> int:
        if len(content) > 100:
            return real(descriptor, bytes(content)[:50])
        raise OSError(28, "No space left on device")

    with run.writer() as writer:
        monkeypatch.setattr(os, "write", write)
        with pytest.raises(WriteFailed, match="No space left") as caught:
            writer.commit([samples.claim(1)], at=samples.AT)
        with pytest.raises(AssertionError):
            writer.commit([samples.claim(2)], at=samples.AT)
    assert caught.value.exit_code == 3
    monkeypatch.undo()
    assert RunStore(run.path).events() == before
    with run.writer() as writer:
        assert len(writer.recovered.quarantined) == 1
        writer.commit([samples.claim(1)], at=samples.AT)
    assert len(RunStore(run.path).events()) == len(before) + 1


def test_a_blob_is_checked_after_reading(run: RunStore) -> None:
    name = hash_of(samples.REPLY)
    assert run.blobs.read(name) == samples.REPLY
    assert run.blobs.read("0" * 64) is None
    assert run.blobs.read("../head") is None
    change(run.path, name, lambda _: b"changed")
    with pytest.raises(Damaged):
        run.blobs.read(name)
    change_back = (line for _, line in new_run(run.path.parent / "again").blobs.lines())
    write_lines(run.path, change_back)
    assert run.blobs.read(name) == samples.REPLY


@pytest.mark.parametrize("name", ["head", "claims.jsonl"])
def test_what_cannot_be_read_is_said(run: RunStore, name: str) -> None:
    (run.path / name).unlink()
    (run.path / name).mkdir()
    with pytest.raises(Unreadable, match="directory") as caught:
        RunStore(run.path).events()
    assert caught.value.exit_code == 2
    assert name in caught.value.where


def test_a_blob_that_cannot_be_read_is_said(run: RunStore) -> None:
    name = "a" * 64
    (run.path / "blobs.jsonl").unlink()
    (run.path / "blobs.jsonl").mkdir()
    with pytest.raises(Unreadable):
        run.blobs.read(name)


def test_what_was_read_is_read_again_when_the_run_was_replaced(run: RunStore, tmp_path: Path) -> None:
    assert len(run.events()) == 2
    other = new_run(tmp_path / "other")
    with other.writer() as writer:
        writer.commit(samples.mixed(6), at=samples.AT)
    run.path.rename(tmp_path / "gone")
    other.path.rename(run.path)
    assert run.events() == RunStore(run.path).events()
    assert len(run.events()) == 7
