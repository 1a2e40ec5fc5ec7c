"""A short slice of every campaign, and the driver: it remembers, resumes, stops in time and writes the page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.campaign import files, inputs, kills, lines, page, power, runs, tampering, writers
from tests.campaign.__main__ import main
from tests.campaign.running import run_slice
from tests.campaign.slices import Broken, Row, keep_row, read_rows
from tests.campaign.table import CAMPAIGNS, Campaign, campaign

pytestmark = pytest.mark.slow

FAR: dict[str, int] = {
    "flips": 20_000,
    "lines": 400,
    "blobs": 120,
    "rewrites": 60,
    "faults": 40,
    "processes": 40,
}
"""Campaign → into how many slices it is cut here, so that the first one is short."""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of the size that a test may take."""
    for module, name, value in (
        (kills, "KILLS", 20),
        (writers, "ROUNDS", 8),
        (writers, "ROUNDS_OF_A_RUN", 4),
        (runs, "KILLS", 2),
        (power, "TRACES", 1),
        (power, "CUTS", 1),
        (lines, "LINES", 1_500),
        (lines, "LAWFUL_OF_A_KIND", 4),
        (inputs, "REPLIES", 30),
        (inputs, "IMPORTS", 15),
        (inputs, "DELIBERATIONS", 30),
        (files, "FILES", 12),
        (files, "MESSAGES", 10),
    ):
        monkeypatch.setattr(module, name, value)


@pytest.mark.parametrize("one", CAMPAIGNS, ids=lambda one: one.name)
def test_a_slice_holds(one: Campaign) -> None:
    counts = one._replace(slices=FAR.get(one.name, one.slices)).run(0)
    if "slices passed over, for want of strace" in counts:
        pytest.skip("strace is not here")
    assert all(counts[what] > 0 for what in one.goals), counts


def test_what_breaks_is_remembered_with_its_slice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        tampering, "verify", lambda path: (_ for _ in ()).throw(Broken(f"not seen in {path}"))
    )
    row = run_slice("lines", 3, "abc")
    assert (row.slice, row.counts) == (3, {})
    assert row.broken.startswith("Broken: not seen in ")


def test_finished_slices_are_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    state = tmp_path / "state"
    for index in range(campaign("rewrites").slices - 1):
        keep_row(state, Row("rewrites", index, {"rewritings": 1}, 0.1, "abc"))
    assert main(["rewrites", "--minutes", "0"], state) == 0
    rows = read_rows(state, "rewrites")
    assert len(rows) == campaign("rewrites").slices
    assert rows[0].counts == {"rewritings": 1}
    assert main(["rewrites"], state) == 0
    assert (state / "rewrites.jsonl").read_bytes().count(b"\n") == len(rows)


def test_a_broken_slice_fails_the_campaign_and_time_that_is_up_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
    keep_row(tmp_path, Row("blobs", 0, {}, 0.1, "abc"))
    assert main(["blobs", "--page"], tmp_path) == 4
    keep_row(tmp_path, Row("blobs", 1, {}, 0.1, "abc", "Broken: it was seen"))
    assert main(["blobs", "--page"], tmp_path) == 1
    assert "**Broken** in slice 1: Broken: it was seen" in (tmp_path / "page.md").read_text("utf-8")


def test_the_page_has_every_campaign_and_what_is_whole_reached_its_goals() -> None:
    """As it is published every one is whole; a campaign that was begun anew writes what it has seen so far."""
    text = page.PAGE.read_text("utf-8")
    for one in CAMPAIGNS:
        section = text.split(f"\n## {one.name}\n")[1].split("\n## ")[0]
        assert "**Broken**" not in section, one.name
        for what, goal in one.goals.items() if f"{one.slices} of {one.slices} slices" in section else ():
            count = re.search(rf"\| {re.escape(what)} \| ([0-9,]+) \|", section)
            assert count is not None
            assert int(count[1].replace(",", "")) >= goal, one.name
