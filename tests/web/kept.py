"""Events that were made in memory as a run on disk, written by the real store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from ledger.events import Event, RunOpened
from ledger.events.envelope import GENESIS
from ledger.store.blobs import hash_of
from ledger.store.store import RunStore, create_run
from roles.prompt_set import installed_prompt_set

SOME_BLOBS = {hash_of(installed_prompt_set("structured")): installed_prompt_set("structured")}


def kept(directory: Path, events: Sequence[Event], blobs: Mapping[str, bytes] | None = None) -> RunStore:
    """A run that holds `events`, in their commits and at their instants."""
    opening, *others = events
    assert isinstance(opening, RunOpened)
    first = replace(opening, rest=0, at="")
    run = create_run(directory, first, blobs={**SOME_BLOBS, **(blobs or {})}, at=opening.at)
    commit: list[Event] = []
    with run.writer() as writer:
        for event in others:
            commit.append(_draft(event))
            if event.rest == 0:
                writer.commit(commit, at=event.at)
                commit = []
    return run


def _draft(event: Event) -> Event:
    return replace(event, prev=GENESIS, seq=0, rest=0, at="")
