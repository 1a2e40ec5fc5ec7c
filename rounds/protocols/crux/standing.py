"""Where a run of `crux` stands: its beliefs, cruxes and results as `detectors.beliefs` reads them, and who is asked.

Everything follows from the folded state, so that who is asked is the same in whatever order replies arrive.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Final

from detectors.beliefs.agenda import AskedCrux
from detectors.beliefs.course import BeliefRound, RoundEnd, course_of, without_each
from detectors.beliefs.parameters import CruxTerms, FrameCheck, Stakes, crux_parameters
from detectors.beliefs.pool import Points
from detectors.beliefs.triage import admitted, to_test
from detectors.beliefs.update import CruxResult, Predicted
from detectors.beliefs.values import Conditional, moves_of
from ledger.events.answers import ConditionalBelief
from ledger.events.ids import parse_reference
from ledger.events.values import EvidenceClass, HowTested
from ledger.state.state import VERIFIER, BeliefFacts, State
from roles.seats.kinds import family_of_declared
from rounds.protocols.crux.room import no_budget, no_room
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import plans_programs
from rounds.protocols.step_table import rule

OWN, NONE = "own", "none"
"""Without options: one's own answer, and another one."""
SEALED, DERIVED, ITS_OWN = 1, 2, 3
"""The n of a belief; in round 1 the second is a redraw."""
NEVER_ALL: Final = 99
"""So many were asked that never all have answered: no short way is open."""
ENDS_KEPT: Final = 256
_ENDS: Final = dict[Hashable, RoundEnd]()
RESULTS: Final[Mapping[str, CruxResult]] = {
    "supports": "holds",
    "contradicts": "fails",
    "partly_contradicts": "partly",
    "inconclusive": "inconclusive",
}


def is_open_ended(state: State) -> bool:
    """Whether the question names no options, so that answers are in words first."""
    return not state.opening.options


def option_ids(state: State) -> tuple[str, ...]:
    """The options in order with `none` last; before any are known, one's own answer and another one."""
    named = tuple(option.id for option in state.options)
    return (*(named or (OWN,)), NONE)


def points_of(given: Mapping[str, int], options: tuple[str, ...]) -> Points:
    """A belief in option order."""
    return tuple(Fraction(given.get(option, 0)) for option in options)


def numbers_of(given: ConditionalBelief, options: tuple[str, ...]) -> Conditional:
    """What a role says of a crux, in option order."""
    return Conditional(
        Fraction(given.q), points_of(given.if_true, options), points_of(given.if_false, options)
    )


# ---------------------------------------------------------------- who answers first


def first_roles(state: State) -> tuple[str, ...]:
    """Who answers first: one role by the seed, and one more for each further family of models."""
    if rule(state, "first") == "4" or rule(state, "stakes") == "high" or rounds_wanted(state) == 0:
        return AUTHORS
    start = state.opening.seed % len(AUTHORS)
    found: dict[str, str] = {}
    for role in (*AUTHORS[start:], *AUTHORS[:start]):
        found.setdefault(_family(state, role), role)
    return tuple(role for role in AUTHORS if role in found.values())


def lead_role(state: State) -> str:
    """The role that the seed names: it answers twice where noise is measured."""
    return AUTHORS[state.opening.seed % len(AUTHORS)]


def _family(state: State, role: str) -> str:
    seat = next((member.seat for member in state.opening.cast if member.role == role), "")
    return family_of_declared(seat)


def rounds_wanted(state: State) -> int:
    """How many rounds of tests there may be."""
    said = rule(state, "rounds")
    return int(said) if said.isdigit() else 3


# ---------------------------------------------------------------- what was given


def stakes_of(state: State) -> Stakes:
    """What is at stake, which sets the value from which on a test is worth a round."""
    known: tuple[Stakes, ...] = ("low", "normal", "high")
    said = rule(state, "stakes")
    for one in known:
        if one == said:
            return one
    return "normal"


def plans_orders(state: State) -> bool:
    """Whether seats write programs where nothing is run here, so that a work order has a command."""
    return not plans_programs(state) and rule(state, "orders") == "on"


def terms_of(state: State, *, first: bool) -> CruxTerms:
    """What holds for the whole run; a run that was opened without experiments argues about programs."""
    parameters, frame = crux_parameters(), state.frame
    return CruxTerms(
        tau=parameters.tau(stakes_of(state)),
        experiments=plans_programs(state),
        parameters=parameters,
        documents=bool(state.opening.context),
        rounds_at_most=rounds_wanted(state),
        frame=FrameCheck(frame.ill_posed, frame.ill_posed or bool(frame.missing) or bool(frame.double))
        if frame
        else None,
        first=first,
    )


def belief(state: State, round_: int, role: str, n: int) -> BeliefFacts | None:
    """One belief of a role."""
    return state.beliefs.get(f"B-{round_}-{role}" + (f"~{n}" if n > 1 else ""))


def latest(state: State, role: str, before: int) -> BeliefFacts | None:
    """The latest belief of a role before a round."""
    return state.beliefs_at(before - 1).get(role)


def merged_from(state: State) -> Iterator[tuple[str, str, str, bool]]:
    """(claim, role, the role's own name for it, whether it said the opposite) of every merged proposal."""
    for merged in state.agenda.merged if state.agenda else ():
        for ref in merged.from_:
            reference = parse_reference(ref)
            if reference.section and reference.section.startswith("crux-"):
                yield merged.into, reference.id.rpartition("-")[2], reference.section, merged.negated


def proposers(state: State) -> dict[str, list[str]]:
    """Claim → the roles that proposed it, in role order."""
    found: dict[str, list[str]] = {}
    for claim, role, _, _ in merged_from(state):
        if role not in found.setdefault(claim, []):
            found[claim].append(role)
    return {claim: sorted(roles, key=AUTHORS.index) for claim, roles in found.items()}


def _proposed(state: State, options: tuple[str, ...]) -> dict[str, dict[str, Conditional]]:
    """Claim → role → its numbers; a role that proposed two that were merged counts once, its first."""
    found: dict[str, dict[str, Conditional]] = {claim: {} for claim in _agenda(state)}
    for claim, role, name, negated in merged_from(state):
        sealed = belief(state, 1, role, SEALED)
        given = next((one for one in sealed.given if one.claim == name), None) if sealed else None
        if given is not None and claim in found and role not in found[claim]:
            numbers = numbers_of(given, options)
            found[claim][role] = numbers.negated if negated else numbers
    return found


def _agenda(state: State) -> tuple[str, ...]:
    return state.agenda.cruxes if state.agenda else ()


def _how(state: State, claim: str) -> HowTested:
    return state.claims[claim].how or "judgement"


def _first_round(state: State) -> BeliefRound:
    """Round 1: over the options that were given, else over those made of the answers."""
    made = is_open_ended(state) and bool(state.agenda and state.agenda.options)
    n, options = (ITS_OWN if made else SEALED), option_ids(state)
    own = {
        role: points_of(facts.points, options)
        for role in AUTHORS
        if (facts := belief(state, 1, role, n)) is not None
    }
    lost = f"r1.C.{VERIFIER}" in state.given_up
    asked = NEVER_ALL if rounds_wanted(state) == 0 or lost else len(_asked_first(state))
    cruxes: list[AskedCrux] = []
    if lost:
        own = {} if is_open_ended(state) else own
    elif made:
        cruxes = [
            AskedCrux(claim, _how(state, claim), _given(state, 1, n, claim), {}) for claim in _agenda(state)
        ]
    elif state.agenda is not None and not is_open_ended(state):
        proposed = _proposed(state, options)
        cruxes = [AskedCrux(claim, _how(state, claim), proposed[claim], {}) for claim in _agenda(state)]
    elif state.agenda is None:
        cruxes = list(_proposals(state, options))
    again = belief(state, 1, lead_role(state), 2)
    redraw = (lead_role(state), points_of(again.points, options)) if again is not None else None
    return BeliefRound(own, tuple(cruxes), redraw, asked, no_room=no_room(state, 1))


def _asked_first(state: State) -> tuple[str, ...]:
    """The roles whose first answer was asked for: the first alone, or all."""
    done = [role for role in AUTHORS if state.is_done(f"r1.B.{role}")]
    firsts = first_roles(state)
    return AUTHORS if set(done) - set(firsts) else firsts


def _proposals(state: State, options: tuple[str, ...]) -> Iterator[AskedCrux]:
    """Before there is an agenda: every proposal by its own numbers, for the short ways out."""
    for role in AUTHORS:
        sealed = belief(state, 1, role, SEALED)
        for given in sealed.given if sealed else ():
            yield AskedCrux(f"{role}#{given.claim}", "judgement", {role: numbers_of(given, options)}, {})


def _given(state: State, round_: int, n: int, claim: str) -> dict[str, Conditional]:
    options, found = option_ids(state), dict[str, Conditional]()
    for role in AUTHORS:
        facts = belief(state, round_, role, n)
        for given in facts.given if facts else ():
            if given.claim == claim:
                found[role] = numbers_of(given, options)
    return found


def _later_round(state: State, round_: int) -> BeliefRound:
    """A round of tests: sealed numbers and results, or what a person handed in."""
    options = option_ids(state)
    own = {
        role: points_of(facts.points, options)
        for role in AUTHORS
        if (facts := belief(state, round_, role, ITS_OWN)) is not None
    }
    cruxes = [_tested(state, round_, claim) for claim in tested_in(state, round_)]
    cruxes += [
        AskedCrux(claim, _how(state, claim), {}, {}, "inconclusive", "said", handed_in=True)
        for claim in handed_in(state, round_)
    ]
    return BeliefRound(own, tuple(cruxes), no_room=no_room(state, round_))


def _tested(state: State, round_: int, claim: str) -> AskedCrux:
    predicts: dict[str, Predicted] = {
        role: given.predicts
        for role in AUTHORS
        if (facts := belief(state, round_, role, SEALED)) is not None
        for given in facts.given
        if given.claim == claim and given.predicts is not None
    }
    result, evidence = result_of(state, round_, claim)
    return AskedCrux(
        claim, _how(state, claim), _given(state, round_, SEALED, claim), predicts, result, evidence
    )


def result_of(state: State, round_: int, claim: str) -> tuple[CruxResult | None, EvidenceClass | None]:
    """What a round's check found of a crux, and by which class of evidence."""
    moves = [move for move in state.claims[claim].moves if move.place.round == round_]
    if not moves:
        return None, None
    last = max(moves)
    result = RESULTS.get(last.bearing or "", "inconclusive")
    known: tuple[EvidenceClass, ...] = ("reproduced", "ran", "quoted", "calculated", "argued", "conceded")
    for one in known:
        if one == last.class_:
            return result, one
    return result, "said"


# ---------------------------------------------------------------- where beliefs stand


def rounds_of(state: State, through: int) -> tuple[BeliefRound, ...]:
    """What was given, round by round, to the end of one. A budget forbids the next round only where one is wanted."""
    later = [n for n in sorted(state.rounds) if 1 < n <= through]
    rounds = (_first_round(state), *(_later_round(state, n) for n in later))
    stop = course_of(rounds, terms_now(state))[-1].stop if no_budget(state, through) else None
    forbidden = stop is not None and stop.go_on
    return (*rounds[:-1], rounds[-1]._replace(no_budget=True)) if forbidden else rounds


def end_of(state: State, round_: int) -> RoundEnd:
    """Where beliefs stand at the end of a round. What was computed for the same facts is remembered."""
    key = (round_, fingerprint(state))
    if key not in _ENDS:
        if len(_ENDS) >= ENDS_KEPT:
            _ENDS.clear()
        _ENDS[key] = course_of(rounds_of(state, round_), terms_now(state))[-1]
    return _ENDS[key]


def fingerprint(state: State) -> Hashable:
    """All that beliefs, cruxes and who is asked follow from, as a key; much cheaper than what follows."""
    opened, agenda, frame = state.opening, state.agenda, state.frame
    return (
        opened.seed,
        tuple(opened.rules.items()),
        state.limits.calls,
        tuple(option.id for option in state.options),
        len(opened.options),
        len(opened.context),
        len(opened.plan),
        tuple(member.seat for member in opened.cast),
        tuple(state.rounds),
        frozenset(state.answered),
        frozenset(state.given_up),
        tuple(state.artifacts),
        state.runs_programs,
        state.waits,
        tuple(
            (i, facts.round, facts.claims, facts.judged, facts.verdict)
            for i, facts in state.experiments.items()
        ),
        tuple(map(_belief_key, state.beliefs.values())),
        tuple((claim, facts.how, tuple(facts.moves)) for claim, facts in state.claims.items()),
        (frame.ill_posed, bool(frame.missing), bool(frame.double)) if frame else None,
        (agenda.cruxes, tuple((m.into, m.from_, m.negated) for m in agenda.merged)) if agenda else None,
        tuple(state.sentences.items()),
        tuple((i, one.sentences) for i, one in state.memos.items()),
        tuple((look.round, look.reason, look.stop, bool(look.pool)) for look in state.looks),
        tuple((i, facts.type, tuple(c.id for c in facts.cites)) for i, facts in state.decisions.items()),
        tuple((i, one.type, one.between, one.for_human, one.round) for i, one in state.concerns.items()),
    )


def _belief_key(facts: BeliefFacts) -> Hashable:
    given = tuple(
        (one.claim, one.q, tuple(one.if_true.items()), tuple(one.if_false.items()), one.predicts, one.fair)
        for one in facts.given
    )
    return facts.id, tuple(facts.points.items()), facts.derived, given


def carried(state: State, round_: int) -> Mapping[str, bool]:
    """Role → whether leader or status would differ without it."""
    found = without_each(rounds_of(state, round_), terms_now(state))
    return {role: one.changes for role, one in found.items()}


def terms_now(state: State) -> CruxTerms:
    return terms_of(state, first=len(_asked_first(state)) < len(AUTHORS))


def short_way_is_open(state: State) -> bool:
    """Whether what was answered so far already ends the run."""
    if is_open_ended(state) and state.agenda is None and len(_asked_first(state)) > 1:
        return False  # answers in words cannot be counted before they are options
    stop = end_of(state, 1).stop
    return stop is not None and stop.reason == "short"


def tested_in(state: State, round_: int) -> tuple[str, ...]:
    """The cruxes that a round tests: the first by value of those that somebody here can test."""
    before = round_ - 1
    if before < 1 or handed_in(state, round_):
        return ()
    end = end_of(state, before)
    return tuple(one.claim for one in to_test(end.values, crux_parameters()))


def handed_in(state: State, round_: int) -> tuple[str, ...]:
    """The cruxes about which a person answered, or handed a result in, between the round before and this one."""
    opened, before = state.rounds[round_], state.rounds.get(round_ - 1)
    if before is None:
        return ()
    asked = {
        identity: one.between
        for identity, one in state.concerns.items()
        if one.for_human and one.round == before.round and one.type == "question"
    }
    said = [
        claim
        for facts in state.decisions.values()
        if facts.type == "answer" and before.seq < facts.seq < opened.seq
        for cite in facts.cites
        for claim in (*asked.get(cite.id, ()), *_decided_by(state, cite.id))
        if claim in state.claims
    ]
    return tuple(dict.fromkeys(said))


def _decided_by(state: State, experiment: str) -> tuple[str, ...]:
    """The cruxes that an experiment decides."""
    facts = state.experiments.get(experiment)
    return tuple(claim for claim in facts.claims if claim in _agenda(state)) if facts is not None else ()


def is_admitted(given: Conditional, how: HowTested) -> bool:
    """Whether a proposal can come to the agenda."""
    return admitted(moves_of(given).points, how, crux_parameters())
