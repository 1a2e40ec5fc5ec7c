"""How words are counted, and word lists that several rules of style share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ledger.anchors import strings
from ledger.events import Artifact, Statement

HEDGES: Final = re.compile(
    r"\b(might|maybe|perhaps|possibly|presumably|arguably|somewhat|probably|it seems|seems to|appears to|kind of"
    r"|sort of|could be argued|more or less)\b",
    re.IGNORECASE,
)
CONDITIONAL: Final = re.compile(r"\b(would|could|might|may|should)\b", re.IGNORECASE)


def count(texts: Iterable[str]) -> int:
    """Words, as white space parts them."""
    return sum(len(text.split()) for text in texts)


def of_artifact(event: Artifact) -> int:
    """Words of an artifact: every string of its body and of its findings (SD-4)."""
    return count((*strings(event.body), *(finding.text for finding in event.findings)))


def of_statement(event: Statement) -> int:
    """Words of a statement: those of its sections' texts."""
    return count(section.text for section in event.sections)


def hedges(text: str) -> Iterator[str]:
    """The hedging words of a text, lower case."""
    return (match[0].lower() for match in HEDGES.finditer(text))


def sentences(text: str) -> int:
    """Sentences, by what ends them; at least one in any text."""
    return max(1, len(re.findall(r"[.!?](?=\s|$)", text)))
