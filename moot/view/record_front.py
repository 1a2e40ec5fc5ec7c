"""The front matter of a decision record, and the earlier decisions that a run starts from.

moot-run: "storage"          the run, as it was named there
moot-head: 41 cd34…          its last event then
moot-decisions: "D-1-1"      the decisions in the record
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import orjson

from ledger.state.book import Book

# The front matter must open the file, as the `---` of a horizontal rule may come later.
FRONT: Final = re.compile(r"---\n(.*?\n)---\n(.*)", re.DOTALL)
KEYS: Final = frozenset({"moot-run", "moot-head", "moot-decisions"})


class EarlierDecision(NamedTuple):
    """An earlier decision among the documents of a run: the document's id, the run, its decisions."""

    document: str
    run: str
    decisions: tuple[str, ...]


def _parted(text: str) -> tuple[dict[str, str], str]:
    """Return front matter by key, and the rest; empty front matter where a text has none."""
    match = FRONT.fullmatch(text)
    if match is None:
        return {}, text
    # A full YAML parser is not needed: `moot report` writes one key per line, values in JSON.
    pairs = (line.partition(": ") for line in match[1].splitlines())
    return {key: value for key, colon, value in pairs if colon}, match[2]


def _value(front: Mapping[str, str], key: str) -> str:
    """Return a value as text; empty where it does not parse."""
    value = front.get(key, "")
    if not value.startswith('"'):
        return value
    try:
        return str(orjson.loads(value))
    # A user may edit the record by hand, and a broken value must not stop the run.
    except orjson.JSONDecodeError:
        return ""


def _decisions(front: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(name for name in _value(front, "moot-decisions").split(", ") if name not in ("", "nobody"))


def followed(book: Book) -> Iterator[EarlierDecision]:
    """Yield the decision records among the documents of a run, which are its starting points."""
    for document in book.state.opening.context:
        content = book.blobs.read(document.sha256)
        if content is None or not content.startswith(b"---\n"):
            continue  # redacted, or lost: `verify` says which
        front, _ = _parted(content.decode("utf-8", "replace"))
        # Other documents may have front matter of their own; only all three keys mark a record.
        if front.keys() >= KEYS:
            yield EarlierDecision(document.id, _value(front, "moot-run"), _decisions(front))
