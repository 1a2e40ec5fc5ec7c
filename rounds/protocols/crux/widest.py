"""All that a run of `crux` can ask for, whatever is answered: for prices, waits and the page of the protocol."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from detectors.beliefs.parameters import crux_parameters
from ledger.events.ids import StepName
from ledger.state.state import VERIFIER, State
from roles.protocol import Group
from rounds.protocols.crux.rewriting import AGAIN
from rounds.protocols.crux.room import ROUND_AT_MOST
from rounds.protocols.crux.standing import (
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
    (_Ask("S.memo", AUTHORS[0], "memo", AGAIN),),
    (_Ask("S.check", VERIFIER, "check", AGAIN),),
)


def widest(state: State, round_: int) -> tuple[Group, ...]:
    """The groups of a round in a run that asks for as much as the cap of replies allows; none if it has no such round.

    The cap is reached when the rounds before the last one leave just room for it: the round before asks for less.
    """
    rounds = list(_rounds(state))
    if round_ > len(rounds):
        return ()
    asked = rounds[round_ - 1]
    if round_ == len(rounds) and rule(state, "memo") != "off":
        before = sum(len(group) for one in rounds for group in one)
        asked = [*asked, *_cut(_CLOSE, crux_parameters().stop.replies_at_most - before)]
    return tuple(_group(round_, one) for one in asked)


def _rounds(state: State) -> Iterator[list[tuple[_Ask, ...]]]:
    limits = crux_parameters().stop
    before_last = limits.replies_at_most - limits.replies_of_the_close - ROUND_AT_MOST
    first = list(_first(state))
    yield first
    asked, left = sum(map(len, first)), rounds_wanted(state)
    while left and asked <= before_last:
        room = before_last - asked
        steps = ROUND_AT_MOST if left == 1 or room == 0 or room >= ROUND_AT_MOST else room
        yield list(_cut(_TESTS, steps))
        asked, left = asked + steps, left - 1


def _cut(groups: Sequence[tuple[_Ask, ...]], steps: int) -> Iterator[tuple[_Ask, ...]]:
    """The first so many steps, group by group."""
    for group in groups:
        if steps > 0:
            yield group[:steps]
        steps -= len(group)


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
