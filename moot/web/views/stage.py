"""A round as it is played: a column a seat, the bench of those who judge, what the controller wrote, who thinks now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ledger.events import Event, Validation
from ledger.events.ids import StepName
from moot.view.round import RoundTold, tell_round
from moot.view.words import PHASES
from moot.web.event_cards import Act, act_of
from moot.web.followed import Followed
from moot.web.speech import Heard

BENCH: Final = frozenset({"verifier", "judge", "resolver"})
"""Roles that stand apart from those who argue: below the columns, not beside them."""
NOBODY: Final = frozenset({"controller", "human", "import"})


@dataclass(frozen=True, slots=True)
class Thinking:
    """A step that is open: since when, in ISO, and what was heard of its answer so far."""

    step: str
    act: str
    since: str
    words: str
    sealed: bool
    waits: bool


@dataclass(frozen=True, slots=True)
class Cell:
    """What a role did in a phase."""

    phase: str
    acts: tuple[Act, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A seat: what it did in this round by phase, and what it does now."""

    role: str
    title: str
    lead: bool
    absent: bool
    filled: str
    cells: tuple[Cell, ...]
    thinking: tuple[Thinking, ...]

    @property
    def acts(self) -> int:
        """How many acts it has."""
        return sum(len(cell.acts) for cell in self.cells)


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of the round: done, now or to come."""

    id: str
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One instant of a round."""

    told: RoundTold
    planned: int
    phases: tuple[Phase, ...]
    columns: tuple[Column, ...]
    bench: tuple[Column, ...]
    house: tuple[Act, ...]
    """What nobody of the cast wrote: the controller, a person."""


def stage_of(run: Followed, round_: int, asked: Mapping[str, Heard] | None = None) -> Stage:
    """A round; `asked` are the steps that are open now, for the round that is being played."""
    book, opened = run.book(), run.state.opening
    told = tell_round(book, round_, run.sources)
    events = run.sources.by_round.get(round_, [])
    thinking = _thinking(asked or {})
    roles = [member.role for member in opened.cast]
    apart = [role for role in roles if role in BENCH] if len(roles) > 2 else []
    acts = [act_of(book, event) for event in events if event.kind not in ("round_opened", "run_opened")]

    def columns(which: Sequence[str]) -> tuple[Column, ...]:
        return tuple(
            _column(role, told, acts, thinking, opened.cast[roles.index(role)].title, run) for role in which
        )

    return Stage(
        told=told,
        planned=len(opened.plan),
        phases=tuple(_phases(told, events, {one.phase for _, one in thinking})),
        columns=columns([role for role in roles if role not in apart]),
        bench=columns(apart),
        house=tuple(act for act in acts if act.role not in roles),
    )


def _column(
    role: str,
    told: RoundTold,
    acts: Sequence[Act],
    thinking: Sequence[tuple[Thinking, StepName]],
    title: str,
    run: Followed,
) -> Column:
    own: dict[str, list[Act]] = {}
    for act in acts:
        if act.role == role:
            own.setdefault(act.phase, []).append(act)
    return Column(
        role=role,
        title=title,
        lead=role == told.lead,
        absent=role == told.absent,
        filled=_filled(role, run),
        cells=tuple(Cell(phase, tuple(found)) for phase, found in own.items()),
        thinking=tuple(one for one, name in thinking if name.role == role),
    )


def _filled(role: str, run: Followed) -> str:
    """What the opening said would fill the seat."""
    opened = run.state.opened
    return next((member.seat for member in opened.cast if member.role == role), "") if opened else ""


def _phases(told: RoundTold, events: Sequence[Event], working: set[str]) -> list[Phase]:
    begun = [event.phase for event in events if event.phase not in ("open", "close")]
    first = [phase for phase in begun[:1] if phase not in told.planned]
    order = list(dict.fromkeys([*first, *told.planned, *begun, *sorted(working)]))
    now = max((order.index(phase) for phase in {*begun, *working} if phase in order), default=0)
    over = any(isinstance(event, Validation) for event in events) and not working
    return [
        Phase(phase, PHASES.get(phase, ""), "done" if n < now or (over and n <= now) else "now" if n == now else "next")
        for n, phase in enumerate(order)
    ]  # fmt: skip


def _thinking(asked: Mapping[str, Heard]) -> list[tuple[Thinking, StepName]]:
    found: list[tuple[Thinking, StepName]] = []
    for step, heard in asked.items():
        name = heard.name
        sealed = name.act == "position"
        act = name.act or PHASES.get(name.phase, name.phase)
        found.append(
            (Thinking(step, act, heard.since, "" if sealed else heard.words, sealed, heard.waits), name)
        )
    return found
