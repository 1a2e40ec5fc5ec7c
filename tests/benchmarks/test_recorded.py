"""The table of stop checks over recorded runs, on a long scripted one."""

from __future__ import annotations

from benchmarks import recorded
from moot.api import open_run
from tests.long_run import long_run


def test_a_long_run_is_read_round_by_round_by_both_profiles() -> None:
    looks = list(recorded.looks(open_run(long_run()).book))
    assert [look.round for look in looks] == list(range(1, 14))
    assert all(look.failing[0] == "examined" for look in looks)
    assert {look.stops[1] for look in looks} == {False}
    assert looks[-1].alarms == ("FM-9",)
    assert all("FM-5" in look.alarms for look in looks if look.round in (3, 4))
