"""Where an exported event's words stand: the paths that `path#anchor` refs of a state directory name (SD-3, SD-5)."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Final

from ledger.events import Artifact, Event, RunOpened, Statement
from ledger.events.decisions import ContextDocument
from ledger.events.ids import parse_reference
from ledger.state.book import Book

_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


class Places:
    """The paths of one run. Round numbers are padded alike, so that a sorted listing is in order (SD-69)."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._width = max(2, len(str(max(book.state.rounds, default=0))))
        opened = book.state.opened
        self._documents = {} if opened is None else _document_paths(opened)

    @property
    def documents(self) -> dict[str, str]:
        """Context document id → path."""
        return self._documents

    def round_file(self, round_: int) -> str:
        """The file with what a round claimed, tested and decided."""
        return f"rounds/round_{round_:0{self._width}}.md"

    def of(self, event: Event) -> str:
        """The file that an event's words are in."""
        folder = f"round_{event.round:0{self._width}}"
        match event:
            case Artifact():
                name = (event.id or "").removeprefix(f"A-{event.round}-")
                return f"artifacts/{folder}/{name}.md"
            case Statement():
                return f"statements/{folder}/{event.id}.md"
            case _:
                return self.round_file(event.round)

    def ref(self, ref: str, by: str) -> str:
        """A ref as a path; what an import wrote stays as it is, and so does what points nowhere."""
        if by == "import":
            return ref
        target = parse_reference(ref)
        if target.id in self._documents:
            return self._documents[target.id] + ref.removeprefix(target.id)
        event = self._book.by_id.get(target.id)
        if event is None:
            return ref
        if isinstance(event, Artifact | Statement):
            return self.of(event) + ref.removeprefix(target.id)
        # The anchor must not end in a number: a ref without a section points at a header, not at a line (SD-40).
        return f"{self.of(event)}#{target.id}-text"


def _document_paths(opened: RunOpened) -> dict[str, str]:
    imported = opened.origin.type == "import"
    return {
        document.id: document.name if imported and is_safe(document.name) else _own_path(document)
        for document in opened.context
    }


def _own_path(document: ContextDocument) -> str:
    name = _NAME.sub("-", PurePosixPath(document.name).name).strip("-.") or "document"
    return f"context/{document.id}-{name}"


def is_safe(path: str) -> bool:
    """Whether writing to `path` stays inside the directory that it is relative to."""
    parts = PurePosixPath(path)
    return (
        bool(path)
        and parts.as_posix() == path
        and not parts.is_absolute()
        and ".." not in parts.parts
        and not any(character in path for character in "\\:\0")
    )
