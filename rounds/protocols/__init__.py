"""The protocols: one file each, its laws at the top, its table below."""

from __future__ import annotations

from typing import Final

from ledger.events import RunOpened
from roles.protocol import Protocol
from rounds.protocols.jugalbandi import JUGALBANDI
from rounds.protocols.structured import STRUCTURED

PROTOCOLS: Final[dict[str, Protocol]] = {protocol.name: protocol for protocol in (STRUCTURED, JUGALBANDI)}


class ProtocolUnknown(LookupError):
    """The run was opened with a protocol that this version does not have."""


def protocol_of(opened: RunOpened) -> Protocol:
    """The protocol that a run was opened with. Raises `ProtocolUnknown`."""
    protocol = PROTOCOLS.get(opened.protocol)
    if protocol is None or protocol.version < opened.protocol_version:
        raise ProtocolUnknown(f"protocol {opened.protocol} {opened.protocol_version}")
    return protocol
