"""A directory of decision records: numbered, superseded, never written over, and checked against what they rest on."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Moot, Said

EXAMPLES = Path(__file__).resolve().parents[2] / "runs" / "examples"


@pytest.fixture
def storage(tmp_path: Path) -> Path:
    """A finished recorded run, to be written on, beside a directory for records."""
    shutil.copytree(EXAMPLES / "crux-storage-1", tmp_path / "storage")
    (tmp_path / "adr").mkdir()
    return tmp_path / "storage"


def records(folder: Path = Path("adr")) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def put(moot: Moot, run: object, *words: object) -> Path:
    said = moot("report", run, "--adr", "--out", "adr", "--json", *words)
    assert said.code == 0, said
    return Path(said.json["out"])


def overturn(moot: Moot, storage: Path) -> None:
    (decision,) = moot("decisions", storage, "--final", "--in-force", "--json").json["decisions"]
    assert moot("override", storage, decision["id"], "SQLite after all.", "--by", "Ada").code == 0


def checked(moot: Moot) -> Said:
    return moot("decisions", "adr", "--adr-check", "--json")


def test_the_same_decision_is_the_same_file_and_the_next_gets_the_next_number(
    moot: Moot, storage: Path
) -> None:
    Path("adr/0004-by-hand.md").write_text("# We use tabs\n")
    first = put(moot, storage)
    assert re.fullmatch(r"0005-[a-z0-9-]+\.md", first.name)
    text = first.read_text()
    assert put(moot, storage) == first
    assert first.read_text() == text
    other = put(moot, EXAMPLES / "debate-services")
    assert other.name.startswith("0006-")
    assert records() == ["0004-by-hand.md", first.name, other.name]
    assert checked(moot).json == {
        "directory": "adr", "ok": True, "records": 2, "superseded": 0, "findings": [],
    }  # fmt: skip
    assert "2 records: nothing that they rest on has changed" in moot("decisions", "adr", "--adr-check").out


def test_an_override_supersedes_with_links_both_ways(moot: Moot, storage: Path) -> None:
    first = put(moot, storage)
    overturn(moot, storage)
    found = checked(moot)
    assert found.code == 1
    assert "was overturned by" in found.json["findings"][0]["what"]
    second = put(moot, storage)
    assert (first.name[:4], second.name[:4]) == ("0001", "0002")
    assert f'status: "superseded by [0002]({second.name})"' in first.read_text()
    assert f"Supersedes [0001]({first.name})." in second.read_text()
    again = second.read_text()
    assert put(moot, storage) == second
    assert second.read_text() == again
    assert checked(moot).json | {"directory": ""} == {
        "directory": "", "ok": True, "records": 1, "superseded": 1, "findings": [],
    }  # fmt: skip


def test_a_record_of_another_run_is_superseded_when_it_is_named(moot: Moot, storage: Path) -> None:
    first = put(moot, EXAMPLES / "council-storage")
    second = put(moot, storage, "--supersedes", 1)
    assert f"superseded by [0002]({second.name})" in first.read_text()
    refused = moot("report", storage, "--adr", "--out", "adr", "--supersedes", 9)
    assert (refused.code, "no record 0009" in refused.err) == (2, True)


def test_what_a_person_changed_is_never_written_over(moot: Moot, storage: Path) -> None:
    first = put(moot, storage)
    changed = first.read_text().replace("## Decision Outcome", "## Decision Outcome, as we see it")
    first.write_text(changed)
    refused = moot("report", storage, "--adr", "--out", "adr")
    assert (refused.code, "was changed by hand; nothing was written" in refused.err) == (1, True)
    assert (first.read_text(), records()) == (changed, [first.name])


def test_a_killed_write_is_mended_by_the_next(moot: Moot, storage: Path) -> None:
    """The new record is written before the old one says that it was superseded."""
    first = put(moot, storage)
    before = first.read_text()
    overturn(moot, storage)
    second = put(moot, storage)
    first.write_text(before)
    assert put(moot, storage) == second
    assert f"superseded by [0002]({second.name})" in first.read_text()
    assert second.read_text().count("Supersedes [0001]") == 1


def test_what_changed_is_said_record_by_record(moot: Moot, storage: Path) -> None:
    first = put(moot, storage)
    shutil.copy(storage / "blobs" / _document(storage)["sha256"], "requirements.md")
    assert checked(moot).code == 0
    with open("requirements.md", "a") as file:
        file.write("And it must be fast.\n")
    moot("outcome", storage, "failed", "A line was lost.", "--by", "Ada")
    assert [one["what"] for one in checked(moot).json["findings"]] == [
        "D-1-1 was said to have failed: A line was lost.",
        "requirements.md is not what the run was given",
    ]
    said = moot("decisions", "adr", "--adr-check")
    assert said.out.startswith(
        f"✗ {first.name}: D-1-1 was said to have failed: A line was lost.\n    moot outcome "
    )
    Path("requirements.md").unlink()
    put(moot, storage)  # what was said is in the record now
    assert checked(moot).code == 0
    assert "Later: It failed: A line was lost." in first.read_text()


@pytest.mark.parametrize("damage", ["gone", "another", "rewritten", "front"])
def test_a_run_that_is_not_there_or_not_what_it_was(moot: Moot, storage: Path, damage: str) -> None:
    first = put(moot, storage)
    if damage == "front":
        first.write_text(re.sub(r"moot-head: .*", "moot-head: soon", first.read_text()))
    elif damage == "rewritten":  # a lawful chain, and not the one that was recorded
        first.write_text(re.sub(r"(moot-head: \d+) .*", rf"\1 {'0' * 64}", first.read_text()))
    else:
        shutil.rmtree(storage)
    if damage == "another":
        shutil.copytree(EXAMPLES / "crux-storage-2", storage)
    says = {
        "gone": "its run cannot be read",
        "another": "another run stands at",
        "rewritten": "the recorded head is not in its chain",
        "front": "its front matter was damaged",
    }[damage]
    found = checked(moot)
    assert (found.code, says in found.json["findings"][0]["what"]) == (1, True), found.json


def test_what_is_no_directory_or_has_no_decision_is_refused(moot: Moot, opened: Path) -> None:
    assert moot("decisions", "nowhere", "--adr-check").code == 2
    refused = moot("report", opened, "--adr", "--out", "adr/")
    assert (refused.code, "no final decision" in refused.err, Path("adr").exists()) == (2, True, False)
    assert moot("report", opened, "--adr", "--supersedes", 1).code == 2


def _document(run: Path) -> dict[str, str]:
    opened = json.loads((run / "decisions.jsonl").read_bytes().splitlines()[0])
    return dict(opened["context"][0])
