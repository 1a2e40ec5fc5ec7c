"""Results of the verbs that act: what they did, for machines, and how a run or a replay ended, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ledger.events.ids import kind_of
from ledger.plain_text import counted
from ledger.result import Result
from moot.view.outcome import Outcome
from moot.view.outcome_text import outcome_first
from moot.view.text import joined
from moot.view.words import going_on
from rounds.run.outcome import RunQuorum

if TYPE_CHECKING:
    from rounds.run.reexecution import Reexecution


class Act(Result, frozen=True):
    """Events that a verb wrote: their ids (or `@seq`), what follows from them included."""

    run: str
    events: list[str]


class OutcomeSaid(Act, frozen=True):
    """`events`: what was written of it now, empty where it was only looked at; `quorum`: what the run rests on."""

    quorum: RunQuorum
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
    """Result of a redaction; `events` are the ids (or `@seq`) written to the run or its copy.

    `blobs`: hashes that are gone. `changed`: events of the copy (as `@seq`) in which words were replaced. `copy`:
    the new run's directory, null when blobs alone were removed. `left`: places where words of a blob that was named
    by its hash still stand (`@seq`, `blobs/<hash>`, other files). `unsearched`: lines that were not looked for,
    because they are too short or moot's own words.
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
    """The skill's files, as they were written."""

    directory: str
    files: list[str]


class SeatTokens(Result, frozen=True):
    """The tokens of a run by role, the operator's included."""

    run: str
    tokens: dict[str, str]


class RemovedRun(Result, frozen=True):
    """A run that is gone: its directory, and the names of what was in it."""

    run: str
    removed: list[str]


class RunEnd(Result, frozen=True):
    """Result of a drive.

    `waiting`: open steps that need `moot submit` or come after a pause, otherwise experiments and questions that
    need a person; `detail`: which limit stopped it; `quorum`: what the run rests on so far; `outcome`: the outcome
    block.
    """

    run: str
    state: Literal["finished", "waiting", "paused", "stopped"]
    reason: str | None
    waiting: list[str]
    detail: str
    quorum: RunQuorum
    outcome: Outcome


class Submission(Result, frozen=True):
    """Result of a submission.

    `events`: ids (or `@seq`) of what was written; `errors`: why nothing was; `next`: steps that are open now;
    `quorum`: what the run rests on so far; `outcome`: its outcome, once it is finished.
    """

    accepted: bool
    events: list[str]
    errors: list[str]
    next: list[str]
    quorum: RunQuorum
    outcome: Outcome | None


class DivergenceLine(Result, frozen=True):
    """Where the new ledger leaves the recorded one; `kind` is rules, brief, event or step."""

    kind: str
    seq: int
    what: str


class ReRun(Result, frozen=True):
    """An experiment run again.

    `now` is null where it was not run here; `falls` are the sentences of the memo that rest on a verdict which came
    out otherwise.
    """

    id: str
    recorded: str | None
    now: str | None
    same: bool
    why: str
    falls: list[str]


class Replay(Result, frozen=True):
    """`identical` and the heads are null when nothing was executed again; `re_run` holds what --re-run ran again.

    `as_given` counts recorded verdicts that were not recomputed: other rules or thresholds gave them.
    """

    run: str
    events: int
    re_executed: bool
    identical: bool | None
    head: str | None
    expected_head: str
    divergences: list[DivergenceLine]
    as_given: int = 0
    re_run: list[ReRun] = msgspec.field(default_factory=list[ReRun])


def reexecuted(run: str, result: Reexecution) -> Replay:
    """Return a re-execution for machines."""
    return Replay.from_parts(
        result,
        run=run,
        re_executed=True,
        head=result.head.hash,
        expected_head=result.expected.hash,
        re_run=[],
    )


class Demo(Result, frozen=True):
    """`recorded` is always true: no seat answers in a demo."""

    run: str
    recorded: bool
    events: int
    stopped: str
    decisions: list[str]
    identical: bool
    head: str
    expected_head: str
    divergences: list[DivergenceLine]
    outcome: Outcome


def run_end_text(end: RunEnd, width: int, pause: str | None = None) -> str:
    """Return what `moot run` prints last: the outcome of a run that ended, then how; `pause` is what --pause said."""
    asks_a_person = bool(end.waiting) and kind_of(end.waiting[0]) == "concern"
    block = (
        ""
        # A run that only waits for replies has nothing to report yet; a person needs the context. At a pause the
        # status follows, which begins with the outcome.
        if end.state in ("waiting", "paused") and not asks_a_person
        else outcome_first(end.outcome, end.quorum, end.run, width)
    )
    return block + _ended_text(end, pause)


def _ended_text(end: RunEnd, pause: str | None) -> str:
    first = end.quorum.headline
    # While steps are open, a quorum is news only when replies were lost.
    lines = [first] if first and (end.state != "waiting" or end.quorum.lost) else []
    reason = (end.reason or "").replace("_", " ")
    match end.state:
        case "finished":
            lines += [f"{end.run} is finished ({reason})", f"decisions: moot decisions {end.run}"]
        case "paused":
            round_, phase, *_ = end.waiting[0].split(".")
            lines += [
                f"{end.run} is paused before {round_.upper()}, phase {phase}",
                f"go on: moot run --resume {end.run} --pause {pause}   (or without --pause)",
            ]
        # Nothing is open and nothing is awaited, so only a block is left as the reason.
        case "waiting" if not end.waiting:
            lines += [
                f"{end.run} is held up until a person decides",
                f"why:     moot status {end.run}",
                f"go on:   moot override {end.run} @SEQ 'why it is harmless'   (the @ that status names)",
            ]
        # The prefix tells experiments (E-), questions (N-) and steps apart.
        case "waiting" if kind_of(end.waiting[0]) == "experiment_planned":
            lines += [
                f"{end.run} waits for experiments: {', '.join(end.waiting)}",
                f"run them: moot experiment run {end.run}   (here, in a sandbox)",
            ]
        case "waiting" if kind_of(end.waiting[0]) == "concern":
            lines += [
                f"{end.run} waits for a person: {', '.join(end.waiting)}",
                f"read it:   moot show {end.run} {end.waiting[0]}",
                f"answer it: moot answer {end.run} {end.waiting[0]} 'TEXT'   (then go on: moot run --resume {end.run})",
                f"or go on without: moot run --resume {end.run} --no-wait",
            ]
        case "waiting":
            lines += [
                f"{end.run} waits for {len(end.waiting)} {'reply' if len(end.waiting) == 1 else 'replies'}:",
                *(f"  {step}" for step in end.waiting),
                f"prompts: moot next {end.run}",
                f"replies: moot submit {end.run} {end.waiting[0] if end.waiting else 'STEP'} reply.json",
            ]
        case _:
            lines += [f"{end.run} is stopped ({reason})", f"go on: {going_on(end.run, end.reason)}"]
    return joined(lines)


def re_run_text(replay: Replay) -> str:
    """Return what `moot replay --re-run` prints."""
    lines: list[str] = []
    for rerun in replay.re_run:
        recorded = rerun.recorded or "not judged"
        now = f"{rerun.now} now" if rerun.now is not None else "not run here"
        why = f" ({rerun.why})" if rerun.why else ""
        lines.append(f"{'✓' if rerun.same else '✗'} {rerun.id}: {recorded} as recorded, {now}{why}")
        # A verdict that no longer holds takes the sentences of the memo with it.
        lines += [f"    would fall: {sentence}" for sentence in rerun.falls]
    return joined(lines or ["no experiment was planned in this run"])


def replay_text(replay: Replay) -> str:
    """Return what `moot replay --re-execute` prints."""
    if replay.identical:
        verdicts = counted(replay.as_given, "verdict")
        note = f" ({verdicts} of other rules or thresholds taken as given)" if replay.as_given else ""
        return f"✓ identical: {replay.events} events executed again, head {replay.head}{note}\n"
    lines = [f"✗ {divergence.kind} @{divergence.seq}: {divergence.what}" for divergence in replay.divergences]
    # Other rules explain a different head without any change of the ledger.
    rules = any(divergence.kind == "rules" for divergence in replay.divergences)
    lines.append(
        f"{'diverged: rules' if rules else 'diverged'}; head {replay.head}, recorded {replay.expected_head}"
    )
    return joined(lines)
