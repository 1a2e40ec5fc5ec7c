"""Value of several roles: disagreements, sides that decisions followed, acceptance, reasons for doubt (AD-6, AD-7).

Counted from the ledger alone. A disagreement is a challenge, concern or difference that had to be decided; the
side is the one that the decision followed. Where a protocol's form fixes how many points are raised, only those
count that stayed in dispute: called contested by the judge, or defended and not conceded. Five runs in a row without a
disagreement, or one of two sides that always wins: a role idles.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath as Path
from typing import Final

from ledger.events import (
    Concern,
    Decision,
    Disposition,
    Rating,
    Response,
    Standing,
    Verification,
    Vote,
)
from ledger.events.ids import role_of
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import deliberated
from rounds.protocols.adversarial import GENUINE_FROM
from rounds.protocols.priority import DISAGREEMENT_FROM, POINTS
from rounds.run.acceptance import Distance, acceptance_of

IN_A_ROW: Final = 5
FIX_RATE_LEAST: Final = 0.3
RESOLUTION_MAX: Final = 160


class RunValue(Result, frozen=True):
    """One run. `sided_with`: side → how often; `accepted` and `edit_distance` are null until a person has said so.

    `resolution`: the final decision that stands, in a line; null for a run that has none.
    """

    run: str
    protocol: str
    disagreements: int
    sided_with: dict[str, int]
    accepted: bool | None
    edit_distance: Distance | None
    resolution: str | None


class ValueReport(Result, frozen=True):
    """Runs in the order given, and what makes one doubt that several roles are worth it."""

    runs: list[RunValue]
    flags: list[str]


def _by_disposition(sides: Mapping[str, str]) -> Callable[[Book], Counter[str]]:
    def count(book: Book) -> Counter[str]:
        dispositions = (event for event in book.events if isinstance(event, Disposition))
        return Counter(sides[event.disposition] for event in dispositions if event.disposition in sides)

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
        # A standing in between favors neither side, so only clear ones count.
        if isinstance(event, Standing):
            author = book.by_id[event.of].by
            other = "con" if author == "pro" else "pro"
            if event.standing in ("UPHELD", "REFUTED"):
                sides[author if event.standing == "UPHELD" else other] += 1
    return sides


def _comparative(book: Book) -> Counter[str]:
    rounds = set(deliberated(book.state, "round"))
    return Counter(event.about[0] for event in book.of(Decision) if event.id in rounds and event.about)


def _priority(book: Book) -> Counter[str]:
    levels: dict[str, dict[str, int]] = {}
    for event in book.events:
        if isinstance(event, Rating):
            levels.setdefault(event.of, {})[event.by] = POINTS.get(str(event.value), 0)
    apart = [
        ratings
        for ratings in levels.values()
        if len(ratings) > 1 and max(ratings.values()) - min(ratings.values()) >= DISAGREEMENT_FROM
    ]
    # Where levels are far apart a person decides (AD-28), so the human is the side that was followed.
    return Counter({"human": len(apart)} if apart else {})


def _tribunal(book: Book) -> Counter[str]:
    last = [event for event in book.events if isinstance(event, Vote) and event.ballot == 2]
    kinds = {event.decision for event in last}
    # With one kind of vote there was no disagreement.
    return Counter(role_of(event.id) for event in last) if len(kinds) > 1 else Counter()


def _structured(book: Book) -> Counter[str]:
    verdicts = [event for event in book.events if isinstance(event, Verification) and event.check_id < 5]
    return Counter(
        "critic" if event.result == "BROKEN" else "undecided"
        for event in verdicts
        if event.result in ("BROKEN", "UNCLEAR")
    )


def _crux(book: Book) -> Counter[str]:
    """Return whose leader won in the end, among first answers with another leader than most points."""
    state = book.state
    options = [*(option.id for option in state.options), "none"]
    # Without named options the first forecast over the agenda's options is the third forecast of a role.
    suffix = "~3" if not state.opening.options else ""
    first = [
        facts for identity, facts in state.beliefs.items() if re.fullmatch(rf"B-1-[a-z_]+{suffix}", identity)
    ]
    last = state.looks[-1].leader if state.looks else None
    pool = Counter[str]()
    for facts in first:
        pool.update(facts.points)
    foremost = _leader(pool, options)
    led = [_leader(facts.points, options) for facts in first]
    return Counter("minority" if leader == last else "majority" for leader in led if leader != foremost)


def _leader(points: Mapping[str, int], options: Sequence[str]) -> str:
    """Return the option with most points, the first among equals."""
    return max(options, key=lambda option: points.get(option, 0))


_ACCEPTED_OR_NOT: Final = {"accepted": "challenger", "rejected": "proposer", "escalated": "human"}
_COUNTS: Final[Mapping[str, Callable[[Book], Counter[str]]]] = {
    "structured": _structured,
    "crux": _crux,
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
    "ratchet": lambda book: Counter(
        "critic" if event.outcome == "fix" else "drafter"
        for event in book.of(Response)
        if event.outcome in ("fix", "justify")
    ),
    "panel": lambda book: Counter(
        book.by_id[event.of].by for event in book.of(Rating) if event.criterion == "cross-cutting"
    ),
    "priority": _priority,
    "tribunal": _tribunal,
}
"""Counts of the sides that decisions followed, by protocol."""


def _defended(book: Book) -> int:
    """Return the number of challenges that were not conceded; both sides agree on the others."""
    return sum(event.outcome == "defend" for event in book.of(Response))


_DISAGREEMENTS: Final[Mapping[str, Callable[[Book], int]]] = {
    # The points that the judges found really in dispute (AD-5): concerns are always five.
    "adversarial": lambda book: sum(len(event.zones.contested) for event in book.of(Decision) if event.zones),
    "devils-advocate": _defended,
    "cross-examination": _defended,
}
"""Points that stayed in dispute, by protocol; of the others, every decided point is one."""
_RIVALS: Final[Mapping[str, tuple[str, str]]] = {
    "jugalbandi": ("challenger", "proposer"),
    "debate": ("pro", "con"),
    "adversarial": ("challenger", "advocate"),
    "devils-advocate": ("steelman", "devils_advocate"),
    "cross-examination": ("analysts", "examiner"),
    "ratchet": ("critic", "drafter"),
}
"""The two sides of a protocol: one that always wins makes the other doubtful. A person, an option and a verdict
without a winner are no side."""


def value_of(run: str, book: Book) -> RunValue:
    """Return one run's value; a protocol that is not known here counts nothing."""
    protocol = book.state.opening.protocol
    count, apart = _COUNTS.get(protocol), _DISAGREEMENTS.get(protocol)
    sides = count(book) if count else Counter[str]()
    acceptance = acceptance_of(book)
    return RunValue(
        run,
        protocol,
        apart(book) if apart else sides.total(),
        dict(sorted(sides.items())),
        acceptance.accepted if acceptance else None,
        acceptance.distance if acceptance else None,
        _resolution(book),
    )


def _resolution(book: Book) -> str | None:
    """Return the final decisions in force, an override in the place of what it overturned; None without any."""
    decisions, texts = book.state.decisions, list[str]()
    for identity in [identity for identity, facts in decisions.items() if facts.type == "final"]:
        stands = identity
        # Overrides can be overridden in turn, so the chain is followed to its end.
        while (later := decisions[stands].overturned_by) is not None:
            stands = later
        if isinstance(event := book.by_id.get(stands), Decision):
            texts.append(event.text)
    return " ".join(" ".join(dict.fromkeys(texts)).split()) or None


def event_lines(value: RunValue) -> tuple[str, ...]:
    """Return what a run emits for other tools: its result and, once a person recorded the outcome's use, an evaluation.

    Sources: AD-6, AD-17, AD-25, AD-29.
    """
    sides = "/".join(f"{side}:{count}" for side, count in value.sided_with.items()) or "none"
    parts = [f"skill={value.protocol}", f"artifact={Path(value.run).name}"]
    counted = [f"disagreements={value.disagreements}", f"sided_with={sides}"]
    resolution = f"resolution={_in_a_line(value.resolution)}"
    match value.protocol:
        case "ratchet":
            fixed, justified = value.sided_with.get("critic", 0), value.sided_with.get("drafter", 0)
            name, counts = (
                "compete-ratchet",
                [f"critiques_addressed={fixed}", f"critiques_justified={justified}"],
            )
        case "comparative":
            name, counts = "evaluate-result", [counted[0], resolution, counted[1]]
        case "priority":
            name, counts = "compete-result", ["variant=priority-voting", counted[0], resolution, counted[1]]
        case _:
            name, counts = "compete-result", [counted[0], resolution, counted[1]]
    lines = [f"[{name}: {', '.join([*parts, *counts])}]"]
    if value.accepted is not None:
        evaluation = [
            f"edit_distance={value.edit_distance or 'none'}",
            f"acceptance={str(value.accepted).lower()}",
        ]
        lines.append(f"[compete-eval: {', '.join([parts[0], *evaluation, *counted])}]")
    return tuple(lines)


def _in_a_line(text: str | None) -> str:
    """Return a text without the characters that separate and end the fields of an event line."""
    words = " ".join((text or "none").translate(str.maketrans("[],=", "();:")).split())
    return words if len(words) <= RESOLUTION_MAX else f"{words[: RESOLUTION_MAX - 1].rstrip()}…"


def report(runs: Sequence[RunValue]) -> ValueReport:
    """Return all runs, and the flags of each protocol in the order of the runs."""
    flags = [
        flag
        for protocol in dict.fromkeys(run.protocol for run in runs)
        for flag in _flags(protocol, [run for run in runs if run.protocol == protocol])
    ]
    return ValueReport(runs=list(runs), flags=flags)


def _flags(protocol: str, runs: Sequence[RunValue]) -> Iterator[str]:
    """Yield the doubts. A run without a decision shows nothing about what its roles were worth."""
    runs = [run for run in runs if run.resolution is not None]
    silent = 0
    for run in runs:
        # The count starts over with any disagreement, and a longer series is reported once (AD-7).
        silent = silent + 1 if run.disagreements == 0 else 0
        if silent == IN_A_ROW:
            yield f"{protocol}: {IN_A_ROW} runs in a row without a disagreement; one seat may do"
    contests = [counts for run in runs if any(counts := _contest(protocol, run))]
    for n, side in enumerate(_RIVALS.get(protocol, ())):
        # Fewer contests than this are no pattern: one side can win four times by chance.
        if len(contests) >= IN_A_ROW and all(counts[n] > counts[1 - n] for counts in contests):
            other = _RIVALS[protocol][1 - n]
            of_these = f"{len(contests)} runs" + (
                " in which they were at odds" if len(contests) < len(runs) else ""
            )
            yield f"{protocol}: {side} has won every one of {of_these}; {other} may idle"
    if protocol == "ratchet":
        # Only the last five runs count, so a fix rate that improved clears the flag (AD-25).
        rates = [counts[0] / sum(counts) for counts in contests][-IN_A_ROW:]
        if len(rates) == IN_A_ROW and max(rates) < FIX_RATE_LEAST:
            yield f"ratchet: less than 30 % of the critiques were fixed, {IN_A_ROW} runs running"


def _contest(protocol: str, run: RunValue) -> tuple[int, ...]:
    """Return how often each of the two sides was followed in a run; empty without two sides."""
    return tuple(run.sided_with.get(side, 0) for side in _RIVALS.get(protocol, ()))
