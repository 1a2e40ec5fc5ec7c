"""Claims tested by running: a plan, its repetitions, the judgement. Kinds of `verifications.jsonl` (FORMAT 2)."""

from typing import Annotated, Literal

from msgspec import Meta

from ledger.events.envelope import (
    Decimal,
    Envelope,
    Hash,
    Id,
    Identified,
    Instant,
    Name,
    Nat,
    Positive,
    Prose,
    Short,
    Status,
    Value,
    Whole,
)


class NamedBlob(Value, frozen=True, kw_only=True):
    """A file of an experiment: its name in the work directory, and the blob that holds it."""

    name: Name  # in the work directory
    sha256: Hash  # its blob


class InputBlob(Value, frozen=True, kw_only=True):
    """A file that an experiment reads, and where it comes from."""

    name: Name  # in the work directory
    sha256: Hash  # its blob
    origin: Short  # where it comes from


class Predicate(Value, frozen=True, kw_only=True):
    """One thing that must be so of a finished program; a list of them holds when all do."""

    # exit status, output, or the JSON value at pointer in stdout
    of: Literal["exit", "stdout", "stderr", "json"]
    # matches: a regular expression; near: within tolerance
    test: Literal["equals", "matches", "at_least", "at_most", "near"]
    value: Short  # what it is held against
    pointer: Short | None = None  # RFC 6901, for json
    tolerance: Decimal | None = None  # for near


class ExperimentControl(Value, frozen=True, kw_only=True):
    """The same program on a subject on which it must fail, or must hold."""

    must: Literal["fail", "hold"]  # what must come out on this subject
    files: tuple[NamedBlob, ...]  # the changed subject
    argv: tuple[Short, ...]  # program and arguments, no shell


class ExperimentLimits(Value, frozen=True, kw_only=True):
    """What one repetition may use; there is never a network."""

    wall_seconds: Positive  # time on the clock
    cpu_seconds: Positive  # time of the processor
    memory_bytes: Positive  # address space
    output_bytes: Positive  # kept of each output


class ExperimentEnvironment(Value, frozen=True, kw_only=True):
    """Where a repetition ran."""

    interpreter: Short  # name and version
    platform: Short  # system and architecture
    sandbox: Name  # the backend
    sandbox_version: Name | None  # its version
    self_test: bool  # it was tried and held


class KeptOutput(Value, frozen=True, kw_only=True):
    """What a program wrote: hash and size of the whole, and the blob of what was kept of it."""

    sha256: Hash  # of the whole output
    bytes: Nat  # size of the whole
    kept: Hash  # blob of what was kept


class RunCounts(Value, frozen=True, kw_only=True):
    """How the repetitions of an experiment came out."""

    holds: Nat  # repetitions that hold
    fails: Nat  # repetitions that fail
    inconclusive: Nat  # both predicates, or neither
    error: Nat  # repetitions that did not come to an end


class ClaimMove(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """What an experiment does to a claim."""

    claim_id: Id  # the claim that moves
    from_: Status  # its status before
    to: Status  # its status now


class ExperimentPlanned(Identified, frozen=True, kw_only=True):
    """A program that would decide claims, with what counts as holding and as failing, before it runs."""

    kind: Literal["experiment_planned"] = "experiment_planned"
    claims: tuple[Id, ...]  # claims that it decides
    question: Prose  # what it asks, at most 25 words
    files: tuple[NamedBlob, ...]  # the program
    argv: tuple[Short, ...]  # program and arguments, no shell
    inputs: tuple[InputBlob, ...] = ()  # files that it reads
    pass_if: tuple[Predicate, ...]  # all of these: the claims hold
    fail_if: tuple[Predicate, ...]  # all of these: the claims fail
    controls: tuple[ExperimentControl, ...] = ()  # must_fail and must_hold
    k: Positive  # repetitions
    limits: ExperimentLimits  # of one repetition
    seed: Nat  # given to the program


class ExperimentRun(Envelope, frozen=True, kw_only=True):
    """One repetition of a planned experiment, or of one of its controls."""

    kind: Literal["experiment_run"] = "experiment_run"
    of: Id  # the planned experiment
    n: Positive  # number of the repetition, from 1
    control: Literal["must_fail", "must_hold"] | None = None  # set when it is a control
    environment: ExperimentEnvironment  # where it ran
    exit: Whole | None = None  # exit status; null when a signal ended it
    signal: Annotated[int, Meta(ge=1, le=255)] | None = None  # number of the signal that ended it
    stdout: KeptOutput  # what it wrote
    stderr: KeptOutput  # what it wrote
    outputs: tuple[NamedBlob, ...] = ()  # files that it left behind
    started_at: Instant  # UTC
    ms: Nat  # milliseconds


class ExperimentJudged(Envelope, frozen=True, kw_only=True, rename={"class_": "class"}):
    """Verdict of the repetitions, computed from the plan's predicates alone; it moves the claims."""

    kind: Literal["experiment_judged"] = "experiment_judged"
    of: Id  # the planned experiment
    counts: RunCounts  # of the repetitions, controls left out
    verdict: Literal["holds", "fails", "flaky", "inconclusive", "error"]  # flaky: the repetitions differ
    class_: Literal["ran", "reproduced"] | None = None  # reproduced from three alike repetitions on
    changes: tuple[ClaimMove, ...] = ()  # claims that it moves
    unreadable: tuple[Short, ...] = ()  # predicates that could not be read in a repetition
