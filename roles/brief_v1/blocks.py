"""Blocks: the named pieces of a brief, each a blob of its own, put together from templates and quotations."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple, get_args

from ledger.state import State
from roles.brief_v1.scene import Block, Scene
from roles.protocol import Column, Extent, Sight
from roles.quoting import Quoted, bar
from roles.templates import Row, Values

ONE_BLOCK_EACH: Final = (Column.QUESTION, Column.PROPOSAL, Column.SUPPLEMENTS, Column.ARTIFACTS)
"""Columns whose quotations are blocks of their own, so that briefs that show the same ones share blobs."""


class Derived(NamedTuple):
    """What a derivation makes: blocks, the seqs they show, and the state that they were made from."""

    blocks: tuple[Block, ...]
    saw: tuple[int, ...]
    state: State


EXTENTS: Final[Mapping[Extent, Mapping[str, list[Row]]]] = {
    shown: {extent: [{}] if extent == shown else [] for extent in get_args(Extent)}
    for shown in get_args(Extent)
}
"""Extent → the lists of a heading: one of its own for each extent, and only this one's is not empty."""


def frame(scene: Scene) -> Block:
    """What holds for every step of every role."""
    found = scene.shared.fixed.get("frame")
    if found is None:
        found = scene.shared.fixed["frame"] = Block("frame", scene.rendered("blocks/frame", {}))
    return found


def column_blocks(
    scene: Scene,
    column: Column,
    sight: Sight,
    quotations: tuple[Quoted, ...],
    one_block_each: Collection[Column] = ONE_BLOCK_EACH,
) -> list[Block]:
    """A column's heading and quotations; a column without any says so, but rules that were not added do not show."""
    if column is Column.AMENDMENTS and not quotations:
        return []
    heading = _heading(scene, column, sight, none=not quotations)
    if column in one_block_each:
        return [Block(column.value, heading), *(scene.shared.block_of(each) for each in quotations)]
    text = "\n".join([heading, *(each.text + "\n" for each in quotations)])
    return [Block(column.value, text)]


def _heading(scene: Scene, column: Column, sight: Sight, *, none: bool) -> str:
    known, key = scene.shared.headings, (column, sight, scene.round, none)
    if key not in known:
        lists: Mapping[str, list[Row]] = {"none": [{}] if none else [], **EXTENTS[sight.extent]}
        known[key] = scene.rendered(f"blocks/{column.value}", {"round": scene.round, **lists})
    return known[key]


def role_block(scene: Scene) -> Block:
    """The role's question, casting and charter: of this role alone."""
    found = scene.shared.fixed.get(f"role {scene.step.role}")
    if found is None:
        found = scene.shared.fixed[f"role {scene.step.role}"] = _role_block(scene)
    return found


def _role_block(scene: Scene) -> Block:
    definition = next(role for role in scene.protocol.roles if role.id == scene.step.role)
    cast: list[Row] = [
        {"title": bar("", member.title), "charge": bar("", member.charge or "none beyond the charter")}
        for member in scene.opened.cast
        if member.role == definition.id
    ]
    values: Values = {
        "role": definition.id,
        "question": definition.question,
        "cast": cast,
        "charter": scene.rendered(definition.charter, {}).rstrip("\n"),
    }
    return Block("role", scene.rendered("blocks/role", values))
