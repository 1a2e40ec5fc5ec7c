"""What forks say about roles, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from moot.view.plain import folded, joined, listed

if TYPE_CHECKING:
    from moot.view.output.stress import Stress
    from rounds.analysis.stress import Counted, Lost

SHOWN = 12


def stress_text(found: Stress) -> str:
    """What `moot stress` prints: each fork beside the run, each role, then what is still to be made."""
    lines: list[str] = []
    for one in found.forks:
        lines += [*_fork(one), ""]
    lines.append("what each role carried")
    for role in found.roles:
        lines += folded(f"{role.role:<9} {role.verdict}: {role.detail}")
    lines += [*_todo(found)]
    return joined(lines)


def _fork(one: Lost) -> Iterator[str]:
    where = ", ".join(f"R{number}" for number in one.rounds)
    what = f"without {one.without}" if one.without else "nothing changed: what chance does"
    yield f"{one.run}: {where} {what}"
    for name, counted in (("run", one.parent), ("fork", one.fork)):
        yield f"  {name:<5}{_counted(counted)}"
    gone = f"{len(one.lost)} claims of the run did not come up ({len(one.own)} of them {one.without}'s own)"
    yield f"  lost {gone if one.without else f'{len(one.lost)} claims of the run did not come up'}"
    yield from folded(_ids(one.lost), 7) if one.lost else ()
    yield f"  kept {one.again}, new {len(one.new)}"
    if one.ready_parent != one.ready_fork:
        ready = {True: "ready to stop", False: "not ready"}
        yield f"  the run is {ready[one.ready_parent]}, the fork {ready[one.ready_fork]}"


def _counted(counted: Counted) -> str:
    return (
        f"{counted.claims} claims, {counted.tested} status changes, {counted.broken} BROKEN of"
        f" {counted.disagreement} disagreeing checks, {counted.tensions} tensions, {counted.decisions} decisions"
    )


def _ids(ids: list[str]) -> str:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return listed(ids[:SHOWN]) + more


def _todo(found: Stress) -> Iterator[str]:
    if found.unfinished:
        yield "to be gone on with: moot run --resume FORK --seats SPEC"
        yield from (f"  {run}" for run in found.unfinished)
    if found.missing:
        yield f"to be made ({len(found.missing)}; `--make` makes them all)"
        for one in found.missing:
            yield f"  moot fork {found.run} --round {one.round} --without {one.role}"
