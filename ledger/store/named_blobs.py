"""Which blobs an event names: asked here and nowhere else, by verify, the rules, forks, copies and redaction.

run_opened   prompt set, documents, and the parameters of the profile `calibrated`, whose thresholds are the run's own
call         prompt set, brief, reply, and the brief and reply of every attempt; a brief names its blocks and its schema
amendment    the list of the original's lines, in a redacted copy

Other hashes name no blob: what was screened, the rules of a validation, parameters of the other profiles (`signals` and
`alarm` repeat those of the opening), and what an import says, which has neither prompts nor parameters of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

import msgspec

from ledger.events import Amendment, Call, Event, RunOpened
from ledger.events.values import GENESIS, Hash
from ledger.redaction.redaction import record_of_original
from ledger.state.book import Blobs

MANIFEST_BYTES_MAX: Final = 1 << 20
OWN_PARAMETERS: Final = "calibrated"
"""The profile whose parameter file a run keeps: it is estimated from earlier runs and may be another tomorrow."""

BlobKind = Literal["prompt set", "parameters", "document", "brief", "block", "schema", "reply", "record"]


class Named(NamedTuple):
    """A blob that an event names: what it is, in words for a person, and its hash."""

    kind: BlobKind
    what: str
    sha256: str


def named_blobs(event: Event) -> Iterator[Named]:
    """The blobs that stand in `event` itself."""
    return (named for named in _named(event) if named.sha256 != GENESIS)  # an import has no prompts


def named_by_brief(manifest: bytes) -> Iterator[Named]:
    """The blobs that a brief names; one that is no manifest names none (a rule sees that)."""
    if not 0 < len(manifest) <= MANIFEST_BYTES_MAX:
        return
    try:
        brief = _read_manifest(manifest)
    except msgspec.MsgspecError:
        return
    yield from (Named("block", "a block of the brief", block.sha256) for block in brief.blocks)
    yield Named("schema", "the reply schema of the brief", brief.schema)


def all_named_blobs(event: Event, blobs: Blobs) -> Iterator[Named]:
    """The blobs that `event` names, and behind each brief those that it names. Raises `Damaged` for a changed one."""
    for named in named_blobs(event):
        yield named
        if named.kind == "brief":
            yield from named_by_brief(blobs.read(named.sha256) or b"")


def own_parameters(opened: RunOpened) -> str | None:
    """The hash of the run's own parameter file; None when it has none and the installed ones hold."""
    is_own = opened.stop.profile == OWN_PARAMETERS and opened.origin.type != "import"
    return opened.stop.params if is_own else None


def _named(event: Event) -> Iterator[Named]:
    if isinstance(event, RunOpened):
        yield from _of_opening(event)
    if isinstance(event, Amendment):
        record = record_of_original(event)
        if record is not None:
            yield Named("record", "the list of the original's lines", record)
    if event.call is not None:
        yield from _of_call(event.call, event.step or f"@{event.seq}")


def _of_opening(event: RunOpened) -> Iterator[Named]:
    yield Named("prompt set", "the prompt set", event.prompt_set)
    parameters = own_parameters(event)
    if parameters is not None:
        yield Named("parameters", "the file of the run's own parameters", parameters)
    for document in event.context:
        yield Named("document", f"the document {document.id}", document.sha256)


def _of_call(call: Call, step: str) -> Iterator[Named]:
    yield Named("prompt set", "the prompt set", call.prompt_set)
    yield Named("reply", f"the reply of {step}", call.reply)
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


_read_manifest: Final = msgspec.json.Decoder(_Manifest).decode
