"""Files that a person writes in TOML: read within limits, checked by a model, with mistakes explained in words.

Every key is checked: an unknown one is an error that names the nearest known key and the line. `FileForm` describes
a kind of file; the deliberation file and the study file are two of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from ledger.format.canonical import NotCanonical, refuse_control_characters
from ledger.plain_text import NotText, readable
from ledger.plain_toml import NotToml, toml_table

M = TypeVar("M", bound=BaseModel)
Table = dict[str, Any]
"""A parsed TOML file, before it is checked."""


class DeliberationError(Exception):
    """A deliberation that cannot be run: `what` is wrong, `where`, and one line with the `fix`."""

    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, where: str, fix: str) -> None:
        super().__init__(f"{what} ({where}); {fix}")
        self.what = what
        self.where = where
        self.fix = fix


class FileForm(NamedTuple):
    """Form of a kind of file.

    `tables`: the model of each table; `words`: the keys of a table without a model; `help`: a pointer to a valid
    file.
    """

    tables: Mapping[str, type[BaseModel]]
    words: Sequence[str]
    help: str


FILE_BYTES_MAX: Final = 1 << 18


def read_toml(content: bytes, name: str) -> tuple[Table, str]:
    """Return the table in a file's bytes, and its text.

    `name` is the file's name in errors. Raises `DeliberationError`.
    """
    # Checked before parsing: a file of a gigabyte must not be read into tables first.
    if len(content) > FILE_BYTES_MAX:
        raise DeliberationError(
            f"{len(content)} bytes, more than {FILE_BYTES_MAX}", name, "name long documents by path"
        )
    try:
        text = readable(content)
    except NotText as error:
        fix = f"name a deliberation file, or {error.fix}"
        raise DeliberationError(f"the file is {error}", name, fix) from None
    try:
        return toml_table(text), text
    except NotToml as error:
        fix = error.fix or "fix that line; `moot new` writes a file to start from"
        raise DeliberationError(str(error), name, fix) from None


def refuse_unkept(table: Table, name: str) -> None:
    """Raise for characters that no string of a ledger holds (FORMAT 1)."""
    try:
        refuse_control_characters(table)
        # TOML escapes can produce half of a surrogate pair, which only fails when it is encoded.
        json.dumps(table, ensure_ascii=False, default=str).encode()
    except NotCanonical as error:
        raise DeliberationError(str(error), name, "take it out; line feeds and tabs are allowed") from None
    except UnicodeEncodeError:
        raise DeliberationError("a text that is not UTF-8", name, "write it in UTF-8") from None


def nearest(word: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """Return the known word that looks most like `word`."""
    return max(known, key=lambda candidate: SequenceMatcher(None, word.lower(), candidate.lower()).ratio())


def validated(model: type[M], form: FileForm, table: Any, text: str, name: str) -> M:
    """Return the table as `model` has it; `text` is its source, for line numbers. Raises `DeliberationError`."""
    try:
        return model.model_validate(table)
    except ValidationError as error:
        raise _explained(error, model, form, text, name) from None


def _explained(
    error: ValidationError, model: type[BaseModel], form: FileForm, text: str, name: str
) -> DeliberationError:
    problems = error.errors(include_url=False)
    # An unknown key is the usual slip and explains a missing one, so it is named first.
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    location = tuple(first["loc"])
    line = line_of(text, location)
    where = f"{name}:{line}" if line else name
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    known = _known_keys(location, model, form)
    what, fix = _words(first["type"], location, str(first["msg"]), known, form.help)
    return DeliberationError(what + more, where, fix)


def _words(
    kind: str, location: tuple[int | str, ...], message: str, known: Sequence[str], shown_by: str
) -> tuple[str, str]:
    key = str(location[-1]) if location else ""
    if kind == "extra_forbidden":
        return (
            f"unknown key {key!r} in {_table_name(location[:-1])}",
            f"did you mean {nearest(key, known)!r}?",
        )
    if kind == "missing":
        return f"{_table_name(location[:-1])} has no {key!r}", f"add {key} = …"
    # Pydantic puts its own prefix before the message of a validator, which says nothing to a person.
    sentence = message.removeprefix("Value error, ")
    sentence = sentence[:1].lower() + sentence[1:]
    return f"{_path(location)}: {sentence}", shown_by


def _known_keys(location: tuple[int | str, ...], model: type[BaseModel], form: FileForm) -> Sequence[str]:
    if len(location) <= 1:
        return tuple(model.model_fields)
    table = form.tables.get(str(location[0]))
    return tuple(table.model_fields) if table else form.words


def _table_name(location: tuple[int | str, ...]) -> str:
    if not location:
        return "the file"
    if len(location) > 1 and isinstance(location[1], int):
        return f"[[{location[0]}]] number {location[1] + 1}"
    return f"[{'.'.join(str(part) for part in location)}]"


def _path(location: tuple[int | str, ...]) -> str:
    names = [str(part) for part in location if isinstance(part, str)]
    return ".".join(names) or "the file"


_HEADER: Final = re.compile(r"\s*(\[{1,2})\s*([A-Za-z0-9_.\"' -]+?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY: Final = re.compile(r"\s*([A-Za-z0-9_.\"'-]+)\s*=")


def line_of(text: str, location: Sequence[int | str]) -> int | None:
    """Return the line, from 1, of the value at `location` in a TOML text; its table's header if the key is missing."""
    # TOML's reader keeps no positions, so headers and keys are found again by a simple scan.
    table: tuple[int | str, ...] = ()
    seen: dict[str, int] = {}
    header: int | None = None
    for number, line in enumerate(text.split("\n"), 1):
        opened = _HEADER.match(line)
        if opened:
            names = tuple(part.strip().strip("\"'") for part in opened[2].split("."))
            if opened[1] == "[[":
                # Tables of a list are counted, because the location names the n-th of them.
                seen[names[0]] = seen.get(names[0], -1) + 1
                table = (names[0], seen[names[0]])
            else:
                table = names
            if table == tuple(location[: len(table)]):
                header = number
            continue
        key = _KEY.match(line)
        if key:
            names = tuple(part.strip().strip("\"'") for part in key[1].split("."))
            path = (*table, *names)
            if path == tuple(location[: len(path)]):
                return number
    # Keys inside inline tables are not found by the scan; the header is close enough then.
    return header
