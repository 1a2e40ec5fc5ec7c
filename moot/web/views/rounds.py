"""A round as it is played: a column a seat, the bench of those who judge, what the controller wrote, open steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ledger.events import Event, Signals, Validation
from ledger.events.ids import StepName
from moot.view.events import EventWords, words_of
from moot.view.round import RoundTold, tell_round
from moot.view.words import PHASES
from moot.web.followed import Followed

BENCH: Final = frozenset({"verifier", "judge", "resolver"})
"""Roles that stand apart from those who argue: below the columns, not beside them."""


@dataclass(frozen=True, slots=True)
class LiveStep:
    """A step that is open: since when (ISO instant), the words that came so far; `waits`: nobody here works on it."""

    name: StepName
    since: str
    words: str = ""
    waits: bool = False

    @property
    def sealed(self) -> bool:
        """Its words are nobody's until their verdict."""
        return self.name.act == "position"

    @property
    def act(self) -> str:
        """What is asked for."""
        return self.name.act or PHASES.get(self.name.phase, self.name.phase)


class SeatCell(NamedTuple):
    """What a role did in a phase."""

    phase: str
    cards: tuple[EventWords, ...]


@dataclass(frozen=True, slots=True)
class SeatColumn:
    """A seat: what it did in this round by phase, and what is open to it now, by step."""

    role: str
    title: str
    lead: bool
    absent: bool
    cells: tuple[SeatCell, ...]
    open_steps: tuple[tuple[str, LiveStep], ...]


class PhaseMark(NamedTuple):
    """A phase of the round: done, now or next."""

    id: str
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class RoundPage:
    """One instant of a round; `house` is what nobody of the cast wrote: the controller, a person."""

    told: RoundTold
    planned: int
    phases: tuple[PhaseMark, ...]
    columns: tuple[SeatColumn, ...]
    bench: tuple[SeatColumn, ...]
    house: tuple[EventWords, ...]


class RoundLine(NamedTuple):
    """A round in one line. `results` are its checks in order: id, number, result."""

    n: int
    lead: str | None
    absent: str | None
    results: tuple[tuple[str, int, str], ...]
    claims: int
    decisions: tuple[str, ...]
    look: Signals | None
    lost: int


def round_page(run: Followed, number: int, asked: Mapping[str, LiveStep] | None = None) -> RoundPage:
    """A round; `asked` are the steps that are open now, for the round that is being played."""
    book, opened = run.book(), run.opened
    told = tell_round(book, number, run.sources, depth=1)
    events = run.sources.by_round.get(number, [])
    steps = asked or {}
    titles = {member.role: member.title for member in opened.cast}
    apart = [role for role in titles if role in BENCH] if len(titles) > 2 else []
    cards = [words_of(event, book) for event in events if event.kind not in ("round_opened", "run_opened")]
    columns = {role: _column(role, title, told, cards, steps) for role, title in titles.items()}
    return RoundPage(
        told=told,
        planned=len(opened.plan),
        phases=tuple(_phases(told, events, {one.name.phase for one in steps.values()})),
        columns=tuple(column for role, column in columns.items() if role not in apart),
        bench=tuple(columns[role] for role in apart),
        house=tuple(card for card in cards if card.role not in titles),
    )


def _column(
    role: str, title: str, told: RoundTold, cards: Sequence[EventWords], steps: Mapping[str, LiveStep]
) -> SeatColumn:
    own: dict[str, list[EventWords]] = {}
    for card in cards:
        if card.role == role:
            own.setdefault(card.phase, []).append(card)
    return SeatColumn(
        role=role,
        title=title,
        lead=role == told.lead,
        absent=role == told.absent,
        cells=tuple(SeatCell(phase, tuple(written)) for phase, written in own.items()),
        open_steps=tuple((step, one) for step, one in steps.items() if one.name.role == role),
    )


def _phases(told: RoundTold, events: Sequence[Event], working: set[str]) -> Iterator[PhaseMark]:
    begun = [event.phase for event in events if event.phase not in ("open", "close")]
    first = [phase for phase in begun[:1] if phase not in told.planned]
    order = list(dict.fromkeys([*first, *told.planned, *begun, *sorted(working)]))
    now = max((order.index(phase) for phase in {*begun, *working} if phase in order), default=0)
    validated = {event.after for event in events if isinstance(event, Validation)}
    for n, phase in enumerate(order):
        over = n == now and phase in validated and not working
        place = "done" if n < now or over else "now" if n == now else "next"
        yield PhaseMark(phase, PHASES.get(phase, ""), place)


def round_lines(run: Followed) -> Iterator[RoundLine]:
    """Every round in one line, from facts alone."""
    state = run.state
    results: dict[int, list[tuple[str, int, str]]] = {}
    for identity, check in state.checks.items():
        if check.phase == "E":
            results.setdefault(check.round, []).append((identity, check.check_id, check.result))
    claims: dict[int, int] = {}
    for facts in state.claims.values():
        claims[facts.round] = claims.get(facts.round, 0) + 1
    decisions: dict[int, list[str]] = {}
    for identity, decided in state.decisions.items():
        decisions.setdefault(decided.round, []).append(identity)
    looks = {look.round: look for look in state.looks}
    lost: dict[int, int] = {}
    for step in state.given_up:
        number = int(step[1:].partition(".")[0]) if step[1:].partition(".")[0].isdigit() else 0
        lost[number] = lost.get(number, 0) + 1
    for n, row in sorted(state.rounds.items()):
        checks = tuple(sorted(results.get(n, []), key=lambda one: one[1]))
        yield RoundLine(
            n, row.lead, row.absent, checks, claims.get(n, 0), tuple(decisions.get(n, ())), looks.get(n), lost.get(n, 0)
        )  # fmt: skip
