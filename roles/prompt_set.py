"""Prompt sets: a run's templates and layout in one blob, so that a brief can be derived again later (FORMAT 6).

    {"set":1,"name":"structured-5","templates":{"blocks/claims":"…","charters/critic":"…",…},"layout":{…}}

Canonical: keys in this order, paths sorted, no white space between tokens. A template's path is its file's
path below `roles/prompts/<set>/` without `.md`: `RoleDefinition.charter` is one, `Step.task` stands below `tasks/`.
A folder with a `layout.json` is a whole set, but for what it says it is built on; the others share what stands in
`roles/prompts/common/`. `layout` is what `roles/brief/layout.py` reads; older sets have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import orjson

from roles.templates import TemplateError, Values, render

_NAMES: Final[Mapping[str, str]] = {
    "structured": "structured-5",
    "structured-6": "structured-6",
    "structured-7": "structured-7",
    "crux": "crux-4",
    "priority": "priority-2",
    "ratchet": "ratchet-2",
    "tribunal": "tribunal-2",
}
"""Folder → the set's name where it is not the folder's with a 3: a changed set has a new name."""
_BUILT_ON: Final[Mapping[str, str]] = {"structured-6": "structured", "structured-7": "structured-6"}
"""Folder → the folder that holds what it does not change."""
LAYOUT: Final = "layout.json"
_PROMPTS: Final = Path(__file__).parent / "prompts"

PromptSet = Mapping[str, Any]
"""A prompt set as read: `set`, `name`, `templates`, in newer ones `layout`."""


class PromptSetError(ValueError):
    """Bytes that are no prompt set, or a set without a template that is needed."""

    exit_code = 2
    fix = "`moot check` says what else is wrong with this run; its answers are read without briefs"

    @property
    def what(self) -> str:
        """The message, and whose fault it is."""
        return f"the run's prompts cannot be read: {self}"


def encode_prompt_set(name: str, templates: Mapping[str, str], layout: object = None) -> bytes:
    """The blob of a prompt set; a layout as it is to be read again."""
    ordered = {path: templates[path] for path in sorted(templates)}
    own = {} if layout is None else {"layout": layout}
    return orjson.dumps({"set": 1, "name": name, "templates": ordered, **own})


def read_prompt_set(blob: bytes) -> PromptSet:
    """The prompt set in a blob. Raises `PromptSetError` when it is none, or one of a newer version."""
    try:
        value = orjson.loads(blob)
    except orjson.JSONDecodeError as error:
        raise PromptSetError(f"not JSON: {error}") from None
    if not isinstance(value, dict) or cast("dict[str, Any]", value).get("set") != 1:
        raise PromptSetError("not a prompt set of version 1")
    found = cast("dict[str, Any]", value)
    templates = found.get("templates")
    if not isinstance(templates, dict) or not isinstance(found.get("name"), str):
        raise PromptSetError("a prompt set has a name and templates")
    if not all(isinstance(text, str) for text in cast("dict[str, Any]", templates).values()):
        raise PromptSetError("a template is a string")
    return found


def prompt_set_hash(prompt_set: PromptSet | bytes) -> str:
    """SHA-256 of the blob, as 64 hex digits: what `run_opened.prompt_set` holds."""
    blob = prompt_set if isinstance(prompt_set, bytes) else _blob(prompt_set)
    return hashlib.sha256(blob).hexdigest()


def _blob(prompt_set: PromptSet) -> bytes:
    templates = cast("Mapping[str, str]", prompt_set["templates"])
    return encode_prompt_set(str(prompt_set["name"]), templates, prompt_set.get("layout"))


def template(prompt_set: PromptSet, path: str) -> str:
    """One template. Raises `PromptSetError` when the set has none at that path."""
    text = cast("Mapping[str, str]", prompt_set["templates"]).get(path)
    if text is None:
        raise PromptSetError(f"prompt set {prompt_set['name']!r} has no template {path!r}")
    return text


def rendered(prompt_set: PromptSet, path: str, values: Values) -> str:
    """One template with `values` put in. Raises `PromptSetError` when the set was made for other values."""
    text = template(prompt_set, path)
    try:
        return render(text, values)
    except TemplateError as error:
        raise PromptSetError(f"prompt set {prompt_set['name']!r}, {path!r}: {error}") from None


@cache
def installed_prompt_set(protocol: str) -> bytes:
    """The blob of the prompt set that this version ships for a protocol; a new run opens with it."""
    own, common = _PROMPTS / protocol, _PROMPTS / "common"
    whole = own / LAYOUT
    templates: dict[str, str] = {} if whole.is_file() else dict(_templates(common, ""))
    for folder in reversed(_chain(protocol)):
        templates |= dict(_templates(_PROMPTS / folder, ""))
    layout = orjson.loads((whole if whole.is_file() else common / LAYOUT).read_bytes())
    return encode_prompt_set(_NAMES.get(protocol, f"{protocol}-3"), templates, layout)


def _chain(folder: str) -> list[str]:
    """Return a folder and those that it is built on, the nearest first."""
    below = _BUILT_ON.get(folder)
    return [folder, *(_chain(below) if below else ())]


def _templates(folder: Path, prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for entry in folder.iterdir():
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _templates(entry, f"{path}/")
        elif entry.name.endswith(".md"):
            found.append((path.removesuffix(".md"), entry.read_text(encoding="utf-8").rstrip("\n")))
    return found
