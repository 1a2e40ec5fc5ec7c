"""The eight failure modes: what is counted, against which tolerated rate, and the sentence that says it.

FM-1 is agreement that nothing earned: positions given up without new evidence, and checks that find nothing. A check
found nothing when it came out ROBUST and nobody's sealed position stood against the lead's; on a ledger without
positions nobody is known to have stood against it, and every ROBUST check counts. E is that of one coin on two bets.
Where no position differs the first has no unit and stays 1: roles that agree on everything read like a run without
positions, and not as all-clear because there is nothing left to give up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import msgspec

from detectors.calibrated.betting import (
    Stream,
    clustered_stream,
    count_stream,
    e_values,
    mixed,
    product,
    share_stream,
)
from detectors.calibrated.domination import domination
from detectors.calibrated.parameters import (
    CLOSES_ALL_SINCE,
    CalibratedParameters,
    Share,
    Starvation,
    Unanimity,
)
from detectors.calibrated.reading import (
    CountedShare,
    ModeReading,
    late_of,
    read,
    share_reading,
    stakes_of,
    thresholds,
)
from detectors.calibrated.rivals import rivals_unexamined
from detectors.calibrated.rounds import RoundUnits, Units, same_round_artifact
from detectors.observations import is_import, parts
from detectors.report import EVIDENCE_MAX
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
    """One share that is bet on, and the sentence that tells it."""

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
    """(bad, all) of every id in it, which may stand there more than once."""
    bad, every = Counter(unit.bad), Counter([*unit.bad, *unit.good])
    return [(bad[identity], count) for identity, count in every.items()]


def sycophancy(state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int) -> ModeReading:
    """FM-1 after the last round; of the two bets the one that is worth more is told."""
    if parameters.unanimity is None:
        return _either(state, rounds, parameters, planned)
    by_check = stakes_of(parameters).one_bet_a_check
    given = _Bet([each.giving_in for each in rounds], parameters.giving_in, GIVEN_UP, by_check)
    sentence = FOUND_NOTHING if state.positions else ONLY_ROBUST
    nothing = _Bet([each.unopposed for each in rounds], parameters.only_robust, sentence)
    reading = _both(given, nothing, parameters, planned)
    string = _string(rounds, parameters.unanimity)
    return _watched(reading, string, nothing) if string and reading.verdict != "ALARM" else reading


def _either(state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int) -> ModeReading:
    """Version 1 read the positions or, on a ledger without any, the verdicts."""
    if state.positions:
        units = [each.giving_in for each in rounds]
        return share_reading("FM-1", units, parameters.giving_in, parameters, planned, GIVEN_UP)
    units = [each.robust for each in rounds]
    return share_reading("FM-1", units, parameters.only_robust, parameters, planned, ONLY_ROBUST)


def _both(given: _Bet, nothing: _Bet, parameters: CalibratedParameters, planned: int) -> ModeReading:
    """Both bets on one coin: units of both count for what is needed, evidence is that of the greater one."""
    streams, stakes = [given.stream, nothing.stream], stakes_of(parameters)
    values = [e_values(stream, planned, falling=stakes.falling) for stream in streams]
    told, beside = (given, nothing) if values[0][-1:] > values[1][-1:] else (nothing, given)
    return read(
        "FM-1",
        mixed(stakes.giving_in, values),
        told.units,
        [streams[0] if told is given else streams[1]],
        late=late_of(streams, parameters),
        needed=nothing.rule.units_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        sentence=f"{told.sentence}; {told.rule.p0:.0%} is tolerated",
        have=[a.counts[1] + b.counts[1] for a, b in zip(given.units, nothing.units, strict=True)],
        tolerated=told.rule.p0,
        beside=CountedShare(tuple(unit.counts for unit in beside.units), beside.rule.p0),
    )


def _string(rounds: Rounds, rule: Unanimity) -> Rounds:
    """The last rounds, when they held nothing but checks that found nothing: enough of both, else none.

    A round in which no check applied neither lengthens the string nor ends it.
    """
    held = [each for each in rounds if each.unopposed.counts[1]]
    string: list[RoundUnits] = []
    for each in reversed(held):
        if each.unopposed.good:
            break
        string.insert(0, each)
    checks = sum(len(each.unopposed.bad) for each in string)
    return string if len(string) >= rule.rounds_running and checks >= rule.checks_at_least else ()


def _watched(reading: ModeReading, string: Rounds, nothing: _Bet) -> ModeReading:
    """A string of such rounds is watched whatever the bets are worth (SD-73, SD-78)."""
    checks = tuple(identity for each in string for identity in each.unopposed.bad)
    told = nothing.sentence.format(bad=len(checks), units=len(checks), onset=string[0].round)
    return msgspec.structs.replace(
        reading,
        verdict="WATCH",
        onset=string[0].round,
        evidence=checks[:EVIDENCE_MAX],
        counter_evidence=(),
        bad=len(checks),
        units=len(checks),
        sentence=f"{told}: {len(string)} rounds running with nothing else",
    )


NEEDS: Final = {1: ("action", "critic"), 2: ("guardian", "observer"), 3: ("observer", "critic")}
"""Check → the parts whose artifact it cannot do without (SD-35)."""


def pro_forma_broken(
    state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int
) -> ModeReading:
    """FM-2: BROKEN verdicts that changed no claim and no decision."""
    del state
    sentence = "{bad} of {units} checks seen since R{onset} were BROKEN without consequence"
    units = [each.pro_forma for each in rounds]
    return share_reading("FM-2", units, parameters.pro_forma_broken, parameters, planned, sentence)


def goal_drift(state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int) -> ModeReading:
    """FM-3: claims and decisions that name no goal, and failed drift checks.

    An import without any anchor never recorded them: nothing can be said about its claims then.
    """
    rule, failed = parameters.drift_unanchored, parameters.drift_failed
    recorded = any(each.unanchored.good for each in rounds) or not is_import(state)
    units = [each.unanchored if recorded else Units() for each in rounds]
    p0, grid = rule.bet(asked=not is_import(state))
    anchors = share_stream([unit.counts for unit in units], p0, grid)
    drift = share_stream([each.drift.counts for each in rounds], failed.p0, (failed.p1,))
    both = product(anchors, drift)
    stakes = stakes_of(parameters)
    values = [e_values(stream, planned, falling=stakes.falling) for stream in (anchors, both)]
    return read(
        "FM-3",
        mixed(stakes.goal_drift, values),
        [Units([*unit.bad, *each.drift.bad], unit.good) for unit, each in zip(units, rounds, strict=True)],
        [anchors, both],
        needed=rule.units_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        sentence=f"{{bad}} of {{units}} claims and decisions since R{{onset}} name no goal or failed a drift check; "
        f"{p0:.0%} is tolerated",
        tolerated=p0 if parameters.version >= CLOSES_ALL_SINCE else None,
        late=late_of([anchors, both], parameters),
    )


def flood_or_famine(
    state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int
) -> ModeReading:
    """FM-5: too many or untestable claims, or findings that become none."""
    flood, vague, famine = parameters.inflation, parameters.vagueness, parameters.starvation
    new = [(len(each.arrivals), flood.mean * len(each.present)) for each in rounds]
    n = count_stream(new, flood.grid)
    v = share_stream([each.vague.counts for each in rounds], vague.p0, vague.grid)
    both = product(n, v)
    stakes = stakes_of(parameters)
    falling = stakes.falling
    inflated = mixed(stakes.inflation, [e_values(s, planned, falling=falling) for s in (n, v, both)])
    streams, values, watched = [n, v, both], inflated, [n]
    lost: list[tuple[int, float]] = []
    if any(each.listed is not None for each in rounds):
        enough = famine.claims_at_most_times * flood.mean
        asked = famine.mean_where_one_is_asked
        tolerated = famine.mean if asked is None or is_import(state) else asked
        lost = [
            (left_out(each, famine), tolerated * len(each.present))
            if len(each.arrivals) <= enough * len(each.present)
            else (0, 0.0)
            for each in rounds
        ]
        s = count_stream(lost, famine.grid)
        starved = e_values(s, planned, falling=falling)
        values, watched = mixed(stakes.flood_or_famine, [inflated, starved]), [n, s]
        if starved[-1] > inflated[-1]:
            streams = [s]
    return read(
        "FM-5",
        values,
        [Units(each.arrivals if streams[0] is n else [], []) for each in rounds],
        streams,
        needed=flood.rounds_at_least,
        planned=planned,
        thresholds=thresholds(parameters),
        have=[1] * len(rounds),
        sentence=_flood_sentence(rounds, streams[0] is n, famine),
        variant="flood" if streams[0] is n else "famine",
        allowed=new if streams[0] is n else lost,
        late=late_of(watched, parameters),
    )


def left_out(each: RoundUnits, rule: Starvation) -> int:
    """Findings of a round that became no claim, as thresholds of this age count them."""
    return each.unlinked if rule.mean_where_one_is_asked is None else each.neglected


def _flood_sentence(rounds: Rounds, flood: bool, rule: Starvation) -> str:
    if flood:
        vague = sum(len(each.vague.bad) for each in rounds)
        total = sum(len(each.arrivals) for each in rounds)
        told = f"{vague} of {total} in all name no outcome (by text)"
        measured = vague or not total or rule.mean_where_one_is_asked is None
        told += "" if measured else ", which is not measurable where the forms ask for one"
        return f"{{bad}} new claims since R{{onset}}; {told}"
    unlinked = sum(left_out(each, rule) for each in rounds)
    return f"{unlinked} findings of {sum(each.listed or 0 for each in rounds)} became no claim"


def verification_bypass(
    state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int
) -> ModeReading:
    """FM-6: checks with shallow evidence that moved nothing."""
    del state
    rule = parameters.bypass
    places = f"fewer than {rule.references_at_least} numbered places"
    sentence = f"{{bad}} of {{units}} checks since R{{onset}} moved no claim and name {places}"
    return share_reading("FM-6", [each.shallow for each in rounds], rule, parameters, planned, sentence)


def stress_avoidance(
    state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int
) -> ModeReading:
    """FM-7: a planned absence that did not happen, or was none. Certain, so it alarms at once."""
    rule = parameters.stress_avoidance
    faults: list[tuple[int, str, tuple[str, ...]]] = []
    planned_rounds = [each for each in rounds if each.planned is not None]
    for each in planned_rounds:
        later = rounds[each.round : each.round + rule.made_up_within_rounds]
        run = each.absent == each.planned
        made_up = any(other.absent == each.planned for other in later)
        last_chance = each.round + rule.made_up_within_rounds
        if each.round <= planned:  # after the plan's last round nothing is made up any more
            last_chance = min(last_chance, planned)
        if not run and not made_up and len(rounds) >= last_chance:
            faults.append((each.round, f"R{each.round} was to go without {each.planned} and did not", ()))
    part_of = parts(state)
    for each in rounds:
        if each.absent is not None:
            faults += _presence(state, each, part_of.get(each.absent, each.absent), rule.references_at_least)
    faults.sort()
    mended: tuple[int, ...] = ()
    if parameters.version >= CLOSES_ALL_SINCE and faults:
        mended = _made_good(rounds, faults)
        faults = [fault for fault in faults if fault[0] > max(mended, default=0)] or faults
    return ModeReading(
        mode="FM-7",
        verdict="ALARM" if faults else ("CLEAR" if planned_rounds else "INSUFFICIENT"),
        rounds=(),
        alarm_round=faults[0][0] if faults else None,
        onset=faults[0][0] if faults else None,
        evidence=_fault_evidence(faults),
        counter_evidence=(),
        bad=len(faults),
        units=len(planned_rounds),
        needed=1,
        sentence="; ".join(why for _, why, _ in faults[:3]) or "every planned absence so far was a real one",
        subject=(rounds[faults[0][0] - 1].planned or "") if faults else "",
        mended=mended,
    )


def _made_good(rounds: Rounds, faults: Sequence[tuple[int, str, tuple[str, ...]]]) -> tuple[int, ...]:
    """Rounds in which the role of an earlier fault was really absent."""
    wrong = {number for number, _, _ in faults}
    owed = [(each.round, each.planned or each.absent) for each in rounds if each.round in wrong]
    return tuple(
        each.round
        for each in rounds
        if each.round not in wrong
        and any(each.absent == role and each.round > number for number, role in owed)
    )


def _fault_evidence(faults: list[tuple[int, str, tuple[str, ...]]]) -> tuple[str, ...]:
    """Checks that could not have been made; what the absent role did only where there is no such check."""
    named = list(dict.fromkeys(identity for _, _, ids in faults for identity in ids))
    checks = [identity for identity in named if identity.startswith("V-")]
    return tuple(checks or named)


def _presence(
    state: State, each: RoundUnits, part: str, references: int
) -> list[tuple[int, str, tuple[str, ...]]]:
    """Traces of a role in the round that it was absent from."""
    role, number = each.absent or "", each.round
    found: list[tuple[int, str, tuple[str, ...]]] = []
    for check, needed in NEEDS.items():
        identity = f"V-{number}-{check}"
        facts = state.checks.get(identity)
        if part in needed and facts is not None and facts.result != "NOT_APPLICABLE":
            found.append((number, f"{identity} needs {role}, who was absent", (identity,)))
    acts = [identity for identity in each.positions if state.positions[identity].role == role]
    acts += [identity for identity in each.arrivals if state.claims[identity].raised_by == role]
    if acts:
        found.append((number, f"{role} acted in R{number} though absent", tuple(acts)))
    for identity in each.answered_checks:
        refs = state.checks[identity].refs
        if sum(same_round_artifact(ref, role, number) for ref in refs) >= references:
            found.append((number, f"{identity} cites {role}'s artifact of R{number}", (identity,)))
    return found


def overrun(state: State, rounds: Rounds, parameters: CalibratedParameters, planned: int) -> ModeReading:
    """FM-8: claims come in faster than they are settled."""
    del state
    rule = parameters.overrun
    units = [
        Units(list(each.arrivals), list(each.resolutions)) if each.round >= rule.from_round else Units()
        for each in rounds
    ]
    sentence = "{bad} of {units} claim events since R{onset} were arrivals"
    return share_reading("FM-8", units, rule, parameters, planned, sentence)


PANEL: Final[tuple[Callable[[State, Rounds, CalibratedParameters, int], ModeReading], ...]] = (
    sycophancy,
    pro_forma_broken,
    goal_drift,
    domination,
    flood_or_famine,
    verification_bypass,
    stress_avoidance,
    overrun,
)
"""FM-1 … FM-8, in this order."""
Reader = Callable[[State, Rounds, CalibratedParameters, int], ModeReading]


def panel_of(parameters: CalibratedParameters) -> tuple[Reader, ...]:
    """What thresholds of this age read: FM-9 is of those that know what examined means."""
    rule = parameters.examined
    return PANEL if rule is None or rule.alarm_from_round is None else (*PANEL, rivals_unexamined)
