"""A file system that is really full: the commit is refused in words, and goes through when there is room again."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ledger.audit.verify import verify
from ledger.events import Event
from ledger.store.blobs import hash_of
from ledger.store.failures import WriteFailed
from ledger.store.store import RunStore
from tests.campaign.acts import new_run
from tests.ledger import samples


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KiB."""
    place = tmp_path / "small"
    place.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mounted, capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip("only root mounts a small file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def fill(run: RunStore) -> list[Event]:
    """Commit until there is no room; what was acknowledged."""
    acknowledged = list(run.events())
    with suppress(WriteFailed):
        while True:
            blob = os.urandom(3_000)
            drafts = [*samples.naming([blob]), *samples.mixed(5, 100 + len(acknowledged))]
            with run.writer() as writer:
                acknowledged += writer.commit(drafts, at=samples.AT, blobs={hash_of(blob): blob})
    return acknowledged


def test_a_commit_that_finds_no_room_is_refused_and_done_later(small: Path) -> None:
    run = new_run(small / "run")
    acknowledged = fill(run)
    assert len(acknowledged) > 50
    with pytest.raises(WriteFailed, match="No space left") as caught, run.writer() as writer:
        writer.commit([samples.claim(900, text="x" * 7_000)] * 40, at=samples.AT)
    assert caught.value.exit_code == 3
    assert list(RunStore(run.path).events()) == acknowledged
    assert verify(run.path).ok
    subprocess.run(["mount", "-o", "remount,size=2m", str(small)], check=True)
    with RunStore(run.path).writer() as writer:
        kept = list(writer.recovered.kept)
        (last,) = writer.commit([samples.claim(901)], at=samples.AT)
    assert list(RunStore(run.path).events()) == [*acknowledged, *kept, last]
    report = verify(run.path)
    assert (report.ok, report.problems) == (True, [])
