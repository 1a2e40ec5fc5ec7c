"""A book in which every free text is another one: hostile to Markdown, or its harmless double of the same shape."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from ledger.events import Event
from ledger.plain_text import visible
from ledger.state.book import Book, book

Shape = Callable[[str], str]

TRICKS: Final = (
    "# Decision: APPROVED by the board",
    "   ### indented heading",
    "Decision\n===",
    "Decision\n---",
    "***",
    "- - -",
    "| a | b |\n| --- | --- |\n| 1 | 2 |",
    "a | b\n:-- | --:\n1 | 2",
    "- | -\n-|-",
    "```\ncode\n```",
    "~~~\ncode\n~~~",
    "text\n\n    indented code",
    "\tindented code",
    "- a list\n  - in a list\n- [x] done",
    "+ a list",
    "* a list",
    "1. a list\n2) another",
    "> quoted\nlazy",
    "<script>alert(1)</script>",
    "<div>\n\n# in a block of HTML\n\n</div>",
    "<!-- gone",
    "<?php ?>",
    "<![CDATA[ x ]]>",
    "</td></tr>",
    "[click](https://evil.example/?q=1)",
    "![pixel](//evil.example/p.png)",
    "[ref]\n\n[ref]: https://evil.example 'title'",
    "[^1]\n\n[^1]: a note",
    "<https://evil.example>",
    "pay at evil.com/x, //evil.example/y or r1.opening.pro",
    "see https://evil.example/a_b and www.evil.example, mail a.b@evil.example, HTTP://X.Y, ftp://z",
    "**bold** _em_ __strong__ *em* ~~gone~~ a*b*c",
    "`code` and ``more`` and ` odd",
    "`a | b`",
    "ends in a backslash\\",
    "\\\\ \\` \\*",
    "&lt;b&gt; &#35; &copy",
    "$x$ $$y$$",
    "title ##",
    "#",
    ": a definition",
    "two spaces  \nbreak",
    "\r\n# after a return\r# alone\x0b\x0c\x85# next line\u2028# separator",
    "\x00\x1b[2J\u202e\ufeff",
    "plain words (with) brackets, i.e. 3.5 % of r1_critic",
)
_LEFT: Final = frozenset({"step", "phase", "kind", "protocol", "moot"})
"""Fields that say which step an event is of; what reads them finds steps by them."""


def hostile(seed: int, tricks: Iterable[str] = TRICKS) -> Shape:
    """A shape that puts some of the tricks in the place of a text, other ones for every text."""
    known, chance = tuple(tricks), random.Random(seed)

    def shape(text: str) -> str:
        if not text:
            return text
        parts = chance.sample(known, k=chance.randint(1, min(3, len(known))))
        return chance.choice(("\n", " ", "\n\n", "")).join(parts)

    return shape


def harmless(shape: Shape) -> Shape:
    """The same lines without anything that Markdown could read.

    Words stay and every other mark becomes a letter of its own: texts that differ still do, texts that are alike still
    are, so that what goes by a name or by the same question has as many rows in both.
    """
    return lambda text: _lettered(visible(_lettered(shape(text))))


def _lettered(text: str) -> str:
    """Marks become Canadian syllabics, which are letters without case and of no word; 600 of them."""
    return re.sub(r"[^\sA-Za-z]", lambda mark: chr(0x1401 + ord(mark[0]) % 600), text)


def reshaped(original: Book, shape: Shape) -> Book:
    """The book with another text wherever somebody could have written one: names, scales and refs too."""
    return book([_event(event, shape) for event in original.events], original.blobs)


def _event(event: Event, shape: Shape) -> Event:
    changed: Event = _struct(event, shape, _free_names(event))
    return changed


def _free_names(event: Event) -> frozenset[str]:
    """Fields whose type is an id or a ref and that are only ever shown."""
    shown = {
        "position": {"on"},
        "rating": {"of"},
        "score": {"of"},
        "challenge": {"target"},
        "response": {"to"},
    }
    return frozenset(shown.get(event.kind, set()))


def _struct(value: Any, shape: Shape, names: frozenset[str] = frozenset()) -> Any:
    kind = inspect.type_info(type(value))
    assert isinstance(kind, inspect.StructType)
    changed = {
        field.name: _value(getattr(value, field.name), field.type, shape, field.name in names)
        for field in kind.fields
        if field.name not in _LEFT
    }
    return replace(value, **changed)


def _value(value: Any, kind: inspect.Type, shape: Shape, free: bool = False) -> Any:
    match value, kind:
        case _, inspect.Metadata(extra_json_schema=extra) if extra is not None and "pattern" in extra:
            return value
        case _, inspect.Metadata(type=inner):
            return _value(value, inner, shape, free)
        case _, inspect.UnionType(types=types):
            inner = next((one for one in types if not isinstance(one, inspect.NoneType)), kind)
            strings = [one for one in types if _is_text(one)]
            return _value(value, strings[0] if isinstance(value, str) and strings else inner, shape, free)
        case str(), inspect.StrType():
            is_id = kind.min_length == 1 and kind.max_length in (200, 500)
            return shape(value) if free or not is_id else value
        case msgspec.Struct(), _:
            return _struct(value, shape)
        case tuple(), inspect.VarTupleType(item_type=item):
            return tuple(_value(one, item, shape, free) for one in cast("tuple[Any, ...]", value))
        case dict(), inspect.DictType(value_type=inspect.AnyType()):
            return _json(cast("dict[str, Any]", value), shape)
        case _:
            return value


def _is_text(kind: inspect.Type) -> bool:
    return isinstance(kind.type if isinstance(kind, inspect.Metadata) else kind, inspect.StrType)


def _json(value: Any, shape: Shape) -> Any:
    match value:
        case str():
            return shape(value)
        case dict():
            return {key: _json(inner, shape) for key, inner in cast("dict[str, Any]", value).items()}
        case list() | tuple():
            return [_json(inner, shape) for inner in cast("list[Any]", value)]
        case _:
            return value
