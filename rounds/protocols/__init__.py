"""The protocols: one file each, its laws at the top, its table below; each is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from ledger.events import RunOpened
from roles.protocol import Protocol

_PLACES: Final[Mapping[str, str]] = {
    "structured": "structured:STRUCTURED",
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


class _Protocols(Mapping[str, Protocol]):
    """Name → protocol, in the order of the table."""

    def __getitem__(self, name: str) -> Protocol:
        module, _, constant = _PLACES[name].partition(":")
        found: Protocol = getattr(import_module(f"{__name__}.{module}"), constant)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


PROTOCOLS: Final[Mapping[str, Protocol]] = _Protocols()


class ProtocolUnknown(LookupError):
    """The run was opened with a protocol that this version does not have."""


def protocol_of(opened: RunOpened) -> Protocol:
    """The protocol that a run was opened with. Raises `ProtocolUnknown`."""
    protocol = PROTOCOLS.get(opened.protocol)
    if protocol is None or protocol.version < opened.protocol_version:
        raise ProtocolUnknown(f"protocol {opened.protocol} {opened.protocol_version}")
    return protocol
