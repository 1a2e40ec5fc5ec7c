"""The verbs that say what was answered before anything else: `list`, `diff`, `decisions --final`, `next`, `submit`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.state.decided import final_in_force
from moot.api import open_run
from tests.cli.conftest import Moot, content
from tests.long_run import long_run
from tests.protocols.playing import begin, play, played


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A finished run, an open one, and one that cannot be read."""
    play(begin(tmp_path / "runs" / "a-finished", "priority"))
    begin(tmp_path / "runs" / "b-open", "tribunal")
    shutil.copytree(tmp_path / "runs" / "a-finished", tmp_path / "runs" / "c-broken")
    (tmp_path / "runs" / "c-broken" / "head").write_text("nothing\n")
    return tmp_path / "runs"


def test_a_list_says_what_each_run_answers(moot: Moot, runs: Path) -> None:
    said = moot("list", "--json").json
    by_name = {run["run"]: run for run in said["runs"]}
    assert set(by_name) == {"a-finished", "b-open", "c-broken"}
    finished = by_name["a-finished"]
    (decision,) = [one for one in open_run(runs / "a-finished").decisions if one.type == "final"]
    assert (finished["answer"], finished["decision"]) == (
        open_run(runs / "a-finished").outcome.answer,
        decision.id,
    )
    assert (finished["state"], finished["by_person"], finished["problem"]) == ("finished", False, None)
    assert (by_name["b-open"]["state"], by_name["b-open"]["status"]) == ("running", "running")
    assert by_name["b-open"]["decision"] is None
    assert by_name["c-broken"]["state"] == "unreadable"
    assert by_name["c-broken"]["problem"]
    told = moot("list").out
    block = told[told.index("a-finished   ") :].splitlines()
    assert block[1][:90] == f"  {finished['answer']}"[:90]
    assert block[2].startswith("  finished, priority, 2 replies, ")


def test_an_override_is_the_answer_and_says_so(moot: Moot, runs: Path) -> None:
    (decision,) = [one for one in open_run(runs / "a-finished").decisions if one.type == "final"]
    assert moot("override", "a-finished", decision.id, "First the database.").code == 0
    (run,) = [one for one in moot("list", "--json").json["runs"] if one["run"] == "a-finished"]
    assert "First the database." in run["answer"]
    assert (run["by_person"], run["finals"]) == (True, 1)
    finals = moot("decisions", "a-finished", "--final", "--json").json["decisions"]
    assert [one["type"] for one in finals] == ["final", "override"]
    (standing,) = moot("decisions", "a-finished", "--final", "--in-force", "--json").json["decisions"]
    assert standing["text"] == "First the database."


def test_only_so_many_are_listed_and_the_rest_is_counted(runs: Path) -> None:
    import moot as library

    found = library.list_runs(runs, at_most=1)
    assert (len(found.runs), found.more) == (1, 2)


@pytest.mark.usefixtures("runs")
def test_a_comparison_begins_with_the_answers(moot: Moot) -> None:
    same = moot("diff", "a-finished", "a-finished")
    assert same.out.startswith("same answer\n")
    told = moot("diff", "a-finished", "b-open")
    assert told.out.splitlines()[0].startswith("A  Order by the sum")
    assert "\nB  no final decision\n" in told.out
    both = moot("diff", long_run(), played("debate"), "--json").json["answers"]
    final, *_ = final_in_force(open_run(long_run()).state)
    assert (both["same"], both["a"]["decision"], both["b"]["decision"]) == (False, final, "D-1-1")
    chosen = moot("diff", played("comparative"), played("comparative"), "--json").json["answers"]
    assert chosen["same"] is True
    assert chosen["a"]["chosen"] == chosen["a"]["about"][0]


@pytest.mark.usefixtures("runs")
def test_open_steps_are_listed_and_one_is_shown(moot: Moot) -> None:
    listed = moot("next", "b-open")
    assert listed.code == 0
    assert "3 steps are open, side by side" in listed.out
    assert "prompt and schema: moot next " in listed.out
    assert len(listed.out.splitlines()) == 8
    one = moot("next", "b-open", "r1.analyse.safety")
    assert "schema of the reply to r1.analyse.safety" in one.out
    assert "r1.analyse.utility" not in one.out
    (step,) = moot("next", "b-open", "r1.analyse.safety", "--json").json["steps"]
    assert step["brief"] in one.out
    assert moot("next", "b-open", "r9.analyse.safety").code == 1
    assert moot("next", "b-open", "r1.analyse.safety", "--role", "safety").code == 2


def test_a_form_that_is_filled_in_is_a_reply(moot: Moot, runs: Path) -> None:
    form = moot("next", "b-open", "r1.analyse.safety", "--template").out
    assert form.startswith("# The reply to r1.analyse.safety.")
    file = Path("reply.toml")
    file.write_text(form)
    before = content(runs / "b-open")
    assert moot("submit", "b-open", "r1.analyse.safety", file).code == 2  # nothing is filled in
    file.write_text(form.replace("'''\n'''", '"Nothing reads it."').replace('""', "40"))
    wrong = file.read_text().replace("40", '"many"', 1)
    Path("wrong.toml").write_text(wrong)
    assert moot("submit", "b-open", "r1.analyse.safety", "wrong.toml").code == 1
    Path("broken.toml").write_text("reasoning")
    assert "no form that can be read" in moot("submit", "b-open", "r1.analyse.safety", "broken.toml").err
    assert content(runs / "b-open") == before
    assert moot("submit", "b-open", "r1.analyse.safety", file).code == 0
    assert "r1.analyse.safety" in open_run(runs / "b-open").state.answered
    assert moot("next", "b-open", "--template").code == 2
