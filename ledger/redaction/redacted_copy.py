"""Redacted copy: a new run without some words, whose opening names the original and what changed.

old   @0 run_opened … @17 claim "the password is hunter2" … @40        head H
new   @0 run_opened, origin {redaction, head H, seq 40} … @17 claim "the password is [redacted]" … @40, @41 amendment

Every event keeps its number. The amendment after the last one names each changed line with its old and its new hash,
the blobs that were left out, and a blob with the hashes of all old lines. With those, every other line is proven to be
the old one, and a checkpoint of the old run is recognized (`verify`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import msgspec
import orjson

from ledger.events import Event, RunOpened
from ledger.events.run import Change, Origin, Waiver
from ledger.format.canonical import BEGINNING, Head, NotCanonical, Sealed, decode, encode, line_hash, seal
from ledger.plain_json import NotJson, decoded
from ledger.plain_text import counted
from ledger.redaction.removal import (
    FILE,
    FILE_BYTES_MAX,
    CannotRedact,
    Remains,
    amendment,
    in_words,
    remains,
    target,
    without_words,
    words_of,
)
from ledger.redaction.words import INSTEAD, WORDS_MIN, Sought
from ledger.state.amendments import LINE, ORIGINAL
from ledger.state.fold import fold
from ledger.store.blobs import hash_of
from ledger.store.disk import read_plain
from ledger.store.reading import LogPosition, follow
from ledger.store.store import RunStore, adopt_run
from ledger.store.streams import read_head

TOOL: Final = "moot redact"
NAMED_MAX: Final = 2_000
BEHIND_PREV: Final = len('{"prev":""') + 64
"""Where a line goes on after its `prev`, which is always as long."""
_WORDS_MAX: Final = 8_000


@dataclass(frozen=True, slots=True)
class Copied:
    """Redacted copy: the run, the events whose words changed, the blobs that were left out, and unsearched lines.

    `unsearched` counts lines that were not looked for, because they are too short or moot's own words.
    """

    run: RunStore
    changed: tuple[int, ...]
    left_out: tuple[str, ...]
    unsearched: int


def redacted_copy(
    source: RunStore,
    path: Path,
    secret: str | None,
    reason: str,
    *,
    name: str,
    at: str,
    names: Sequence[str] = (),
    person: str | None = None,
) -> Copied:
    """Write a run at `path` that is `source` without `secret`, and without the words of the targets in `names`.

    `name` is how the opening calls the source. Blobs that hold the words are left out and recorded like redacted
    ones.
    Raises `CannotRedact`, and what creating a run raises.
    """
    where = str(source.path)
    book = source.book()
    # An import names its source by hash, so it is redacted at the source and imported again.
    if isinstance(book.events[0], RunOpened) and book.events[0].by == "import":
        raise CannotRedact(
            "this run was imported", where, "take the words out of its source and import that again"
        )
    targets = tuple(target(named, book, source) for named in dict.fromkeys(names))
    sought = words_of(targets, book)
    if secret is not None:
        if len(secret.strip()) < WORDS_MIN:
            raise CannotRedact(f"a secret has at least {WORDS_MIN} characters", where, "give more of it")
        sought.add(secret, characters_min=WORDS_MIN)
    if sought.stand_in(reason) or sought.stand_in(INSTEAD):
        raise CannotRedact("the reason holds the words", where, "say it without")
    # Runs are named after their question, so the name of the directory may repeat the words.
    name = INSTEAD if sought.stand_in_name(name) else name
    lines = [line for _, _, line in source.lines()]
    # Lines are compared as JSON values: an escape in the bytes must not hide a word.
    changed = tuple(seq for seq, line in enumerate(lines) if _without(orjson.loads(line), sought)[1])
    blobs, left_out = _blobs(source, sought, tuple(sha256 for chosen in targets for sha256 in chosen.blobs))
    if not changed and not left_out:
        _refuse_nothing(source, sought)
    if len(changed) + len(left_out) > NAMED_MAX:
        raise CannotRedact(
            f"more than {NAMED_MAX} lines and blobs hold them", where, "give more of the words"
        )
    old = [line_hash(line) for line in lines]
    origin = Origin(type="redaction", of=name, head=old[-1], seq=len(lines) - 1, tool=TOOL)
    sealed = _rewritten(lines, book.events, set(changed), sought, origin, _waiver(changed, left_out, reason))
    record = orjson.dumps({"redaction": 1, "lines": old})
    changes = [
        Change(
            path=f"@{event.seq}" if event.seq in changed else f"@{event.seq}.origin",
            from_=old[event.seq],
            to=line_hash(line),
        )
        for event, line in zip(sealed.events, sealed.lines, strict=True)
        if event.seq in changed or isinstance(event, RunOpened)
    ]
    changes.append(Change(path=ORIGINAL, from_=old[-1], to=hash_of(record)))
    event_of_redaction = amendment(fold(sealed.events), left_out, reason, changes, person=person)
    last = seal([event_of_redaction], prev=sealed.head.hash, seq=len(lines), at=at)
    whole = Sealed((*sealed.events, *last.events), (*sealed.lines, *last.lines), last.head)
    # The whole result is searched before anything is written. A copy that still held the words would be worse
    # than none.
    _refuse_what_remains(whole, sought)
    run = adopt_run(path, whole, blobs={**blobs, hash_of(record): record}, files=_files(source, sought))
    return Copied(run, changed, left_out, sought.short + sought.spared)


def _refuse_nothing(source: RunStore, sought: Sought) -> NoReturn:
    """Raise `CannotRedact` because there is nothing to remove from the run."""
    files = remains(source, sought).files
    if files:
        what = f"no line and no blob holds the words, but {in_words(files)} does"
        raise CannotRedact(what, str(source.path), "a copy would be the run as it is: delete the file")
    what = "no line and no blob holds the words"
    raise CannotRedact(what, str(source.path), "give them as they stand there, case and all")


def _refuse_what_remains(whole: Sealed, sought: Sought) -> None:
    """Search the lines once more as they will be written. Raises `CannotRedact`."""
    stuck = tuple(seq for seq, line in enumerate(whole.lines) if sought.stand_in_bytes(line))
    if stuck:
        what = f"{in_words(Remains(stuck, (), ()).places())} cannot be without the words"
        raise CannotRedact(what, "", "only words can be replaced, not ids, roles, hashes or names of fields")


def _waiver(changed: tuple[int, ...], left_out: tuple[str, ...], reason: str) -> Waiver:
    """Return the waiver that the opening carries, which every view shows before a verdict."""
    places = ", ".join(f"@{seq}" for seq in changed)
    if len(places) > _WORDS_MAX // 4:
        places = f"{counted(len(changed), 'event')} from @{changed[0]} to @{changed[-1]}"
    lines = f"words of {places} were replaced" if changed else "no line was changed"
    blobs = f", {counted(len(left_out), 'blob')} left out" if left_out else ""
    return Waiver(what="the original words", why=f"{lines}{blobs}: {reason}"[:_WORDS_MAX])


def _rewritten(
    lines: list[bytes],
    events: tuple[Event, ...],
    changed: set[int],
    sought: Sought,
    origin: Origin,
    waiver: Waiver,
) -> Sealed:
    """Return all lines again, changed ones without the words, with a new chain. Raises `CannotRedact`."""
    prev, rewritten, written = BEGINNING.hash, list[Event](), list[bytes]()
    for seq, (line, event) in enumerate(zip(lines, events, strict=True)):
        new_line = line
        if seq in changed:
            new_line = orjson.dumps(_without(orjson.loads(line), sought)[0])
        if isinstance(event, RunOpened):
            new_line = _opening(new_line, seq, origin if seq == 0 else None, prev, waiver, sought)
        # The prefix up to `prev` has a fixed length, so an unchanged line keeps its other bytes exactly,
        # unknown fields included.
        new_line = b'{"prev":"%b"%b' % (prev.encode(), new_line[BEHIND_PREV:])
        try:
            rewritten.append(decode(new_line))
        except NotCanonical as error:
            what = f"event {seq} cannot be without it: {error}"
            raise CannotRedact(what, "", "only words can be replaced, not ids, roles or hashes") from None
        written.append(new_line)
        prev = line_hash(new_line)
    return Sealed(tuple(rewritten), tuple(written), Head(len(lines) - 1, prev))


def _opening(
    line: bytes, seq: int, origin: Origin | None, prev: str, waiver: Waiver, sought: Sought
) -> bytes:
    """Return an opening that says what was removed. The first names the original; a fork's own keeps its origin."""
    try:
        event = decode(line)
    except NotCanonical as error:
        raise CannotRedact(f"event {seq} cannot be without it: {error}", "", "replace less") from None
    assert isinstance(event, RunOpened), "a line that opens"
    # A fork's opening names the line before it by hash, and that line may have changed.
    source = origin or msgspec.structs.replace(event.origin, head=prev)
    if source.of is not None and sought.stand_in_name(source.of):  # runs are named after their question
        source = msgspec.structs.replace(source, of=INSTEAD)
    return encode(msgspec.structs.replace(event, origin=source, waived=(*event.waived, waiver)))


def _without(value: Any, sought: Sought) -> tuple[Any, bool]:
    """Return a value with the words replaced in its strings, and whether they occurred. Field names stay."""
    if isinstance(value, str):
        return (sought.without(value), True) if sought.stand_in(value) else (value, False)
    if isinstance(value, dict):
        pairs = {key: _without(element, sought) for key, element in cast("dict[str, Any]", value).items()}
        return {key: element for key, (element, _) in pairs.items()}, any(
            there for _, there in pairs.values()
        )
    if isinstance(value, list):
        items = [_without(element, sought) for element in cast("list[Any]", value)]
        return [element for element, _ in items], any(there for _, there in items)
    return value, False


def _blobs(
    source: RunStore, sought: Sought, named: tuple[str, ...]
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Return the blobs to copy, and the hashes of those that hold the words, are named, or show a removed document."""
    contents = dict(source.blobs.items())
    left_out = {
        sha256 for sha256, content in contents.items() if sha256 in named or sought.stand_in_bytes(content)
    }
    # A brief shows a document with numbered lines. Its short lines are below the search limit, so the document
    # is searched for as a whole.
    as_shown = _as_shown(source, left_out)
    left_out |= {
        sha256 for sha256, content in contents.items() if as_shown and as_shown.stand_in_bytes(content)
    }
    kept = {sha256: content for sha256, content in contents.items() if sha256 not in left_out}
    return kept, tuple(sorted(left_out))


def _as_shown(source: RunStore, left_out: set[str]) -> Sought:
    """Return a search for whole documents that are left out, as the blocks of briefs show them."""
    whole_documents = Sought()
    for document in source.book().state.opening.context:
        if document.sha256 in left_out:
            whole_documents.add_whole((source.blobs.read(document.sha256) or b"").decode("utf-8", "replace"))
    return whole_documents


def _files(source: RunStore, sought: Sought) -> Mapping[str, bytes]:
    """Return the deliberation file without the words. When it is not valid without them, it is left out."""
    path = source.path / FILE
    content = without_words(read_plain(path, FILE_BYTES_MAX), sought) if os.path.lexists(path) else None
    return {FILE: content} if content else {}


@dataclass(frozen=True, slots=True)
class Original:
    """Run that a redacted copy was made of: the hashes of its lines, and those that the copy says it changed."""

    hashes: tuple[str, ...]
    changed: Mapping[int, str]

    def holds(self, head: Head) -> bool:
        """Return whether a checkpoint is one of the original."""
        return 0 <= head.seq < len(self.hashes) and self.hashes[head.seq] == head.hash


def original_of(run: RunStore) -> Original | None:
    """Return what a redacted copy says of its original; None for other runs, and when the list of hashes is missing."""
    events = run.events()
    opened = events[0]
    if not isinstance(opened, RunOpened) or opened.origin.type != "redaction":
        return None
    for event in events:
        if event.kind != "amendment" or event.what != "redaction":
            continue
        places = {change.path: change for change in event.change}
        original = places.get(ORIGINAL)
        # The record must name the same head as the opening. Otherwise an added amendment could vouch for
        # another original.
        if original is None or original.from_ != opened.origin.head or not isinstance(original.to, str):
            continue
        hashes = _hashes(run, original.to)
        # A blob is named by its own hash and proves nothing by itself; the last line's hash ties it to the
        # opening.
        if hashes and hashes[-1] == opened.origin.head and len(hashes) - 1 == opened.origin.seq:
            return Original(hashes, dict(_changed(places.values())))
    return None


def _changed(changes: Iterable[Change]) -> Iterator[tuple[int, str]]:
    """Yield number and new hash of every line that is listed as changed."""
    for change in changes:
        # `@17`, or `@0.origin` where no words changed.
        if match := LINE.fullmatch(change.path):
            yield int(match[1]), str(change.to)


class _Record(msgspec.Struct, frozen=True):
    """What a redacted copy keeps of its original: the hash of each line."""

    lines: tuple[str, ...] = ()


def _hashes(run: RunStore, sha256: str) -> tuple[str, ...]:
    content = run.blobs.read(sha256)
    try:
        # A forger of the whole copy chose these bytes too.
        return decoded(content or b"{}", _Record).lines
    except NotJson:
        return ()


def unlike(run: RunStore, original: Original) -> Iterator[int]:
    """Yield the events of a redacted copy that differ from the original's without being listed as changed."""
    before = BEGINNING.hash
    lines = follow(run.path, LogPosition(), read_head(run.path))
    for seq, (old, (_, line, _)) in enumerate(zip(original.hashes, lines, strict=False)):
        if seq in original.changed:
            if line_hash(line) != original.changed[seq]:
                yield seq
        # With the original's `prev` put back, an unchanged line must give the original's hash.
        elif line_hash(b'{"prev":"%b"%b' % (before.encode(), line[BEHIND_PREV:])) != old:
            yield seq
        before = old
