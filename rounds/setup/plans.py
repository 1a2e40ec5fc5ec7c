"""Plans: which rounds there are, who is absent when, where drift is checked (SD-23 … SD-26, FORMAT 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ledger.events.decisions import PlanRow, Prediction, SignatureCode

NORMAL: Final = ("A", "B", "C", "D", "E", "F", "G")
STRUCTURED_ROLES: Final = ("action", "guardian", "observer", "critic")


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


def standard_13() -> tuple[PlanRow, ...]:
    """Thirteen rounds, every role absent once, drift checks in R5 and R10; the synthesis follows G inside R13."""
    rows = _rows(13, {5: "critic", 10: "guardian", 12: "action", 13: "observer"}, (5, 10))
    rows[-1] = PlanRow(round=13, absent="observer", phases=(*NORMAL, "S"))
    return tuple(rows)


def minimum_8() -> tuple[PlanRow, ...]:
    """Seven rounds with critic and guardian absent once, a drift check in R5, and a round of synthesis alone."""
    return (*_rows(7, {4: "critic", 6: "guardian"}, (5,)), PlanRow(round=8, phases=("A", "S")))


PLANS: Final = {"standard-13": standard_13, "minimum-8": minimum_8}


def without_stress(plan: Sequence[PlanRow]) -> tuple[PlanRow, ...]:
    """The same plan with nobody absent (recorded as waived, SD-73)."""
    return tuple(
        PlanRow(round=row.round, absent=None, drift=row.drift, phases=row.phases, focus=row.focus)
        for row in plan
    )


def obeyed_from(plan_name: str, plan: Sequence[PlanRow]) -> int:
    """The round from which a look that says stop is obeyed: 13 for `standard-13`, else the last stress round, ≥6."""
    if plan_name == "standard-13":
        return 13
    return max([6, *(row.round for row in plan if row.absent)])


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
    """What is expected to be missing while a role is absent (SD-75, SD-76), in role order."""
    return tuple(
        Prediction(role=role, code=code, text=text)
        for role in STRUCTURED_ROLES
        if role in absent_roles
        for code, text in (*_SIGNATURES[role], _FEWER_CLAIMS)
    )
