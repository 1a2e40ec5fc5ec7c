"""FM-5, inflation or starvation of claims: too many or untestable ones, or too few while work is left (SD-82).

Inflation is measured like other rates. Starvation is deterministic: fewer than two new claims in each of two rounds
running in which every role was present, while a claim is pending or a living option is not examined.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from detectors.observations import untested
from detectors.stopping.betting import count_stream, e_values, mixed, product, share_stream
from detectors.stopping.parameters import GateParameters
from detectors.stopping.readiness import unexamined
from detectors.stopping.reading import ModeReading, closing_round, late_of, read, thresholds
from detectors.stopping.rounds import RoundUnits, Units
from ledger.state.state import State


def claim_supply(
    state: State, rounds: Sequence[RoundUnits], parameters: GateParameters, planned: int
) -> ModeReading:
    """Return FM-5 after the last round."""
    begun = bool(_famines(state, rounds[-1:], parameters, running=1))
    flood = msgspec.structs.replace(_flood(rounds, parameters, planned), has_begun=begun)
    closed = closing_round(state, "FM-5")
    # One mode has one reading, and an open alarm of the flood comes first.
    if flood.verdict == "ALARM" and (flood.alarm_round or 0) > closed:
        return flood
    famines = _famines(state, rounds, parameters, parameters.starvation.rounds_running)
    since = [
        famine for famine in famines if famine[0].round > closed
    ]  # an `ack` closes what was seen by then
    if not since and (flood.verdict == "ALARM" or not famines):
        return flood
    # The first open stretch gives the onset. Without one the answered famine is shown again.
    famine = (since or famines)[0]
    return msgspec.structs.replace(
        flood,
        verdict="ALARM",
        variant="famine",
        alarm_round=famine[-1].round,
        onset=famine[0].round,
        evidence=(),
        counter_evidence=(),
        allowed=(),
        mended=tuple(each.round for each in rounds if each.round > famines[-1][-1].round),
        sentence=_starved(famine, state, parameters),
    )


def _famines(
    state: State, rounds: Sequence[RoundUnits], parameters: GateParameters, running: int
) -> list[tuple[RoundUnits, ...]]:
    """Return the rounds running that brought too few claims each while work was left.

    Rounds from which a role was absent are left out: they have fewer claims by design.
    """
    few = parameters.starvation.claims_below
    # An absent role raises no claims, which would look like starvation.
    calm = [each for each in rounds if each.absent is None]
    stretches = [tuple(calm[end - running : end]) for end in range(running, len(calm) + 1)]
    return [
        stretch
        for stretch in stretches
        if all(len(each.arrivals) < few for each in stretch)
        and _work_left(state, parameters, stretch[-1].round)
    ]


def _work_left(state: State, parameters: GateParameters, through: int) -> bool:
    return bool(untested(state, through) or unexamined(state, parameters.examined, through))


def _starved(last: Sequence[RoundUnits], state: State, parameters: GateParameters) -> str:
    new = ", ".join(f"R{each.round} {len(each.arrivals)}" for each in last)
    waiting = len(untested(state, last[-1].round))
    options = ", ".join(unexamined(state, parameters.examined, last[-1].round))
    left = [f"{waiting} untested" if waiting else "", f"{options} hardly examined" if options else ""]
    return (
        f"new claims by round: {new}, while work is left ({', '.join(clause for clause in left if clause)})"
    )


def _flood(rounds: Sequence[RoundUnits], parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-5 for too many claims, or claims whose test names no outcome."""
    rule, vague = parameters.inflation, parameters.vagueness
    new = [(len(each.arrivals), rule.mean * len(each.present)) for each in rounds]
    number = count_stream(new, rule.grid)
    # Number and vagueness are two separate bets: many clear claims and few vague ones are different faults.
    vagueness = share_stream([each.vague.counts for each in rounds], vague.p0, vague.grid)
    streams = [number, vagueness, product(number, vagueness)]
    return read(
        "FM-5",
        mixed(parameters.stakes.inflation, [e_values(stream, planned) for stream in streams]),
        [Units(each.arrivals, []) for each in rounds],
        streams,
        needed=rule.rounds_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        have=[1] * len(rounds),
        sentence=_sentence(rounds),
        variant="flood",
        allowed=new,
        late=late_of([number], parameters),
    )


def _sentence(rounds: Sequence[RoundUnits]) -> str:
    vague = sum(len(each.vague.bad) for each in rounds)
    total = sum(len(each.arrivals) for each in rounds)
    clause = f"{vague} of {total} in all name no outcome (by text)"
    clause += "" if vague or not total else ", which is not measurable where the forms ask for one"
    return f"{{bad}} new claims since R{{onset}}; {clause}"
