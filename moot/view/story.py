"""The story of a run: what every view shows, as values; one pure fold from a book, the same for terminal, page and web.

Texts are as the ledger has them; a view passes them through `visible` or its own escaping.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledger.events import Alarm, Amendment, DriftCheck, Fallback, RunClosed, Signals
from ledger.events.conditions import Conditions
from ledger.events.decisions import ContextDocument, Labelled, PlanRow, Prediction, StopRule
from ledger.events.values import Quorum, Result, Status
from ledger.state.lifecycle import HistoryEntry
from ledger.state.state import Spend
from moot.view.labels import Label


@dataclass(frozen=True, slots=True)
class Filling:
    """What answered for a role, and how often. `contexts` are conversations it named; `unnamed` replies name none."""

    seat: str
    provider: str | None
    model: str | None
    isolation: str
    simulated: str | None
    calls: int
    repairs: int
    contexts: int
    unnamed: int
    continued: int
    tokens_in: int
    tokens_out: int
    micro_usd: int
    unpriced: int
    latency_ms: int


@dataclass(frozen=True, slots=True)
class Seat:
    """A role of the cast: who it is, what the opening said would fill it, what really did."""

    role: str
    title: str
    charge: str
    declared: str
    fillings: tuple[Filling, ...]
    lost: int


@dataclass(frozen=True, slots=True)
class Quote:
    """Evidence: where it stands, the words, who wrote them. `holds`: they stand there; None: nobody can look."""

    ref: str
    words: str | None
    by: str | None
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Ground:
    """One thing that a decision rests on, with what that rests on in turn, down to quotes.

    A verdict under a claim has the `quotes` that are that claim's; `pooled` are those that were given for `pool` claims
    together, which nobody can tell apart.
    """

    id: str
    kind: str
    relation: str
    by: str
    text: str
    standing: str
    quotes: tuple[Quote, ...]
    under: tuple[Ground, ...]
    pooled: tuple[Quote, ...] = ()
    pool: int = 0

    @property
    def pooled_told(self) -> str:
        """What the pooled quotes are, in words; empty where there are none."""
        also = "also " if self.quotes else ""
        return f"{also}the verdict's evidence, given for {self.pool} claims together" if self.pooled else ""

    @property
    def foremost(self) -> Foremost:
        """The first quote that stands where it says, of this thing or of a test of it, never of what it builds on."""
        tests = () if self.kind == "decision" else self.under
        for ground in (self, *tests):
            for quote in ground.quotes:
                if quote.words and quote.holds is not False:
                    return Foremost(quote, ground.id if ground.kind == "verification" else None, "")
        pooled = next((one for one in (self, *tests) if one.pooled), None)
        return Foremost(None, None, f"{pooled.pooled_told}: see {pooled.id}" if pooled else "")


@dataclass(frozen=True, slots=True)
class Foremost:
    """The one quote to show for a ground, and the verification that quotes it; else where its evidence stands."""

    quote: Quote | None
    test: str | None
    elsewhere: str


@dataclass(frozen=True, slots=True)
class OtherVerdict:
    """A role that had expected another verdict than one that a decision cites, by its last sealed stance.

    It says nothing about the decision: its author may be among them.
    """

    role: str
    ref: str
    on: str
    stance: str
    reason: str


@dataclass(frozen=True, slots=True)
class DecisionTold:
    """A decision; `fallen` is what it rests on and no longer stands, which puts it AT RISK.

    `in_place_of` is the decision that it overrides, the first of a chain; `standing` says how it stands, in words;
    `ends` are decisions and rulings that it overturns or supersedes, which it does not rest on.
    """

    id: str
    seq: int
    round: int
    type: str
    made_by: str
    text: str
    confidence: int | None
    conditions: Conditions
    in_place_of: str | None
    overturned_by: str | None
    fallen: tuple[str, ...]
    standing: str
    ends: tuple[str, ...]
    rests_on: tuple[Ground, ...]
    had_expected: tuple[OtherVerdict, ...]

    @property
    def in_force(self) -> bool:
        """No later decision ended it."""
        return self.overturned_by is None

    @property
    def facts(self) -> tuple[str, ...]:
        """What it is, in a few words each: its type, what it ends, its round, who made it, how sure."""
        place = f"{self.type} in place of {self.in_place_of}" if self.in_place_of else self.type
        ended = (f"ends {', '.join(self.ends)}",) if self.ends and not self.in_place_of else ()
        sure = () if self.confidence is None else (f"confidence {self.confidence} of 5",)
        return place, *ended, f"round {self.round}", f"by {self.made_by.replace('_', ' ')}", *sure


@dataclass(frozen=True, slots=True)
class ClaimTold:
    """A claim with its lifecycle."""

    id: str
    seq: int
    round: int
    raised_by: str
    text: str
    testable_as: str
    status: Status
    history: tuple[HistoryEntry, ...]
    anchor: str | None
    supersedes: str | None
    source: str | None


@dataclass(frozen=True, slots=True)
class Stance:
    """A sealed position on a check, and what became of it. `flipped_to` is None while it stands."""

    role: str
    check_id: int | None
    stance: str
    confidence: int | None
    reason: str
    flipped_to: str | None
    because: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class Moved:
    """A claim that a check tested; `bearing` is None when it was tested without a change."""

    claim: str
    from_: str | None
    to: str | None
    bearing: str | None


@dataclass(frozen=True, slots=True)
class CheckTold:
    """A verification. `stances` are the positions sealed before it, in role order; `repeats`: what it judges again."""

    id: str
    seq: int
    round: int
    check: str
    check_id: int
    result: Result
    by: str
    notes: str
    moved: tuple[Moved, ...]
    quotes: tuple[Quote, ...]
    stances: tuple[Stance, ...]
    repeats: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """Something that a role wrote in a round: a statement, an artifact, a set of sealed positions."""

    role: str
    phase: str
    kind: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class ConcernTold:
    """A concern, a tension or a question. `resolved_by` names the event that closed it."""

    id: str
    round: int
    type: str
    by: str
    between: tuple[str, ...]
    severity: int | None
    for_human: bool
    text: str
    resolved_by: str | None


@dataclass(frozen=True, slots=True)
class Observation:
    """A predicted effect of an absence beside what was seen; `agrees` is None when the ledger cannot say."""

    code: str
    predicted: str
    observed: str
    agrees: bool | None


@dataclass(frozen=True, slots=True)
class RoundTold:
    """One round. `phase` is the last one that has an event, `planned` the phases of its plan row."""

    n: int
    lead: str | None
    absent: str | None
    focus: str
    planned: tuple[str, ...]
    phase: str
    applicable: tuple[int, ...]
    made: tuple[Made, ...]
    sealed: tuple[Stance, ...]
    checks: tuple[CheckTold, ...]
    claims: tuple[ClaimTold, ...]
    decisions: tuple[DecisionTold, ...]
    concerns: tuple[ConcernTold, ...]
    drift: DriftCheck | None
    look: Signals | None
    alarms: tuple[Alarm, ...]
    amendments: tuple[Amendment, ...]
    fallbacks: tuple[Fallback, ...]
    findings: tuple[int, int] | None
    signature: tuple[Observation, ...]

    @property
    def cross_checks(self) -> Mapping[int, CheckTold]:
        """The round's own checks, 1 to 4: no second judgement, and nothing that the closing settled."""
        return {
            check.check_id: check for check in self.checks if check.check_id <= 4 and check.repeats is None
        }

    @property
    def applied(self) -> int:
        """Checks that applied."""
        return sum(check.result != "NOT_APPLICABLE" for check in self.cross_checks.values())

    @property
    def disagreement(self) -> int:
        """Of those, checks that came out BROKEN or UNCLEAR (SD-63)."""
        return sum(check.result in ("BROKEN", "UNCLEAR") for check in self.cross_checks.values())


@dataclass(frozen=True, slots=True)
class Review:
    """A role's retrospective: its summary, and what it says of each failure mode: (seen, why)."""

    role: str
    summary: str
    modes: Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Story:
    """A run as it is told. Everything is in the order in which the deliberation has it.

    `outcome` is what the run comes to: its final decisions in force, an override in the place of what it overturned;
    while none `is_final`, the others in force.
    """

    question: str
    domain: str | None
    protocol: str
    origin: str
    goals: tuple[Labelled, ...]
    options: tuple[Labelled, ...]
    context: tuple[ContextDocument, ...]
    plan: tuple[PlanRow, ...]
    predict: tuple[Prediction, ...]
    stop: StopRule | None
    moot: str
    labels: tuple[Label, ...]
    seats: tuple[Seat, ...]
    rounds: tuple[RoundTold, ...]
    claims: tuple[ClaimTold, ...]
    decisions: tuple[DecisionTold, ...]
    outcome: tuple[DecisionTold, ...]
    is_final: bool
    concerns: tuple[ConcernTold, ...]
    reviews: tuple[Review, ...]
    notes: tuple[Amendment, ...]
    closing: RunClosed | None
    spend: Spend
    quorum: Quorum
    began: str
    last: str

    @property
    def final(self) -> tuple[DecisionTold, ...]:
        """The final decisions in force."""
        return self.outcome if self.is_final else ()

    @property
    def other_decisions(self) -> tuple[DecisionTold, ...]:
        """The decisions that are not the outcome: on the way, overturned, a person's answers."""
        shown = {decision.seq for decision in self.outcome}
        return tuple(decision for decision in self.decisions if decision.seq not in shown)
