"""Findings of rules, and recorded verdicts that other rules or thresholds gave.

A finding is decided at one event: whether a rule is broken there depends only on what the ledger held up to that
event (and, for `until`, on the event that mended it). So the findings of a prefix are the findings of the whole with
`seq <= through`, and a recorded validation is recomputed without judging the prefix again.

Verdicts of others are counted, and never recomputed. A validation names the rules that judged it; a stop check and an
alarm name the thresholds. Where these are not installed, the verdict is taken as recorded. So a better rule or a
better threshold never breaks an old run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from ledger.events import Alarm, Amendment, RunOpened, Signals, Validation
from ledger.events.envelope import Severity
from ledger.result import Result
from ledger.state.book import Blobs, Book


class Breach(NamedTuple):
    """Broken rule as a rule reports it; the rulebook adds code, severity, stream and line.

    `until` is the seq of the event that put it right again, None while it stands. `severity` and `code` replace the
    rule's own where one rule has two voices; `where` is (stream, line) for what is no event.
    """

    seq: int | None
    message: str
    severity: Severity | None = None
    code: str | None = None
    until: int | None = None
    where: tuple[str | None, int | None] | None = None


class ReportedFinding(Result, frozen=True):
    """A broken rule. `stream` and `line` (from 1) are where its event stands; null where there is no event."""

    code: str
    severity: Severity
    seq: int | None
    stream: str | None
    line: int | None
    message: str


class RuleFinding(ReportedFinding, frozen=True):
    """Finding while the rules are asked; `until` is the seq of the event that mended it."""

    until: int | None = None


def standing(findings: Iterable[RuleFinding], through: int) -> tuple[RuleFinding, ...]:
    """Return the findings in force after event `through`, by seq, code and message; those without a seq come first."""
    stood = (
        finding
        for finding in findings
        if (finding.seq is None or finding.seq <= through)
        and (finding.until is None or finding.until > through)
    )
    # Sorted, because a recorded validation is compared finding by finding when it is recomputed.
    return tuple(
        sorted(stood, key=lambda each: (-1 if each.seq is None else each.seq, each.code, each.message))
    )


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
