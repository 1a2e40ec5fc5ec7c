"""What a question is answered by: frame, beliefs, agenda and memo (FORMAT 2, in all three streams)."""

from typing import Annotated, Literal

from msgspec import Meta

from ledger.events.envelope import (
    Envelope,
    Evidence,
    HowTested,
    Id,
    Identified,
    Name,
    Points,
    Prose,
    Ref,
    Role,
    Value,
)
from ledger.events.run import Labelled


class ConditionalBelief(Value, frozen=True, kw_only=True):
    """Numbers of a role about one crux, given before its test: its probability, and the forecast either way."""

    claim: Id  # crux-k where the role proposes it, a claim later
    q: Annotated[int, Meta(ge=1, le=99)]  # points that it is true, 1 to 99
    if_true: Points  # points over the options if it is
    if_false: Points  # points over the options if it is not
    how: HowTested | None = None  # what would settle it, where the role proposes it


class Belief(Identified, frozen=True, kw_only=True):
    """Forecast of one role over the options: sealed, or computed from its own sealed numbers after a result."""

    kind: Literal["belief"] = "belief"
    role: Role  # whose forecast
    points: Points  # over the options and none
    derived: bool  # computed from the role's sealed numbers by the controller
    because: tuple[Evidence, ...] = ()  # what moved it
    given: tuple[ConditionalBelief, ...] = ()  # crux by crux


class WordReadings(Value, frozen=True, kw_only=True):
    """A word of the question that can be read in more than one way."""

    word: Name  # as it stands in the question
    readings: tuple[Prose, ...]  # two or more


class Frame(Envelope, frozen=True, kw_only=True):
    """What the verifier says of the question itself, before anybody answers it."""

    kind: Literal["frame"] = "frame"
    ill_posed: bool  # whether the question has no answer as it stands
    why: Prose | None = None  # what is wrong with it
    missing: tuple[Prose, ...] = ()  # options that nobody named
    double: tuple[tuple[Id, ...], ...] = ()  # options that are the same, in groups
    two_readings: tuple[WordReadings, ...] = ()  # words that are not clear
    runnable: tuple[Prose, ...] = ()  # what could be tested by running here


class MergedProposals(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """Proposals or defeaters that say the same, and the claim or concern that they became."""

    into: Id  # the claim or concern that they became
    from_: tuple[Ref, ...]  # proposals or defeaters
    negated: bool  # the claim says the opposite of the proposals


class DroppedProposal(Value, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A proposal or defeater that was left out, and why."""

    from_: Ref  # proposal or defeater
    why: Prose  # why it is left out


class MemoSentence(Value, frozen=True, kw_only=True):
    """One sentence of a memo: where it stands, what it rests on."""

    # where in the answer it stands
    field: Literal["answer", "do_now", "why", "changes_our_mind", "requirements", "not_settled", "assumed"]
    text: Prose  # one sentence, no ids
    refs: tuple[Ref, ...] = ()  # what it rests on
    quote: Prose | None = None  # exact words of the first ref
    judgment: bool = False  # it rests on judgement alone


class RemovedSentence(Value, frozen=True, kw_only=True):
    """A sentence that was taken out of a memo, and why."""

    text: Prose  # as it stood
    why: Prose  # why it was taken out


class Agenda(Envelope, frozen=True, kw_only=True):
    """Agenda from the answers: options if the question names none, their common ground, claims worth testing."""

    kind: Literal["agenda"] = "agenda"
    options: tuple[Labelled, ...] = ()  # made where the opening has none
    shared: tuple[Prose, ...] = ()  # points that all answers share
    cruxes: tuple[Id, ...] = ()  # claims worth testing
    merged: tuple[MergedProposals, ...] = ()  # what became of the proposals
    dropped: tuple[DroppedProposal, ...] = ()  # what was left out


class Memo(Identified, frozen=True, kw_only=True):
    """The answer in plain words for people, sentence by sentence, each with what it rests on."""

    kind: Literal["memo"] = "memo"
    answers: Id | None = None  # the option that it answers with, or none
    why_not_leader: Prose | None = None  # why that is not the option with the highest group forecast
    sentences: tuple[MemoSentence, ...]  # in order; the k-th is cited as #sk
    removed: tuple[RemovedSentence, ...] = ()  # taken out by the sentence check
