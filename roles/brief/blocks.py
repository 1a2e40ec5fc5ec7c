"""Build the blocks of a brief: named pieces made of templates and quotations, each stored as a blob of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, get_args

from ledger.events.ids import round_of
from roles.brief import records
from roles.brief.claims import is_late
from roles.brief.columns import UNNAMED, ColumnShown, shown_in
from roles.brief.context import BriefContext, once
from roles.brief.layout import LayoutRow, Scope
from roles.brief.quote import Quoted
from roles.protocol import Column, Extent
from roles.templates import Row as Element
from roles.templates import Values, bar

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


class Block:
    """Named piece of a brief, stored as a blob under `sha256`."""

    __slots__ = ("bytes", "name", "scope", "sha256", "text")

    def __init__(self, name: str, text: str, scope: Scope) -> None:
        self.name: Final = name
        self.text: Final = text
        self.scope: Final[Scope] = scope
        """Scope in which it stays the same."""
        # The hash is computed once: blocks are shared by many briefs, and each brief lists all its hashes.
        self.bytes: Final = text.encode()
        self.sha256: Final = hashlib.sha256(self.bytes).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and (self.name, self.text) == (other.name, other.text)

    def __hash__(self) -> int:
        return hash((self.name, self.text))

    def __repr__(self) -> str:
        return f"Block({self.name!r}, {self.text!r}, {self.scope!r})"


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
