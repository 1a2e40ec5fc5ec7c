"""Claims tested by running: a plan, its repetitions, what they come to. Kinds of `verifications.jsonl` (FORMAT 2)."""

from typing import Annotated, Literal

from msgspec import Meta

from ledger.events.envelope import Envelope
from ledger.events.values import (
    Decimal,
    Hash,
    Id,
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

    name: Name
    sha256: Hash


class InputBlob(Value, frozen=True, kw_only=True):
    """A file that an experiment reads, and where it comes from."""

    name: Name
    sha256: Hash
    origin: Short


class Predicate(Value, frozen=True, kw_only=True):
    """One thing that must be so of a finished program; a list of them holds when all do."""

    of: Literal["exit", "stdout", "stderr", "json"]
    test: Literal["equals", "matches", "at_least", "at_most", "near"]
    value: Short
    pointer: Short | None = None
    tolerance: Decimal | None = None


class ExperimentControl(Value, frozen=True, kw_only=True):
    """The same program on a subject on which it must fail, or must hold."""

    must: Literal["fail", "hold"]
    files: tuple[NamedBlob, ...]
    argv: tuple[Short, ...]


class ExperimentLimits(Value, frozen=True, kw_only=True):
    """What one repetition may use; there is never a network."""

    wall_seconds: Positive
    cpu_seconds: Positive
    memory_bytes: Positive
    output_bytes: Positive


class ExperimentEnvironment(Value, frozen=True, kw_only=True):
    """Where a repetition ran."""

    interpreter: Short
    platform: Short
    sandbox: Name
    sandbox_version: Name | None
    self_test: bool


class KeptOutput(Value, frozen=True, kw_only=True):
    """What a program wrote: hash and size of the whole, and the blob of what was kept of it."""

    sha256: Hash
    bytes: Nat
    kept: Hash


class RunCounts(Value, frozen=True, kw_only=True):
    """How the repetitions of an experiment came out."""

    holds: Nat
    fails: Nat
    inconclusive: Nat
    error: Nat


class ClaimMove(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """What an experiment does to a claim."""

    claim_id: Id
    from_: Status
    to: Status


class ExperimentPlanned(Envelope, frozen=True, kw_only=True):
    """A program that would decide claims, with what counts as holding and as failing, before it runs."""

    kind: Literal["experiment_planned"] = "experiment_planned"
    claims: tuple[Id, ...]
    question: Prose
    files: tuple[NamedBlob, ...]
    argv: tuple[Short, ...]
    inputs: tuple[InputBlob, ...] = ()
    pass_if: tuple[Predicate, ...]
    fail_if: tuple[Predicate, ...]
    controls: tuple[ExperimentControl, ...] = ()
    k: Positive
    limits: ExperimentLimits
    seed: Nat


class ExperimentRun(Envelope, frozen=True, kw_only=True):
    """One repetition of a planned experiment, or of one of its controls."""

    kind: Literal["experiment_run"] = "experiment_run"
    of: Id
    n: Positive
    control: Literal["must_fail", "must_hold"] | None = None
    environment: ExperimentEnvironment
    exit: Whole | None = None
    signal: Annotated[int, Meta(ge=1, le=255)] | None = None
    stdout: KeptOutput
    stderr: KeptOutput
    outputs: tuple[NamedBlob, ...] = ()
    started_at: Instant
    ms: Nat


class ExperimentJudged(Envelope, frozen=True, kw_only=True, rename={"class_": "class"}):
    """What the repetitions come to, computed from the plan's predicates alone; it moves the claims."""

    kind: Literal["experiment_judged"] = "experiment_judged"
    of: Id
    counts: RunCounts
    verdict: Literal["holds", "fails", "flaky", "inconclusive", "error"]
    class_: Literal["ran", "reproduced"] | None = None
    changes: tuple[ClaimMove, ...] = ()
