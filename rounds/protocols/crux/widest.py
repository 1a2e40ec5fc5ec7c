"""All that a run of `crux` can ask for, whatever is answered: for prices, waits and the page of the protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from detectors.beliefs.parameters import crux_parameters
from ledger.events.ids import StepName
from ledger.state.state import State
from roles.protocol import Group
from rounds.protocols.crux.standing import (
    ROUND_AT_MOST,
    VERIFIER,
    first_roles,
    is_open_ended,
    lead_role,
    rounds_wanted,
)
from rounds.protocols.plans import AUTHORS
from rounds.protocols.step_table import rule, step_of


class _Ask(NamedTuple):
    """One step: its task, its role, and what else its id says."""

    task: str
    role: str
    act: str | None = None
    repeat: int = 1


_TESTS: Final = (
    tuple(_Ask("D", role) for role in AUTHORS),
    tuple(_Ask("E.forecast", role) for role in AUTHORS),
    (_Ask("E.check", VERIFIER),),
    tuple(_Ask("F", role) for role in AUTHORS),
)
"""A round of tests, group by group."""
_CLOSE: Final = (
    (_Ask("S.memo", AUTHORS[0], "memo"),),
    (_Ask("S.objection", AUTHORS[1], "objection"),),
    (_Ask("S.check", VERIFIER, "check"),),
)


def widest(state: State, round_: int) -> tuple[Group, ...]:
    """The groups of a round in which everything is asked; none for a round that the cap of replies forbids then."""
    last = _last_round(state)
    if round_ > last:
        return ()
    asked = list(_first(state)) if round_ == 1 else list(_TESTS)
    if round_ == last and rule(state, "memo") != "off":
        asked += _CLOSE
    return tuple(_group(round_, one) for one in asked)


def _last_round(state: State) -> int:
    """The last round that opens when each one asks for all that it can."""
    limits = crux_parameters().stop
    room = limits.replies_at_most - limits.replies_of_the_close - sum(map(len, _first(state)))
    return 1 + min(rounds_wanted(state), max(0, room // ROUND_AT_MOST))


def _first(state: State) -> Iterator[tuple[_Ask, ...]]:
    firsts, open_ended = first_roles(state), is_open_ended(state)
    noise = rule(state, "redraw") != "off" and rounds_wanted(state) > 0
    others = tuple(role for role in AUTHORS if role not in firsts)
    yield (*(_Ask("B", role) for role in firsts), _Ask("A", VERIFIER))
    again = (_Ask("B", lead_role(state), repeat=2),) if noise and not open_ended else ()
    if others or again:
        yield (*(_Ask("B", role) for role in others), *again)
    yield (_Ask("C.agenda", VERIFIER),)
    if open_ended:
        more = (_Ask("C.choice", lead_role(state), repeat=2),) if noise else ()
        yield (*(_Ask("C.choice", role) for role in AUTHORS), *more)


def _group(round_: int, asked: tuple[_Ask, ...]) -> Group:
    name = asked[0].task
    steps = tuple(
        step_of(StepName(round_, one.task.partition(".")[0], one.act, one.role, one.repeat), name, one.task)
        for one in asked
    )
    return Group(name, steps[0].name.phase, steps)
