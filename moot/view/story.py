"""The story of a run, and the scene of one instant, as values: pure folds from a book for terminal, page and web.

Texts are as the ledger has them. A view must escape them, with `visible` or its own means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from ledger.events import (
    Amendment,
    Claim,
    Decision,
    RunClosed,
    RunOpened,
    Signals,
    Statement,
)
from ledger.events.envelope import Quorum
from ledger.events.ids import StepName, parse_step
from ledger.plain_text import counted
from ledger.state.book import Book
from ledger.state.decided import final_in_force, in_force, outcome
from ledger.state.lifecycle import OPEN
from ledger.state.state import Spend
from moot.view.claims import ClaimView, DecisionView, tell_claim, tell_decision
from moot.view.grounds import sources_of
from moot.view.labels import Label, hold_text, labels_of_run, rules_checked_text
from moot.view.round import (
    ConcernView,
    RoundView,
    tell_concerns,
    tell_round,
)
from moot.view.seats import SeatView, dollars, seats_of, tokens_text
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
    seats: tuple[SeatView, ...]
    rounds_planned: int
    round: RoundView | None
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
    started: Mapping[str, float],
    now: float | None,
    played: tuple[Label, ...] = (),
) -> Scene:
    """Return the scene at `now`; `started` maps a step to the time of its request, on the same clock."""
    state, opened = book.state, book.state.opening
    # An id that does not parse as a step has no role or act to show.
    open_steps = [(name, since) for step, since in started.items() if (name := parse_step(step))]
    # A live view shows progress, so the label would only repeat what is on screen.
    labels = tuple(label for label in labels_of_run(book) if label.kind != "UNFINISHED")
    return Scene(
        played=played,
        labels=labels,
        question=opened.question,
        seats=seats_of(book),
        rounds_planned=len(opened.plan),
        # Depth 1: a live view is redrawn often and shows no nested grounds.
        round=tell_round(book, state.round, depth=1) if state.round in state.rounds else None,
        thinking=tuple(Thinking(name, None if now is None else now - since) for name, since in open_steps),
        claims=Counter(claim.status for claim in state.claims.values()),
        decisions_in_force=len(in_force(state)),
        look=state.looks[-1] if state.looks else None,
        not_before=opened.stop.not_before,
        spend=state.spend,
        quorum=state.quorum,
        finished=state.finished,
        rules=rules_checked_text(state),
        held_up=hold_text("RUN", state),
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
    parts = (counted(spend.calls, "call"), tokens_text(spend), dollars(spend) if spend.calls else "")
    return ", ".join(part for part in parts if part)


class Review(msgspec.Struct, frozen=True):
    """A role's retrospective: its summary, and for each failure mode on its checklist whether the role saw it."""

    role: str
    summary: str
    modes: Mapping[str, str]


class Story(msgspec.Struct, frozen=True):
    """A run for display, with everything in the order of the deliberation.

    `outcome` are the final decisions in force, an override in the place of what it overturned; while none
    `is_final`, the other decisions in force.
    """

    opening: RunOpened
    labels: tuple[Label, ...]
    seats: tuple[SeatView, ...]
    rounds: tuple[RoundView, ...]
    claims: tuple[ClaimView, ...]
    decisions: tuple[DecisionView, ...]
    outcome: tuple[DecisionView, ...]
    is_final: bool
    concerns: tuple[ConcernView, ...]
    reviews: tuple[Review, ...]
    notes: tuple[Amendment, ...]
    closing: RunClosed | None
    spend: Spend
    began: str
    last: str

    @property
    def other_decisions(self) -> tuple[DecisionView, ...]:
        """Return the decisions outside the outcome: round decisions, overturned ones, a person's answers."""
        final = {decision.seq for decision in self.outcome}
        return tuple(decision for decision in self.decisions if decision.seq not in final)


def tell(book: Book) -> Story:
    """Return the whole story of a run that has been opened."""
    state = book.state
    sources = sources_of(book)
    rounds = tuple(tell_round(book, n, sources) for n in sorted(state.rounds))
    # Decisions are built with their rounds already; building them again would double the work.
    in_rounds = {decision.seq: decision for round_ in rounds for decision in round_.decisions}
    decisions = tuple(
        in_rounds.get(event.seq) or tell_decision(book, event, sources.sections)
        for event in book.of(Decision)
    )
    by_id = {decision.id: decision for decision in decisions}
    return Story(
        opening=state.opening,
        labels=labels_of_run(book),
        seats=seats_of(book),
        rounds=rounds,
        claims=tuple(tell_claim(book, event) for event in book.of(Claim)),
        decisions=decisions,
        outcome=tuple(by_id[identity] for identity in outcome(state)),
        is_final=bool(final_in_force(state)),
        concerns=tell_concerns(book, sources.closers),
        reviews=tuple(
            Review(
                event.by,
                next((section.text for section in event.sections if section.name == "summary"), ""),
                {tick.mode: tick.seen for tick in event.checklist},
            )
            for event in book.of(Statement)
            if event.type == "retrospective"
        ),
        notes=tuple(note for note in state.amendments if note.by == "human"),
        closing=state.closing,
        spend=state.spend,
        began=book.events[0].at,
        last=book.events[-1].at,
    )
