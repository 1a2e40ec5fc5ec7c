"""The Markdown files of a state directory: headings are the anchors that refs name, words are escaped (`markdown.py`)
and cannot pass for a drift verdict, which the published script looks for anywhere in a round file (SD-68)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ledger.events import Artifact, Statement
from ledger.interchange import markdown
from ledger.state.anchors import sections_of

_DRIFT: Final = re.compile(r"(drift[ _]check)(\**):", re.IGNORECASE)


def quoted(text: str) -> str:
    """`text` as a block quote that holds no drift verdict."""
    return _without_verdict(markdown.quoted(text))


def inline(text: str) -> str:
    """`text` on one line, without a drift verdict."""
    return _without_verdict(markdown.inline(text))


def _without_verdict(text: str) -> str:
    return _DRIFT.sub(r"\1\2\\:", text)


def document(title: str, parts: Iterable[tuple[str, str]]) -> bytes:
    """A Markdown file: a title, then headings with their text."""
    blocks = [f"# {title}"]
    for heading, text in parts:
        blocks += [f"## {heading}", text] if text else [f"## {heading}"]
    return ("\n\n".join(blocks) + "\n").encode()


def artifact_file(event: Artifact) -> bytes:
    """An artifact; the headings are the anchors that refs name."""
    parts = [
        (inline(name), "\n\n".join(quoted(text) for text in texts))
        for name, texts in sections_of(event).items()
    ]
    head = f"{inline(event.id or '')}: {event.type} of {inline(event.role)}, round {event.round}"
    return document(head, parts)


def statement_file(event: Statement) -> bytes:
    """A statement; the headings are its sections."""
    parts = [(inline(section.name), quoted(section.text)) for section in event.sections]
    head = f"{inline(event.id or '')}: {event.type} by {inline(event.by)}, round {event.round}"
    return document(head, parts)
