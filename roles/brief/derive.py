"""Derive a brief: the exact text that a seat receives for a step, and the events it shows (FORMAT 6).

    {"brief":1,"step":"r3.D.critic","prompt_set":"…","blocks":[{"name":"frame","sha256":"…"}],"schema":"…"}

A brief is a pure function of the ledger, the step and the prompt set: events that arrive while the step is open do not
change it. The layout in the run's prompt set decides the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec
import orjson

from ledger.state.book import Book
from ledger.store.blobs import hash_of
from roles.brief.blocks import Block, columns_shown, frame, placed, role_block
from roles.brief.columns import ColumnShown
from roles.brief.context import BriefCache, BriefContext, context_of, once
from roles.brief.task import failed_drift, task_block
from roles.prompt_set import PromptSet, prompt_set_hash, template
from roles.protocol import Column, Protocol, Step
from roles.schema import reply_schema, schema_bytes
from roles.templates import Values, bar, render

REPAIR_CHARACTERS_MAX: Final = 40_000


# There are only as many schemas as kinds of reply, so a small cache holds all of them.
_schema_hash: Final = lru_cache(64)(hash_of)


class Brief(msgspec.Struct, frozen=True):
    """Brief of a step. `saw`: sorted seqs of the quoted events; `schema`: JSON Schema of the reply."""

    step: str
    prompt_set: str
    blocks: tuple[Block, ...]
    schema: Mapping[str, Any]
    schema_bytes: bytes
    """The schema as stored in its blob."""
    saw: tuple[int, ...]
    repair_template: str

    @property
    def text(self) -> str:
        """Return the blocks, joined by line feeds."""
        return "\n".join(block.text for block in self.blocks)

    @property
    def manifest(self) -> bytes:
        """Return the canonical JSON that lists every block by its hash; its own hash is `call.brief`."""
        return orjson.dumps(
            {
                "brief": 1,
                "step": self.step,
                "prompt_set": self.prompt_set,
                "blocks": [{"name": block.name, "sha256": block.sha256} for block in self.blocks],
                "schema": _schema_hash(self.schema_bytes),
            }
        )

    @property
    def sha256(self) -> str:
        """Return the hash of the manifest."""
        return hash_of(self.manifest)

    def blobs(self) -> dict[str, bytes]:
        """Return hash → bytes of the manifest, of every block's text and of the schema."""
        own = {hash_of(content): content for content in (self.manifest, self.schema_bytes)}
        return own | {block.sha256: block.bytes for block in self.blocks}


def derive(
    book: Book, protocol: Protocol, step: Step, prompt_set: PromptSet, memo: BriefCache | None = None
) -> Brief:
    """Derive the brief of `step`, which is the same before and after the step was answered.

    A repeated step shows the same events as its first attempt, with artifacts and claims in reverse order. `memo` saves
    work when briefs of one ledger are derived one after another, group by group.

    Raises `BriefUnavailable` when the blob of a context document is missing, and `PromptSetError` when the set lacks a
    template.
    """
    context = context_of(book, protocol, step, prompt_set, memo or BriefCache())
    columns = columns_shown(context)
    reply_type = protocol.reply_type(context.state, step)
    return Brief(
        step=step.id,
        prompt_set=once(context.of_run, "prompt_set", lambda: prompt_set_hash(prompt_set)),
        blocks=(frame(context), *placed(context, columns), role_block(context), task_block(context, columns)),
        schema=reply_schema(reply_type),
        schema_bytes=schema_bytes(reply_type),
        saw=_saw(context, columns),
        repair_template=template(prompt_set, "blocks/repair"),
    )


def _saw(context: BriefContext, columns: Mapping[Column, ColumnShown]) -> tuple[int, ...]:
    # The task names failed drift checks, so the seat saw them although no column shows them.
    failed = [seq for _, seq in failed_drift(context)]
    seqs = frozenset([context.opened.seq, *failed])
    return tuple(sorted(seqs.union(*(column.seqs for column in columns.values()))))


def repair(brief: Brief, reply: bytes, errors: tuple[str, ...]) -> Brief:
    """Return the brief with the seat's own reply and its errors appended (FORMAT 5, law 4).

    The caller must ensure that `errors` name only the reply, the schema and ids that the brief quotes.
    """
    text = reply.decode("utf-8", "replace")
    values: Values = {
        # The reply goes behind bars like any other quoted text, and is cut so that a flood does not fill the prompt.
        "reply": bar("", text[:REPAIR_CHARACTERS_MAX]),
        "cut": [{"kept": REPAIR_CHARACTERS_MAX}] if len(text) > REPAIR_CHARACTERS_MAX else [],
        "errors": [{"error": bar("", error)} for error in errors],
    }
    block = Block("repair", render(brief.repair_template, values) + "\n", "step")
    return msgspec.structs.replace(brief, blocks=(*brief.blocks, block))
