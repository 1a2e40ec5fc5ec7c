"""Recorded verdicts that other rules or thresholds gave. They are counted, and never recomputed.

A validation names the rules that judged it; a stop check and an alarm name the thresholds. Where these are not
installed,
the verdict is taken as recorded. So a better rule or a better threshold never breaks an old run.
"""

from __future__ import annotations

from collections.abc import Callable

from ledger.events import Alarm, Amendment, RunOpened, Signals, Validation
from ledger.state.book import Blobs, Book

Installs = Callable[[str, str, Blobs], bool]
"""(stop profile, hash of a parameter file, the run's blobs) → whether a verdict by that file can be recomputed here."""


def verdicts_as_given(book: Book, rules_hash: str, installs: Installs) -> frozenset[int]:
    """Return the seqs of validations, looks, alarms and their amendments that other rules or thresholds gave."""
    seqs: set[int] = set()
    profile = ""
    for event in book.events:
        match event:
            case RunOpened():
                # An alarm names its parameter file but not the profile, which only the opening in force says.
                profile = event.stop.profile
            case Validation() if event.rules != rules_hash:
                seqs.add(event.seq)
            case Signals() if not installs(event.profile, event.params, book.blobs):
                seqs.add(event.seq)
            case Alarm(by="controller") if not installs(profile, event.params, book.blobs):
                seqs.add(event.seq)
            # An amendment follows from its alarm or stop check, so it cannot be judged when its cause is not.
            case Amendment(by="controller") if event.cause in seqs:
                seqs.add(event.seq)
            case _:
                pass
    return frozenset(seqs)
