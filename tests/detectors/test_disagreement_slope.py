"""The alarm of SD-22: when it is raised, from where on, and by what."""

from __future__ import annotations

from detectors.report import EVIDENCE_MAX
from detectors.signals import SlopeReading, slope_alarm
from tests.detectors.ledgers import built
from tests.detectors.made import disagreement, leads, report, verdicts


def alarm(counts, stressed=()):
    rows = disagreement(counts)
    numbers = {row["round"] for row in rows.verifications}
    rows.lead_history = leads({n: ("action", "critic" if n in stressed else None) for n in sorted(numbers)})
    return slope_alarm(built(rows).state)


def test_it_is_raised_at_the_fourth_round_at_the_earliest():
    assert alarm([4, 3, 2]) is None
    found = alarm([4, 3, 2, 1])
    assert found is not None
    assert found.onset_round == 3
    assert found.slopes == (SlopeReading(3, "-1"), SlopeReading(4, "-1"))


def test_one_negative_reading_is_not_two():
    assert alarm([1, 2, 3, 3, 0]) is None  # negative for the first time at round 5
    found = alarm([1, 2, 3, 3, 0, 0])
    assert found is not None
    assert found.slopes == (SlopeReading(5, "-0.1"), SlopeReading(6, "-0.314286"))


def test_a_flat_or_rising_slope_is_silent():
    assert alarm([]) is None
    assert alarm([2, 2, 2, 2, 2]) is None
    assert alarm([0, 0, 1, 2, 4]) is None


def test_it_ends_when_disagreement_comes_back():
    assert alarm([3, 2, 1, 1, 1]) is not None
    assert alarm([3, 2, 1, 1, 1, 4, 4]) is None


def test_stress_rounds_are_left_out():
    assert alarm([4, 3, 2, 1, 4], stressed={5}) is not None
    assert alarm([4, 3, 2, 0], stressed={4}) is None
    found = alarm([4, 3, 0, 0, 2, 1], stressed={3, 4})
    assert found is not None
    assert [reading.round for reading in found.slopes] == [5, 6]


def test_its_evidence_is_what_took_the_place_of_disagreement():
    found = slope_alarm(built(verdicts({1: "BB", 2: "BRU", 3: "RBR", 4: "RRR"})).state)
    assert found is not None
    assert found.evidence == ("V-4-1", "V-4-2", "V-4-3", "V-3-1", "V-3-3")
    many = slope_alarm(built(verdicts({1: "BBBB", 2: "BBB", 3: "B", 4: "R" * 99})).state)
    assert many is not None
    assert len(many.evidence) == EVIDENCE_MAX


def test_the_published_report_shows_it():
    alarms = report(disagreement([4, 3, 2, 1]), "published").alarms
    assert len(alarms) == 1
    for entry in alarms:
        assert (entry.id, entry.verdict, entry.onset_round, entry.e_value) == ("FM-1", "ALARM", 3, None)
        assert "R3 -1, R4 -1" in entry.detail
