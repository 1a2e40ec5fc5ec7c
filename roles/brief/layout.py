"""Layout of a brief: the order of its columns for each reader, and the scope in which each stays the same.

Scopes only get narrower from the first row to the last, so that two briefs share a prefix as long as possible, and a
prefix cache can end where a scope ends (`roles/seats/prompt.py`). A different order is a different layout, not
different code: layouts are part of prompt sets (`roles/prompts/<set>/layout.json`).
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
"""Scope in which a block stays the same, from the widest to the narrowest."""
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

Reader = Literal[
    "writer",  # sees the question
    "judge",  # judges, and sees the question or the goals alone
    "reviewer",  # looks back in the synthesis
    "resolver",  # judges in the synthesis
]


class LayoutRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Consecutive columns of one scope. `by_round`: merged, with one block per round, the oldest first."""

    scope: Scope
    columns: tuple[Column, ...]
    by_round: bool = False


class ReaderLayout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows between the frame and the role for one kind of reader; a column without a row is not shown."""

    rows: tuple[LayoutRow, ...]
    claims: Literal["as_found", "as_they_stand"]
    """Status of shown claims: at the start of the round (or when raised), so that the column is the same for every step
    of the round and `moved` shows the changes; or when the step opens."""


class Layout(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Layouts of all readers, and the ids that a task can name: of shown columns, or of picked records."""

    readings: Mapping[Reader, ReaderLayout]
    words: Literal["columns", "records"] = "columns"


def layout_of(prompt_set: PromptSet) -> Layout:
    """Return the layout in a run's prompt set. Raises `PromptSetError` when it is missing or invalid."""
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
        # A wider scope after a narrower one would break the shared prefix without any visible error.
        if reach != sorted(reach) or len(columns) != len(set(columns)):
            raise PromptSetError(
                f"the layout of {name!r} has scopes out of order, or a column twice, for {reader}"
            )
