"""The six signals against a slow restatement, on labelled ledgers and on generated ones, after every round."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings

from detectors.signals import signals, slope_alarm
from ledger.interchange.skill_import import read_skill
from ledger.state.book import book
from ledger.state.fold import fold
from tests.data import LABELLED
from tests.detectors.generated import rows as generated_rows
from tests.detectors.ledgers import Blobs, built, ends
from tests.oracles import text_signals
from tests.oracles.rows import Rows, read_rows

BRANCHES = {
    *("S1 too few rounds", "S1 nothing ever moved", "S1 both windows low"),
    *("S1 last window alone low", "S1 last window not low"),
    *("S2 too few rounds", "S2 holds, late too", "S2 holds, late collapse"),
    *("S2 fades, discovery too", "S2 fades, discovery not"),
    *("S3 somebody never led", "S3 spread", "S3 dominated"),
    *("S4 enough absent", "S4 critic absent", "S4 too few absent", "S4 nobody absent"),
    *("S5 none", "S5 all pass", "S5 last is no pass", "S5 a fail unanswered", "S5 every fail answered"),
    *("S6 no claims", "S6 few pending", "S6 many pending"),
    *("alarm raised", "alarm silent"),
}


def compare(rows: Rows, seen: Counter[str]) -> None:
    """After every round of `rows`, the report and the oracle agree on all six signals, and on the alarm."""
    made = built(rows)
    at_end = ends(made)
    for number in range(rows.last_round + 1):
        at = max(seq for round_, seq in at_end.items() if round_ <= number)
        past = rows.upto(number)
        expected = text_signals.answers(past)
        report = signals(made, "published", at)
        verdicts = [signal.satisfied for signal in report.signals]
        assert verdicts == [answer.satisfied for answer in expected], (number, expected)
        satisfied = sum(verdicts)
        assert (report.satisfied, report.stop, report.at) == (satisfied, satisfied >= 4, at)
        seen.update(answer.branch for answer in expected)
        alarm = slope_alarm(fold(made.events[: at + 1]))
        found = None if alarm is None else (alarm.onset_round, len(alarm.slopes))
        assert found == text_signals.slope_alarm(past)
        seen["alarm raised" if alarm else "alarm silent"] += 1


def test_labelled_ledgers_read_as_the_oracles_read_them_after_every_round():
    seen: Counter[str] = Counter()
    for path in LABELLED:
        compare(read_rows(path), seen)
    assert seen["S1 last window not low"]
    assert seen["alarm raised"]


def test_labelled_ledgers_that_moot_imports_read_the_same():
    for path in LABELLED:
        imported = read_skill({file.name: file.read_bytes() for file in path.glob("*.jsonl")})
        assert not imported.bad
        numbered = (msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(imported.events))
        made = book(numbered, Blobs(dict(imported.blobs)))
        rows = read_rows(path)
        for number, at in ends(made).items():
            verdicts = [reading.satisfied for reading in signals(made, "published", at).signals]
            assert verdicts == [answer.satisfied for answer in text_signals.answers(rows.upto(number))]


@pytest.mark.slow  # hundreds of random ledgers
def test_generated_ledgers_read_as_the_oracles_read_them_in_every_branch():
    seen: Counter[str] = Counter()

    @settings(max_examples=120)
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
