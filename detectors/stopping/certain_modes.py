"""Failure modes that are certain: what happened is on the ledger, so they alarm at once, without an e-value.

FM-7, stress avoidance: a planned absence that did not happen or was not real. A fault is made good by a later round in
which its role was really absent, each role by its own. FM-9, rivals unexamined: options in the race that no tested
claim names. It is read once the others have been tested enough that the neglect is no accident of the first round, and
it is mended when the option was examined. A person's `ack` closes what was seen by then: a later fault alarms again,
and so do so many further claims that were tested without the option.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from detectors.observations import parts
from detectors.parameters import ExaminedTerms
from detectors.report import AlarmVerdict
from detectors.stopping.readiness import counts_by_option, tests_by_round, unexamined
from detectors.stopping.reading import ModeReading, RunSoFar, closing_round
from detectors.stopping.rounds import RoundUnits, same_round_artifact
from ledger.events.ids import event_id, kind_of
from ledger.state.state import State

NEEDS: Final = {1: ("action", "critic"), 2: ("guardian", "observer"), 3: ("observer", "critic")}
"""Check → the parts whose artifact it cannot do without (SD-35)."""
SHOWN: Final = 3


class Fault(NamedTuple):
    """Planned absence that was not real: the round, when that is certain, the role, the reason, and the evidence."""

    round: int
    certain: int
    role: str
    why: str
    ids: tuple[str, ...]


def stress_avoidance(run: RunSoFar) -> ModeReading:
    """Return FM-7 after the last round."""
    state, rounds, rule = run.state, run.rounds, run.parameters.stress_avoidance
    planned_rounds = [each for each in rounds if each.planned is not None]
    part_of = parts(state)
    faults = [
        Fault(each.round, each.round, each.absent, why, ids)
        for each in rounds
        if each.absent is not None
        for why, ids in _traces(state, each, part_of.get(each.absent, each.absent), rule.references_at_least)
    ]
    faults = sorted([*_not_held(rounds, planned_rounds, rule.made_up_within_rounds, run.planned), *faults])
    made_good = {fault: _made_good(fault, rounds, faults) for fault in faults}
    owed = [fault for fault in faults if made_good[fault] is None]
    closed = closing_round(state, "FM-7")
    since = [fault for fault in owed if fault.certain > closed]
    # Open faults come first. Closed and made-good ones are shown only when nothing else is left.
    faults_shown = since or owed or faults
    last_mended = max((number for number in made_good.values() if number is not None), default=0)
    return ModeReading(
        mode="FM-7",
        verdict="ALARM" if faults else ("CLEAR" if planned_rounds else "INSUFFICIENT"),
        alarm_round=faults_shown[0].certain if faults_shown else None,
        onset=faults_shown[0].round if faults_shown else None,
        evidence=_evidence(faults_shown),
        bad=len(faults_shown),
        units=len(planned_rounds),
        needed=1,
        sentence="; ".join(fault.why for fault in faults_shown[:SHOWN])
        or "every planned absence so far was a real one",
        subject=faults_shown[0].role if faults_shown else "",
        mended=() if owed else (last_mended,),
    )


def _not_held(
    rounds: Sequence[RoundUnits], planned_rounds: Sequence[RoundUnits], within: int, planned: int
) -> Iterator[Fault]:
    """Yield the planned absences that were not run and not made up in time."""
    for each in planned_rounds:
        later = rounds[each.round : each.round + within]
        held = each.absent == each.planned or any(other.absent == each.planned for other in later)
        # An absence may be made up for within some rounds, so it is a fault only when these have passed.
        last_chance = each.round + within
        if each.round <= planned:  # after the plan's last round nothing is made up any more
            last_chance = min(last_chance, planned)
        if not held and len(rounds) >= last_chance:
            why = f"R{each.round} was to go without {each.planned} and did not"
            yield Fault(each.round, last_chance, each.planned or "", why, ())


def _made_good(fault: Fault, rounds: Sequence[RoundUnits], faults: Sequence[Fault]) -> int | None:
    """Return the first later round in which the role of a fault was really absent."""
    # A round in which the absent role still acted makes nothing good.
    wrong = {other.round for other in faults}
    return next(
        (
            each.round
            for each in rounds[fault.round :]
            if each.absent == fault.role and each.round not in wrong
        ),
        None,
    )


def _evidence(faults: Sequence[Fault]) -> tuple[str, ...]:
    """Return checks that could not have been made; what the absent role did only where there is no such check."""
    named = list(dict.fromkeys(identity for fault in faults for identity in fault.ids))
    checks = [identity for identity in named if kind_of(identity) == "verification"]
    return tuple(checks or named)


def _traces(
    state: State, each: RoundUnits, part: str, references: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield traces of the absent role in a round, with the ids that show them."""
    role, number = each.absent or "", each.round
    for check, needed in NEEDS.items():
        identity = event_id("verification", number, check)
        facts = state.checks.get(identity)
        # A verdict that needs the absent role's artifact shows that one existed.
        if part in needed and facts is not None and facts.result != "NOT_APPLICABLE":
            yield f"{identity} needs {role}, who was absent", (identity,)
    acts = [identity for identity in each.positions if state.positions[identity].role == role]
    acts += [identity for identity in each.arrivals if state.claims[identity].raised_by == role]
    if acts:
        yield f"{role} acted in R{number} though absent", tuple(acts)
    for identity in each.answered_checks:
        refs = state.checks[identity].refs
        if sum(same_round_artifact(ref, role, number) for ref in refs) >= references:
            yield f"{identity} cites {role}'s artifact of R{number}", (identity,)


def rivals_unexamined(run: RunSoFar) -> ModeReading:
    """Return FM-9 after the last round."""
    state, held, rule = run.state, len(run.rounds), run.parameters.examined
    counts, short = counts_by_option(state), unexamined(state, rule)
    # Only an option without any tested claim alarms. A hardly tested one is watched.
    untouched = [option for option in short if not counts[option].claims]
    tests = tests_by_round(state)
    first = _enough_since(0, tests, held, rule)
    # After an `ack` the count starts again, so the alarm returns only with further neglect.
    alarm_round = _enough_since(closing_round(state, "FM-9"), tests, held, rule) or first
    verdict: AlarmVerdict = "CLEAR"
    # A single option has no rival, and without tests nothing was preferred yet.
    if len(counts) < 2 or not tests:
        verdict = "INSUFFICIENT"
    elif untouched and alarm_round:
        verdict = "ALARM"
    elif short and first:
        verdict = "WATCH"
    summary = ", ".join(f"{option} {count.claims}" for option, count in counts.items())
    return ModeReading(
        mode="FM-9",
        verdict=verdict,
        alarm_round=alarm_round if verdict == "ALARM" else None,
        onset=alarm_round if verdict == "ALARM" else first if verdict == "WATCH" else None,
        evidence=tuple(untouched or short),
        bad=len(short),
        units=len(counts),
        needed=rule.others_tested_at_least,
        sentence=f"tested claims by option: {summary or 'no options'}",
        mended=() if short else (held,),
        subject=", ".join(untouched or short),
        seen=tests.total(),
    )


def _enough_since(closed: int, tests: dict[int, int], held: int, rule: ExaminedTerms) -> int | None:
    """Return the first round after `closed` by whose end enough claims about options were tested since then."""
    for number in range(max(closed + 1, rule.alarm_from_round), held + 1):
        tested = sum(count for round_, count in tests.items() if closed < round_ <= number)
        if tested >= rule.others_tested_at_least:
            return number
    return None
