"""State after reading the ledger so far. Facts only, no texts, so that a million events fit in memory.

Only `ledger.state.fold` creates and changes a State. Everything else reads it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

from ledger.events.answers import Agenda, ConditionalBelief, Frame, Memo
from ledger.events.claims import Stance
from ledger.events.decisions import Alarm, Cite, Signals
from ledger.events.envelope import HowTested, Points, Quorum, Result, Scalar, Status
from ledger.events.run import (
    Amendment,
    Budgets,
    CloseReason,
    Labelled,
    RoundOpened,
    RunClosed,
    RunOpened,
)
from ledger.state.amendments import Life
from ledger.state.faults import Faults
from ledger.state.lifecycle import HistoryEntry, Move, WeighedStatus, history, standing_after, status_after

Rank = Literal["final", "round", "answer", "gate", "hold"]
"""What a decision decides. An override decides what it overturns: a decision, or what held the run up (`hold`)."""


class ClaimFacts(msgspec.Struct):
    """Claim without its text. `moves` are in order of reading; `status` and `history` order them."""

    round: int
    raised_by: str
    seq: int
    anchored: bool
    vague: bool = False
    """The test names no outcome (by text)."""
    how: HowTested | None = None
    about: tuple[str, ...] = ()
    """The options that it is about."""
    moves: list[Move] = msgspec.field(default_factory=list[Move])
    standing: WeighedStatus = WeighedStatus()

    @property
    def status(self) -> Status:
        """Return the current status."""
        return self.standing.status

    @property
    def history(self) -> list[HistoryEntry]:
        """Return the lifecycle with the status that each move really started from."""
        return history(self.moves)

    def status_before(self, seq: int) -> Status:
        """Return the status as it was known just before event `seq`."""
        return status_after([move for move in self.moves if move.seq < seq])

    def add(self, move: Move) -> None:
        """Add a move and recompute the status (fold only)."""
        # Moves mostly arrive in order. Only one that belongs before another needs the whole history computed
        # again.
        comes_last = not self.moves or move > max(self.moves)
        self.moves.append(move)
        self.standing = self.standing.after(move) if comes_last else standing_after(self.moves)


class CheckFacts(NamedTuple):
    """A verification without its text. `moved` counts the status changes it states."""

    round: int
    phase: str
    check_id: int
    result: Result
    refs: tuple[str, ...]
    moved: int
    by: str
    seq: int
    repeats: str | None
    about: tuple[str, ...] = ()


class DecisionFacts(msgspec.Struct):
    """A decision without its text; what follows from these facts is in `ledger.state.decided`.

    `overturned_by` is the later decision that ended it, by overturning it (`is_overturned`) or by superseding it;
    `replaces` are the decisions that it ended itself.
    """

    round: int
    type: str
    cites: tuple[Cite, ...]
    anchored: bool
    seq: int
    rank: Rank
    replaces: tuple[str, ...] = ()
    overturned_by: str | None = None
    is_overturned: bool = False
    about: tuple[str, ...] = ()
    by_rule: bool = False
    asks_for_run: bool = False
    """It waits for something to be run (by text)."""
    result: str | None = None
    """Result of a test that a person made, about `claims`."""
    claims: tuple[str, ...] = ()
    required_by: tuple[str, ...] = ()
    """What can meet its requirements: run, person or world; none where the requirements do not say."""


class RulingFacts(msgspec.Struct):
    """Ruling; `decision` words it, and an override of either ends both."""

    round: int
    decision: str | None = None
    overturned_by: str | None = None


class PositionFacts(NamedTuple):
    """A sealed position."""

    round: int
    on: str
    check_id: int | None
    role: str
    stance: Stance
    seq: int


class FlipFacts(NamedTuple):
    """A changed position; `because` are the refs it gives."""

    of: str
    round: int
    role: str
    to: Stance
    because: tuple[str, ...]
    seq: int


class BeliefFacts(NamedTuple):
    """Forecast of a role. `n` of its id: 1 given with the answer, 3 with the numbers on cruxes, above 3 computed."""

    id: str
    round: int
    role: str
    n: int
    points: Points
    derived: bool
    seq: int
    given: tuple[ConditionalBelief, ...] = ()
    refs: tuple[str, ...] = ()
    """What it cites."""


VALIDATE: Final = "validate"
"""Key of `run_opened.rules`: after what the rules are asked; without it after each round."""
EACH_PHASE: Final = "phase"
"""Its value where they are asked after each phase, and an error holds the run up."""
POSITIONS: Final = "positions"
"""Key of `run_opened.rules`: what every role seals before the checks of a round."""
ANSWERS: Final = "beliefs"
"""Its value where that is what the role would answer now."""
STANDS: Final = "stands"
"""Key of such a belief where the question names no options: the answer of the last decisions."""
OWN: Final = "own"
"""Key of a belief: the role's answer in its own words. Two such answers never count as the same option."""
NEITHER: Final = "none"
"""Key of a belief: another answer than those that are named."""
EXPERIMENTS: Final = "experiments"
"""Key of `run_opened.rules`: the person's word for running programs."""
INTERPRETER: Final = "interpreter"
"""Key of `run_opened.rules`: what runs the programs, in words, for the authors of programs."""
EXPERIMENTS_PATH: Final = f"rules.{EXPERIMENTS}"
WAIT: Final = "wait"
"""The rule in `run_opened.rules` by which a run waits for questions that its protocol needs an answer to."""
WAIT_PATH: Final = f"rules.{WAIT}"
"""Path of the change by which a person gives or takes back that word later."""
VERIFIER: Final = "verifier"
"""The neutral role of protocols that have one: it tests, and authors no claim."""
AGENDA_STEP: Final = f"r1.C.{VERIFIER}"
"""Step of `crux` that merges the answers and lists the tests."""
Experiments = Literal["on", "ask", "off"]
"""Whether programs of this run are run: always in a sandbox; `ask` asks a person when the first one is ready."""


class ExperimentFacts(msgspec.Struct):
    """A planned experiment, its repetitions and what it was last judged to be."""

    round: int
    claims: tuple[str, ...]
    by: str
    seq: int
    awaited: bool = False
    """A seat brought it while programs were allowed, and they were ever since: steps wait for what comes out."""
    runs: dict[tuple[str, int], int] = msgspec.field(default_factory=dict[tuple[str, int], int])
    """(control or empty, n) → seq of the `experiment_run`."""
    judged: int = 0
    """How often it was judged."""
    judged_at: int = -1
    """Seq of the last judgement, -1 before the first."""
    verdict: str | None = None
    class_: Literal["ran", "reproduced"] | None = None
    unreadable: tuple[str, ...] = ()
    """Predicates that could not be read in some run."""


class ConcernFacts(NamedTuple):
    """A concern, tension or question without its text."""

    round: int
    type: str
    by: str
    between: tuple[str, ...]
    for_human: bool
    seq: int
    phase: str
    severity: int | None
    deciding: str | None = None
    """The option that the answer to this question would change, as the lead marked it."""
    matter: frozenset[str] = frozenset()
    """The words that a question to a person is about, to recognize it when it is asked again (by text)."""


class DriftFacts(NamedTuple):
    """A drift check without its notes."""

    id: str
    verdict: str
    deviation_score: int
    addresses: str | None
    seq: int
    neglected: tuple[str, ...] = ()
    """Goals that the decisions do not serve."""


class Spend(msgspec.Struct):
    """Cost of the calls so far. `unpriced` counts calls whose cost is unknown; tokens leave unknown ones out."""

    calls: int = 0
    engine_calls: int = 0
    """Those that the engine made; what a host or a person answers uses up no budget of calls."""
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    micro_usd: int = 0
    unpriced: int = 0

    @property
    def usd(self) -> str | None:
        """Return dollars, six digits, of the calls with a known cost; None where calls were made and none has one."""
        return None if self.calls and self.unpriced >= self.calls else f"{self.micro_usd / 1_000_000:.6f}"


class State(msgspec.Struct):
    """State after event `seq` (−1: nothing read)."""

    seq: int = -1
    round: int = 0
    phase: str = "open"
    opened: RunOpened | None = None
    """None until the run is opened, and for a ledger that is not a run; callers that know it is one use `opening`."""
    rounds: dict[int, RoundOpened] = msgspec.field(default_factory=dict[int, RoundOpened])
    rounds_opened: list[RoundOpened] = msgspec.field(default_factory=list[RoundOpened])
    """Every opening of a round, in order of reading: an import may open one twice, and `rounds` has the last."""
    claims: dict[str, ClaimFacts] = msgspec.field(default_factory=dict[str, ClaimFacts])
    checks: dict[str, CheckFacts] = msgspec.field(default_factory=dict[str, CheckFacts])
    decisions: dict[str, DecisionFacts] = msgspec.field(default_factory=dict[str, DecisionFacts])
    rulings: dict[str, RulingFacts] = msgspec.field(default_factory=dict[str, RulingFacts])
    """`@seq` of a ruling → what became of it."""
    positions: dict[str, PositionFacts] = msgspec.field(default_factory=dict[str, PositionFacts])
    flips: dict[str, FlipFacts] = msgspec.field(default_factory=dict[str, FlipFacts])
    concerns: dict[str, ConcernFacts] = msgspec.field(default_factory=dict[str, ConcernFacts])
    beliefs: dict[str, BeliefFacts] = msgspec.field(default_factory=dict[str, BeliefFacts])
    experiments: dict[str, ExperimentFacts] = msgspec.field(default_factory=dict[str, ExperimentFacts])
    frame: Frame | None = None
    agenda: Agenda | None = None
    memo: Memo | None = None
    """The last one that was written."""
    memos: dict[str, Memo] = msgspec.field(default_factory=dict[str, Memo])
    """All of them, by id."""
    sentences: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Sentence of a memo, `M-2#s1` → whether what it cites supports it."""
    drift: dict[int, DriftFacts] = msgspec.field(default_factory=dict[int, DriftFacts])
    resolved: set[str] = msgspec.field(default_factory=set[str])
    """Ids of concerns and challenges that a disposition or a decision (`resolves`) closed."""
    answered: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Step id → seq of the event that carries its call."""
    given_up: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Step id → seq of its fallback."""
    artifacts: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Artifact id → seq."""
    contexts: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """Context id → the role it serves."""
    validated: dict[int, list[str]] = msgspec.field(default_factory=dict[int, list[str]])
    """Round → phases followed by a validation that ends the round, or its synthesis."""
    checked: dict[int, list[str]] = msgspec.field(default_factory=dict[int, list[str]])
    """Round → phases in its middle that are followed by a validation (`rules.validate` is `phase`)."""
    faulty: int | None = None
    """Seq of the last validation, where it found a new error in a run that is held up by one."""
    faults: Faults = msgspec.field(default_factory=Faults)
    looks: list[Signals] = msgspec.field(default_factory=list[Signals])
    alarms: list[Alarm] = msgspec.field(default_factory=list[Alarm])
    amendments: list[Amendment] = msgspec.field(default_factory=list[Amendment])
    closing: RunClosed | None = None
    """What holds the run now: its finish, or a stop that it has not gone on from (`ledger.state.amendments`)."""
    screened: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """`@seq` of a screening → its action; OVERRIDDEN when a person has overridden it."""
    spend: Spend = msgspec.field(default_factory=Spend)

    @property
    def opening(self) -> RunOpened:
        """Return the opening in force, which every run begins with."""
        assert self.opened is not None, "a run begins with its opening"
        return self.opened

    @property
    def is_import(self) -> bool:
        """Return whether another system wrote the run."""
        return self.opening.origin.type == "import"

    @property
    def finished(self) -> bool:
        """Return whether the run has reached its end (a stopped run can go on)."""
        return self.life == "finished"

    @property
    def stopped_by(self) -> CloseReason | None:
        """Return why the run was stopped, while it has not gone on since; else None."""
        return self.closing.reason if self.closing is not None and self.life == "stopped" else None

    @property
    def life(self) -> Life:
        """Return whether the run goes on, was stopped and can go on, or has reached its end."""
        return "running" if self.closing is None else self.closing.state

    @property
    def roles(self) -> tuple[str, ...]:
        """Return the roles of the cast, in protocol order."""
        return tuple(member.role for member in self.opened.cast) if self.opened else ()

    @property
    def limits(self) -> Budgets:
        """Return the opening's budgets with every later amendment applied."""
        later = {
            change.path.removeprefix("budgets."): change.to
            for amendment in self.amendments
            if amendment.what == "budget"
            for change in amendment.change
        }
        return msgspec.structs.replace(self.opening.budgets, **later)

    @property
    def options(self) -> tuple[Labelled, ...]:
        """Return the options of the question; those of the agenda where the opening lists none."""
        return (self.opened and self.opened.options) or (self.agenda.options if self.agenda else ())

    def beliefs_at(self, round_: int) -> dict[str, BeliefFacts]:
        """Return role → its latest belief at the end of a round, in the order of the cast."""
        latest: dict[str, BeliefFacts] = {}
        for facts in self.beliefs.values():
            before = latest.get(facts.role)
            if facts.round > round_:
                continue
            if before is None or (facts.round, facts.n) > (before.round, before.n):
                latest[facts.role] = facts
        return {role: latest[role] for role in self.roles if role in latest}

    def experiments_at(self, seq: int) -> Experiments:
        """Return whether programs are run, by what was set up to event `seq`; a fork or a copy needs consent again."""
        if self.opened is None:
            return "off"
        # Consent is given for one run. A fork, an import or a redacted copy must not bring it along.
        own = self.opened.rules.get(EXPERIMENTS) if self.opened.origin.type in ("new", "converted") else None
        # A fork's opening overrides consent that was given before it.
        later = self._words_of_people(EXPERIMENTS_PATH, self.opened.seq + 1, seq)
        word = (own, *later)[-1]
        return "on" if word == "on" else "ask" if word == "ask" else "off"

    @property
    def runs_programs(self) -> bool:
        """Return whether a person allowed programs of this run's replies to run, in a sandbox only."""
        return self.experiments_at(self.seq) == "on"

    @property
    def waits(self) -> bool:
        """Return whether the run waits for what a person was asked. One that was opened without the rule never does."""
        return (self.opening.rules.get(WAIT), *self._words_of_people(WAIT_PATH))[-1] == "on"

    def may_run(self, experiment: str) -> bool:
        """Return whether a person allowed this experiment to run, for the whole run or for it alone."""
        return self.runs_programs or "on" in self._words_of_people(f"{EXPERIMENTS}.{experiment}")

    def _words_of_people(self, path: str, first: int = 0, last: int | None = None) -> list[Scalar]:
        """Return what people changed a setting to, in order, in the events from `first` to `last`."""
        return [
            change.to
            for amendment in self.amendments
            if amendment.by == "human" and first <= amendment.seq <= (self.seq if last is None else last)
            for change in amendment.change
            if change.path == path
        ]

    @property
    def unjudged(self) -> tuple[str, ...]:
        """Return planned experiments that were never judged, in the order of their plans."""
        return tuple(identity for identity, facts in self.experiments.items() if not facts.judged)

    @property
    def held_up(self) -> tuple[str, ...]:
        """Return screenings, and a validation with an error, that stop the run until a person overrides them."""
        screened = (name for name, action in self.screened.items() if action in ("ESCALATE", "BLOCK"))
        return (*screened, *([] if self.faulty is None else [f"@{self.faulty}"]))

    @property
    def validates_phases(self) -> bool:
        """Return whether the rules are checked after each phase."""
        return self.opened is not None and self.opened.rules.get(VALIDATE) == EACH_PHASE

    def is_done(self, step: str) -> bool:
        """Return whether a step has a reply or a fallback."""
        return step in self.answered or step in self.given_up

    @property
    def quorum(self) -> Quorum:
        """Return the number of settled steps, and of those that a seat really answered."""
        return Quorum(declared=len(self.answered) + len(self.given_up), actual=len(self.answered))

    def open_alarms(self) -> list[Alarm]:
        """Return alarms raised and not closed."""
        closed = {alarm.closes for alarm in self.alarms if alarm.action == "closed"}
        return [alarm for alarm in self.alarms if alarm.action == "raised" and alarm.seq not in closed]
