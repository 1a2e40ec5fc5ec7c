"""Power failures at every call of commit, recovery and creation: what was acknowledged is there, in every state."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from ledger.audit.verify import verify
from ledger.events import Event
from ledger.store.blobs import hash_of
from ledger.store.failures import NotARun, WriteFailed
from ledger.store.store import RunStore, create_run
from tests.campaign.acts import create, new_run, unexpected, with_older_files, with_torn_tail, with_whole_tail
from tests.campaign.calls import Real, Watched
from tests.campaign.slices import Counts, expect, folder
from tests.campaign.volatile import Files, Recorder, states
from tests.ledger import samples

CUTS: Final = 12
"""Bytes at which a write is torn, beside every sector."""
TRACES: Final = 6
"""A slice."""
WRITES: Final = ("open", "write", "fsync", "fdatasync", "ftruncate", "mkdir", "rename", "replace", "unlink")

Say = Callable[[str], None]
Prepare = Callable[[Path], Any]
Work = Callable[[Path, random.Random, Say], None]


def failures(index: int, slices: int) -> Counts:
    """Traces of several kinds, cut at every call that writes, in every state that is then possible."""
    rng, counts = random.Random(f"{index} of {slices}"), Counts()
    for _ in range(TRACES):
        prepare, work, fails = _kind(rng)
        with folder() as place:
            counts += _trace(place, prepare, work, fails, rng)
        counts["traces"] += 1
    return counts


def _kind(rng: random.Random) -> tuple[Prepare, Work, bool]:
    """How a trace begins, what is done, and whether one sync of a file fails in it."""
    if rng.random() < 0.3:
        made = rng.choice((lambda _: None, lambda path: path.parent.mkdir(), with_older_files))
        return made, lambda path, _, say: create(path, say), False
    return rng.choice((new_run, with_whole_tail, with_torn_tail)), _commits, rng.random() < 0.4


def _commits(path: Path, rng: random.Random, say: Say) -> None:
    """Three commits by two writers; one that fails is followed by the next, which recovers."""
    for _ in range(2):
        run = RunStore(path)
        try:
            with run.writer() as writer:
                for _ in range(rng.randint(1, 2)):
                    number = len(writer.book().events) + 10 * rng.randint(1, 9)
                    replies = [rng.randbytes(rng.randint(1, 900)) for _ in range(rng.randint(0, 2))]
                    blobs = {hash_of(one): one for one in replies}
                    drafts = [*samples.mixed(rng.randint(1, 4), number), *samples.naming(replies)]
                    events = writer.commit(drafts, at=samples.AT, blobs=blobs)
                    say(f"{events[-1].seq} {events[-1].id}")
        except WriteFailed:
            continue


def _trace(place: Path, prepare: Prepare, work: Work, fails: bool, rng: random.Random) -> Counts:
    base = place / "disk"
    base.mkdir()
    path = base / "runs" / "run"
    if prepare in (new_run, with_whole_tail, with_torn_tail, with_older_files):
        path.parent.mkdir()
    prepare(path)
    before = RunStore(path).events() if (path / "head").exists() else ()
    recorder = Recorder(base)
    recorder.fail_sync_at = rng.randrange(12) if fails else -1
    acknowledged: list[str] = []
    seen: set[bytes] = set()
    counts = Counts()
    busy = False

    def see(name: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        nonlocal busy
        if busy:
            return real(*arguments, **named)
        busy = True
        try:
            result = recorder.see(name, real, arguments, named)
        finally:
            if name in WRITES:
                counts["instants"] += 1
                counts["states"] += _tried(place, recorder, before, acknowledged, seen, rng)
            busy = False
        return result

    with Watched(see):
        work(path, rng, acknowledged.append)
    counts["states"] += _tried(place, recorder, before, acknowledged, seen, rng)
    expect(bool(acknowledged), "a trace acknowledges something")
    return counts


def _tried(
    place: Path,
    recorder: Recorder,
    before: tuple[Event, ...],
    acknowledged: list[str],
    seen: set[bytes],
    rng: random.Random,
) -> int:
    """The states of this instant that no earlier one had, each looked at; how many there were."""
    count = 0
    for files in states(recorder.root, rng, CUTS):
        digest = sha256(repr((len(acknowledged), sorted(files.items()))).encode()).digest()
        if digest not in seen:
            seen.add(digest)
            count += 1
            _holds(place / "after", files, before, acknowledged)
    return count


def _holds(place: Path, files: Files, before: tuple[Event, ...], acknowledged: list[str]) -> None:
    """After the failure: nothing acknowledged is lost, no damage, and the run goes on, or there is none."""
    for name, content in files.items():
        target = Path(f"{place}{name}")
        if content is None:
            target.mkdir()
        else:
            target.write_bytes(content)
    path = place / "runs" / "run"
    try:
        now = RunStore(path).events()
    except NotARun:
        expect(not before and not acknowledged, f"the run is gone: {sorted(files)}")
        path.parent.mkdir(exist_ok=True)
        create_run(path, samples.opening(), blobs=samples.OPENED, at=samples.AT)
        now = RunStore(path).events()
    report = verify(path)
    expect(report.ok, f"{report.problems}")
    expect(now[: len(before)] == before, "what stood before is lost")
    for line in acknowledged:
        seq, name = line.split()
        expect(int(seq) < len(now) and now[int(seq)].id == name, f"event {line} was acknowledged and is lost")
    with RunStore(path).writer() as writer:
        writer.commit([samples.claim(903)], at=samples.AT)
    report = verify(path)
    expect(report.ok and not unexpected(report), f"does not go on: {report.problems}")
    shutil.rmtree(place)
