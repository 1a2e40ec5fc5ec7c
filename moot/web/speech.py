"""Who is being asked now: the open steps by the ledger, and what the driving process says beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ledger.ids import StepName, parse_step
from moot.web.followed import Followed
from roles.protocol import find_group, open_steps
from rounds.protocols import ProtocolUnknown, protocol_of

FILE: Final = "speech.tmp"
"""Beside the ledger while a process drives the run: who is asked, and the words that came so far."""

UNLAWFUL: Final = (LookupError, ValueError, TypeError, AssertionError)
"""What a protocol's functions may do on a ledger that breaks the rules: they assume a lawful one, a viewer cannot."""


@dataclass(frozen=True, slots=True)
class Heard:
    """An open step: since when (ISO instant), and the words that came so far."""

    name: StepName
    since: str
    words: str = ""


def hear(run: Followed) -> Mapping[str, Heard]:
    """The steps that are open, each since the commit that opened it; none when the protocol is not known here."""
    opened = run.state.opened
    if opened is None or (run.state.closures and run.state.closures[-1].seq == run.state.seq):
        return {}
    try:
        protocol = protocol_of(opened)
        steps = open_steps(protocol, run.state)
        group = find_group(protocol, run.state, steps[0].id) if steps else None
    except (ProtocolUnknown, *UNLAWFUL):
        return {}
    since = _opened_at(run, {step.id for step in group.steps} if group else set())
    found = ((step.id, parse_step(step.id)) for step in steps)
    return {identity: Heard(name, since) for identity, name in found if name is not None}


def _opened_at(run: Followed, siblings: set[str]) -> str:
    """The instant of the last event that none of the siblings wrote: it opened their group."""
    events = run.book().events
    return next((event.at for event in reversed(events) if event.step not in siblings), events[0].at)
