"""Who is being asked now: the open steps by the ledger, and what the driving process says beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.events.ids import StepName
from ledger.store.failures import LedgerError
from ledger.store.store import read_driver
from moot.app.speech import read_speech
from moot.web.followed import Followed
from roles.protocol import UNLAWFUL, find_group, open_steps
from rounds.protocols import protocol_of

_KEY: Final = re.compile(r'"[a-z_]{1,40}"\s*:\s*')
_SYNTAX: Final = re.compile(r'[{}\[\]]|(?<!\\)"')


@dataclass(frozen=True, slots=True)
class Heard:
    """An open step: since when (ISO instant), the words that came so far; `waits`: nobody here is working on it."""

    name: StepName
    since: str
    words: str = ""
    waits: bool = False


def hear(run: Followed) -> Mapping[str, Heard]:
    """The steps that are open, each since the commit that opened it; none when the protocol is not known here."""
    opened = run.state.opened
    if opened is None or run.state.closing is not None:
        return {}
    try:
        protocol = protocol_of(opened)
        steps = open_steps(protocol, run.state)
        group = find_group(protocol, run.state, steps[0].id) if steps else None
    except (LedgerError, *UNLAWFUL):
        return {}
    since = _opened_at(run, {step.id for step in group.steps} if group else set())
    driven = read_driver(run.path) is not None
    said = read_speech(run.path) if driven else None
    spoken = {one.step: one for one in said.asked} if said else {}
    heard: dict[str, Heard] = {}
    for step in steps:
        one = spoken.get(step.id)
        if one is not None:
            heard[step.id] = Heard(step.name, one.since, readable(one.words))
        elif not spoken:
            heard[step.id] = Heard(step.name, since, waits=not driven)
    return heard


def readable(words: str) -> str:
    """The end of a reply, which is JSON, without what makes it JSON."""
    prose = _SYNTAX.sub("", _KEY.sub("", words)).replace("\\n", "\n").replace('\\"', '"')
    return prose.strip(" ,\n")


def _opened_at(run: Followed, siblings: set[str]) -> str:
    """The instant of the last event that none of the siblings wrote: it opened their group."""
    events = run.book().events
    return next((event.at for event in reversed(events) if event.step not in siblings), events[0].at)
