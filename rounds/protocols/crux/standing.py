"""Standing of a run of `crux`, read from the folded state: sealed numbers, verdicts, cruxes, and the outcome status.

Everything follows from the state, so what is asked next does not depend on the order in which replies arrive. A
decision once made stays: a look reads the run as it was at its event, whatever is added later.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast, get_args

from detectors.forecasts.arithmetic import (
    Forecast,
    Numbers,
    group_forecast,
    leader_of,
    points_of,
    whole_points,
)
from detectors.forecasts.standing import (
    Crux,
    ForecastStanding,
    ForecastTable,
    FrameCheck,
    UnseenWays,
    UnsettledCrux,
    Verdict,
    kept,
    numbers_about,
    short_way,
    standing_of,
    unseen_of,
    wants_numbers,
)
from detectors.parameters import ForecastTerms, Level, Stakes, forecast_parameters
from ledger.events import Signals
from ledger.events.answers import ConditionalBelief
from ledger.events.envelope import HowTested
from ledger.events.ids import event_id, kind_of, parse_reference, role_of
from ledger.state.book import per_state
from ledger.state.lifecycle import Move
from ledger.state.state import AGENDA_STEP, OWN, BeliefFacts, State
from rounds.protocols.plans import AUTHORS
from rounds.protocols.step_table import rule

NONE: Final = "none"
"""Option of every question: another answer than those that are named."""
SEALED, NUMBERS = 1, 3
"""The n of a forecast: given with the answer, given with the numbers. Computed ones come after."""
ASKED_OF_A_PERSON: Final[frozenset[HowTested]] = frozenset({"execution", "calculation", "person"})


def is_open_ended(state: State) -> bool:
    """Return whether the question names no options."""
    return not state.opening.options


def made_by_code(state: State) -> bool:
    """Return whether each answer became an option because no reply merged them."""
    return state.agenda is not None and state.agenda.by == "controller"


def own_options(state: State) -> dict[str, str]:
    """Map the id of each first answer to the option that it became; empty where a reply made the options."""
    merged = state.agenda.merged if state.agenda and made_by_code(state) else ()
    return {parse_reference(ref).id: entry.into for entry in merged for ref in entry.from_}


def option_ids(state: State) -> tuple[str, ...]:
    """Return the options in order with `none` last; before any are known, a role's own answer and another one."""
    named = tuple(option.id for option in state.options)
    return (*(named or (OWN,)), NONE)


def option_texts(state: State) -> dict[str, str]:
    """Map each option id to its text, `none` included."""
    return {option.id: option.text for option in state.options} | {NONE: "none of the options"}


def numbers_of(belief: ConditionalBelief, options: tuple[str, ...]) -> Numbers:
    """Return a role's numbers about a crux, in option order."""
    return Numbers(belief.q, points_of(belief.if_true, options), points_of(belief.if_false, options))


# ---------------------------------------------------------------- what was given


def answer_id(role: str) -> str:
    """Return the id of the text with a role's first answer."""
    return event_id("statement", 1, "B", role)


def forecast_id(round_: int, role: str, n: int) -> str:
    """Return the id of a role's n-th forecast in a round."""
    return event_id("belief", round_, role, repeat=n)


def sealed(state: State, role: str, n: int) -> BeliefFacts | None:
    """Return a role's sealed forecast: given with its answer (`SEALED`) or with its numbers (`NUMBERS`)."""
    return state.beliefs.get(forecast_id(1, role, n))


def answering_roles(state: State) -> tuple[str, ...]:
    """Return the roles whose answer is in."""
    return tuple(role for role in AUTHORS if sealed(state, role, SEALED) is not None)


def first_role(state: State) -> str:
    """Return the role that answers first, by the seed."""
    # The seed rotates the first role over runs: one fixed role would decide alone in every
    # run that ends early.
    return AUTHORS[state.opening.seed % len(AUTHORS)]


def cruxes_of(state: State) -> tuple[str, ...]:
    """Return the claims of the agenda that could change the answer."""
    return state.agenda.cruxes if state.agenda else ()


@per_state
def _forecasts(state: State) -> dict[str, Forecast]:
    """Return sealed forecasts over the options, by role; none while the options are not known."""
    options, is_open = option_ids(state), is_open_ended(state)
    if is_open and made_by_code(state):
        return dict(_over_own_options(state, options))
    if is_open and state.agenda is None:
        return {}
    # Options made by the agenda exist only after the answers, so the forecast over them
    # comes with the numbers.
    beliefs = {role: sealed(state, role, NUMBERS if is_open else SEALED) for role in AUTHORS}
    return {role: points_of(facts.points, options) for role, facts in beliefs.items() if facts}


def _over_own_options(state: State, options: tuple[str, ...]) -> Iterator[tuple[str, Forecast]]:
    """Yield each role's points for its own answer, on the option that this answer became."""
    for role in AUTHORS:
        facts, option = sealed(state, role, SEALED), own_options(state).get(answer_id(role))
        if facts is not None and option is not None:
            # "Another one" may be any of the other options, so its points are spread over them and `none`.
            others = len(options) - 1
            elsewhere = whole_points([1] * others, facts.points.get(NONE, 0))
            own = facts.points.get(OWN, 0)
            place = options.index(option)
            yield role, (*elsewhere[:place], own, *elsewhere[place:])


@per_state
def _proposed(state: State) -> dict[str, dict[str, Numbers]]:
    """Map claim → role → the numbers that it proposed the claim with; its first where two of its own were merged."""
    options = (OWN, NONE) if is_open_ended(state) else option_ids(state)
    proposed: dict[str, dict[str, Numbers]] = {claim: {} for claim in cruxes_of(state)}
    for merged in state.agenda.merged if state.agenda else ():
        for ref in merged.from_ if merged.into in proposed else ():
            reference = parse_reference(ref)
            role = role_of(reference.id)
            facts = sealed(state, role, SEALED)
            draft = (
                next((belief for belief in facts.given if belief.claim == reference.section), None)
                if facts
                else None
            )
            if draft is not None and role not in proposed[merged.into]:
                numbers = numbers_of(draft, options)
                # A proposal that says the opposite swaps its two forecasts and turns its probability round.
                proposed[merged.into][role] = numbers.negated if merged.negated else numbers
    return proposed


def _sealed_numbers(state: State, claim: str) -> dict[str, Numbers]:
    options = option_ids(state)
    return {
        role: numbers_of(belief, options)
        for role in AUTHORS
        if (facts := sealed(state, role, NUMBERS)) is not None
        for belief in facts.given
        if belief.claim == claim
    }


# ---------------------------------------------------------------- verdicts


def verdicts_on(state: State, claim: str, seq: int) -> tuple[Verdict, ...]:
    """Return verdicts on a crux through event `seq`, in order. Two programs for one crux that disagree give none."""
    levels: tuple[Level, ...] = get_args(Level)
    # Each source counts once with its latest move: a judgment recorded again after a
    # resume replaces the first.
    moves = (move for move in state.claims[claim].moves if move.seq <= seq and move.class_ in levels)
    latest = {move.by: move for move in moves}
    decisive = [move for move in latest.values() if move.bearing in ("supports", "contradicts")]
    planned = [move for move in decisive if _is_planned_by_a_role(state, move)]
    # Only programs of roles cancel each other. A person's result stays a verdict beside them.
    disagree = len({move.bearing for move in planned}) > 1
    counted = [move for move in decisive if not (disagree and move in planned)]
    return tuple(
        Verdict("holds" if move.bearing == "supports" else "fails", cast("Level", move.class_))
        for move in sorted(counted, key=lambda move: move.seq)
    )


def disagreeing(state: State, claim: str) -> bool:
    """Return whether two programs were run for a crux and came out differently."""
    bearings = {
        move.bearing
        for move in state.claims[claim].moves
        if _is_planned_by_a_role(state, move) and move.bearing in ("supports", "contradicts")
    }
    return len(bearings) > 1


def _is_planned_by_a_role(state: State, move: Move) -> bool:
    experiment = state.experiments.get(move.by)
    return experiment is not None and experiment.by in AUTHORS


# ---------------------------------------------------------------- the table, and what follows from it


def stakes_of(state: State) -> Stakes:
    """Return the stakes, which set the value from which a test is worth running."""
    known: dict[str, Stakes] = {stakes: stakes for stakes in get_args(Stakes)}
    # Runs from before the rule existed have no stakes on their ledger; they were played as normal ones.
    return known.get(rule(state, "stakes"), "normal")


def terms_at(state: State, seq: int) -> ForecastTerms:
    """Return what can be tested here, by the permission for experiments through event `seq`."""
    parameters = forecast_parameters()
    return ForecastTerms(
        tau=parameters.tau[stakes_of(state)],
        experiments=state.experiments_at(seq) != "off",
        documents=bool(state.opening.context),
        parameters=parameters,
    )


def frame_check(state: State) -> FrameCheck | None:
    """Return what the frame step found; None while it is open, and where its reply was lost."""
    frame = state.frame
    if frame is None:
        return None
    # A missing or double option is an objection too: the forecasts then cover the wrong choices.
    return FrameCheck(frame.ill_posed, frame.ill_posed or bool(frame.missing) or bool(frame.double))


def table_at(state: State, seq: int | None = None) -> ForecastTable:
    """Return all numbers of the run, with the verdicts through event `seq`; without `seq`, with all verdicts."""
    through = state.seq if seq is None else seq
    proposed = _proposed(state)
    # Verdicts are withheld until the numbers are complete: a person's result may arrive before,
    # and no role may give numbers about a claim whose result counts already.
    is_complete = numbers_end(state) is not None
    return ForecastTable(
        forecasts=_forecasts(state),
        cruxes=[
            Crux(
                claim,
                state.claims[claim].how or "person",
                proposed[claim],
                _sealed_numbers(state, claim),
                verdicts_on(state, claim, through) if is_complete else (),
            )
            for claim in cruxes_of(state)
        ],
        terms=terms_at(state, through),
        frame=frame_check(state),
        made_options=is_open_ended(state),
    )


def standing_at(state: State, seq: int | None = None) -> ForecastStanding:
    """Return where the run stands: forecasts, group forecast, unsettled cruxes, status."""
    return standing_of(table_at(state, seq))


def kept_cruxes(state: State) -> tuple[str, ...]:
    """Return the cruxes that the run keeps, by value; the others stay unsettled."""
    return tuple(crux.claim for crux in _kept(state))


@per_state
def _kept(state: State) -> list[Crux]:
    proposed = _proposed(state)
    cruxes = [Crux(claim, state.claims[claim].how or "person", proposed[claim]) for claim in cruxes_of(state)]
    return kept(cruxes, forecast_parameters())


@per_state
def is_asked_for_numbers(state: State) -> bool:
    """Return whether all roles give numbers about the kept cruxes."""
    if state.agenda is None or made_by_code(state):
        return False
    # Options that were just made have no forecast from any role yet, whatever the cruxes are worth.
    if is_open_ended(state):
        return True
    forecasts = _forecasts(state)
    if not forecasts:
        return False
    # Only what was known when the agenda was made decides, so a later word about experiments changes nothing.
    return wants_numbers(_kept(state), group_forecast(forecasts.values()), terms_at(state, state.agenda.seq))


def numbering_roles(state: State) -> tuple[str, ...]:
    """Return the roles that are asked for numbers: those with a forecast, and all where the options were just made."""
    if not is_asked_for_numbers(state):
        return ()
    return AUTHORS if is_open_ended(state) else answering_roles(state)


@per_state
def numbers_end(state: State) -> int | None:
    """Return the seq of the event that completed the numbers; None before it.

    Where no numbers are asked for it is the agenda.

    A person's result from before is kept back until then: no role gives numbers about a claim whose result is known.
    """
    if state.agenda is None:
        # A lost agenda leaves no claims, and the run goes on to its closing with the first forecasts.
        return state.given_up.get(AGENDA_STEP)
    steps = [f"r1.E.{role}" for role in numbering_roles(state)]
    if not all(state.is_done(step) for step in steps):
        return None
    done = (state.answered.get(step, state.given_up.get(step, -1)) for step in steps)
    return max((state.agenda.seq, *done))


def short_way_is_open(state: State) -> bool:
    """Return whether the first answers end the run before any test."""
    # Answers in words cannot be counted before they are options.
    all_are_in = not is_open_ended(state) and all(state.is_done(f"r1.B.{role}") for role in AUTHORS)
    return first_answer_ends(state) or (
        all_are_in and _is_short(state, AUTHORS, forecast_parameters().short["all_from"])
    )


def first_answer_ends(state: State) -> bool:
    """Return whether the first answer alone ends the run; high stakes ask all four."""
    first = first_role(state)
    if stakes_of(state) == "high" or not state.is_done(f"r1.B.{first}"):
        return False
    return _is_short(state, (first,), forecast_parameters().short["first_from"])


def _is_short(state: State, roles: tuple[str, ...], at_least: int) -> bool:
    options = (OWN, NONE) if is_open_ended(state) else option_ids(state)
    facts = [belief for role in roles if (belief := sealed(state, role, SEALED)) is not None]
    answers = {belief.role: points_of(belief.points, options) for belief in facts}
    proposals: list[tuple[HowTested, Numbers]] = [
        (draft.how or "person", numbers_of(draft, options)) for belief in facts for draft in belief.given
    ]
    return short_way(answers, len(roles), proposals, frame_check(state), terms_at(state, state.seq), at_least)


def askable(state: State) -> list[UnsettledCrux]:
    """Return unsettled cruxes worth a test that a person can settle, and that some role has numbers about."""
    table = table_at(state)
    # Without numbers about a crux a verdict would move no forecast, so the question would
    # be asked for nothing.
    known = {crux.claim for crux in table.cruxes if numbers_about(table, crux)}
    return [
        crux
        for crux in standing_of(table).worth(table.terms.tau)
        if crux.how in ASKED_OF_A_PERSON and crux.claim in known
    ]


# ---------------------------------------------------------------- the looks


def last_look(state: State) -> Signals | None:
    """Return the look of the open round, if it was taken."""
    return look_of(state, state.round)


def look_of(state: State, round_: int) -> Signals | None:
    """Return the look of a round."""
    return next((signals for signals in reversed(state.looks) if signals.round == round_), None)


def standing_of_look(state: State, round_: int) -> ForecastStanding:
    """Return where the run stood at the look of a round: its closing is played on this, whatever came later."""
    recorded = look_of(state, round_)
    return standing_at(state, None if recorded is None else recorded.seq)


# ---------------------------------------------------------------- ways to be wrong


def unseen(state: State) -> UnseenWays | None:
    """Return how many ways the leader may be wrong were named, and by how many roles; None without an agenda."""
    if state.agenda is None:
        return None
    lists = preferring_leader(state)
    sightings = [
        [role for role in lists if any(f"-{role}#defeater-" in ref for ref in merged.from_)]
        for merged in state.agenda.merged
        if kind_of(merged.into) == "concern"
    ]
    return unseen_of(sightings, len(lists))


def preferring_leader(state: State) -> list[str]:
    """Return the roles whose sealed forecast has the group's leader; only then their list is about that leader."""
    # Lists are compared as lists about one thing, so a role that prefers another option is left out.
    forecasts, leader = table_at(state).forecasts, standing_at(state).leader
    return [role for role in AUTHORS if role in forecasts and leader_of(forecasts[role]) == leader]
