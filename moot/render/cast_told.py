"""Who took part and what must be said first: seats with what filled them, and the labels before every verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from ledger.book import Book
from ledger.events import RunOpened
from ledger.events.envelope import Call
from ledger.ids import parse_step
from ledger.state import State
from moot.render.story import Filling, Label, Seat

LOST_SHOWN: Final = 6
_POSITIONS_OFF: Final = (
    "positions were not sealed, so nobody can see who changed a stance because others did (FM-1)"
)


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
        filled = ", ".join(filled_by(one) for one in seat.fillings) or _unasked(seat)
        groups.setdefault(filled, []).append(seat.role)
    if len(groups) == 1:
        return f"all seats: {next(iter(groups))}"
    return "; ".join(f"{', '.join(roles)}: {filled}" for filled, roles in groups.items())


def _unasked(seat: Seat) -> str:
    return f"{seat.declared} (not yet asked)" if seat.declared else "unknown"


def labels_told(book: Book) -> tuple[Label, ...]:
    """What must be read before any verdict, the gravest first (FORMAT 9, DESIGN 4)."""
    return labels_of(book.state, Counter(call.simulated for event in book.events if (call := event.call)))


def labels_of(state: State, replies: Counter[str | None]) -> tuple[Label, ...]:
    """The same from a folded state and from how many replies were simulated in which way."""
    opened = state.opened
    if opened is None:
        return ()
    return (
        *_waived(opened),
        *_degraded(state),
        *_alarms(state),
        *_unfinished(state),
        *_simulated(replies),
        *_origin(opened),
    )


def _waived(opened: RunOpened) -> Iterator[Label]:
    for waiver in opened.waived:
        yield Label("WAIVED", f"{waiver.what}: {waiver.why}")
    if opened.rules.get("positions") == "off":
        yield Label("WAIVED", _POSITIONS_OFF)


def _degraded(state: State) -> Iterator[Label]:
    quorum = state.quorum
    if quorum.actual < quorum.declared:
        lost = list(state.given_up)
        more = f" and {len(lost) - LOST_SHOWN} more" if len(lost) > LOST_SHOWN else ""
        given_up = ", ".join(lost[:LOST_SHOWN]) + more
        yield Label(
            "DEGRADED", f"{quorum.actual} of {quorum.declared} steps were answered; given up: {given_up}"
        )


def _alarms(state: State) -> Iterator[Label]:
    for alarm in state.open_alarms():
        since = f" since round {alarm.onset_round}" if alarm.onset_round else ""
        yield Label(
            "ALARM", f"{alarm.fm}{since}: {alarm.because or alarm.verdict} (open, see `moot signals`)"
        )


def _unfinished(state: State) -> Iterator[Label]:
    if state.finished or (state.opened is not None and state.opened.origin.type == "import"):
        return
    if state.closures and state.closures[-1].through >= state.seq - 1:
        reason = state.closures[-1].reason.replace("_", " ")
        yield Label("UNFINISHED", f"stopped in round {state.round} ({reason}); `moot run --resume` goes on")
    else:
        yield Label("UNFINISHED", f"in round {state.round}, phase {state.phase}: nothing is decided for good")


def _simulated(replies: Counter[str | None]) -> Iterator[Label]:
    total = replies.total()
    if replies["fake"]:
        made_up = "were made up by a program, not by a model or a person"
        yield Label("FAKE", f"{replies['fake']} of {total} replies {made_up}")
    if replies["recorded"]:
        yield Label("RECORDED", f"{replies['recorded']} of {total} replies were played from an earlier run")


def _origin(opened: RunOpened) -> Iterator[Label]:
    origin = opened.origin
    source = f" of {origin.of}" if origin.of else ""
    match origin.type:
        case "import":
            tool = origin.tool or "another system"
            yield Label("IMPORTED", f"written by {tool}: what moot did not see it cannot vouch for")
        case "fork":
            yield Label("FORK", f"a fork{source} after event {origin.seq}")
        case "redaction":
            yield Label("REDACTED", f"a redacted copy{source}")
        case "new":
            pass
