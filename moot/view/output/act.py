"""`--json` of answer, override, ack and note: what a person's word wrote."""

from __future__ import annotations

from moot.view.output.base import Output


class Act(Output, frozen=True):
    """`events`: ids (or `@seq`) of what was written, what follows from it included."""

    run: str
    events: list[str]
