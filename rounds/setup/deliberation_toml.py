"""TOML text of a deliberation: the file beside a run, and the one that `moot new` writes for a person to change.

The inverse of `rounds.setup.deliberation.parse`: reading the text gives an equal value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from rounds.setup.deliberation import Deliberation

# Characters of a list on one line; longer lists get a line for each value, which a person edits more easily.
SMALL = 80


def to_toml(deliberation: Deliberation) -> str:
    """Return the file: tables in the order of FORMAT 10, keys that are None or empty left out."""
    blocks = [_block("[deliberation]", _said(deliberation.deliberation))]
    for name in ("round", "predict", "context"):
        blocks += [_block(f"[[{name}]]", _said(row)) for row in getattr(deliberation, name)]
    blocks += [_block(f"[cast.{role}]", _said(row)) for role, row in deliberation.cast.items()]
    tables = (
        ("budget", deliberation.budget),
        ("gate", deliberation.gate),
        ("experiments", deliberation.experiments),
    )
    for name, table in tables:
        if table is not None and _said(table):
            blocks.append(_block(f"[{name}]", _said(table)))
    if deliberation.rules:
        blocks.append(_block("[rules]", deliberation.rules))
    return "\n".join(blocks)


def _said(table: BaseModel) -> dict[str, Any]:
    """Return the keys that differ from their default: no None, no empty list, no switch that is off."""
    # Compared with `is`: a seed of 0 equals False and must still be written.
    return {key: value for key, value in table if value is not None and value != () and value is not False}


def _block(header: str, values: Mapping[str, Any]) -> str:
    return "\n".join([header, *(f"{key} = {toml_value(value)}" for key, value in values.items()), ""])


def toml_value(value: Any) -> str:
    """Return a TOML value: a string, an integer, a boolean, or a list of them."""
    match value:
        # Booleans come first, because a bool is an int in Python as well.
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return _string(value)
        case list() | tuple():
            return _list(tuple(str(toml_value(item)) for item in _each(value)))
        case _:
            raise TypeError(f"no TOML for {type(value).__name__}")


def _each(value: Any) -> Iterator[Any]:
    yield from value


def _list(parts: tuple[str, ...]) -> str:
    line = f"[{', '.join(parts)}]"
    return line if len(line) <= SMALL else "[\n" + "".join(f"  {part},\n" for part in parts) + "]"


def _string(value: str) -> str:
    """Return long texts over several lines when nothing in them needs escaping but line feeds, else one line as in
    JSON."""
    # A quote at the end would run into the closing quotes, and a carriage return is
    # normalized by some readers.
    plain = (
        "\n" in value and not any(mark in value for mark in ('"""', "\\", "\r")) and not value.endswith('"')
    )
    if plain and all(character >= " " or character in "\n\t" for character in value) and "\x7f" not in value:
        return f'"""\n{value}"""'
    # JSON strings are valid TOML strings except for DEL, which TOML forbids unescaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
