r"""Words that must go: how they are found in every form they were written in, and replaced.

    sought   "the code is\
  4711-0815"
    found    {"text":"\\u0074he code is"} … L12 | 4711-0815 … 4711\\u20110815
    read     "p\\u0061ss\\/word"   pass&#x2F;word   pass%2Fword   \\"p\\\\u0061ss…\\" in a string in a string    →
pass/word

Words are looked for whole and line by line, in what a reader would see. A line of a few characters occurs everywhere,
so it is looked for only together with the lines around it. The limit depends on who gave the words.

One level of escapes of JSON (and TOML), of HTML or of URLs is undone at a time, and each reading on the way counts,
because a text may have been quoted any number of times. A reading is folded: compatible Unicode forms are one (NFKD),
invisible characters are left out, and white space is one blank. Case is kept, and so is every other code: base64, a
hash, a translation or a picture of the words is another text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from io import StringIO
from typing import Final
from urllib.parse import unquote

Place = tuple[int, int]
"""From and to, as indices into the text as it was written."""


class PlacedText:
    """Reading of a text that is put together from pieces, with the place that each of its characters was written at.

    Places are arrays of numbers, 8 bytes for a character: a ledger may hold texts of many megabytes.
    """

    def __init__(self) -> None:
        # Not a list of pieces: a text may be nothing but escapes, and each piece would be an object.
        self._pieces = StringIO()
        self.begins = array("I")
        self.ends = array("I")

    @cached_property
    def text(self) -> str:
        """The characters; afterwards nothing can be added."""
        text = self._pieces.getvalue()
        self._pieces.close()
        return text

    def place(self, begin: int, end: int) -> Place:
        """Return the place of a part of the reading that is not empty."""
        return self.begins[begin], self.ends[end - 1]

    def add(self, piece: str, begins: Iterable[int], ends: Iterable[int]) -> None:
        """Add a piece, with the places of its characters."""
        self._pieces.write(piece)
        self.begins.extend(begins)
        self.ends.extend(ends)

    def add_at(self, piece: str, place: Place) -> None:
        """Add a piece whose characters were all written at one place."""
        self.add(piece, [place[0]] * len(piece), [place[1]] * len(piece))

    def copy(self, written: PlacedText, begin: int, end: int) -> None:
        """Add a part of another text with its places."""
        self.add(written.text[begin:end], written.begins[begin:end], written.ends[begin:end])


READINGS_MAX: Final = 48
"""Of one text; few texts have more than four."""

_STRING: Final = re.compile(
    r"""\\(?: u(?P<high>[dD][89abAB][0-9a-fA-F]{2}) \\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})
          | u(?P<four>[0-9a-fA-F]{4}) | U(?P<eight>00(?:0[0-9a-fA-F]|10)[0-9a-fA-F]{4}) | x(?P<two>[0-9a-fA-F]{2})
          | (?P<letter>[nrtbf"'/\\]) )""",
    re.VERBOSE,
)
_PERCENT: Final = re.compile(r"(?:%[0-9a-fA-F]{2})+")
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
_WORD: Final = re.compile(r"\S+")
_LETTERS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)


def folded(text: str) -> str:
    """Return `text` in one Unicode form, without invisible characters, every run of white space one blank."""
    if not text.isascii():
        text = _UNSEEN.sub("", unicodedata.normalize("NFKD", text))
    return " ".join(text.split())


def readings(text: str) -> Iterator[str]:
    """Yield every reading of `text`, folded, beginning with the text itself."""
    seen, later = {text}, [text]
    while later:
        reading = later.pop(0)
        yield folded(reading)
        for sign, spelled, meant in _CODES:
            # A hostile text could decode in exponentially many ways, so the number of readings is bounded.
            if sign in reading and len(seen) < READINGS_MAX:
                undone = spelled.sub(meant, reading)
                if undone not in seen:
                    seen.add(undone)
                    later.append(undone)


def placed_readings(text: str) -> Iterator[PlacedText]:
    """Yield every reading of `text`, folded, with the place of each character."""
    written = PlacedText()
    written.add(text, range(len(text)), range(1, len(text) + 1))
    seen, later = {text}, [written]
    while later:
        written = later.pop(0)
        yield _folded(written)
        for sign, spelled, meant in _CODES:
            if sign in written.text and len(seen) < READINGS_MAX:
                undone = _undone(written, spelled, meant)
                if undone.text not in seen:
                    seen.add(undone.text)
                    later.append(undone)


def _undone(
    written: PlacedText, spelled: re.Pattern[str], meant: Callable[[re.Match[str]], str]
) -> PlacedText:
    """Return the text after undoing one level of one code."""
    decoded = PlacedText()
    end = 0
    for match in spelled.finditer(written.text):
        decoded.copy(written, end, match.start())
        end = match.end()
        decoded.add_at(meant(match), written.place(match.start(), end))
    decoded.copy(written, end, len(written.text))
    return decoded


def _folded(written: PlacedText) -> PlacedText:
    """Return the folded text with places."""
    normal = written if written.text.isascii() else _decomposed(written)
    kept = PlacedText()
    end = 0
    for word in _WORD.finditer(normal.text):
        if end:
            kept.add_at(" ", normal.place(end, word.start()))
        end = word.end()
        kept.copy(normal, word.start(), end)
    return kept


def _decomposed(written: PlacedText) -> PlacedText:
    """Return the text in one Unicode form, without invisible characters, with places."""
    kept = PlacedText()
    text = written.text
    end = 0
    while end < len(text):
        begin, end = end, end + 1
        # A character goes with its combining marks, because Unicode forms reorder marks.
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        cluster = _UNSEEN.sub("", unicodedata.normalize("NFKD", text[begin:end]))
        kept.add_at(cluster, written.place(begin, end))
    return kept


def _of_string(spelled: re.Match[str]) -> str:
    part = spelled.groupdict()
    if part["high"]:
        return chr(0x10000 + ((int(part["high"], 16) & 0x3FF) << 10) + (int(part["low"], 16) & 0x3FF))
    code = part["four"] or part["eight"] or part["two"]
    return chr(int(code, 16)) if code else _LETTERS.get(part["letter"], part["letter"])


_CODES: Final[tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], str]], ...]] = (
    ("\\", _STRING, _of_string),
    ("%", _PERCENT, lambda spelled: unquote(spelled[0], errors="replace")),
    ("&", _ENTITY, lambda spelled: html.unescape(spelled[0])),
)
"""A sign without which a code is not there, what it looks like, and what one level of it means."""


INSTEAD: Final = "[redacted]"
WORDS_MIN: Final = 4
"""Characters of a line of words that a person gave."""
LINE_MIN: Final = 8
"""Characters of a line of a document or a reply."""
WHOLE_MAX: Final = 8_000
"""Characters of a text of several lines that is also looked for as a whole."""
_COVERED: Final = re.compile(rb"\x01+")
_BETWEEN: Final = r" (?:L?\d+[.:)]? )?(?:[|>] )?"
"""Text between two lines that are quoted with line numbers or after bars."""


class Sought:
    """Words of one or more texts.

    `short` counts the lines that are too short to be looked for by themselves, `spared` those that are not looked for
    at all.
    """

    def __init__(self) -> None:
        self._lines: set[str] = set()
        self._wholes: list[re.Pattern[str]] = []
        self._names: set[str] = set()
        self.short = 0
        self.spared = 0

    def add(
        self, text: str, *, characters_min: int = LINE_MIN, spare: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Add `text` to the search, except lines that `spare` says are not its own."""
        lines = [line for line in map(folded, text.splitlines()) if line]
        short = [line for line in lines if len(line) < characters_min]
        self.short += len(short)
        for line in lines:
            if len(line) >= characters_min:
                self._add_line(line, spare)
        # Short lines are found again by their neighbors. Beyond the limit the pattern would cost too much on
        # every line.
        if short and len(lines) > 1 and len(text) <= WHOLE_MAX:
            self.add_whole(text)

    def add_whole(self, text: str) -> None:
        """Add `text` to the search as a whole, its lines one after the other, whatever they are."""
        lines = [line for line in map(folded, text.splitlines()) if line]
        if lines:
            self._wholes.append(re.compile(_BETWEEN.join(map(re.escape, lines))))

    def _add_line(self, line: str, spare: Callable[[str], bool]) -> None:
        if spare(line):
            self.spared += 1
            return
        self._lines.add(line)
        self._names.add(_name(line))

    def __bool__(self) -> bool:
        return bool(self._lines or self._wholes)

    def stand_in(self, text: str) -> bool:
        """Return whether some of the words occur in `text`, however it is escaped."""
        return any(True for reading in readings(text) for _ in self._matches(reading))

    def stand_in_bytes(self, content: bytes) -> bool:
        """Return whether some of the words occur in a file."""
        return self.stand_in(content.decode("utf-8", "replace"))

    def stand_in_name(self, name: str) -> bool:
        """Return whether a name was made of the words: lower case, with dashes for other characters."""
        folded_name = _name(name)
        return self.stand_in(name) or any(
            len(sought) >= WORDS_MIN and sought in folded_name for sought in self._names
        )

    def without(self, text: str) -> str:
        """Return `text` with `[redacted]` for each of the words, so that counts of words stay the same."""
        # Different readings find overlapping places; joined, no half of a word survives between two replacements.
        covered = bytearray(len(text))
        for reading in placed_readings(text):
            for match in self._matches(reading.text):
                begin, end = reading.place(*match)
                covered[begin:end] = b"\1" * (end - begin)
        pieces: list[str] = []
        done = 0
        for place in _COVERED.finditer(covered):
            pieces += (text[done : place.start()], _WORD.sub(INSTEAD, text[place.start() : place.end()]))
            done = place.end()
        return "".join((*pieces, text[done:]))

    def _matches(self, seen: str) -> Iterator[Place]:
        for line in self._lines:
            at = seen.find(line)
            while at >= 0:
                yield at, at + len(line)
                at = seen.find(line, at + 1)
        for whole in self._wholes:
            yield from (match.span() for match in whole.finditer(seen))


def _name(text: str) -> str:
    return "-".join(re.findall(r"\w+", text.casefold()))
