"""Value of several roles: disagreements, sides that decisions followed, acceptance, reasons for doubt (AD-6, AD-7).

Counted from the ledger alone. A disagreement is a challenge, concern or difference that had to be decided; the
side is the one that the decision followed. Where a protocol's form fixes how many points are raised, only those
count that stayed in dispute: called contested by the judge, or defended and not conceded. Five runs in a row without a
disagreement, or one of two sides that always wins: a role idles.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePath as Path
from typing import Final

from ledger.events import Decision
from ledger.result import Result
from ledger.state.book import Book
from rounds.protocols import PROTOCOLS
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


def value_of(run: str, book: Book) -> RunValue:
    """Return one run's value; a protocol that is not known here counts nothing."""
    name = book.state.opening.protocol
    protocol = PROTOCOLS.get(name)
    sides = protocol.sides(book) if protocol is not None else Counter[str]()
    disputed = None if protocol is None else protocol.disputed
    acceptance = acceptance_of(book)
    return RunValue(
        run,
        name,
        disputed(book) if disputed is not None else sides.total(),
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
    # How often each of the two sides was followed in a run; none without two sides.
    sides = _rivals(protocol)
    contests = [counts for run in runs if any(counts := [run.sided_with.get(side, 0) for side in sides])]
    for n, side in enumerate(sides):
        # Fewer contests than this are no pattern: one side can win four times by chance.
        if len(contests) >= IN_A_ROW and all(counts[n] > counts[1 - n] for counts in contests):
            other = sides[1 - n]
            of_these = f"{len(contests)} runs" + (
                " in which they were at odds" if len(contests) < len(runs) else ""
            )
            yield f"{protocol}: {side} has won every one of {of_these}; {other} may idle"
    if protocol == "ratchet":
        # Only the last five runs count, so a fix rate that improved clears the flag (AD-25).
        rates = [counts[0] / sum(counts) for counts in contests][-IN_A_ROW:]
        if len(rates) == IN_A_ROW and max(rates) < FIX_RATE_LEAST:
            yield f"ratchet: less than 30 % of the critiques were fixed, {IN_A_ROW} runs running"


def _rivals(name: str) -> tuple[str, ...]:
    protocol = PROTOCOLS.get(name)
    return (protocol.rivals if protocol is not None else None) or ()
