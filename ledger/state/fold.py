"""Fold: the state of a run from its events, one case for each kind of event. Nothing else makes or changes a `State`.

Events are applied in the order of `seq`, as they were committed. The status of a claim does not depend on that order,
because parallel replies arrive in any: its moves are sorted by their place in the deliberation (`lifecycle.py`). The
fold trusts no event: a ledger that breaks the rules folds too, and `moot check` reports what it breaks.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Final, assert_never

from ledger.events import (
    Agenda,
    Alarm,
    Amendment,
    Argument,
    Artifact,
    Assumption,
    Belief,
    Call,
    Challenge,
    Claim,
    Concern,
    Decision,
    Disposition,
    DriftCheck,
    Event,
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Fallback,
    Flip,
    Frame,
    Memo,
    Position,
    Rating,
    Response,
    RoundOpened,
    Ruling,
    RunClosed,
    RunOpened,
    Score,
    Screening,
    Signals,
    Standing,
    Statement,
    Validation,
    Verification,
    Vote,
)
from ledger.events.decisions import Cite
from ledger.events.envelope import FROM_OUTSIDE
from ledger.events.ids import number_of, repeat_of, role_of
from ledger.state.amendments import ends_stop, planned_anew
from ledger.state.faults import finding_key
from ledger.state.lifecycle import (
    BEARING_OF_STATUS,
    STATUS_OF_RUN,
    Move,
    Place,
    place_of_check,
    place_of_experiment,
    place_of_result,
)
from ledger.state.state import (
    VERIFIER,
    BeliefFacts,
    CheckFacts,
    ClaimFacts,
    ConcernFacts,
    DecisionFacts,
    DriftFacts,
    ExperimentFacts,
    FlipFacts,
    PositionFacts,
    Rank,
    RulingFacts,
    Spend,
    State,
)
from ledger.state.wording import asks_for_run, matter_of, names_no_outcome

SYNTHESIS: Final = "S"


def fold(events: Iterable[Event]) -> State:
    """Return the state after `events`."""
    state = State()
    for event in events:
        step(state, event)
    return state


def step(state: State, event: Event) -> None:
    """Apply one event to the state."""
    state.seq = event.seq
    if event.round >= state.round and event.phase != "close":
        state.round, state.phase = event.round, event.phase
    if event.call is not None:
        _call(state, event, event.call)
    if state.closing is not None and state.closing.state == "stopped" and ends_stop(event):
        state.closing = None
    match event:  # the most frequent kinds first: every case above one costs time
        case Position():
            state.positions[event.id] = PositionFacts(
                event.round, event.on, event.check_id, _holder(event), event.stance, event.seq
            )
        case Claim():
            _claim(state, event)
        case Statement():
            pass
        case Verification():
            _verification(state, event)
        case Flip():
            # A list inside `tuple` is faster than a generator, and this runs for each of a million events.
            refs = tuple([evidence.ref for evidence in event.because])
            state.flips[event.id] = FlipFacts(
                event.of, event.round, _holder(event), event.to, refs, event.seq
            )
        case Artifact():
            state.artifacts[event.id] = event.seq
        case Decision():
            _decision(state, event)
        case Concern():
            state.concerns[event.id] = ConcernFacts(
                event.round,
                event.type,
                event.by,
                event.between,
                event.for_human,
                event.seq,
                event.phase,
                event.severity,
                event.deciding,
                matter_of(event.text) if event.for_human else frozenset(),
            )
        case Validation():
            _validated(state, event)
        case RoundOpened():
            state.rounds[event.round] = event
            state.rounds_opened.append(event)
        case DriftCheck():
            state.drift[event.round] = DriftFacts(
                event.id,
                event.verdict,
                event.deviation_score,
                event.addresses,
                event.seq,
                tuple([anchor.goal for anchor in event.anchors if anchor.served == "no"]),
            )
            state.sentences.update((sentence.of, sentence.verdict) for sentence in event.sentences)
        case Disposition():
            state.resolved.add(event.of)
        case Signals():
            state.looks.append(event)
        case Alarm():
            state.alarms.append(event)
        case Amendment():
            state.amendments.append(event)
            if event.what == "plan" and state.opened is not None:
                state.opened = planned_anew(state.opened, event)
            _stop_awaiting_programs(state)
        case Fallback():
            state.given_up[event.step_failed] = event.seq
        case RunOpened():
            if event.seq and state.opened is not None and state.opened.origin.type == "import":
                state.faults.imported_before = event.seq
            if event.seq == 0 or (state.opened is not None and event.origin.type == "fork"):
                state.opened = event  # one that comes late or again opens nothing: ORD001 says so
                _stop_awaiting_programs(state)
        case RunClosed():
            state.closing = event
        case Screening():
            state.screened[f"@{event.seq}"] = event.action
        case Belief():
            identity = event.id
            state.beliefs[identity] = BeliefFacts(
                identity,
                event.round,
                event.role,
                repeat_of(identity),
                event.points,
                event.derived,
                event.seq,
                event.given,
                tuple([evidence.ref for evidence in event.because]),
            )
        case ExperimentPlanned():
            awaited = event.by in state.roles and state.runs_programs
            state.experiments[event.id] = ExperimentFacts(
                event.round, event.claims, event.by, event.seq, awaited
            )
        case ExperimentRun():
            planned = state.experiments.get(event.of)
            if planned is not None:
                planned.runs.setdefault((event.control or "", event.n), event.seq)
        case ExperimentJudged():
            _judged(state, event)
        case Frame():
            state.frame = event
        case Agenda():
            state.agenda = event
        case Memo():
            state.memo = event
            state.memos[event.id] = event
        case Rating() | Assumption() | Argument() | Challenge() | Response():
            pass
        case Ruling():
            state.rulings[f"@{event.seq}"] = RulingFacts(event.round)
        case Score() | Standing() | Vote():
            pass
        case _:
            assert_never(event)


def _validated(state: State, event: Validation) -> None:
    """Record a validation. One in mid-round ends nothing; one without new errors lifts a hold."""
    # A round ends with the synthesis, or with the last phase before it.
    last = [phase for phase in _phases_of(state, event.round) if phase != SYNTHESIS][-1:]
    ends = not state.validates_phases or event.after in (SYNTHESIS, *last)
    (state.validated if ends else state.checked).setdefault(event.round, []).append(event.after)
    if state.validates_phases:
        new = frozenset(finding_key(each) for each in event.findings if state.faults.is_new(each))
        # A list that is cut names new errors first, so none of them is hidden behind what was let go.
        state.faulty = event.seq if new else None
        state.faults.new = new


def _phases_of(state: State, round_: int) -> tuple[str, ...]:
    # An import is folded before its opening is written.
    opened, plan = state.rounds.get(round_), state.opened.plan if state.opened is not None else ()
    return plan[opened.plan_row].phases if opened is not None and opened.plan_row < len(plan) else ()


def _phase_of(state: State, event: Event) -> str:
    """Return a name for a phase that sorts as the plan has it: `crux` tests in E before it answers in D."""
    phases = _phases_of(state, event.round)
    is_sorted = [*phases] == sorted(phases)
    return event.phase if is_sorted or event.phase not in phases else chr(phases.index(event.phase))


def _holder(event: Position | Flip) -> str:
    """Return the role whose position it is. An import is written by no role of the cast, so the id names it."""
    return role_of(event.id) if event.by == "import" else event.by


def _call(state: State, event: Event, call: Call) -> None:
    if event.step is not None:
        state.answered[event.step] = event.seq
    if call.context.id is not None:
        state.contexts.setdefault(call.context.id, event.by)
    add_call(state.spend, call)


def add_call(spend: Spend, call: Call) -> None:
    """Add one call to a sum."""
    attempts = max(1, len(call.attempts))
    spend.calls += attempts
    if call.seat not in FROM_OUTSIDE:
        spend.engine_calls += attempts
    spend.tokens_in += call.tokens_in or 0
    spend.tokens_cached += call.tokens_cached or 0
    spend.tokens_out += call.tokens_out or 0
    if call.cost_usd is None:
        spend.unpriced += attempts
    else:
        spend.micro_usd += _micro(call.cost_usd)


def _micro(decimal: str) -> int:
    """Return millionths, rounded toward zero; for six digits, as moot writes them, without arithmetic."""
    if decimal[-7:-6] == ".":
        return int(decimal[:-7] + decimal[-6:])
    return int(Decimal(decimal) * 1_000_000)


def _claim(state: State, event: Claim) -> None:
    identity = event.id
    state.claims[identity] = ClaimFacts(
        event.round,
        event.raised_by,
        event.seq,
        event.anchor_ref is not None,
        names_no_outcome(event.testable_as),
        event.how,
        event.about,
    )
    older = state.claims.get(event.supersedes) if event.supersedes and event.supersedes != identity else None
    if older is not None:
        place = Place(event.round, _phase_of(state, event), 0, 0, number_of(identity))
        older.add(Move(place, older.status, "superseded", None, identity, event.seq))


def _verification(state: State, event: Verification) -> None:
    state.checks[event.id] = CheckFacts(
        event.round,
        event.phase,
        event.check_id,
        event.result,
        tuple([evidence.ref for evidence in event.evidence_refs]),
        len(event.claim_status_changes),
        event.by,
        event.seq,
        event.repeats,
        event.about,
    )
    if event.repeats is not None:
        return
    place = place_of_check(event.round, _phase_of(state, event), event.check_id, number_of(event.id))
    for change in event.claim_status_changes:
        claim = state.claims.get(change.claim_id)
        if claim is not None:
            claim.add(
                Move(
                    place,
                    change.from_,
                    change.to,
                    change.bearing,
                    event.id,
                    event.seq,
                    change.class_ or "",
                )
            )


def _stop_awaiting_programs(state: State) -> None:
    """Stop waiting for experiments where programs are no longer run, or not yet in a fork."""
    if any(facts.awaited for facts in state.experiments.values()) and not state.runs_programs:
        for facts in state.experiments.values():
            facts.awaited = False


def _judged(state: State, event: ExperimentJudged) -> None:
    """Move the claims of an experiment. Judged again, it moves them again."""
    planned = state.experiments.get(event.of)
    if planned is None:
        return
    in_time = planned.by != VERIFIER and planned.round == event.round and not planned.judged
    waited = planned.awaited and in_time  # the checks opened after it
    planned.judged += 1
    planned.judged_at = event.seq
    planned.verdict, planned.class_ = event.verdict, event.class_
    planned.unreadable = event.unreadable
    n = number_of(event.of)
    place = place_of_experiment(event.round, _phase_of(state, event), planned.judged, n, waited_for=waited)
    for change in event.changes:
        claim = state.claims.get(change.claim_id)
        if claim is not None:
            bearing = BEARING_OF_STATUS.get(change.to)
            claim.add(Move(place, change.from_, change.to, bearing, event.of, event.seq, event.class_ or ""))


def _decision(state: State, event: Decision) -> None:
    identity = event.id
    ended: list[str] = []
    for cite in event.cites:
        match cite.relation:
            case "resolves":
                state.resolved.add(cite.id)
            case "overturns" | "supersedes":
                ended += _end(state, identity, cite)
            case _:
                pass
    _measured(state, event)
    state.decisions[identity] = DecisionFacts(
        event.round,
        event.type,
        event.cites,
        event.anchor_ref is not None,
        event.seq,
        _rank(state, event, ended),
        tuple(ended),
        about=event.about,
        by_rule=event.made_by == "rule",
        asks_for_run=asks_for_run(event.text),
        result=event.result,
        claims=event.claims,
        required_by=tuple(
            [requirement.by for requirement in event.requirements if requirement.by is not None]
        ),
    )
    if event.type == "final" and event.made_by == "rule":
        for ruling in state.rulings.values():
            if ruling.round == event.round and ruling.decision is None:
                ruling.decision = identity


def _measured(state: State, event: Decision) -> None:
    """Move the claims that a person tested."""
    if event.result is None:
        return
    # A later result takes the place of an earlier one about the same claims, which is quoted nowhere any more.
    for earlier in state.decisions.values():
        if earlier.result and earlier.claims == event.claims:
            earlier.overturned_by = earlier.overturned_by or event.id
    to = STATUS_OF_RUN[event.result]
    place = place_of_result(event.round, _phase_of(state, event), number_of(event.id))
    for identity in event.claims:
        claim = state.claims.get(identity)
        if claim is not None:
            bearing = BEARING_OF_STATUS[to]
            claim.add(Move(place, claim.status, to, bearing, event.id, event.seq, "measured"))


def _end(state: State, identity: str, cite: Cite) -> list[str]:
    """Apply a citation that ends a screening's hold, a ruling with its decision, or a decision; return ended ids."""
    overturns = cite.relation == "overturns"
    if overturns and cite.id in state.screened:
        state.screened[cite.id] = "OVERRIDDEN"
    if overturns and cite.id == f"@{state.faulty}":
        state.faults.let_go |= state.faults.new
        state.faulty = None
    ruling = state.rulings.get(cite.id)
    # A ruling and the decision that words it are one: overturning either ends both.
    ended = ruling.decision if overturns and ruling is not None else cite.id
    for other in state.rulings.values():
        if overturns and (other is ruling or (other.decision is not None and other.decision == ended)):
            other.overturned_by = other.overturned_by or identity
    older = state.decisions.get(ended or "")
    if older is None or ended is None or ended == identity:
        return []
    # The first decision that ends another counts. A later one finds nothing left to end.
    if older.overturned_by is None:
        older.overturned_by, older.is_overturned = identity, overturns
    return [ended]


def _rank(state: State, event: Decision, ended: list[str]) -> Rank:
    """Return what a decision decides. An override has the rank of what it overturns, and a ruling is final."""
    if event.type != "override":
        return event.type
    if ended:
        return state.decisions[ended[0]].rank
    overturned = {cite.id for cite in event.cites if cite.relation == "overturns"}
    if overturned & state.rulings.keys():
        return "final"
    # What else has no id is a screening or a validation that holds the run up, and it is named by its place.
    return "hold" if any(identity.startswith("@") for identity in overturned) else "round"
