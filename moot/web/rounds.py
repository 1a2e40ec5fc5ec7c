"""Rounds: one in a line, one with a column per seat, and the steps that are open now."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ledger.events import Event, Validation
from ledger.events.ids import StepName
from ledger.state.book import grouped
from ledger.state.state import State
from ledger.store.failures import LedgerError
from ledger.store.lock import read_driver
from moot.app.speech import read_speech
from moot.run_view import RunView
from moot.view.events import EventWords, words_of
from moot.view.grounds import sources_of
from moot.view.round import RoundView, tell_round
from moot.view.words import PHASES
from roles.protocol import UNLAWFUL, find_group, open_steps
from rounds.protocols import protocol_of

BENCH: Final = frozenset({"verifier", "judge", "resolver"})
"""Roles that judge and do not argue: shown below the columns."""
_KEY: Final = re.compile(r'"[a-z_]{1,40}"\s*:\s*')
_SYNTAX: Final = re.compile(r'[{}\[\]]|(?<!\\)"')


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


@dataclass(frozen=True, slots=True)
class RoundShown:
    """A round by phases and seats; `house` holds the events of the controller and of people."""

    summary: RoundView
    planned: int
    phases: tuple[tuple[str, str], ...]
    """Each phase with its place: done, now or next."""
    columns: tuple[SeatColumn, ...]
    bench: tuple[SeatColumn, ...]
    house: tuple[EventWords, ...]


@dataclass(frozen=True, slots=True)
class SeatColumn:
    """A seat: its events in this round by phase, and its open steps."""

    role: str
    title: str
    lead: bool
    absent: bool
    cells: Mapping[str, Sequence[EventWords]]
    open_steps: Mapping[str, LiveStep]


def round_shown(view: RunView, number: int, live: Mapping[str, LiveStep] | None = None) -> RoundShown:
    """Return a round; `live` are the steps that are open now, if this round is in progress."""
    book, opened, steps = view.book, view.book.state.opening, live or {}
    summary = tell_round(book, number, depth=1)
    events = sources_of(book).by_round.get(number, [])
    # The openings are in the page's head already.
    cards = [words_of(event, book) for event in events if event.kind not in ("round_opened", "run_opened")]
    columns = [
        SeatColumn(
            role=member.role,
            title=member.title,
            lead=member.role == summary.lead,
            absent=member.role == summary.absent,
            cells=grouped((card.event.phase, card) for card in cards if card.role == member.role),
            open_steps={name: step for name, step in steps.items() if step.name.role == member.role},
        )
        for member in opened.cast
    ]
    # In a cast of two, a judge is half of the round and gets a column like the other.
    apart = BENCH if len(columns) > 2 else frozenset[str]()
    return RoundShown(
        summary=summary,
        planned=len(opened.plan),
        phases=tuple(_phases(summary, events, {step.name.phase for step in steps.values()})),
        columns=tuple(column for column in columns if column.role not in apart),
        bench=tuple(column for column in columns if column.role in apart),
        house=tuple(card for card in cards if card.role not in {member.role for member in opened.cast}),
    )


def _phases(summary: RoundView, events: Sequence[Event], working: set[str]) -> Iterator[tuple[str, str]]:
    begun = [event.phase for event in events if event.phase not in ("open", "close")]
    # A round may begin in a phase that its plan leaves out, which is then shown first.
    first = [phase for phase in begun[:1] if phase not in summary.planned]
    order = list(dict.fromkeys([*first, *summary.planned, *begun, *sorted(working)]))
    now = max((order.index(phase) for phase in {*begun, *working}), default=0)
    validated = {event.after for event in events if isinstance(event, Validation)}
    for n, phase in enumerate(order):
        # The controller validates a phase when it ends, so a validated phase without open steps is done.
        over = n == now and phase in validated and not working
        yield phase, "done" if n < now or over else "now" if n == now else "next"


def round_lines(state: State) -> list[dict[str, Any]]:
    """Return every round in one line, from the folded state alone. `results` are its checks, by number."""
    # Checks of other phases resolve single claims, and would drown the four of the round.
    checks = grouped(
        (check.round, (identity, check)) for identity, check in state.checks.items() if check.phase == "E"
    )
    decisions = grouped((facts.round, identity) for identity, facts in state.decisions.items())
    claims = Counter(claim.round for claim in state.claims.values())
    # A lost step counts for its round; ids without one, as imports have, count for round 0.
    numbers = (step[1:].partition(".")[0] for step in state.given_up)
    lost = Counter(int(number) if number.isdigit() else 0 for number in numbers)
    looks = {look.round: look for look in state.looks}
    return [
        {
            "n": n,
            "lead": opened.lead,
            "absent": opened.absent,
            "results": sorted(checks.get(n, ()), key=lambda row: row[1].check_id),
            "claims": claims[n],
            "decisions": decisions.get(n, ()),
            "look": looks.get(n),
            "lost": lost[n],
        }
        for n, opened in sorted(state.rounds.items())
    ]


def steps_in_progress(view: RunView) -> dict[str, LiveStep]:
    """Return the open steps, each with its start time; empty when the protocol is unknown to this version."""
    state, events = view.book.state, view.book.events
    if state.closing is not None or view.path is None:
        return {}
    try:
        protocol = protocol_of(state.opening)
        steps = open_steps(protocol, state)
        group = find_group(protocol, state, steps[0].id) if steps else None
    except (LedgerError, *UNLAWFUL):
        return {}
    # The last event that none of the open group's steps wrote opened the group.
    siblings = {step.id for step in group.steps} if group else set[str]()
    since = next((event.at for event in reversed(events) if event.step not in siblings), events[0].at)
    # A driver that was killed leaves its `speech` file behind, which would show steps as being answered.
    driven = read_driver(view.path) is not None
    speech = read_speech(view.path) if driven else None
    spoken = {entry.step: entry for entry in speech.asked} if speech else {}
    live: dict[str, LiveStep] = {}
    for step in steps:
        heard = spoken.get(step.id)
        if heard is not None:
            # `speech` leaves positions out already; an older driver or another program may not.
            words = "" if step.name.act == "position" else readable(heard.words)
            live[step.id] = LiveStep(step.name, heard.since, words)
        elif not spoken:
            live[step.id] = LiveStep(step.name, since, waits=not driven)
    return live


def readable(words: str) -> str:
    """Return the end of a reply, which is JSON, without its JSON syntax."""
    # Not parsed: a reply that is still arriving is not valid JSON yet.
    prose = _SYNTAX.sub("", _KEY.sub("", words)).replace("\\n", "\n").replace('\\"', '"')
    return prose.strip(" ,\n")
