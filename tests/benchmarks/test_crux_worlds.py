"""The simulated worlds of `crux`: the rule ends within its replies, and figures and intervals are what they say."""

from __future__ import annotations

import pytest

from benchmarks import crux
from benchmarks.crux_worlds import stored
from benchmarks.crux_worlds.intervals import difference, share
from benchmarks.crux_worlds.rule import run
from benchmarks.crux_worlds.world import CIRCUMSTANCES, Circumstances, World, leader

STATUSES = {"short", "decided", "your_call", "run_this_first"}


@pytest.mark.parametrize("circumstances", CIRCUMSTANCES, ids=lambda circumstances: circumstances.name)
def test_every_world_ends_within_its_replies(circumstances: Circumstances) -> None:
    for seed in range(12):
        ended = run(seed, circumstances, repeats=0.5)
        assert ended.status in STATUSES
        assert 4 <= ended.replies <= 21
        if not circumstances.runnable:
            assert ended.replies in (4, 8, 9, 13)
            assert ended.second_programs == 0


def test_a_world_is_the_same_twice_and_whatever_was_asked_of_it_before() -> None:
    world, again = World(3, CIRCUMSTANCES[7]), World(3, CIRCUMSTANCES[7])
    again.second_program(0, repeats=0.5)
    again.program(1)
    for fact in world.facts:
        assert world.program(fact) == again.program(fact)
        assert world.numbers(world.seats[0], fact) == again.numbers(again.seats[0], fact)
    assert run(3, CIRCUMSTANCES[0]) == run(3, CIRCUMSTANCES[0])


def test_numbers_of_a_seat_are_whole_and_fit_its_forecast() -> None:
    for seed in range(40):
        world = World(seed, CIRCUMSTANCES[0])
        for seat in world.seats:
            for fact in world.facts:
                q, true, false = world.numbers(seat, fact)
                assert sum(seat.forecast) == sum(true) == sum(false) == 100
                mixed = [(q * t + (100 - q) * f) / 100 for t, f in zip(true, false, strict=True)]
                assert all(abs(m - p) <= 10 for m, p in zip(mixed, seat.forecast, strict=True))


def test_a_second_program_repeats_the_errors_that_it_is_told_to_repeat() -> None:
    circumstances = next(one for one in CIRCUMSTANCES if one.run_is_right == 0.65)
    repeated = {0.0: 0, 1.0: 0}
    wrong = 0
    for seed in range(300):
        world = World(seed, circumstances)
        first = world.program(0)
        if (first == "holds") != world.truth[0]:
            wrong += 1
            for repeats in repeated:
                repeated[repeats] += world.second_program(0, repeats) == first
    assert repeated[1.0] == wrong
    assert 0.2 * wrong < repeated[0.0] < 0.5 * wrong


def test_the_stored_results_of_release_0_1_belong_to_these_worlds() -> None:
    rows = stored.read()
    assert set(rows) == {circumstances.name for circumstances in CIRCUMSTANCES}
    for circumstances in CIRCUMSTANCES:
        row = rows[circumstances.name]
        assert len(row.right) == len(row.replies) == stored.WORLDS
        assert sum(row.reasons.values()) == stored.WORLDS
        for seed in (0, 1, 2, 1234, 1999):
            world = World(seed, circumstances)
            assert row.first_answers[seed] == (leader([seat.forecast for seat in world.seats]) == world.right)


def test_the_stored_results_are_the_published_ones() -> None:
    """The table that docs/crux.md of release 0.1 printed: first answers, rule and everything run, in worlds."""
    row = stored.read()[CIRCUMSTANCES[0].name]
    assert [round(share(right).figure, 1) for right in (row.first_answers, row.right, row.all_tested)] == [
        75.4,
        90.5,
        92.8,
    ]
    assert round(sum(row.replies) / len(row.replies), 1) == 15.5


def test_a_share_has_its_score_interval() -> None:
    """8 of 10 by hand: 49.0 to 94.3 percent."""
    assert [round(value, 1) for value in share([True] * 8 + [False] * 2)] == [80.0, 49.0, 94.3]


def test_a_difference_has_its_paired_interval() -> None:
    """100 pairs, 8 won and 2 lost, by hand: 6 / 102 plus or minus 1.96 · √(11 − 36 / 102) / 102."""
    pairs = [(True, False)] * 8 + [(False, True)] * 2 + [(True, True)] * 90
    figures = difference([mine for mine, _ in pairs], [theirs for _, theirs in pairs])
    assert [round(value, 2) for value in figures] == [6.0, -0.39, 12.15]


def test_two_rules_that_never_differ_have_an_interval_around_nothing() -> None:
    figure, low, high = difference([True, False] * 50, [True, False] * 50)
    assert figure == 0
    assert low == -high
    assert 0 < high < 2


@pytest.mark.slow
def test_the_command_prints_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    crux.main(["--worlds", "20"])
    printed = capsys.readouterr().out
    runnable = sum(circumstances.runnable > 0 for circumstances in CIRCUMSTANCES)
    assert printed.count("\n| ") == 1 + len(CIRCUMSTANCES) + runnable
    assert "met   " in printed
