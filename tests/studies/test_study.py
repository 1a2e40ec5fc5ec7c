"""Studies from the file to the report: what is opened, what waits, what is counted, and what is refused.

Of `moot/studies/conduct.py`, `moot/studies/definition.py`, `moot/studies/progress.py`, `moot/studies/units.py`.
"""

from __future__ import annotations

import json
import pickle
import shutil
from hashlib import sha256
from pathlib import Path

import pytest

from moot.__main__ import main
from moot.documents import study_markdown
from moot.errors import GOOD, NO, USAGE, WAITING, DeliberationError, MootError
from moot.studies.conduct import standing_of
from moot.studies.definition import read_keys, read_study
from moot.studies.progress import queue_of, status_of
from moot.studies.report import report_of
from moot.studies.units import StudyUnit, deliberation_for, distinct, jobs_of, last_of, units_of
from moot.view.study import report_text
from moot.web.report import study_page
from tests.studies.scripted import answered, arm, conducted, filled, heads, taped, written

ROOT = Path(__file__).resolve().parents[2]
TWO = arm("single", "single-pass") + arm("best", "single-pass", "best_of = 2")
CRUX = arm("single", "single-pass") + arm("crux", "crux")


def test_every_unit_has_its_runs_and_no_name_says_which(tmp_path: Path) -> None:
    study = written(tmp_path, TWO, more="repetitions = 2")
    jobs = list(jobs_of(study))
    assert len(units_of(study)) == 2 * 2 * 2
    assert len(jobs) == 4 + 4 * 3
    assert len({job.name for job in jobs}) == len(jobs)
    assert all(word not in job.name for job in jobs for word in ("one", "two", "single", "best", "draw"))


def test_items_may_be_repeated_more_often_than_the_study(tmp_path: Path) -> None:
    study = written(tmp_path, TWO)
    text = (tmp_path / "study.toml").read_text().replace('id = "two"', 'id = "two"\nrepetitions = 3')
    (tmp_path / "study.toml").write_text(text)
    study = read_study(str(tmp_path))
    assert sorted(unit.item for unit in units_of(study)).count("two") == 3 * 2


def test_one_question_asked_several_times_says_how_far_the_answers_agree(tmp_path: Path) -> None:
    study = written(tmp_path, arm("single", "comparative"), items=["one"], more="repetitions = 3", options=2)
    found = filled(study)
    chosen = [found.answer(last_of(study, unit)).chosen for unit in units_of(study)]
    assert all(choice in ("O-1", "O-2") for choice in chosen)
    pairs = [a == b for n, a in enumerate(chosen) for b in chosen[n + 1 :]]
    report = report_of(found, {})
    assert [line.agreement for line in report.arms] == [sum(pairs) / 3]
    assert "agreement" in report_text(report)


def test_a_study_of_host_seats_is_filled_from_one_queue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = written(tmp_path, TWO)
    assert main(["study", "status", str(tmp_path)]) == WAITING
    assert "nothing is begun" in capsys.readouterr().out
    assert main(["study", "run", str(tmp_path), "--workers", "1"]) == WAITING
    capsys.readouterr()
    assert main(["next", str(tmp_path), "--json"]) == GOOD
    queue = json.loads(capsys.readouterr().out)
    assert len(queue["steps"]) == 2 + 2 * 2, "a run for each answer; the choices wait for theirs"
    assert len({step["alike"] for step in queue["steps"]}) == 2
    assert not any(name in json.dumps(queue["steps"]) for name in ("single", "best"))
    found = filled(study)
    assert {end.state for end in found.ends.values()} == {"finished"}
    assert main(["next", str(tmp_path)]) == GOOD
    assert "came out" in capsys.readouterr().out
    assert main(["study", "run", str(tmp_path)]) == GOOD
    assert main(["study", "status", str(tmp_path)]) == GOOD


def test_the_choice_is_given_the_answers_and_nothing_that_names_the_arm(tmp_path: Path) -> None:
    study = written(tmp_path, TWO, items=["one"])
    found = filled(study)
    choice = found.path(last_of(study, StudyUnit("one", "best", 1)))
    opened = (choice / "deliberation.toml").read_text()
    assert "answer-1.md" in opened
    assert "answer-2.md" in opened
    assert "best" not in opened.replace("best_", "")


def test_what_came_out_is_never_played_again(tmp_path: Path) -> None:
    study = written(tmp_path, CRUX)
    before = heads(filled(study))
    played: list[str] = []
    conducted(study, lambda job, _: played.append(job.name))
    assert played == []
    assert heads(standing_of(study)) == before


def test_a_changed_plan_is_refused_once_runs_are_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, TWO)
    assert main(["study", "run", str(tmp_path), "--workers", "1", "--limit", "1"]) == WAITING
    place = tmp_path / "study.toml"
    place.write_text(place.read_text().replace("Do they differ?", "Which is best?"))
    assert main(["study", "run", str(tmp_path), "--workers", "1"]) == USAGE
    assert "is not what was planned" in capsys.readouterr().err


def test_a_run_that_cannot_be_played_is_a_result(tmp_path: Path) -> None:
    study = written(
        tmp_path, arm("single", "single-pass") + arm("lost", "single-pass", 'seats = "tape:nowhere"')
    )
    found = filled(study)
    told = status_of(found)
    assert [(one.arm, one.finished, one.failed) for one in told.arms] == [("single", 2, 0), ("lost", 0, 2)]
    assert told.state == "done"
    assert main(["study", "run", str(tmp_path)]) == NO
    report = report_of(found, {})
    assert any("2 runs failed" in one for one in report.holds_not)


def test_what_waits_for_a_failed_run_is_lost_and_not_waited_for(tmp_path: Path) -> None:
    arms = arm("single", "single-pass") + arm("best", "single-pass", 'seats = "tape:nowhere"\nbest_of = 2')
    told = status_of(filled(written(tmp_path, arms, items=["one"])))
    assert told.state == "done"
    assert next(one for one in told.arms if one.arm == "best").lost == 1


def test_right_answers_are_counted_against_keys_that_were_fixed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    keys = '[answers]\none = "O-1"\ntwo = "O-2"\n'
    fixed = f'keys_sha256 = "{sha256(keys.encode()).hexdigest()}"'
    study = written(tmp_path / "study", CRUX, more=fixed)
    (tmp_path / "keys.toml").write_text(keys)
    found = filled(study)
    report = report_of(found, read_keys(study, str(tmp_path / "keys.toml")))
    chosen = {unit: found.answer(last_of(study, unit)).chosen for unit in units_of(study)}
    for one in report.arms:
        wanted = [
            chosen[StudyUnit(item, one.arm, 1)] == key for item, key in (("one", "O-1"), ("two", "O-2"))
        ]
        assert one.right is not None
        assert one.right.value == pytest.approx(sum(wanted) / 2)
    crux = next(one for one in report.arms if one.arm == "crux")
    assert crux.brier is not None
    assert report.reliability
    assert report.against[0].arm == "crux"
    for page in (report_text(report), study_markdown(report), study_page(report)):
        assert "2 items" in page
        assert "What does not hold" in page
    assert main(["study", "report", str(tmp_path / "study"), "--keys", str(tmp_path / "keys.toml")]) == GOOD
    assert "Against single, paired by item" in capsys.readouterr().out
    (tmp_path / "keys.toml").write_text(keys.replace("O-2", "O-3"))
    assert main(["study", "report", str(tmp_path / "study"), "--keys", str(tmp_path / "keys.toml")]) == USAGE
    assert "these are not the keys of the study" in capsys.readouterr().err


def test_judges_see_both_orders_and_no_arm(tmp_path: Path) -> None:
    study = written(tmp_path, CRUX + "[judging]\n", items=["one"])
    found = filled(study)
    judged = [job for job in found.jobs if job.part.startswith("judge-")]
    texts = [(found.path(job.name) / "deliberation.toml").read_text() for job in judged]
    assert len(judged) == 2
    assert all("first.md" in text and "second.md" in text for text in texts)
    assert all(f'"{name}"' not in text for text in texts for name in ("single", "crux"))
    preferred = report_of(found, {}).preferred
    assert [(one.arm, one.pairs) for one in preferred] == [("crux", 1)]
    said = preferred[0]
    assert said.arm_preferred + said.baseline_preferred + said.neither + said.torn == 1


def test_measures_of_readers_stand_beside_the_rest(tmp_path: Path) -> None:
    study = written(tmp_path, CRUX)
    found = filled(study)
    rows = ["item,arm,repetition,measure,value"]
    rows += [
        f"{item},{name},1,knew,{value}"
        for item in ("one", "two")
        for name, value in (("single", 2), ("crux", 5))
    ]
    (tmp_path / "measures.csv").write_text("\n".join(rows) + "\n")
    measures = {one.arm: one for one in report_of(found, {}).measures}
    assert measures["crux"].mean == 5
    assert measures["crux"].difference is not None
    assert measures["crux"].difference.value == 3
    (tmp_path / "measures.csv").write_text("item,arm\none,crux\n")
    with pytest.raises(MootError, match="columns"):
        report_of(found, {})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('baseline = "single"', 'baseline = "nobody"'), "is no arm"),
        (('id = "best"', 'id = "single"'), "are called 'single'"),
        (("best_of = 2", "best_off = 2"), "did you mean 'best_of'"),
        (('protocol = "single-pass"', 'protocol = "single"'), "no protocol 'single'"),
        (('baseline = "single"', 'baseline = "single"\nequal_cost = "tokens"'), "has no budget.tokens"),
    ],
)
def test_a_study_file_is_refused_with_what_is_wrong(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    written(tmp_path, TWO)
    place = tmp_path / "study.toml"
    place.write_text(place.read_text().replace(*change))
    with pytest.raises(DeliberationError, match=words):
        read_study(str(tmp_path))


def test_a_rule_that_is_none_is_refused_with_its_arm_before_anything_is_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, arm("single", "single-pass") + arm("x", "crux", 'rules = { stakes = "9" }'))
    for act in ("status", "run", "report"):
        assert main(["study", act, str(tmp_path)]) == 2
        assert (
            "rule stakes is one of low, normal, high, not '9' (study.toml, arm x" in capsys.readouterr().err
        )
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("store", "words"), [("share", "say shared, returned or"), ("nope://x", "cannot be reached")]
)
def test_a_store_that_is_none_is_refused_before_anything_is_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], store: str, words: str
) -> None:
    written(tmp_path, TWO)
    assert main(["study", "run", str(tmp_path), "--store", store, "--yes"]) == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_key_names_an_option_of_its_item(tmp_path: Path) -> None:
    study = written(tmp_path, TWO)
    (tmp_path / "keys.toml").write_text('[answers]\none = "O-3"\n')
    assert read_keys(study, str(tmp_path / "keys.toml")) == {"one": "O-3"}
    (tmp_path / "keys.toml").write_text('[answers]\none = "O-4"\n')
    with pytest.raises(MootError, match="one has no option 'O-4'"):
        read_keys(study, str(tmp_path / "keys.toml"))


def test_an_error_for_a_person_comes_whole_from_another_process() -> None:
    error = MootError("seat_failed", "what", "where", "fix", 5, "more")
    again = pickle.loads(pickle.dumps(error))
    assert (again.line, again.code, again.exit_code, again.more) == (error.line, "seat_failed", 5, "more")


def test_arms_of_equal_cost_may_spend_alike_and_no_other(tmp_path: Path) -> None:
    def arms(calls: int) -> str:
        single = arm("single", "single-pass", f"[arm.budget]\ncalls = {calls}")
        return single + arm("best", "single-pass", "best_of = 2\n[arm.budget]\ncalls = 2")

    written(tmp_path, arms(6), more='equal_cost = "calls"')
    with pytest.raises(DeliberationError, match="may spend"):
        written(tmp_path, arms(3), more='equal_cost = "calls"')


def test_an_item_reaches_no_further_than_the_study(tmp_path: Path) -> None:
    (tmp_path / "outside.toml").write_text('[deliberation]\nquestion = "What?"\n')
    written(tmp_path / "study", TWO)
    place = tmp_path / "study" / "study.toml"
    place.write_text(place.read_text() + '[[item]]\nid = "three"\nfile = "../outside.toml"\n')
    with pytest.raises(MootError, match="lies outside the study"):
        read_study(str(tmp_path / "study"))


def test_programs_that_a_study_names_need_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path, arm("single", "single-pass", 'seats = "command:rm -rf /"'))
    assert main(["study", "run", str(tmp_path)]) == USAGE
    assert "--allow-commands" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_new_writes_a_study_that_can_be_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "new", str(tmp_path / "mine"), "-q", "Does it help?"]) == GOOD
    told = capsys.readouterr().out
    assert "1 item: no difference can show" in told
    assert "12 items: differences of 58 points" in told
    assert len(read_study(str(tmp_path / "mine")).file.arm) == 4
    assert main(["study", "run", str(tmp_path / "mine"), "--limit", "1", "--workers", "1"]) == WAITING
    assert main(["study", "new", str(tmp_path / "mine")]) == USAGE


def test_recordings_are_played_to_the_same_heads(tmp_path: Path) -> None:
    study = taped(tmp_path, ["one"], "repetitions = 2")
    found = conducted(study)
    assert {end.state for end in found.ends.values()} == {"finished"}
    first = heads(found)
    again = read_study(str(written_again(tmp_path)))
    assert heads(conducted(again)) == first


def written_again(tmp_path: Path) -> Path:
    """The same study file in another place."""
    place = tmp_path / "again"
    place.mkdir()
    (place / "study.toml").write_bytes((tmp_path / "study" / "study.toml").read_bytes())
    return place


def test_the_queue_says_what_nobody_opened_yet(tmp_path: Path) -> None:
    study = written(tmp_path, TWO, items=["one"])
    conducted(study, limit=1)
    found = queue_of(standing_of(study))
    assert (len(found.steps), found.to_open) == (1, 2)
    everything = conducted(study)
    for job in everything.jobs:
        if everything.path(job.name).is_dir():
            from moot.app.session import Session

            answered(Session(everything.path(job.name)))
    assert queue_of(standing_of(study)).to_open == 1, "the choice is ready and not open"


def test_assumptions_that_say_the_same_are_counted_once() -> None:
    same = ("The team knows PostgreSQL well.", "Our team knows PostgreSQL very well")
    other = "Sessions expire after thirty minutes."
    assert distinct([*same, other]) == [same[0], other]
    assert distinct(["Yes.", "Yes.", "No."]) == ["Yes."], "without long words nothing tells them apart"


WHOLE = [
    path for path in sorted((ROOT / "studies").glob("*/study.toml")) if "file = " not in path.read_text()
]


@pytest.mark.parametrize("place", WHOLE, ids=lambda one: one.parent.name)
def test_a_study_that_ships_can_be_opened(place: Path, tmp_path: Path) -> None:
    shipped = read_study(str(place.parent))
    assert shipped.file.study.planned
    shutil.copytree(
        place.parent, tmp_path / "study", ignore=shutil.ignore_patterns("runs", "ends", "planned.json")
    )
    study = read_study(str(tmp_path / "study"))
    for job in jobs_of(study):
        if not job.after:
            assert deliberation_for(study, job, {}).deliberation.question
    assert conducted(study, limit=1).jobs


def test_what_is_counted_stands_in_the_report(tmp_path: Path) -> None:
    arms = arm("single", "single-pass") + arm("three", "council")
    found = filled(written(tmp_path, arms, items=["one"]))
    measures = {(one.arm, one.measure): one.mean for one in report_of(found, {}).measures}
    assert measures["three", "assumptions"] == 3 * measures["single", "assumptions"] > 0
    assert measures["single", "left to a person"] == 0
