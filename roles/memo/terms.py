"""Words of a memo: terms that an outside reader cannot know, likelihood words, and claims that something was tested.

An id, a word of this program, an acronym or a name with digits or underscores is a term, unless the question, the
goals, the options or the documents use it too. A term is allowed if the same sentence explains it:

    the write-ahead log (WAL)     WAL (a log that is written first)     WAL, that is a log that is written first

Likelihood words are always written together with their ranges (LIT-8).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from ledger.events.envelope import EvidenceClass
from ledger.events.ids import is_id, parse_step
from ledger.language.words import CASELESS

INSIDERS: Final = frozenset(
    {"crux", "cruxes", "defeater", "defeaters", "doubter", "evsi", "falsifier", "falsifiers"}
    | {"redraw", "retest", "sightings", "verifier"}
)
"""Words that only readers of ledgers know. Names with underscores are terms in any case."""
UNITS: Final = frozenset({"AM", "EUR", "GB", "GBP", "KB", "MB", "PB", "PM", "QPS", "RPS", "TB", "USD"})
"""Units in capitals, which are not terms after a number."""

# Scripts without capitals write no spaces between words, so a Chinese sentence with a number in it would be one token.
_TOKEN: Final = re.compile(rf"(?:[~#+./-]|(?![{CASELESS}])\w)+")
_EDGES: Final = "./-+~#"
_NAME: Final = re.compile(r"\w+")
_ANCHOR: Final = re.compile(r"(?:crux|defeater|reason|finding|plan)-[1-9][0-9]{0,3}")
# A number, optionally with its unit attached: 40ms, 5GB, 3rd, 3fach.
_QUANTITY: Final = re.compile(
    r"\d+(?:st|nd|rd|th|[A-Za-zµμΩ]{1,3}|fach\w*|prozentig\w*|stündig\w*|minütig\w*|tägig\w*|jährig\w*|köpfig\w*)?"
)
_PARENTHESES: Final = str.maketrans("（）", "()")
_IN_CAPITALS: Final = re.compile(r"[A-Z]{2,}s?")
_WORDS_MAX: Final = 40
"""Characters of the longest token that is split into words."""


class Term(NamedTuple):
    """Term with its position in the sentence. `kind`: an id, a word of this program, or a term of a field."""

    text: str
    begin: int
    end: int
    kind: str


@lru_cache(4)
def vocabulary(texts: tuple[str, ...]) -> frozenset[str]:
    """Return the tokens of the opening and its documents and the parts of each, case-folded."""
    words: set[str] = set()
    for text in texts:
        for match in _TOKEN.finditer(text):
            token = match[0].strip(_EDGES).casefold()
            words.add(token)
            words.update(_NAME.findall(token))
    return frozenset(words)


def terms(text: str, known: frozenset[str]) -> Iterator[Term]:
    """Yield the terms of a sentence that are not `known`, explained or not."""
    number_before = False
    for match in _TOKEN.finditer(text):
        token = match[0].strip(_EDGES)
        begin = match.start() + match[0].find(token) if token else match.start()
        if token:
            unit = number_before and token in UNITS
            kind = "" if token.casefold() in known or unit else _kind(token, known)
            if kind:
                yield Term(token, begin, begin + len(token), kind)
            # "5 GB" is a quantity; the unit is a token of its own after the number.
            number_before = _QUANTITY.fullmatch(token.rpartition(".")[2]) is not None


def without_ids(text: str) -> str:
    """Return the text with a blank for every id, because the digits of an id are not a number."""
    done, kept = 0, list[str]()
    for term in terms(text, frozenset()):
        if term.kind == "id":
            kept += (text[done : term.begin], " ")
            done = term.end
    return "".join((*kept, text[done:]))


def is_explained(term: Term, text: str) -> bool:
    """Return whether the sentence explains a term.

    It does if parentheses with words follow the term, if the term is in parentheses after words, or if `that is`
    follows it.
    """
    # Chinese and Japanese texts use full-width parentheses.
    text = text.translate(_PARENTHESES)
    rest = text[term.end :]
    if "that is" in rest.casefold():
        return True
    after = rest.lstrip(" '\"’”」』")
    if after.startswith("(") and _has_words(after[1:].partition(")")[0], term.text):
        return True
    before, opened, inside = text[: term.begin].rpartition("(")
    return bool(opened) and ")" not in inside and ")" in rest and _has_words(before, term.text)


def _has_words(text: str, but: str) -> bool:
    """Return whether a text contains a plain word: two or more letters, not all capitals, and not the term itself."""
    words = (match[0] for match in _NAME.finditer(text))
    return any(word.isalpha() and len(word) > 1 and not word.isupper() and word != but for word in words)


def _kind(token: str, known: frozenset[str]) -> str:
    if _is_id(token):
        return "id"
    folded = token.casefold()
    if folded in INSIDERS:
        return "insider"
    if len(token) > _WORDS_MAX:
        return "term" if any(character.isdigit() or character == "_" for character in token) else ""
    return "term" if any(_is_term(part, known) for part in re.split(r"[-/~#+.]", token)) else ""


def _is_term(part: str, known: frozenset[str]) -> bool:
    if not part or part.casefold() in known:
        return False
    if part.casefold() in INSIDERS or "_" in part or _IN_CAPITALS.fullmatch(part):
        return True
    return any(character.isdecimal() for character in part) and not _QUANTITY.fullmatch(part)


def _is_id(token: str) -> bool:
    # The patterns of ids are slow on long tokens, and no id is that long.
    if len(token) > 200:
        return False
    identity = token.partition("#")[0]
    return (
        is_id(identity)
        or _ANCHOR.fullmatch(token.rpartition("#")[2]) is not None
        or parse_step(token) is not None
    )


def unexplained(text: str, known: frozenset[str]) -> Iterable[Term]:
    """Return the unexplained terms of a sentence; an id counts even if it is explained."""
    return (term for term in terms(text, known) if term.kind == "id" or not is_explained(term, text))


class Likelihood(NamedTuple):
    """Likelihood word with its range in percent."""

    word: str
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.word} ({self.low}–{self.high} %)"


WORDS: Final = (
    Likelihood("almost no chance", 1, 5),
    Likelihood("very unlikely", 5, 20),
    Likelihood("unlikely", 20, 45),
    Likelihood("roughly even", 45, 55),
    Likelihood("likely", 55, 80),
    Likelihood("very likely", 80, 95),
    Likelihood("almost certain", 95, 99),
)


def likelihood_of(points: Fraction) -> Likelihood:
    """Return the word for points from 0 to 100.

    A bound belongs to the range above it, except 55, which is still roughly even.
    """
    # Points are clamped to 1 … 99, because nothing is impossible and nothing is certain.
    clamped = min(max(points, Fraction(1)), Fraction(99))
    return next(
        (word for word in WORDS if clamped < word.high or (clamped == word.high == 55)),
        WORDS[-1],
    )


TESTS_CLAIMED: Final[tuple[tuple[re.Pattern[str], frozenset[EvidenceClass]], ...]] = (
    (
        re.compile(
            r"\b(tests?|programs?|experiments?|scripts?|benchmarks?|simulations?)\b[^.;]{0,60}?"
            r"\b((was|were|has been|have been) (run|executed|tried)|ran|held|passed|failed|showed|shows|confirmed)\b"
            r"|\b(tests|programs|experiments|scripts|benchmarks|simulations) (show|prove|confirm)\b"
            r"|\b(we|i) (ran|executed|tested|benchmarked|simulated)\b|\b(ran|running) it\b"
            r"|\bwhen (run|executed)\b|\b(was|were|been) tested\b"
        ),
        frozenset({"reproduced", "ran", "measured"}),
    ),
    (
        re.compile(
            r"\b(we|i) measured\b|\b(was|were|has been|have been) measured\b|\bmeasurements? (show|confirm)"
        ),
        frozenset({"measured", "reproduced", "ran"}),
    ),
)
"""Pattern that claims a test → evidence classes of which the sentence must cite one."""
# A denial before the words for a test, or a wish anywhere in the clause, claims none.
_DENIED: Final = re.compile(r"\b(no|not|never|without|nobody|none|untested)\b|n['’]t\b")
_WANTED: Final = re.compile(r"\b(if|should|would|could|must|can|will)\b")


def claimed_test(text: str, cited: Collection[str]) -> str | None:
    """Return the words that claim a test which no cited class supports; None when there are none."""
    # A negation counts within its clause only: "We ran it; no error came" still claims a test.
    for clause in re.split(r"[.;:]", text.casefold()):
        for pattern, allowed in TESTS_CLAIMED:
            match = pattern.search(clause)
            if match is None or _DENIED.search(clause[: match.end()]) or _WANTED.search(clause):
                continue
            if not allowed.intersection(cited):
                return match[0]
    return None
