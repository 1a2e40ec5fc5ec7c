"""A plan from what a person wrote: a named plan, rows of one's own, or a named plan with some rows changed (FORMAT 9).

Laws
1. Rounds are numbered 1, 2, 3 … without a gap.
2. A round is the phases A–G, with H where drift is checked; or the synthesis S alone.
3. S stands in the last row only; at most one role is absent, and nobody is from a round of S alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from ledger.events.decisions import PlanRow
from rounds.setup.plans import NORMAL, PLANS, STRUCTURED_ROLES

PHASES: Final = (*NORMAL, "H", "S")
_SPAN: Final = re.compile(r"([A-HS])-([A-HS])")


@dataclass(frozen=True, slots=True)
class Row:
    """A written row; None is not said."""

    n: int
    absent: str | None = None
    drift: bool | None = None
    phases: tuple[str, ...] | None = None
    focus: str | None = None


class PlanRefused(ValueError):
    """Rows that make no plan; the message says why, in one clause."""


def phases_of(value: Any) -> tuple[str, ...]:
    """Phases as written: "A-G", "A-G,S" or ["A", "S"]; in their order. Raises `ValueError`."""
    parts = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else str(value).split(",")
    found: list[str] = []
    for part in parts:
        name = str(part).strip().upper()
        span = _SPAN.fullmatch(name)
        first, last = (span[1], span[2]) if span else (name, name)
        if first not in PHASES or last not in PHASES or PHASES.index(first) > PHASES.index(last):
            raise ValueError(
                f"no phases {part!r}: write a span such as A-G, or a list of {', '.join(PHASES)}"
            )
        found += PHASES[PHASES.index(first) : PHASES.index(last) + 1]
    return tuple(phase for phase in PHASES if phase in found)


def planned(name: str | None, rows: Sequence[Row]) -> tuple[PlanRow, ...]:
    """The plan of a name and rows: the rows alone, the named plan alone, or the named plan with its rows changed.

    Without either it is `standard-13`. Raises `PlanRefused`.
    """
    if name is None and rows:
        plan = tuple(_fresh(row) for row in sorted(rows, key=lambda row: row.n))
    else:
        plan = _changed(PLANS[name or "standard-13"](), rows)
    for law in (_numbered, _phased, _attended):
        law(plan)
    return plan


def _fresh(row: Row) -> PlanRow:
    phases = row.phases or NORMAL
    return _row(row, PlanRow(round=row.n, phases=phases, drift="H" in phases))


def _changed(plan: tuple[PlanRow, ...], rows: Sequence[Row]) -> tuple[PlanRow, ...]:
    changes = {row.n: row for row in rows}
    unknown = sorted(set(changes) - {row.round for row in plan})
    if unknown:
        raise PlanRefused(
            f"the plan has no round {unknown[0]}; leave the plan's name out to write your own rows"
        )
    return tuple(_row(changes[row.round], row) if row.round in changes else row for row in plan)


def _row(written: Row, base: PlanRow) -> PlanRow:
    phases = written.phases or base.phases
    drift = written.drift if written.drift is not None else "H" in phases
    with_drift = tuple(
        phase for phase in PHASES if (phase in phases and phase != "H") or (phase == "H" and drift)
    )
    return PlanRow(
        round=base.round,
        absent=written.absent if written.absent is not None else base.absent,
        drift=drift,
        phases=with_drift,
        focus=written.focus if written.focus is not None else base.focus,
    )


def _numbered(plan: Sequence[PlanRow]) -> None:
    for expected, row in enumerate(plan, 1):
        if row.round != expected:
            raise PlanRefused(f"round {expected} is missing or written twice: number the rounds 1, 2, 3 …")


def _phased(plan: Sequence[PlanRow]) -> None:
    for row in plan:
        deliberating = set(row.phases) - {"H", "S"}
        if deliberating != set(NORMAL) and (set(row.phases) - {"A"} != {"S"}):
            raise PlanRefused(
                f"round {row.round} has phases {', '.join(row.phases)}: a round is A-G, with H where drift is "
                "checked, or S alone"
            )
        if "S" in row.phases and row is not plan[-1]:
            raise PlanRefused(
                f"round {row.round} has the synthesis S, which ends a run: only the last round can"
            )


def _attended(plan: Sequence[PlanRow]) -> None:
    for row in plan:
        if row.absent is None:
            continue
        if row.absent not in STRUCTURED_ROLES:
            raise PlanRefused(
                f"round {row.round}: {row.absent!r} cannot be absent; roles are {', '.join(STRUCTURED_ROLES)}"
            )
        if "G" not in row.phases:
            raise PlanRefused(f"round {row.round} is synthesis alone, and all roles take part in it")
