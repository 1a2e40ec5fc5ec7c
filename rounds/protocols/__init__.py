"""The protocols: one file each, its laws at the top, its table below; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from ledger.events import RunOpened
from ledger.state.state import State
from ledger.store.failures import StrangeRun
from roles.protocol import Protocol, awaited_answers, awaited_experiments, opening_problem

_PLACES: Final[Mapping[str, str]] = {
    "structured": "structured:STRUCTURED",
    "crux": "crux:CRUX",
    "jugalbandi": "jugalbandi:JUGALBANDI",
    "single-pass": "single_pass:SINGLE_PASS",
    "council": "single_pass:COUNCIL",
    "debate": "debate:DEBATE",
    "adversarial": "adversarial:ADVERSARIAL",
    "devils-advocate": "devils_advocate:DEVILS_ADVOCATE",
    "comparative": "comparative:COMPARATIVE",
    "cross-examination": "cross_examination:CROSS_EXAMINATION",
    "ratchet": "ratchet:RATCHET",
    "panel": "panel:PANEL",
    "priority": "priority:PRIORITY",
    "tribunal": "tribunal:TRIBUNAL",
}
"""Name → module below this package, and the protocol's name in it."""

DEFAULT_PROTOCOL: Final = "structured"
"""The protocol that plans and rounds belong to."""


class ProtocolUnknown(KeyError):
    """A protocol that this version does not have; `fix` says what to do."""

    exit_code = 2

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix

    def __str__(self) -> str:
        return self.what


def _at(place: str) -> Protocol:
    module, _, constant = place.partition(":")
    found: Protocol = getattr(import_module(f"{__name__}.{module}"), constant)
    return found


class _Protocols(Mapping[str, Protocol]):
    """Name → protocol, in the order of the table."""

    def __getitem__(self, name: str) -> Protocol:
        place = _PLACES.get(name)
        if place is None:
            raise ProtocolUnknown(f"this moot has no protocol {name!r}", "see `moot gate`")
        return _at(place)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


PROTOCOLS: Final[Mapping[str, Protocol]] = _Protocols()


def protocol_of(opened: RunOpened, where: object = "") -> Protocol:
    """The protocol that a run, kept at `where`, was opened with. Raises `ProtocolUnknown` and `StrangeRun`."""
    protocol = named_protocol(opened)
    problem = opening_problem(protocol, opened)
    if problem is not None:
        raise StrangeRun(f"ORD001: {problem}", str(where))
    return protocol


def awaited_of(state: State) -> tuple[str, ...]:
    """Questions to a person that a run waits for, by the protocol that it names; none of a protocol we do not have."""
    opened = state.opened
    if opened is None or not state.waits or opened.protocol not in PROTOCOLS:
        return ()
    return awaited_answers(PROTOCOLS[opened.protocol], state)


def experiments_awaited(state: State) -> tuple[str, ...]:
    """Experiments that a run waits for; none of a protocol we do not have."""
    opened = state.opened
    if opened is None or not state.unjudged or opened.protocol not in PROTOCOLS:
        return ()
    return awaited_experiments(PROTOCOLS[opened.protocol], state)


def is_watched(opened: RunOpened | None) -> bool:
    """Whether a run looks at the stop signals, raises alarms and ends with a synthesis; False of one we do not know."""
    protocol = PROTOCOLS.get(opened.protocol) if opened is not None else None
    return protocol is not None and protocol.watched


def named_protocol(opened: RunOpened) -> Protocol:
    """Return the protocol that an opening names, for whoever judges whether it can be run. Raises `ProtocolUnknown`."""
    if opened.protocol not in PROTOCOLS:
        what = f"this moot has no protocol {opened.protocol!r}"
        raise ProtocolUnknown(what, f"install moot {opened.moot}, which wrote the run")
    return PROTOCOLS[opened.protocol]
