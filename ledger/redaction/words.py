"""Words that must go: how they are found in whatever was made of them, and taken out.

    sought   "the code is\\n  4711-0815"
    found    {"text":"\\u0074he code is"} … L12 | 4711-0815 … 4711\u20110815

Words are looked for whole and line by line, in what a reader would see (spellings.py). A line of a few characters
stands everywhere; it is looked for only together with the lines around it. What a few are depends on who gave them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from ledger.redaction.spellings import Place, folded, placed_readings, readings

INSTEAD: Final = "[redacted]"
WORDS_MIN: Final = 4
"""Characters of a line of words that a person gave."""
LINE_MIN: Final = 8
"""Characters of a line of a document or a reply."""
WHOLE_MAX: Final = 8_000
"""Characters of a text of several lines that is also looked for as a whole."""
_BETWEEN: Final = r" (?:L?\d+[.:)]? )?(?:[|>] )?"
"""Between two lines, when they are quoted with numbers or behind bars."""


class Sought:
    """Words of one or more texts. `short` counts the lines that are too short to be looked for by themselves, `spared`
    those that are not looked for at all."""

    def __init__(self) -> None:
        self._lines: set[str] = set()
        self._wholes: list[re.Pattern[str]] = []
        self._names: set[str] = set()
        self.short = 0
        self.spared = 0

    def add(
        self, text: str, *, characters_min: int = LINE_MIN, spare: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Look for `text` too, except lines that `spare` says are not its own."""
        lines = [line for line in map(folded, text.splitlines()) if line]
        short = [line for line in lines if len(line) < characters_min]
        self.short += len(short)
        for line in lines:
            if len(line) >= characters_min:
                self._add_line(line, spare)
        if short and len(lines) > 1 and len(text) <= WHOLE_MAX:
            self.add_whole(text)

    def add_whole(self, text: str) -> None:
        """Look for `text` as a whole, its lines one after the other, whatever they are."""
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
        """Whether some of the words stand in `text`, however it is written."""
        return any(True for said in readings(text) for _ in self._found(said))

    def stand_in_bytes(self, content: bytes) -> bool:
        """Whether some of the words stand in a file."""
        return self.stand_in(content.decode("utf-8", "replace"))

    def stand_in_name(self, name: str) -> bool:
        """Whether a name was made of the words: lower case, with dashes for what is no letter."""
        made = _name(name)
        return self.stand_in(name) or any(len(one) >= WORDS_MIN and one in made for one in self._names)

    def without(self, text: str) -> str:
        """`text` with `[redacted]` for each of the words, so that counts of words stay what they were."""
        places = {
            (at[begin][0], at[end - 1][1])
            for said, at in placed_readings(text)
            for begin, end in self._found(said)
        }
        said: list[str] = []
        done = 0
        for begin, end in _joined(sorted(places)):
            said += (text[done:begin], re.sub(r"\S+", INSTEAD, text[begin:end]))
            done = end
        return "".join((*said, text[done:]))

    def _found(self, seen: str) -> Iterator[Place]:
        for line in self._lines:
            at = seen.find(line)
            while at >= 0:
                yield at, at + len(line)
                at = seen.find(line, at + 1)
        for whole in self._wholes:
            yield from (match.span() for match in whole.finditer(seen))


def _joined(places: Iterable[Place]) -> Iterator[Place]:
    """Places that overlap as one."""
    last: Place | None = None
    for begin, end in places:
        if last is not None and begin <= last[1]:
            last = (last[0], max(last[1], end))
            continue
        if last is not None:
            yield last
        last = (begin, end)
    if last is not None:
        yield last


def _name(text: str) -> str:
    return "-".join(re.findall(r"\w+", text.casefold()))
