"""The GitHub Action and the pre-commit hooks as their hosts run them: from a clone, in clean environments.

The models are the fake of the Messages API. Skipped, with the reason, where git or a package index is missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
import yaml

from ledger.state.book import Book
from roles.protocol import Step
from tests.fake_api.rules import KEY
from tests.fake_api.scripted import answering
from tests.fake_api.server import Answerer, FakeApi
from tests.protocols.test_by_model import Short

ROOT: Final = Path(__file__).resolve().parents[2]
STEP_TIMEOUT_SECONDS: Final = 900
WHO: Final = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
              "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}  # fmt: skip
UNWANTED: Final = tuple(
    f"runs/examples/{path.name}/"
    for path in (ROOT / "runs/examples").iterdir()
    if path.name != "tribunal-medicines"
)
"""Recorded runs that no wheel holds."""
HOSTILE: Final = "$(touch made)`touch made`"


def ran(
    words: list[str], place: Path, environment: dict[str, str], code: int | None = 0
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        words, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=STEP_TIMEOUT_SECONDS, check=False,
    )  # fmt: skip
    assert code is None or done.returncode == code, f"{words}\n{done.stdout}{done.stderr}"
    return done


def clean() -> dict[str, str]:
    return {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PYTHON", "MOOT_", "GITHUB_", "GIT_"))
    }


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of this tree as a repository of one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not here")
    place = tmp_path_factory.mktemp("clone") / "moot"
    listed = ran(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT, clean(), None)
    names = [name for name in listed.stdout.split("\0") if name] if listed.returncode == 0 else []
    if not names:
        pytest.skip("this tree is no repository")
    for name in names:
        if (ROOT / name).is_file() and not name.startswith(UNWANTED):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, place / name)
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "moot"]):
        ran(["git", *words], place, clean() | WHO)
    return place


@pytest.fixture
def change(tmp_path: Path) -> tuple[Path, str, str]:
    """A scratch repository, and the commits before and behind a change."""
    place = tmp_path / "scratch"
    place.mkdir()
    heads: list[str] = []
    ran(["git", "init", "-q", "-b", "main"], place, clean() | WHO)
    for text in ("def half(x):\n    return x / 2\n", "def half(x):\n    return x // 2\n"):
        (place / "half.py").write_text(text)
        ran(["git", "add", "-A"], place, clean() | WHO)
        ran(["git", "commit", "-qm", "change"], place, clean() | WHO)
        heads.append(ran(["git", "rev-parse", "HEAD"], place, clean()).stdout.strip())
    return place, heads[0], heads[1]


def steps() -> list[dict[str, Any]]:
    """The steps of the action, as the code host reads them."""
    action = yaml.safe_load((ROOT / "integrations/action/action.yml").read_text("utf-8"))
    return list(action["runs"]["steps"])


def filled(value: str, inputs: dict[str, str]) -> str:
    """An expression of the action, with its inputs."""
    return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: inputs[found[1]], value)


class Reviewer(Short):
    """The script, whose challenger quotes the line that was changed."""

    def reply(self, book: Book, step: Step, saw: Any) -> bytes:
        """The lawful reply of its step."""
        content = json.loads(super().reply(book, step, saw))
        file = next(one.id for one in book.state.opening.context if one.name == "half.py")
        for row in content.get("concerns", ()):
            row["evidence"] = [{"ref": file, "quote": "return x // 2"}]
        for row in content.get("scores", ()):
            row["score"] = 4
        return json.dumps(content).encode()


def answering_in(temp: Path) -> Answerer:
    """Answers by script for the run that the action opens there."""
    made: list[Answerer] = []

    def answer(prompt: str, body: dict[str, Any]) -> str:
        if not made:
            (run,) = temp.glob("moot-*/run")
            made.append(answering(run, Reviewer()))
        return made[0](prompt, body)

    return answer


def test_no_expression_gets_into_the_text_of_a_command() -> None:
    assert steps()
    for step in steps():
        assert "${{" not in step["run"], "inputs come by the environment"


@pytest.mark.slow  # installs from a package index
def test_the_steps_of_the_action_write_the_comment_of_a_pull_request(
    clone: Path, change: tuple[Path, str, str], tmp_path: Path
) -> None:
    place, base, head = change
    ran([sys.executable, "-m", "venv", str(tmp_path / "env")], tmp_path, clean())
    event = tmp_path / "event.json"
    event.write_text(
        json.dumps({"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head}}})
    )
    for name in ("output", "summary"):
        (tmp_path / name).touch()
    temp = tmp_path / "temp"
    temp.mkdir()
    action = yaml.safe_load((clone / "integrations/action/action.yml").read_text("utf-8"))
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()}
    inputs |= {"seats": "anthropic", "fail-on": "1", "comment-file": str(tmp_path / "said.md")}
    with FakeApi(answering_in(temp)) as api:
        environment = clean() | {
            "PATH": f"{tmp_path / 'env/bin'}:{os.environ['PATH']}",
            "GITHUB_ACTION_PATH": str(clone / "integrations/action"),
            "GITHUB_EVENT_PATH": str(event), "RUNNER_TEMP": str(temp),
            "GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_REPOSITORY": "ada/scratch", "ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": KEY,
        }  # fmt: skip
        install, review = steps()
        env = {name: filled(value, inputs) for name, value in install["env"].items()}
        done = ran(["bash", "-c", install["run"]], place, environment | env, None)
        if done.returncode != 0 and "No matching distribution" in done.stderr:
            pytest.skip("no package index")
        assert done.returncode == 0, done.stderr
        env = {name: filled(value, inputs) for name, value in review["env"].items()}
        said = ran(["bash", "-c", review["run"]], place, environment | env, None)
    assert said.returncode == 1, f"a finding of severity 1 stands\n{said.stdout}{said.stderr}"
    outputs = dict(line.split("=", 1) for line in (tmp_path / "output").read_text().splitlines())
    assert outputs["comment"] == str(tmp_path / "said.md")
    comment = Path(outputs["comment"]).read_text()
    assert comment.startswith("**")
    assert comment.index("**Answer.**") < comment.index("| where |")
    assert (tmp_path / "summary").read_text() == comment
    schema = json.loads((ROOT / "tests/data/sarif/sarif-2.1.0-rtm.5.json").read_bytes())
    jsonschema.Draft4Validator(schema).validate(json.loads(Path(outputs["sarif"]).read_bytes()))
    assert re.search(r"^::error file=half.py,line=2,endLine=2,title=", said.stdout, re.MULTILINE)
    moot = str(tmp_path / "env/bin/moot")
    assert ran([moot, "verify", outputs["run"]], place, environment).returncode == 0
    assert KEY not in "".join(
        file.read_text("utf-8", "replace") for file in temp.rglob("*") if file.is_file()
    )


def test_what_a_pull_request_says_is_never_run(change: tuple[Path, str, str], tmp_path: Path) -> None:
    """The script alone, with a `moot` that writes down its words."""
    place, _, _ = change
    (tmp_path / "bin").mkdir()
    words = tmp_path / "words"
    (tmp_path / "bin/moot").write_text(f'#!/bin/sh\nfor word; do echo "$word"; done >> {words}\nexit 3\n')
    (tmp_path / "bin/moot").chmod(0o755)
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"base": {"sha": HOSTILE}, "head": {"sha": "b"}}}))
    environment = clean() | {
        "PATH": f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path),
        "GITHUB_EVENT_PATH": str(event), "GITHUB_OUTPUT": str(tmp_path / "output"), "MOOT_SEATS": HOSTILE,
        "MOOT_FAIL_ON": "",
    }  # fmt: skip
    said = ran(["bash", str(ROOT / "integrations/action/review.sh")], place, environment, 3)
    assert f"git:{HOSTILE}...b" in words.read_text().splitlines(), said.stderr
    assert HOSTILE in words.read_text().splitlines()
    assert not list(tmp_path.rglob("made")) + list(place.rglob("made"))


def test_without_a_pull_request_and_a_range_it_says_what_to_say(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text("{}")
    environment = clean() | {"MOOT_SEATS": "host"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for more in ({"GITHUB_EVENT_PATH": str(event)}, {}):
        said = ran(["bash", str(ROOT / "integrations/action/review.sh")], tmp_path, environment | more, 2)
        assert "::error title=moot::This is no pull request" in said.stdout


@pytest.mark.slow  # installs from a package index, twice
def test_pre_commit_runs_the_hook_from_a_clone(
    clone: Path, change: tuple[Path, str, str], tmp_path: Path
) -> None:
    place, before, after = change
    ran([sys.executable, "-m", "venv", str(tmp_path / "env")], tmp_path, clean())
    pip = [str(tmp_path / "env/bin/pip"), "install", "--quiet", "pre-commit"]
    if ran(pip, tmp_path, clean(), None).returncode != 0:
        pytest.skip("no package index that has pre-commit")
    revision = ran(["git", "rev-parse", "HEAD"], clone, clean()).stdout.strip()
    words = [f"git:{before}...{after}", "--seats", "host", "--out", "hooked"]
    hooks = [{"id": "moot-review", "args": words, "verbose": True}]
    repository = {"repo": str(clone), "rev": revision, "hooks": hooks}
    (place / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": [repository]}))
    ran(["git", "add", "-A"], place, clean() | WHO)
    environment = clean() | WHO | {"PRE_COMMIT_HOME": str(tmp_path / "cache")}
    pre_commit = [str(tmp_path / "env/bin/pre-commit"), "run", "--all-files", "--hook-stage", "pre-push"]
    done = ran(pre_commit, place, environment, None)
    assert "exit code: 4" in done.stdout, "host seats wait for their replies" + done.stdout + done.stderr
    assert (place / "hooked/head").is_file(), done.stdout
