"""Removal of words from a run in place: first the amendment that records it and why, then the bytes.

A document or a step is removed together with everything that its words were written into: blocks of briefs, replies,
the
deliberation file, series that were run beside the run. A line of the ledger cannot be changed. If the words are in
one, or
in another file, nothing is removed and the places are named. A blob named by its hash is removed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ledger.events import Event
from ledger.plain_toml import NotToml, toml_table
from ledger.redaction.targets import (
    FILE,
    FILE_BYTES_MAX,
    CannotRedact,
    Remains,
    Target,
    in_words,
    remains,
    target,
    words_of,
)
from ledger.redaction.words import Sought
from ledger.state.book import Book
from ledger.state.redactions import amendment, redacted_blobs
from ledger.store.blobs import named_blobs
from ledger.store.disk import Disk, read_plain, writing
from ledger.store.store import RunStore

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
        Disk().replace(file, (content,))


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
