"""Runs in git: a checkout that translates line ends is explained, and prevented where moot makes the directory."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from ledger.audit.verify import verify
from ledger.store.failures import Damaged
from ledger.store.store import RunStore
from ledger.store.streams import has_other_line_ends
from moot.__main__ import main
from tests.rounds.openings import begin, rows

WHO: Final = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(place: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=place, env={**os.environ, **WHO}, check=True, capture_output=True)


def cloned(repository: Path, *settings: str) -> Path:
    git(repository, "init", "-q", "-b", "main")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "a run")
    copy = repository.with_name("copy")
    git(repository.parent, "clone", "-q", *settings, str(repository), str(copy))
    return copy


@pytest.mark.parametrize("attributes", [None, "*.jsonl text eol=crlf\n", "head text eol=crlf\n"])
def test_a_clone_with_other_line_ends_says_what_git_did(tmp_path: Path, attributes: str | None) -> None:
    repository = tmp_path / "repository"
    begin(repository / "run", rows(1))
    if attributes is not None:
        (repository / ".gitattributes").write_text(attributes)
    copy = cloned(repository, *(("-c", "core.autocrlf=true") if attributes is None else ()))
    report = verify(copy / "run")
    assert report.damaged
    assert "line ends were changed to CRLF" in report.problems[0].what
    assert "`* -text`" in report.problems[0].what
    with pytest.raises(Damaged, match="line ends were changed"):
        RunStore(copy / "run").events()


def test_the_fix_that_is_named_mends_the_clone(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    begin(repository / "run", rows(1))
    copy = cloned(repository, "-c", "core.autocrlf=true")
    (copy / ".gitattributes").write_text("* -text\n")
    for path in (copy / "run").rglob("*"):
        if path.is_file():
            path.unlink()
    git(copy, "checkout", "--", "run")
    assert verify(copy / "run").ok


def test_a_directory_that_moot_made_for_runs_survives_such_a_clone(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    place = repository / "runs" / "first"
    repository.mkdir()
    words = [
        "run",
        "-q",
        "Q?",
        "--protocol",
        "single-pass",
        "--seats",
        "host",
        "--out",
        str(place),
        "--quiet",
    ]
    assert main(words) == 4
    copy = cloned(repository, "-c", "core.autocrlf=true")
    assert verify(copy / "runs" / "first").ok
    assert {path.name for path in place.iterdir()} >= {"head", "claims.jsonl"}
    assert ".gitattributes" not in {path.name for path in place.iterdir()}


def test_two_processes_may_make_the_directory_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, made = tmp_path / "runs" / "mine", Path.mkdir
    others: list[Path] = []

    def other_process_first(path: Path, *more: Any, **named: Any) -> None:
        if path == place.parent and not others:
            others.append(path)
            made(path)
        made(path, *more, **named)

    monkeypatch.setattr(Path, "mkdir", other_process_first)
    words = ["run", "-q", "Q?", "--protocol", "single-pass", "--seats", "host", "--out", str(place)]
    assert main([*words, "--quiet"]) == 4
    assert others
    assert verify(place).ok


def test_a_directory_that_was_there_gets_no_file_of_ours(tmp_path: Path) -> None:
    words = ["run", "-q", "Q?", "--protocol", "single-pass", "--seats", "host", "--out", str(tmp_path / "r")]
    assert main([*words, "--quiet"]) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


def test_other_damage_is_not_called_line_ends(tmp_path: Path) -> None:
    run = begin(tmp_path / "run", rows(1)).run.path
    (run / "head").write_text("nonsense\n")
    assert not has_other_line_ends(run)
    assert "line ends" not in verify(run).problems[0].what
