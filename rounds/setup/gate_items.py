"""Items that a question names itself, for the protocols that compare or order named options."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ledger.language.words import word_count

ITEM_WORDS_MAX: Final = 14
SIDE_WORDS_MAX: Final = 5
ITEMS_MAX: Final = 64

_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(.+?)\s*$", re.MULTILINE)
_LISTED: Final = re.compile(r":\s+([^:.?!\n]+(?:\.(?=\w)[^:.?!\n]*)*)")
_COMPARED: Final = re.compile(
    r"\b(?:compare|contrast|evaluate|weigh|between|pros and cons of|comparison of)\s+(.+?)"
    r"(?=\s+(?:on|for|by|in|as|regarding|given|when|if|considering|with (?:regard|respect)|against (?:these|the|our))\b"
    r"|[.?!:;\n]|$)",
    re.IGNORECASE,
)
_VERSUS: Final = re.compile(
    r"(?:^|[.:;?!\n]\s*)([^.:;?!,\n]{1,60}?(?:,?\s+(?:vs\.?|versus)\s+[^.:;?!,\n]{1,60}?)+)"
    r"(?=\s+(?:for|in|on|when|if|as|with)\b|[.:;?!,\n]|$)",
    re.IGNORECASE,
)
_AND: Final = re.compile(
    r"\s*(?:,|;|\bor\b|\band\b|\bvs\.?(?=\s)|\bversus\b|\bagainst\b|\bwith\b|\bto\b)\s*", re.IGNORECASE
)
_COMMA: Final = re.compile(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+(?=[^,]*$)", re.IGNORECASE)
_SEMICOLON: Final = re.compile(r"\s*;\s*(?:(?:and|or)\s+)?", re.IGNORECASE)


def listed_items(text: str) -> list[str]:
    """Return the items of a list in the text: its bullets, or what follows a colon, separated by commas."""
    bullets = _BULLET.findall(text)
    # A single bullet does not make a list.
    if len(bullets) > 1:
        return _clean(bullets, ITEM_WORDS_MAX)
    for after in _LISTED.findall(text):
        items = _clean((_SEMICOLON if ";" in after else _COMMA).split(after), ITEM_WORDS_MAX)
        if len(items) > 1:
            return items
    return []


def compared_items(text: str) -> list[str]:
    """Return the two to four options that a comparison names; none when it is not plain what they are."""
    # An explicit comparison is more reliable than "A vs B", which also occurs in titles.
    for pattern in (_COMPARED, _VERSUS):
        match = pattern.search(text)
        items = [] if match is None else _clean(_AND.split(match[1]), SIDE_WORDS_MAX)
        # More than four parts usually means that the sentence was split at words that belong to an option.
        if 2 <= len(items) <= 4:
            return items
    listed = listed_items(text)
    return listed if 2 <= len(listed) <= 4 else []


def _clean(parts: Sequence[str], words_max: int) -> list[str]:
    """Return the distinct parts; none at all when one of them is too long to be the name of an item."""
    items = list(dict.fromkeys(part.strip(" \t.,;'\"“”") for part in parts))
    items = [item for item in items if item]
    # One part that is a whole sentence shows that this was no list, so none of the parts is trusted.
    return items[:ITEMS_MAX] if all(word_count(item) <= words_max for item in items) else []
