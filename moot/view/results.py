"""Results of verbs that only report what they did, for machines."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ledger.result import Result
from moot.view.outcome import Outcome


class Act(Result, frozen=True):
    """`events`: ids (or `@seq`) of what was written, what follows from it included."""

    run: str
    events: list[str]


class OutcomeSaid(Result, frozen=True):
    """`events`: what was written of it now, empty where it was only looked at."""

    run: str
    events: list[str]
    outcome: Outcome


class Examined(Result, frozen=True):
    """One thing: `fault` stops every run, `missing` only what needs it. `mend` is null when nothing is to be done."""

    name: str
    state: Literal["ok", "missing", "fault"]
    found: str
    fix: str | None = msgspec.field(name="mend")


class Doctor(Result, frozen=True):
    """`ok`: deliberations can be run here."""

    ok: bool
    examined: list[Examined]


class ErrorSaid(Result, frozen=True):
    """`code` is for programs, the rest for people; `mend` is the one line that puts it right."""

    code: str
    what: str
    where: str
    mend: str


class Error(Result, frozen=True):
    """The exit code of FORMAT 13 goes with it."""

    error: ErrorSaid


class Fork(Result, frozen=True):
    """`seq` and `head` are the last shared event and its hash; `waiting` the steps that are open now."""

    run: str
    of: str
    round: int
    seq: int
    head: str
    without: str | None
    through: int | None
    seats: dict[str, str]
    waiting: list[str]


class Log(Result, frozen=True):
    """`events` are the lines of the ledger in global order, each as its schema in `schemas/events/` says."""

    run: str
    events: list[dict[str, Any]]


class Redacted(Result, frozen=True):
    """`events`: ids (or `@seq`) written to the run or its copy. `blobs`: hashes that are gone. `changed`: events of the
    copy (as `@seq`) in which words were replaced. `copy`: the new run's directory, null when blobs alone were removed.
    `left`: places where words of a blob that was named by its hash still stand (`@seq`, `blobs/<hash>`, other files).
    `unsearched`: lines that were not looked for, because they are too short or moot's own words.
    """

    run: str
    copy: str | None
    events: list[str]
    blobs: list[str]
    changed: list[str]
    left: list[str]
    unsearched: int


class ReportDocument(Result, frozen=True):
    """`text` is null when the document went to a file."""

    run: str
    format: Literal["markdown", "html"]
    head: str
    out: str | None
    text: str | None


class KeyMade(Result, frozen=True):
    """`secret` and `public` are paths; `verifier` is the public key line. The secret itself is never printed."""

    name: str
    secret: str
    public: str
    verifier: str


class HeadSigned(Result, frozen=True):
    """The head that was signed, by which key, and where the note is."""

    run: str
    seq: int
    hash: str
    key: str
    note: str


class Serving(Result, frozen=True):
    """Printed once, when the viewer answers. `url` carries the token that any address but loopback needs."""

    url: str
    host: str
    port: int
    runs: str
    token: str | None


class SkillFiles(Result, frozen=True):
    """`dry_run`: nothing was touched, `done` says what would have been."""

    directory: str
    files: list[str]
    done: Literal["written", "removed"]
    dry_run: bool


class SeatTokens(Result, frozen=True):
    """The tokens of a run by role, the operator's included."""

    run: str
    tokens: dict[str, str]


class RemovedRun(Result, frozen=True):
    """A run that is gone: its directory, and the names of what was in it."""

    run: str
    removed: list[str]
