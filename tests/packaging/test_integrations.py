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
from typing import Any, ClassVar, Final

import jsonschema
import pytest
import yaml

from ledger.state.book import Book
from roles.protocol import Step
from tests.fake_api.rules import KEY
from tests.fake_api.scripted import answering
from tests.fake_api.server import Answerer, FakeApi
from tests.packaging.installing import installed
from tests.protocols.test_by_model import Short
from tests.slowly import mostly_slow

ROOT: Final = Path(__file__).resolve().parents[2]
STEP_TIMEOUT_SECONDS: Final = 900
WHO: Final = {"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org",
              "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org"}  # fmt: skip
UNWANTED: Final = tuple(
    f"runs/examples/{path.name}/"
    for path in (ROOT / "runs/examples").iterdir()
    if path.name != "crux-balance"
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


class Job:
    """A job of a runner: its environment, and its steps, run one after the other as the code host does."""

    def __init__(self, place: Path, workspace: Path, environment: dict[str, str], **inputs: str) -> None:
        self.place, self.workspace = place, workspace
        self.temp, self.log, self.outputs = place / "temp", "", dict[str, str]()
        self.temp.mkdir()
        for name in ("output", "summary"):
            (place / name).touch()
        action = yaml.safe_load((ROOT / "integrations/action/action.yml").read_text("utf-8"))
        self.inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | inputs
        self.environment = environment | {
            "GITHUB_ACTION_PATH": str(ROOT / "integrations/action"), "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(place / "output"), "GITHUB_STEP_SUMMARY": str(place / "summary"),
            "GITHUB_WORKSPACE": str(workspace), "GITHUB_REPOSITORY": "ada/scratch",
        }  # fmt: skip

    def step(self, name: str) -> int:
        """Run a step in the workspace, where it would be worst; its exit code."""
        step = next(step for step in steps() if step["name"] == name)
        environment = self.environment | {
            key: self._filled(value) for key, value in step.get("env", {}).items()
        }
        # What a runner gives to `shell: bash`.
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        ended = ran(words, self.workspace, environment, None)
        self.log += ended.stdout + ended.stderr
        for line in (self.place / "output").read_text().splitlines():
            key, _, value = line.partition("=")
            self.outputs[key] = value
        return ended.returncode

    def _filled(self, value: str) -> str:
        value = re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: self.inputs[found[1]], value)
        return re.sub(
            r"\$\{\{ steps\.review\.outputs\.([a-z]+) \}\}",
            lambda found: self.outputs.get(found[1], ""),
            value,
        )

    def obeyed(self) -> list[str]:
        """The commands that the runner obeys in the log: those of a line's beginning, and `##[…]` anywhere in one."""
        commands: list[str] = []
        token = ""
        for line in re.split(r"\r\n|\r|\n", self.log):
            match = re.match(r"\s*::([a-zA-Z0-9_-]+)([^:]*)::", line) or re.search(r"##\[([^\]]*)\]()", line)
            if match is None:
                continue
            if token:
                token = "" if match[1] == token else token
            elif match[1] == "stop-commands":
                token = line.rpartition("::")[2]
            else:
                commands.append(line.strip())
        assert not token, "the runner listens again at the end"
        return commands

    def pretend_installed(self) -> None:
        """Put this checkout's Python where the first step would have installed one."""
        python = self.temp / "moot-action/venv/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)


class Reviewer(Short):
    """The script, whose challenger quotes the line that was changed, and says `words`."""

    words: ClassVar[dict[str, str]] = {}

    def reply(self, book: Book, step: Step, saw: Any) -> bytes:
        """The lawful reply of its step."""
        content = json.loads(super().reply(book, step, saw))
        file = next(one.id for one in book.state.opening.context if one.name == "half.py")
        for number, row in enumerate(content.get("concerns", ())):
            row["evidence"] = [{"ref": file, "quote": "return x // 2"}]
            row |= {key: f"{words} {number}" for key, words in self.words.items() if key in row}
        for row in content.get("scores", ()):
            row["score"] = 4
        return json.dumps(content).encode()


class Hostile(Reviewer):
    """A model that says workflow commands."""

    words: ClassVar[dict[str, str]] = {
        "text": "::error title=owned::text\n::add-mask::a\n##[add-path]/evil %0A::set-env name=A::B",
        "fix": "::stop-commands::x\n::x::\n::set-output name=comment::/evil\n##[error]fix",
    }


def answering_in(temp: Path, script: Reviewer | None = None) -> Answerer:
    """Answers by script for the run that the action opens there."""
    made: list[Answerer] = []

    def answer(prompt: str, body: dict[str, Any]) -> str:
        if not made:
            (run,) = temp.glob("moot-*/run")
            made.append(answering(run, script or Reviewer()))
        return made[0](prompt, body)

    return answer


def test_no_expression_gets_into_the_text_of_a_command() -> None:
    assert steps()
    for step in steps():
        assert "${{" not in step["run"], "inputs come by the environment"
        assert step["working-directory"] == "${{ runner.temp }}", (
            "the workspace holds files of a pull request"
        )


def test_a_key_is_given_to_the_step_that_calls_the_model_and_the_token_to_the_one_that_posts() -> None:
    with_key = [step["name"] for step in steps() if "API_KEY" in str(step.get("env", {}))]
    with_token = [step["name"] for step in steps() if "inputs.token" in str(step.get("env", {}))]
    assert (with_key, with_token) == (["Review"], ["Comment"])


def test_the_container_pins_its_base_and_installs_by_the_lock() -> None:
    text = (ROOT / "integrations/container/Containerfile").read_text("utf-8")
    bases = re.findall(r"^FROM (.*)$", text, re.MULTILINE)
    assert bases
    assert all(re.search(r"@sha256:[0-9a-f]{64}$", base) for base in bases)
    installs = [line for line in text.splitlines() if "pip install" in line]
    assert all("--require-hashes" in line or "--no-deps --no-index" in line for line in installs)


PAYLOAD: Final = "open({ran!r} + '/' + {name!r}, 'w').close()\n"
"""Imports nothing: other files of the workspace would stand in the way."""


def planted(workspace: Path, ran_files: Path) -> dict[str, str]:
    """Plant in a workspace all that Python, pip and moot could take for theirs; the environment that points to it."""
    ran_files.mkdir()
    user = f"user/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages"
    for name in (
        "pip/__init__.py", "pip/__main__.py", "venv/__init__.py", "venv/__main__.py", "ensurepip/__init__.py",
        "json.py", "json/__init__.py", "sys.py", "re.py", "os.py", "subprocess.py", "encodings/__init__.py",
        "sitecustomize.py", "usercustomize.py", "moot/__init__.py", "moot/__main__.py", "ledger/__init__.py",
        "hatchling/__init__.py", "msgspec.py", "setup.py", "conftest.py", "startup.py", "breakpoint.py",
        f"{user}/usercustomize.py", f"{user}/sitecustomize.py",
    ):  # fmt: skip
        file = workspace / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PAYLOAD.format(ran=str(ran_files), name=name.replace("/", "-")))
    for name in ("evil.pth", f"{user}/evil.pth"):
        (workspace / name).write_text(f"import pathlib; pathlib.Path({str(ran_files / 'pth')!r}).touch()\n")
    (workspace / "pip.conf").write_text("[global]\nindex-url = http://127.0.0.1:9/evil\nno-index = true\n")
    (workspace / "requirements.lock").write_text("evil==1\n")
    (workspace / "pyproject.toml").write_text('[build-system]\nrequires = []\nbuild-backend = "setup"\n')
    (workspace / ".env").write_text("MOOT_SEATS=command:touch owned\nANTHROPIC_BASE_URL=http://127.0.0.1:9\n")
    (workspace / "moot.toml").write_text('seats = "command:touch owned"\n')
    return {
        "PYTHONPATH": str(workspace), "PYTHONSTARTUP": str(workspace / "startup.py"), "PYTHONINSPECT": "1",
        "PYTHONUSERBASE": str(workspace / "user"), "PYTHONBREAKPOINT": "breakpoint.f", "PYTHONWARNINGS": "error",
        "PYTHONPLATLIBDIR": str(workspace), "PYTHONHOME": str(workspace), "PYTHONPYCACHEPREFIX": str(workspace),
        "PIP_CONFIG_FILE": str(workspace / "pip.conf"), "PIP_TARGET": str(workspace / "target"),
        "PIP_REQUIREMENT": str(workspace / "requirements.lock"), "PIP_USER": "1",
    }  # fmt: skip


def committed(change: tuple[Path, str, str]) -> str:
    """The workspace with all that was planted, as the head of the pull request."""
    place = change[0]
    ran(["git", "add", "-A"], place, clean() | WHO)
    ran(["git", "commit", "-qm", "planted"], place, clean() | WHO)
    return ran(["git", "rev-parse", "HEAD"], place, clean()).stdout.strip()


GH: Final = """#!/bin/sh
env > "$RUNNER_TEMP/gh-env"
cat "$(echo "$@" | sed 's/.*--body-file //')" > "$RUNNER_TEMP/posted"
echo '::set-output name=x::from gh'
"""


def prepared(tmp_path: Path, change: tuple[Path, str, str], url: str, **inputs: str) -> Job:
    """A job of a hostile pull request."""
    place, base, head = change
    event = tmp_path / "event.json"
    event.write_text(
        json.dumps({"pull_request": {"number": 7, "base": {"sha": base}, "head": {"sha": head}}})
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/gh").write_text(GH)
    (tmp_path / "bin/gh").chmod(0o755)
    environment = clean() | {
        "PATH": f"{tmp_path / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "GITHUB_EVENT_PATH": str(event), "ANTHROPIC_BASE_URL": url,
    }  # fmt: skip
    return Job(tmp_path, place, environment, seats="anthropic", **{"anthropic-api-key": KEY}, **inputs)


LAWFUL: Final = re.compile(r"::(error|warning|notice) (file=half\.py,line=2,endLine=2,)?title=[^:]*::")


def checked_log(job: Job) -> None:
    """Nothing that the model or a program said was obeyed, and nobody but the model's call had the key."""
    for command in job.obeyed():
        assert LAWFUL.match(command), command
        assert "owned" not in command.partition("title=")[2].partition("::")[0]
        assert "\n" not in command
    assert any("add-mask" in line for line in job.log.splitlines()), (
        "what the model said is shown all the same"
    )
    assert KEY not in job.log
    assert KEY not in (job.temp / "gh-env").read_text()
    assert set(job.outputs) == {"comment", "sarif", "run"}
    assert all(value.startswith(str(job.temp)) for value in job.outputs.values())


@pytest.mark.parametrize("installed", [pytest.param(True, marks=pytest.mark.slow), False])
def test_nothing_of_a_hostile_workspace_runs_and_no_word_of_a_model_is_a_command(
    change: tuple[Path, str, str], tmp_path: Path, installed: bool
) -> None:
    """The real steps, in the workspace, with the environment that points to what was planted there."""
    ran_files = tmp_path / "ran"
    planted_environment = planted(change[0], ran_files)
    head = committed(change)
    with FakeApi(answering_in(tmp_path / "temp", Hostile())) as api:
        job = prepared(tmp_path, (change[0], change[1], head), api.url, token="gh-token", **{"fail-on": "1"})
        job.environment |= planted_environment
        if installed:
            code = job.step("Install")
            if code and "No matching distribution" in job.log:
                pytest.skip("no package index")
            assert code == 0, job.log
        else:
            job.pretend_installed()
        assert job.step("Review") in (0, 1), job.log
    job.environment["ANTHROPIC_API_KEY"] = KEY  # as in a job that has it for all its steps
    assert job.step("Comment") == 0, job.log
    assert [file.name for file in ran_files.iterdir()] == []
    assert not list(change[0].rglob("owned"))
    assert not (change[0] / "target").exists()
    checked_log(job)
    assert (job.temp / "posted").read_text() == Path(job.outputs["comment"]).read_text()
    assert (tmp_path / "summary").read_text() == Path(job.outputs["comment"]).read_text()


def test_the_payloads_of_the_hostile_workspace_do_run_where_python_is_not_isolated(
    change: tuple[Path, str, str], tmp_path: Path
) -> None:
    """What the step did before: the test above would see it."""
    place = change[0]
    environment = planted(place, tmp_path / "ran")
    plain = {"PATH": os.environ["PATH"]}
    ran([sys.executable, "-m", "pip", "--version"], place, plain, None)
    ran([sys.executable, "-c", "import json"], place, plain, None)
    ran([sys.executable, "-m", "moot", "--version"], place, plain, None)
    ran([sys.executable, "-c", ""], tmp_path, plain | {"PYTHONPATH": environment["PYTHONPATH"]}, None)
    found = {file.name for file in (tmp_path / "ran").iterdir()}
    assert {"json-__init__.py", "moot-__init__.py"} <= found
    assert len(found) > 2


def test_the_steps_of_the_action_write_the_comment_of_a_pull_request(
    change: tuple[Path, str, str], tmp_path: Path
) -> None:
    with FakeApi(answering_in(tmp_path / "temp")) as api:
        inputs = {"fail-on": "1", "comment-file": str(tmp_path / "said.md")}
        job = prepared(tmp_path, change, api.url, **inputs)
        job.pretend_installed()
        assert job.step("Review") == 1, f"a finding of severity 1 stands\n{job.log}"
    assert job.outputs["comment"] == str(tmp_path / "said.md")
    comment = Path(job.outputs["comment"]).read_text()
    assert comment.startswith("**")
    assert comment.index("**Answer.**") < comment.index("| where |")
    assert (tmp_path / "summary").read_text() == comment
    schema = json.loads((ROOT / "tests/data/sarif/sarif-2.1.0-rtm.5.json").read_bytes())
    jsonschema.Draft4Validator(schema).validate(json.loads(Path(job.outputs["sarif"]).read_bytes()))
    assert re.search(r"^::error file=half.py,line=2,endLine=2,title=", job.log, re.MULTILINE)
    assert any(command.startswith("::error file=half.py,line=2") for command in job.obeyed())
    assert ran([sys.executable, "-m", "moot", "verify", job.outputs["run"]], ROOT, clean()).returncode == 0
    written = (file for file in job.temp.rglob("*") if file.is_file() and "venv" not in file.parts)
    assert KEY not in "".join(file.read_text("utf-8", "replace") for file in written)


@pytest.mark.parametrize("comment", mostly_slow(["said.md\nrun=/evil", "said.md\rrun=/evil"], quick=1))
def test_a_value_of_two_lines_names_no_other_output(
    change: tuple[Path, str, str], tmp_path: Path, comment: str
) -> None:
    with FakeApi(answering_in(tmp_path / "temp")) as api:
        job = prepared(tmp_path, change, api.url, **{"comment-file": comment})
        job.pretend_installed()
        assert job.step("Review") == 2
    assert "run" not in job.outputs
    assert "/evil" not in (tmp_path / "output").read_text()


RECORDER: Final = """#!/bin/sh
case "$*" in "-I -c"*) exec {python} "$@" ;; esac
for word; do echo "$word"; done >> {words}
exit 3
"""


TALKER: Final = """#!/bin/sh
case "$*" in
"-I -c"*) exec {python} "$@" ;;
*"--save $MOOT_COMMENT_FILE"*) echo said > "$MOOT_COMMENT_FILE"; printf 'a line without its end' ;;
*"--format github"*)
  for line in '::add-mask::a' ' ::error title=moot::b' '##[error]c' '::error title=moot::d' '::stop-commands::e'; do
    echo "$line"
  done ;;
esac
"""


def test_of_the_annotations_only_lines_that_are_annotations_get_to_the_log(
    change: tuple[Path, str, str], tmp_path: Path
) -> None:
    """The script alone, with a `moot` that escapes nothing, and whose last line has no end."""
    job = prepared(tmp_path, change, "http://127.0.0.1:9", **{"comment-file": str(tmp_path / "said.md")})
    job.pretend_installed()
    python = job.temp / "moot-action/venv/bin/python"
    python.write_text(TALKER.format(python=sys.executable))
    assert job.step("Review") == 0, job.log
    assert job.obeyed() == ["::error title=moot::d"]


def test_what_a_pull_request_says_is_never_run(change: tuple[Path, str, str], tmp_path: Path) -> None:
    """The script alone, with a `moot` that writes down its words."""
    words = tmp_path / "words"
    job = prepared(tmp_path, change, "http://127.0.0.1:9")
    job.inputs["seats"] = HOSTILE
    (tmp_path / "event.json").write_text(
        json.dumps({"pull_request": {"base": {"sha": HOSTILE}, "head": {"sha": "b\n::error::x"}}})
    )
    job.pretend_installed()
    python = job.temp / "moot-action/venv/bin/python"
    python.write_text(RECORDER.format(python=sys.executable, words=words))
    assert job.step("Review") == 3
    assert f"git:{HOSTILE}...b ::error::x" in words.read_text().splitlines(), job.log
    assert HOSTILE in words.read_text().splitlines()
    assert not list(tmp_path.rglob("made"))


def test_without_a_pull_request_and_a_range_it_says_what_to_say(
    change: tuple[Path, str, str], tmp_path: Path
) -> None:
    job = prepared(tmp_path, change, "http://127.0.0.1:9")
    (tmp_path / "event.json").write_text("{}")
    job.pretend_installed()
    for path in (job.environment["GITHUB_EVENT_PATH"], ""):
        job.environment["GITHUB_EVENT_PATH"] = path
        job.log = ""
        assert job.step("Review") == 2
        assert "::error title=moot::This is no pull request" in job.log


@pytest.mark.slow  # installs from a package index, twice
def test_pre_commit_runs_the_hook_from_a_clone(
    clone: Path, change: tuple[Path, str, str], tmp_path: Path
) -> None:
    place, before, after = change
    ran([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], tmp_path, clean())
    if not installed(tmp_path / "env/bin/python", "pre-commit"):
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
