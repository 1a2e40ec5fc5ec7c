"""Damage report: everything that is wrong with streams that do not lead to their head, and with what lies beyond it.

Lines are taken by the number that they claim, and every disagreement is listed, not only the first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ledger.events import STREAMS, StreamName, stream_of
from ledger.format.canonical import NotCanonical, decode, line_hash
from ledger.format.chain import BEGINNING, Head
from ledger.store.disk import plain_file
from ledger.store.failures import Problem
from ledger.store.reading import LogPosition
from ledger.store.streams import PREFIX, line_number, lines_of, stream_path

PROBLEMS_MAX: Final = 100
"""More are not listed: a report is for reading."""


class _Line(NamedTuple):
    """A line with what its prefix claims."""

    seq: int
    stream: StreamName
    number: int
    prev: str
    rest: int
    content: bytes

    def problem(self, what: str) -> Problem:
        return Problem(what, self.seq, self.stream, self.number)


def damage(directory: Path, head: Head) -> Iterator[Problem]:
    """Yield everything that is wrong up to `head`, at most `PROBLEMS_MAX` problems."""
    yield from islice(_damage(directory, head), PROBLEMS_MAX)


def _damage(directory: Path, head: Head) -> Iterator[Problem]:
    with ExitStack() as stack:
        streams: list[Iterator[_Line | Problem]] = []
        for stream in STREAMS:
            path = stream_path(directory, stream)
            if not path.is_file():
                yield Problem("the stream is missing", None, stream)
                continue
            streams.append(_lines(stream, lines_of(stack.enter_context(plain_file(path)))))
        last, hash_, rest = BEGINNING.seq, BEGINNING.hash, 0
        for line in _by_seq(streams, head.seq):
            if isinstance(line, Problem):
                yield line
                continue
            # A number that was seen before is reported and skipped: following it would make every later line
            # look wrong.
            if line.seq <= last:
                yield line.problem(f"event {line.seq} stands here again, or too late")
                continue
            if line.seq > last + 1:
                yield Problem(_missing(last + 1, line.seq - 1), last + 1)
            else:
                yield from _link(line, hash_, rest)
            yield from _content(line)
            # Go on from the bytes that are there, so that one changed line is reported once and not as a broken
            # chain to the end.
            last, hash_, rest = line.seq, line_hash(line.content), line.rest
        if last < head.seq:
            yield Problem(_missing(last + 1, head.seq), last + 1)
        elif hash_ != head.hash:
            yield Problem("head has another hash than the line it names", head.seq)
        if rest:
            yield Problem(f"the commit is not whole: {rest} more events were announced", last)


def _missing(first: int, last: int) -> str:
    return "the event is missing" if first == last else f"events {first} to {last} are missing"


def _lines(stream: StreamName, lines: Iterator[bytes], first: int = 1) -> Iterator[_Line | Problem]:
    for number, content in enumerate(lines, first):
        prefix = PREFIX.match(content)
        if prefix is None:
            yield Problem("the line does not begin with prev, seq and rest", None, stream, number)
        else:
            yield _Line(int(prefix[2]), stream, number, prefix[1].decode(), int(prefix[3]), content)


def _by_seq(streams: list[Iterator[_Line | Problem]], until: int) -> Iterator[_Line | Problem]:
    """Yield the lines of all streams in the order of their numbers, none beyond `until`."""
    fronts: dict[int, _Line] = {}
    ready = set(range(len(streams)))
    while True:
        for index in list(ready):
            for front in streams[index]:
                if isinstance(front, Problem):
                    yield front
                elif front.seq <= until:
                    # The claimed numbers of a damaged stream may not ascend. Taking one front per stream bounds
                    # memory all the same.
                    fronts[index] = front
                    break
        ready.clear()
        if not fronts:
            return
        index = min(fronts, key=lambda i: fronts[i].seq)
        yield fronts.pop(index)
        ready.add(index)


def _link(line: _Line, hash_: str, rest: int) -> Iterator[Problem]:
    if line.prev != hash_:
        yield line.problem(f"prev is not the hash of event {line.seq - 1}: one of the two was changed")
    if rest and line.rest != rest - 1:
        yield line.problem(f"rest is {line.rest}, but the event before leaves {rest - 1}")


def _content(line: _Line) -> Iterator[Problem]:
    try:
        event = decode(line.content)
    except NotCanonical as error:
        yield line.problem(str(error))
        return
    if stream_of(event) != line.stream:
        yield line.problem(f"a {event.kind} belongs to {stream_of(event)}")


class Tail(msgspec.Struct, frozen=True):
    """What lies beyond the head: `damage` can be no interrupted commit, `notes` can."""

    damage: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


def tail_of(directory: Path, mark: LogPosition) -> Tail:
    """Judge what follows `mark`, which is the position of the head."""
    damage: list[Problem] = []
    notes: list[Problem] = []
    for index, stream in enumerate(STREAMS):
        with plain_file(stream_path(directory, stream)) as file:
            extra = file.seek(0, os.SEEK_END) - mark.offsets[index]
            number = line_number(file, mark.offsets[index])
            impossible = list(islice(_impossible(stream, lines_of(file), mark, number), PROBLEMS_MAX))
        damage += impossible
        if extra and not impossible:
            what = f"{extra} bytes beyond head, of a commit interrupted or being written: no damage"
            notes.append(Problem(what, None, stream, number, is_damage=False))
    return Tail(tuple(damage), tuple(notes))


def _impossible(
    stream: StreamName, lines: Iterator[bytes], mark: LogPosition, number: int
) -> Iterator[Problem]:
    """Yield whole lines beyond the head that an interrupted writer cannot have left there."""
    for line in _lines(stream, lines, number):
        if isinstance(line, Problem):
            continue  # torn pages after a power failure look like anything
        # A writer appends only numbers after the head, so an older number was copied here.
        if line.seq <= mark.head.seq:
            yield line.problem(f"event {line.seq} stands here again")
        elif line.seq == mark.head.seq + 1 and line.prev != mark.head.hash:
            yield line.problem("the line continues another ledger")
