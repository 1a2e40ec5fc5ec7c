"""Labels to read before any verdict: given up, waived, alarmed, unfinished, simulated, imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

import msgspec

from ledger.events import Event, RunOpened
from ledger.state.book import Book
from ledger.state.fold import step
from ledger.state.state import State
from moot.view import words
from moot.view.quorum import headline
from moot.view.seats import Answered, one_family
from moot.view.words import going_on, why_closed
from rounds.run.outcome import outcome_of

_POSITIONS_OFF: Final = (
    "positions were not sealed, so nobody can see who changed a stance because others did (FM-1)"
)


class Label(NamedTuple):
    """A notice to read before any verdict; `kind` is its one word."""

    kind: Literal[
        "RECORDED",
        "FAKE",
        "UNFINISHED",
        "DEGRADED",
        "UNANSWERED",
        "WAIVED",
        "IMPORTED",
        "FORK",
        "REDACTED",
        "CONVERTED",
        "ALARM",
        "UNVERIFIED",
    ]
    text: str


def labels_told(book: Book) -> tuple[Label, ...]:
    """Return the labels of a run, the gravest first (FORMAT 9, DESIGN 4)."""
    return labels_of(book.state, Counter(call.simulated for event in book.events if (call := event.call)))


def labels_of(state: State, replies: Counter[str | None]) -> tuple[Label, ...]:
    """Return the labels from a folded state and the number of replies by kind of simulation."""
    opened = state.opened
    if opened is None:
        return ()
    return (
        # The order is the order of gravity: what was lost comes before how the run came about.
        *_degraded(state),
        *_waived(opened),
        *_alarms(state),
        *_unfinished(state),
        *_simulated(replies),
        *_origin(opened),
        *_brought_in(state),
    )


def _waived(opened: RunOpened) -> Iterator[Label]:
    for waiver in opened.waived:
        yield Label("WAIVED", f"{waiver.what}: {waiver.why}")
    # Unsealed positions cannot show sycophancy, which is a waiver even though no line says so.
    if opened.rules.get("positions") == "off":
        yield Label("WAIVED", _POSITIONS_OFF)


def _degraded(state: State) -> Iterator[Label]:
    # Both labels come from the same quorum, and `whole` and `imported` need none.
    outcome = outcome_of(state)
    if outcome.kind == "degraded":
        yield Label("DEGRADED", outcome.told)
    elif outcome.kind == "unanswered":
        yield Label("UNANSWERED", outcome.told)


def _alarms(state: State) -> Iterator[Label]:
    for alarm in state.open_alarms():
        since = f" since round {alarm.onset_round}" if alarm.onset_round else ""
        yield Label(
            "ALARM",
            f"{words.failure(alarm.fm)}{since}: {alarm.because or alarm.verdict} (open, see `moot signals`)",
        )


def _unfinished(state: State) -> Iterator[Label]:
    # An import was never run here, so it cannot be unfinished here either.
    if state.finished or (state.opened is not None and state.opened.origin.type == "import"):
        return
    if state.stopped_by is not None:
        reason = state.stopped_by.replace("_", " ")
        command = going_on("", state.stopped_by)
        yield Label("UNFINISHED", f"stopped in round {state.round} ({reason}); `{command}` goes on")
    else:
        yield Label("UNFINISHED", f"in round {state.round}, phase {state.phase}: nothing is decided for good")


def _simulated(replies: Counter[str | None]) -> Iterator[Label]:
    total = replies.total()
    if replies["fake"]:
        made_up = "were made up by a program, not by a model or a person"
        yield Label("FAKE", f"{replies['fake']} of {total} replies {made_up}")
    if replies["recorded"]:
        yield Label("RECORDED", f"{replies['recorded']} of {total} replies were played from an earlier run")


def _brought_in(state: State) -> Iterator[Label]:
    """Yield a label for rounds that an imported run brought along, in a run that goes on from an import."""
    # Rounds written by `import` have no calls, so nothing about their isolation is known.
    last = max((round_ for round_, event in state.rounds.items() if event.by == "import"), default=0)
    if last and state.opened is not None and state.opened.origin.type != "import":
        until = "round 1 was" if last == 1 else f"rounds 1 to {last} were"
        yield Label(
            "IMPORTED", f"{until} written by another system: what moot did not see it cannot vouch for"
        )


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
        case "converted":
            yield Label("CONVERTED", f"recorded by moot 0.1 and converted; its head was {origin.head}")
        case "new":
            pass


class Calls(msgspec.Struct):
    """Counts of how the replies of a run were given."""

    enforced: int = 0
    trusted: int = 0
    continued: int = 0
    recorded: int = 0
    answered: set[Answered] = msgspec.field(default_factory=set[Answered])

    def add(self, event: Event) -> None:
        """Count an event's call, if it has one."""
        call = event.call
        if call is None:
            return
        self.enforced += call.isolation == "enforced"
        self.trusted += call.isolation == "trusted"
        self.continued += call.context.mode == "continued"
        self.recorded += call.simulated == "recorded"
        # A set: a role may have had several seats, and families are judged over all of them.
        self.answered.add(Answered(event.by, call.seat, call.provider, call.model))

    @property
    def all(self) -> int:
        """Return the number of replies."""
        return self.enforced + self.trusted

    @property
    def told(self) -> str:
        """Return the counts in words: `3 trusted, 1 in a continued context`."""
        counts = {
            "enforced": self.enforced,
            "trusted": self.trusted,
            "in a continued context": self.continued,
            "recorded": self.recorded,
        }
        return ", ".join(f"{number} {what}" for what, number in counts.items() if number)


def tally(events: Iterable[Event]) -> tuple[State, Calls]:
    """Return the state after `events` and the counts of their replies, in one pass."""
    # `status` calls this for large ledgers, and folding them a second time would double its time.
    state, calls = State(), Calls()
    for event in events:
        step(state, event)
        calls.add(event)
    return state, calls


def calls_of(events: Iterable[Event]) -> Calls:
    """Return the counts of the replies of a run whose state is known already."""
    calls = Calls()
    for event in events:
        calls.add(event)
    return calls


def caveats(state: State, calls: Calls) -> list[str]:
    """Return the lines before a verdict: quorum, why the run stopped, waivers, isolation (FORMAT 9, DESIGN 4)."""
    # A verdict means something else when seats were lost, so quorum comes before everything.
    first = headline(outcome_of(state))
    isolation = f"isolation of {words.counted(calls.all, 'reply')}: {calls.told}"
    return [
        *([first] if first else ()),
        *([f"STOPPED: {why_closed(state.stopped_by)}"] if state.stopped_by is not None else ()),
        *beside_outcome(state),
        *([isolation] if calls.all else ()),
        *([f"WARNING: {alike}"] if (alike := one_family(calls.answered)) else ()),
    ]


def beside_outcome(state: State) -> list[str]:
    """Return the waivers, which the outcome block does not show."""
    opened = state.opened
    return [
        *(f"WAIVED {waiver.what}: {waiver.why}" for waiver in (opened.waived if opened else ())),
    ]
