"""What the fake of the Chat Completions API refuses: modelled on the documented rules; the words are the fake's own.

`Dialect` says which server it is: OpenAI's own, which takes no field that it does not know, or a compatible one that
knows fewer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

Refusal = tuple[int, dict[str, Any]]

KEY: Final = "sk-proj-test-0123456789-planted"
MODELS: Final = ("gpt-6.2-sol", "gpt-6-sol", "gpt-6-luna", "qwen3:8b", "unpriced-1")
OUTPUT_TOKENS_MAX: Final = 128_000
FIELDS: Final = frozenset(
    (
        *("model", "messages", "stream", "stream_options", "response_format"),
        *("max_completion_tokens", "prompt_cache_key", "n", "store", "metadata", "seed"),
    )
)
"""What OpenAI's reasoning models take of what a client could send; sampling and tools are not among it."""
KEYWORDS: Final = frozenset(
    (
        *(
            "type",
            "enum",
            "const",
            "anyOf",
            "$ref",
            "$defs",
            "properties",
            "required",
            "additionalProperties",
        ),
        *("items", "minItems", "maxItems", "pattern", "format", "minimum", "maximum", "title", "description"),
    )
)
"""What a strict schema may say."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """A server: whether it asks for a key, which forms of replies it takes, and which fields it knows."""

    needs_key: bool = True
    forms: tuple[str, ...] = ("json_schema", "json_object")
    strict: bool = True
    limit: str = "max_completion_tokens"
    knows_usage: bool = True
    knows_cache_key: bool = True


OFFICIAL: Final = Dialect()
COMPATIBLE: Final = Dialect(needs_key=False, strict=False, limit="max_tokens", knows_cache_key=False)
OLD: Final = Dialect(
    needs_key=False, forms=(), strict=False, limit="max_tokens", knows_usage=False, knows_cache_key=False
)
"""A server that knows no form of replies and no usage in a stream."""


def refusal(headers: Mapping[str, str], body: dict[str, Any], dialect: Dialect) -> Refusal | None:
    """The first rule that a request breaks."""
    if dialect.needs_key and headers.get("authorization") != f"Bearer {KEY}":
        return 401, error("invalid_request_error", "Incorrect API key provided", code="invalid_api_key")
    for name in body:
        if name not in _known(dialect):
            said = f"Unsupported parameter: '{name}' is not supported with this model."
            return 400, error("invalid_request_error", said, code="unsupported_parameter", param=name)
    if body.get("model") not in MODELS:
        said = f"The model '{body.get('model')}' does not exist"
        return 404, error("invalid_request_error", said, code="model_not_found")
    limit = body.get(dialect.limit)
    if limit is not None and (not isinstance(limit, int) or not 1 <= limit <= OUTPUT_TOKENS_MAX):
        return 400, error("invalid_request_error", "the limit is out of range", param=dialect.limit)
    return _messages(body) or _rest(body) or _format(body, dialect)


def error(kind: str, message: str, *, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of an error."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _known(dialect: Dialect) -> frozenset[str]:
    known = (FIELDS - {"max_completion_tokens"}) | {dialect.limit}
    if not dialect.knows_usage:
        known -= {"stream_options"}
    return known if dialect.knows_cache_key else known - {"prompt_cache_key"}


def _messages(body: dict[str, Any]) -> Refusal | None:
    messages = body.get("messages")
    if not messages or not all(message.get("content") for message in messages):
        return 400, error(
            "invalid_request_error", "messages: at least one, none of them empty", param="messages"
        )
    if any(message["role"] not in ("system", "developer", "user", "assistant") for message in messages):
        return 400, error("invalid_request_error", "messages: unknown role", param="messages")
    return None


def _rest(body: dict[str, Any]) -> Refusal | None:
    if "stream_options" in body and not body.get("stream"):
        return 400, error("invalid_request_error", "stream_options needs stream", param="stream_options")
    return None


def _format(body: dict[str, Any], dialect: Dialect) -> Refusal | None:
    form = body.get("response_format")
    if form is None:
        return None
    if form.get("type") not in dialect.forms:
        said = f"response_format.type {form.get('type')} is not supported by this server"
        return 400, error("invalid_request_error", said, param="response_format")
    if form["type"] == "json_object":
        if any("json" in message["content"].lower() for message in body["messages"]):
            return None
        return 400, error("invalid_request_error", "messages must contain the word json", param="messages")
    inner = form.get("json_schema") or {}
    if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", inner.get("name", "")):
        return 400, error(
            "invalid_request_error", "response_format: a schema needs a name", param="response_format"
        )
    for problem in _schema(inner.get("schema")) if dialect.strict and inner.get("strict") else ():
        said = f"Invalid schema for response_format 'reply': {problem}"
        return 400, error("invalid_request_error", said, param="response_format")
    return None


def _schema(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield "must be an object"
        return
    for key in schema:
        if key not in KEYWORDS:
            yield f"{key} is not permitted"
    properties = schema.get("properties", {})
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield "additionalProperties must be false"
        if set(schema.get("required", ())) != set(properties):
            yield "every property must be required"
    for inner in (*properties.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", [])):
        yield from _schema(inner)
    if "items" in schema:
        yield from _schema(schema["items"])
