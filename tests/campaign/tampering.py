"""Tampering: flips, lines moved about, blobs, rollbacks and rewritings of a whole ledger. `verify` must see each."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from ledger.audit.verify import verify
from ledger.events import STREAMS, Event, stream_of
from ledger.format.canonical import Head, decode, encode, line_hash
from ledger.store.blobs import blob_line, tombstone
from ledger.store.failures import Damaged
from ledger.store.store import RunStore
from ledger.store.streams import BLOBS, head_bytes
from tests.campaign.slices import Counts, expect, folder
from tests.ledger import tampering
from tests.rounds.openings import begin, play, rows

NAMES: Final = tuple(f"{stream}.jsonl" for stream in STREAMS)
FLIPS_PER_BYTE: Final = 3
FLIPS_PER_KIB: Final = 3
LINE_PARTS: Final = 8
"""Slices among which the changes of lines are dealt out."""
CUT_STEP_BYTES: Final = 7


def seen(path: Path, what: str) -> None:
    """`verify` calls the run damaged and says where."""
    report = verify(path)
    expect(report.damaged and report.exit_code == 3 and report.problems, f"not detected: {what}")


def refused(path: Path, what: str) -> None:
    """Every verb refuses to read the run, which is what `verify` sees first too; if not, `verify` sees more."""
    try:
        RunStore(path).events()
    except Damaged:
        return
    seen(path, what)


Look = Callable[[Path, str], None]


def tried(
    path: Path, changes: Iterable[tuple[str, dict[str, bytes]]], looks: Sequence[Look] = (seen,)
) -> int:
    """Each change (file → bytes) made, looked at, and undone; how many there were. `looks` take turns."""
    count = 0
    for what, files in changes:
        before = {name: (path / name).read_bytes() for name in files}
        for name, content in files.items():
            (path / name).write_bytes(content)
        looks[count % len(looks)](path, what)
        for name, content in before.items():
            (path / name).write_bytes(content)
        count += 1
    expect(verify(path).ok, "the ledger is intact when every change is undone")
    return count


def flips(index: int, slices: int) -> Counts:
    """Every `slices`-th byte of streams and head, three random bits each, one at a time."""
    rng = random.Random(index)
    with folder() as place:
        run = tampering.build(place / "run")
        count = sum(
            tried(
                run.path,
                _flipped(rng, run.path / name, range(index, _size(run.path / name), slices)),
                (seen, refused, refused),
            )
            for name in (*NAMES, "head")
        )
    return Counts({"bits flipped, each detected": count})


def _size(path: Path) -> int:
    return path.stat().st_size


def _flipped(rng: random.Random, path: Path, places: Iterable[int]) -> Iterator[tuple[str, dict[str, bytes]]]:
    content = path.read_bytes()
    for place in places:
        for bit in rng.sample(range(8), FLIPS_PER_BYTE):
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            yield f"bit {bit} of byte {place} of {path.name}", {path.name: bytes(changed)}


def lines(index: int, slices: int) -> Counts:
    """Every line deleted, duplicated, swapped, spliced, moved to another stream, or taken from another run; cuts."""
    with folder() as place:
        run, other = tampering.build(place / "run"), tampering.build(place / "other", seed=2)
        contents = {name: (run.path / name).read_bytes() for name in NAMES}
        theirs = {name: (other.path / name).read_bytes() for name in NAMES}
        changed = tried(run.path, islice(_line_changes(contents, theirs), index, None, slices))
        cut = tried(run.path, islice(_cuts(contents), index, None, slices))
    return Counts({"lines changed, each detected": changed, "streams cut short, each detected": cut})


def _line_changes(
    contents: dict[str, bytes], theirs: dict[str, bytes]
) -> Iterator[tuple[str, dict[str, bytes]]]:
    for name, content in contents.items():
        for what, changed in tampering.line_changes(content):
            yield f"{name}: {what}", {name: changed}
        for what, changed in _from_another(content, theirs[name]):
            yield f"{name}: {what}", {name: changed}
    for what, files in tampering.moved_lines(contents):
        yield what, files


def _from_another(content: bytes, other: bytes) -> Iterator[tuple[str, bytes]]:
    """A line replaced by, inserted from, or everything from a line on taken from another run of the same shape."""
    ours, theirs = content.splitlines(keepends=True), other.splitlines(keepends=True)
    for n, line in enumerate(ours[: len(theirs)]):
        if line == theirs[n]:
            continue  # the same line in both runs: to put it there changes nothing
        yield f"line {n} replaced from another run", b"".join([*ours[:n], theirs[n], *ours[n + 1 :]])
        yield f"line {n} inserted from another run", b"".join([*ours[:n], theirs[n], *ours[n:]])
        yield f"another run from line {n} on", b"".join([*ours[:n], *theirs[n:]])


def _cuts(contents: dict[str, bytes]) -> Iterator[tuple[str, dict[str, bytes]]]:
    for name, content in contents.items():
        ends = {at + 1 for at, byte in enumerate(content) if byte == 10} - {len(content)}
        for size in sorted({*range(0, len(content), CUT_STEP_BYTES), *ends}):
            yield f"{name} cut to {size} bytes", {name: content[:size]}


def blobs(index: int, slices: int) -> Counts:
    """Three random bits per KiB of every blob's line of a played run, and every line changed in other ways."""
    rng = random.Random(index)
    with folder() as place:
        session = begin(place / "run", rows(3, absent={2: "critic"}, drift=[3]))
        play(session)
        path = session.run.path
        lines = [line for _, line in session.run.blobs.lines()]
        mine = range(len(lines))[index::slices]
        flipped = sum(tried(path, _blob_flips(rng, lines, number)) for number in mine)
        changed = sum(tried(path, _blob_changes(session.run.head(), lines, number)) for number in mine)
    return Counts(
        {"blobs": len(mine), "bits of blobs flipped, each detected": flipped}
        | {"lines of blobs changed, doubled, cut or moved, each detected": changed}
    )


def _blob_flips(
    rng: random.Random, lines: list[bytes], number: int
) -> Iterator[tuple[str, dict[str, bytes]]]:
    line = lines[number]
    for start in range(0, len(line), 1024):
        for _ in range(FLIPS_PER_KIB):
            changed = bytearray(line)
            place = rng.randrange(start, min(len(line), start + 1024))
            changed[place] ^= 1 << rng.randrange(8)
            content = b"".join([*lines[:number], bytes(changed), *lines[number + 1 :]])
            yield f"byte {place} of blob {number}", {BLOBS: content}


def _blob_changes(head: Head, lines: list[bytes], number: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    """One line changed in ways that leave a file of lines, with a head to fit."""
    before, line, after = lines[:number], lines[number], lines[number + 1 :]
    other = lines[(number + 1) % len(lines)]
    ways = {
        "removed": [*before, *after],
        "doubled": [*before, line, line, *after],
        "again at the end": [*lines, line],
        "moved to the end": [*before, *after, line],
        "moved to the front": [line, *before, *after],
        "cut": [*before, line[: len(line) // 2], *after],
        "with the content of another": [*before, line[:75] + other[75:], *after],
        "marked as redacted": [*before, tombstone(line), *after],
        "emptied": [*before, blob_line(b""), *after],
    }
    for what, changed in ways.items():
        if changed != lines:
            content = b"".join(changed)
            yield f"blob {number} {what}", {BLOBS: content, "head": head_bytes(head, len(content))}
    yield f"file cut before blob {number}", {BLOBS: b"".join(before)}
    yield f"head before blob {number}", {"head": head_bytes(head, len(b"".join(before)))}
    repeated = b"".join(lines) + line
    yield f"blob {number} again beyond the head", {BLOBS: repeated}


def rewrites(index: int, slices: int) -> Counts:
    """Rollbacks to every commit, and the ledger written anew from every event on: a checkpoint shows each."""
    counts = Counts()
    with folder() as place:
        run = tampering.build(place / "run")
        events = run.events()
        ends = [event.seq for event in events if event.rest == 0]
        heads = [Head(event.seq - 1, event.prev) for event in events[1:]] + [run.head()]
        for end in ends[index::slices]:
            if end == ends[-1]:
                continue
            written(run.path, events[: end + 1])
            counts["rollbacks, each seen with a checkpoint"] += against(run.path, heads, held_until=end)
        for seq in range(len(events))[index::slices]:
            written(run.path, rewritten(events, seq))
            counts["rewritings, each seen with a checkpoint"] += against(run.path, heads, held_until=seq - 1)
        written(run.path, events)
        expect(run.head() == heads[-1], "writing the same events gives the same ledger")
    return counts


def written(path: Path, events: Iterable[Event]) -> None:
    """Write `events` as a whole ledger that is intact in itself: the chain anew, the head to fit."""
    files: dict[str, list[bytes]] = {name: [] for name in NAMES}
    prev, seq = "0" * 64, -1
    for seq, event in enumerate(events):
        line = encode(msgspec.structs.replace(event, prev=prev, seq=seq))
        files[f"{stream_of(event)}.jsonl"].append(line + b"\n")
        prev = line_hash(line)
    for name, content in files.items():
        (path / name).write_bytes(b"".join(content))
    (path / "head").write_bytes(head_bytes(Head(seq, prev), (path / BLOBS).stat().st_size))


def rewritten(events: tuple[Event, ...], seq: int) -> Iterator[Event]:
    """The same events, but the one numbered `seq` says another instant."""
    for event in events:
        changed = msgspec.structs.replace(event, at="2026-01-02T03:04:05.000007Z")
        yield decode(encode(changed)) if event.seq == seq else event


def against(path: Path, heads: list[Head], held_until: int) -> int:
    """The ledger is intact in itself; a checkpoint holds up to `held_until`, and every later one shows the change."""
    report = verify(path, heads)
    expect(not report.damaged, "a ledger that was written anew is intact in itself")
    for one in report.checkpoints:
        expect(one.holds == (one.seq <= held_until), f"checkpoint @{one.seq}, changed behind @{held_until}")
    expect(report.exit_code == 1, "exit code 1 for a ledger that a checkpoint does not fit")
    expect(RunStore(path).head().seq == report.events - 1, "every event was read")
    return 1
