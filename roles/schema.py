"""Reply schemas: build the JSON Schema of a reply, parse replies and explain their errors.

A reply is one JSON object and nothing else, except for white space around it and one enclosing Markdown fence. It is
decoded strictly; the schema is only used to explain a failure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
import orjson

import schemas
from ledger.plain_json import NotJson, converted, json_object
from ledger.plain_text import CONTROL, what_has_nul, with_line_feeds
from roles.replies import Reply

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
REPLY_BYTES_MAX: Final = 400_000
ERRORS_MAX: Final = 40

_FENCED: Final = re.compile(r"\A```(?:json|JSON)?[ \t]*\r?\n(.*?)\r?\n?```\Z", re.DOTALL)
# JSON escapes that can produce a control character, or half of a surrogate pair.
_ESCAPES: Final = ("\\u", "\\r", "\\b", "\\f")
_BLANK: Final = re.compile(r'"(?:\s|\\[nt])+"')
_SURROGATE: Final = re.compile("[\\ud800-\\udfff]")


@cache
def reply_schema(reply_type: type[Reply]) -> Mapping[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a reply."""
    # A type of a short protocol is not published, and may have the same name as a published one.
    if reply_type.__module__ != "roles.replies":
        return schema_of(reply_type)
    # Reading the published schema is faster than building it.
    return schemas.load(f"replies/{reply_type.__name__}")


def schema_of(reply_type: type[Reply]) -> Mapping[str, Any]:
    """Build the JSON Schema of a reply from its type."""
    return {"$schema": DIALECT, **msgspec.json.schema(reply_type)}


@cache
def schema_bytes(reply_type: type[Reply]) -> bytes:
    """Return the JSON Schema of a reply as the bytes of its blob."""
    return orjson.dumps(reply_schema(reply_type))


def parse_reply(reply_type: type[Reply], raw: bytes) -> tuple[Reply | None, tuple[str, ...]]:
    """Return the reply in `raw` and no errors, or None and all errors, each as `path: problem`."""
    # The size is checked before anything is parsed.
    if len(raw) > REPLY_BYTES_MAX:
        return None, (f"(reply): {len(raw)} bytes, more than {REPLY_BYTES_MAX}",)
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
        # Text saved as UTF-16 decodes as UTF-8 when it is ASCII, but is full of NUL characters.
        if "\0" in text:
            return None, (f"(reply): {what_has_nul(text)}; save it as UTF-8",)
        value = _json(text)
    except UnicodeDecodeError as error:
        return None, (f"(reply): not UTF-8 at byte {error.start}",)
    except NotJson as error:
        return None, (f"(reply): {error}",)
    # Only a text with one of these characters can change, and the copy costs time.
    if "\\r" in text or "\r" in text or "\x85" in text or "\\u0085" in text:
        value = _with_line_feeds(value)
    problems = tuple(_unclean(value, "")) if _is_perhaps_unclean(text) else ()
    if problems:
        return None, problems[:ERRORS_MAX]
    try:
        return converted(value, reply_type), ()
    except msgspec.ValidationError as error:
        return None, explain(reply_schema(reply_type), value) or (_decoder_words(str(error)),)


def _decoder_words(message: str) -> str:
    """Return a message of the decoder with its path in front."""
    # Needed for values such as 4.0, which the schema accepts as an integer and the decoder does not.
    what, _, path = message.partition(" - at `$")
    return f"{path.strip('`.') or '(reply)'}: {what.replace('`', '')}"


def _json(text: str) -> dict[str, Any]:
    text = text.strip(" \t\r\n")
    if not text:
        raise NotJson("empty; write one JSON object")
    fenced = _FENCED.match(text)
    return json_object(fenced[1] if fenced else text)


def _is_perhaps_unclean(text: str) -> bool:
    """Return whether a JSON text may contain strings that `_unclean` rejects."""
    # Nearly every reply is clean, and this test is much faster than a walk through all its strings.
    if any(escape in text for escape in _ESCAPES):
        return True
    return CONTROL.search(text) is not None or _BLANK.search(text) is not None


def _with_line_feeds(value: Any) -> Any:
    """Return a value with all line endings in its strings as line feeds, the ledger's form."""
    if isinstance(value, str):
        return with_line_feeds(value)
    if isinstance(value, dict):
        return {key: _with_line_feeds(inner) for key, inner in cast("dict[str, Any]", value).items()}
    return (
        [_with_line_feeds(inner) for inner in cast("list[Any]", value)] if isinstance(value, list) else value
    )


def _unclean(value: Any, path: str) -> Iterator[str]:
    """Yield an error for every string that a ledger must not hold."""
    if isinstance(value, str):
        control = CONTROL.search(value)
        if control:
            yield f"{path}: control character U+{ord(control[0]):04X}; only line feeds and tabs are allowed"
        elif _SURROGATE.search(value):
            yield f"{path}: a lone surrogate, which is not Unicode text"
        elif value and not value.strip():
            yield f"{path}: nothing but white space"
    elif isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            # The decoder's message about such an unknown key could not be encoded.
            if _SURROGATE.search(key):
                yield f"{path or '(reply)'}: a lone surrogate in the field {key[:60]!a}"
            printable = key if key.isidentifier() else ascii(key[:60])
            yield from _unclean(inner, f"{path}.{printable}".lstrip("."))
    elif isinstance(value, list):
        for n, inner in enumerate(cast("list[Any]", value)):
            yield from _unclean(inner, f"{path}[{n}]")


def explain(schema: Mapping[str, Any], value: object) -> tuple[str, ...]:
    """Return every place where `value` violates `schema`, as `path: problem`; empty when it is valid."""
    from jsonschema import Draft202012Validator  # 100 ms, and only a failing document needs it

    validator: Any = Draft202012Validator(dict(schema))
    errors: list[ValidationError] = list(validator.iter_errors(value))
    # The validator's order is not specified, and recorded repair briefs must be reproduced byte for byte.
    errors.sort(key=lambda error: [str(part) for part in error.absolute_path])
    lines = [line for error in errors for line in _lines(error)]
    return tuple(dict.fromkeys(lines))[:ERRORS_MAX]


def _lines(error: ValidationError) -> Iterator[str]:
    inner = _branch(error)
    if inner:
        for cause in inner:
            yield from _lines(cause)
        return
    say = _WORDS.get(str(error.validator))
    yield f"{_path(error.absolute_path)}: {say(error) if say else error.message[:200]}"


def _branch(error: ValidationError) -> list[ValidationError]:
    """Return the errors of an `anyOf` below its type check, which belong to the alternative that was meant."""
    if error.validator != "anyOf":
        return []
    causes = list(error.context or ())
    return [cause for cause in causes if cause.validator != "type" or len(cause.relative_path) > 0]


def _path(parts: Iterable[str | int]) -> str:
    path = ""
    for part in parts:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.lstrip(".") or "(reply)"


def _missing(error: ValidationError) -> str:
    required, instance = cast("list[str]", error.validator_value), cast("dict[str, Any]", error.instance)
    return "missing: " + ", ".join(name for name in required if name not in instance)


def _unknown(error: ValidationError) -> str:
    schema, instance = cast("dict[str, Any]", error.schema), cast("dict[str, Any]", error.instance)
    known = cast("dict[str, Any]", schema.get("properties", {}))
    extra = ", ".join(ascii(key[:60]) for key in instance if key not in known)
    return f"not asked for: {extra}; the fields are {', '.join(known)}"


def _counted(noun: str, bound: str) -> Callable[[ValidationError], str]:
    return lambda error: f"{len(cast('str', error.instance))} {noun}, {bound} {error.validator_value}"


_WORDS: Final[dict[str, Callable[[ValidationError], str]]] = {
    "type": lambda error: f"must be {error.validator_value}, not {_type_name(error.instance)}",
    "enum": lambda error: (
        f"{_shortened(error.instance)} is none of"
        f" {', '.join(map(str, cast('list[Any]', error.validator_value)))}"
    ),
    "anyOf": lambda error: f"{_type_name(error.instance)} is none of the allowed types",
    "minLength": _counted("characters", "at least"),
    "maxLength": _counted("characters", "at most"),
    "minItems": _counted("entries", "at least"),
    "maxItems": _counted("entries", "at most"),
    "minimum": lambda error: f"{error.instance} is less than {error.validator_value}",
    "maximum": lambda error: f"{error.instance} is more than {error.validator_value}",
    "pattern": lambda error: f"{_shortened(error.instance)} does not have the form {error.validator_value}",
    "required": _missing,
    "additionalProperties": _unknown,
}


def _shortened(value: Any) -> str:
    # ASCII, because an error goes to terminals and into repair briefs, and must not carry control characters.
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}…"


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    names: tuple[tuple[type, str], ...] = (
        # A bool is an int in Python, so it has to come first.
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "object")
