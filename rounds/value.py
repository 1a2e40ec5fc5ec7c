"""What several roles were worth: disagreements, who was sided with, acceptance, and when to doubt it (AD-6, AD-7).

Counted from the ledger alone. A disagreement is a challenge, concern or difference that somebody had to decide; the
side is whoever the decision followed. Five runs in a row without any, or one side that always wins: a role idles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath as Path
from typing import Final

from ledger.book import Book
from ledger.events import (
    Amendment,
    Concern,
    Decision,
    Disposition,
    Rating,
    Response,
    Standing,
    Verification,
    Vote,
)
from ledger.result import Result
from rounds.acceptance import ACCEPTED, DISTANCE, Distance
from rounds.protocols.adversarial import GENUINE_FROM
from rounds.protocols.priority import DISAGREEMENT_FROM, POINTS

IN_A_ROW: Final = 5
FIX_RATE_LEAST: Final = 0.3


class RunValue(Result, frozen=True):
    """One run. `sided_with`: side → how often; `accepted` and `edit_distance` are null until a person has said so."""

    run: str
    protocol: str
    disagreements: int
    sided_with: dict[str, int]
    accepted: bool | None
    edit_distance: Distance | None


class ValueReport(Result, frozen=True):
    """Runs in the order given, and what makes one doubt that several roles are worth it."""

    runs: list[RunValue]
    flags: list[str]


def _by_disposition(sides: Mapping[str, str]) -> Callable[[Book], Counter[str]]:
    def count(book: Book) -> Counter[str]:
        found = (event for event in book.events if isinstance(event, Disposition))
        return Counter(sides[event.disposition] for event in found if event.disposition in sides)

    return count


def _adversarial(book: Book) -> Counter[str]:
    challenged = {
        event.id for event in book.events if isinstance(event, Concern) and event.by == "challenger"
    }
    return Counter(
        "challenger" if isinstance(event.value, int) and event.value >= GENUINE_FROM else "advocate"
        for event in book.events
        if isinstance(event, Rating) and event.of in challenged
    )


def _debate(book: Book) -> Counter[str]:
    sides: Counter[str] = Counter()
    for event in book.events:
        if isinstance(event, Standing):
            author = book.by_id[event.of].by
            other = "con" if author == "pro" else "pro"
            if event.standing in ("UPHELD", "REFUTED"):
                sides[author if event.standing == "UPHELD" else other] += 1
    return sides


def _comparative(book: Book) -> Counter[str]:
    return Counter(
        event.about[0]
        for event in book.events
        if isinstance(event, Decision) and event.type == "round" and event.about
    )


def _ratchet(book: Book) -> Counter[str]:
    sides = {"fix": "critic", "justify": "drafter"}
    return Counter(
        sides[event.outcome]
        for event in book.events
        if isinstance(event, Response) and event.outcome in sides
    )


def _priority(book: Book) -> Counter[str]:
    levels: dict[str, dict[str, int]] = {}
    for event in book.events:
        if isinstance(event, Rating):
            levels.setdefault(event.of, {})[event.by] = POINTS.get(str(event.value), 0)
    apart = [
        one
        for one in levels.values()
        if len(one) > 1 and max(one.values()) - min(one.values()) >= DISAGREEMENT_FROM
    ]
    return Counter({"human": len(apart)} if apart else {})


def _panel(book: Book) -> Counter[str]:
    return Counter(
        book.by_id[event.of].by
        for event in book.events
        if isinstance(event, Rating) and event.criterion == "cross-cutting"
    )


def _tribunal(book: Book) -> Counter[str]:
    last = [event for event in book.events if isinstance(event, Vote) and event.ballot == 2]
    kinds = {event.decision for event in last}
    return Counter(str(event.id).rpartition("-")[2] for event in last) if len(kinds) > 1 else Counter()


def _structured(book: Book) -> Counter[str]:
    verdicts = [event for event in book.events if isinstance(event, Verification) and event.check_id < 5]
    return Counter(
        "critic" if event.result == "BROKEN" else "undecided"
        for event in verdicts
        if event.result in ("BROKEN", "UNCLEAR")
    )


_ACCEPTED_OR_NOT: Final = {"accepted": "challenger", "rejected": "proposer", "escalated": "human"}
_COUNTS: Final[Mapping[str, Callable[[Book], Counter[str]]]] = {
    "structured": _structured,
    "jugalbandi": _by_disposition(_ACCEPTED_OR_NOT),
    "single-pass": _by_disposition(_ACCEPTED_OR_NOT),
    "council": _by_disposition(_ACCEPTED_OR_NOT),
    "debate": _debate,
    "adversarial": _adversarial,
    "devils-advocate": _by_disposition(
        {"addressed": "steelman", "partially_addressed": "undecided", "deflected": "devils_advocate"}
    ),
    "comparative": _comparative,
    "cross-examination": _by_disposition(
        {"defended": "analysts", "conceded": "examiner", "deflected": "examiner"}
    ),
    "ratchet": _ratchet,
    "panel": _panel,
    "priority": _priority,
    "tribunal": _tribunal,
}
"""Protocol → who was sided with, how often."""


def value_of(run: str, book: Book) -> RunValue:
    """One run's value; a protocol that is not known here counts nothing."""
    protocol = book.state.opened.protocol if book.state.opened else ""
    count = _COUNTS.get(protocol)
    sides = count(book) if count else Counter[str]()
    accepted, distance = _acceptance(book)
    return RunValue(run, protocol, sides.total(), dict(sorted(sides.items())), accepted, distance)


def _acceptance(book: Book) -> tuple[bool | None, Distance | None]:
    """What the last acceptance said."""
    said: dict[str, object] = {}
    for event in book.events:
        if isinstance(event, Amendment) and event.what == "note":
            said |= {change.path: change.to for change in event.change if change.path in (ACCEPTED, DISTANCE)}
    known: dict[object, Distance] = {"low": "low", "medium": "medium", "high": "high"}
    if ACCEPTED not in said:
        return None, None
    accepted = said[ACCEPTED] is True
    return accepted, known.get(said.get(DISTANCE)) if accepted else None


def event_line(value: RunValue) -> str:
    """The one line that a competitive run emits (AD-6, AD-17, AD-25, AD-29)."""
    sides = "/".join(f"{side}:{count}" for side, count in value.sided_with.items()) or "none"
    parts = [f"skill={value.protocol}", f"artifact={Path(value.run).name}"]
    if value.protocol == "ratchet":
        fixed, justified = value.sided_with.get("critic", 0), value.sided_with.get("drafter", 0)
        parts += [f"critiques_addressed={fixed}", f"critiques_justified={justified}"]
        return f"[compete-ratchet: {', '.join(parts)}]"
    name = "evaluate-result" if value.protocol == "comparative" else "compete-result"
    if value.protocol == "priority":
        parts.append("variant=priority-voting")
    parts += [f"disagreements={value.disagreements}", f"sided_with={sides}"]
    if value.accepted is not None:
        parts.append(f"acceptance={str(value.accepted).lower()}")
        parts.append(f"edit_distance={value.edit_distance or 'none'}")
    return f"[{name}: {', '.join(parts)}]"


def report(runs: Sequence[RunValue]) -> ValueReport:
    """All runs, and the flags of each protocol in the order of the runs."""
    flags = [
        flag
        for protocol in dict.fromkeys(run.protocol for run in runs)
        for flag in _flags(protocol, [run for run in runs if run.protocol == protocol])
    ]
    return ValueReport(runs=list(runs), flags=flags)


def _flags(protocol: str, runs: Sequence[RunValue]) -> Iterator[str]:
    silent = 0
    for run in runs:
        silent = silent + 1 if run.disagreements == 0 else 0
        if silent == IN_A_ROW:
            yield f"{protocol}: {IN_A_ROW} runs in a row without a disagreement; one seat may do"
    if len(runs) >= IN_A_ROW:
        winners = {_winner(run.sided_with) for run in runs if run.sided_with}
        if len(winners) == 1 and None not in winners:
            yield f"{protocol}: {winners.pop()} has won every one of {len(runs)} runs; the other side may idle"
        if protocol == "ratchet":
            rates = [run.sided_with.get("critic", 0) / run.disagreements for run in runs if run.disagreements]
            if rates and max(rates[-IN_A_ROW:]) < FIX_RATE_LEAST:
                yield "ratchet: less than 30 % of the critiques were fixed, five runs running"


def _winner(sides: Mapping[str, int]) -> str | None:
    best = max(sides.values())
    leaders = [side for side, count in sides.items() if count == best]
    return leaders[0] if len(leaders) == 1 else None
