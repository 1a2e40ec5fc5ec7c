"""Blobs: briefs, replies, schemas, prompt sets and documents, each named by events and by the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from ledger.events import Amendment, Call, Decision, Event, ExperimentPlanned, ExperimentRun, RunOpened
from ledger.events.values import GENESIS, Hash
from ledger.plain_json import NotJson, decoded
from ledger.state.redactions import record_of_original


def hash_of(content: bytes) -> str:
    """Return the name of a blob: SHA-256 in 64 hex digits."""
    return hashlib.sha256(content).hexdigest()


MANIFEST_BYTES_MAX: Final = 1 << 20
KEPT_PARAMETERS: Final = frozenset({"gates", "crux"})
"""Profiles whose parameter file a run keeps: the installed one may be another tomorrow."""

BlobKind = Literal[
    "prompt set", "parameters", "document", "brief", "block", "schema", "reply", "record", "experiment"
]


class Named(NamedTuple):
    """Blob that an event names: what it is, in words for a person, and its hash."""

    kind: BlobKind
    what: str
    sha256: str


def named_blobs(event: Event) -> Iterator[Named]:
    """Return the blobs that `event` itself names."""
    return (named for named in _named(event) if named.sha256 != GENESIS)  # an import has no prompts


def named_by_brief(manifest: bytes) -> Iterator[Named]:
    """Yield the blobs that a brief names. One that is not a manifest names none (a rule reports it)."""
    # A blob comes from a file that may be hostile, so its size is checked before it is parsed.
    if not 0 < len(manifest) <= MANIFEST_BYTES_MAX:
        return
    try:
        brief = decoded(manifest, _Manifest)
    except NotJson:
        return
    yield from (Named("block", "a block of the brief", block.sha256) for block in brief.blocks)
    yield Named("schema", "the reply schema of the brief", brief.schema)


def all_named_blobs(event: Event, read: Callable[[str], bytes | None]) -> Iterator[Named]:
    """Yield the blobs that `event` names and, after each brief, those that the brief names."""
    for named in named_blobs(event):
        yield named
        if named.kind == "brief":
            yield from named_by_brief(read(named.sha256) or b"")


def in_order(blobs: Mapping[str, bytes], events: Iterable[Event]) -> dict[str, bytes]:
    """Return the blobs of a commit in the order in which its events first name them, what they do not name last.

    By that order `verify` knows that no line was moved.
    """
    names = dict.fromkeys(named.sha256 for event in events for named in all_named_blobs(event, blobs.get))
    return {sha256: blobs[sha256] for sha256 in (*names, *blobs) if sha256 in blobs}


def own_parameters(opened: RunOpened) -> str | None:
    """Return the hash of the run's own parameter file; None when it has none and the installed ones apply."""
    is_own = opened.stop.profile == "gates" and opened.origin.type != "import"
    return opened.stop.params if is_own else None


def _named(event: Event) -> Iterator[Named]:
    if isinstance(event, RunOpened):
        yield from _of_opening(event)
    if isinstance(event, ExperimentPlanned | ExperimentRun):
        yield from _of_experiment(event)
    if isinstance(event, Amendment):
        record = record_of_original(event)
        if record is not None:
            yield Named("record", "the list of the original's lines", record)
    if isinstance(event, Decision) and event.output is not None:
        yield Named("experiment", f"what the test of {event.id} produced", event.output)
    if event.call is not None:
        yield from _of_call(event.call, event.step or f"@{event.seq}")


def _of_opening(event: RunOpened) -> Iterator[Named]:
    yield Named("prompt set", "the prompt set", event.prompt_set)
    if event.stop.profile in KEPT_PARAMETERS and event.origin.type != "import":
        yield Named("parameters", "the file of the run's own parameters", event.stop.params)
    for document in event.context:
        yield Named("document", f"the document {document.id}", document.sha256)


def _of_experiment(event: ExperimentPlanned | ExperimentRun) -> Iterator[Named]:
    if isinstance(event, ExperimentRun):
        where = f"repetition {event.n} of {event.of}"
        yield Named("experiment", f"what {where} wrote to stdout", event.stdout.kept)
        yield Named("experiment", f"what {where} wrote to stderr", event.stderr.kept)
        files = event.outputs
    else:
        where = event.ref
        yield from (
            Named("experiment", f"the input {file.name} of {where}", file.sha256) for file in event.inputs
        )
        files = (*event.files, *(file for control in event.controls for file in control.files))
    yield from (Named("experiment", f"the file {file.name} of {where}", file.sha256) for file in files)


def _of_call(call: Call, step: str) -> Iterator[Named]:
    yield Named("prompt set", "the prompt set", call.prompt_set)
    yield Named("reply", f"the reply of {step}", call.reply)
    # Attempts repeat the accepted brief and reply. Each blob is yielded once, in the order of its line.
    earlier: set[str | None] = {None, call.brief, call.reply}
    yield Named("brief", f"the brief of {step}", call.brief)
    for attempt in call.attempts:
        if attempt.brief not in earlier:
            yield Named("brief", f"the brief of attempt {attempt.n} at {step}", attempt.brief)
        if attempt.reply is not None and attempt.reply not in earlier:
            yield Named("reply", f"the reply of attempt {attempt.n} at {step}", attempt.reply)
        earlier |= {attempt.brief, attempt.reply}


class _Block(msgspec.Struct, frozen=True):
    sha256: Hash


class _Manifest(msgspec.Struct, frozen=True):
    """The part of a brief that names other blobs (FORMAT 6)."""

    blocks: tuple[_Block, ...]
    schema: Hash
