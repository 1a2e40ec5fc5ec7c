"""The largest run that `crux` can ask for, whatever is answered: for prices, waits, and the page of the protocol."""

from __future__ import annotations

from typing import Final

from ledger.events.ids import StepName
from ledger.state.state import VERIFIER, State
from roles.protocol import Group
from rounds.protocols.crux.assignments import REPAIR
from rounds.protocols.crux.rewriting import AGAIN
from rounds.protocols.crux.standing import first_role
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import plans_programs
from rounds.protocols.step_table import rule, step_of

Asked = tuple[str, str | None, str, int]
"""Task, act, role and repeat of a step."""


def largest(state: State, round_: int) -> tuple[Group, ...]:
    """Return the groups of the first round of a run that tests three cruxes here and mends what it can.

    Later rounds follow from a person's results and are not part of a run's price.
    """
    # A price announced before the run cannot know whether a person will ever answer.
    if round_ > 1:
        return ()
    first = first_role(state)
    # The groups follow the order of the table, because waits are estimated per group and not per step.
    groups: list[list[Asked]] = [
        [("A", None, VERIFIER, 1)],
        [("B", None, first, 1)],
        [("B", None, role, 1) for role in AUTHORS if role != first],
        [("C.agenda", None, VERIFIER, 1)],
        [("E", None, role, 1) for role in AUTHORS],
    ]
    # Programs are the dearest tests: one reply each and a repair each. Expressions are never repaired.
    groups += _with_programs() if plans_programs(state) else _WITHOUT_PROGRAMS
    groups += _CLOSING if rule(state, "memo") != "off" else []
    return tuple(_group(asked) for asked in groups)


def _with_programs() -> list[list[Asked]]:
    plans: list[Asked] = [("D.program", f"c{n}", AUTHORS[n - 1], 1) for n in (1, 2, 3)]
    return [plans, [("D.again", f"{act}{REPAIR}", role, 1) for _, act, role, _ in plans]]


_WITHOUT_PROGRAMS: Final[list[list[Asked]]] = [
    [
        *(("D.calculation", f"c{n}", AUTHORS[n - 1], 1) for n in (1, 2)),
        ("D.read", None, VERIFIER, 1),
    ]
]
_CLOSING: Final[list[list[Asked]]] = [
    [("S.memo", "memo", AUTHORS[0], 1)],
    [("S.objection", "objection", AUTHORS[1], 1), ("S.check", "check", VERIFIER, 1)],
    [("S.memo", "memo", AUTHORS[0], AGAIN)],
    [("S.check", "check", VERIFIER, AGAIN)],
]


def _group(asked: list[Asked]) -> Group:
    task = asked[0][0]
    steps = tuple(
        step_of(StepName(1, task.partition(".")[0], act, role, repeat), asked[0][0], task)
        for task, act, role, repeat in asked
    )
    return Group(task, steps[0].name.phase, steps)
