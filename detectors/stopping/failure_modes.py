"""Failure modes FM-1 … FM-6: rates that got worse, such as the share of positions that were given up without evidence.

What is counted is a *unit*: a position, a check, a claim, a decision, a drift check, a decision's citation of a claim,
or a round that a role could lead. A unit is *bad* when it shows the failure (`rounds.py` sorts them). Each mode bets
that its share of bad units is above the tolerated one; E is what a capital of 1 has become by these bets
(`reading.py`), and E of 20 raises the alarm. A mode with several bets divides the capital between them. All numbers are
in `detectors/parameters.toml`.

FM-1, unearned agreement, has two bets. One is on positions against the lead's that were given up without new evidence.
The other is on checks that found nothing: ROBUST verdicts on which no sealed position differed from the lead's, or each
that did was given up without new evidence. A ledger without positions shows no dissent, so there every ROBUST check
counts. Where no position ever differs, the first bet has no unit and stays at 1: agreement on everything then reads as
it does without positions, and not as "all clear".

FM-5 has two variants (SD-82). Inflation, too many or untestable claims, is a rate like the others. Starvation is
certain: fewer than two new claims in each of two consecutive rounds with every role, while a claim is pending or an
option still in the race is hardly examined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from detectors.observations import deliberating_roles, is_import, untested
from detectors.parameters import GateParameters, Share, Unanimity
from detectors.report import EVIDENCE_MAX
from detectors.stopping.readiness import unexamined
from detectors.stopping.reading import (
    CountedShare,
    ModeReading,
    Stream,
    closing_round,
    clustered_stream,
    count_stream,
    e_values,
    is_open,
    late_of,
    mixed,
    product,
    read,
    share_reading,
    share_stream,
)
from detectors.stopping.rounds import RoundUnits, Units
from ledger.state.state import State

GIVEN_UP: Final = (
    "{bad} of {units} positions against the lead's since R{onset} were given up without new evidence"
)
FOUND_NOTHING: Final = (
    "{bad} of {units} checks since R{onset} found nothing while nobody stood against the lead"
)
ONLY_ROBUST: Final = (
    "{bad} of {units} checks since R{onset} were ROBUST (weak: the ledger has no sealed positions)"
)

Rounds = Sequence[RoundUnits]


class _Bet(NamedTuple):
    """Bet that a share got worse, and the sentence that reports it."""

    units: list[Units]
    """Units of each round."""
    rule: Share
    sentence: str
    by_check: bool = False
    """Whether all units on one check are a single bet, because roles may give in together."""

    @property
    def stream(self) -> Stream:
        if self.by_check:
            return clustered_stream([by_id(unit) for unit in self.units], self.rule.p0, self.rule.grid)
        return share_stream([unit.counts for unit in self.units], self.rule.p0, self.rule.grid)


def by_id(unit: Units) -> list[tuple[int, int]]:
    """Return (bad, all) for every id, which may occur more than once."""
    bad, every = Counter(unit.bad), Counter([*unit.bad, *unit.good])
    return [(bad[identity], count) for identity, count in every.items()]


def sycophancy(state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-1 after the last round: E of both bets, in the words of the bet whose own E is greater by then."""
    positions = _Bet([each.giving_in for each in rounds], parameters.giving_in, GIVEN_UP, by_check=True)
    sentence = FOUND_NOTHING if state.positions else ONLY_ROBUST
    checks = _Bet([each.unopposed for each in rounds], parameters.only_robust, sentence)
    reading = _stronger(positions, checks, parameters, planned)
    unanimous = _unanimous_rounds(rounds, parameters.unanimity)
    return _as_watch(reading, unanimous, sentence) if unanimous and reading.verdict != "ALARM" else reading


def _stronger(positions: _Bet, checks: _Bet, parameters: GateParameters, planned: int) -> ModeReading:
    """Return the reading of two bets that divide one capital: units of both count toward the minimum.

    E and verdict are those of both together. Onset, evidence and sentence are those of the bet whose own E is greater
    after the last round.
    """
    streams = [positions.stream, checks.stream]
    values = [e_values(stream, planned) for stream in streams]
    # A tie goes to the checks, which every ledger has.
    first, second = (positions, checks) if values[0][-1:] > values[1][-1:] else (checks, positions)
    reading = ModeReading(
        mode="FM-1",
        rounds=mixed(parameters.stakes.giving_in, values),
        late=late_of(streams, parameters),
        needed=checks.rule.units_at_least,
        sentence=f"{first.sentence}; {first.rule.p0:.0%} is tolerated",
        tolerated=first.rule.p0,
        beside=CountedShare(tuple(unit.counts for unit in second.units), second.rule.p0),
    )
    have = [a.counts[1] + b.counts[1] for a, b in zip(positions.units, checks.units, strict=True)]
    return read(reading, first.units, [first.stream], parameters, planned, have)


def _unanimous_rounds(rounds: Rounds, rule: Unanimity) -> Rounds:
    """Return the last rounds whose checks all found nothing; empty where rounds or checks are too few to tell.

    A round without an applicable check is left out: it shows neither agreement nor dissent.
    """
    unanimous: list[RoundUnits] = []
    for each in reversed([each for each in rounds if each.unopposed.counts[1]]):
        # One check that found something, or one position against the lead, ends the series.
        if each.unopposed.good:
            break
        unanimous.insert(0, each)
    checks = sum(len(each.unopposed.bad) for each in unanimous)
    return unanimous if len(unanimous) >= rule.rounds_running and checks >= rule.checks_at_least else ()


def _as_watch(reading: ModeReading, unanimous: Rounds, sentence: str) -> ModeReading:
    """Return the reading as WATCH for unanimous rounds, whatever the bets are worth (SD-73, SD-78)."""
    checks = tuple(identity for each in unanimous for identity in each.unopposed.bad)
    clause = sentence.format(bad=len(checks), units=len(checks), onset=unanimous[0].round)
    return msgspec.structs.replace(
        reading,
        verdict="WATCH",
        onset=unanimous[0].round,
        evidence=checks[:EVIDENCE_MAX],
        counter_evidence=(),
        bad=len(checks),
        units=len(checks),
        sentence=f"{clause}: {len(unanimous)} rounds running with nothing else",
    )


def pro_forma_broken(_state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-2: BROKEN verdicts that changed no claim and no decision."""
    sentence = "{bad} of {units} checks seen since R{onset} were BROKEN without consequence"
    units = [each.pro_forma for each in rounds]
    return share_reading("FM-2", units, parameters.pro_forma_broken, parameters, planned, sentence)


def goal_drift(state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-3: claims and decisions that name no goal, and failed drift checks.

    An import without any anchor never recorded them, so nothing can be said about its claims.
    """
    rule, failed = parameters.drift_unanchored, parameters.drift_failed
    recorded = any(each.unanchored.good for each in rounds) or not is_import(state)
    units = [each.unanchored if recorded else Units() for each in rounds]
    # Live forms ask for a goal, so fewer units go without one than in an import.
    p0, grid = rule.bet(goal_is_asked=not is_import(state))
    anchors = share_stream([unit.counts for unit in units], p0, grid)
    drift = share_stream([each.drift.counts for each in rounds], failed.p0, (failed.p1,))
    streams = [anchors, product(anchors, drift)]
    reading = ModeReading(
        mode="FM-3",
        rounds=mixed(parameters.stakes.goal_drift, [e_values(stream, planned) for stream in streams]),
        late=late_of(streams, parameters),
        needed=rule.units_at_least,
        sentence=f"{{bad}} of {{units}} claims and decisions since R{{onset}} name no goal or failed a drift check; "
        f"{p0:.0%} is tolerated",
        tolerated=p0,
    )
    either = [
        Units([*unit.bad, *each.drift.bad], unit.good) for unit, each in zip(units, rounds, strict=True)
    ]
    return read(reading, either, streams, parameters, planned)


def domination(state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-4 after the last round, for the role with the most evidence."""
    roles = deliberating_roles(state)
    cited_bet, led_bet = domination_bets(parameters, len(roles))
    units = {
        role: [
            Units(
                [by for raised, by in each.cited_claims if raised == role],
                [by for raised, by in each.cited_claims if raised != role],
            )
            for each in rounds
        ]
        for role in roles
    }
    streams: dict[str, list[Stream]] = {}
    for role in roles:
        cited = share_stream([unit.counts for unit in units[role]], *cited_bet)
        # A round that a role was absent from does not count: it could not have led.
        leads = [(int(each.lead == role), int(each.absent != role)) for each in rounds]
        led = share_stream(leads, *led_bet)
        streams[role] = [cited, led, product(cited, led)]
    values = {
        role: mixed(parameters.stakes.domination, [e_values(stream, planned) for stream in bets])
        for role, bets in streams.items()
    }
    # The mean over roles decides the alarm. The sentence names the one role that carries most of it.
    who = max(roles, key=lambda role: values[role][-1] if rounds else 0.0)
    reading = ModeReading(
        mode="FM-4",
        # The mean of e-values is an e-value, so looking at every role costs no false alarms. Its sum does not depend
        # on the order of roles.
        rounds=tuple(math.fsum(at) / len(roles) for at in zip(*values.values(), strict=True)),
        late=math.fsum(late_of(bets[:1], parameters) for bets in streams.values()) / len(roles),
        needed=parameters.domination_cited.citations_at_least,
        sentence=f"{{bad}} of {{units}} claims that decisions cite since R{{onset}} are {who}'s, who led "
        f"{sum(each.lead == who for each in rounds)} of {len(rounds)} rounds in all",
        subject=who,
        tolerated=cited_bet[0],
    )
    return read(reading, units[who], streams[who], parameters, planned)


def domination_bets(
    parameters: GateParameters, roles: int
) -> tuple[tuple[float, tuple[float, ...]], tuple[float, tuple[float, ...]]]:
    """Return the tolerated shares of citations and of leads among `roles` roles, and the worse shares to bet on."""
    return parameters.domination_cited.bet(roles), parameters.domination_led.bet(roles)


def claim_supply(state: State, rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-5 after the last round: inflation or starvation of claims, whichever has an open alarm."""
    begun = bool(_starved(state, rounds[-1:], parameters, running=1))
    inflation = msgspec.structs.replace(_inflation(rounds, parameters, planned), has_begun=begun)
    # One mode has one reading, and an open alarm of inflation comes first.
    if is_open(state, inflation):
        return inflation
    closed = closing_round(state, "FM-5")
    stretches = _starved(state, rounds, parameters, parameters.starvation.rounds_running)
    # An `ack` closes what was seen by then.
    still_open = [stretch for stretch in stretches if stretch[0].round > closed]
    if not still_open and (inflation.verdict == "ALARM" or not stretches):
        return inflation
    # The first open stretch gives the onset. Without one the closed stretch is shown again.
    stretch = (still_open or stretches)[0]
    new = ", ".join(f"R{each.round} {len(each.arrivals)}" for each in stretch)
    left = ", ".join(_work_left(state, parameters, stretch[-1].round))
    return msgspec.structs.replace(
        inflation,
        verdict="ALARM",
        variant="starvation",
        alarm_round=stretch[-1].round,
        onset=stretch[0].round,
        evidence=(),
        counter_evidence=(),
        allowed=(),
        # A round from which a role was absent ends no stretch: its few claims say as little as they did in one.
        mended=tuple(
            each.round for each in rounds if each.round > stretches[-1][-1].round and each.absent is None
        ),
        sentence=f"new claims by round: {new}, while work is left ({left})",
    )


def _starved(state: State, rounds: Rounds, parameters: GateParameters, running: int) -> list[Rounds]:
    """Return each stretch of `running` rounds that brought too few claims while work was left.

    Rounds from which a role was absent are left out: an absent role raises no claims, which would look the same.
    """
    few = parameters.starvation.claims_below
    full = [each for each in rounds if each.absent is None]
    stretches = [full[end - running : end] for end in range(running, len(full) + 1)]
    return [
        stretch
        for stretch in stretches
        if all(len(each.arrivals) < few for each in stretch)
        and any(_work_left(state, parameters, stretch[-1].round))
    ]


def _work_left(state: State, parameters: GateParameters, through: int) -> Iterator[str]:
    """Yield what was left to do after round `through`: untested claims, and options that were hardly examined."""
    if waiting := len(untested(state, through)):
        yield f"{waiting} untested"
    if options := unexamined(state, parameters.examined, through):
        yield f"{', '.join(options)} hardly examined"


def _inflation(rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-5 for too many new claims, or claims whose test names no outcome."""
    rule, vague = parameters.inflation, parameters.vagueness
    new = tuple((len(each.arrivals), rule.mean * len(each.present)) for each in rounds)
    number = count_stream(new, rule.grid)
    # Number and vagueness are two separate bets: many clear claims and few vague ones are different faults.
    vagueness = share_stream([each.vague.counts for each in rounds], vague.p0, vague.grid)
    streams = [number, vagueness, product(number, vagueness)]
    bad, total = sum(len(each.vague.bad) for each in rounds), sum(len(each.arrivals) for each in rounds)
    measured = "" if bad or not total else ", which is not measurable where the forms ask for one"
    reading = ModeReading(
        mode="FM-5",
        rounds=mixed(parameters.stakes.inflation, [e_values(stream, planned) for stream in streams]),
        late=late_of([number], parameters),
        needed=rule.rounds_at_least,
        sentence=f"{{bad}} new claims since R{{onset}}; {bad} of {total} in all name no outcome (by text){measured}",
        variant="inflation",
        allowed=new,
    )
    units = [Units(each.arrivals, []) for each in rounds]
    return read(reading, units, streams, parameters, planned, have=[1] * len(rounds))


def verification_bypass(
    _state: State, rounds: Rounds, parameters: GateParameters, planned: int
) -> ModeReading:
    """Return FM-6: checks with shallow evidence that moved nothing."""
    rule = parameters.bypass
    places = f"fewer than {rule.references_at_least} numbered places"
    sentence = f"{{bad}} of {{units}} checks since R{{onset}} moved no claim and name {places}"
    return share_reading("FM-6", [each.shallow for each in rounds], rule, parameters, planned, sentence)
