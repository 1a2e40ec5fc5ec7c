"""Words of a run as Markdown: whatever a model wrote stays text and cannot pass for structure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from ledger.anchors import sections_of
from ledger.events import Artifact, Statement

_DRIFT: Final = re.compile(r"(drift[ _]check)(\**):", re.IGNORECASE)
_UNSEEN: Final = frozenset({"Cf", "Zl", "Zp"})
_SPECIAL: Final = re.compile(r"([\\<>\[])")


def _seen(text: str) -> str:
    """Characters that hide or turn words around, named as the terminal shows them: `<U+202E>`."""
    if text.isascii():
        return text
    return "".join(f"<U+{ord(one):04X}>" if unicodedata.category(one) in _UNSEEN else one for one in text)


def quoted(text: str) -> str:
    """`text` as a block quote; HTML is shown, not run, and no words pass for a drift verdict (SD-68)."""
    escaped = _DRIFT.sub(r"\1\2\\:", _SPECIAL.sub(r"\\\1", _seen(text)))
    return "\n".join(f"> {line}".rstrip() for line in escaped.split("\n"))


def inline(text: str) -> str:
    """`text` on one line, safe inside a sentence."""
    return _DRIFT.sub(r"\1\2\\:", _SPECIAL.sub(r"\\\1", " ".join(_seen(text).split())))


def document(title: str, parts: Iterable[tuple[str, str]]) -> bytes:
    """A Markdown file: a title, then headings with their text."""
    blocks = [f"# {title}"]
    for heading, text in parts:
        blocks += [f"## {heading}", text] if text else [f"## {heading}"]
    return ("\n\n".join(blocks) + "\n").encode()


def artifact_file(event: Artifact) -> bytes:
    """An artifact; the headings are the anchors that refs name."""
    parts = [
        (name, "\n\n".join(quoted(text) for text in texts)) for name, texts in sections_of(event).items()
    ]
    return document(f"{event.id}: {event.type} of {event.role}, round {event.round}", parts)


def statement_file(event: Statement) -> bytes:
    """A statement; the headings are its sections."""
    parts = [(inline(section.name), quoted(section.text)) for section in event.sections]
    return document(f"{event.id}: {event.type} by {event.by}, round {event.round}", parts)
