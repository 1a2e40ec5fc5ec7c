"""Kinds of events: one row per kind, from which every table that is keyed by kind derives (FORMAT 2, 3).

A new kind is a model beside its neighbors, a row here, a case of the fold and a clause in `ledger.state.wording`. The
type check asks for the last two. Ids are made and parsed by `ledger.events.ids`, and laws are checked by
`ledger.events.laws`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from ledger.events import answers, claims, decisions, experiments, run, verifications

Event = (
    claims.Statement
    | claims.Artifact
    | claims.Claim
    | claims.Assumption
    | claims.Argument
    | claims.Concern
    | claims.Rating
    | claims.Position
    | answers.Belief
    | verifications.Verification
    | verifications.Challenge
    | verifications.Response
    | verifications.Flip
    | verifications.DriftCheck
    | verifications.Screening
    | verifications.Validation
    | answers.Frame
    | experiments.ExperimentPlanned
    | experiments.ExperimentRun
    | experiments.ExperimentJudged
    | run.RunOpened
    | run.RoundOpened
    | decisions.Decision
    | decisions.Disposition
    | decisions.Score
    | decisions.Standing
    | decisions.Vote
    | decisions.Ruling
    | decisions.Signals
    | decisions.Alarm
    | run.Fallback
    | run.Amendment
    | run.RunClosed
    | answers.Agenda
    | answers.Memo
)
StreamName = Literal["claims", "verifications", "decisions"]

STREAMS: Final[tuple[StreamName, ...]] = ("claims", "verifications", "decisions")


class Length(Struct, frozen=True):
    """The list or string at `path` (`sections[].text`) holds at least / at most so many items or characters.

    Not asked when field `unless[0]` equals `unless[1]`; only asked when field `when[0]` equals `when[1]`. A field
    that is null has no length.
    """

    path: str
    at_least: int = 0
    at_most: int | None = None
    unless: tuple[str, str] | None = None
    when: tuple[str, str] | None = None


class Paired(Struct, frozen=True):
    """Field `field` is set if and only if `condition` holds (`other` is set, or equals `equals`)."""

    field: str
    other: str
    equals: str | None = None


class Total(Struct, frozen=True):
    """The points of the object at `path` sum to 100. No schema can say it."""

    path: str


Law = Length | Paired | Total


def filled(*paths: str) -> tuple[Length, ...]:
    """Return the laws that these lists and strings are not empty."""
    return tuple(Length(path, 1) for path in paths)


class EventKind(Struct, frozen=True, kw_only=True):
    """One kind of event. Its paths are those of `values_at`."""

    model: type[Event]
    stream: StreamName
    id: str = ""
    """Form of its ids: a letter and parts that `ids.py` knows. Empty for kinds that are cited as @seq."""
    laws: tuple[Law, ...] = ()
    """Laws that an event by `import` need not keep."""
    ids: tuple[str, ...] = ()
    """Paths of ids of earlier events."""
    refs: tuple[str, ...] = ()
    """Paths of references, `<id>#<section>`. Evidence is found by its type."""
    seqs: tuple[str, ...] = ()
    """Paths of the seq of earlier events."""
    by_controller: bool = False
    """The controller writes it, in every protocol."""
    cited_as: str = ""
    """What the cite of a decision calls it, where that is not the kind's name."""

    @property
    def letter(self) -> str:
        """Return what its ids begin with; empty for kinds without ids."""
        return self.id.partition("-")[0]

    @property
    def is_counted(self) -> bool:
        """Return whether its ids count the events of a round: C-3-1, C-3-2."""
        return self.id.endswith("{round}-{n}")


KINDS: Final[Mapping[str, EventKind]] = {
    "statement": EventKind(
        model=claims.Statement,
        stream="claims",
        id="S-{round}-{phase}{act}-{role}{repeat}",
        laws=filled("sections", "sections[].text", "sections[].name"),
        ids=("responds_to[]",),
    ),
    "artifact": EventKind(
        model=claims.Artifact,
        stream="claims",
        id="A-{round}-{role}{repeat}",
        laws=(
            Length("proposed_claims", 0, 4),
            Length("proposed_claims", 1, when=("type", "adversarial_test_case")),
            *filled("proposed_claims[].text", "proposed_claims[].testable_as", "findings[].text"),
        ),
        refs=("cites[]",),
    ),
    "claim": EventKind(
        model=claims.Claim,
        stream="claims",
        id="C-{round}-{n}",
        laws=filled("text", "testable_as"),
        refs=("raised_at_artifact", "places[]"),
    ),
    "assumption": EventKind(
        model=claims.Assumption, stream="claims", id="Q-{round}-{n}", laws=filled("text")
    ),
    "argument": EventKind(
        model=claims.Argument,
        stream="claims",
        id="R-{round}-{n}",
        laws=(Length("claim", 10), Length("reasoning", 20), Length("evidence", 5), Length("label", 1)),
    ),
    "concern": EventKind(
        model=claims.Concern,
        stream="claims",
        id="N-{round}-{n}",
        laws=(Length("text", 1), Length("between", 2, when=("type", "tension"))),
    ),
    "rating": EventKind(model=claims.Rating, stream="claims", laws=filled("reason"), ids=("of",)),
    "position": EventKind(
        model=claims.Position, stream="claims", id="P-{round}-{n}-{role}{repeat}", laws=filled("reason")
    ),
    "belief": EventKind(
        model=answers.Belief,
        stream="claims",
        id="B-{round}-{role}{repeat}",
        laws=(Total("points"), Total("given[].if_true"), Total("given[].if_false")),
    ),
    "verification": EventKind(
        model=verifications.Verification,
        stream="verifications",
        id="V-{round}-{n}",
        laws=(
            Length("evidence_refs", 1, unless=("result", "NOT_APPLICABLE")),
            *filled("notes", "claim_status_changes[].evidence"),
        ),
        ids=("repeats",),
    ),
    "challenge": EventKind(
        model=verifications.Challenge,
        stream="verifications",
        id="X-{round}-{n}",
        laws=filled("claim", "text"),
        refs=("target",),
    ),
    "response": EventKind(
        model=verifications.Response,
        stream="verifications",
        id="Y-{round}-{n}",
        laws=(Length("text", 1), Length("evidence", 1, when=("outcome", "defend"))),
        ids=("to",),
        refs=("revised",),
    ),
    "flip": EventKind(model=verifications.Flip, stream="verifications", id="F-{round}-{n}-{role}{repeat}"),
    "drift_check": EventKind(
        model=verifications.DriftCheck,
        stream="verifications",
        id="H-{round}{repeat}",
        laws=filled("notes"),
        ids=("addresses",),
        refs=("sentences[].of",),
    ),
    "screening": EventKind(
        model=verifications.Screening, stream="verifications", by_controller=True, cited_as="verification"
    ),
    "validation": EventKind(
        model=verifications.Validation,
        stream="verifications",
        laws=(Length("findings", 0, 100),),
        seqs=("through",),
        by_controller=True,
        cited_as="verification",
    ),
    "frame": EventKind(
        model=answers.Frame, stream="verifications", laws=(Length("two_readings[].readings", 2),)
    ),
    "experiment_planned": EventKind(
        model=experiments.ExperimentPlanned,
        stream="verifications",
        id="E-{round}-{n}",
        laws=filled("claims", "question", "files", "argv", "pass_if", "fail_if"),
        ids=("claims[]",),
        cited_as="experiment",
    ),
    "experiment_run": EventKind(
        model=experiments.ExperimentRun, stream="verifications", ids=("of",), by_controller=True
    ),
    "experiment_judged": EventKind(
        model=experiments.ExperimentJudged, stream="verifications", ids=("of",), by_controller=True
    ),
    "run_opened": EventKind(
        model=run.RunOpened,
        stream="decisions",
        laws=filled("question", "goals", "goals[].text"),
        by_controller=True,
    ),
    "round_opened": EventKind(
        model=run.RoundOpened,
        stream="decisions",
        laws=(Length("focus", 1), Paired("predicted_signature", "absent")),
        seqs=("cause",),
        by_controller=True,
    ),
    "decision": EventKind(
        model=decisions.Decision,
        stream="decisions",
        id="D-{round}-{n}",
        laws=(*filled("text", "cites"), Length("narratives", 0, 3)),
        refs=("round_artifact_refs[]", "claims[]"),
    ),
    "disposition": EventKind(
        model=decisions.Disposition,
        stream="decisions",
        laws=(Length("reason", 1), Paired("question", "disposition", "escalated")),
        ids=("of",),
    ),
    "score": EventKind(model=decisions.Score, stream="decisions", ids=("of", "order[]"), by_controller=True),
    "standing": EventKind(model=decisions.Standing, stream="decisions", laws=filled("reason"), ids=("of",)),
    "vote": EventKind(
        model=decisions.Vote, stream="decisions", id="VO-{round}-{n}-{role}", laws=filled("reasoning")
    ),
    "ruling": EventKind(
        model=decisions.Ruling, stream="decisions", seqs=("votes[]",), by_controller=True, cited_as="decision"
    ),
    "signals": EventKind(model=decisions.Signals, stream="decisions", seqs=("through",), by_controller=True),
    "alarm": EventKind(model=decisions.Alarm, stream="decisions", seqs=("closes",), by_controller=True),
    "fallback": EventKind(model=run.Fallback, stream="decisions", laws=filled("detail"), by_controller=True),
    "amendment": EventKind(
        model=run.Amendment, stream="decisions", laws=filled("reason"), seqs=("cause",), by_controller=True
    ),
    "run_closed": EventKind(
        model=run.RunClosed,
        stream="decisions",
        ids=("outcome[]", "open[]"),
        seqs=("through",),
        by_controller=True,
    ),
    "agenda": EventKind(
        model=answers.Agenda,
        stream="decisions",
        laws=(Length("cruxes", 0, 8), *filled("options[].text", "dropped[].why")),
        refs=("merged[].from_[]", "dropped[].from_"),
    ),
    "memo": EventKind(
        model=answers.Memo,
        stream="decisions",
        id="M-{round}{repeat}",
        laws=filled("sentences[].text"),
        refs=("sentences[].refs[]",),
    ),
}


def values_at(value: Any, path: str) -> Iterator[Any]:
    """Yield the values at a path, such as `stop.params`, `merged[].from_[]` or `pool{}`; null ends it.

    `[]` stands for each entry of a list and `{}` for each value of an object.
    """
    step, _, rest = path.partition(".")
    part = getattr(value, step.rstrip("[]{}"))
    entries = (
        ()
        if part is None
        else part.values()
        if step.endswith("{}")
        else part
        if step.endswith("[]")
        else (part,)
    )
    for entry in entries:
        if rest:
            yield from values_at(entry, rest)
        elif entry is not None:
            yield entry


def stream_of(event: Event) -> StreamName:
    """Return the stream that holds `event`."""
    return KINDS[event.kind].stream
