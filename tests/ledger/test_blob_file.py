"""`blobs.jsonl`: what a commit writes and syncs, what a reader keeps in memory, what redaction leaves."""

from __future__ import annotations

import os
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.verify import verify
from ledger.redaction.removal import redact
from ledger.store.blobs import (
    BLOB_LINE_BYTES_MAX,
    BlobStore,
    NotABlob,
    blob_line,
    hash_of,
    read_blob_line,
    tombstone,
)
from ledger.store.failures import OtherFormat, WriteFailed
from ledger.store.store import RunStore, create_run
from ledger.store.streams import head_bytes
from tests.blob_lines import blobs_of, lose
from tests.ledger import samples

CONTENTS = [
    b"",
    b"a",
    b'a line\n\ttab "quoted" \\',
    "Größe ✓ \u2028 \x7f".encode(),
    bytes(range(32)),
    b"\xff\xfe",
    b"\xc3",
]
SYNCS = ("fsync", "fdatasync")


@pytest.fixture
def run(tmp_path: Path) -> RunStore:
    return create_run(
        tmp_path / "run", samples.opening(), [samples.statement()], blobs=samples.BLOBS, at=samples.AT
    )


@pytest.mark.parametrize("content", CONTENTS)
def test_a_line_reads_back_and_its_tombstone_is_as_long(content: bytes) -> None:
    line = blob_line(content)
    assert read_blob_line(line) == (hash_of(content), content)
    gone = tombstone(line)
    assert len(gone) == len(line)
    assert read_blob_line(gone) == (hash_of(content), None)
    with pytest.raises(NotABlob):
        read_blob_line(gone.replace(b'"gone":"', b'"gone":"x', 1))


def _noted(calls: list[str], name: str, real: Callable[..., Any]) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        calls.append(name)
        return real(*arguments)

    return call


def test_a_reply_costs_three_syncs_and_no_rename(run: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name in (*SYNCS, "rename", "replace"):
        monkeypatch.setattr(os, name, _noted(calls, name, getattr(os, name)))
    replies = [b"first", b"second", b"third"]
    with run.writer() as writer:
        writer.commit(samples.naming(replies), at=samples.AT, blobs={hash_of(one): one for one in replies})
    assert calls == ["fdatasync"] * 3
    calls.clear()
    with run.writer() as writer:
        writer.commit([samples.claim(1)], at=samples.AT)
    assert calls == ["fdatasync"] * 2


def test_a_blob_is_written_once(run: RunStore) -> None:
    before = (run.path / "blobs.jsonl").read_bytes()
    for store in (run, RunStore(run.path)):
        with store.writer() as writer:
            writer.commit([samples.statement()], at=samples.AT, blobs=samples.BLOBS)
    assert (run.path / "blobs.jsonl").read_bytes() == before


def test_a_blob_whose_line_is_too_long_is_refused_before_anything_is_written(run: RunStore) -> None:
    size = BLOB_LINE_BYTES_MAX - len(blob_line(b"")) + 1
    before = run.events()
    with run.writer() as writer:
        large = b"x" * (size + 1)
        with pytest.raises(WriteFailed, match="shorten it"):
            writer.commit(samples.naming([large]), at=samples.AT, blobs={hash_of(large): large})
        assert run.events() == before
        fits = b"x" * size
        writer.commit(samples.naming([fits]), at=samples.AT, blobs={hash_of(fits): fits})
    assert RunStore(run.path).blobs.read(hash_of(fits)) == fits
    assert verify(run.path).problems == []


def test_a_long_file_is_read_in_bounded_memory(run: RunStore) -> None:
    """200 MB of blobs, in 4,000 lines of 50 kB: offsets are kept, contents are not."""
    chance = random.Random(1)
    with (run.path / "blobs.jsonl").open("ab") as file:
        for number in range(4_000):
            content = b"%d " % number + chance.randbytes(2_000).hex().encode() * 12
            file.write(blob_line(content))
            if number in (17, 3_999):
                asked = content
    size = (run.path / "blobs.jsonl").stat().st_size
    assert size > 190_000_000
    (run.path / "head").write_bytes(head_bytes(run.head(), size))
    for look in (
        lambda: BlobStore(run.path).read(hash_of(asked)) == asked,
        lambda: verify(run.path).ok,
        lambda: sum(1 for _ in BlobStore(run.path).items()) == 4_005,
    ):
        tracemalloc.start()
        assert look()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 6_000_000


def test_what_was_redacted_does_not_come_back(run: RunStore) -> None:
    """Not by the same text again, and not from what recovery had set aside."""
    block = hash_of(samples.BLOCK)
    with (run.path / "blobs.jsonl").open("ab") as file:
        file.write(blob_line(b"what a killed writer left: " + samples.BLOCK))
    with run.writer() as writer:
        assert [name.partition(".")[0] for name in writer.recovered.quarantined] == ["blobs"]
    redact(run, [block], "it names a person", at=samples.AT)
    with run.writer() as writer:
        writer.commit(samples.naming([samples.BLOCK]), at=samples.AT, blobs={block: samples.BLOCK})
    for store in (run, RunStore(run.path)):
        assert store.blobs.read(block) is None
    files = [path for path in run.path.rglob("*") if path.is_file()]
    assert not any(samples.BLOCK in path.read_bytes() for path in files)
    assert verify(run.path).ok


def test_offsets_that_were_read_before_a_redaction_stay_right(run: RunStore) -> None:
    reader = RunStore(run.path)
    assert reader.blobs.read(hash_of(samples.PROMPT_SET)) == samples.PROMPT_SET
    redact(run, [hash_of(samples.BLOCK)], "it names a person", at=samples.AT)
    for content in samples.BLOBS.values():
        assert reader.blobs.read(hash_of(content)) == (None if content == samples.BLOCK else content)


def test_a_file_that_was_replaced_is_read_again(run: RunStore) -> None:
    reader = RunStore(run.path)
    names = reader.blobs.names()
    assert all(reader.blobs.read(name) is not None for name in names)
    lose(run.path, next(iter(blobs_of(run.path))))
    assert sum(reader.blobs.read(name) is None for name in names) == 1


def test_a_run_of_moot_0_1_is_refused_and_never_written_over(run: RunStore) -> None:
    (run.path / "head").write_bytes(b'{"seq":1,"hash":"%b"}\n' % run.head().hash.encode())
    for act in (
        lambda: RunStore(run.path).events(),
        lambda: verify(run.path),
        lambda: create_run(run.path, samples.opening(), blobs=samples.OPENED, at=samples.AT),
    ):
        with pytest.raises(OtherFormat, match=r"docs/upgrade\.md"):
            act()
