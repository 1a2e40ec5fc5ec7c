"""Where one command points to another, the other shows what was promised."""

from __future__ import annotations

import shutil
from pathlib import Path

from ledger.events import Concern
from moot.api import open_run
from tests.cli.conftest import Moot
from tests.long_run import long_run
from tests.protocols.playing import played


def test_decisions_point_to_the_quoted_sentence(moot: Moot) -> None:
    last = moot("decisions", long_run()).out.strip().splitlines()[-1]
    assert last.startswith("what a verdict saw and quotes: moot log ")
    said = moot(*last.split("moot ", 1)[1].split())
    assert said.code == 0
    assert '"quote": "' in said.out


def test_the_panel_points_to_the_older_questions(moot: Moot) -> None:
    panel = " ".join(moot("signals", long_run(), "--all").out.split())
    assert "older ones: `moot log RUN --kind concern`" in panel
    oldest = next(one for one in open_run(long_run()).book.of(Concern) if one.for_human)
    assert str(oldest.id) in moot("log", long_run(), "--kind", "concern").out


def test_a_rejected_outcome_has_no_edit_distance(moot: Moot, tmp_path: Path) -> None:
    run = tmp_path / "notice"
    shutil.copytree(played("ratchet"), run)
    used = tmp_path / "used.md"
    used.write_text("Quite another text.\n")
    assert moot("outcome", str(run), "edited", str(used)).code == 0
    assert moot("study", "value", str(run), "--json").json["runs"][0]["edit_distance"] == "high"
    assert moot("outcome", str(run), "rejected").code == 0
    value = moot("study", "value", str(run), "--json").json["runs"][0]
    assert (value["accepted"], value["edit_distance"]) == (False, None)
