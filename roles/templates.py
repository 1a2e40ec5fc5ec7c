"""Templates: `{{name}}` and `{{#list}}…{{/list}}`, nothing else (FORMAT 6).

A list is a sequence of mappings; inside it a name is looked up in the element first, then outside. What is
put in is never read again, so a text that contains braces stays what it is. Somebody's text stands behind bars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

Text = str | int
Row = Mapping[str, Text]
Values = Mapping[str, Text | Sequence[Row]]

_TAG: Final = re.compile(r"\{\{([#/]?)([a-z][a-z0-9_]*)\}\}")
_BRACES: Final = re.compile(r"\{\{|\}\}")


class TemplateError(ValueError):
    """A template that cannot be rendered: the message names the tag."""


def bar(label: str, text: str) -> str:
    """`text` behind bars, the first line after `label`."""
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{label} | {first}".lstrip(), *(f"| {line}" for line in rest)])


def render(template: str, values: Values) -> str:
    """`template` with `values` put in. Raises `TemplateError` for an unknown name or an unclosed list."""
    return "".join(_render(template, values))


def _render(template: str, values: Values) -> Iterator[str]:
    for part in _parsed(template):
        if isinstance(part, str):
            yield part
        elif part.inner is None:
            yield _scalar(values, part.name)
        else:
            for row in _rows(values, part.name):
                yield from _render(part.inner, {**values, **row})


class _Tag(NamedTuple):
    """A name to put in; with `inner`, a list with what stands in it for every row."""

    name: str
    inner: str | None


@lru_cache(1024)
def _parsed(template: str) -> tuple[str | _Tag, ...]:
    """A template's literal pieces and tags, in order. A brief uses the same few templates as the last one."""
    parts: list[str | _Tag] = []
    place = 0
    while (tag := _TAG.search(template, place)) is not None:
        parts.append(_literal(template[place : tag.start()]))
        mark, name = tag[1], tag[2]
        if mark == "/":
            raise TemplateError(f"{tag[0]} closes a list that is not open")
        if mark == "":
            parts.append(_Tag(name, None))
            place = tag.end()
            continue
        closing = template.find("{{/" + name + "}}", tag.end())
        if closing < 0:
            raise TemplateError(f"{tag[0]} is not closed")
        parts.append(_Tag(name, template[tag.end() : closing]))
        place = closing + len(name) + 5
    return (*parts, _literal(template[place:]))


def _literal(text: str) -> str:
    if _BRACES.search(text):
        raise TemplateError(f"braces that are no tag: {text.strip()[:60]!r}")
    return text


def _scalar(values: Values, name: str) -> str:
    value = values.get(name)
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return str(value)
    raise TemplateError(f"{{{{{name}}}}} has no value")


def _rows(values: Values, name: str) -> Sequence[Row]:
    value = values.get(name)
    if value is None or isinstance(value, str | int):
        raise TemplateError(f"{{{{#{name}}}}} is no list")
    return value


@lru_cache(1024)
def names(template: str) -> frozenset[str]:
    """Every name that a template uses, lists included."""
    return frozenset(tag[2] for tag in _TAG.finditer(template))
