"""Failures of a run's files: one exception per case, each with its exit code (FORMAT 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec

from ledger.events import StreamName
from ledger.events.envelope import FORMAT
from ledger.plain_text import some

if TYPE_CHECKING:
    from ledger.state.state import State


class Problem(msgspec.Struct, frozen=True):
    """Problem of a ledger, or a notice when it is not damage.

    `line` counts from 1 in `stream`; unknown places are None.
    """

    what: str
    seq: int | None = None
    stream: StreamName | None = None
    line: int | None = None
    is_damage: bool = True

    def __str__(self) -> str:
        place = f"{self.stream}.jsonl" if self.stream else ""
        place += f":{self.line}" if place and self.line else ""
        event = f"event {self.seq}" if self.seq is not None else ""
        where = ", ".join(part for part in (event, place) if part)
        return f"{where}: {self.what}" if where else self.what


class LedgerError(Exception):
    """Operating failure of a run's files: `what` happened, `where`, and one line on how to fix it."""

    exit_code: ClassVar[int] = 3

    def __init__(self, what: str, where: str, fix: str) -> None:
        super().__init__(f"{what} ({where}); {fix}")
        self.what = what
        self.where = where
        self.fix = fix


class NotARun(LedgerError):
    """Path that is not a run: missing, without a ledger, or never opened."""

    exit_code = 2


class StrangeRun(LedgerError):
    """Lawful lines that together are not a run; `problem` says it in the words of the rule that is broken."""

    exit_code = 2

    def __init__(self, problem: str, where: str) -> None:
        name = where or "RUN"
        super().__init__(
            f"the lines are intact, and yet no run: {problem}",
            where,
            f"`moot check {name}` names every rule that it breaks; go on with a copy from before",
        )


class OtherFormat(LedgerError):
    """Ledger that was written in another version of the format."""

    exit_code = 2

    @classmethod
    def of(cls, version: int, where: str) -> OtherFormat:
        """Return the failure for a line of that version."""
        if version > FORMAT:
            return cls("written by a newer moot", where, f"install a moot that reads version {version}")
        return cls("written by moot 0.1", where, "docs/upgrade.md says how to read it")


class LockTimeout(LedgerError):
    """Another writer held the lock for the whole wait."""

    exit_code = 3


class DriverBusy(LedgerError):
    """Another process drives this run."""

    exit_code = 2


class Unreadable(LedgerError):
    """The file system refused to read a file of the run."""

    exit_code = 2


class BlobMissing(LedgerError):
    """Blob that is needed to go on, or to repeat a step, and is lost or redacted."""

    exit_code = 2

    def __init__(self, what: str, where: str = "") -> None:
        fix = "`moot verify` says whether it was redacted; what was lost is restored from a copy"
        super().__init__(f"{what} is not among the blobs", where, fix)


class WriteFailed(LedgerError):
    """The file system refused a write, so nothing was acknowledged."""


class Damaged(LedgerError):
    """Ledger that, up to its head, is not what was committed; `problems` say where."""

    def __init__(self, problems: Sequence[Problem], where: str) -> None:
        assert len(problems) > 0, "damage without a problem"
        super().__init__(
            f"the ledger is damaged: {some([*map(str, problems)], 1)}",
            where,
            f"see all of it with `moot verify {where}`, and restore the run from a copy",
        )
        self.problems = tuple(problems)


def unopened(state: State) -> str | None:
    """Return why nothing can be read of a state, in the words of the broken rule; None when something can."""
    opened = state.opened
    if opened is None:
        return "ORD001: its first event is not run_opened"
    for event in state.rounds_opened:
        if event.plan_row >= len(opened.plan) and opened.origin.type != "import":
            return (
                f"ORD002: event {event.seq} opens row {event.plan_row} of a plan with {len(opened.plan)} rows"
            )
    return None


def strangeness(state: State) -> str | None:
    """Return why a state is not that of a run that can go on or be shown whole; None when it is."""
    problem = unopened(state)
    if problem is not None or state.opened is None or state.opened.origin.type == "import":
        return problem
    if state.round and state.round not in state.rounds:
        return f"ORD003: an event stands in round {state.round}, which was never opened"
    return None


def refuse(problem: str | None, where: object) -> None:
    """Raise `StrangeRun` for a state that is not that of a run."""
    if problem is not None:
        raise StrangeRun(problem, str(where))
