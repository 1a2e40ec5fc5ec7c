"""A redacted copy: a new run without some words, which says in its opening what it is a copy of, and what changed.

old   @0 run_opened … @17 claim "the password is hunter2" … @40        head H
new   @0 run_opened, origin {redaction, head H, seq 40} … @17 claim "the password is [redacted]" … @40, @41 amendment

Every event keeps its number. The amendment behind the last one names each changed line with its old and its new hash,
the blobs that were left out, and a blob with the hashes of all old lines: with those every line that is not named is
proven to be the old one, and a checkpoint of the old run is recognised (`verify`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import orjson

from ledger.blobs import hash_of
from ledger.canonical import NotCanonical, decode, encode, line_hash
from ledger.chain import BEGINNING, Head, Sealed, seal
from ledger.events import Event, RunOpened
from ledger.events.decisions import Change, Origin, Waiver
from ledger.fold import fold
from ledger.following import Mark, follow
from ledger.redaction import ORIGINAL, CannotRedact, amendment, seq_of
from ledger.store import Run, adopt_run
from ledger.streams import read_head

INSTEAD: Final = "[redacted]"
TOOL: Final = "moot redact"
SECRET_MIN: Final = 4
NAMED_MAX: Final = 2_000
BEHIND_PREV: Final = len('{"prev":""') + 64
"""Where a line goes on after its `prev`, which is always as long."""
_WORDS_MAX: Final = 8_000


@dataclass(frozen=True, slots=True)
class Copied:
    """A redacted copy: the run, the numbers of the events whose words changed, and the blobs that were left out."""

    run: Run
    changed: tuple[int, ...]
    left_out: tuple[str, ...]


def redacted_copy(
    source: Run, path: Path, secret: str, reason: str, *, name: str, at: str, sync: bool = True
) -> Copied:
    """Write the run at `path` that is `source` without `secret`. Raises `CannotRedact`, and what creating a run does.

    `name` is how the opening calls the source. Blobs that hold the secret are left out, recorded like redacted ones.
    """
    where = str(source.path)
    if isinstance(source.events()[0], RunOpened) and source.events()[0].by == "import":
        raise CannotRedact(
            "this run was imported", where, "take the words out of its source and import that again"
        )
    if len(secret.strip()) < SECRET_MIN:
        raise CannotRedact(f"a secret has at least {SECRET_MIN} characters", where, "give more of it")
    if secret in reason or secret in name or secret in INSTEAD:
        raise CannotRedact("the reason or the name holds the secret", where, "say it without")
    lines = [line for _, _, line in source.lines()]
    events = source.events()
    changed = tuple(seq for seq, line in enumerate(lines) if _without(orjson.loads(line), secret)[1])
    blobs, left_out = _blobs(source, secret)
    if not changed and not left_out:
        raise CannotRedact(
            "no line and no blob holds the secret", where, "give it exactly as it stands there"
        )
    if len(changed) + len(left_out) > NAMED_MAX:
        raise CannotRedact(f"more than {NAMED_MAX} lines and blobs hold it", where, "give more of the secret")
    old = [line_hash(line) for line in lines]
    origin = Origin(type="redaction", of=name, head=old[-1], seq=len(lines) - 1, tool=TOOL)
    sealed = _rewritten(lines, events, set(changed), secret, origin, _told(changed, left_out, reason))
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
    said = amendment(fold(sealed.events), left_out, reason, changes)
    last = seal([said], prev=sealed.head.hash, seq=len(lines), at=at)
    whole = Sealed((*sealed.events, *last.events), (*sealed.lines, *last.lines), last.head)
    files = _files(source, secret)
    run = adopt_run(path, whole, blobs={**blobs, hash_of(record): record}, files=files, sync=sync)
    return Copied(run, changed, left_out)


def _told(changed: tuple[int, ...], left_out: tuple[str, ...], reason: str) -> Waiver:
    """What the opening says, before every verdict."""
    places = ", ".join(f"@{seq}" for seq in changed)
    if len(places) > _WORDS_MAX // 4:
        places = f"{len(changed)} events from @{changed[0]} to @{changed[-1]}"
    lines = f"words of {places} were replaced" if changed else "no line was changed"
    blobs = f", {len(left_out)} blobs were left out" if left_out else ""
    return Waiver(what="the original words", why=f"{lines}{blobs}: {reason}"[:_WORDS_MAX])


def _rewritten(
    lines: list[bytes],
    events: tuple[Event, ...],
    changed: set[int],
    secret: str,
    origin: Origin,
    told: Waiver,
) -> Sealed:
    """All lines again, those that change without the secret, the chain anew. Raises `CannotRedact`."""
    prev, made, written = BEGINNING.hash, list[Event](), list[bytes]()
    for seq, (line, event) in enumerate(zip(lines, events, strict=True)):
        one = line
        if seq in changed:
            one = orjson.dumps(_without(orjson.loads(line), secret)[0])
        if isinstance(event, RunOpened):
            one = _opening(one, seq, origin if seq == 0 else None, prev, told)
        one = b'{"prev":"%b"%b' % (prev.encode(), one[BEHIND_PREV:])
        try:
            made.append(decode(one))
        except NotCanonical as error:
            what = f"event {seq} cannot be without it: {error}"
            raise CannotRedact(what, "", "only words can be replaced, not ids, roles or hashes") from None
        written.append(one)
        prev = line_hash(one)
    return Sealed(tuple(made), tuple(written), Head(len(lines) - 1, prev))


def _opening(line: bytes, seq: int, origin: Origin | None, prev: str, told: Waiver) -> bytes:
    """An opening that says what was taken out: the first says of what it is a copy, a fork's own keeps its origin."""
    try:
        event = decode(line)
    except NotCanonical as error:
        raise CannotRedact(f"event {seq} cannot be without it: {error}", "", "replace less") from None
    assert isinstance(event, RunOpened), "a line that opens"
    source = origin or msgspec.structs.replace(event.origin, head=prev)
    return encode(msgspec.structs.replace(event, origin=source, waived=(*event.waived, told)))


def _without(value: Any, secret: str) -> tuple[Any, bool]:
    """A value with the secret replaced in its strings, and whether it was there. Names of fields are not replaced."""
    if isinstance(value, str):
        return value.replace(secret, instead_of(secret)), secret in value
    if isinstance(value, dict):
        pairs = {key: _without(one, secret) for key, one in cast("dict[str, Any]", value).items()}
        return {key: one for key, (one, _) in pairs.items()}, any(there for _, there in pairs.values())
    if isinstance(value, list):
        items = [_without(one, secret) for one in cast("list[Any]", value)]
        return [one for one, _ in items], any(there for _, there in items)
    return value, False


def instead_of(secret: str) -> str:
    """What stands where the secret stood: as many words, so that counts of words stay what they were."""
    return re.sub(r"\S+", INSTEAD, secret)


def forms_of(secret: str) -> tuple[bytes, ...]:
    """The bytes in which a file may hold the secret: as it is, and as JSON writes it."""
    plain = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return tuple(sorted(one.encode() for one in plain))


def _blobs(source: Run, secret: str) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The blobs that go along, and the hashes of those that hold the secret."""
    kept: dict[str, bytes] = {}
    left_out: list[str] = []
    forms = forms_of(secret)
    for sha256 in source.blobs.names():
        content = source.blobs.read(sha256)
        assert content is not None, "a name that was listed"
        if any(form in content for form in forms):
            left_out.append(sha256)
        else:
            kept[sha256] = content
    return kept, tuple(left_out)


def _files(source: Run, secret: str) -> Mapping[str, bytes]:
    """The deliberation file goes along without the secret."""
    path = source.path / "deliberation.toml"
    content = path.read_bytes() if path.is_file() else b""
    for form in forms_of(secret):
        content = content.replace(form, instead_of(secret).encode())
    return {path.name: content} if content else {}


@dataclass(frozen=True, slots=True)
class Original:
    """The run that a redacted copy was made of: the hashes of its lines, and which of them the copy says it changed."""

    hashes: tuple[str, ...]
    changed: Mapping[int, str]

    def holds(self, head: Head) -> bool:
        """Whether a checkpoint is one of the original."""
        return 0 <= head.seq < len(self.hashes) and self.hashes[head.seq] == head.hash


def original_of(run: Run) -> Original | None:
    """What a redacted copy says of its original; None for other runs, and when the list of hashes is not there."""
    events = run.events()
    opened = events[0]
    if not isinstance(opened, RunOpened) or opened.origin.type != "redaction":
        return None
    for event in events:
        if event.kind != "amendment" or event.what != "redaction":
            continue
        places = {change.path: change for change in event.change}
        original = places.get(ORIGINAL)
        if original is None or original.from_ != opened.origin.head or not isinstance(original.to, str):
            continue
        hashes = _hashes(run, original.to)
        if hashes and hashes[-1] == opened.origin.head and len(hashes) - 1 == opened.origin.seq:
            return Original(hashes, dict(_changed(places.values())))
    return None


def _changed(changes: Iterable[Change]) -> Iterator[tuple[int, str]]:
    """Number and new hash of every line that is said to be changed."""
    for change in changes:
        seq = seq_of(change.path)
        if seq is not None:
            yield seq, str(change.to)


def _hashes(run: Run, sha256: str) -> tuple[str, ...]:
    content = run.blobs.read(sha256)
    value: Any = orjson.loads(content) if content else {}
    return tuple(value.get("lines", ()))


def unlike(run: Run, original: Original) -> Iterator[int]:
    """The events of a redacted copy that are not the original's, and that it does not name as changed."""
    before = BEGINNING.hash
    lines = follow(run.path, Mark(), read_head(run.path))
    for seq, (old, (_, line, _)) in enumerate(zip(original.hashes, lines, strict=False)):
        if seq in original.changed:
            if line_hash(line) != original.changed[seq]:
                yield seq
        elif line_hash(b'{"prev":"%b"%b' % (before.encode(), line[BEHIND_PREV:])) != old:
            yield seq
        before = old
