"""The gate's cues: what speaks for each kind of question, and the words that name stakes (AD-2, AD-9).

`gate_cues.tsv` gives each cue a weight for every kind. The weights are learned from questions that people would type,
each with a label (`python -m benchmarks.gate.learn`, benchmarks/gate/README.md). Patterns written by hand were right
on half as many questions that nobody had seen, because few people use the words that a pattern expects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

CUES: Final = Path(__file__).with_name("gate_cues.tsv")
_TOKEN: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[?!:;,.\"()/]|->")
_SENTENCE: Final = re.compile(r"(?<=[.?!:;])\s+|\n+")
_QUOTES: Final = str.maketrans("’“”", '\'""')
LONG: Final = (16, 32)
"""Lengths in words and marks; a question longer than one of them has its cue."""
COMMAS: Final = (1, 3, 6)


def cues_of(text: str) -> set[str]:
    """Return the cues of a question: words, pairs of neighbors, `^` beginnings of sentences, and its form in brackets.

    Digits count as `#`, so that one number is like another.
    """
    text = text.lower().translate(_QUOTES)
    cues = set(_form(text))
    for sentence in _SENTENCE.split(text):
        words = ["#" if token.isdigit() else token for token in _TOKEN.findall(sentence)]
        cues.update(words)
        cues.update(f"{first} {second}" for first, second in pairwise(words))
        # "improve" as the first word is a request; in the middle of a sentence it tells little.
        cues.update(f"^{' '.join(words[:count])}" for count in (1, 2, 3) if words)
    return cues


def _form(text: str) -> Iterator[str]:
    length, commas = len(_TOKEN.findall(text)), text.count(",")
    yield from (f"[longer than {least}]" for least in LONG if length > least)
    yield from (f"[{least} commas]" for least in COMMAS if commas >= least)
    yield "[ends with ?]" if text.rstrip().endswith("?") else "[ends without ?]"
    if "?" not in text:
        yield "[asks nothing]"
    if "\n" in text.strip():
        yield "[lines]"
    if '"' in text:
        yield "[quotation]"


@cache
def weights() -> tuple[tuple[str, ...], Mapping[str, tuple[int, ...]]]:
    """Return the kinds, and the weights of each cue in the order of the kinds; those of the empty cue always count."""
    # Read on first use: most commands need no gate.
    head, *lines = (line.split("\t") for line in CUES.read_text("utf-8").splitlines())
    return tuple(head[1:]), {cue: tuple(map(int, row)) for cue, *row in lines}


def scores(cues: set[str]) -> dict[str, int]:
    """Return the sum of the weights for each kind, in hundredths of a natural logarithm."""
    kinds, rows = weights()
    counted = [row for cue in ("", *cues) if (row := rows.get(cue))]
    return {kind: sum(column) for kind, column in zip(kinds, zip(*counted, strict=True), strict=True)}


def evidence(cues: set[str], kind: str, other: str) -> list[str]:
    """Return the cues that speak for a kind and against another, the heaviest first."""
    kinds, rows = weights()
    this, that = kinds.index(kind), kinds.index(other)
    surplus = {cue: row[this] - row[that] for cue in cues if (row := rows.get(cue))}
    return sorted(
        (cue for cue, weight in surplus.items() if weight > 0), key=lambda cue: (-surplus[cue], cue)
    )


def _pattern(*parts: str) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.IGNORECASE)


CHOICE: Final = _pattern(r"\w,? or (?!not\b|so\b|later\b|no\b|more\b|less\b)\w[^.!]*\?")
"""Two named options, for which `comparative` would fit too."""

STAKES: Final = _pattern(
    r"\b(?:production|prod|live (?:data\w*|systems?|sites?|servers?|tables?)|customers?|client data|user data|users"
    r"|delete (?:all|the data|our|every)|drop (?:the|it|this|all)|wipe|erase|purge|destroy|truncate|irrevers\w*"
    r"|undo(?:ne)?|permanent\w*|forever|for good|data ?bases?|backups?|los(?:e|es|ing|s|t)|recover\w*|restor\w*"
    r"|corrupt\w*|outages?|downtime|deploy\w*|roll-?back|migrat\w*|force-?push|main branch|git history"
    r"|delete (?:\w+ )?rows|charge[sd]?)\b",
    r"\b(?:securit\w*|secure|vulnerab\w*|passwords?|secrets?|credentials?|tokens?|certificates?|encrypt\w*"
    r"|auth(?:entication|orization)?|log-?ins?|sudo|admin(?:istrator)?s?|validation"
    r"|(?:private|api|signing) keys?|firewall|permissions?|access rights)\b",
    r"\b(?:money|pay(?:s|ing|ment\w*|roll)?|salar\w*|budget\w*|invoices?|billing|tax(?:es)?|fees?|prices?|pension\w*"
    r"|insur\w*|loans?|mortgage|invest\w*)\b",
    r"\b(?:contracts?|legal\w*|law(?:s|suit|ful|yer)?|liab\w*|gdpr|privacy|complian\w*|regulat\w*|court|visa|deadline"
    r"|notice period|hir(?:e|ing)|fir(?:e|ing) (?:him|her|them|the|a)|dismiss\w*)\b",
    r"\b(?:patients?|dos(?:e|es|age|ages)|medic\w*|drugs?|allerg\w*|pregnan\w*|bab(?:y|ies)|child(?:ren)?|toddlers?"
    r"|symptoms?|safe(?:ty|ly)?|hazard\w*|toxic|poison\w*|chemicals?|voltage|mains|gas (?:leak|line|pipe|boiler)"
    r"|fever|pain|blood|vaccin\w*|surgery|emergenc\w*|fire (?:alarm|exit|extinguisher)|smoke|food|eat(?:en)?|mushrooms?"
    r"|ladders?|load-?bearing|brakes?|weapons?|explosive\w*|radiation|suicid\w*|injur\w*|danger\w*|lives)\b",
)
"""Words that show that a wrong answer costs something; one reply is not enough then."""
