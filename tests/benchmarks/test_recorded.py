"""What the page about evidence says of the recorded runs."""

from __future__ import annotations

from pathlib import Path

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
