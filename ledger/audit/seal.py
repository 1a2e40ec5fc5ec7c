"""Seals: a signed checkpoint of a ledger's head, in the formats of C2SP's signed-note and tlog-checkpoint.

    moot/<first 32 hex digits of the first line's hash>     which ledger
    <number of events>
    <base64 of the head's hash>                             the text; its last line ends with a line feed

    — alice YWJjZA…=                    base64 of the key's hash (4 bytes) and the Ed25519 signature (64 bytes)

A key is identified by name and hash: the first four bytes of SHA-256 over name, line feed, 0x01 and the public key.
The third line is the head of the hash chain, not the root of a tree: anyone who has the ledger recomputes it by
hashing that many lines. A later ledger extends the sealed one if its line of that number has that hash.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ledger.format.canonical import Head

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ED25519: Final = b"\x01"
NAME: Final = re.compile(r"[^\s+]{1,100}")
_SIGNATURE: Final = re.compile(r"— ([^\s+]{1,100}) ([A-Za-z0-9+/=]{1,200})")
SECRET_PREFIX: Final = "PRIVATE+KEY"
NOTE_BYTES_MAX: Final = 1 << 16


class NoteRefused(ValueError):
    """Note or key that cannot be used. The message gives the reason and never holds a secret."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """Public key with its name: what others need to check a signature."""

    name: str
    public: bytes

    @property
    def hash(self) -> bytes:
        """Return the four bytes by which signatures name the key."""
        return hashlib.sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:4]

    def __str__(self) -> str:
        return f"{self.name}+{self.hash.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """Secret key with its name. Its repr shows the name alone."""

    name: str
    seed: bytes

    def __repr__(self) -> str:
        return f"Signer({self.name!r})"

    @property
    def verifier(self) -> Verifier:
        """Return the public half."""
        return Verifier(self.name, _private(self.seed).public_key().public_bytes_raw())

    def secret(self) -> str:
        """Return the line that a key file holds. Never write it anywhere else."""
        half = base64.b64encode(ED25519 + self.seed).decode()
        return f"{SECRET_PREFIX}+{self.name}+{self.verifier.hash.hex()}+{half}"


def _private(seed: bytes) -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed)


def signer(name: str, seed: bytes) -> Signer:
    """Return a signer made from 32 random bytes. Raises `NoteRefused` when the name is not valid in a note."""
    if not NAME.fullmatch(name):
        raise NoteRefused(f"{name!r} is no key name: no spaces, no +, at most 100 characters")
    if len(seed) != 32:
        raise NoteRefused("a key has 32 bytes")
    return Signer(name, seed)


def read_signer(text: str) -> Signer:
    """Return the signer of a key file. Raises `NoteRefused`."""
    parts = text.strip().split("+", 4)
    if len(parts) != 5 or f"{parts[0]}+{parts[1]}" != SECRET_PREFIX:
        raise NoteRefused("not a secret key that moot wrote")
    key = signer(parts[2], _key_bytes(parts[4]))
    if key.verifier.hash.hex() != parts[3]:
        raise NoteRefused("the key's hash does not fit its name")
    return key


def read_verifier(text: str) -> Verifier:
    """Return the verifier of a public key line, `name+hash+key`. Raises `NoteRefused`."""
    parts = text.strip().split("+", 2)
    if len(parts) != 3 or not NAME.fullmatch(parts[0]):
        raise NoteRefused("not a public key: name+hash+key")
    key = Verifier(parts[0], _key_bytes(parts[2]))
    if key.hash.hex() != parts[1]:
        raise NoteRefused("the key's hash does not fit its name")
    return key


def _key_bytes(text: str) -> bytes:
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoteRefused("the key is not base64") from None
    if len(raw) != 33 or raw[:1] != ED25519:
        raise NoteRefused("not an Ed25519 key")
    return raw[1:]


def sign(text: str, key: Signer) -> str:
    """Return the signed note of `text`, which must end with a line feed."""
    assert text.endswith("\n"), "a note's text ends with a line feed"
    signature = key.verifier.hash + _private(key.seed).sign(text.encode())
    return f"{text}\n— {key.name} {base64.b64encode(signature).decode()}\n"


def open_note(note: str, verifiers: tuple[Verifier, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the text of a note, and the names of the known keys that signed it.

    A signature by an unknown key is ignored. A wrong signature by a known key, or no valid signature, raises
    `NoteRefused`.
    """
    # A note comes from outside. The limit is checked before any pattern or base64 decoding runs over it.
    if len(note.encode()) > NOTE_BYTES_MAX:
        raise NoteRefused("the note is too long")
    # The last empty line counts, as in signed-note: the text itself may hold empty lines.
    text, blank, signatures = note.rpartition("\n\n")
    if not blank or not signatures.endswith("\n"):
        raise NoteRefused("not a signed note: text, an empty line, signatures")
    known = {(verifier.name, verifier.hash): verifier for verifier in verifiers}
    signed_by: list[str] = []
    for line in signatures[:-1].split("\n"):
        name, raw = _signature(line)
        # Name and hash together choose the key: two keys may share a name, and four bytes may collide by
        # chance.
        key = known.get((name, raw[:4]))
        if key is not None:
            _check(key, raw[4:], f"{text}\n")
            signed_by.append(name)
    if not signed_by:
        raise NoteRefused("no signature by a key that was given")
    return f"{text}\n", tuple(signed_by)


def _signature(line: str) -> tuple[str, bytes]:
    match = _SIGNATURE.fullmatch(line)
    if match is None:
        raise NoteRefused("a signature line is not one")
    try:
        raw = base64.b64decode(match[2], validate=True)
    except (binascii.Error, ValueError):
        raise NoteRefused("a signature is not base64") from None
    if len(raw) < 5:
        raise NoteRefused("a signature is too short")
    return match[1], raw


def _check(key: Verifier, signature: bytes, text: str) -> None:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, text.encode())
    except InvalidSignature:
        # A wrong signature by a known key is an attack or an accident, never something to skip.
        raise NoteRefused(f"the signature of {key.name} does not fit the text") from None


ORIGIN: Final = re.compile(r"moot/[0-9a-f]{32}")
_SIZE: Final = re.compile(r"[1-9][0-9]{0,15}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Content of a seal: which ledger, and its head."""

    origin: str
    head: Head

    @property
    def text(self) -> str:
        """Return the note's text."""
        root = base64.b64encode(bytes.fromhex(self.head.hash)).decode()
        return f"{self.origin}\n{self.head.seq + 1}\n{root}\n"


def origin_of(first_line_hash: str) -> str:
    """Return the name of a ledger in its seals. It comes from the opening, which no later event can change."""
    # 128 bits name the ledger. The head's hash, not this prefix, is what a seal proves.
    return f"moot/{first_line_hash[:32]}"


def seal(checkpoint: Checkpoint, key: Signer) -> str:
    """Return the signed note of a checkpoint."""
    return sign(checkpoint.text, key)


def read_seal(note: str, verifiers: tuple[Verifier, ...]) -> tuple[Checkpoint, tuple[str, ...]]:
    """Return the checkpoint of a seal and who signed it. Raises `NoteRefused`."""
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
