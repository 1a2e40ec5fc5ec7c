"""The envelope, the fields that every event shares in the order in which a line holds them, and their value types.

The types bound what a line may hold (FORMAT 1 and 2): integers, prose, ids, enums. `laws.py` checks the forms of
strings, and what depends on several fields at once or is waived for imports.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from ledger.plain_text import counted

SAFE_INTEGER: Final = 2**53 - 1
LINE_BYTES_MAX: Final = 1 << 20
DEPTH_MAX: Final = 12
ROUND_MAX: Final = 9999
GENESIS: Final = "0" * 64
FORMAT: Final = 3
"""The version of the format that this moot reads and writes; versions 1 and 2 are those of release 0.1."""

HEX64_PATTERN: Final = r"^[0-9a-f]{64}$(?!\n)"
AT_PATTERN: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$(?!\n)"
DECIMAL_PATTERN: Final = r"^(?!-0(\.0+)?$)-?(0|[1-9][0-9]*)(\.[0-9]{1,9})?$(?!\n)"
ROLE_PATTERN: Final = r"^[a-z][a-z0-9_]{0,31}$(?!\n)"
STEP_PATTERN: Final = (
    r"^r(0|[1-9][0-9]{0,3})\.[A-Za-z][A-Za-z0-9_]{0,23}(\.[a-z][a-z0-9_]{0,31})?"
    r"\.[a-z][a-z0-9_]{0,31}(~([2-9]|[1-9][0-9]+))?$(?!\n)"
)

CONTEXT_PATTERN: Final = r"^c[1-9][0-9]*$(?!\n)"


def form(pattern: str, length: int | None = None) -> Meta:
    """Return a constraint: a string has this form.

    It is published in the schemas; `laws.grammar` checks it, several times as fast as msgspec.
    """
    return Meta(extra_json_schema={"pattern": pattern}, min_length=length, max_length=length)


Nat = Annotated[int, Meta(ge=0, le=SAFE_INTEGER)]
Whole = Annotated[int, Meta(ge=-SAFE_INTEGER, le=SAFE_INTEGER)]
Positive = Annotated[int, Meta(ge=1, le=SAFE_INTEGER)]
Round = Annotated[int, Meta(ge=0, le=ROUND_MAX)]
Five = Annotated[int, Meta(ge=1, le=5)]
Percent = Annotated[int, Meta(ge=0, le=100)]
CheckId = Annotated[int, Meta(ge=1, le=5)]

Name = Annotated[str, Meta(max_length=200)]
Short = Annotated[str, Meta(max_length=500)]
Prose = Annotated[str, Meta(max_length=8_000)]
Long = Annotated[str, Meta(max_length=60_000)]
Hash = Annotated[str, form(HEX64_PATTERN, 64)]
Instant = Annotated[str, form(AT_PATTERN)]
Decimal = Annotated[str, form(DECIMAL_PATTERN)]
Role = Annotated[str, form(ROLE_PATTERN)]
Step = Annotated[str, form(STEP_PATTERN)]
ContextId = Annotated[str, form(CONTEXT_PATTERN)]
Id = Annotated[str, Meta(min_length=1, max_length=200)]
Ref = Annotated[str, Meta(min_length=1, max_length=500)]
Scalar = Annotated[int, Meta(ge=-SAFE_INTEGER, le=SAFE_INTEGER)] | str | bool | None

FailureMode = Literal["FM-1", "FM-2", "FM-3", "FM-4", "FM-5", "FM-6", "FM-7", "FM-8", "FM-9"]
Status = Literal[
    "pending", "tested_confirmed", "tested_refuted", "partially_refuted", "tested_unclear", "superseded"
]
Bearing = Literal["supports", "contradicts", "partly_contradicts", "inconclusive"]
Result = Literal["BROKEN", "ROBUST", "UNCLEAR", "NOT_APPLICABLE"]
Severity = Literal["error", "warning"]
EvidenceClass = Literal["measured", "reproduced", "ran", "calculated", "quoted", "argued", "conceded", "said"]
"""How a claim was tested, the strongest first. It is computed from the evidence, never taken from a seat."""
HowTested = Literal["execution", "calculation", "document", "person", "judgement"]
"""What would decide a claim."""
TestResult = Literal["holds", "fails"]
"""Result of a test that settles a claim."""
StandingStatus = Literal["nobody_answered", "ill_posed", "run_this_first", "your_call", "decided"]
"""Outcome status that forecasts and cruxes alone give (`roles/outcome_status.py` has all of them)."""
Points = dict[str, Percent]
"""Option (`O-1`, `none`) → points; they sum to 100."""


class Value(Struct, frozen=True, kw_only=True, forbid_unknown_fields=False, gc=False):
    """A frozen part of an event. It is in no cycle, so the collector need not know it."""


class Evidence(Value, frozen=True, kw_only=True):
    """Where something is said, and optionally the exact words at that place."""

    ref: Ref  # where it stands: an id, with its section behind #
    quote: Prose | None = None  # the exact words that stand there


class Section(Value, frozen=True, kw_only=True):
    """A named part of a statement; the name is its anchor."""

    name: Name  # its anchor
    text: Long  # paragraphs, parted by an empty line


class Quorum(Value, frozen=True, kw_only=True):
    """Seats that a step or run declared, and seats that really answered."""

    declared: Nat  # how many were asked
    actual: Nat  # how many answered

    @property
    def text(self) -> str:
        """Return `4 of 6 requested replies accepted`: a loss may leave later steps that nobody is asked for."""
        return f"{self.actual} of {counted(self.declared, 'requested reply')} accepted"


SeatKind = Annotated[str, Meta(max_length=32, pattern=r"^[a-z][a-z0-9_]{0,31}$(?!\n)")]
"""What answers: `anthropic`, `openai`, `command`, `human`, `host`, `tape`; a new provider may bring its own word."""
Isolation = Literal["enforced", "trusted"]
FROM_OUTSIDE: frozenset[SeatKind] = frozenset({"host", "human"})
"""Kinds of seat that the engine does not call: a host or a person answers, and pays (FORMAT 8)."""


class Context(Value, frozen=True, kw_only=True):
    """Which conversation answered: `fresh` and `continued` carry an opaque id (`c1`), an unnamed one neither."""

    mode: Literal["fresh", "continued"] | None  # fresh when the run had not seen this conversation before
    id: ContextId | None  # c1, c2, …; belongs to one role for the whole run


class Attempt(Value, frozen=True, kw_only=True):
    """One try at a reply. Token counts and latency are null when the seat does not know them."""

    n: Positive  # from 1
    brief: Hash  # blob of the manifest that was sent
    reply: Hash | None  # blob of what came back; null when nothing did
    error: Prose | None  # why the reply was refused or did not come
    stop_reason: Name | None  # what the provider says
    tokens_in: Nat | None  # all tokens sent, cached ones too
    tokens_out: Nat | None  # tokens that came back
    cost_usd: Decimal | None  # US dollars
    latency_ms: Nat | None  # milliseconds


class Call(Value, frozen=True, kw_only=True):
    """Who answered a step and at what cost; on the first event of a reply only."""

    seat: SeatKind  # the kind of seat
    provider: Name | None  # who serves the model
    model: Name | None  # the name of the model, as the seat gives it
    context: Context  # which conversation
    isolation: Isolation  # enforced: the seat got nothing but the brief
    prompt_set: Hash  # blob of the templates
    brief: Hash  # blob of the accepted attempt's manifest
    reply: Hash  # blob of the accepted reply
    attempts: tuple[Attempt, ...]  # in order, the last one is accepted
    tokens_in: Nat | None  # sum over the attempts
    tokens_cached: Nat | None  # of those, read from a prompt cache
    tokens_cache_write: Nat | None  # of those, written to a prompt cache
    tokens_out: Nat | None  # sum over the attempts
    cost_usd: Decimal | None  # US dollars, sum over the attempts
    latency_ms: Nat | None  # milliseconds, sum over the attempts
    stop_reason: Name | None  # of the accepted attempt
    simulated: Literal["recorded", "fake"] | None  # set when no live seat said it


class Envelope(Struct, frozen=True, kw_only=True, gc=False):
    """Base of all events. `prev`, `seq`, `rest`, `v` and `at` are set at the commit (`seal`)."""

    prev: Hash = GENESIS  # SHA-256 of the line before, in the order of seq
    seq: Nat = 0  # from 0, over all three streams
    rest: Nat = 0  # events of the same commit still to come
    v: Literal[3] = 3  # version of the format
    at: Instant = ""  # when it was committed, UTC; nothing is ordered by it
    kind: str = ""
    id: Id | None = None  # null for kinds that are cited as @seq
    round: Round  # 0 before the first round
    phase: Name  # open and close outside rounds
    step: Step | None = None  # null for acts outside a step
    by: Role  # a role, controller, human or import
    saw: tuple[Nat, ...] = ()  # seq of the events that the brief quotes, sorted
    call: Call | None = None  # on the first event of a reply only
    via: Nat | None = None  # on its other events: seq of the first

    @property
    def ref(self) -> str:
        """Return what cites the event: its id, or `@<seq>`."""
        return self.id or f"@{self.seq}"

    @property
    def kind_and_id(self) -> str:
        """Return its kind, with its id if it has one: `claim C-1-2`, `signals`."""
        return f"{self.kind} {self.id}" if self.id else self.kind


class Identified(Envelope, frozen=True, kw_only=True):
    """Base of the kinds that have an id."""

    # Of keyword-only fields, those with a default need not come last.
    id: Id  # pyright: ignore[reportGeneralTypeIssues]
