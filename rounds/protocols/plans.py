"""Plans: which rounds there are, who is absent when, where drift is checked (SD-23 … SD-26, FORMAT 9).

A plan is a named one, a person's own rows, or a named plan with some rows changed.

Laws
1. Rounds are numbered 1, 2, 3 … without a gap.
2. A round is the phases A–G, with H where drift is checked; or the synthesis S alone.
3. S is in the last row only; at most one role is absent, and none from a round of S alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import msgspec

from ledger.events.run import PlanRow, Prediction, SignatureCode

NORMAL: Final = ("A", "B", "C", "D", "E", "F", "G")
AUTHORS: Final = ("action", "guardian", "observer", "critic")


def _rows(count: int, absent: Mapping[int, str], drift: Sequence[int]) -> list[PlanRow]:
    return [
        PlanRow(
            round=n,
            absent=absent.get(n),
            drift=n in drift,
            phases=(*NORMAL, "H") if n in drift else NORMAL,
        )
        for n in range(1, count + 1)
    ]


PLANS: Final[Mapping[str, tuple[PlanRow, ...]]] = {
    # Every role is absent once. SD-24: the absences that show most come first, those that are hardest to notice last.
    # The synthesis is inside R13.
    "standard-13": (
        *_rows(12, {5: "critic", 10: "guardian", 12: "action"}, (5, 10)),
        PlanRow(round=13, absent="observer", phases=(*NORMAL, "S")),
    ),
    # Critic and guardian are absent once, and a round of synthesis stands alone.
    "minimum-8": (*_rows(7, {4: "critic", 6: "guardian"}, (5,)), PlanRow(round=8, phases=("A", "S"))),
    # The critic is absent once: 84 replies at most.
    "short-5": (*_rows(4, {2: "critic"}, (3,)), PlanRow(round=5, phases=("A", "S"))),
}
"""Name of a plan → its rows, with drift checks in R5 and R10, in R5, in R3."""


def without_stress(plan: Sequence[PlanRow]) -> tuple[PlanRow, ...]:
    """Return the same plan without absences (recorded as waived, SD-73)."""
    return tuple(msgspec.structs.replace(row, absent=None) for row in plan)


def obeyed_from(plan_name: str, plan: Sequence[PlanRow]) -> int:
    """Return the round from which a look that says stop is obeyed: 13 for `standard-13`, else the last stress round.

    At least 6, or 3 in a plan of fewer rounds.
    """
    if plan_name == "standard-13":
        return 13
    # A stop before the last stress round would skip the test that it is there for.
    return max([3 if _is_short(plan) else 6, *(row.round for row in plan if row.absent)])


def looks_every(plan: Sequence[PlanRow]) -> int:
    """Return the rounds between two looks at the signals: 3, and 1 in a plan of fewer than six rounds."""
    return 1 if _is_short(plan) else 3


def _is_short(plan: Sequence[PlanRow]) -> bool:
    return sum("G" in row.phases for row in plan) < 6


_SIGNATURES: Final[dict[str, tuple[tuple[SignatureCode, str], ...]]] = {
    "action": (("no_cross_round_trace", "no trace will build on an earlier round's decision"),),
    "guardian": (("no_invariant", "no new invariant will be stated or tested"),),
    "observer": (("no_goal_verdict", "nobody will say whether an operator reached the goal"),),
    "critic": (("no_broken", "no check of this round will come out BROKEN"),),
}


_FEWER_CLAIMS: Final[tuple[SignatureCode, str]] = (
    "fewer_claims",
    "fewer claims than in the rounds around it",
)


def default_predictions(absent_roles: Sequence[str]) -> tuple[Prediction, ...]:
    """Return what is expected to be missing while a role is absent (SD-75, SD-76), in role order."""
    return tuple(
        Prediction(role=role, code=code, text=text)
        # In role order and not in plan order, so that equal plans give equal openings.
        for role in AUTHORS
        if role in absent_roles
        for code, text in (*_SIGNATURES[role], _FEWER_CLAIMS)
    )


PHASES: Final = (*NORMAL, "H", "S")
_SPAN: Final = re.compile(r"([A-HS])-([A-HS])")


class WrittenRow(msgspec.Struct, frozen=True):
    """A row as a person writes it; None leaves a value to the plan."""

    n: int
    absent: str | None = None
    drift: bool | None = None
    phases: tuple[str, ...] | None = None
    focus: str | None = None


class PlanRefused(ValueError):
    """Rows that do not form a plan; the message gives the reason in one clause."""


def phases_of(value: Any) -> tuple[str, ...]:
    """Return phases as written: "A-G", "A-G,S" or ["A", "S"]; in their order. Raises `ValueError`."""
    parts = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else str(value).split(",")
    named: list[str] = []
    for part in parts:
        name = str(part).strip().upper()
        span = _SPAN.fullmatch(name)
        first, last = (span[1], span[2]) if span else (name, name)
        if first not in PHASES or last not in PHASES or PHASES.index(first) > PHASES.index(last):
            raise ValueError(
                f"no phases {part!r}: write a span such as A-G, or a list of {', '.join(PHASES)}"
            )
        named += PHASES[PHASES.index(first) : PHASES.index(last) + 1]
    # The order of phases is fixed, whatever the order in which a person writes them.
    return tuple(phase for phase in PHASES if phase in named)


def planned(name: str | None, rows: Sequence[WrittenRow]) -> tuple[PlanRow, ...]:
    """Return the plan of a name and rows: the rows alone, the named plan, or the named plan with its rows changed.

    Without either it is `standard-13`. Raises `PlanRefused`.
    """
    # Rows without a name are a whole plan; with a name they only change some of its rounds.
    if name is None and rows:
        plan = tuple(
            _row(row, PlanRow(round=row.n, phases=phases, drift="H" in phases))
            for row in sorted(rows, key=lambda row: row.n)
            for phases in [row.phases or NORMAL]
        )
    else:
        plan = _changed(PLANS[name or "standard-13"], rows)
    for expected, row in enumerate(plan, 1):
        _check(row, expected, is_last=row is plan[-1])
    return plan


def _changed(plan: tuple[PlanRow, ...], rows: Sequence[WrittenRow]) -> tuple[PlanRow, ...]:
    changes = {row.n: row for row in rows}
    unknown = sorted(set(changes) - {row.round for row in plan})
    if unknown:
        raise PlanRefused(
            f"the plan has no round {unknown[0]}; leave the plan's name out to write your own rows"
        )
    return tuple(_row(changes[row.round], row) if row.round in changes else row for row in plan)


def _row(written: WrittenRow, base: PlanRow) -> PlanRow:
    phases = written.phases or base.phases
    drift = written.drift if written.drift is not None else "H" in phases
    with_drift = tuple(
        # H follows from `drift` alone, so a row cannot ask for a drift check and leave its phase out.
        phase
        for phase in PHASES
        if (phase in phases and phase != "H") or (phase == "H" and drift)
    )
    return PlanRow(
        round=base.round,
        absent=written.absent if written.absent is not None else base.absent,
        drift=drift,
        phases=with_drift,
        focus=written.focus if written.focus is not None else base.focus,
    )


def _check(row: PlanRow, expected: int, *, is_last: bool) -> None:
    if row.round != expected:
        raise PlanRefused(f"round {expected} is missing or written twice: number the rounds 1, 2, 3 …")
    # Half a round would have verdicts without artifacts, or decisions without verdicts.
    if set(row.phases) - {"H", "S"} != set(NORMAL) and set(row.phases) - {"A"} != {"S"}:
        raise PlanRefused(
            f"round {row.round} has phases {', '.join(row.phases)}: a round is A-G, with H where drift is "
            "checked, or S alone"
        )
    if "S" in row.phases and not is_last:
        raise PlanRefused(f"round {row.round} has the synthesis S, which ends a run: only the last round can")
    if row.absent is not None and row.absent not in AUTHORS:
        raise PlanRefused(
            f"round {row.round}: {row.absent!r} cannot be absent; roles are {', '.join(AUTHORS)}"
        )
    if row.absent is not None and "G" not in row.phases:
        raise PlanRefused(f"round {row.round} is synthesis alone, and all roles take part in it")
