"""Evaluate the stop signals (SD-60) and the absence of a role (SD-67) on the recorded runs.

python -m benchmarks recorded

For the end of each round of every long run: how many of the six signals hold (four stop it), which profile would stop,
which gates fail, and which failure modes raise an alarm. Forks without a role: `moot fork RUN --stress`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from detectors.parameters import SignalProfile
from detectors.signals import signals
from ledger.events import RoundOpened
from ledger.state.book import Book
from moot.api import open_run

EXAMPLES: Final = Path(__file__).resolve().parents[1] / "runs" / "examples"
PROFILES: Final[tuple[SignalProfile, ...]] = ("published", "gates")
"""Profiles whose stop is shown: the count of six signals, and the gates."""


class Look(NamedTuple):
    """State of a run at the end of a round; `stops` in the order of `PROFILES`, `failing` are gates."""

    round: int
    satisfied: int
    stops: tuple[bool, ...]
    failing: tuple[str, ...]
    alarms: tuple[str, ...]


def looks(book: Book) -> Iterator[Look]:
    """Yield the state of a run at the end of each round."""
    opened = [event for event in book.events if isinstance(event, RoundOpened)]
    ends = [event.seq - 1 for event in opened[1:]] + [book.events[-1].seq]
    for event, end in zip(opened, ends, strict=True):
        readings = [signals(book, profile, end) for profile in PROFILES]
        gates = readings[-1]
        yield Look(
            round=event.round,
            satisfied=readings[0].satisfied,
            stops=tuple(reading.stop for reading in readings),
            failing=tuple(gate.name for gate in gates.gates if gate.decides and not gate.ok),
            alarms=tuple(alarm.id for alarm in gates.alarms if alarm.is_open),
        )


def main(options: Sequence[str] = ()) -> int:
    """Print the table."""
    names = list(options) or sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())
    books = {name: open_run(EXAMPLES / name).book for name in names}
    print(f"{'run':36} round  of 6  {'  '.join(PROFILES)}  gates that fail; alarms")
    for name, book in books.items():
        if book.state.opening.protocol != "structured":
            continue
        for look in looks(book):
            stops = "  ".join(
                f"{'stop' if stop else 'go on':{len(profile)}}"
                for profile, stop in zip(PROFILES, look.stops, strict=True)
            )
            details = " ".join(look.failing) + ("; " + " ".join(look.alarms) if look.alarms else "")
            print(f"{name:36} R{look.round:<4} {look.satisfied:>5}  {stops}  {details}")
    return 0
