"""Failure modes FM-1 … FM-6: what is counted, against which tolerated rate, and the sentence that says it.

FM-1 is unearned agreement: positions given up without new evidence, and checks that find nothing. A check found nothing
when it came out ROBUST and no sealed position differed from the lead's. On a ledger without positions no dissent is
known, and every ROBUST check counts. E is that of one coin on two bets. Where no position differs, the first bet has no
unit and stays 1: roles that agree on everything read like a run without positions, and not as all-clear because there
is nothing left to give up.

FM-5 is inflation or starvation of claims: too many or untestable ones, or too few while work is left (SD-82). Inflation
is measured like other rates. Starvation is deterministic: fewer than two new claims in each of two rounds running in
which every role was present, while a claim is pending or a living option is not examined.
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
    """Share that is bet on, and the sentence that reports it."""

    units: list[Units]
    rule: Share
    sentence: str
    by_check: bool = False

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
    """Return FM-1 after the last round, by the stronger of its two bets."""
    # Roles may give in together, so the positions on one check bet once.
    conceded = _Bet([each.giving_in for each in rounds], parameters.giving_in, GIVEN_UP, by_check=True)
    sentence = FOUND_NOTHING if state.positions else ONLY_ROBUST
    nothing = _Bet([each.unopposed for each in rounds], parameters.only_robust, sentence)
    reading = _both(conceded, nothing, parameters, planned)
    string = _string(rounds, parameters.unanimity)
    return _watched(reading, string, nothing) if string and reading.verdict != "ALARM" else reading


def _both(conceded: _Bet, nothing: _Bet, parameters: GateParameters, planned: int) -> ModeReading:
    """Return the reading of both bets on one coin: units of both count toward the minimum, evidence is the greater
    one's.
    """
    streams = [conceded.stream, nothing.stream]
    values = [e_values(stream, planned) for stream in streams]
    # The reading reports the bet with more evidence; a tie goes to the checks, which every ledger has.
    stronger, beside = (conceded, nothing) if values[0][-1:] > values[1][-1:] else (nothing, conceded)
    reading = ModeReading(
        mode="FM-1",
        rounds=mixed(parameters.stakes.giving_in, values),
        late=late_of(streams, parameters),
        needed=nothing.rule.units_at_least,
        sentence=f"{stronger.sentence}; {stronger.rule.p0:.0%} is tolerated",
        tolerated=stronger.rule.p0,
        beside=CountedShare(tuple(unit.counts for unit in beside.units), beside.rule.p0),
    )
    have = [a.counts[1] + b.counts[1] for a, b in zip(conceded.units, nothing.units, strict=True)]
    return read(reading, stronger.units, [stronger.stream], parameters, planned, have)


def _string(rounds: Rounds, rule: Unanimity) -> Rounds:
    """Return the last rounds, if they held nothing but checks that found nothing and there are enough of both.

    A round in which no check applied neither lengthens the string nor ends it.
    """
    held = [each for each in rounds if each.unopposed.counts[1]]
    string: list[RoundUnits] = []
    for each in reversed(held):
        # One check that found something, or one position against the lead, ends the string.
        if each.unopposed.good:
            break
        string.insert(0, each)
    checks = sum(len(each.unopposed.bad) for each in string)
    return string if len(string) >= rule.rounds_running and checks >= rule.checks_at_least else ()


def _watched(reading: ModeReading, string: Rounds, nothing: _Bet) -> ModeReading:
    """Return the reading as WATCH for a string of such rounds, whatever the bets are worth (SD-73, SD-78)."""
    checks = tuple(identity for each in string for identity in each.unopposed.bad)
    clause = nothing.sentence.format(bad=len(checks), units=len(checks), onset=string[0].round)
    return msgspec.structs.replace(
        reading,
        verdict="WATCH",
        onset=string[0].round,
        evidence=checks[:EVIDENCE_MAX],
        counter_evidence=(),
        bad=len(checks),
        units=len(checks),
        sentence=f"{clause}: {len(string)} rounds running with nothing else",
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
        # A round that a role was absent from is no trial: it could not have led.
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
        f"{sum(each.lead == who for each in rounds)} of {len(rounds)} rounds",
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
    """Return FM-5 after the last round."""
    begun = bool(_famines(state, rounds[-1:], parameters, running=1))
    flood = msgspec.structs.replace(_flood(rounds, parameters, planned), has_begun=begun)
    closed = closing_round(state, "FM-5")
    # One mode has one reading, and an open alarm of the flood comes first.
    if flood.verdict == "ALARM" and (flood.alarm_round or 0) > closed:
        return flood
    famines = _famines(state, rounds, parameters, parameters.starvation.rounds_running)
    # An `ack` closes what was seen by then.
    since = [famine for famine in famines if famine[0].round > closed]
    if not since and (flood.verdict == "ALARM" or not famines):
        return flood
    # The first open stretch gives the onset. Without one the answered famine is shown again.
    famine = (since or famines)[0]
    new = ", ".join(f"R{each.round} {len(each.arrivals)}" for each in famine)
    left = ", ".join(_work_left(state, parameters, famine[-1].round))
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
        sentence=f"new claims by round: {new}, while work is left ({left})",
    )


def _famines(state: State, rounds: Rounds, parameters: GateParameters, running: int) -> list[Rounds]:
    """Return the rounds running that brought too few claims each while work was left.

    Rounds from which a role was absent are left out: they have fewer claims by design.
    """
    few = parameters.starvation.claims_below
    # An absent role raises no claims, which would look like starvation.
    calm = [each for each in rounds if each.absent is None]
    stretches = [calm[end - running : end] for end in range(running, len(calm) + 1)]
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


def _flood(rounds: Rounds, parameters: GateParameters, planned: int) -> ModeReading:
    """Return FM-5 for too many claims, or claims whose test names no outcome."""
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
        variant="flood",
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
