"""`moot submit --json`: what became of a reply."""

from __future__ import annotations

from moot.view.output.base import Output
from moot.view.output.outcome import Outcome


class Submission(Output, frozen=True):
    """`events`: ids (or `@seq`) of what was written; `errors`: why nothing was; `next`: steps that are open now;
    `outcome`: what the run rests on so far."""

    accepted: bool
    events: list[str]
    errors: list[str]
    next: list[str]
    outcome: Outcome
