"""What a question is answered by: frame, beliefs, agenda and memo (FORMAT 2, in all three streams)."""

from typing import Annotated, Literal

from msgspec import Meta

from ledger.events.envelope import Envelope
from ledger.events.run import Labelled
from ledger.events.values import (
    Evidence,
    Id,
    Name,
    Percent,
    Points,
    Prose,
    Ref,
    Role,
    Value,
)

OutcomeStatus = Literal[
    "decide",
    "decide_with_tripwire",
    "run_this_first",
    "your_weighing",
    "ill_posed",
    "stopped",
    "running",
    "waiting",
    "nobody_answered",
]
"""What an answer asks of the person who reads it; computed, never written by a seat."""


class ConditionalBelief(Value, frozen=True, kw_only=True):
    """What a role says of one crux before its test: how sure it is, and what it would believe either way."""

    claim: Id
    q: Annotated[int, Meta(ge=1, le=99)]
    if_true: Points
    if_false: Points
    predicts: Literal["holds", "fails"] | None = None
    fair: bool | None = None
    fair_why: Prose | None = None


class Belief(Envelope, frozen=True, kw_only=True):
    """Points of one role over the options, given sealed, or derived from its own conditionals after a result."""

    kind: Literal["belief"] = "belief"
    role: Role
    points: Points
    derived: bool
    because: tuple[Evidence, ...] = ()
    given: tuple[ConditionalBelief, ...] = ()
    unexplained: bool | None = None
    share_found: Percent | None = None


class WordReadings(Value, frozen=True, kw_only=True):
    """A word of the question that can be read in more than one way."""

    word: Name
    readings: tuple[Prose, ...]


class Frame(Envelope, frozen=True, kw_only=True):
    """What the verifier says of the question itself, before anybody answers it."""

    kind: Literal["frame"] = "frame"
    ill_posed: bool
    why: Prose | None = None
    missing: tuple[Prose, ...] = ()
    double: tuple[tuple[Id, ...], ...] = ()
    two_readings: tuple[WordReadings, ...] = ()
    runnable: tuple[Prose, ...] = ()


class MergedProposals(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Proposals or defeaters that say the same, and the claim or concern that they became."""

    into: Id
    from_: tuple[Ref, ...]
    negated: bool


class DroppedProposal(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A proposal or defeater that was left out, and why."""

    from_: Ref
    why: Prose


class MemoSentence(Value, frozen=True, kw_only=True):
    """One sentence of a memo: where it stands, what it rests on."""

    field: Literal["answer", "do_now", "why", "changes_our_mind", "requirements", "not_settled", "assumed"]
    text: Prose
    refs: tuple[Ref, ...] = ()
    quote: Prose | None = None
    judgment: bool = False


class RemovedSentence(Value, frozen=True, kw_only=True):
    """A sentence that was taken out of a memo, and why."""

    text: Prose
    why: Prose


class Agenda(Envelope, frozen=True, kw_only=True):
    """What the answers come to: options where none were given, what all share, and the claims worth testing."""

    kind: Literal["agenda"] = "agenda"
    options: tuple[Labelled, ...] = ()
    shared: tuple[Prose, ...] = ()
    cruxes: tuple[Id, ...] = ()
    merged: tuple[MergedProposals, ...] = ()
    dropped: tuple[DroppedProposal, ...] = ()


class Memo(Envelope, frozen=True, kw_only=True):
    """The answer in plain words for people, sentence by sentence, each with what it rests on."""

    kind: Literal["memo"] = "memo"
    status: OutcomeStatus
    sentences: tuple[MemoSentence, ...]
    removed: tuple[RemovedSentence, ...] = ()
