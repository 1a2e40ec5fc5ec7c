"""The layout of a brief: which columns stand where for whom, and how far each stays the same.

A row says its scope. From the first row to the last a scope only grows narrower, so that what two briefs have in
common stands at their beginning: a cache of prefixes ends at the borders (`roles/seats/prompt.py`). Another order is
another layout, not other code: it lies in the prompt set (`roles/prompts/<set>/layout.json`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

import msgspec

from roles.prompt_set import PromptSet, PromptSetError
from roles.protocol import Column

Scope = Literal[
    "run",  # the same in every brief of the run that shows it
    "earlier",  # what earlier rounds left: the same for a round, and all but the last block for later rounds too
    "round",  # the same for the round's steps of that reader
    "group",  # the same for the siblings of a group
    "step",  # this step's alone
]
"""How far a block stays the same, from the widest to the narrowest."""
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

Reader = Literal[
    "writer",  # sees the question
    "judge",  # judges, and sees the question or the goals alone
    "reviewer",  # looks back in the synthesis
    "resolver",  # judges in the synthesis
]


class LayoutRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Columns that stand one behind another. `by_round`: told together, a block for each round, the oldest first."""

    scope: Scope
    columns: tuple[Column, ...]
    by_round: bool = False


class ReaderLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands between the frame and the role, for one kind of reader; a column without a row is not shown."""

    rows: tuple[LayoutRow, ...]
    claims: Literal["as_found", "as_they_stand"]
    """Claims with the status that the round found or raised them with, so that the column is the same for every step
    of the round and `moved` says the rest; or with the status that they have when the step opens."""


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The readings, and which words a task can name: ids of the columns shown, or of the records picked."""

    readings: Mapping[Reader, ReaderLayout]
    words: Literal["columns", "records"] = "columns"


def layout_of(prompt_set: PromptSet) -> Layout:
    """Return the layout of a run. Raises `PromptSetError` when its prompt set has none that can be read."""
    try:
        layout = msgspec.convert(prompt_set.get("layout"), Layout)
    except msgspec.ValidationError as error:
        raise PromptSetError(f"the layout of {prompt_set['name']!r} cannot be read: {error}") from None
    _judge(layout, str(prompt_set["name"]))
    return layout


def _judge(layout: Layout, name: str) -> None:
    if missing := set(get_args(Reader)) - set(layout.readings):
        raise PromptSetError(f"the layout of {name!r} has nothing for {', '.join(sorted(missing))}")
    for reader, reading in layout.readings.items():
        reach = [SCOPES.index(row.scope) for row in reading.rows]
        columns = [column for row in reading.rows for column in row.columns]
        if reach != sorted(reach) or len(columns) != len(set(columns)):
            raise PromptSetError(
                f"the layout of {name!r} has scopes out of order, or a column twice, for {reader}"
            )
