"""A reply as a form that a person fills in: TOML with a line of explanation for every field, and read back as JSON.

    # sections: 1 to 12, a block for each
    [[sections]]
    # name: lower-case, hyphens
    name = ""
    text = '''
    '''

Empty fields count as left out: an optional field becomes null, a list becomes empty, and empty blocks of a list are
dropped. Whether the rest is a valid reply is checked when it is submitted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from ledger.plain_toml import NotToml, toml_table

Schema = Mapping[str, Any]

LONG_CHARACTERS: Final = 300
"""Length limit of a field from which on it gets room for several lines."""
NUMBER_SHOWN_MAX: Final = 1_000_000


class NotFilledIn(ValueError):
    """A form that cannot be read; the message says where."""


def form(schema: Schema) -> str:
    """Return the empty form of a reply."""
    shapes = _Shapes(schema)
    return "\n".join(_object(shapes, shapes.meant(schema), ())).strip() + "\n"


def reply_of(schema: Schema, text: str) -> bytes | None:
    """Return the reply in a person's text: one JSON object unchanged, or a form; None when it is empty.

    Raises `NotFilledIn`.
    """
    # Comments are removed first, because an object may be pasted below the form's help.
    plain = "\n".join(line for line in text.split("\n") if not line.startswith("#")).strip()
    # A person may paste an object that a model wrote: its bytes are kept, because the ledger hashes them.
    if plain.startswith("{"):
        return plain.encode("utf-8", "surrogateescape")
    try:
        value = _Shapes(schema).read(schema, toml_table(text))
    except NotToml as error:
        raise NotFilledIn(str(error)) from None
    # TOML has dates, JSON has not: `str` writes them as they were typed.
    return json.dumps(value, ensure_ascii=False, default=str).encode() if _is_written(value) else None


# ---------------------------------------------------------------- writing


def _object(shapes: _Shapes, schema: Schema, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the fields of an object: single values first, for in TOML they belong to the table above them."""
    fields = {key: shapes.meant(value) for key, value in schema["properties"].items()}
    for key, field in fields.items():
        if not shapes.is_table(field):
            yield from _value(key, field, schema["properties"][key])
    for key, field in fields.items():
        if field.get("type") == "object":
            yield from ("", *_explained(field), f"[{'.'.join((*path, key))}]")
            yield from _object(shapes, field, (*path, key))
        elif shapes.is_table(field):
            yield from _blocks(shapes, field, (*path, key))


def _blocks(shapes: _Shapes, field: Schema, path: tuple[str, ...]) -> Iterator[str]:
    inner = shapes.meant(field["items"])
    least, most = int(field.get("minItems", 0)), field.get("maxItems")
    block = [f"[[{'.'.join(path)}]]", *_object(shapes, inner, path)]
    yield from ("", f"# {path[-1]}: {_count(least, most)}, a block for each; an empty block is none")
    yield from _explained(inner)
    # As many empty blocks as the reply needs at least; a person copies one for more.
    for n in range(max(1, least)):
        yield from (("", *block) if n else block)


def _value(key: str, field: Schema, written: Schema) -> Iterator[str]:
    about = [str(source["description"]) for source in (field, written) if source.get("description")][:1]
    optional = field.get("nullable")
    if "enum" in field:
        about.append(f"one of {', '.join(map(str, field['enum']))}")
    match field.get("type"):
        case "array":
            about.append(f'{_count(int(field.get("minItems", 0)), field.get("maxItems"))}: ["…", "…"]')
            empty = "[]"
        case "integer":
            about.append(_range(field))
            empty = '""'
        case "boolean":
            about.append("true or false")
            empty = '""'
        case _:
            is_long = "enum" not in field and int(field.get("maxLength", 0)) >= LONG_CHARACTERS
            empty = "'''\n'''" if is_long else '""'
    if optional:
        about.append("may stay empty")
    if about:
        yield f"# {key}: {'; '.join(about)}"
    yield from f"{key} = {empty}".split("\n")


def _explained(schema: Schema) -> Iterator[str]:
    for line in str(schema.get("description", "")).splitlines():  # a docstring may have paragraphs
        yield f"# {line.strip()}".rstrip()


def _count(least: int, most: object) -> str:
    if least == most:
        return f"exactly {least}"
    return f"{least} to {most}" if least else f"at most {most}" if most is not None else "any number"


def _range(field: Schema) -> str:
    # A huge maximum is only a technical limit, and would confuse a reader.
    least, most = field.get("minimum"), field.get("maximum")
    if most is not None and int(most) <= NUMBER_SHOWN_MAX:
        return f"a whole number, {least} to {most}"
    return "a whole number" if least is None else f"a whole number, {least} or more"


# ---------------------------------------------------------------- shapes and reading


class _Shapes:
    """The shapes of one reply: what a reference or an optional field means."""

    def __init__(self, schema: Schema) -> None:
        self._shared = cast("dict[str, Schema]", schema.get("$defs", {}))

    def meant(self, schema: Schema) -> Schema:
        """Return the shape that a reference points to, with `nullable` when null is allowed too."""
        if "$ref" in schema:
            return self.meant(self._shared[str(schema["$ref"]).rpartition("/")[2]])
        if "anyOf" not in schema:
            return schema
        shapes = [self.meant(shape) for shape in schema["anyOf"]]
        other = [shape for shape in shapes if shape.get("type") != "null"]
        assert len(other) == 1, "a reply has one shape for a field, or that and null"
        return {**other[0], "nullable": len(other) < len(shapes)}

    def is_table(self, field: Schema) -> bool:
        """Return whether a field is an object or a list of them."""
        if field.get("type") == "array":
            return self.is_table(self.meant(field["items"]))
        return field.get("type") == "object"

    def read(self, schema: Schema, value: Any) -> Any:
        """Return a value in the form of its shape; what does not fit is left to the reply's own check."""
        field = self.meant(schema)
        match field.get("type"), value:
            case "object", dict() | None:
                written = cast("dict[str, Any]", value or {})
                # Fields in the schema's order, whatever order the person used.
                known: Mapping[str, Schema] = field["properties"]
                fields = {key: self.read(shape, written.get(key)) for key, shape in known.items()}
                # Unknown keys stay in, so that the reply is refused by name and no text is lost silently.
                return fields | {key: entry for key, entry in written.items() if key not in known}
            case "array", list() | None:
                entries = [self.read(field["items"], entry) for entry in cast("list[Any]", value or [])]
                # The empty blocks that the form offered are no entries.
                return [entry for entry in entries if _is_written(entry)]
            case "object" | "array", _:
                return value
            case _:
                return _read_value(field, value)


def _read_value(field: Schema, value: Any) -> Any:
    if isinstance(value, str):
        value = value.strip() or None
    if value is None:
        return None if field.get("nullable") or field.get("type") in ("integer", "boolean") else ""
    text = value.casefold() if isinstance(value, str) else ""
    # A form offers "" for every value, so numbers and booleans may come as text.
    if field.get("type") == "integer" and text.lstrip("-").isdecimal():
        return int(text)
    if field.get("type") == "boolean" and text in ("true", "false", "yes", "no"):
        return text in ("true", "yes")
    return value


def _is_written(value: Any) -> bool:
    """Return whether anything was written into a value."""
    match value:
        case dict():
            return any(_is_written(entry) for entry in cast("dict[str, Any]", value).values())
        case list():
            return any(_is_written(entry) for entry in cast("list[Any]", value))
        case _:
            return value not in (None, "")
