"""What the fake refuses, as the API does: (status, error type, message), or None for a request that it takes.

The rules are modelled on the documented ones; the words are the fake's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Refusal = tuple[int, str, str]

KEY: Final = "sk-ant-test-0123456789-planted"
MODELS: Final = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-sonnet-5")
OUTPUT_TOKENS_MAX: Final = 128_000
BREAKPOINTS_MAX: Final = 4
SAMPLING: Final = ("temperature", "top_p", "top_k")
TYPES: Final[Mapping[int, str]] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}
SUPPORTED: Final = frozenset(
    (
        "type",
        "enum",
        "const",
        "anyOf",
        "allOf",
        "$ref",
        "$defs",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "format",
        "minItems",
        "title",
        "description",
        "default",
    )
)


def refusal(headers: Mapping[str, str], body: dict[str, Any]) -> Refusal | None:
    """The first rule that a request breaks."""
    if headers.get("authorization") != f"Bearer {KEY}" and headers.get("x-api-key") != KEY:
        return 401, TYPES[401], "invalid credentials"
    if not headers.get("anthropic-version"):
        return 400, TYPES[400], "anthropic-version: header is required"
    for name in SAMPLING:
        if name in body:
            return 400, TYPES[400], f"{name}: not accepted"
    if body.get("model") not in MODELS:
        return 404, TYPES[404], f"model: {body.get('model')}"
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or not 0 <= limit <= OUTPUT_TOKENS_MAX:
        return 400, TYPES[400], f"max_tokens: must be at most {OUTPUT_TOKENS_MAX}"
    return _messages(body) or _breakpoints(body) or _format(body)


def _messages(body: dict[str, Any]) -> Refusal | None:
    messages = body.get("messages")
    if not messages:
        return 400, TYPES[400], "messages: at least one is required"
    if messages[0]["role"] != "user":
        return 400, TYPES[400], "messages.0: the first role must be user"
    if messages[-1]["role"] == "assistant":
        return 400, TYPES[400], "messages: must not end with an assistant turn"
    for block in blocks_of(body):
        if not block.get("text"):
            return 400, TYPES[400], "text content blocks must be non-empty"
    return None


def _breakpoints(body: dict[str, Any]) -> Refusal | None:
    count = sum("cache_control" in block for block in blocks_of(body))
    if count > BREAKPOINTS_MAX:
        return 400, TYPES[400], f"cache_control: at most {BREAKPOINTS_MAX} blocks, found {count}"
    return None


def _format(body: dict[str, Any]) -> Refusal | None:
    form = (body.get("output_config") or {}).get("format")
    if form is None:
        return None
    if form.get("type") != "json_schema":
        return 400, TYPES[400], "output_config.format.type: must be json_schema"
    for problem in _schema(form.get("schema")):
        return 400, TYPES[400], f"output_config.format.schema: {problem}"
    return None


def _schema(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield "must be an object"
        return
    for key in schema:
        if key not in SUPPORTED:
            yield f"{key} is not supported"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield "additionalProperties must be false"
    for inner in (
        *schema.get("properties", {}).values(),
        *schema.get("$defs", {}).values(),
        *schema.get("anyOf", []),
    ):
        yield from _schema(inner)
    if "items" in schema:
        yield from _schema(schema["items"])


def blocks_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The blocks of a request in the order of its prefix: system, then messages."""
    system = body.get("system") or []
    found = [{"type": "text", "text": system}] if isinstance(system, str) else list(system)
    for message in body.get("messages") or []:
        content = message["content"]
        found += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return found
