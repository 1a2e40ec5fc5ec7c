"""Derive a brief: the exact text that a seat receives for a step, in blocks, and the events it shows (FORMAT 6).

    {"brief":1,"step":"r3.D.critic","prompt_set":"…","blocks":[{"name":"frame","sha256":"…"}],"schema":"…"}

A brief is a pure function of the ledger, the step and the prompt set: events that arrive while the step is open do not
change it. The layout in the run's prompt set decides the order of the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, get_args

import msgspec
import orjson

from ledger.events.ids import round_of
from ledger.state.book import Book, once
from ledger.store.blobs import hash_of
from roles.brief import records
from roles.brief.claims import is_late
from roles.brief.columns import UNNAMED, ColumnShown, shown_in
from roles.brief.context import Block, BriefCache, BriefContext, LayoutRow, Scope, context_of
from roles.brief.quote import Quoted
from roles.brief.task import failed_drift, task_block
from roles.prompt_set import PromptSet, Row as Element, Values, bar, prompt_set_hash, render, template
from roles.protocol import Column, Extent, Protocol, Step
from roles.schema import reply_schema, schema_bytes

ONE_BLOCK_EACH: Final = (Column.QUESTION, Column.PROPOSAL, Column.SUPPLEMENTS, Column.ARTIFACTS)
"""Columns with one block per quotation, so that briefs that show the same quotations share blobs."""
SAID_WHEN_THERE_IS_SOME: Final = (
    Column.AMENDMENTS,
    Column.MOVED,
    Column.LATE,
    Column.BEFORE,
    Column.TOLD,
    Column.PLACES,
    Column.UNANSWERED,
)
"""Columns that are left out when empty; for the others the brief says that there are none."""
FOLLOWS: Final = (Column.MOVED, Column.LATE)
"""Columns that follow from the shown claims and are placed although no view names them."""

_EXTENTS: Final[Mapping[Extent, Mapping[str, list[Element]]]] = {
    own: {extent: [{}] if extent == own else [] for extent in get_args(Extent)} for own in get_args(Extent)
}
"""Extent → the lists of a heading, one per extent, of which only its own is not empty."""


def frame(context: BriefContext) -> Block:
    """Return the block that is the same for every step of every role."""
    return once(context.of_run, "frame", lambda: Block("frame", context.rendered("blocks/frame", {}), "run"))


def role_block(context: BriefContext) -> Block:
    """Return the block with the question, casting and charter of the step's role."""
    return once(context.of_run, ("role", context.step.role), lambda: _role_block(context))


def _role_block(context: BriefContext) -> Block:
    definition = next(role for role in context.protocol.roles if role.id == context.step.role)
    cast: list[Element] = [
        {"title": bar("", member.title), "charge": bar("", member.charge or "none beyond the charter")}
        for member in context.opened.cast
        if member.role == definition.id
    ]
    values: Values = {
        "role": definition.id,
        "question": definition.question,
        "cast": cast,
        "charter": context.rendered(definition.charter, {}).rstrip("\n"),
    }
    return Block("role", context.rendered("blocks/role", values), "step")


def columns_shown(context: BriefContext) -> dict[Column, ColumnShown]:
    """Return the content of all columns that the layout places and the step may see."""
    names = (name for row in context.reading.rows for name in row.columns)
    return {name: shown_in(context, name) for name in names if name in context.view or name in FOLLOWS}


def placed(context: BriefContext, columns: Mapping[Column, ColumnShown]) -> Iterator[Block]:
    """Yield the blocks between the frame and the role."""
    for row in context.reading.rows:
        names = [name for name in row.columns if name in columns]
        if row.by_round and names:
            yield from _by_round(context, row, {name: columns[name] for name in names})
        else:
            for name in names:
                if name is Column.RECORD:
                    yield from _records(context, row.scope)
                else:
                    yield from _column(context, name, columns[name], row.scope)


def _column(context: BriefContext, name: Column, content: ColumnShown, scope: Scope) -> list[Block]:
    """Return the blocks of a column, shared by siblings."""
    key = ("blocks", content.key)
    return once(context.of_group, key, lambda: _column_blocks(context, name, content.quotations, scope))


def _column_blocks(
    context: BriefContext, name: Column, quotations: Sequence[Quoted], scope: Scope
) -> list[Block]:
    """Return heading and quotations of a column; an empty one says so, unless it is seldom present."""
    if name is Column.CLAIMS:
        # Late claims have a column of their own after the verdicts; here they would change a shared prefix.
        quotations = [claim for claim in quotations if not is_late(context, claim)]
    if not quotations and name in SAID_WHEN_THERE_IS_SOME:
        return []
    heading = _heading(context, name, none=not quotations)
    if name in ONE_BLOCK_EACH:
        texts = ((each.name, each.text + "\n") for each in quotations)
        return [Block(name, heading, scope), *(_block(context, *each, scope) for each in texts)]
    return [Block(name, _joined(heading, quotations), scope)]


def _by_round(context: BriefContext, row: LayoutRow, columns: Mapping[Column, ColumnShown]) -> list[Block]:
    """Return the blocks of earlier rounds, shared by siblings."""
    key = ("by round", *(each.key for each in columns.values()))
    return once(context.of_group, key, lambda: _left(context, row.scope, columns))


def _left(context: BriefContext, scope: Scope, columns: Mapping[Column, ColumnShown]) -> list[Block]:
    """Return one heading, followed by a block per round."""
    quotations = [quoted for each in columns.values() for quoted in each.quotations]
    *more, name = columns
    heading = _heading(context, name, none=not quotations, path="left" if more else name)
    # Rounds get separate blocks, so that a new round adds one block and leaves the cached ones alone.
    left: dict[int, list[str]] = {}
    for quoted in quotations:
        left.setdefault(round_of(quoted.name) or 0, []).append(quoted.text + "\n")
    blocks = (_block(context, f"left-{n}", "\n".join(texts), scope) for n, texts in sorted(left.items()))
    return [Block(name, heading, scope), *blocks]


def _records(context: BriefContext, scope: Scope) -> Iterator[Block]:
    """Yield one block per pick, named by its phase."""
    for pick in records.picks(context):
        quotations = records.quoted(context, pick)
        heading = records.heading(context, pick, none=not quotations)
        yield Block(pick.phase, _joined(heading, quotations), scope)


def _heading(context: BriefContext, name: Column, *, none: bool, path: str = "") -> str:
    extent = context.view.get(name, UNNAMED).extent
    lists: Mapping[str, list[Element]] = {"none": [{}] if none else [], **_EXTENTS[extent]}
    return once(
        context.of_run,
        ("heading", path or name, extent, context.round, none),
        lambda: context.rendered(f"blocks/{path or name}", {"round": context.round, **lists}),
    )


def _block(context: BriefContext, name: str, text: str, scope: Scope) -> Block:
    """Return a block that other groups are likely to have too."""
    return once(context.of_run, ("block", name, text, scope), lambda: Block(name, text, scope))


def _joined(heading: str, quotations: Sequence[Quoted]) -> str:
    return "\n".join([heading, *(each.text + "\n" for each in quotations)])


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
