"""Seals: a signed checkpoint of a ledger's head, in the shape of a C2SP tlog-checkpoint.

    moot/<first 32 hex digits of the first line's hash>     which ledger
    <number of events>
    <base64 of the head's hash>

The third line is the head of the hash chain, not the root of a tree: whoever has the ledger recomputes it by hashing
the first so many lines. A later ledger extends the sealed one if its line of that number has that hash.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final

from ledger.audit.signed_note import NoteRefused, Signer, Verifier, open_note, sign
from ledger.format.chain import Head

ORIGIN: Final = re.compile(r"moot/[0-9a-f]{32}")
_SIZE: Final = re.compile(r"[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What a seal says: which ledger, and the head it had."""

    origin: str
    head: Head

    @property
    def text(self) -> str:
        """The note's text."""
        root = base64.b64encode(bytes.fromhex(self.head.hash)).decode()
        return f"{self.origin}\n{self.head.seq + 1}\n{root}\n"


def origin_of(first_line_hash: str) -> str:
    """How a ledger is named in its seals: by its opening, which nothing that follows can change."""
    return f"moot/{first_line_hash[:32]}"


def seal(checkpoint: Checkpoint, key: Signer) -> str:
    """The signed note of a checkpoint."""
    return sign(checkpoint.text, key)


def read_seal(note: str, verifiers: tuple[Verifier, ...]) -> tuple[Checkpoint, tuple[str, ...]]:
    """The checkpoint of a seal and who signed it. Raises `NoteRefused`."""
    text, names = open_note(note, verifiers)
    lines = text.split("\n")
    if len(lines) < 4 or not ORIGIN.fullmatch(lines[0]) or not _SIZE.fullmatch(lines[1]):
        raise NoteRefused("not a checkpoint of a moot ledger")
    try:
        root = base64.b64decode(lines[2], validate=True)
    except (binascii.Error, ValueError):
        raise NoteRefused("the head is not base64") from None
    if len(root) != 32:
        raise NoteRefused("the head has not 32 bytes")
    return Checkpoint(lines[0], Head(int(lines[1]) - 1, root.hex())), names
