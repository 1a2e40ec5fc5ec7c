"""Labels to read before any verdict, the quorum, and what blocks or stopped a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from detectors.report import EndWithout
from ledger.events import Event, RunOpened
from ledger.plain_text import one_line
from ledger.state.amendments import STOP_PATH
from ledger.state.book import Book, grouped
from ledger.state.state import NEITHER, OWN, STANDS, State
from moot.errors import GOOD, SEAT_FAILED
from moot.view import words
from moot.view.seats import Answered, Family, family_of, one_family
from moot.view.words import going_on, why_closed
from rounds.run.outcome import RunQuorum, quorum_of

_POSITIONS_OFF: Final = (
    "positions were not sealed, so nobody can see who changed a stance because others did (FM-1)"
)
_UNSEEN: Final = "what moot did not see it cannot vouch for"
_SIMULATED: Final = {
    "fake": "made up by a program, not by a model or a person",
    "recorded": "played from an earlier run",
}
LABELS: Final[Mapping[str, str]] = {
    "WHOLE": "No reply was lost: every step that was asked for was answered.",
    "UNANSWERED": "The run is finished, and no reply answered the step that decides.",
    "WAIVED": "A safeguard that was given up when the run was opened, with the reason.",
    "WARNING": "All model seats are of one family, which may share blind spots.",
    "UNFINISHED": "The run has not ended, so nothing is decided for good.",
    "FINISHED": "The run has ended, and no step is left to take.",
    **{kind.upper(): f"Some replies were {how}." for kind, how in _SIMULATED.items()},
    "IMPORTED": f"Another system wrote the run, or its first rounds: {_UNSEEN}.",
    "FORK": "The run shares its beginning with another run and goes on differently.",
    "REDACTED": "A copy of a run in which words were removed.",
    "CONVERTED": "The run was recorded by moot 0.1 and converted.",
}
"""Word in capitals before a verdict → its meaning; words that have a mark are in `moot.view.marks`."""


class Label(NamedTuple):
    """A notice to read before any verdict; `kind` is its one word."""

    kind: str
    text: str


def labels_of_run(book: Book) -> tuple[Label, ...]:
    """Return the labels of a run, the gravest first (FORMAT 9, DESIGN 4)."""
    return labels_of(book.state, Counter(call.simulated for event in book.events if (call := event.call)))


def labels_of(state: State, replies: Counter[str | None]) -> tuple[Label, ...]:
    """Return the labels from a folded state and the number of replies by kind of simulation."""
    opened, quorum = state.opening, quorum_of(state)
    # The order is the order of gravity: what was lost comes before how the run came about.
    labels = [Label(quorum.kind.upper(), quorum.told)] if quorum.kind in ("degraded", "unanswered") else []
    labels += [Label("WAIVED", f"{waiver.what}: {waiver.why}") for waiver in opened.waived]
    # Unsealed positions cannot show sycophancy, which is a waiver even though no line says so.
    labels += [Label("WAIVED", _POSITIONS_OFF)] if opened.rules.get("positions") == "off" else []
    for alarm in state.open_alarms():
        since = f" since round {alarm.onset_round}" if alarm.onset_round else ""
        because = f"{since}: {alarm.because or alarm.verdict} (open, see `moot signals`)"
        labels.append(Label("ALARM", f"{words.failure(alarm.fm)}{because}"))
    # An import was never run here, so it cannot be unfinished here either.
    if not state.finished and not state.is_import:
        unfinished = f"in round {state.round}, phase {state.phase}: nothing is decided for good"
        if state.stopped_by is not None:
            why = why_closed(state.stopped_by)
            command = going_on("", state.stopped_by)
            unfinished = f"stopped in round {state.round}, as {why}; `{command}` goes on"
        labels.append(Label("UNFINISHED", unfinished))
    for kind, how in _SIMULATED.items():
        if replies[kind]:
            labels.append(Label(kind.upper(), f"{replies[kind]} of {replies.total()} replies were {how}"))
    return (*labels, *_origin(opened), *_brought_in(state))


def _brought_in(state: State) -> Iterator[Label]:
    """Yield a label for rounds that an imported run brought along, in a run that goes on from an import."""
    # Rounds written by `import` have no calls, so nothing about their isolation is known.
    last = max((round_ for round_, event in state.rounds.items() if event.by == "import"), default=0)
    if last and not state.is_import:
        until = "round 1 was" if last == 1 else f"rounds 1 to {last} were"
        yield Label("IMPORTED", f"{until} written by another system: {_UNSEEN}")


def _origin(opened: RunOpened) -> Iterator[Label]:
    """Yield where the run comes from, unless it is new."""
    origin = opened.origin
    source = f" of {origin.of}" if origin.of else ""
    match origin.type:
        case "import":
            yield Label("IMPORTED", f"written by {origin.tool or 'another system'}: {_UNSEEN}")
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
        if call is not None:
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
    def families(self) -> set[Family | None]:
        """Return the model families that answered; None stands for one that is not named."""
        return {family_of(respondent.provider, respondent.model) for respondent in self.answered}

    @property
    def model_families(self) -> int | None:
        """Return how many model families answered; None where one of them is not named."""
        return len(self.families) if self.families and None not in self.families else None


def calls_of(events: Iterable[Event]) -> Calls:
    """Return the counts of the replies of a run."""
    calls = Calls()
    for event in events:
        calls.add(event)
    return calls


def caveats(state: State, calls: Calls) -> list[str]:
    """Return the lines before a verdict: quorum, why the run stopped, waivers, isolation (FORMAT 9, DESIGN 4)."""
    counts = {
        "enforced": calls.enforced,
        "trusted": calls.trusted,
        "in a continued context": calls.continued,
        "recorded": calls.recorded,
    }
    isolation = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    alike = one_family(calls.answered)
    return [
        # A verdict means something else when seats were lost, so quorum comes before everything.
        *filter(None, [quorum_of(state).headline]),
        *([f"STOPPED: {why_closed(state.stopped_by)}"] if state.stopped_by is not None else ()),
        *beside_outcome(state),
        *([f"isolation of {words.counted(calls.all, 'reply')}: {isolation}"] if calls.all else ()),
        *([f"WARNING: {alike}"] if alike else ()),
    ]


def beside_outcome(state: State) -> list[str]:
    """Return the waivers, which the outcome block does not show."""
    return [f"WAIVED {waiver.what}: {waiver.why}" for waiver in state.opening.waived]


def finished_exit(quorum: RunQuorum) -> int:
    """Return the exit code of a finished run (FORMAT 13): 5 when fewer steps were answered than declared."""
    # Scripts rely on this code to notice that a finished run had lost seats.
    return GOOD if quorum.kind in ("whole", "imported") else SEAT_FAILED


def rules_checked_text(state: State) -> str:
    """Return after which phases the rules were checked; empty where they are checked only once per round."""
    # Checks run after single phases, and the validation closes the round; both check the rules.
    phases = state.checked.get(state.round, []) + state.validated.get(state.round, [])
    if not state.validates_phases or not phases:
        return ""
    result = "no error" if state.faulty is None else "an error, see `moot check`"
    return f"asked after R{state.round} {', '.join(phases)}: {result}"


def is_held_by_an_error(state: State) -> bool:
    """Return whether an error of the ledger blocks the run, rather than a screening."""
    return state.held_up[:1] == (f"@{state.faulty}",)


def hold_text(run: str, state: State) -> str:
    """Return what blocks the run and how to go on; empty where nothing does.

    `run` is how commands name the run.
    """
    if not state.held_up:
        return ""
    # One override lets the whole screening through, so the first place is enough.
    place = state.held_up[0]
    if is_held_by_an_error(state):
        return (
            f"by an error that the validation {place} found: `moot check {run}` says which; mend it and resume, or "
            f"`moot override {run} {place} 'why it is harmless'`"
        )
    return (
        f"by the screening {', '.join(state.held_up)} of what was asked: see `moot log {run}`; "
        f"`moot override {run} {place} 'why it is harmless'` lets it through"
    )


def why_stopped(state: State) -> str:
    """Return why a stopped run stopped, with what was spent of the limit that binds and what the driver noted."""
    reason, limits, spend = state.stopped_by, state.limits, state.spend
    if reason is None:
        return ""
    parts = [why_closed(reason)]
    # The ledger has no clock of the driver, so minutes have no figure here.
    if reason == "budget_usd" and limits.usd is not None:
        parts.append(f"${spend.micro_usd / 1_000_000:.2f} of ${float(limits.usd):.2f} spent")
    elif reason == "budget_tokens" and limits.tokens is not None:
        parts.append(f"{spend.tokens_in + spend.tokens_out:,} of {limits.tokens:,} tokens used")
    elif reason == "budget_calls" and limits.calls is not None:
        parts.append(f"{spend.engine_calls:,} of {limits.calls:,} calls made")
    # Notes before the last closing belong to an earlier stop of a run that went on since.
    stopped = 0 if state.closing is None else state.closing.seq
    notes = [
        one_line(note.reason).rstrip(".")
        for note in state.amendments
        if note.seq > stopped and any(change.path == STOP_PATH for change in note.change)
    ]
    return "; ".join(parts + notes[-1:])


def changing_roles(
    without: Mapping[str, EndWithout], leader: str | None, *, options: bool = True
) -> Iterator[str]:
    """Yield the roles without which the end would be another, by what it would be; `leader` leads with all of them."""
    changing = ((role, end) for role, end in without.items() if end.changes or end.even)
    ends = grouped((_end_without(end, leader, options), role) for role, end in changing)
    for instead, roles in ends.items():
        yield f"{', '.join(roles)}: without {'one of them' if roles[1:] else 'it'} {instead}"


def _end_without(end: EndWithout, leader: str | None, options: bool) -> str:
    if end.even:
        return "the first two would be even"
    # If the leader stays the same, only the status can be what changes.
    if end.leader == leader:
        return "the status would be another"
    return f"{leader_text(end.leader, options)} would lead" if end.leader else "nobody answers"


def leader_text(option: str | None, options: bool) -> str:
    """Return an option by its id; the codes for no option in words."""
    if option == NEITHER:
        return "none of the options" if options else "another answer"
    return {STANDS: "the answer as it stands", OWN: "its own answer"}.get(str(option), str(option))
