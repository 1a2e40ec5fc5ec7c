"""One instant of a running deliberation, as values, taken from a book and from the steps under way."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ledger.events import Signals
from ledger.events.ids import StepName, parse_step
from ledger.events.values import Quorum
from ledger.state.book import Book
from ledger.state.decided import in_force
from ledger.state.lifecycle import OPEN
from ledger.state.state import Spend
from moot.view.grounds import Sources
from moot.view.labels import Label, held_up_told, labels_told, rules_asked_told
from moot.view.round import RoundTold, tell_round
from moot.view.seats import SeatTold, dollars, seats_told, tokens_told
from moot.view.words import PHASES


class Thinking(msgspec.Struct, frozen=True):
    """A step that was requested and has no reply; `seconds` since the request, None when time is not measured."""

    step: StepName
    seconds: float | None

    @property
    def act(self) -> str:
        """Return `check1 0:42`, or the phase's act."""
        name = self.step.act or PHASES.get(self.step.phase, self.step.phase)
        return name if self.seconds is None else f"{name} {clock_time(self.seconds)}"


class Scene(msgspec.Struct, frozen=True):
    """One instant of a run. `claims` counts all claims by status, `look` is the last recorded one.

    `rules` says after which phases of the round the rules were checked, `held_up` what blocks the run. `played`
    are labels of the view itself: a replay is recorded whatever its calls say.
    """

    played: tuple[Label, ...]
    labels: tuple[Label, ...]
    question: str
    seats: tuple[SeatTold, ...]
    rounds_planned: int
    round: RoundTold | None
    thinking: tuple[Thinking, ...]
    claims: Mapping[str, int]
    decisions_in_force: int
    look: Signals | None
    not_before: int
    spend: Spend
    quorum: Quorum
    finished: bool
    rules: str
    held_up: str

    @property
    def claims_open(self) -> int:
        """Return the number of claims that are untested or unclear."""
        return sum(number for status, number in self.claims.items() if status in OPEN)


def scene_of(
    book: Book,
    asked: Mapping[str, float],
    now: float | None,
    played: tuple[Label, ...] = (),
    sources: Sources | None = None,
) -> Scene:
    """Return the scene at `now`; `asked` maps a step to the time of its request, on the same clock."""
    state, opened = book.state, book.state.opening
    counts: dict[str, int] = {}
    for claim in state.claims.values():
        counts[claim.status] = counts.get(claim.status, 0) + 1
    # An id that does not parse as a step has no role or act to show.
    open_steps = [(name, since) for step, since in asked.items() if (name := parse_step(step))]
    # A live view shows progress, so the label would only repeat what is on screen.
    labels = tuple(label for label in labels_told(book) if label.kind != "UNFINISHED")
    return Scene(
        played=played,
        labels=labels,
        question=opened.question,
        seats=seats_told(book),
        rounds_planned=len(opened.plan),
        # Depth 1: a live view is redrawn often and shows no nested grounds.
        round=tell_round(book, state.round, sources, depth=1) if state.round in state.rounds else None,
        thinking=tuple(Thinking(name, None if now is None else now - since) for name, since in open_steps),
        claims=counts,
        decisions_in_force=len(in_force(state)),
        look=state.looks[-1] if state.looks else None,
        not_before=opened.stop.not_before,
        spend=state.spend,
        quorum=state.quorum,
        finished=state.finished,
        rules=rules_asked_told(state),
        held_up=held_up_told("RUN", state),
    )


def clock_time(seconds: float) -> str:
    """Return seconds as `0:42`, `12:03`, `1:02:03`."""
    # A clock that was set back must not show a negative time.
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, seconds_ = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{seconds_:02d}" if hours else f"{minutes}:{seconds_:02d}"


def spent(spend: Spend) -> str:
    """Return `85 calls, 12,300 tokens in, 4,100 out, 0.42 USD, 3 of unknown cost`."""
    parts = (f"{spend.calls} calls", tokens_told(spend), dollars(spend) if spend.calls else "")
    return ", ".join(part for part in parts if part)
