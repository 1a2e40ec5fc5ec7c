"""Where one command points to another, the other shows what was promised."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Moot

RUN = str(Path(__file__).parents[2] / "runs" / "examples" / "library-minimum-8")


def test_decisions_point_to_the_quoted_sentence(moot: Moot) -> None:
    last = moot("decisions", RUN).out.strip().splitlines()[-1]
    assert last.startswith("what a verdict saw and quotes: moot log ")
    said = moot(*last.split("moot ", 1)[1].split())
    assert said.code == 0
    assert '"quote": "' in said.out


def test_the_panel_points_to_the_older_questions(moot: Moot) -> None:
    panel = moot("signals", RUN, "--all").out
    assert "older ones: `moot log RUN --kind concern`" in panel
    asked = [line for line in moot("log", RUN, "--kind", "concern").out.splitlines() if "N-3-1" in line]
    assert asked


def test_a_rejected_outcome_has_no_edit_distance(moot: Moot, tmp_path: Path) -> None:
    run = tmp_path / "notice"
    shutil.copytree(Path(RUN).with_name("ratchet-notice"), run)
    used = tmp_path / "used.md"
    used.write_text("Quite another text.\n")
    assert moot("outcome", str(run), "edited", str(used)).code == 0
    assert moot("study", "value", str(run), "--json").json["runs"][0]["edit_distance"] == "high"
    assert moot("outcome", str(run), "rejected").code == 0
    value = moot("study", "value", str(run), "--json").json["runs"][0]
    assert (value["accepted"], value["edit_distance"]) == (False, None)
