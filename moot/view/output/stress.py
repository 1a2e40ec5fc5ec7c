"""`moot stress --json`: the forks that would show what a role carries, and what those that exist have lost."""

from __future__ import annotations

from moot.view.output.base import Output
from rounds.analysis.stress import Lost, Planned, RoleLoss


class Stress(Output, frozen=True):
    """`made` are forks that this call made, `missing` those still to be made, `unfinished` those with rounds to go."""

    run: str
    made: list[str]
    missing: list[Planned]
    unfinished: list[str]
    forks: list[Lost]
    roles: list[RoleLoss]
