"""Costs of a run: by role and phase, by round, and per reply, claim and decision.

Costs are sums over the calls on the ledger. A figure that a seat did not report stays unknown and is never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from ledger.language.words import word_count
from ledger.plain_json import NotJson, decoded
from ledger.plain_text import counted
from ledger.state.book import Book
from ledger.state.decided import in_force
from ledger.state.fold import add_call
from ledger.state.lifecycle import OPEN
from ledger.state.state import Spend, State
from ledger.store.spending import Spending
from moot.view.seats import money
from moot.view.words import PHASES
from rounds.run.budget import Amounts, Reservations

WHOLE: Final = ""
"""Key that stands for all roles or all phases."""


class EachCost(NamedTuple):
    """The cost of the whole run divided by `number` things: calls, tokens and dollars; None is unknown."""

    noun: str
    number: int
    calls: float
    tokens: float | None
    usd: float | None


class RunCosts(msgspec.Struct, frozen=True):
    """Sums by (role, phase), with `WHOLE` for all roles or all phases, and by round."""

    roles: tuple[str, ...]
    phases: tuple[str, ...]
    cells: Mapping[tuple[str, str], Spend]
    rounds: Mapping[int, Spend]
    each: tuple[EachCost, ...]

    @property
    def whole(self) -> Spend:
        """Return the sum over all calls."""
        return self.cells.get((WHOLE, WHOLE), Spend())

    @property
    def known(self) -> bool:
        """Return whether any seat reported tokens or a cost."""
        return bool(self.whole.tokens_in + self.whole.tokens_out) or self.whole.unpriced < self.whole.calls

    @property
    def heads(self) -> list[str]:
        """Return the column heads of the table by role and phase; `#` marks numbers."""
        return ["role", *(f"#{phase} {PHASES.get(phase, '')}".rstrip() for phase in self.phases), "#all"]


def costs_of(book: Book) -> RunCosts:
    """Return the costs of a run so far."""
    cells: dict[tuple[str, str], Spend] = {}
    rounds: dict[int, Spend] = {}
    roles, phases = dict[str, None](), dict[str, None]()
    for event in book.events:
        if event.call is not None:
            roles[event.by] = phases[event.phase] = None
            # One call adds to four cells: its own, the role's sum, the phase's sum, and the total.
            for key in ((event.by, event.phase), (event.by, WHOLE), (WHOLE, event.phase), (WHOLE, WHOLE)):
                add_call(cells.setdefault(key, Spend()), event.call)
            add_call(rounds.setdefault(event.round, Spend()), event.call)
    whole = cells.get((WHOLE, WHOLE), Spend())
    return RunCosts(tuple(roles), tuple(phases), cells, rounds, _each(book.state, whole))


def written_told(book: Book) -> str:
    """Return how many words seats wrote, in all accepted replies: `2,511 words`; a lower bound where a text is gone."""
    words, is_whole = 0, True
    for call in (event.call for event in book.events if event.call is not None):
        # A redacted or lost blob reads as None, and a person may have put another text in its place.
        reply = book.blobs.read(call.reply)
        try:
            words += word_count(_texts(None if reply is None else decoded(reply, object)))
        except NotJson:
            reply = None
        is_whole = is_whole and reply is not None
    return f"{'' if is_whole else 'at least '}{counted(words, 'word')}"


def spent_beyond(run: Path) -> Amounts:
    """Return upper bounds for attempts without an event: lost and refused ones, and those of killed drivers."""
    # Reservations are written before each call, so they also cover a driver that was killed.
    return Reservations(Spending(run).entries()).beyond


def tokens_told(spend: Spend) -> str:
    """Return `12,300 tokens in, 4,100 out`; empty where no seat reported any, because 0 would read as measured."""
    return (
        f"{spend.tokens_in:,} tokens in, {spend.tokens_out:,} out"
        if spend.tokens_in or spend.tokens_out
        else ""
    )


def beyond_told(beyond: Amounts | None) -> str:
    """Return what lost attempts cost on top of the accepted replies; empty where there were none."""
    if beyond is None or beyond.calls <= 0:
        return ""
    # Reservations keep no mark of unknown prices, so zero dollars after a call means unknown.
    cost = f"up to {money(beyond.micro_usd)}" if beyond.micro_usd else "unknown cost"
    return f"{cost} more for {counted(beyond.calls, 'attempt')} without an accepted reply"


def _texts(value: object) -> str:
    """Return every string in a reply, one per line."""
    texts: list[str] = []
    # An explicit stack: a hostile reply may nest deeper than Python's recursion limit.
    waiting: list[Any] = [value]
    while waiting:
        part = waiting.pop()
        # The JSON decoder makes no subclasses, so the exact type tells containers from strings.
        kind: Any = type(part)  # pyright: ignore[reportUnknownVariableType]
        if kind is str:
            texts.append(part)
        elif kind is dict:
            waiting += part.values()
        elif kind is list:
            waiting += part
    return "\n".join(texts)


def _each(state: State, whole: Spend) -> tuple[EachCost, ...]:
    """Return the whole divided by the number of replies, rounds, claims and decisions; zeros are left out."""
    settled = sum(claim.status not in OPEN for claim in state.claims.values())
    numbers = (
        ("reply", whole.calls),
        ("round", len(state.rounds)),
        ("claim raised", len(state.claims)),
        ("claim settled", settled),
        (
            "decision in force",
            sum(state.decisions[identity].rank != "answer" for identity in in_force(state)),
        ),
    )
    tokens = whole.tokens_in + whole.tokens_out
    # One call of unknown price makes every share of the total unknown.
    usd = None if whole.unpriced else whole.micro_usd / 1_000_000
    return tuple(
        EachCost(
            noun,
            number,
            whole.calls / number,
            tokens / number if tokens else None,
            None if usd is None else usd / number,
        )
        for noun, number in numbers
        # Dividing by zero things means nothing, and a run without calls has no costs.
        if number and whole.calls
    )
