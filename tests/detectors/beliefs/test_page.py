"""The example of docs/crux.md is a table, and comes to what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.detectors.beliefs.tables import beliefs

PAGE = Path(__file__).resolve().parents[3] / "docs" / "crux.md"


def test_the_table_on_the_page_is_one():
    (example,) = re.findall(r"^```json\n(.*?)^```", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    first, last = beliefs(json.loads(example)).rounds
    assert first.cruxes[0].evsi.model_dump() == {"reproduced": 11.8, "argued": 0.0}
    assert first.stop.reason == "go_on"
    assert last.derived == ["action"]
    assert list(last.roles) == ["action"]  # the critic's numbers were lost
