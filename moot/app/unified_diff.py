"""Unified diff of one file, computed from both contents alone: no attribute can hide a line of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from difflib import Match, SequenceMatcher
from typing import Final, NamedTuple

CONTEXT_LINES: Final = 3
LINES_MAX: Final = 40_000
"""Most differing lines of both sides that are aligned; beyond it one hunk removes all and adds all."""
STEPS_MAX: Final = 20_000_000
"""Pairs of equal lines that are compared in one change, some seconds; beyond it nothing more is aligned."""
BINARY_HEAD: Final = 8_000
LINE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
NO_NEWLINE: Final = b"\n\\ No newline at end of file\n"
PLAIN_PATH: Final = re.compile(rb"[^\x00-\x1f\x7f\"\\]+")


class FileSide(NamedTuple):
    """A file before or after a change: its path, mode, object id, size in bytes, and content if it is small enough."""

    path: bytes
    mode: int
    identity: bytes
    size: int
    content: bytes | None

    @property
    def is_binary(self) -> bool:
        """Return whether it holds a NUL byte early on, which is git's own criterion."""
        return self.content is not None and b"\0" in self.content[:BINARY_HEAD]


class _Matcher(SequenceMatcher[bytes]):
    """Alignment of two texts; a hostile text would keep it busy for hours, so all of them share a number of steps."""

    left = STEPS_MAX  # of this process, which reads one change

    def __init__(self, old: list[bytes], new: list[bytes]) -> None:
        self._old = old
        # As the class does, a line that makes up more than a hundredth of a long text is not looked up.
        self._pairs = {
            line: n for line, n in Counter(new).items() if n <= len(new) // 100 + 1 or len(new) < 200
        }
        super().__init__(None, old, new)

    def find_longest_match(
        self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None
    ) -> Match:
        # The method looks at every pair of equal lines between the two bounds of the old side.
        _Matcher.left -= sum(1 + self._pairs.get(line, 0) for line in self._old[alo:ahi])
        # Without a match, all lines between the bounds are shown as removed and added.
        return super().find_longest_match(alo, ahi, blo, bhi) if _Matcher.left > 0 else Match(alo, blo, 0)


def file_diff(old: FileSide | None, new: FileSide | None) -> bytes:
    """Return the diff of a file in git's format. One side may be missing, not both."""
    return b"".join(_lines(old, new))


def _lines(old: FileSide | None, new: FileSide | None) -> Iterator[bytes]:
    first, last = old or new, new or old
    assert first is not None, "a change has at least one side"
    assert last is not None, "a change has at least one side"
    before, after = _quoted(b"a/" + first.path), _quoted(b"b/" + last.path)
    yield b"diff --git " + before + b" " + after + b"\n"
    if old is None:
        yield b"new file mode %o\n" % last.mode
    elif new is None:
        yield b"deleted file mode %o\n" % first.mode
    elif old.mode != new.mode:
        yield b"old mode %o\nnew mode %o\n" % (old.mode, new.mode)
    if first.path != last.path:
        yield b"rename from " + _quoted(first.path) + b"\nrename to " + _quoted(last.path) + b"\n"
    # A pure rename or a change of mode has the same content, so the header is all there is.
    if old is not None and new is not None and old.identity == new.identity:
        return
    # Saying that a large file differs is honest; an empty diff would read as "unchanged".
    if any(side is not None and side.content is None for side in (old, new)):
        sizes = " to ".join(f"{side.size:,}" for side in (old, new) if side is not None)
        yield b"Large files " + before + b" and " + after + f" differ ({sizes} bytes)\n".encode()
    elif any(side is not None and side.is_binary for side in (old, new)):
        yield b"Binary files " + before + b" and " + after + b" differ\n"
    else:
        hunks = list(_hunks(_content(old), _content(new)))
        if hunks:
            yield b"--- " + (before if old else b"/dev/null") + b"\n"
            yield b"+++ " + (after if new else b"/dev/null") + b"\n"
            yield from hunks


def _content(side: FileSide | None) -> list[bytes]:
    return LINE.findall(side.content) if side is not None and side.content is not None else []


def _hunks(old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    for group in _groups(old, new):
        (_, first, _, start, _), (_, _, last, _, end) = group[0], group[-1]
        yield b"@@ -" + _range(first, last) + b" +" + _range(start, end) + b" @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from map(_ended, (b" " + line for line in old[i1:i2]))
                continue
            yield from map(_ended, (b"-" + line for line in old[i1:i2]))
            yield from map(_ended, (b"+" + line for line in new[j1:j2]))


def _groups(old: list[bytes], new: list[bytes]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    """Yield groups of edits with their context. Aligning is quadratic at worst, so a huge rewrite is not aligned."""
    # Equal beginnings and ends are skipped first, which leaves little to align in a usual change.
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if len(old) + len(new) - 2 * (head + tail) <= LINES_MAX:
        yield from _Matcher(old, new).get_grouped_opcodes(CONTEXT_LINES)
        return
    before, after = min(head, CONTEXT_LINES), min(tail, CONTEXT_LINES)
    old_end, new_end = len(old) - tail, len(new) - tail
    yield [
        ("equal", head - before, head, head - before, head),
        ("replace", head, old_end, head, new_end),
        ("equal", old_end, old_end + after, new_end, new_end + after),
    ]


def _range(start: int, end: int) -> bytes:
    # git leaves the count out for one line, and gives the line before for none.
    length = end - start
    return b"%d" % (start + 1) if length == 1 else b"%d,%d" % (start + bool(length), length)


def _ended(line: bytes) -> bytes:
    # Without git's note, the next line of the diff would be glued to this one.
    return line if line.endswith(b"\n") else line + NO_NEWLINE


def _quoted(path: bytes) -> bytes:
    """Return a path as git writes it: one that could break a line of the diff is quoted and escaped."""
    if PLAIN_PATH.fullmatch(path):
        # git ends a path with a tab if it contains a space, so that tools find its end.
        return path + b"\t" * (b" " in path)
    return (
        b'"'
        + b"".join(bytes([c]) if 32 <= c < 127 and c not in b'"\\' else b"\\%03o" % c for c in path)
        + b'"'
    )
