"""Lay out a brief as a Messages API request: the same blocks in the same order, with breakpoints for the prefix cache.

    system    frame                                     the same in every brief of the run
    user      question, goals, documents, and
              results of rounds before the last one |  stable from round to round
              results of the last round             |  the same for a round
              this round                            |  the same for the siblings of a group
              the step's reply schema               |  the same for siblings with one schema
              added rules, role, task, repair          specific to this step
Each `|` is a breakpoint; they follow from the scopes of the blocks (`roles/brief/context.py`). The API gets one small
envelope as its output schema for all steps, because a different schema would miss the cache. The step's own schema is
part of the text and is enforced when the reply is validated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

from roles.brief import Block, Brief
from roles.brief.context import SCOPES

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
"""Heading for an answer that is the reply itself, without an envelope."""
NO_LINE_FEED: Final = r"(?!\n)"
"""Suffix of patterns, for regex engines whose `$` matches before a final line feed; a grammar does not need it."""

Content = list[dict[str, Any]]


def system_of(brief: Brief) -> Content:
    """Return the system message: the frame, the same for every step of every role."""
    return [_text(brief.blocks[0].text)]


def user_of(brief: Brief, heading: str = SCHEMA_HEADING) -> Content:
    """Return the user message: shared blocks, the schema, then the step's own blocks; at most four breakpoints."""
    shared = [block for block in brief.blocks[1:] if block.scope != "step"]
    own = [block for block in brief.blocks[1:] if block.scope == "step"]
    content = [_text(block.text) for block in shared]
    for end in _ends(shared):
        content[end - 1]["cache_control"] = {"type": "ephemeral"}
    schema = _text(heading + orjson.dumps(brief.schema).decode() + "\n")
    # The schema precedes the step's own blocks so that siblings with the same schema share it in the cache.
    schema["cache_control"] = {"type": "ephemeral"}
    return [*content, schema, *(_text(block.text) for block in own)]


def _ends(blocks: Sequence[Block]) -> set[int]:
    """Return after how many blocks a breakpoint goes: for the run, for the round, and for the siblings.

    All but the last block of earlier rounds stay the same from round to round, so the next round finds them cached.
    """
    reach = [SCOPES.index(block.scope) for block in blocks]
    run, earlier, round_ = (bisect_right(reach, SCOPES.index(scope)) for scope in ("run", "earlier", "round"))
    # An empty prefix gets no breakpoint: zero would become index -1, which is the last block.
    return {max(run, earlier - 1), round_, len(blocks)} - {0}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text if text.endswith("\n") else text + "\n"}


def prompt_of(brief: Brief) -> str:
    """Return the whole brief as one text, with the reply schema before the step's own blocks."""
    return "\n".join(block["text"] for block in (*system_of(brief), *user_of(brief, PLAIN_HEADING)))


def grammatical(schema: Any) -> Any:
    """Return a schema without the lookahead that ends our patterns, which servers cannot turn into a grammar."""
    if isinstance(schema, Mapping):
        return {key: grammatical(value) for key, value in cast("Mapping[str, Any]", schema).items()}
    if isinstance(schema, list | tuple):
        return [grammatical(value) for value in cast("Sequence[Any]", schema)]
    return schema.replace(NO_LINE_FEED, "") if isinstance(schema, str) else schema
