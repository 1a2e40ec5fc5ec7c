"""Redaction targets: what a person names (a document, a step or a blob), the words that go with it, and where they
occur.

A document's words are its lines, and what events quote from it by its number. A step's are those of its replies, and
what
others quote from its events. Words that are moot's own (prompts, reply schemas, ids) are not secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import msgspec
import orjson

from ledger.events import Artifact, Event
from ledger.events.ids import MENTION, parse_step
from ledger.redaction.words import INSTEAD, Sought, readings
from ledger.state.anchors import sections_of
from ledger.state.book import Book
from ledger.state.redactions import redacted_blobs
from ledger.store.blobs import all_named_blobs
from ledger.store.disk import read_plain, readable
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from ledger.store.streams import BLOBS, STREAM_FILES

PREFIX: Final = re.compile(r"[0-9a-f]{8,64}")
OWN_KINDS: Final = ("prompt set", "schema")
WORDED: Final = ("document", "reply", "block")
"""Blobs whose words a person wrote; the others are moot's."""
_IDENTITY: Final = re.compile(
    rf"(?:{MENTION}(?:~[0-9]+)?|@[0-9]+|r[0-9]+\.[\w.~-]+)(?:#[\w-]+)?|[0-9a-f]{{64}}"
)


class CannotRedact(LedgerError):
    """What was to be removed does not exist, is needed, or cannot be removed in this way."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Target:
    """Named target. `texts` are its words; `whole` when those must go, not only the blobs."""

    name: str
    blobs: tuple[str, ...]
    texts: tuple[str, ...]
    whole: bool


def target(name: str, book: Book, run: RunStore) -> Target:
    """Return the target of a person's word. Raises `CannotRedact`."""
    for document in book.state.opening.context:
        if document.id == name:
            content = run.blobs.read(document.sha256)
            quotes = tuple(_quotes(book, {name}))
            texts = () if content is None else (content.decode("utf-8", "replace"), *_strings(content))
            return Target(name, (document.sha256,), (*texts, *quotes), whole=True)
    if parse_step(name) is not None:
        return _step(name, book, run)
    if not PREFIX.fullmatch(name):
        fix = "name a hash (or its first 8 digits), a document such as K-1, or a step such as r3.D.critic"
        raise CannotRedact(f"{name!r} names no blob", str(run.path), fix)
    return _blob(name, book, run)


def words_of(targets: tuple[Target, ...], book: Book) -> Sought:
    """Return the words of the targets, without moot's own."""
    sought = Sought()
    texts = [text for chosen in targets for text in chosen.texts]
    spare = own_words(book) if texts else None
    for text in texts:
        sought.add(text, spare=spare or (lambda _: False))
        if len(text.splitlines()) > 1:
            sought.add_whole(text)  # with its short lines, and those that it shares with moot
    return sought


def own_words(book: Book) -> Callable[[str], bool]:
    """Return a function that says whether a line is moot's own.

    Such a line is in a prompt or a reply schema of the run, or is an id, a step, a hash or the name of a section of
    an
    artifact, which others refer to.
    """
    texts: dict[str, str] = {}
    names: set[str] = set()
    for event in book.events:
        if isinstance(event, Artifact):
            names.update(sections_of(event))
        for named in all_named_blobs(event, book.blobs.read):
            if named.kind in OWN_KINDS and named.sha256 not in texts:
                content = book.blobs.read(named.sha256) or b""
                # Prompt sets and schemas are JSON, so lines are compared with their unescaped readings.
                texts[named.sha256] = "\n".join(readings(content.decode("utf-8", "replace")))

    def own(line: str) -> bool:
        is_name = line in INSTEAD or line in names or _IDENTITY.fullmatch(line) is not None
        return is_name or any(line in text for text in texts.values())

    return own


def _step(name: str, book: Book, run: RunStore) -> Target:
    events = [event for event in book.events if event.step == name]
    blobs = tuple(dict.fromkeys(sha256 for event in events for sha256 in _replies(event)))
    if not blobs:
        fix = "see `moot log` for the steps that were answered"
        raise CannotRedact(f"no reply to {name}", str(run.path), fix)
    replies = (text for sha256 in blobs for text in _strings(run.blobs.read(sha256) or b""))
    quotes = _quotes(book, {event.id for event in events if event.id is not None})
    return Target(name, blobs, (*replies, *quotes), whole=True)


def _blob(name: str, book: Book, run: RunStore) -> Target:
    known = {sha256 for event in book.events for sha256 in redacted_blobs(event)} | set(run.blobs.names())
    # Hashes on record count too, so that an interrupted redaction can be named again after the blob is gone.
    fits = sorted(sha256 for sha256 in known if sha256.startswith(name))
    if len(fits) != 1:
        what = f"{len(fits)} blobs begin with {name}" if fits else f"no blob begins with {name}"
        fix = "give the whole hash; `moot log --json` shows those of briefs and replies"
        raise CannotRedact(what, str(run.path), fix)
    kinds = {
        named.kind
        for event in book.events
        for named in all_named_blobs(event, book.blobs.read)
        if named.sha256 == fits[0]
    }
    # A prompt set or schema holds moot's own words, which occur all over the run.
    texts = _strings(run.blobs.read(fits[0]) or b"") if kinds <= set(WORDED) else ()
    return Target(fits[0], (fits[0],), tuple(texts), whole=False)


def _replies(event: Event) -> tuple[str, ...]:
    if event.call is None:
        return ()
    earlier = (attempt.reply for attempt in event.call.attempts if attempt.reply is not None)
    return (*earlier, event.call.reply)


def _strings(content: bytes) -> Iterator[str]:
    """Yield the strings in a reply; all of it when it is not JSON."""
    try:
        value: Any = orjson.loads(content)
    except orjson.JSONDecodeError:
        yield content.decode("utf-8", "replace")
        return
    yield from _within(value)


def _within(value: Any) -> Iterator[str]:
    # An explicit stack: JSON may be nested deeper than Python can call.
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            waiting += reversed(cast("dict[str, Any]", part).values())
        elif isinstance(part, list):
            waiting += reversed(cast("list[Any]", part))


def _quotes(book: Book, ids: set[str]) -> Iterator[str]:
    """Yield what events quote from a document, or from events with these ids."""
    for event in book.events:
        yield from _quoted(msgspec.to_builtins(event), ids)


def _quoted(value: Any, ids: set[str]) -> Iterator[str]:
    if isinstance(value, dict):
        held = cast("dict[str, Any]", value)
        ref, quote = held.get("ref"), held.get("quote")
        if isinstance(ref, str) and isinstance(quote, str) and ref.partition("#")[0] in ids:
            yield quote
        for element in held.values():
            yield from _quoted(element, ids)
    elif isinstance(value, list | tuple):
        for element in cast("list[Any]", value):
            yield from _quoted(element, ids)


FILE: Final = "deliberation.toml"
"""The one file beside the ledger that a run keeps for itself, and that words can be removed from."""
FILE_BYTES_MAX: Final = 1 << 24
OTHER_BYTES_MAX: Final = 1 << 27
"""Limit for any other file in a run's directory, which is searched in one piece."""
NAMED_MAX: Final = 12
"""Places that a message names; of more it says how many."""


class Remains(NamedTuple):
    """Places of words in a run: numbers of events, hashes of blobs, and names of other files."""

    events: tuple[int, ...]
    blobs: tuple[str, ...]
    files: tuple[str, ...]

    def places(self) -> tuple[str, ...]:
        """Return each place as a person looks it up: `@17`, `blobs/048a…`, `report.html`."""
        return (
            *(f"@{seq}" for seq in self.events),
            *(f"blobs/{sha256}" for sha256 in self.blobs),
            *self.files,
        )


def remains(run: RunStore, sought: Sought) -> Remains:
    """Return the places of the words in a run; nothing is changed. Raises what reading a run raises."""
    lines = enumerate(line for _, _, line in run.lines())
    return Remains(
        tuple(seq for seq, line in lines if sought.stand_in_bytes(line)),
        tuple(sha256 for sha256, content in run.blobs.items() if sought.stand_in_bytes(content)),
        tuple(_files(run.path, sought)),
    )


def in_words(places: tuple[str, ...]) -> str:
    """Return places as part of a sentence."""
    more = f" and {len(places) - NAMED_MAX} more places" if len(places) > NAMED_MAX else ""
    return f"{', '.join(places[:NAMED_MAX])}{more}"


def _files(run: Path, sought: Sought) -> Iterator[str]:
    """Yield files that are neither a stream nor a blob: reports, notes, quarantined tails, leftovers of a crash."""
    with readable(run):
        for directory, _, names in sorted(os.walk(run)):
            for name in sorted(names):
                path = Path(directory) / name
                # A link may lead out of the run, and a pipe would block forever. Streams and blobs are searched
                # line by line elsewhere.
                if path.is_symlink() or not path.is_file() or _is_searched_elsewhere(path, run):
                    continue
                if sought.stand_in_name(name) or sought.stand_in_bytes(_content(path)):
                    yield str(path.relative_to(run))


def _is_searched_elsewhere(path: Path, run: Path) -> bool:
    return path.parent == run and path.name in (*STREAM_FILES, BLOBS)


def _content(path: Path) -> bytes:
    try:
        return read_plain(path, OTHER_BYTES_MAX)
    except FileNotFoundError:
        return b""  # gone since it was listed
