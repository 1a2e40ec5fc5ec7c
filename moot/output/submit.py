"""`moot submit --json`: what became of a reply."""

from __future__ import annotations

from moot.output.base import Output


class Submission(Output, frozen=True):
    """`events`: ids (or `@seq`) of what was written; `errors`: why nothing was; `next`: steps that are open now."""

    accepted: bool
    events: list[str]
    errors: list[str]
    next: list[str]
