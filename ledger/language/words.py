"""Words, sentences and questions in any script.

    one two three           3 words     white space parts them; a compound or a Korean phrase is one word
    日志写一个文件           4 words     Chinese and Japanese: two characters are a word
    ภาษาไทย                2 words     Thai, Lao, Khmer, Burmese: four letters are a word

A limit such as "at most 25 words" therefore lets a text in these scripts say about as much as an English one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_IDEOGRAPHIC: Final = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
)
"""Han characters, kana and bopomofo."""
_SYLLABIC: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0edf\u0f40-\u0fbc\u1000-\u103f\u1050-\u109f\u1780-\u17d3\u19e0-\u19ff"
)
"""Thai, Lao, Tibetan, Burmese and Khmer."""
UNSPACED: Final = re.compile(f"[{_IDEOGRAPHIC}]+")
"""Text whose pairs of characters are compared or counted."""
_UNSPACED: Final = re.compile(f"[{_IDEOGRAPHIC}]+|[{_SYLLABIC}]+")
_CHARACTERS, _LETTERS = 2, 4
"""Characters of a word in Chinese or Japanese; letters of a word in Thai and its neighbors."""

# A full stop ends a sentence before white space; the marks of scripts without spaces end one anywhere.
_CLOSING: Final = "\"'”’»)\\]」』）】〕"
_STOP: Final = f"[.!?…؟۔।॥՞։።፧။][{_CLOSING}]{{0,4}}(?=\\s|$)|[。！？｡](?![。！？｡])[{_CLOSING}]{{0,4}}"
_ENDS: Final = re.compile(_STOP)
_BREAKS: Final = re.compile(f"(?:{_STOP})\\s*")
_FIRST: Final = re.compile(f".{{20,}}?(?:{_STOP})|.{{7,}}?[。！？｡](?![。！？｡])[{_CLOSING}]{{0,4}}")
_ASKS: Final = re.compile(f"[?？؟;՞፧⁇⸮][{_CLOSING}*_\\s]*$|(?:吗|嗎|呢|か|까|나요)[。.｡]?[{_CLOSING}\\s]*$")

CASELESS: Final = (
    "\u0590-\u109f\u1100-\u139f\u1400-\u1bff\u2d30-\u2d7f\u2d80-\u2ddf\u2e80-\ua4cf\ua6a0-\ua6ff\ua800-\uab2f\uabc0-\ud7ff"
    "\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefe\uff66-\uffdc\U00010800-\U00010bff\U00011000-\U000123ff\U00020000-\U0003ffff"
)
"""Scripts without capitals, for a class of a regular expression: there a name or number needs no space around it."""
_TOKEN: Final = re.compile(f"[{_IDEOGRAPHIC}]|(?:(?![{_IDEOGRAPHIC}])\\w)+")

ENGLISH: Final = re.compile(
    r"\b(?:the|and|our|should|what|which|how|does|this|that|these|those|with|please|from|why|where|when|who|would|could"
    r"|my|your|their|its?|to|is|are|we|i|of|for|vs)\b",
    re.IGNORECASE,
)
# Frequent words that English has too are left out (die, per, con, pour, jest, til), and so are MIT, OS, UN and vi.
FOREIGN: Final = re.compile(
    r"\b(?:der|das|und|ist|wir|unsere?[mnrs]?|sollten?|soll|wie|welche[mnrs]?|f[üu]r|oder|nicht|eine?[mnrs]?|zu[mr]?"
    r"|le|la|les|une|est|avec|ou|nous|notre|quel(?:le)?s?|faut|el|los|las|que|una|es|por|c[óo]mo|cu[áa]l|debemos"
    r"|deber[íi]a(?:mos)?|il|che|sono|gli|di|quale|dovremmo|della|uma|n[ãa]o|qual|devemos|het|een|voor|wij|onze"
    r"|moeten|och|att|ska|det|czy|nie|jak|og|skal)\b",
    re.IGNORECASE,
)
"""Frequent words of English, and of other languages that use the same letters."""
LATIN_LETTERS_MIN: Final = 0.9


def word_count(text: str) -> int:
    """Return the number of words: separated by white space, and a share of each run in a script without spaces."""
    if text.isascii():
        return len(text.split())
    return sum(_words_between_blanks(part) for part in text.split())


def _words_between_blanks(part: str) -> int:
    if part.isascii():
        return 1
    count = 0
    for run in _UNSPACED.findall(part):
        # Vowel signs and tone marks belong to the letter before them.
        letters = sum(not unicodedata.category(character).startswith("M") for character in run)
        size = _CHARACTERS if UNSPACED.match(run) else _LETTERS
        count += max(1, -(-letters // size))
    if not count:
        return 1
    rest = _UNSPACED.sub(" ", part).split()
    return count + sum(any(character.isalnum() for character in word) for word in rest)


def first_words(text: str, count: int) -> str:
    """Return the beginning of a text with at most `count` words, on one line."""
    kept: list[str] = []
    for part in text.split():
        words = word_count(part)
        if words > count:
            # Only a script without spaces has several words between two blanks.
            while part and word_count(part) > count:
                part = part[: len(part) - 1 - len(part) // 8]
            return " ".join([*kept, part] if part and count else kept)
        kept.append(part)
        count -= words
    return " ".join(kept)


def tokens(text: str) -> list[str]:
    """Return words without marks and capitals, for a comparison; a Chinese or Japanese character is one of its own."""
    return _TOKEN.findall(text.casefold())


def sentences(text: str) -> list[str]:
    """Return the sentences of one line of text; an abbreviation before a lower-case letter does not end one."""
    parts: list[str] = []
    begin = 0
    for match in _BREAKS.finditer(text):
        after = text[match.end() : match.end() + 1]
        if after and not after.islower() and (part := text[begin : match.end()].strip()):
            parts.append(part)
            begin = match.end()
    return [*parts, last] if (last := text[begin:].strip()) else parts


def sentence_count(text: str) -> int:
    """Return the number of sentences by what ends them; at least one in any text."""
    return max(1, len(_ENDS.findall(text)))


def first_sentence(text: str) -> str:
    """Return the first sentence of one line of text."""
    match = _FIRST.match(text)
    return match[0] if match else text


def asks(text: str) -> bool:
    """Return whether a sentence ends as a question does, in whatever script."""
    return _ASKS.search(text) is not None


def is_english(text: str) -> bool:
    """Return whether a text may be English: Latin letters, and frequent words mostly of English."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(letter.isascii() for letter in letters)
    if not letters or latin < LATIN_LETTERS_MIN * len(letters):
        return False
    known, foreign = len(ENGLISH.findall(text)), len(FOREIGN.findall(text))
    # A chore in three words has no word of either list: "fix typo README".
    return foreign == 0 or known > foreign


def is_part_of_name(character: str) -> bool:
    """Return whether a digit after this character belongs to a name: `p99`, but not 超过5000次."""
    # Only scripts with capitals write names and digits together; elsewhere a number follows a word without a space.
    return character == "_" or character.islower() or character.isupper()
