"""Removal of words from a run in place: first the amendment that records it and why, then the bytes.

A person names a document, a step or a blob. A document's words are its lines, and what events quote from it by its
number; a step's are those of its replies, and what others quote from its events. They are removed together with
everything that they were written into: blocks of briefs, replies, the deliberation file, series that were run beside
the run. A line of the ledger cannot be changed: if the words are in one, or in another file, nothing is removed and
the places are named. A blob named by its hash is removed alone. Moot's own words (prompts, schemas, ids) are no secret.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import msgspec
import orjson

from ledger.events import Amendment, Artifact, Event
from ledger.events.ids import MENTION, parse_step
from ledger.events.run import Change
from ledger.plain_text import counted
from ledger.plain_toml import NotToml, toml_table
from ledger.redaction.words import INSTEAD, Sought, readings
from ledger.state.amendments import PLACE, redacted_blobs
from ledger.state.book import Book, sections_of, strings
from ledger.state.state import State
from ledger.store import disk
from ledger.store.blobs import all_named_blobs, named_blobs
from ledger.store.disk import read_plain, readable, writing
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

    Such a line is in a prompt or a reply schema of the run, or is an id, a step, a hash or the name of a section of an
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
    yield from strings(value)


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
    more = f" and {counted(len(places) - NAMED_MAX, 'more place')}" if len(places) > NAMED_MAX else ""
    return f"{', '.join(places[:NAMED_MAX])}{more}"


def _files(run: Path, sought: Sought) -> Iterator[str]:
    """Yield files that are neither a stream nor a blob: reports, notes, quarantined tails, leftovers of a crash."""
    with readable(run):
        for directory, _, names in sorted(os.walk(run)):
            for name in sorted(names):
                path = Path(directory) / name
                # A link may lead out of the run, and a pipe would block forever. Streams and blobs are searched
                # line by line elsewhere.
                is_ours = path.parent == run and path.name in (*STREAM_FILES, BLOBS)
                if path.is_symlink() or not path.is_file() or is_ours:
                    continue
                if sought.stand_in_name(name) or sought.stand_in_bytes(_content(path)):
                    yield str(path.relative_to(run))


def _content(path: Path) -> bytes:
    try:
        return read_plain(path, OTHER_BYTES_MAX)
    except FileNotFoundError:
        return b""  # gone since it was listed


REMOVED_MAX: Final = 2_000
"""Blobs that one amendment names."""
_COPY: Final = "write a copy without them with --out DIR; a blob that is named by its hash is removed alone"


class Removed(NamedTuple):
    """Result of a removal: events written, hashes of removed blobs, and places where their words still are.

    `unsearched` counts lines that were not looked for, because they are too short or moot's own words.
    """

    events: tuple[Event, ...]
    blobs: tuple[str, ...]
    left: tuple[str, ...]
    unsearched: int


def redact(
    run: RunStore, names: Sequence[str], reason: str, *, at: str, person: str | None = None
) -> Removed:
    """Record that blobs are removed, then remove them.

    Blobs that were recorded earlier and still exist are removed, too, so an interrupted redaction can be run again.
    A name is a document (`K-1`) or a step, which go with their words, or a hash or its beginning. Raises
    `CannotRedact`, and what a writer raises.
    """
    with run.writer() as writer:
        book = writer.book()
        recorded = {sha256 for event in book.events for sha256 in redacted_blobs(event)}
        targets = tuple(target(name, book, run) for name in dict.fromkeys(names))
        for chosen in targets:
            _refuse_what_is_needed(chosen.blobs, book, run)
            _refuse_unknown_words(chosen, recorded, run)
        fresh = tuple(
            chosen for chosen in targets if not set(chosen.blobs) <= recorded or _is_there(chosen, run)
        )
        sought = words_of(tuple(chosen for chosen in fresh if chosen.whole), book)
        places = _everywhere(run, sought, tuple(chosen.name for chosen in fresh if chosen.whole))
        # The reason is written on the ledger, where it could never be removed again.
        if sought.stand_in(reason):
            raise CannotRedact("the reason holds the words", str(run.path), "say it without")
        wanted = tuple(
            dict.fromkeys((*places.blobs, *(sha256 for chosen in targets for sha256 in chosen.blobs)))
        )
        _refuse_what_is_needed(places.blobs, book, run)
        left = _remains(run, words_of(tuple(chosen for chosen in fresh if not chosen.whole), book))
        # A hash that an earlier redaction recorded needs no second record.
        new = [sha256 for sha256 in wanted if sha256 not in recorded]
        if len(new) > REMOVED_MAX:
            raise CannotRedact(f"more than {REMOVED_MAX} blobs hold it", str(run.path), _COPY)
        # The record comes first. After a crash between the two, `verify` reports blobs that are still there,
        # and the same command finishes the job. The other order would leave missing blobs, which is damage.
        events = writer.commit([amendment(book.state, new, reason, person=person)] if new else [], at=at)
        if FILE in places.files:
            _rewrite(run, sought)
        # Recorded earlier but still present: an interrupted redaction is completed here.
        gone = recorded | set(wanted)
        writer.redact(gone)
        for name in places.files:
            if _is_beside(name):
                run.path.joinpath(name).unlink(missing_ok=True)
    # Places are reported only for blobs that stay, because those that go cannot hold words any more.
    kept = left._replace(blobs=tuple(sha256 for sha256 in left.blobs if sha256 not in gone))
    return Removed(events, wanted, kept.places(), sought.short + sought.spared)


def amendment(
    state: State,
    blobs: Sequence[str],
    reason: str,
    others: Sequence[Change] = (),
    *,
    person: str | None = None,
) -> Amendment:
    """Return the event that says which blobs were removed, what else was changed, and by whom if that is known."""
    gone = tuple(Change(path=f"{PLACE}{sha256}", from_=sha256, to=None) for sha256 in blobs)
    return Amendment(
        round=state.round,
        phase="close" if state.finished else state.phase,
        by="human",
        what="redaction",
        change=(*others, *gone),
        cause="human",
        reason=reason,
        name=person,
    )


def without_words(content: bytes, sought: Sought) -> bytes | None:
    """Return a deliberation file without the words; None when it is not valid TOML, before or after."""
    text = content.decode("utf-8", "replace")
    try:
        # Read before the words are looked for: where each character of a text was written takes 300 bytes.
        toml_table(text)
        written = sought.without(text) if sought.stand_in(text) else text
        toml_table(written)
    except NotToml:
        return None
    # Words that survive the replacement make the file unfit to keep, so the caller refuses it or leaves it out.
    return None if sought.stand_in(written) else written.encode()


def _everywhere(run: RunStore, sought: Sought, names: tuple[str, ...]) -> Remains:
    """Return the places of the words. Raises `CannotRedact` when some of them cannot be removed."""
    places = _remains(run, sought)
    file = run.path / FILE
    files = tuple(name for name in places.files if name != FILE and not _is_beside(name))
    if FILE in places.files and without_words(read_plain(file, FILE_BYTES_MAX), sought) is None:
        files = places.files
    stuck = Remains(places.events, (), files).places()
    if stuck:
        fix = f"{_COPY}; delete other files yourself" if files else _COPY
        what = f"nothing was removed: the words of {', '.join(names)} also stand in {in_words(stuck)}"
        raise CannotRedact(what, str(run.path), fix)
    return places


def _is_beside(name: str) -> bool:
    """Return whether no line names a file, so that it can be removed whole.

    These are series that were run beside a finished run, and blob tails that recovery set aside.
    """
    return name.startswith(("checks/", "quarantine/blobs."))


def _remains(run: RunStore, sought: Sought) -> Remains:
    return remains(run, sought) if sought else Remains((), (), ())


def _rewrite(run: RunStore, sought: Sought) -> None:
    file = run.path / FILE
    content = without_words(read_plain(file, FILE_BYTES_MAX), sought)
    assert content is not None, "it was tried before anything was written"
    with writing(run.path):
        disk.replace(file, (content,))


def _is_there(chosen: Target, run: RunStore) -> bool:
    return any(run.blobs.read(sha256) is not None for sha256 in chosen.blobs)


def _refuse_unknown_words(chosen: Target, recorded: set[str], run: RunStore) -> None:
    """Raise `CannotRedact` for a document or reply whose blob is missing, because only the blob tells its words."""
    if chosen.whole and not _is_there(chosen, run) and not set(chosen.blobs) <= recorded:
        fix = "give the words in a file: --secret FILE --out DIR"
        raise CannotRedact(
            f"{chosen.name} is not among the blobs, so its words are not known", str(run.path), fix
        )


def _refuse_what_is_needed(blobs: Sequence[str], book: Book, run: RunStore) -> None:
    """Raise `CannotRedact` for blobs that a run which can go on still reads.

    These are what its opening names, and the replies of its current round.
    """
    state = book.state
    if state.finished or state.is_import:
        return
    needed = {named.sha256: named.what for named in named_blobs(state.opening)}
    for event in book.events:
        if event.call is not None and event.round == state.round:
            needed[event.call.reply] = f"the reply to {event.step}"
    for sha256 in blobs:
        if sha256 in needed:
            fix = "finish the run first, or write a redacted copy with --out"
            raise CannotRedact(f"{needed[sha256]} is still needed", str(run.path), fix)
