"""A round in progress: one column per seat, the judging roles below, the controller's events, open steps."""

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
"""Roles that judge and do not argue: shown below the columns."""


@dataclass(frozen=True, slots=True)
class LiveStep:
    """An open step: start time (ISO), words so far; `waits` when no process on this machine works on it."""

    name: StepName
    since: str
    words: str = ""
    waits: bool = False

    @property
    def sealed(self) -> bool:
        """Return whether its words stay hidden until their verdict."""
        return self.name.act == "position"

    @property
    def act(self) -> str:
        """Return what the step asks for."""
        return self.name.act or PHASES.get(self.name.phase, self.name.phase)


class SeatCell(NamedTuple):
    """Events of a role in one phase."""

    phase: str
    cards: tuple[EventWords, ...]


@dataclass(frozen=True, slots=True)
class SeatColumn:
    """A seat: its events in this round by phase, and its open steps."""

    role: str
    title: str
    lead: bool
    absent: bool
    cells: tuple[SeatCell, ...]
    open_steps: tuple[tuple[str, LiveStep], ...]


class PhaseMark(NamedTuple):
    """A phase of the round and its place: done, now or next."""

    id: str
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class RoundPage:
    """State of a round; `house` holds the events of the controller and of people."""

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
    """Return a round; `asked` are the steps that are open now, if this round is in progress."""
    book, opened = run.book(), run.opened
    summary = tell_round(book, number, run.sources, depth=1)
    events = run.sources.by_round.get(number, [])
    steps = asked or {}
    titles = {member.role: member.title for member in opened.cast}
    # In a cast of two, a judge is half of the round and gets a column like the other.
    apart = [role for role in titles if role in BENCH] if len(titles) > 2 else []
    # The openings are in the page's head already.
    cards = [words_of(event, book) for event in events if event.kind not in ("round_opened", "run_opened")]
    columns = {role: _column(role, title, summary, cards, steps) for role, title in titles.items()}
    return RoundPage(
        told=summary,
        planned=len(opened.plan),
        phases=tuple(_phases(summary, events, {open_step.name.phase for open_step in steps.values()})),
        columns=tuple(column for role, column in columns.items() if role not in apart),
        bench=tuple(columns[role] for role in apart),
        house=tuple(card for card in cards if card.role not in titles),
    )


def _column(
    role: str, title: str, summary: RoundTold, cards: Sequence[EventWords], steps: Mapping[str, LiveStep]
) -> SeatColumn:
    own: dict[str, list[EventWords]] = {}
    for card in cards:
        if card.role == role:
            own.setdefault(card.phase, []).append(card)
    return SeatColumn(
        role=role,
        title=title,
        lead=role == summary.lead,
        absent=role == summary.absent,
        cells=tuple(SeatCell(phase, tuple(written)) for phase, written in own.items()),
        open_steps=tuple(
            (step, open_step) for step, open_step in steps.items() if open_step.name.role == role
        ),
    )


def _phases(summary: RoundTold, events: Sequence[Event], working: set[str]) -> Iterator[PhaseMark]:
    begun = [event.phase for event in events if event.phase not in ("open", "close")]
    # A round may begin in a phase that its plan leaves out, which is then shown first.
    first = [phase for phase in begun[:1] if phase not in summary.planned]
    order = list(dict.fromkeys([*first, *summary.planned, *begun, *sorted(working)]))
    now = max((order.index(phase) for phase in {*begun, *working} if phase in order), default=0)
    validated = {event.after for event in events if isinstance(event, Validation)}
    for n, phase in enumerate(order):
        # The controller validates a phase when it ends, so a validated phase without open steps is done.
        over = n == now and phase in validated and not working
        place = "done" if n < now or over else "now" if n == now else "next"
        yield PhaseMark(phase, PHASES.get(phase, ""), place)


def round_lines(run: Followed) -> Iterator[RoundLine]:
    """Yield every round in one line, from the folded state alone."""
    state = run.state
    results: dict[int, list[tuple[str, int, str]]] = {}
    for identity, check in state.checks.items():
        # Checks of other phases resolve single claims, and would drown the four of the round.
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
        # A lost step counts for its round; ids without one, as imports have, count for round 0.
        number = int(step[1:].partition(".")[0]) if step[1:].partition(".")[0].isdigit() else 0
        lost[number] = lost.get(number, 0) + 1
    for n, row in sorted(state.rounds.items()):
        checks = tuple(sorted(results.get(n, []), key=lambda check_row: check_row[1]))
        yield RoundLine(
            n, row.lead, row.absent, checks, claims.get(n, 0), tuple(decisions.get(n, ())), looks.get(n), lost.get(n, 0)
        )  # fmt: skip
