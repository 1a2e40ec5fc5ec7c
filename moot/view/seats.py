"""Seats: what really answered for each role, whether all are one model family, and what the calls cost.

Costs are sums over the calls on the ledger. A figure that a seat did not report stays unknown and is never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from ledger.events.envelope import Call
from ledger.events.ids import parse_step
from ledger.events.run import CastMember
from ledger.language.words import word_count
from ledger.plain_json import NotJson, decoded
from ledger.plain_text import counted
from ledger.result import Result, extended
from ledger.state.book import Book, grouped
from ledger.state.fold import add_call
from ledger.state.state import Spend
from ledger.store.spending import Spending
from moot.view.words import PHASES
from roles.seats.registry import MAKERS, family_name
from rounds.run.budget import Amounts, Reservations

SIMULATED: Final = "fake"
"""Provider of replies that no model wrote, whatever name it was given."""


class Family(NamedTuple):
    """The maker of a model (or its server, where the maker is unknown) and the family name: `claude`."""

    provider: str
    name: str


def family_of(provider: str | None, model: str | None) -> Family | None:
    """Return the family of a model; None when its maker or its name is unknown."""
    name = family_name(model)
    # Guessing a family would let two unknown models look independent or alike.
    if not provider or name is None:
        return None
    # The same model is served by several providers, so its maker defines the family.
    return Family(provider if provider == SIMULATED else MAKERS.get(name, provider), name)


class Answered(NamedTuple):
    """A seat that answered for a role at least once; a person's seat is `human`."""

    role: str
    seat: str
    provider: str | None
    model: str | None


def one_family(answered: Iterable[Answered]) -> str | None:
    """Return the warning when models of one known family answered for two roles or more."""
    # A person shares no training data with a model.
    models = {respondent for respondent in answered if respondent.seat != "human"}
    families = {family_of(model.provider, model.model) for model in models}
    # With one role there is no one to agree with, so no warning is due.
    if len(families) != 1 or len({model.role for model in models}) < 2:
        return None
    family = families.pop()
    name = family and f"({family.provider} {family.name})"
    return name and f"all model seats are of one family {name}: they may share blind spots"


class Filling(Result, frozen=True):
    """A seat that answered for a role, and how often.

    `contexts` counts the conversations it named, `unnamed` the replies that name none.
    """

    seat: str
    provider: str | None
    model: str | None
    isolation: str
    simulated: str | None
    calls: int
    repairs: int
    contexts: int
    unnamed: int
    continued: int
    tokens_in: int
    tokens_out: int
    micro_usd: int
    unpriced: int
    latency_ms: int


class SeatView(CastMember, frozen=True, kw_only=True):
    """A role of the cast: who it is, its declared seat, and what really answered."""

    fillings: tuple[Filling, ...]
    lost: int


def money(micro_usd: int) -> str:
    """Return millionths of a dollar as `$0.42`; below ten cents with four digits, so that it does not read as free."""
    # Small models answer for fractions of a cent, and two digits would show $0.00.
    return f"${micro_usd / 1_000_000:.{4 if 0 < micro_usd < 100_000 else 2}f}"


def dollars(cost: Spend | Filling) -> str:
    """Return a cost in words: `$0.42`, `$0.42, 3 of unknown cost`, `cost unknown`."""
    # Where no call has a price, $0.00 would read as a free run.
    if cost.unpriced and cost.unpriced >= cost.calls:
        return "cost unknown"
    known = money(cost.micro_usd)
    return f"{known}, {cost.unpriced} of unknown cost" if cost.unpriced else known


def dollars_cell(cost: Spend | Filling) -> str:
    """Return a cost for a column of dollars: `0.4200`, `0.4200 and 3 unknown`, `unknown`."""
    if cost.unpriced >= cost.calls:
        return "unknown"
    return f"{cost.micro_usd / 1_000_000:.4f}" + (f" and {cost.unpriced} unknown" if cost.unpriced else "")


def contexts_text(filling: Filling, before: str = "") -> str:
    """Return in how many conversations the replies were given, as far as they name one."""
    if not filling.contexts:
        return "not named"
    named = filling.calls - filling.unnamed
    notes = [f"{filling.unnamed} of {filling.calls} replies name none"] if filling.unnamed else []
    # A continued conversation has seen earlier replies, which is what isolation should prevent.
    if filling.continued:
        notes.append(f"{filling.continued} of them in a continued one")
    # Fewer conversations than replies means that some conversation was reused.
    elif filling.contexts < named:
        notes.append(f"used by {counted(named, 'reply')}")
    elif not filling.unnamed:
        notes.append("each fresh")
    return before + ", ".join([str(filling.contexts), *notes])


def seats_of(book: Book) -> tuple[SeatView, ...]:
    """Return every role of the cast, in protocol order, with what answered for it."""
    opened = book.state.opening
    calls = grouped((event.by, event.call) for event in book.events if event.call is not None)
    # A step that was given up has no call, so the cast would look complete without this count.
    lost = Counter(name.role for step in book.state.given_up if (name := parse_step(step)))
    return tuple(
        extended(
            SeatView,
            member,
            fillings=tuple(_fillings(calls.get(member.role, []))),
            lost=lost[member.role],
        )
        for member in opened.cast
    )


def _fillings(calls: list[Call]) -> Iterator[Filling]:
    # A change of any of these is another way of answering and gets its own row.
    groups = grouped(
        ((call.seat, call.provider, call.model, call.isolation, call.simulated), call) for call in calls
    )
    for group in groups.values():
        first = group[0]
        priced = [call.cost_usd for call in group if call.cost_usd is not None]
        yield Filling.from_parts(
            first,
            calls=len(group),
            # The first attempt is no repair, and a call without recorded attempts has none.
            repairs=sum(max(0, len(call.attempts) - 1) for call in group),
            contexts=len({call.context.id for call in group if call.context.id}),
            unnamed=sum(call.context.id is None for call in group),
            continued=sum(call.context.mode == "continued" for call in group),
            tokens_in=sum(call.tokens_in or 0 for call in group),
            tokens_out=sum(call.tokens_out or 0 for call in group),
            # Costs are decimal strings; whole millionths add up without drift.
            micro_usd=sum(round(float(cost) * 1_000_000) for cost in priced),
            unpriced=len(group) - len(priced),
            latency_ms=sum(call.latency_ms or 0 for call in group),
        )


def filled_by(filling: Filling) -> str:
    """Return `host: some-model (trusted, recorded)`."""
    who = " ".join(part for part in (filling.provider, filling.model) if part)
    state = ", ".join(part for part in (filling.isolation, filling.simulated) if part)
    return f"{filling.seat}{': ' + who if who else ''} ({state})"


def filled(seat: SeatView) -> str:
    """Return what answered for a role, or that nothing did."""
    return "; ".join(filled_by(filling) for filling in seat.fillings) or unfilled(seat)


def answered_by(seats: Iterable[SeatView]) -> str:
    """Return what fills the seats, in one line; roles with the same filling are grouped."""
    groups = grouped((filled(seat), seat.role) for seat in seats)
    if len(groups) == 1:
        return f"all seats: {next(iter(groups))}"
    return "; ".join(f"{', '.join(roles)}: {who}" for who, roles in groups.items())


def one_family_warning(seats: Iterable[SeatView]) -> str | None:
    """Return the warning that all model seats are of one family, or None."""
    return one_family(
        Answered(seat.role, filling.seat, filling.provider, filling.model)
        for seat in seats
        for filling in seat.fillings
    )


def unfilled(seat: SeatView) -> str:
    """Return the words for a role without a reply."""
    # Steps without a reply may be open, still to come, or given up; only the last is certain.
    given_up = f", given up {seat.lost} times" if seat.lost > 1 else ", given up" if seat.lost else ""
    return f"{seat.seat} (no reply{given_up})" if seat.seat else "unknown"


WHOLE: Final = ""
"""Key that stands for all roles or all phases."""


class RunCosts(msgspec.Struct, frozen=True):
    """Sums by (role, phase), with `WHOLE` for all roles or all phases, and by round."""

    roles: tuple[str, ...]
    phases: tuple[str, ...]
    cells: Mapping[tuple[str, str], Spend]
    rounds: Mapping[int, Spend]

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
    return RunCosts(tuple(roles), tuple(phases), cells, rounds)


def written_text(book: Book) -> str:
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


def unrecorded_spend(run: Path) -> Amounts:
    """Return upper bounds for attempts without an event: lost and refused ones, and those of killed drivers."""
    # Reservations are written before each call, so they also cover a driver that was killed.
    return Reservations(Spending(run).entries()).unrecorded


def tokens_text(spend: Spend) -> str:
    """Return `12,300 tokens in, 4,100 out`; empty where no seat reported any, because 0 would read as measured."""
    return (
        f"{spend.tokens_in:,} tokens in, {spend.tokens_out:,} out"
        if spend.tokens_in or spend.tokens_out
        else ""
    )


def unrecorded_text(unrecorded: Amounts | None) -> str:
    """Return what lost attempts cost on top of the accepted replies; empty where there were none."""
    if unrecorded is None or unrecorded.calls <= 0:
        return ""
    # Reservations keep no mark of unknown prices, so zero dollars after a call means unknown.
    cost = f"up to {money(unrecorded.micro_usd)}" if unrecorded.micro_usd else "unknown cost"
    return f"{cost} more for {counted(unrecorded.calls, 'attempt')} without an accepted reply"


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
