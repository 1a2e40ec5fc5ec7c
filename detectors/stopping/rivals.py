"""FM-9, rivals unexamined: options in the race that no tested claim names.

Deterministic like FM-7: what was tested is on the ledger. It is read once the others have been tested enough that the
neglect is no accident of the first round, and it is mended when the option was examined. A person's `ack` closes it
until
so many further claims were tested without the option.
"""

from __future__ import annotations

from collections.abc import Sequence

from detectors.report import AlarmVerdict
from detectors.stopping.parameters import ExaminedTerms, GateParameters
from detectors.stopping.readiness import counts_by_option, dropped, tests_by_round
from detectors.stopping.reading import ModeReading, closing_round
from detectors.stopping.rounds import RoundUnits
from ledger.state.state import State


def rivals_unexamined(
    state: State, rounds: Sequence[RoundUnits], parameters: GateParameters, planned: int
) -> ModeReading:
    """Return FM-9 after the last round."""
    del planned
    rule = parameters.examined
    counts, gone = counts_by_option(state), dropped(state)
    short = [
        name for name, count in counts.items() if count.claims < rule.tests_at_least and name not in gone
    ]
    # Only an option without any tested claim alarms. A hardly tested one is watched.
    untouched = [option for option in short if not counts[option].claims]
    tests = tests_by_round(state)
    first = _enough_since(0, tests, len(rounds), rule)
    # After an `ack` the count starts again, so the alarm returns only with further neglect.
    alarm_round = _enough_since(closing_round(state, "FM-9"), tests, len(rounds), rule) or first
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
        rounds=(),
        alarm_round=alarm_round if verdict == "ALARM" else None,
        onset=alarm_round if verdict == "ALARM" else first if verdict == "WATCH" else None,
        evidence=tuple(untouched or short),
        counter_evidence=(),
        bad=len(short),
        units=len(counts),
        needed=rule.others_tested_at_least,
        sentence=f"tested claims by option: {summary or 'no options'}",
        mended=() if short else (len(rounds),),
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
