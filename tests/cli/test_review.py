"""`moot review` by scripted seats: findings with computed places, gates, SARIF, annotations, a comment.

Of `moot/app/git_reader.py`, `moot/app/unified_diff.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from moot.view.review import review_of
from roles.seats.port import Answer
from tests.blob_lines import blobs_of, lose
from tests.cli.conftest import Moot, Said
from tests.protocols.playing import begin
from tests.protocols.scripts import reply as scripted

SCHEMA = json.loads(
    (Path(__file__).resolve().parents[1] / "data" / "sarif" / "sarif-2.1.0-rtm.5.json").read_bytes()
)
BEFORE = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(12))
AFTER = BEFORE.replace("    return 3\n", "    return 1 / 0\n").replace(
    "def f9():\n", "def f9(x):\n    # -- x\n"
)


def git(*words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words],
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}, capture_output=True, check=True,
    )  # fmt: skip


@pytest.fixture
def repo(moot: Moot) -> None:
    """Two commits, here: a file with two changed places, one with a space in its name, one that is taken out."""
    assert callable(moot)
    git("init", "-q", "-b", "main")
    Path(".gitignore").write_text("run*/\nreplies/\n")
    Path("sums.py").write_text(BEFORE)
    Path("old.txt").write_text("one\ntwo\nthree\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    Path("sums.py").write_text(AFTER)
    Path("old.txt").unlink()
    Path("a note.md").write_text("# Note\n\nWatch out | here\n")
    git("add", "-A")
    git("commit", "-qm", "two")


def line(text: str) -> int:
    return AFTER.split("\n").index(text) + 1


def concern(n: int, severity: int, ref: str, quote: str | None) -> dict[str, Any]:
    return {
        "text": f"Concern {n}:\nit breaks | here.", "risk": f"Risk {n}.", "fix": f"Fix {n}, 100% sure.",
        "severity": severity, "evidence": [{"ref": ref, "quote": quote}],
    }  # fmt: skip


def replies(documents: list[str]) -> dict[str, dict[str, Any]]:
    """What the scripted seats say: five concerns, of which the judge upholds the first, second and fourth."""
    diff, sums, note = (
        f"K-{1 + next(n for n, name in enumerate(documents) if name.endswith(end))}"
        for end in (".diff", "sums.py", "note.md")
    )
    concerns = [
        concern(1, 5, diff, "return 1 / 0"),
        concern(2, 4, sums, "def f9(x):\n    # -- x"),
        concern(3, 3, diff, "-two"),
        concern(4, 2, f"{note}#L3", "Watch out | here"),
        concern(5, 1, sums, "def f0():"),
    ]
    scores = zip((5, 3, 4, 4, 1), range(1, 6), strict=True)
    return {
        "r1.case.advocate": {
            "summary": "It is small.", "blockers": [],
            "arguments": [
                {"claim": "It is small.", "reasoning": "It touches two places.", "evidence": "research", "quotes": []}
            ],
        },
        "r1.attack.challenger": {"works": "The rest.", "concerns": concerns},
        "r1.verdict.judge": {
            "scores": [{"of": f"N-1-{n}", "score": score, "reason": "So it is."} for score, n in scores],
            "surviving": ["R-1-1"], "unaddressed": ["N-1-1"], "added": [], "pulled_punches": "no",
            "pulled_punches_why": "It did not.", "agreement": [], "contested": ["The division."],
            "narratives": ["It works.", "It breaks."], "verdict": "rethink", "decision": "Take the division out.",
            "confidence": 4, "falsifiers": ["A test divides."], "requirements": ["A test."],
        },
    }  # fmt: skip


def reviewed(moot: Moot, *words: object) -> Said:
    """A review by scripted replies, and what it says when all are in."""
    said = moot("review", "git:HEAD~1..HEAD", "--seats", "host", "--out", "run", "--quiet")
    assert said.code == 4, said
    opened = json.loads(Path("run/decisions.jsonl").read_bytes().splitlines()[0])
    Path("replies").mkdir()
    for step, reply in replies([one["name"] for one in opened["context"]]).items():
        Path("replies/one.json").write_text(json.dumps(reply))
        done = moot("submit", "run", step, "replies/one.json")
        assert done.code == 0, done.err
    return moot("review", "run", *words)


@pytest.mark.usefixtures("repo")
def test_findings_have_the_file_and_line_of_the_words_that_they_cite(moot: Moot) -> None:
    found = reviewed(moot, "--json").json
    assert found["verdict"] == "rethink"
    places = {one["id"]: [(p["file"], p["line"], p["end_line"], p["changed"]) for p in one["places"]]
              for one in found["findings"]}  # fmt: skip
    nine = line("def f9(x):")
    assert places == {
        "N-1-1": [("sums.py", line("    return 1 / 0"), line("    return 1 / 0"), True)],
        "N-1-2": [("sums.py", nine, nine + 1, True)],
        "N-1-3": [],  # of a file that is not there any more
        "N-1-4": [("a note.md", 3, 3, True)],
        "N-1-5": [("sums.py", 1, 1, False)],
    }
    assert [one["id"] for one in found["findings"]] == ["N-1-1", "N-1-2", "N-1-3", "N-1-4", "N-1-5"]
    assert [one["stands"] for one in found["findings"]] == [True, True, True, True, False]
    assert found["outcome"]["status"].startswith("decide")


@pytest.mark.usefixtures("repo")
@pytest.mark.parametrize(("fail_on", "code", "failing"), [(5, 1, 1), (4, 1, 2), (1, 1, 4), (None, 0, 0)])
def test_the_gate_counts_what_stands(moot: Moot, fail_on: int | None, code: int, failing: int) -> None:
    said = reviewed(moot, "--json", *(() if fail_on is None else ("--fail-on", fail_on)))
    assert (said.code, len(said.json["failing"])) == (code, failing)


@pytest.mark.usefixtures("repo")
def test_the_outcome_stands_before_the_findings(moot: Moot) -> None:
    text = reviewed(moot).out
    assert text.index("rethink: Take the division out.") < text.index("4 of 5 findings stand")
    assert f"sums.py:{line('    return 1 / 0')}" in text
    comment = moot("review", "run", "--format", "markdown").out
    assert comment.startswith("**DECIDED")
    assert comment.index("Take the division out.") < comment.index("| where |")
    assert "What the judge did not uphold" in comment
    rows = [row for row in comment.splitlines() if row.startswith("| ") and "Concern" in row]
    assert len(rows) == 5
    assert all(row.replace("\\|", "").count("|") == 5 for row in rows), rows


@pytest.mark.usefixtures("repo")
def test_sarif_holds_to_its_schema_and_has_what_stands(moot: Moot) -> None:
    said = reviewed(moot, "--format", "sarif")
    log = json.loads(said.out)
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    assert [one["level"] for one in run["results"]] == ["error", "error", "warning", "note"]
    uris = [
        one["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for one in run["results"]
        if one["locations"]
    ]
    assert uris == ["sums.py", "sums.py", "a%20note.md"]
    prints = [one["partialFingerprints"]["moot/v1"] for one in run["results"]]
    assert len(set(prints)) == 4


@pytest.mark.usefixtures("repo")
def test_annotations_stay_on_their_line(moot: Moot) -> None:
    lines = reviewed(moot, "--format", "github").out.splitlines()
    at = line("    return 1 / 0")
    assert lines[0] == (
        f"::error file=sums.py,line={at},endLine={at},title=N-1-1%2C 5 of 5::"
        "Concern 1: it breaks | here. Fix: Fix 1, 100%25 sure."
    )
    assert [one.split(" ")[0] for one in lines] == ["::error", "::error", "::warning", "::notice"]


@pytest.mark.usefixtures("repo")
def test_a_form_can_be_saved_beside_the_text(moot: Moot) -> None:
    said = reviewed(moot, "--format", "sarif", "--save", "found.sarif", "--fail-on", 3)
    assert said.code == 1
    assert "findings stand" in said.out
    jsonschema.Draft4Validator(SCHEMA).validate(json.loads(Path("found.sarif").read_bytes()))


@pytest.mark.usefixtures("repo")
def test_check_speaks_sarif_too(moot: Moot) -> None:
    reviewed(moot)
    lose(Path("run"), next(iter(blobs_of(Path("run")))))
    said = moot("check", "run", "--format", "sarif")
    log = json.loads(said.out)
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    report = moot("check", "run", "--json")
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == [
        one["code"] for one in report.json["findings"]
    ]
    assert (said.code, len(report.json["findings"]) > 0) == (report.code, True)


@pytest.mark.usefixtures("repo")
def test_a_review_of_nothing_and_words_that_contradict_are_refused(moot: Moot) -> None:
    for words, says in (
        (("git:HEAD..HEAD", "--seats", "host"), "nothing changed"),
        (("git:HEAD~1..HEAD",), "--seats"),
        (("nowhere",), "no run"),
        (("git:HEAD~1..HEAD", "--seats", "host", "--format", "xml"), "'xml' is not one of"),
    ):
        said = moot("review", *words)
        assert (said.code, says in said.err) == (2, True), said
    assert not Path("runs").exists()


def test_a_file_that_looks_like_a_diff_does_not_place_a_finding_in_other_files() -> None:
    from moot.view.review import ReviewedText

    text = "--- a/real.py\n+++ b/real.py\n@@ -1 +1 @@\n-one\n+two\n"
    assert ReviewedText("notes.diff", text, is_diff=False).place(5, 5) == ("notes.diff", 5, 5)
    assert ReviewedText("a..b.diff", text, is_diff=True).place(5, 5) == ("real.py", 1, 1)


def test_a_quote_is_placed_whatever_marks_it_is_typed_with() -> None:
    from moot.view.review import ReviewedText

    document = ReviewedText(
        "a.md", "One line.\nThe so\u2011called \u201cfast path\u201d is\noff here.", is_diff=False
    )
    assert document.lines_of('so-called "fast path" is off') == (2, 3)
    assert document.lines_of("slow path") is None


@pytest.mark.usefixtures("repo")
def test_only_the_diff_that_moot_computed_is_marked_as_the_change(moot: Moot) -> None:
    Path("notes.diff").write_text("--- a/real.py\n+++ b/real.py\n@@ -1 +1 @@\n-one\n+two\n")
    git("add", "-A")
    git("commit", "-qm", "a file that looks like a diff")
    assert moot("review", "git:HEAD~1..HEAD", "--seats", "host", "--out", "run", "--quiet").code == 4
    opened = json.loads(Path("run/decisions.jsonl").read_bytes().splitlines()[0])
    marks = {row["name"]: row["change"] for row in opened["context"]}
    assert marks == {"what-was-given.md": False, "HEAD~1..HEAD.diff": True, "notes.diff": False}


@pytest.mark.usefixtures("repo")
def test_a_finding_in_a_file_that_looks_like_a_diff_is_placed_in_that_file(moot: Moot) -> None:
    Path("notes.diff").write_text("--- a/real.py\n+++ b/real.py\n@@ -1 +1 @@\n-here\n+thereafter\n")
    git("add", "-A")
    git("commit", "-q", "--amend", "-m", "two")
    assert moot("review", "git:HEAD~1..HEAD", "--seats", "host", "--out", "run", "--quiet").code == 4
    opened = json.loads(Path("run/decisions.jsonl").read_bytes().splitlines()[0])
    names = [row["name"] for row in opened["context"]]
    steps = replies(names)
    cited = {"ref": f"K-{1 + names.index('notes.diff')}", "quote": "+thereafter"}
    steps["r1.attack.challenger"]["concerns"][3]["evidence"] = [cited]
    Path("replies").mkdir()
    for step, reply in steps.items():
        Path("replies/one.json").write_text(json.dumps(reply))
        assert moot("submit", "run", step, "replies/one.json").code == 0
    places = {row["id"]: row["places"] for row in moot("review", "run", "--json").json["findings"]}
    assert [(place["file"], place["line"]) for place in places["N-1-4"]] == [("notes.diff", 5)]


def test_a_run_without_a_change_has_findings_too(moot: Moot, tmp_path: Path) -> None:
    """A judge who upholds everything upholds the blocker, too."""
    run = tmp_path / "run"
    session = begin(run, "adversarial")
    while asked := session.pending():
        step, brief = asked[0].step, asked[0].brief
        content = json.loads(scripted(session.book(), step, brief.saw))
        for score in content.get("scores", ()):
            score["score"] = 5
        session.submit(step.id, json.dumps(content).encode(), Answer(seat="host", isolation="trusted"))
    found = moot("review", run, "--json").json
    assert len(found["findings"]) >= 5
    assert all(one["severity"] for one in found["findings"] if one["by"] == "challenger")
    blockers = {one["id"] for one in found["findings"] if one["severity"] is None}
    said = moot("review", run, "--fail-on", 5, "--json")
    assert (said.code, blockers <= set(said.json["failing"]), bool(blockers)) == (1, True, True)
    assert max(map(len, moot("review", run).out.splitlines())) <= 100


def test_places_in_a_diff_are_those_of_git(tmp_path: Path) -> None:
    """Every line that was put in or kept is where the file has it, by an oracle that applies nothing."""
    del tmp_path
    from moot.view.review import ReviewedText

    assert callable(review_of)
    diff = (
        "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,4 @@\n one\n--- two\n+++ two\n+more\n three\n"
        "\\ No newline at end of file\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+only\n"
    )
    document = ReviewedText("a..b.diff", diff, is_diff=True)
    lines = diff.split("\n")
    told = {lines[n - 1]: place for n, place in document.places.items()}
    assert told == {
        " one": ("x.py", 1), "--- two": ("x.py", 2), "+++ two": ("x.py", 2), "+more": ("x.py", 3),
        " three": ("x.py", 4), "+only": ("y", 1),
    }  # fmt: skip
