"""The protocols: one file each, its laws at the top, its table below."""

from __future__ import annotations

from typing import Final

from ledger.events import RunOpened
from roles.protocol import Protocol
from rounds.protocols.adversarial import ADVERSARIAL
from rounds.protocols.comparative import COMPARATIVE
from rounds.protocols.cross_examination import CROSS_EXAMINATION
from rounds.protocols.debate import DEBATE
from rounds.protocols.devils_advocate import DEVILS_ADVOCATE
from rounds.protocols.jugalbandi import JUGALBANDI
from rounds.protocols.panel import PANEL
from rounds.protocols.priority import PRIORITY
from rounds.protocols.ratchet import RATCHET
from rounds.protocols.single_pass import COUNCIL, SINGLE_PASS
from rounds.protocols.structured import STRUCTURED
from rounds.protocols.tribunal import TRIBUNAL

PROTOCOLS: Final[dict[str, Protocol]] = {
    protocol.name: protocol
    for protocol in (
        STRUCTURED,
        JUGALBANDI,
        SINGLE_PASS,
        COUNCIL,
        DEBATE,
        ADVERSARIAL,
        DEVILS_ADVOCATE,
        COMPARATIVE,
        CROSS_EXAMINATION,
        RATCHET,
        PANEL,
        PRIORITY,
        TRIBUNAL,
    )
}


class ProtocolUnknown(LookupError):
    """The run was opened with a protocol that this version does not have."""


def protocol_of(opened: RunOpened) -> Protocol:
    """The protocol that a run was opened with. Raises `ProtocolUnknown`."""
    protocol = PROTOCOLS.get(opened.protocol)
    if protocol is None or protocol.version < opened.protocol_version:
        raise ProtocolUnknown(f"protocol {opened.protocol} {opened.protocol_version}")
    return protocol
