"""One brief: the text that a seat got, block by block, and whether deriving it again gives the recorded hash."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from ledger.events import Event
from ledger.store.failures import LedgerError
from moot.web.followed import Followed
from roles.brief import BriefUnavailable, derive
from roles.prompt_set import PromptSetError, read_prompt_set
from roles.protocol import UNLAWFUL, find_group
from rounds.protocols import protocol_of


class _Named(msgspec.Struct, frozen=True):
    name: str
    sha256: str


class _Manifest(msgspec.Struct, frozen=True):
    blocks: tuple[_Named, ...]


@dataclass(frozen=True, slots=True)
class BlockShown:
    """A block of a brief; `text` is None when its blob is not there."""

    name: str
    sha256: str
    text: str | None


@dataclass(frozen=True, slots=True)
class BriefPage:
    """The page. `derived`: True when it comes out again with the recorded hash, None when nobody can tell."""

    event: Event
    blocks: tuple[BlockShown, ...]
    kept: bool
    derived: bool | None
    why: str


def brief_page(run: Followed, step: str) -> BriefPage | None:
    """The brief of a step that was answered; None when it was not."""
    seq = run.state.answered.get(step)
    if seq is None:
        return None
    event = run.book().events[seq]
    assert event.call is not None, "an answered step has a call"
    manifest = _manifest(run, event.call.brief)
    blocks = () if manifest is None else manifest.blocks
    derived, why = _derived(run, event)
    return BriefPage(
        event=event,
        blocks=tuple(BlockShown(one.name, one.sha256, _text(run, one.sha256)) for one in blocks),
        kept=manifest is not None,
        derived=derived,
        why=why,
    )


def _manifest(run: Followed, sha256: str) -> _Manifest | None:
    """The blocks of a brief; None when its blob is not there, or is no brief."""
    content = run.blobs.read(sha256)
    try:
        return None if content is None else msgspec.json.decode(content, type=_Manifest)
    except msgspec.MsgspecError:
        return None


def _text(run: Followed, sha256: str) -> str | None:
    content = run.blobs.read(sha256)
    return None if content is None else content.decode("utf-8", "replace")


def _derived(run: Followed, event: Event) -> tuple[bool | None, str]:
    """Derive the brief again from the ledger as it stood, with the prompt set of the run."""
    opened, call = run.state.opened, event.call
    if opened is None or call is None or event.step is None:
        return None, "it belongs to no step"
    try:
        protocol = protocol_of(opened)
        before = run.book().first(event.seq)
        group = find_group(protocol, before.state, event.step)
        step = next((one for one in group.steps if one.id == event.step), None) if group else None
        blob = run.blobs.read(opened.prompt_set)
        if step is None or blob is None:
            return None, "the step or the prompt set of the run is not there"
        brief = derive(before, protocol, step, read_prompt_set(blob))
    except (BriefUnavailable, PromptSetError, LedgerError) as error:
        return None, str(error)
    except UNLAWFUL:
        return None, "the ledger breaks rules that a brief is derived by"
    if brief.sha256 != call.brief:
        return False, f"it comes out as {brief.sha256}"
    return brief.saw == event.saw, "" if brief.saw == event.saw else "`saw` names other events than it quotes"
