"""Recovery: what a dead writer left is settled by the next one; what was acknowledged is never lost.

Of `ledger/store/commit.py`, `ledger/store/reading.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.audit.verify import verify
from ledger.events import STREAMS, stream_of
from ledger.format.canonical import Sealed, seal
from ledger.store.commit import append
from ledger.store.failures import OtherFormat
from ledger.store.reading import LogPosition, follow
from ledger.store.store import RunStore, create_run
from ledger.store.streams import head_bytes
from tests.ledger import samples


@pytest.fixture
def run(tmp_path: Path) -> RunStore:
    return create_run(
        tmp_path / "run", samples.opening(), samples.mixed(5), blobs=samples.OPENED, at=samples.AT
    )


def next_commit(run: RunStore) -> Sealed:
    head = run.head()
    return seal(samples.mixed(4, first=50), prev=head.hash, seq=head.seq + 1, at=samples.AT)


def written_by_a_dead_writer(run: RunStore, sealed: Sealed) -> list[tuple[Path, bytes]]:
    """The appends of a commit in their order: file and bytes."""
    batches: dict[str, bytes] = {}
    for event, line in zip(sealed.events, sealed.lines, strict=True):
        batches[stream_of(event)] = batches.get(stream_of(event), b"") + line + b"\n"
    return [(run.path / f"{name}.jsonl", batches[name]) for name in STREAMS if name in batches]


def test_a_commit_cut_at_every_byte_is_kept_whole_or_set_aside_whole(run: RunStore) -> None:
    sealed = next_commit(run)
    appends = written_by_a_dead_writer(run, sealed)
    total = sum(len(content) for _, content in appends)
    before = {path: path.read_bytes() for path, _ in appends}
    head = (run.path / "head").read_bytes()
    acknowledged = run.events()
    for size in range(0, total + 1, 1 if total < 400 else 37):
        left = size
        for path, content in appends:
            path.write_bytes(before[path] + content[:left])
            left = max(0, left - len(content))
        (run.path / "head").write_bytes(head)
        settle_and_check(run.path, acknowledged, sealed, whole=size == total)


def settle_and_check(path: Path, acknowledged: tuple, sealed: Sealed, *, whole: bool) -> None:
    assert RunStore(path).events() == acknowledged
    again = RunStore(path)
    with again.writer() as writer:
        assert writer.recovered.kept == (sealed.events if whole else ())
        assert len(writer.book().events) == len(acknowledged) + len(writer.recovered.kept)
        (added,) = writer.commit([samples.claim(900)], at=samples.AT)
    assert RunStore(path).events() == (*acknowledged, *(sealed.events if whole else ()), added)
    report = verify(path)
    assert (report.ok, report.problems) == (True, [])


def test_a_commit_cut_in_its_last_bytes(run: RunStore) -> None:
    sealed = next_commit(run)
    appends = written_by_a_dead_writer(run, sealed)
    for path, content in appends[:-1]:
        path.write_bytes(path.read_bytes() + content)
    path, content = appends[-1]
    path.write_bytes(path.read_bytes() + content[:-1])  # all but the last line feed
    settle_and_check(run.path, run.events(), sealed, whole=False)


def test_what_is_set_aside_is_named_by_stream_offset_and_hash_and_keeps_its_bytes(run: RunStore) -> None:
    path = run.path / "verifications.jsonl"
    offset = path.stat().st_size
    with path.open("ab") as file:
        file.write(b"\x00" * 100)
    with run.writer() as writer:
        assert not writer.recovered.kept
        (name,) = writer.recovered.quarantined
    stream, place, sha8 = name.split(".")
    assert (stream, int(place), len(sha8)) == ("verifications", offset, 8)
    assert (run.path / "quarantine" / name).read_bytes() == b"\x00" * 100
    assert path.stat().st_size == offset
    with run.writer() as writer:
        assert not writer.recovered


def test_a_whole_commit_followed_by_a_torn_one(run: RunStore) -> None:
    first = next_commit(run)
    for path, content in written_by_a_dead_writer(run, first):
        path.write_bytes(path.read_bytes() + content)
    with (run.path / "claims.jsonl").open("ab") as file:
        file.write(b'{"prev":"torn')
    with run.writer() as writer:
        assert writer.recovered.kept == first.events
        assert len(writer.recovered.quarantined) == 1
    assert (run.path / "head").read_bytes() == head_bytes(
        first.head, (run.path / "blobs.jsonl").stat().st_size
    )
    assert verify(run.path).ok


def test_an_unlawful_event_beyond_the_head_is_never_kept(run: RunStore) -> None:
    sealed = next_commit(run)
    bad = [line.replace(b'"round":1', b'"round":-1') for line in sealed.lines[:1]]
    with (run.path / "claims.jsonl").open("ab") as file:
        file.write(bad[0] + b"\n")
    with run.writer() as writer:
        assert not writer.recovered.kept
        assert writer.recovered.quarantined


def test_the_tail_of_a_newer_moot_is_left_alone(run: RunStore) -> None:
    sealed = seal([samples.claim(9)], prev=run.head().hash, seq=run.head().seq + 1, at=samples.AT)
    path = run.path / "claims.jsonl"
    with path.open("ab") as file:
        file.write(sealed.lines[0].replace(b'"v":3', b'"v":4') + b"\n")
    before = path.read_bytes()
    with pytest.raises(OtherFormat), run.writer():
        raise AssertionError("an older moot writes behind a newer one")
    assert path.read_bytes() == before


def test_readers_repair_nothing(run: RunStore) -> None:
    sealed = next_commit(run)
    position = LogPosition(blobs=(run.path / "blobs.jsonl").stat().st_size)
    list(run.lines())
    with run.writer() as writer:
        writer.book()
    list(follow(run.path, position, run.head()))
    head = (run.path / "head").read_bytes()
    append(run.path, sealed, b"", position)
    (run.path / "head").write_bytes(head)
    before = {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()}
    fresh = RunStore(run.path)
    assert len(fresh.events()) == len(list(fresh.stream())) == len(list(fresh.lines())) == 6
    assert fresh.raw_book().state.seq == 5
    assert verify(run.path).ok
    assert {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()} == before
