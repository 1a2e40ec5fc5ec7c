"""A brief as a request of the Messages API: the same blocks in the same order, with breakpoints for the prefix cache.

    system    frame                                     the same in every brief of the run
    user      question, goals, documents, and
              what rounds before the last one left  |  stands from round to round
              what the last round left              |  the same for a round
              this round                            |  the same for the siblings of a group
              the step's reply schema               |  the same for siblings with one schema
              added rules, role, task, repair          this step's alone
A breakpoint stands at each `|`: it follows from the scopes of the blocks (`roles/brief/layout.py`). The output schema
that the API is given is one small envelope for all steps, because a changed one would miss the cache; the step's own
schema is text, and is enforced when the reply is accepted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

from roles.brief import Block, Brief
from roles.brief.layout import SCOPES

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
SCHEMA_HEADING: Final = (
    "Reply schema of this step (JSON Schema). Your answer is an object with the one field `reply`:"
    " the text of one JSON object that satisfies this schema.\n"
)
PLAIN_HEADING: Final = (
    "Reply schema of this step (JSON Schema); your answer is one JSON object that satisfies it.\n"
)
"""The same where the answer is the reply itself, without an envelope."""
NO_LINE_FEED: Final = r"(?!\n)"
"""Patterns end in it against a regex engine whose `$` allows a last line feed; in a grammar `$` is the end."""

Content = list[dict[str, Any]]


def system_of(brief: Brief) -> Content:
    """What holds for every step of every role."""
    return [_text(brief.blocks[0].text)]


def user_of(brief: Brief, heading: str = SCHEMA_HEADING) -> Content:
    """The rest of the brief, the schema before what is the step's own; at most four breakpoints."""
    shared = [block for block in brief.blocks[1:] if block.scope != "step"]
    own = [block for block in brief.blocks[1:] if block.scope == "step"]
    content = [_text(block.text) for block in shared]
    for end in _ends(shared):
        content[end - 1]["cache_control"] = {"type": "ephemeral"}
    schema = _text(heading + orjson.dumps(brief.schema).decode() + "\n")
    schema["cache_control"] = {"type": "ephemeral"}
    return [*content, schema, *(_text(block.text) for block in own)]


def _ends(blocks: Sequence[Block]) -> set[int]:
    """How many blocks stand from round to round, for a round, and for the siblings.

    Of what earlier rounds left all but the last block stand from round to round: the next round finds them again.
    """
    reach = [SCOPES.index(block.scope) for block in blocks]
    run, earlier, round_ = (bisect_right(reach, SCOPES.index(scope)) for scope in ("run", "earlier", "round"))
    return {max(run, earlier - 1), round_, len(blocks)} - {0}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text if text.endswith("\n") else text + "\n"}


def prompt_of(brief: Brief) -> str:
    """The brief's blocks in their order, the reply schema before what is the step's own."""
    shared = [block.text for block in brief.blocks if block.scope != "step"]
    own = [block.text for block in brief.blocks if block.scope == "step"]
    return "\n".join((*shared, PLAIN_HEADING + orjson.dumps(brief.schema).decode() + "\n", *own))


def grammatical(schema: Any) -> Any:
    """A schema as servers of open models make a grammar of it: without the lookahead that ends our patterns."""
    if isinstance(schema, Mapping):
        return {key: grammatical(value) for key, value in cast("Mapping[str, Any]", schema).items()}
    if isinstance(schema, list | tuple):
        return [grammatical(value) for value in cast("Sequence[Any]", schema)]
    return schema.replace(NO_LINE_FEED, "") if isinstance(schema, str) else schema
