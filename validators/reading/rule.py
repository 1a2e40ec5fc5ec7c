"""What a rule is, what it finds, and what it is given.

A finding is decided at one event: whether a rule is broken there depends only on what the ledger held up to that event
(and, for `until`, on the event that mended it). So the findings of a prefix are the findings of the whole with
`seq <= through`, and a recorded validation is recomputed without judging the prefix again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import msgspec

from ledger.book import Book
from ledger.events import Event
from roles.protocol import Protocol as Table

if TYPE_CHECKING:
    from validators.reading.docket import Docket

Severity = Literal["error", "warning"]


class Breach(NamedTuple):
    """A broken rule as a rule reports it; the rulebook adds code, severity, stream and line.

    `until` is the seq of the event that put it right again, None while it stands. `severity` and `code` replace the
    rule's own where one rule has two voices; `where` is (stream, line) for what is no event.
    """

    seq: int | None
    message: str
    severity: Severity | None = None
    code: str | None = None
    until: int | None = None
    where: tuple[str | None, int | None] | None = None


class Finding(msgspec.Struct, frozen=True):
    """A broken rule: which, how bad, where, and in words. `line` counts from 1 inside the stream."""

    code: str
    severity: Severity
    seq: int | None
    stream: str | None
    line: int | None
    message: str
    until: int | None = None


def standing(findings: Iterable[Finding], through: int) -> tuple[Finding, ...]:
    """The findings that stood after event `through`, by seq, code and message; those without a seq come first."""
    stood = (
        finding
        for finding in findings
        if (finding.seq is None or finding.seq <= through)
        and (finding.until is None or finding.until > through)
    )
    return tuple(sorted(stood, key=_place))


def _place(finding: Finding) -> tuple[int, str, str]:
    return (-1 if finding.seq is None else finding.seq, finding.code, finding.message)


class Rule(msgspec.Struct, frozen=True):
    """One rule. `version` rises when it judges differently; `published` is its number among the seven of SD-49.

    `recorded`: its findings are part of the `validation` events, because the events and the documents alone decide it.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    check: Callable[[Docket], Iterator[Breach]]
    version: int = 1
    applies_to_imports: bool = True
    published: int | None = None
    recorded: bool = True


class LedgerProblem(Protocol):
    """What `verify` reports about bytes, chain and blobs."""

    @property
    def seq(self) -> int | None: ...
    @property
    def stream(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...
    @property
    def what(self) -> str: ...
    @property
    def is_damage(self) -> bool: ...


ReadSignals = Callable[..., Any]
"""(book, profile, at) → the report of the six signals over that prefix, with the fields of the JSON output."""


class RuleContext(msgspec.Struct, frozen=True):
    """What the caller gives the rules, so that they import no protocol table and no detector.

    `unknown`: seq → fields that this version does not know. `params`: profile → hash of the installed parameters.
    What is None or empty is not judged.
    """

    protocol: Table | None = None
    signals: ReadSignals | None = None
    params: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    unknown: Mapping[int, tuple[str, ...]] = msgspec.field(default_factory=dict[int, tuple[str, ...]])
    screenings: Callable[[Book], tuple[Event, ...]] | None = None
    """(a book of the opening alone) → the screenings that are due."""
    ledger_problems: tuple[LedgerProblem, ...] = ()
    run: str = ""
