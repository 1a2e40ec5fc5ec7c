"""The detectors against slow restatements, on labelled ledgers and on generated ones, after every round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings

from detectors.disagreement import slope_alarm
from detectors.parameters import SignalProfile
from detectors.signals import signals
from ledger.interchange.skill_import import read_skill
from ledger.state.book import book
from ledger.state.fold import fold
from tests.data import LABELLED
from tests.detectors.generated import rows as generated_rows
from tests.detectors.ledgers import Blobs, built, ends
from tests.oracles import script_signals, text_signals
from tests.oracles.rows import Rows, read_rows
from tests.oracles.script_signals import Answer

ORACLES: dict[SignalProfile, Callable[[Rows], list[Answer]]] = {
    "script": script_signals.answers,
    "text": text_signals.answers,
}
DRIFT_BRANCHES = {
    f"S5 {source}: {what}"
    for source in ("files", "events")
    for what in ("none", "all pass", "pass after fail", "pass after partial", "last is no pass")
}
_BRANCHES = {
    "script": DRIFT_BRANCHES
    | {
        *("S1 nothing verified", "S1 too few rounds", "S1 nothing ever moved", "S1 both windows low"),
        *("S1 last window alone low", "S1 last window not low"),
        *("S2 too few rounds", "S2 rising or flat", "S2 falling slowly", "S2 falling"),
        *("S3 all led", "S3 somebody never led"),
        *("S4 enough absent", "S4 too few absent", "S4 nobody absent"),
        *("S6 no claims", "S6 few pending", "S6 many pending"),
    },
    "text": {
        *("S1 too few rounds", "S1 nothing ever moved", "S1 both windows low"),
        *("S1 last window alone low", "S1 last window not low"),
        *("S2 too few rounds", "S2 holds, late too", "S2 holds, late collapse"),
        *("S2 fades, discovery too", "S2 fades, discovery not"),
        *("S3 somebody never led", "S3 spread", "S3 dominated"),
        *("S4 enough absent", "S4 critic absent", "S4 too few absent", "S4 nobody absent"),
        *("S5 none", "S5 all pass", "S5 last is no pass", "S5 a fail unanswered", "S5 every fail answered"),
        *("S6 no claims", "S6 few pending", "S6 many pending"),
    },
}
BRANCHES = {(profile, branch) for profile, branches in _BRANCHES.items() for branch in branches} | {
    ("alarm", "raised"),
    ("alarm", "silent"),
}


def compare(rows: Rows, seen: Counter[tuple[str, str]]) -> None:
    """After every round of `rows`, the reports and the oracles agree on all six signals, and on the alarm."""
    made = built(rows)
    at_end = ends(made)
    for number in range(rows.last_round + 1):
        at = max(seq for round_, seq in at_end.items() if round_ <= number)
        past = rows.upto(number)
        for profile, oracle in ORACLES.items():
            expected = oracle(past)
            report = signals(made, profile, at)
            verdicts = [signal.satisfied for signal in report.signals]
            assert verdicts == [answer.satisfied for answer in expected], (profile, number, expected)
            satisfied = sum(verdicts)
            assert (report.satisfied, report.stop, report.at) == (satisfied, satisfied >= 4, at)
            seen.update((profile, answer.branch) for answer in expected)
        alarm = slope_alarm(fold(made.events[: at + 1]))
        found = None if alarm is None else (alarm.onset_round, len(alarm.slopes))
        assert found == text_signals.slope_alarm(past)
        seen["alarm", "raised" if alarm else "silent"] += 1


def test_labelled_ledgers_read_as_the_oracles_read_them_after_every_round():
    seen: Counter[tuple[str, str]] = Counter()
    for path in LABELLED:
        compare(read_rows(path), seen)
    assert seen["script", "S1 both windows low"]
    assert seen["text", "S1 last window not low"]
    assert seen["alarm", "raised"]


def test_labelled_ledgers_that_moot_imports_read_the_same():
    for path in LABELLED:
        imported = read_skill({file.name: file.read_bytes() for file in path.glob("*.jsonl")})
        assert not imported.bad
        numbered = (msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(imported.events))
        made = book(numbered, Blobs(dict(imported.blobs)))
        rows = read_rows(path)
        for number, at in ends(made).items():
            for profile, oracle in ORACLES.items():
                verdicts = [reading.satisfied for reading in signals(made, profile, at).signals]
                assert verdicts == [answer.satisfied for answer in oracle(rows.upto(number))]


@pytest.mark.slow  # hundreds of random ledgers
def test_generated_ledgers_read_as_the_oracles_read_them_in_every_branch():
    seen: Counter[tuple[str, str]] = Counter()

    @settings(max_examples=250)
    @given(generated_rows())
    def agree(rows: Rows) -> None:
        compare(rows, seen)

    agree()
    assert sorted(BRANCHES - set(seen)) == [], "branches that no generated ledger met"


@pytest.mark.campaign
@settings(max_examples=5_000)
@given(generated_rows())
def test_many_generated_ledgers_read_as_the_oracles_read_them(rows):
    compare(rows, Counter())
