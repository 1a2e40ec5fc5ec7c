"""The protocols: one file each, its laws at the top, its table below."""

from __future__ import annotations

from typing import Final

from roles.protocol import Protocol
from rounds.protocols.structured import STRUCTURED

PROTOCOLS: Final[dict[str, Protocol]] = {protocol.name: protocol for protocol in (STRUCTURED,)}
