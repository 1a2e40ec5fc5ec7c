"""Counting a published Jugalbandi result: by the published text rules, and by structure, which prose does not fool.

The published rules count list lines and words (JB-9 … JB-14); they reproduce the stored numbers. The structural counts
read headings and the bold word at the head of a paragraph, outside code fences (JB-13, JB-15, JB-17, JB-21).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ledger.result import Result

TAGS: Final = ("STRUCTURAL", "ASSUMPTION", "MISSING")
DISPOSITIONS: Final = ("accepted", "rejected", "escalated")
OVERLAP: Final = 0.3
"""How much of what the smaller passes found is taken for new (JB-14)."""

_LIST_LINE: Final = re.compile(r"^\s*(?:[-*]|\d+\.)\s", re.MULTILINE)
_SECOND_LEVEL: Final = re.compile(r"^##(?!#).*$", re.MULTILINE)
_ANY_BELOW_FIRST: Final = re.compile(r"^##.*$", re.MULTILINE)
_THIRD_LEVEL: Final = re.compile(r"^### ", re.MULTILINE)
_ASSUMPTIONS: Final = re.compile(r"^##(?!#).*assumption.*$", re.M | re.I)
_FENCE: Final = re.compile(r"^\s*(?:```|~~~)")
TAG_HEAD: Final = re.compile(
    rf"^\s*(?:#{{2,4}}\s+|\*\*)(?:C?\d+[.:)]?\s*(?:[—–-]\s*)?)?\[({'|'.join(TAGS)})\]", re.I
)
DISPOSITION_HEAD: Final = re.compile(
    r"^\s*(?:[-*]\s+)?(?:\*\*\s*(?:Disposition:?\s*)?)(accepted|rejected|escalated)\b[^*]*\*\*", re.I
)


class StructuralCounts(Result, frozen=True):
    """What the transcripts hold by structure: listed assumptions, tagged challenges, and how each was disposed of."""

    assumptions: int
    challenges: dict[str, int]
    dispositions: dict[str, int]


class JugalbandiCounts(Result, frozen=True):
    """`published` has the field names of the stored result (JB-8), `structural` what is really there."""

    published: dict[str, Any]
    structural: StructuralCounts


class NotAResult(ValueError):
    """The object is no published Jugalbandi result; the message names what is missing."""


def jugalbandi_counts(result: Mapping[str, Any]) -> JugalbandiCounts:
    """Count the raw outputs of one result file again. Raises `NotAResult`."""
    try:
        single = str(result["single_pass"]["raw_output"])
        council = [str(text) for text in result["council"]["raw_outputs"]]
        raw = result["jugalbandi"]["raw_outputs"]
        proposer, challenger, resolver = (str(raw[role]) for role in ("proposer", "challenger", "resolver"))
    except (KeyError, TypeError) as missing:
        raise NotAResult(f"a result has {missing}") from None
    return JugalbandiCounts(
        published=_published(single, council, proposer, challenger, resolver),
        structural=StructuralCounts(
            assumptions=len(assumption_lines(proposer)),
            challenges=_headed(challenger, TAG_HEAD, TAGS),
            dispositions=_headed(resolver, DISPOSITION_HEAD, DISPOSITIONS),
        ),
    )


def _published(
    single: str, council: list[str], proposer: str, challenger: str, resolver: str
) -> dict[str, Any]:
    alone = published_assumptions(single, baseline=True)
    passes = [published_assumptions(text) for text in council]
    tags = {tag: len(re.findall(re.escape(f"[{tag}]"), challenger, re.I)) for tag in TAGS}
    words = {word: len(re.findall(rf"\*{{0,2}}{word}\*{{0,2}}", resolver, re.I)) for word in DISPOSITIONS}
    proposed = published_assumptions(proposer)
    most = max(passes, default=0)
    return {
        "single_pass": {"assumptions_surfaced": alone, "self_critiques": published_critiques(single)},
        "council": {
            "total_assumptions": sum(passes),
            "total_critiques": sum(published_critiques(text) for text in council),
            "unique_assumptions_estimate": _rounded(most + OVERLAP * (sum(passes) - most)),
        },
        "jugalbandi": {
            "proposer_assumptions": proposed,
            "challenger_challenges": sum(tags.values()),
            "challenge_tags": tags,
            "resolver_dispositions": words,
        },
        "delta": {
            "new_assumptions_found": max(0, proposed - alone),
            "non_trivial_challenges": sum(tags.values()),
            "plan_changed": words["accepted"] > 0,
        },
    }


def _rounded(value: float) -> int:
    """Halves go up, as in the published harness."""
    return int(value + 0.5)


def published_assumptions(text: str, *, baseline: bool = False) -> int:
    """List lines of the first section about assumptions; the baseline's section ends at any `##…` (JB-9, JB-10)."""
    section = _section(text, _ASSUMPTIONS, baseline=baseline)
    return 0 if section is None else len(_LIST_LINE.findall(section))


def assumption_lines(text: str) -> list[str]:
    """Outermost entries of the assumptions section, outside code: an entry's own sub-points are no assumptions."""
    section = _section("\n".join(_outside_code(text)), _ASSUMPTIONS)
    if section is None:
        return []
    entries = [line for line in section.splitlines() if _LIST_LINE.match(line)]
    outermost = min((len(line) - len(line.lstrip()) for line in entries), default=0)
    kept = [line for line in entries if len(line) - len(line.lstrip()) == outermost]
    return [_LIST_LINE.sub("", line, count=1).strip() or line.strip() for line in kept]


def published_critiques(text: str) -> int:
    """Third-level headings of the first section about critiques or flaws, else its list lines (JB-11)."""
    section = _section(text, re.compile(r"^##(?!#).*(?:crit|flaw).*$", re.M | re.I))
    if section is None:
        return 0
    return len(_THIRD_LEVEL.findall(section)) or len(_LIST_LINE.findall(section))


def _section(text: str, heading: re.Pattern[str], *, baseline: bool = False) -> str | None:
    found = heading.search(text)
    if found is None:
        return None
    rest = text[found.end() :]
    end = (_ANY_BELOW_FIRST if baseline else _SECOND_LEVEL).search(rest)
    return rest[: end.start()] if end else rest


def _headed(text: str, head: re.Pattern[str], words: tuple[str, ...]) -> dict[str, int]:
    counts = dict.fromkeys(words, 0)
    for line in _outside_code(text):
        found = head.match(line)
        if found is not None:
            key = next(word for word in words if word.lower() == found[1].lower())
            counts[key] += 1
    return counts


def _outside_code(text: str) -> list[str]:
    lines = text.splitlines()
    return [line for line, kept in zip(lines, without_code(lines), strict=True) if kept]


def without_code(lines: list[str]) -> list[bool]:
    """For each line whether it stands outside code fences, and is none itself."""
    kept: list[bool] = []
    inside = False
    for line in lines:
        fence = _FENCE.match(line) is not None
        kept.append(not fence and not inside)
        inside ^= fence
    return kept
