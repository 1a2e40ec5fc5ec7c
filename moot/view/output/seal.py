"""`--json` of keygen and seal."""

from __future__ import annotations

from moot.view.output.base import Output


class KeyMade(Output, frozen=True):
    """`secret` and `public` are paths; `verifier` is the public key line. The secret itself is never printed."""

    name: str
    secret: str
    public: str
    verifier: str


class Sealed(Output, frozen=True):
    """The head that was signed, by which key, and where the note is."""

    run: str
    seq: int
    hash: str
    key: str
    note: str
