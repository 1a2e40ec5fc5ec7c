"""Render templates with `{{name}}` and `{{#list}}…{{/list}}`, and nothing else (FORMAT 6).

A list is a sequence of mappings; inside it, a name is looked up in the element first, then outside. Inserted values are
never parsed again, so a value that contains braces stays unchanged. Quoted text goes behind bars.
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
    """Error in a template; the message names the tag."""


def bar(label: str, text: str) -> str:
    """Return `text` behind bars, with `label` in front of the first line."""
    # `splitlines` also splits at rare separators, such as U+2028, that a reader may show as a new line.
    first, *rest = text.splitlines() or [""]
    return "\n".join([f"{label} | {first}".lstrip(), *(f"| {line}" for line in rest)])


def render(template: str, values: Values) -> str:
    """Render `template` with `values`. Raises `TemplateError` for an unknown name or an unclosed list."""
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
    """Tag for a value, or for a list whose template for every row is `inner`."""

    name: str
    inner: str | None


# All briefs of a run use the same few templates.
@lru_cache(1024)
def _parsed(template: str) -> tuple[str | _Tag, ...]:
    """Return the literal pieces and tags of a template, in order."""
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
        # Lists of the same name cannot nest, so the first closing tag is the right one.
        closing = template.find("{{/" + name + "}}", tag.end())
        if closing < 0:
            raise TemplateError(f"{tag[0]} is not closed")
        parts.append(_Tag(name, template[tag.end() : closing]))
        place = closing + len(name) + 5
    return (*parts, _literal(template[place:]))


def _literal(text: str) -> str:
    # A misspelled tag would otherwise reach a seat as literal braces.
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
    """Return all names that a template uses, lists included."""
    return frozenset(tag[2] for tag in _TAG.finditer(template))
