"""Failure modes FM-1 … FM-6: rates that got worse, such as the share of positions that were given up without evidence.

What is counted is a *unit*; it is *bad* when it shows the failure (`rounds.py` counts the units of every round). A mode
bets that its share of bad units is above the tolerated one. E is what a capital of 1 has become by these bets
(`reading.py`), and E of 20 raises the alarm. A mode with several bets divides the capital between them. All numbers are
in `detectors/parameters.toml`.

The modes are here from the simplest on:

| mode | units | bets |
|---|---|---|
| FM-2 | checks | one share: BROKEN that changed nothing |
| FM-6 | checks | one share: shallow evidence that moved nothing |
| FM-3 | claims and decisions; drift checks | a share without a goal, and together with it the share of failed checks |
| FM-5 | new claims | their number, the share that names no outcome, and both; or too few claims, which is certain |
| FM-4 | claims that decisions cite; rounds | each role's share of citations, of leads, and both; the mean over roles |
| FM-1 | positions; checks | a share of positions that gave in, and a share of checks that found nothing |
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from detectors.observations import deliberating_roles, is_import, untested
from detectors.parameters import Share
from detectors.report import EVIDENCE_MAX
from detectors.stopping.readiness import unexamined
from detectors.stopping.reading import (
    CountedShare,
    ModeReading,
    RunSoFar,
    Stream,
    closing_round,
    clustered_stream,
    count_stream,
    is_open,
    product,
    read,
    share_stream,
)
from detectors.stopping.rounds import RoundUnits, Units
from ledger.events.envelope import FailureMode

GIVEN_UP: Final = (
    "{bad} of {units} positions against the lead's since R{onset} were given up without new evidence"
)
FOUND_NOTHING: Final = (
    "{bad} of {units} checks since R{onset} found nothing while nobody stood against the lead"
)
ONLY_ROBUST: Final = (
    "{bad} of {units} checks since R{onset} were ROBUST (weak: the ledger has no sealed positions)"
)


class Bet(NamedTuple):
    """Bet that a share got worse, and the sentence that reports it."""

    units: Sequence[Units]
    """Units of each round."""
    rule: Share
    sentence: str
    by_check: bool = False
    """Whether all units on one check are a single bet, because roles may give in together."""

    @property
    def stream(self) -> Stream:
        """Return what the bet wins or loses in each round."""
        if self.by_check:
            return clustered_stream([by_id(unit) for unit in self.units], self.rule.p0, self.rule.grid)
        return share_stream([unit.counts for unit in self.units], self.rule.p0, self.rule.grid)

    @property
    def report(self) -> str:
        """Return the sentence with what is tolerated; its numbers are still open."""
        return f"{self.sentence}; {self.rule.p0:.0%} is tolerated"


def by_id(unit: Units) -> list[tuple[int, int]]:
    """Return (bad, all) for every id, which may occur more than once."""
    bad, every = Counter(unit.bad), Counter([*unit.bad, *unit.good])
    return [(bad[identity], count) for identity, count in every.items()]


# FM-2 and FM-6: one share, one bet


def pro_forma_broken(run: RunSoFar) -> ModeReading:
    """Return FM-2: BROKEN verdicts that changed no claim and no decision."""
    sentence = "{bad} of {units} checks seen since R{onset} were BROKEN without consequence"
    units = [each.pro_forma for each in run.rounds]
    return _one_share(run, "FM-2", Bet(units, run.parameters.pro_forma_broken, sentence))


def verification_bypass(run: RunSoFar) -> ModeReading:
    """Return FM-6: checks with shallow evidence that moved nothing."""
    rule = run.parameters.bypass
    places = f"fewer than {rule.references_at_least} numbered places"
    sentence = f"{{bad}} of {{units}} checks since R{{onset}} moved no claim and name {places}"
    return _one_share(run, "FM-6", Bet([each.shallow for each in run.rounds], rule, sentence))


def _one_share(run: RunSoFar, mode: FailureMode, bet: Bet) -> ModeReading:
    streams = [bet.stream]
    reading = ModeReading(
        mode=mode,
        rounds=run.e_of(streams),
        late_value=run.late_value_of(streams),
        needed=bet.rule.units_at_least,
        sentence=bet.report,
        tolerated=bet.rule.p0,
    )
    return read(run, reading, bet.units, streams)


# FM-3: a bet on the goals that are named, and one on these and the drift checks at once


def goal_drift(run: RunSoFar) -> ModeReading:
    """Return FM-3: claims and decisions that name no goal, and failed drift checks.

    An import without any anchor never recorded them, so nothing can be said about its claims.
    """
    rule, failed = run.parameters.drift_unanchored, run.parameters.drift_failed
    imported = is_import(run.state)
    recorded = any(each.unanchored.good for each in run.rounds) or not imported
    units = [each.unanchored if recorded else Units() for each in run.rounds]
    # Live forms ask for a goal, so fewer units go without one than in an import.
    p0, grid = rule.bet(goal_is_asked=not imported)
    anchors = share_stream([unit.counts for unit in units], p0, grid)
    drift = share_stream([each.drift.counts for each in run.rounds], failed.p0, (failed.p1,))
    streams = [anchors, product(anchors, drift)]
    reading = ModeReading(
        mode="FM-3",
        rounds=run.e_of(streams, run.parameters.stakes.goal_drift),
        late_value=run.late_value_of(streams),
        needed=rule.units_at_least,
        sentence=f"{{bad}} of {{units}} claims and decisions since R{{onset}} name no goal or failed a drift check; "
        f"{p0:.0%} is tolerated",
        tolerated=p0,
    )
    either = [
        Units([*unit.bad, *each.drift.bad], unit.good) for unit, each in zip(units, run.rounds, strict=True)
    ]
    return read(run, reading, either, streams)


# FM-5: too many claims or vague ones (inflation, a rate), or too few while work is left (starvation, certain) (SD-82)


def claim_supply(run: RunSoFar) -> ModeReading:
    """Return FM-5: inflation or starvation of claims, whichever has an open alarm."""
    starved = _starved(run, run.parameters.starvation.rounds_running)
    # A last round with too few claims alarms only if another one follows it.
    begun = bool(_starved(run._replace(rounds=run.rounds[-1:]), 1))
    inflation = msgspec.structs.replace(_inflation(run), has_begun=begun)
    # An `ack` closes what was seen by then.
    still_open = [stretch for stretch in starved if stretch[0].round > closing_round(run.state, "FM-5")]
    # One mode has one reading, and an open alarm of inflation comes first.
    if is_open(run.state, inflation) or not starved:
        return inflation
    if not still_open and inflation.verdict == "ALARM":
        return inflation
    # The first open stretch gives the onset. Without one the closed stretch is shown again.
    return _starvation(run, inflation, (still_open or starved)[0], starved[-1][-1].round)


def _inflation(run: RunSoFar) -> ModeReading:
    """Return FM-5 for too many new claims, or claims whose test names no outcome."""
    rule, vague = run.parameters.inflation, run.parameters.vagueness
    new = tuple((len(each.arrivals), rule.mean * len(each.present)) for each in run.rounds)
    number = count_stream(new, rule.grid)
    # Number and vagueness are two separate bets: many clear claims and few vague ones are different faults.
    vagueness = share_stream([each.vague.counts for each in run.rounds], vague.p0, vague.grid)
    streams = [number, vagueness, product(number, vagueness)]
    bad = sum(len(each.vague.bad) for each in run.rounds)
    total = sum(len(each.arrivals) for each in run.rounds)
    measured = "" if bad or not total else ", which is not measurable where the forms ask for one"
    reading = ModeReading(
        mode="FM-5",
        rounds=run.e_of(streams, run.parameters.stakes.inflation),
        late_value=run.late_value_of([number]),
        needed=rule.rounds_at_least,
        sentence=f"{{bad}} new claims since R{{onset}}; {bad} of {total} in all name no outcome (by text){measured}",
        variant="inflation",
        allowed=new,
    )
    units = [Units(each.arrivals, []) for each in run.rounds]
    return read(run, reading, units, streams, have=[1] * len(run.rounds))


def _starvation(
    run: RunSoFar, inflation: ModeReading, stretch: Sequence[RoundUnits], last_starved: int
) -> ModeReading:
    """Return FM-5 for a stretch of rounds that brought too few claims while work was left."""
    new = ", ".join(f"R{each.round} {len(each.arrivals)}" for each in stretch)
    left = ", ".join(_work_left(run, stretch[-1].round))
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
        mended=tuple(each.round for each in run.rounds if each.round > last_starved and each.absent is None),
        sentence=f"new claims by round: {new}, while work is left ({left})",
    )


def _starved(run: RunSoFar, running: int) -> list[Sequence[RoundUnits]]:
    """Return each stretch of `running` rounds that brought too few claims while work was left.

    Rounds from which a role was absent are left out: an absent role raises no claims, which would look the same.
    """
    few = run.parameters.starvation.claims_below
    full = [each for each in run.rounds if each.absent is None]
    stretches = [full[end - running : end] for end in range(running, len(full) + 1)]
    return [
        stretch
        for stretch in stretches
        if all(len(each.arrivals) < few for each in stretch) and any(_work_left(run, stretch[-1].round))
    ]


def _work_left(run: RunSoFar, through: int) -> Iterator[str]:
    """Yield what was left to do after round `through`: untested claims, and options that were hardly examined."""
    if waiting := len(untested(run.state, through)):
        yield f"{waiting} untested"
    if options := unexamined(run.state, run.parameters.examined, through):
        yield f"{', '.join(options)} hardly examined"


# FM-4: three bets for each role; E is the mean over the roles


def domination(run: RunSoFar) -> ModeReading:
    """Return FM-4, in the words of the role with the most evidence."""
    roles = deliberating_roles(run.state)
    # The tolerated shares of citations and of leads among so many roles, and the worse shares to bet on.
    cited_bet = run.parameters.domination_cited.bet(len(roles))
    led_bet = run.parameters.domination_led.bet(len(roles))
    units = {role: [_cited(each, role) for each in run.rounds] for role in roles}
    streams: dict[str, list[Stream]] = {}
    for role in roles:
        cited = share_stream([unit.counts for unit in units[role]], *cited_bet)
        # A round that a role was absent from does not count: it could not have led.
        leads = [(int(each.lead == role), int(each.absent != role)) for each in run.rounds]
        led = share_stream(leads, *led_bet)
        streams[role] = [cited, led, product(cited, led)]
    values = {role: run.e_of(bets, run.parameters.stakes.domination) for role, bets in streams.items()}
    # The mean over roles decides the alarm. The sentence names the one role that carries most of it.
    who = max(roles, key=lambda role: values[role][-1] if run.rounds else 0.0)
    reading = ModeReading(
        mode="FM-4",
        # The mean of e-values is an e-value, so looking at every role costs no false alarms. Its sum does not depend
        # on the order of roles.
        rounds=tuple(math.fsum(at) / len(roles) for at in zip(*values.values(), strict=True)),
        late_value=math.fsum(run.late_value_of(bets[:1]) for bets in streams.values()) / len(roles),
        needed=run.parameters.domination_cited.citations_at_least,
        sentence=f"{{bad}} of {{units}} claims that decisions cite since R{{onset}} are {who}'s, who led "
        f"{sum(each.lead == who for each in run.rounds)} of {len(run.rounds)} rounds in all",
        subject=who,
        tolerated=cited_bet[0],
    )
    return read(run, reading, units[who], streams[who])


def _cited(round_: RoundUnits, role: str) -> Units:
    """Return the citations of claims in the decisions of a round; bad where the claim is the role's own."""
    own = [decision for raised_by, decision in round_.cited_claims if raised_by == role]
    others = [decision for raised_by, decision in round_.cited_claims if raised_by != role]
    return Units(own, others)


# FM-1: two bets that divide one capital, and a watch on unanimous rounds


def sycophancy(run: RunSoFar) -> ModeReading:
    """Return FM-1, unearned agreement: E of two bets, in the words of the bet whose own E is greater by now.

    One is on positions against the lead's that were given up without new evidence. The other is on checks that found
    nothing: ROBUST verdicts on which no sealed position differed from the lead's, or each that did was given up without
    new evidence. A ledger without positions shows no dissent, so there every ROBUST check counts. Where no position
    ever differs, the first bet has no unit and stays at 1: agreement on everything then reads as it does without
    positions, and not as "all clear".
    """
    gave_in = [each.giving_in for each in run.rounds]
    positions = Bet(gave_in, run.parameters.giving_in, GIVEN_UP, by_check=True)
    sentence = FOUND_NOTHING if run.state.positions else ONLY_ROBUST
    checks = Bet([each.unopposed for each in run.rounds], run.parameters.only_robust, sentence)
    reading = _two_shares(run, positions, checks)
    unanimous = _unanimous_rounds(run)
    return _as_watch(reading, unanimous, sentence) if unanimous and reading.verdict != "ALARM" else reading


def _two_shares(run: RunSoFar, positions: Bet, checks: Bet) -> ModeReading:
    """Return FM-1 by its bets, before its unanimous rounds are looked at.

    E and verdict are those of both bets together. Onset, evidence and sentence are those of the bet whose own E is
    greater after the last round.
    """
    streams = [positions.stream, checks.stream]
    of_positions, of_checks = (run.e_of([stream])[-1:] for stream in streams)
    # A tie goes to the checks, which every ledger has.
    first, second = (positions, checks) if of_positions > of_checks else (checks, positions)
    reading = ModeReading(
        mode="FM-1",
        rounds=run.e_of(streams, run.parameters.stakes.giving_in),
        late_value=run.late_value_of(streams),
        # Units of both count toward the one minimum; `giving_in.units_at_least` is not asked for.
        needed=checks.rule.units_at_least,
        sentence=first.report,
        tolerated=first.rule.p0,
        beside=CountedShare(tuple(unit.counts for unit in second.units), second.rule.p0),
    )
    have = [a.counts[1] + b.counts[1] for a, b in zip(positions.units, checks.units, strict=True)]
    return read(run, reading, first.units, [first.stream], have)


def _unanimous_rounds(run: RunSoFar) -> Sequence[RoundUnits]:
    """Return the last rounds whose checks all found nothing; empty where rounds or checks are too few to tell.

    A round without an applicable check is left out: it shows neither agreement nor dissent.
    """
    rule = run.parameters.unanimity
    unanimous: list[RoundUnits] = []
    for each in reversed([each for each in run.rounds if each.unopposed.counts[1]]):
        # One check that found something, or one position against the lead, ends the series.
        if each.unopposed.good:
            break
        unanimous.insert(0, each)
    checks = sum(len(each.unopposed.bad) for each in unanimous)
    return unanimous if len(unanimous) >= rule.rounds_running and checks >= rule.checks_at_least else ()


def _as_watch(reading: ModeReading, unanimous: Sequence[RoundUnits], sentence: str) -> ModeReading:
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
