"""What the page about evidence says of the recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import recorded
from moot.api import open_run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence.md"


def test_no_long_run_stops_by_the_published_count_nor_by_the_gates() -> None:
    stops: dict[str, list[tuple[bool, ...]]] = {}
    for name in ("storage-standard-13", "storage-minimum-8", "library-minimum-8"):
        stops[name] = [look.stops for look in recorded.looks(open_run(recorded.EXAMPLES / name).book)]
    assert sum(map(len, stops.values())) == 29
    assert not any(published or gates for one in stops.values() for published, gates in one)
    assert "29 rounds, 3 runs" in PAGE.read_text("utf-8")


def test_the_runs_that_hang_on_a_role_are_those_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    runs = sorted(path.name for path in recorded.EXAMPLES.glob("crux-*"))
    assert recorded.main(runs) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("crux-")]
    assert len(rows) == len(runs) == 15
    leads = {row.split()[0]: {part.split()[1] for part in row.split(None, 2)[2].split(", ")} for row in rows}
    named = {name for name, found in leads.items() if len(found) > 1}
    assert named == {"crux-library-2", "crux-telemetry-2"}
    assert all(f"`{name}`" in PAGE.read_text("utf-8") for name in named)
