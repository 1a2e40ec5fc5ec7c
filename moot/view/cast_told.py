"""Who took part: every seat with what really answered for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ledger.events.envelope import Call
from ledger.events.ids import parse_step
from ledger.state.book import Book
from moot.view.families import Answered, one_family
from moot.view.story import Filling, Seat


def seats_told(book: Book) -> tuple[Seat, ...]:
    """Every role of the cast, in protocol order, with what answered for it."""
    opened = book.state.opened
    if opened is None:
        return ()
    calls: dict[str, list[Call]] = {}
    for event in book.events:
        if event.call is not None:
            calls.setdefault(event.by, []).append(event.call)
    lost = Counter(name.role for step in book.state.given_up if (name := parse_step(step)))
    return tuple(
        Seat(
            role=member.role,
            title=member.title,
            charge=member.charge,
            declared=member.seat,
            fillings=tuple(_fillings(calls.get(member.role, []))),
            lost=lost[member.role],
        )
        for member in opened.cast
    )


def _fillings(calls: list[Call]) -> Iterator[Filling]:
    groups: dict[tuple[object, ...], list[Call]] = {}
    for call in calls:
        key = (call.seat, call.provider, call.model, call.isolation, call.simulated)
        groups.setdefault(key, []).append(call)
    for group in groups.values():
        first = group[0]
        priced = [call.cost_usd for call in group if call.cost_usd is not None]
        yield Filling(
            seat=first.seat,
            provider=first.provider,
            model=first.model,
            isolation=first.isolation,
            simulated=first.simulated,
            calls=len(group),
            repairs=sum(max(0, len(call.attempts) - 1) for call in group),
            contexts=len({call.context.id for call in group if call.context.id}),
            unnamed=sum(call.context.id is None for call in group),
            continued=sum(call.context.mode == "continued" for call in group),
            tokens_in=sum(call.tokens_in or 0 for call in group),
            tokens_out=sum(call.tokens_out or 0 for call in group),
            micro_usd=sum(round(float(cost) * 1_000_000) for cost in priced),
            unpriced=len(group) - len(priced),
            latency_ms=sum(call.latency_ms or 0 for call in group),
        )


def filled_by(filling: Filling) -> str:
    """`host: some-model (trusted, recorded)`."""
    who = " ".join(part for part in (filling.provider, filling.model) if part)
    state = ", ".join(part for part in (filling.isolation, filling.simulated) if part)
    return f"{filling.seat}{': ' + who if who else ''} ({state})"


def answered_by(seats: Iterable[Seat]) -> str:
    """What fills the seats, in one line; roles that are filled alike stand together."""
    groups: dict[str, list[str]] = {}
    for seat in seats:
        filled = ", ".join(filled_by(one) for one in seat.fillings) or _unfilled(seat)
        groups.setdefault(filled, []).append(seat.role)
    if len(groups) == 1:
        return f"all seats: {next(iter(groups))}"
    return "; ".join(f"{', '.join(roles)}: {filled}" for filled, roles in groups.items())


def one_family_told(seats: Iterable[Seat]) -> str | None:
    """The warning that all model seats are of one family, or None."""
    return one_family(
        Answered(seat.role, one.seat, one.provider, one.model) for seat in seats for one in seat.fillings
    )


def _unfilled(seat: Seat) -> str:
    """No reply is there, whether its steps were given up, are open or are still to come."""
    given_up = f", given up {seat.lost} times" if seat.lost > 1 else ", given up" if seat.lost else ""
    return f"{seat.declared} (no reply{given_up})" if seat.declared else "unknown"
