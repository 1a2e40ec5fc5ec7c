"""Version 3 of the derivation of a brief: the columns of `structured`, so ordered that most of a brief is read from the
cache that an earlier one wrote (FORMAT 5 and 6).

Laws, beside those of version 1
6. A claim stands in its column as this round found it, or as this round raised it: the column is the same for every
   step of the round. What was raised or has moved since stands behind the verdicts, with its status now.
7. What changes seldom stands before what changes often: earlier rounds are told one by one, the oldest first.
8. Earlier claims are told with their tests; where they were raised and what they serve is for the synthesis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, cast

from ledger.book import Book
from ledger.ids import round_of
from roles.brief_v1 import settled, this_round
from roles.brief_v1.blocks import EXTENTS, ONE_BLOCK_EACH, Derived, column_blocks, frame, role_block
from roles.brief_v1.opening import scene_at_opening
from roles.brief_v1.scene import Block, Scene, Shared
from roles.brief_v1.task import failed_drift, task_block
from roles.brief_v3 import claims
from roles.prompt_set import PromptSet
from roles.protocol import Column, Protocol, Sight, Step
from roles.quoting import Quoted

QUOTES: Final[Mapping[Column, Callable[[Scene, Sight], tuple[Quoted, ...]]]] = {
    Column.QUESTION: settled.question,
    Column.DECISIONS: settled.decisions,
    Column.OLD_CLAIMS: claims.found,
    Column.PLAN: this_round.plan,
    Column.PROPOSAL: this_round.proposal,
    Column.SUPPLEMENTS: this_round.supplements,
    Column.ARTIFACTS: this_round.artifacts,
    Column.CLAIMS: claims.raised,
    Column.POSITIONS: this_round.positions,
    Column.VERDICTS: this_round.verdicts,
    Column.FLIPS: this_round.flips,
    Column.AMENDMENTS: settled.amendments,
}
"""Column → what quotes it."""

_C = Column
LEFT: Final = (_C.DECISIONS, _C.OLD_CLAIMS)
"""What earlier rounds left, told round by round: what an old round left changes seldom, and stands before what the last
one left."""
_OF_ROUND: Final = (_C.PLAN, _C.PROPOSAL, _C.SUPPLEMENTS, _C.ARTIFACTS, _C.CLAIMS, _C.POSITIONS, _C.VERDICTS)
_JUDGED: Final = (_C.PLAN, _C.CLAIMS, _C.ARTIFACTS, _C.VERDICTS)
"""For those who see the goals alone: the artifacts, which differ from check to check, come late."""
_AT_THE_END: Final = (_C.VERDICTS, _C.ARTIFACTS)
"""For the synthesis: all look back at the verdicts, one at the artifacts."""
_LAST: Final = (_C.FLIPS, _C.AMENDMENTS)

_OF_THE_ROUND: Final = frozenset({_C.QUESTION, _C.PLAN, _C.OLD_CLAIMS})
"""Columns that are the same for every group of a round, but for the synthesis."""


class Shown(NamedTuple):
    """What a column shows: quotations, their blocks, and the events that they come from."""

    quotations: tuple[Quoted, ...]
    blocks: list[Block]
    seqs: frozenset[int]


def _made(quotations: tuple[Quoted, ...], blocks: list[Block]) -> Shown:
    return Shown(quotations, blocks, frozenset([seq for each in quotations for seq in each.seqs]))


def derive(
    ledger: Book, protocol: Protocol, step: Step, prompt_set: PromptSet, shared: Shared | None = None
) -> Derived:
    """The blocks of a step's brief and the events that they show.

    A repeated step shows what its first one showed, artifacts and claims the other way round.
    `shared` keeps what briefs of one ledger have in common while several are derived in the order of their groups.
    """
    scene = scene_at_opening(ledger, protocol, step, prompt_set, shared)
    shown = {column: _shown(scene, column, sight) for column, sight in scene.view.items()}
    moved = _moved(scene, shown)
    blocks = [
        frame(scene),
        *_blocks(shown, (Column.QUESTION,)),
        *_left(scene, shown),
        *_blocks(shown, _order(scene)),
        *moved.blocks,
        *_blocks(shown, _LAST),
        role_block(scene),
        task_block(scene, {column: each.quotations for column, each in shown.items()}),
    ]
    failed = [seq for _, seq in failed_drift(scene)]
    saw = moved.seqs.union([scene.opened.seq], failed, *[each.seqs for each in shown.values()])
    return Derived(tuple(blocks), tuple(sorted(saw)), scene.state)


def _order(scene: Scene) -> tuple[Column, ...]:
    if scene.step.name.phase == "S":
        return _AT_THE_END
    return _JUDGED if _judges(scene) else _OF_ROUND


def _judges(scene: Scene) -> bool:
    return scene.view[Column.QUESTION].extent == "goals"


def _blocks(shown: Mapping[Column, Shown], columns: Iterable[Column]) -> list[Block]:
    return [block for column in columns if column in shown for block in shown[column].blocks]


def _shown(scene: Scene, column: Column, sight: Sight) -> Shown:
    """What a column shows, kept for the steps of the group or of the round. Amendments are for one role."""
    if column is Column.AMENDMENTS:
        return _column(scene, column, sight)
    known: dict[tuple[object, ...], object] = scene.shared.columns
    key: tuple[object, ...] = (column, sight, _C.DECISIONS in scene.view, scene.view.get(_C.VERDICTS))
    if column in _OF_THE_ROUND and scene.step.name.phase != "S":
        known, key = scene.shared.rounds, (column, sight, scene.round)
    if key not in known:
        known[key] = _column(scene, column, sight)
    return cast("Shown", known[key])


def _column(scene: Scene, column: Column, sight: Sight) -> Shown:
    quotations = QUOTES[column](scene, sight)
    early = quotations
    if column is Column.CLAIMS:
        early = tuple(each for each in quotations if not claims.is_late(scene, each))
    return _made(quotations, column_blocks(scene, column, sight, early, (*ONE_BLOCK_EACH, *LEFT)))


def _left(scene: Scene, shown: Mapping[Column, Shown]) -> list[Block]:
    """What earlier rounds left, a block a round; for judges the decisions stand apart, behind the claims."""
    columns = [column for column in LEFT if column in shown]
    parts = [[column] for column in reversed(columns)] if _judges(scene) else [columns]
    return [block for part in parts if part for block in _by_round(scene, shown, part)]


def _by_round(scene: Scene, shown: Mapping[Column, Shown], columns: Sequence[Column]) -> list[Block]:
    quotations = tuple(shown[column].quotations for column in columns)
    heading = shown[columns[0]].blocks[0].text
    if len(columns) > 1:
        extents = EXTENTS[scene.view[_C.OLD_CLAIMS].extent]
        heading = scene.rendered("blocks/left", {"none": [] if any(quotations) else [{}], **extents})
    known, key = scene.shared.rounds, ("left", heading, quotations)
    if key not in known:
        left: dict[int, list[str]] = {}
        for each in (each for column in quotations for each in column):
            left.setdefault(round_of(each.name) or 0, []).append(each.text + "\n")
        blocks = (Block(f"left-{n}", "\n".join(texts)) for n, texts in sorted(left.items()))
        known[key] = [Block(columns[-1].value, heading), *blocks]
    found: list[Block] = known[key]
    return found


def _moved(scene: Scene, shown: Mapping[Column, Shown]) -> Shown:
    """What has moved, which is the same for the next step of the round; then what was raised behind the verdicts."""
    of_round = shown[Column.CLAIMS].quotations if Column.CLAIMS in shown else ()
    earlier = shown[Column.OLD_CLAIMS].quotations if Column.OLD_CLAIMS in shown else ()
    known = scene.shared.columns
    key = ("moved", scene.view.get(Column.CLAIMS), scene.view.get(Column.OLD_CLAIMS))
    if key not in known:
        moved = claims.moved(scene, (*earlier, *of_round))
        late = tuple(each for each in of_round if claims.is_late(scene, each))
        blocks = [_list(scene, name, each) for name, each in (("moved", moved), ("late", late)) if each]
        known[key] = _made(moved, blocks)
    found: Shown = known[key]
    return found


def _list(scene: Scene, name: str, quotations: tuple[Quoted, ...]) -> Block:
    heading = scene.rendered(f"blocks/{name}", {})
    return Block(name, "\n".join([heading, *(each.text + "\n" for each in quotations)]))


__all__ = ["derive"]
