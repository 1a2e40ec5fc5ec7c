"""The simulated worlds that the stop checks are scored in: what a world changes is seen, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.signal_worlds.course import plan_of, played
from benchmarks.signal_worlds.ledgers import Setting, Simulation
from benchmarks.signal_worlds.world import (
    CONFIRMING,
    LIVE,
    PUBLISHED,
    RENEWING,
    TOGETHER,
    TURNING,
    WORLDS,
    World,
)
from benchmarks.signals import SCORED_FROM, Job, Line, lines, play, wilson

SEEDS = range(12)
PAGE = Path(__file__).parents[2] / "docs" / "signals.md"


def _rows(world: World, name: str) -> list[dict[str, object]]:
    files = [Simulation(Setting(seed=seed, world=world)).files()[f"{name}.jsonl"] for seed in SEEDS]
    return [json.loads(row) for content in files for row in content.splitlines()]


def test_a_knob_is_turned_in_its_world_and_changes_what_it_is_about() -> None:
    results = {row["result"] for row in _rows(CONFIRMING, "verifications")}
    assert "BROKEN" not in results
    assert "BROKEN" in {row["result"] for row in _rows(PUBLISHED, "verifications")}
    lost = [row for row in _rows(CONFIRMING, "verifications") if "positions_pre" not in row]
    kept = [
        row for row in _rows(replace(CONFIRMING, lost=0.0), "verifications") if "positions_pre" not in row
    ]
    assert len(lost) > len(kept)  # without lost fields only checks that do not apply have none
    renewed, spent = (len(_rows(world, "claims")) for world in (RENEWING, replace(RENEWING, renewal=0.0)))
    assert renewed > spent
    named = [row["anchor_ref"] for row in _rows(RENEWING, "claims")]
    assert named.count(None) < 0.05 * len(named)


def test_a_run_of_a_world_follows_from_its_seed_alone() -> None:
    assert played(RENEWING, "short-5", 3, {}, stops=True) == played(RENEWING, "short-5", 3, {}, stops=True)
    assert played(TOGETHER, "7", 1, {}, stops=False).stop is None


@pytest.mark.parametrize(
    ("plan", "rounds"), [("short-5", 4), ("minimum-8", 7), ("standard-13", 13), ("20", 20)]
)
def test_a_plan_has_its_deliberating_rounds_and_the_critic_is_absent_once(plan: str, rounds: int) -> None:
    rows = plan_of(plan)
    assert [row.round for row in rows] == list(range(1, rounds + 1))
    assert "critic" in {row.absent for row in rows}
    assert any(row.drift for row in rows)


@pytest.mark.parametrize("world", WORLDS.values(), ids=lambda world: world.name)
def test_a_healthy_run_can_become_ready_and_a_failing_one_is_alarmed(world: World) -> None:
    healthy = [played(world, "standard-13", seed, {}, stops=True) for seed in range(6)]
    assert any(one.stop is not None for one in healthy)
    assert sum(bool(one.alarms) for one in healthy) <= 2
    failing = [played(world, "standard-13", seed, {"fm6": 1.0}, stops=False) for seed in range(4)]
    assert all("FM-6" in one.alarms for one in failing)


def test_an_option_that_nobody_examines_is_alarmed_and_withholds_ready() -> None:
    found = [played(CONFIRMING, "standard-13", seed, {"fm9": 1.0}, stops=True) for seed in range(4)]
    assert all("FM-9" in one.alarms and one.stop is None for one in found)


def test_the_table_says_how_sure_it_is() -> None:
    low, high = wilson(25, 500)
    assert (round(low, 4), round(high, 4)) == (0.0341, 0.0728)
    assert Line("w", "x", 25, 500, 0.05).verdict == "met"
    assert Line("w", "x", 30, 500, 0.05).verdict == "near"
    assert Line("w", "x", 60, 500, 0.05).verdict == "MISSED"
    assert Line("w", "x", 440, 500, 0.9, at_least=True).verdict == "near"
    assert Line("w", "x", 0, 0, 0.9).verdict == "none"


def test_a_table_of_one_world_has_every_figure() -> None:
    asked: list[Job] = []

    def one_each(jobs: list[Job]) -> list[object]:
        asked.extend(jobs)
        return [play(job) for job in jobs]

    told = [line.what for line in lines("confirming", 1, 1, SCORED_FROM, one_each)]  # type: ignore[arg-type]  # lists
    assert len(told) == 3 + 6 + 8 + 1 + 7 + 1
    assert {job.seed for job in asked} == {SCORED_FROM}


def test_roles_that_hold_their_claims_back_are_found_in_the_live_world() -> None:
    starving = [played(LIVE, "standard-13", seed, {"fm5s": 1.0}, stops=False) for seed in range(10)]
    assert sum("FM-5" in one.alarms for one in starving) >= 8
    healthy = [played(LIVE, "standard-13", seed, {}, stops=False) for seed in range(10)]
    assert sum("FM-5" in one.alarms for one in healthy) <= 1


def test_the_turning_world_has_near_ties_and_late_turns() -> None:
    runs = [played(TURNING, "7", seed, {}, stops=False) for seed in range(40)]
    assert 4 <= sum(one.close for one in runs) <= 20
    assert not any(played(LIVE, "7", seed, {}, stops=False).close for seed in range(10))


def test_the_page_names_every_world() -> None:
    text = PAGE.read_text("utf-8")
    assert f"| {' | '.join(WORLDS)} |" in text
    assert all(f"| `{name}` |" in text for name in WORLDS)
