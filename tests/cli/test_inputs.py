"""`--context`: files, directories, changes in git, standard input; one budget, nothing cut, no link followed."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from moot.app.inputs import BYTES_MAX, LISTING
from tests.blob_lines import blobs_of
from tests.cli.conftest import Moot, Said

ASK = ("run", "-q", "Is this right?", "--single", "--seats", "host", "--out", "run")


def git(*words: str, at: Path = Path("repo")) -> str:
    """Git in a repository of its own, whatever the machine's settings."""
    said = subprocess.run(
        ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words],
        cwd=at, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return said.stdout.strip()


@pytest.fixture
def repo(moot: Moot) -> Path:
    """A repository with two commits: a file changed, one renamed, one gone, one new, a picture, a link."""
    place = Path("repo")
    (place / "src").mkdir(parents=True)
    git("init", "-q", "-b", "main")
    (place / ".gitignore").write_text("*.log\nsecret/\n")
    (place / "src/a.py").write_text("print('a')\n" * 20)
    (place / "old name.txt").write_text("".join(f"line {n}\n" for n in range(40)))
    (place / "gone.txt").write_text("gone\n")
    git("add", "-A")
    git("commit", "-qm", "one")
    (place / "src/a.py").write_text("print('b')\n" * 20)
    git("mv", "old name.txt", "src/näme.txt")
    (place / "gone.txt").unlink()
    (place / "pixel.png").write_bytes(b"\x89PNG\0\0\1")
    (place / "empty.txt").touch()
    (place / "link.txt").symlink_to("/etc/hostname")
    git("add", "-A")
    git("commit", "-qm", "two")
    (place / "noise.log").write_text("noise\n")
    (place / "secret").mkdir()
    (place / "secret/key.txt").write_text("key\n")
    (place / "untracked.md").write_text("# Not yet\n")
    assert callable(moot)
    return place


def given(run: str = "run") -> dict[str, str]:
    """Name → text of the documents of a run."""
    opened = json.loads(Path(run, "decisions.jsonl").read_bytes().splitlines()[0])
    return {one["name"]: blobs_of(Path(run))[one["sha256"]].decode() for one in opened["context"]}


def test_a_directory_is_what_git_would_take_and_the_listing_says_what_was_left(
    moot: Moot, repo: Path
) -> None:
    said = moot(*ASK, "--context", repo)
    assert said.code == 4, said.err
    documents = given()
    assert list(documents) == [
        LISTING, "repo/.gitignore", "repo/src/a.py", "repo/src/näme.txt", "repo/untracked.md",
    ]  # fmt: skip
    assert documents["repo/untracked.md"] == "# Not yet\n"
    for name, why in (("pixel.png", "binary"), ("empty.txt", "empty"), ("link.txt", "a link")):
        assert f"{why}  repo/{name}" in documents[LISTING]
    assert "noise" not in documents[LISTING]
    assert "given to read: 4 documents" in said.err
    assert "repo/link.txt (a link)" in said.err
    assert str(Path.cwd()) not in "".join(documents.values()), "where it lies is nobody's business"


def test_a_directory_outside_any_repository_is_read_by_the_same_rules(moot: Moot) -> None:
    place = Path("plain")
    place.mkdir()
    (place / ".gitignore").write_text("*.log\n")
    (place / "a.txt").write_text("a\n")
    (place / "a.log").write_text("noise\n")
    assert moot(*ASK, "--context", place).code == 4
    assert list(given()) == [LISTING, "plain/.gitignore", "plain/a.txt"]
    assert not (place / ".git").exists()


def test_a_change_is_its_diff_and_the_files_as_they_stand_behind_it(
    moot: Moot, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after = git("rev-parse", "HEAD~1"), git("rev-parse", "HEAD")
    (repo / "src/a.py").write_text("print('in between')\n")
    monkeypatch.chdir(repo)
    assert moot(*ASK, "--context", "git:HEAD~1..HEAD").code == 4
    documents = given()
    assert list(documents) == [LISTING, "HEAD~1..HEAD.diff", "src/a.py", "src/näme.txt"]
    assert "-print('a')\n+print('b')" in documents["HEAD~1..HEAD.diff"].replace("\n-print('a')", "", 19)
    assert "rename to src/näme.txt" in documents["HEAD~1..HEAD.diff"]
    assert documents["src/a.py"].startswith("print('b')"), "as committed, not as the file is now"
    assert f"from {before} to {after}" in documents[LISTING]
    for name, why in (("gone.txt", "deleted"), ("pixel.png", "binary"), ("link.txt", "a link")):
        assert f"{why}  {name}" in documents[LISTING]


def test_three_dots_count_from_where_the_two_parted_and_two_end_at_head(
    moot: Moot, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repo)
    git("checkout", "-qb", "side", "HEAD~1", at=Path())
    Path("side.txt").write_text("side\n")
    git("add", "-A", at=Path())
    git("commit", "-qm", "side", at=Path())
    assert moot(*ASK, "--context", "git:main...side").code == 4
    assert set(given()) == {LISTING, "main...side.diff", "side.txt", "untracked.md"}
    assert moot(*ASK[:-1], "other", "--context", "git:main..").code == 4
    assert "src/a.py" in given("other")


def test_standard_input_is_a_document(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Größe\n".encode()), "utf-8"))
    assert moot(*ASK, "--context", "-").code == 4
    assert given() == {"standard-input.txt": "Größe\n"}


@pytest.mark.parametrize(("content", "says"), [(b" \n", "is empty"), (b"ab\xff", "not UTF-8 (byte 2)")])
def test_standard_input_that_is_no_text_is_refused(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, content: bytes, says: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))
    refused(moot(*ASK, "--context", "-"), says)


@pytest.mark.slow
def test_what_does_not_fit_is_refused_with_its_sizes_and_fits_when_the_person_says_so(moot: Moot) -> None:
    Path("notes").mkdir()
    for n in range(20):
        Path(f"notes/{n:02}.md").write_text("word " * (6_000 + n))
    Path("one.md").write_text("x" * 1_000)
    said = moot(*ASK, "--context", "notes", "--context", "one.md")
    refused(said, "more than may be given")
    assert "      30,095  notes/19.md" in said.err
    assert "and 10 more" in said.err
    wanted = said.err.partition("--rule ")[2].split()[0]
    assert int(wanted.removeprefix("context-bytes=")) > BYTES_MAX
    assert moot(*ASK, "--context", "notes", "--context", "one.md", "--rule", wanted).code == 4
    assert len(given()) == 22


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("git:HEAD..HEAD",), "nothing changed"),
        (("git:nowhere..HEAD",), "no commit 'nowhere'"),
        (("git:HEAD",), "names no two commits"),
        (("git:--output=x..HEAD",), "names no two commits"),
        (("git:HEAD..--output=x",), "names no two commits"),
        (("src", "src"), "is given twice"),
    ],
)
def test_what_names_nothing_is_refused_before_the_run_begins(
    moot: Moot, repo: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(repo)
    refused(moot(*ASK, *(part for word in words for part in ("--context", word))), says)
    assert not Path("x").exists()


def test_no_repository_and_an_empty_directory_are_refused(moot: Moot) -> None:
    refused(moot(*ASK, "--context", "git:a..b"), "is not inside a git repository")
    Path("bare").mkdir()
    refused(moot(*ASK, "--context", "bare"), "nothing in bare")


def test_names_that_would_deceive_are_left_out(moot: Moot) -> None:
    place = Path("odd")
    place.mkdir()
    (place / "a\nb.txt").write_text("x\n")
    (place / "-rf.txt").write_text("x\n")
    (place / ("n" * 180)).write_text("x\n")
    assert moot(*ASK, "--context", place).code == 4
    documents = given()
    assert list(documents) == [LISTING, "odd/-rf.txt"]
    assert documents[LISTING].count("a name that no ledger keeps") == 2
    assert "odd/a\\nb.txt" in documents[LISTING]


def test_a_link_to_a_directory_and_a_repository_inside_are_not_entered(moot: Moot, repo: Path) -> None:
    outside = Path("outside")
    outside.mkdir()
    (outside / "private.txt").write_text("private\n")
    (repo / "way").symlink_to(outside.absolute())
    git("init", "-q", "inner")
    (repo / "inner/x.txt").write_text("x\n")
    assert moot(*ASK, "--context", repo).code == 4
    assert not [name for name in given() if "private" in name or "inner" in name]
    assert "private" not in "".join(given().values())


def test_nothing_of_the_repository_is_started(
    moot: Moot, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository comes from whoever wrote it: its settings name programs that git would start."""
    mark = Path("started").absolute()
    program = Path("program.sh").absolute()
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "diff.external",
        "diff.evil.textconv",
        "filter.evil.clean",
        "filter.evil.smudge",
    ):
        git("config", key, str(program))
    (repo / ".gitattributes").write_text("* diff=evil filter=evil\n")
    hook = repo / ".git/hooks/post-checkout"
    hook.write_text(program.read_text())
    hook.chmod(0o755)
    mark.unlink(missing_ok=True)
    assert moot(*ASK, "--context", repo).code == 4
    monkeypatch.chdir(repo)
    assert moot(*ASK[:-1], "other", "--context", "git:HEAD~1..HEAD").code == 4
    assert not mark.exists()


def refused(said: Said, says: str) -> None:
    assert (said.code, says in said.err) == (2, True), said.err
    assert not Path("run").exists()


# ---------------------------------------------------------------- text as people keep it

TEXTS = {
    "windows": b"one\r\ntwo\r\n",
    "old-mac": b"one\rtwo\r",
    "mark": b"\xef\xbb\xbfone\ntwo\n",
    "utf-16": "one\r\ntwo\r\n".encode("utf-16"),
    "utf-16-be": b"\xfe\xff" + "one\ntwo\n".encode("utf-16-be"),
    "form-feed": b"one\n\x0ctwo\n",
    "colors": b"\x1b[31mone\x1b[0m\n\x1b]0;title\x07two\n",
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS.keys())
def test_every_door_reads_text_as_people_keep_it(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """A file, a directory, a change, standard input: the same lines come out of each."""
    Path("many").mkdir()
    Path("many/a.txt").write_bytes(content)
    Path("many/b.txt").write_bytes(b"fine\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))
    assert moot(*ASK, "--context", "-", "--context", "many", "--context", "many/a.txt").code == 4
    read = given()
    assert read["standard-input.txt"] == read["many/a.txt"] == read["a.txt"] == "one\ntwo\n"
    assert read["many/b.txt"] == "fine\n"


@pytest.mark.parametrize("name", ["windows", "old-mac", "mark", "form-feed", "colors"])
def test_a_change_of_a_file_with_any_line_ends_can_be_read(moot: Moot, repo: Path, name: str) -> None:
    (repo / "odd.txt").write_bytes(TEXTS[name])
    git("add", "-A")
    git("commit", "-qm", "three")
    os.chdir(repo)
    assert moot(*ASK, "--context", "git:HEAD~1..HEAD").code == 4
    read = given()
    assert read["odd.txt"] == "one\ntwo\n"
    diff = read[next(name for name in read if name.endswith(".diff"))]
    added = [line for line in diff.split("odd.txt")[-1].splitlines() if "two" in line]
    assert added
    assert all(line.startswith("+") for line in added)


def test_a_control_character_becomes_a_picture_and_letters_are_composed(moot: Moot) -> None:
    Path("a.txt").write_text("bell \x07 Gro\u0308\u00dfe\n")
    assert moot(*ASK, "--context", "a.txt").code == 4
    assert given()["a.txt"] == "bell \u2407 Gr\u00f6\u00dfe\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_reply_file_may_have_a_mark_and_any_line_ends(moot: Moot, encoding: str) -> None:
    assert moot(*ASK).code == 4
    file = Path("reply.json")
    file.write_bytes(json.dumps(REPLY, indent=1).replace("\n", "\r\n").encode(encoding))
    submitted = moot("submit", "run", "r1.plan.solo", str(file))
    assert submitted.code == 0, submitted.err


def _criticism(claim: str) -> dict[str, object]:
    reason = {
        "disposition": "accepted",
        "reason": "It is known.",
        "revision": "It is changed.",
        "question": None,
    }
    return {"claim": claim, "text": f"{claim}\r\nSecond line.", **reason}


REPLY = {
    "plan": "First line.\r\nSecond line.",
    "assumptions": [{"text": "Messages only flow one way.", "unrequested": True}],
    "criticisms": [_criticism(claim) for claim in ("Idle streams.", "Six connections.", "No binary.")],
    "decision": "Use server-sent events.\r\nOver HTTP/2.",
    "revised": "Use server-sent events over HTTP/2.",
    "confidence": 4,
    "falsifiers": ["A client needs to send more than it receives."],
    "requirements": [],
}
