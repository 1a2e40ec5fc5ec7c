"""Read and write prompt sets: a run's templates and layout in one blob, so that briefs can be derived again (FORMAT 6).

    {"set":1,"name":"structured","templates":{"blocks/claims":"…","charters/critic":"…",…},"layout":{…}}

The form is canonical: keys in this order, paths sorted, no white space between tokens. The path of a template is that
of its file below `roles/prompts/<set>/` without `.md`: `RoleDefinition.charter` is one, `Step.task` is one below
`tasks/`. A folder with a `layout.json` is a complete set; all others share `roles/prompts/common/`. The layout is
described in `roles/brief/context.py`.

Templates have `{{name}}` and `{{#list}}…{{/list}}`, and nothing else. A list is a sequence of mappings; inside it, a
name is looked up in the element first, then outside. Inserted values are never parsed again, so a value that contains
braces stays unchanged. Quoted text goes behind bars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import orjson

from ledger.store.blobs import hash_of

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
        sign, name = tag[1], tag[2]
        if sign == "/":
            raise TemplateError(f"{tag[0]} closes a list that is not open")
        if sign == "":
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


LAYOUT: Final = "layout.json"
_PROMPTS: Final = Path(__file__).parent / "prompts"

PromptSet = Mapping[str, Any]
"""Parsed prompt set: `set`, `name`, `templates`, `layout`."""


class PromptSetError(ValueError):
    """Error for bytes that are not a prompt set, or a set that lacks a template."""

    exit_code = 2
    fix = "`moot check` says what else is wrong with this run; its answers are read without briefs"

    @property
    def what(self) -> str:
        """Return the message, with the run's prompts as its subject."""
        return f"the run's prompts cannot be read: {self}"


def encode_prompt_set(name: str, templates: Mapping[str, str], layout: object) -> bytes:
    """Return the canonical blob of a prompt set."""
    # `iterdir` has no fixed order, and the hash of the set must not depend on it.
    ordered = {path: templates[path] for path in sorted(templates)}
    return orjson.dumps({"set": 1, "name": name, "templates": ordered, "layout": layout})


def read_prompt_set(blob: bytes) -> PromptSet:
    """Parse the blob of a prompt set. Raises `PromptSetError` if it is not one, or of a newer version."""
    try:
        value = orjson.loads(blob)
    except orjson.JSONDecodeError as error:
        raise PromptSetError(f"not JSON: {error}") from None
    if not isinstance(value, dict) or cast("dict[str, Any]", value).get("set") != 1:
        raise PromptSetError("not a prompt set of version 1")
    fields = cast("dict[str, Any]", value)
    templates = fields.get("templates")
    if not isinstance(templates, dict) or not isinstance(fields.get("name"), str):
        raise PromptSetError("a prompt set has a name and templates")
    if not all(isinstance(text, str) for text in cast("dict[str, Any]", templates).values()):
        raise PromptSetError("a template is a string")
    return fields


def prompt_set_hash(prompt_set: PromptSet) -> str:
    """Return the SHA-256 of the blob in 64 hex digits, as in `run_opened.prompt_set`."""
    templates = cast("Mapping[str, str]", prompt_set["templates"])
    return hash_of(encode_prompt_set(str(prompt_set["name"]), templates, prompt_set.get("layout")))


def template(prompt_set: PromptSet, path: str) -> str:
    """Return a template. Raises `PromptSetError` when the set has none at that path."""
    text = cast("Mapping[str, str]", prompt_set["templates"]).get(path)
    if text is None:
        raise PromptSetError(f"prompt set {prompt_set['name']!r} has no template {path!r}")
    return text


def rendered(prompt_set: PromptSet, path: str, values: Values) -> str:
    """Render a template with `values`. Raises `PromptSetError` when the template needs other values."""
    text = template(prompt_set, path)
    try:
        return render(text, values)
    except TemplateError as error:
        raise PromptSetError(f"prompt set {prompt_set['name']!r}, {path!r}: {error}") from None


@cache
def installed_prompt_set(protocol: str) -> bytes:
    """Return the blob of the installed prompt set of a protocol, with which a new run opens."""
    own, common = _PROMPTS / protocol, _PROMPTS / "common"
    whole = own / LAYOUT
    # A run keeps this blob, so later changes of the installed files do not change its briefs.
    templates: dict[str, str] = {} if whole.is_file() else dict(_templates(common, ""))
    templates |= dict(_templates(own, ""))
    layout = orjson.loads((whole if whole.is_file() else common / LAYOUT).read_bytes())
    return encode_prompt_set(protocol, templates, layout)


def _templates(folder: Path, prefix: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            pairs += _templates(entry, f"{path}/")
        elif entry.name.endswith(".md"):
            pairs.append((path.removesuffix(".md"), entry.read_text(encoding="utf-8").rstrip("\n")))
    return pairs
