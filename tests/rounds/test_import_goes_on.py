"""R-25: somebody in the middle of a published run goes on here: a fork behind an import's last round."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pytest

from ledger.audit.verify import verify
from ledger.events import RoundOpened, RunOpened
from ledger.store.store import RunStore
from moot.app.session import session_at
from tests.cli.conftest import Moot, finished, moot
from tests.data import LABELLED
from tests.long_run import long_run
from tests.rounds.openings import play
from tests.rounds.scripted import Script
from tests.slowly import mostly_slow

__all__ = ["finished", "moot"]


def published(folder: Path, through: int, ledger: str = "01") -> Path:
    """A state directory in the published layout, as it stood after a round."""
    source = next(path for path in LABELLED if path.name == ledger)
    state = folder / "state"
    state.mkdir(parents=True)
    for file in source.glob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
        kept = [row for row in rows if row["round"] <= through]
        (state / file.name).write_text("".join(json.dumps(row) + "\n" for row in kept))
    return folder


@pytest.mark.parametrize(("ledger", "through"), mostly_slow([("05", 12), ("08", 5)], quick=1))
def test_an_import_is_finished_by_seats_here(moot: Moot, tmp_path: Path, ledger: str, through: int) -> None:
    assert (
        moot("import", "skill", published(tmp_path / "src", through, ledger), "--out", "imported").code == 0
    )
    before = {path.name: path.read_bytes() for path in Path("imported").glob("*.jsonl")}
    said = moot("fork", "imported", "-q", "Which cache?", "--seats", "host", "--out", "ours", "--json")
    assert said.code == 0, said.err
    assert said.json["round"] == through + 1
    assert said.json["waiting"]
    session = session_at(Path("ours"))
    play(session, Script(seed=3))
    state = session.book().state
    assert state.finished
    assert max(state.rounds) == max(13, through + 1)
    report = moot("check", "ours", "--json")
    errors = [one for one in report.json["findings"] if one["severity"] == "error"]
    own = next(event.seq for event in session.book().events if isinstance(event, RunOpened) and event.seq)
    assert [one for one in errors if one["seq"] >= own] == []
    assert errors == [
        one for one in moot("check", "imported", "--json").json["findings"] if one["severity"] == "error"
    ]
    assert verify("ours").ok
    for name, content in before.items():
        assert Path("ours", name).read_bytes().startswith(content)
    assert moot("replay", "ours", "--re-execute", "--quiet").code == 0
    for verb in ("status", "claims", "decisions", "signals", "report", "log"):
        assert moot(verb, "ours", "--quiet").code in (0, 1)


def test_an_import_with_documents_is_gone_on_with_and_is_said_to_be_one(moot: Moot, finished: Path) -> None:
    """R-25: its documents, which no file here names, ended the fork with exit code 70; its label was lost with it."""
    assert moot("export", finished, "exported", "--to", "skill").code == 0
    for file in Path("exported").glob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows if row["round"] <= 2))
    assert moot("import", "skill", "exported", "--out", "imported").code == 0
    opened = RunStore("imported").book().state.opened
    assert opened is not None
    assert opened.context, "the statements of an exported run are documents of the import"
    said = moot("fork", "imported", "--seats", "host", "--out", "ours", "--json")
    assert (said.code, said.json["round"]) == (0, 3), said
    names = [
        document["name"] for document in tomllib.loads(Path("ours/deliberation.toml").read_text())["context"]
    ]
    assert names == [document.name for document in opened.context]
    assert verify("ours").ok
    told = " ".join(moot("signals", "ours").out.split())
    assert "IMPORTED rounds 1 to 2 were written by another system" in told
    assert "FORK" in told
    assert moot("replay", "ours", "--re-execute", "--quiet").code == 0


def test_leads_and_stress_go_on_where_the_source_stopped(moot: Moot, tmp_path: Path) -> None:
    moot("import", "skill", published(tmp_path / "src", 5), "--out", "imported")
    moot("fork", "imported", "-q", "Which cache?", "--seats", "host", "--out", "ours", "--plan", "minimum-8")
    book = RunStore("ours").book()
    opened = book.state.opened
    assert opened is not None
    assert [(row.round, row.absent) for row in opened.plan if row.phases] == [
        (6, "guardian"),
        (7, None),
        (8, None),
    ]
    last = book.events[-1]
    assert isinstance(last, RoundOpened)
    assert (last.round, last.absent, last.plan_row) == (6, "guardian", 5)
    assert opened.goals == book.events[0].goals  # type: ignore[union-attr]  # the import's opening


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("next", "imported"), "moot fork imported"),
        (("run", "--resume", "imported", "--seats", "host"), "moot fork imported"),
        (("fork", "imported", "--seats", "host"), "-q QUESTION"),
        (("fork", "imported", "-q", "Which?", "--round", "3"), "--round 6"),
        (("fork", "imported", "-q", "Which?", "--round", "9"), "--round 6"),
    ],
)
def test_what_an_import_cannot_do_says_what_can(
    moot: Moot, tmp_path: Path, call: tuple[str, ...], said: str
) -> None:
    moot("import", "skill", published(tmp_path / "src", 5), "--out", "imported")
    refused = moot(*call)
    assert refused.code == 2
    assert said in refused.err


def test_a_fork_of_our_own_run_still_needs_its_round(moot: Moot) -> None:
    shutil.copytree(long_run(), "own")
    assert "--round" in moot("fork", "own").err
    assert moot("fork", "own", "--round", "7", "-q", "Another?").code == 2
