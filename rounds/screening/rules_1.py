"""The rules "screening-1" as they were published: kept, because runs that were screened by them are computed again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from rounds.screening.pattern import MENTION, Pattern, ScreeningMatch, compiled, shown

VERSION: Final = "screening-1"

_HEAD: Final = (
    r"(?:^|[.!?:;,\n\"'(\[>*-]\s*|\b(?:please|now|and|then|just|instead|first|must|should|to|will|shall|can|"
    r"let'?s)\s+(?:also\s+|simply\s+|just\s+)?)"
)
"""Where a command begins: a sentence, a clause, or after a word that leads one in."""
_OBJECT: Final = (
    r"(?:(?:all|any|every|the|your|my|our|these|those|of|everything|what|previous|prior|earlier|above|preceding|"
    r"foregoing|former|system|original|initial|developer|safety)\s+){1,6}"
)


_TOLD: Final = (
    r"instructions?|prompts?|directives?|guidelines|rules|commands|context|messages?|orders|training"
)
PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        "injection: instructions are to be set aside",
        80,
        compiled(rf"{_HEAD}(?:ignore|disregard|forget|override|overlook|skip)\s+{_OBJECT}(?:{_TOLD})\b"),
        compiled(rf"\b(?:ignor\w*|disregard\w*|forget\w*)\s[^\n]{{0,60}}\b(?:{_TOLD})\b"),
    ),
    Pattern(
        "injection: what came before is to be forgotten",
        80,
        compiled(
            rf"{_HEAD}(?:(?:ignore|disregard)\s+(?:all|everything|anything)\s+(?:above|before|previous|prior)"
            r"|forget\s+(?:everything|all\s+(?:that|of|the)\b|what\s+you|the\s+above|previous|all\s+previous))"
        ),
        compiled(r"\bforget\s+(?:everything|all)\b"),
    ),
    Pattern(
        "injection: another identity is given",
        80,
        compiled(
            r"(?:^|[.!?\n]\s*|\bfrom\s+now\s+on,?\s+)you\s+are\s+now\s+(?!able|ready|done|required|responsible)"
            r"|(?:^|[.!?\n]\s*|\bnow\s+|\bplease\s+)(?:act\s+as\s+(?:if|though)\s+you|pretend\s+(?:that\s+)?(?:you|to\s+be)"
            r"|role-?play\s+as)\b"
        ),
        compiled(
            r"\byou\s+are\s+now\b|\bact\s+as\s+(?:if|though)\b|\bpretend\s+(?:you|to)\b|\brole-?play\s+as\b"
        ),
    ),
    Pattern(
        "injection: a system message is imitated",
        80,
        compiled(
            r"^\s*(?:###\s*)?(?:new\s+instructions?|system(?:\s+(?:prompt|message|override))?)\s*:(?![^\n]*\?\s*$)"
            r"|</?system>|\[/?(?:SYSTEM|INST)\]|<\|(?:im_start|im_end|system)\|>|<<SYS>>"
        ),
        compiled(r"\bnew\s+instructions?\s*:"),
    ),
    Pattern(
        "injection: a mode without limits is called for",
        80,
        compiled(
            rf"(?:{_HEAD}(?:enable|enter|activate|switch\s+(?:in)?to|turn\s+on|start)|\byou\s+are\s+in)\s+"
            r"(?:the\s+)?(?:sudo|developer|dev|god|jailbreak|dan|unrestricted)\s+mode\b"
            r"|\b(?:jailbreak\s+(?:yourself|mode|the\s+(?:model|assistant|ai))|do\s+anything\s+now)\b"
            r"|\b(?:sudo|jailbreak|dan)\s+mode\s+(?:on|enabled|activated)\b"
        ),
        compiled(r"\b(?:sudo|developer)\s+mode\b|\bjailbreak\w*"),
    ),
    Pattern(
        "injection: the verdict is dictated",
        80,
        compiled(
            rf"{_HEAD}(?:reply|answer|respond|vote|output|say|return)\s+(?:only\s+)?(?:with\s+)?[\"'`]?"
            r"(?:ACT|ROBUST|APPROVED?|PASS|CONFIRMED)\b[\"'`]?\s*(?:only|regardless|whatever|no\s+matter|and\s+nothing)"
        ),
    ),
    Pattern(
        "injection: the hidden prompt is asked for",
        60,
        compiled(
            rf"{_HEAD}(?:reveal|print|repeat|show|output|leak)\s+(?:me\s+)?(?:all\s+|the\s+|your\s+|of\s+)*"
            r"(?:system|hidden|initial|secret)\s+(?:prompt|instructions?|message)"
        ),
        compiled(r"\bsystem\s+prompt\b"),
    ),
    Pattern(
        "suspicious: a safeguard is to be switched off",
        60,
        compiled(
            rf"{_HEAD}(?:bypass|override|disable|ignore|circumvent|turn\s+off)\s+(?:all\s+|your\s+|any\s+|every\s+|the\s+)*"
            r"(?:safety|ethics|ethical|content|moderation)\s*(?:filters?|checks?|protocols?|rules?|measures?|"
            r"guidelines|warnings?|systems?|constraints?|policy|policies)?(?=\W|$)"
            rf"|{_HEAD}(?:bypass|disable|override)\s+(?:all\s+|your\s+|every\s+)+(?:security|filters?|checks?|restrictions?)"
            r"|\bwithout\s+(?:any\s+)?(?:safety|ethics|ethical)\s+(?:checks?|checking|filters?|limits?|rules?)"
        ),
        compiled(
            r"\b(?:bypass|override|disable|without|ignore)\w*\s+(?:\w+\s+)?(?:safety|security|ethics|filters?|checks?|"
            r"checking|warnings?)\b"
        ),
    ),
    Pattern(
        "sql: a statement is smuggled in",
        60,
        compiled(
            r"['\"]\s*(?:OR|AND)\s+['\"]?\w+['\"]?\s*=\s*['\"]?\w+"
            r"|['\")0-9]\s*;\s*(?:DROP|DELETE|TRUNCATE|ALTER|INSERT|UPDATE)\s+|;\s*DROP\s+TABLE\b"
            r"|['\")0-9]\s*UNION\s+(?:ALL\s+)?SELECT\b|['\"]\s*;?\s*--\s*$"
        ),
        compiled(r"\bUNION\s+SELECT\b|\bDROP\s+TABLE\b|--\s*\Z|['\"]\s+OR\s+['\"]"),
    ),
)
"""Every kind counts once, by its weightiest sign."""

_REPEATED: Final = re.compile(r"(\S)\1{20,}")
_HIDDEN: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN: Final = re.compile(r"[A-Za-z]{4,}")
_SYMBOLS_SHARE: Final = 0.3


def issues(text: str) -> Iterator[ScreeningMatch]:
    """What is found in a text by its words and its characters."""
    yield from _patterns(text)
    yield from _characters(text)


def _patterns(text: str) -> Iterator[ScreeningMatch]:
    for pattern in PATTERNS:
        found = pattern.commanded.search(text)
        if found:
            yield ScreeningMatch(pattern.kind, pattern.points, shown(found[0]))
        elif pattern.mentioned and (found := pattern.mentioned.search(text)):
            yield ScreeningMatch(f"mentioned, not commanded: {pattern.kind}", MENTION, shown(found[0]))


def _characters(text: str) -> Iterator[ScreeningMatch]:
    symbols = sum(not (char.isalnum() or char.isspace()) for char in text)
    if len(text) >= 20 and symbols / len(text) > _SYMBOLS_SHARE:
        yield ScreeningMatch(
            "symbols", 20, f"{symbols} of {len(text)} characters are neither letters nor digits"
        )
    repeated = _REPEATED.search(text)
    if repeated:
        yield ScreeningMatch("repetition", 40, f"{repeated[1]!r} {len(repeated[0])} times in a row")
    if "\0" in text:
        yield ScreeningMatch("NUL", 90, "a NUL character")
    hidden = _HIDDEN.findall(text)
    if hidden:
        yield ScreeningMatch("hidden characters", 40, f"{len(hidden)}, the first U+{ord(hidden[0]):04X}")
    if _CJK.search(text) and _LATIN.search(text):
        yield ScreeningMatch("mixed scripts", 5, "CJK and Latin letters")
