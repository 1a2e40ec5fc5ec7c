"""SIGKILL at random instants of commit, recovery, creation: what was acknowledged stays, the rest is whole or gone."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from ledger.audit.verify import verify
from ledger.events import STREAMS, stream_of
from ledger.format.canonical import seal
from ledger.store.blobs import hash_of
from ledger.store.failures import NotARun
from ledger.store.store import RunStore, create_run
from tests.campaign.forks import start
from tests.campaign.slices import Counts, expect, folder
from tests.ledger import samples

KILLS: Final = 250
"""A slice."""
KILLS_OF_A_RUN: Final = 20
ON_DISK_EVERY: Final = 10
"""One slice in so many works on the machine's disk, where a sync takes its time."""
SECONDS_MAX: Final = 0.006
"""How long a child may live, in memory; on a disk ten times as long."""

Say = Callable[[str], None]


def commits(index: int, slices: int) -> Counts:
    """Kill writers that commit, and that recover what the writer killed before them has left."""
    chance, counts = random.Random(index), Counts()
    on_disk = index % ON_DISK_EVERY == ON_DISK_EVERY - 1
    with folder(on_disk) as place:
        for number in range(-(-KILLS // KILLS_OF_A_RUN)):
            counts += _one_run(
                place / str(number), chance, min(KILLS_OF_A_RUN, KILLS - counts["kills"]), on_disk
            )
    expect(counts["kills"] == KILLS, f"{counts['kills']} kills in a slice of {slices} slices")
    return counts


def _one_run(path: Path, chance: random.Random, kills: int, on_disk: bool) -> Counts:
    run = create_run(path, samples.opening(), [samples.statement()], blobs=samples.BLOBS, at=samples.AT)
    acknowledged: dict[int, str] = {}
    counts = Counts()
    before = run.events()
    for _ in range(kills):
        if chance.random() < 0.4 and not verify(path).problems:  # nobody appends behind what was left before
            _plant(run, chance)
        child = start(partial(_commit_for_ever, path, chance.random()))
        time.sleep(chance.uniform(0, SECONDS_MAX * (10 if on_disk else 1)))
        said = child.kill().split(b"\n")[:-1]
        acknowledged |= {int(seq): name.decode() for seq, name in (line.split() for line in said)}
        counts += _left(path)
        now = RunStore(path).events()
        expect(now[: len(before)] == before, "what was read before is read again")
        _are_there(now, acknowledged)
        before = now
        counts["acknowledged commits looked for"] += len(said)
    _goes_on(path, before, acknowledged)
    return counts


def _commit_for_ever(path: Path, seed: float, say: Say) -> None:
    chance, run = random.Random(seed), RunStore(path)
    while True:
        with run.writer() as writer:
            number = len(writer.book().events)
            blob = f"reply {number} {seed}".encode() * 50
            drafts = [*samples.mixed(chance.randint(1, 6), number), *samples.naming([blob])]
            events = writer.commit(drafts, at=samples.AT, blobs={hash_of(blob): blob})
        say(f"{events[-1].seq} {events[-1].id}")


def _plant(run: RunStore, chance: random.Random) -> None:
    """A tail as a writer leaves it that died while appending, so that the next one has to recover."""
    head = run.head()
    sealed = seal(samples.mixed(3, first=7_000), prev=head.hash, seq=head.seq + 1, at=samples.AT)
    left = chance.randint(1, sum(len(line) + 1 for line in sealed.lines) - 1)
    offsets = {name: (run.path / f"{name}.jsonl").stat().st_size for name in STREAMS}
    for name in STREAMS:
        lines = [
            line for event, line in zip(sealed.events, sealed.lines, strict=True) if stream_of(event) == name
        ]
        content = b"".join(line + b"\n" for line in lines)
        with (run.path / f"{name}.jsonl").open("r+b") as file:
            file.seek(offsets[name])
            file.write(content[:left])
        left = max(0, left - len(content))


def _left(path: Path) -> Counts:
    """What a kill left, as readers see it, who repair nothing; the ledger is intact for all of them."""
    files = {one: one.read_bytes() for one in path.rglob("*") if one.is_file()}
    report = verify(path)
    expect(report.ok, f"damaged by a kill: {report.problems}")
    expect(
        {one: one.read_bytes() for one in path.rglob("*") if one.is_file()} == files, "readers repair nothing"
    )
    inside = any("beyond head" in problem.what for problem in report.problems)
    temporary = any(one.name.endswith(".tmp") for one in files)
    return Counts(
        {
            "kills": 1,
            "kills that left bytes beyond the head": inside,
            "kills that left a temporary file": temporary,
        }
    )


def _are_there(events: tuple, acknowledged: dict[int, str]) -> None:
    for seq, name in acknowledged.items():
        expect(seq < len(events) and events[seq].id == name, f"acknowledged event {seq} {name} is lost")


def _goes_on(path: Path, before: tuple, acknowledged: dict[int, str]) -> None:
    """The next writer settles everything, and the run goes on."""
    with RunStore(path).writer() as writer:
        now = writer.book().events
        expect(now[: len(before)] == before and now[-1].rest == 0, "recovery keeps whole commits")
        writer.commit([samples.claim(9_999)], at=samples.AT)
    report = verify(path)
    expect(report.ok and not report.problems, f"after recovery: {report.problems}")
    _are_there(RunStore(path).events(), acknowledged)


def creations(index: int, slices: int) -> Counts:
    """Kill processes that create a run: it is there whole, or it is no run and its place can be used."""
    chance, counts = random.Random(f"{index} of {slices}"), Counts()
    on_disk = index % ON_DISK_EVERY == ON_DISK_EVERY - 1
    with folder(on_disk) as place:
        for number in range(KILLS):
            path = place / str(number)
            if chance.random() < 0.3:
                path.mkdir()  # creation in a directory that is there takes another way
            child = start(partial(_create, path))
            time.sleep(chance.uniform(0, SECONDS_MAX * (10 if on_disk else 0.5)))
            said = child.kill()
            counts["kills"] += 1
            try:
                RunStore(path).head()
            except NotARun:
                expect(not said, "an acknowledged run is not there")
                counts["kills before the run was there"] += 1
                _create(path, lambda _: None)
            report = verify(path)
            expect(report.ok and report.events >= 2, f"created: {report.problems}")
            with RunStore(path).writer() as writer:
                writer.commit([samples.claim(1)], at=samples.AT)
            expect(verify(path).ok, "a run goes on after its creation was killed")
    return counts


def _create(path: Path, say: Say) -> None:
    create_run(path, samples.opening(), [samples.statement()], blobs=samples.BLOBS, at=samples.AT)
    say("created")
