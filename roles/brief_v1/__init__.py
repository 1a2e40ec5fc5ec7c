"""Version 1 of the derivation of a brief: the columns that a step sees, quoted, in order (FORMAT 5 and 6).

Frozen, with `roles/quoting.py`: a change of what it makes is version 2 in a package of its own.

Laws
1. What a brief shows had happened when the step's group opened; what arrives later changes nothing.
2. Everything quoted is ordered by (round, phase, role, n), never by seq.
3. A column that the view does not name is not shown; nothing is shown but through a column, the step's own role
   and its task.
4. A status is shown with the verifications that made it, and those are in `saw`.
5. Seats, models, costs, signals, alarms, other roles' charters, predicted signatures and seqs never occur.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from ledger.book import Book
from roles.brief_v1 import settled, this_round
from roles.brief_v1.blocks import Derived, column_blocks, frame, role_block
from roles.brief_v1.opening import scene_at_opening
from roles.brief_v1.scene import Block, BriefUnavailable, Scene, Shared
from roles.brief_v1.task import failed_drift, task_block
from roles.prompt_set import PromptSet
from roles.protocol import Column, Protocol, Sight, Step
from roles.quoting import Quoted

QUOTES: Final[Mapping[Column, Callable[[Scene, Sight], tuple[Quoted, ...]]]] = {
    Column.QUESTION: settled.question,
    Column.DECISIONS: settled.decisions,
    Column.OLD_CLAIMS: settled.old_claims,
    Column.PLAN: this_round.plan,
    Column.PROPOSAL: this_round.proposal,
    Column.SUPPLEMENTS: this_round.supplements,
    Column.ARTIFACTS: this_round.artifacts,
    Column.CLAIMS: this_round.claims,
    Column.POSITIONS: this_round.positions,
    Column.VERDICTS: this_round.verdicts,
    Column.FLIPS: this_round.flips,
    Column.AMENDMENTS: settled.amendments,
}
"""Column → what quotes it, in the order of the blocks: shared and stable, then settled, then this round's."""


OF_THE_ROUND: Final = frozenset({Column.QUESTION, Column.PLAN})
"""Columns that are the same for every group of a round."""


class Shown(NamedTuple):
    """What a column shows: quotations, their blocks, and the events they come from."""

    quotations: tuple[Quoted, ...]
    blocks: list[Block]
    seqs: frozenset[int]


def derive(
    ledger: Book, protocol: Protocol, step: Step, prompt_set: PromptSet, shared: Shared | None = None
) -> Derived:
    """The blocks of a step's brief and the events that they show.

    A repeated step shows what its first one showed, artifacts and claims the other way round.
    `shared` keeps what briefs of one ledger have in common while several are derived in the order of their groups.
    """
    scene = scene_at_opening(ledger, protocol, step, prompt_set, shared)
    blocks, saw, shown = [frame(scene)], {scene.opened.seq}, dict[Column, tuple[Quoted, ...]]()
    for column in QUOTES:
        sight = scene.view.get(column)
        if sight is None:
            continue
        quotations, made, seqs = _column(scene, column, sight)
        shown[column] = quotations
        saw |= seqs
        blocks += made
    saw.update(seq for _, seq in failed_drift(scene))
    blocks += [role_block(scene), task_block(scene, shown)]
    return Derived(tuple(blocks), tuple(sorted(saw)), scene.state)


def _column(scene: Scene, column: Column, sight: Sight) -> Shown:
    """What a column shows. Amendments are for one role; of the rest the key names all that they read."""
    known = scene.shared.columns
    key: tuple[Any, ...]
    if column in OF_THE_ROUND:
        known, key = scene.shared.rounds, (column, sight, scene.round)
    else:
        key = (column, sight, scene.view.get(Column.VERDICTS), Column.DECISIONS in scene.view)
    if column is Column.AMENDMENTS or key not in known:
        quotations = QUOTES[column](scene, sight)
        seqs = frozenset(seq for quoted in quotations for seq in quoted.seqs)
        known[key] = Shown(quotations, column_blocks(scene, column, sight, quotations), seqs)
    found: Shown = known[key]
    return found


__all__ = ["Block", "BriefUnavailable", "Derived", "Shared", "derive"]
