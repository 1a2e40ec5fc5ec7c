"""A brief as a request of the Messages API: the same blocks in the same order, with breakpoints for the prefix cache.

    system    frame                                     the same in every brief of the run
    user      question, goals, documents, and
              what rounds before the last one left  |  stands from round to round
              what the last round left              |  the same for a round
              this round                            |  the same for the siblings of a group
              the step's reply schema               |  the same for siblings with one schema
              added rules, role, task, repair          this step's alone
A breakpoint stands at each `|`. The output schema that the API is given is one small envelope for all steps, because a
changed one would miss the cache; the step's own schema is text, and is enforced when the reply is accepted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from roles.brief import Block, Brief

ENVELOPE: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {
        "reply": {
            "type": "string",
            "description": "The reply: one JSON object, as text, that satisfies the reply schema of the step",
        }
    },
    "required": ["reply"],
    "additionalProperties": False,
}
STABLE: Final = ("question", "goals", "K-")
"""Blocks, or beginnings of their names, that stand through the run."""
LEFT: Final = ("left-", "decisions", "old_claims")
"""What earlier rounds left."""
ARTIFACTS: Final = "artifacts"
OWN: Final = frozenset({"amendments", "role", "task", "repair"})
SCHEMA_HEADING: Final = (
    "Reply schema of this step (JSON Schema). Your answer is an object with the one field `reply`:"
    " the text of one JSON object that satisfies this schema.\n"
)

Content = list[dict[str, Any]]


def system_of(brief: Brief) -> Content:
    """What holds for every step of every role."""
    return [_text(brief.blocks[0].text)]


def user_of(brief: Brief) -> Content:
    """The rest of the brief, the schema before what is the step's own; at most four breakpoints."""
    shared = [block for block in brief.blocks[1:] if block.name not in OWN]
    own = [block for block in brief.blocks[1:] if block.name in OWN]
    content = [_text(block.text) for block in shared]
    for n in _ends(shared):
        content[n]["cache_control"] = {"type": "ephemeral"}
    schema = _text(SCHEMA_HEADING + orjson.dumps(brief.schema).decode() + "\n")
    schema["cache_control"] = {"type": "ephemeral"}
    return [*content, schema, *(_text(block.text) for block in own)]


def _ends(blocks: Sequence[Block]) -> list[int]:
    """The last block of what rounds before the last one left, which the next round finds again; of what all of them
    left; and of all. Of a judge's brief, instead of the second, the last before the artifacts, which differ from check
    to check."""
    names = [block.name for block in blocks]
    left = [n for n, name in enumerate(names) if name.startswith(LEFT)]
    stable = next((n for n, name in enumerate(names) if not name.startswith(STABLE)), len(names))
    older = left[-1] if left else stable
    judges = "goals" in names and ARTIFACTS in names
    second = names.index(ARTIFACTS) if judges else left[-1] + 1 if left else 0
    return sorted({n - 1 for n in (older, second, len(names)) if n > 0})


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text if text.endswith("\n") else text + "\n"}


def unwrapped(text: str) -> bytes:
    """The reply inside the envelope; a text that is no envelope is given back whole, for it may be the reply."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text.encode("utf-8", "replace")
    if isinstance(value, dict) and list(value) == ["reply"] and isinstance(value["reply"], str):  # pyright: ignore[reportUnknownArgumentType]  # any JSON
        return value["reply"].encode("utf-8", "replace")
    return text.encode("utf-8", "replace")
