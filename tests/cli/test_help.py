"""Help, completion, start-up: every verb has an example, and `--help` imports next to nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path

import pytest

import moot as library
from moot.cli import BY_NAME, VERBS, Verb, moved
from moot.cli.command import command_of
from tests.cli.conftest import Moot

ROOT = Path(__file__).resolve().parents[2]
NAMES = [verb.name for verb in VERBS]
LEAVING = {"query", "calibrate"}
HEAVY = ("anthropic", "httpx", "jsonschema", "hypothesis")


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_verb_has_help_with_an_example(moot: Moot, name: str) -> None:
    said = moot(name, "--help")
    assert said.code == 0
    assert said.err == ""
    assert f"Usage: moot {name}" in said.out
    assert "Example: " in said.out
    assert f"moot {name}" in said.out.split("Example: ")[1]
    assert moot("help", name) == said


@pytest.mark.parametrize("verb", VERBS, ids=NAMES)
def test_usage_brackets_what_can_be_left_out(moot: Moot, verb: Verb) -> None:
    said = moot(verb.name, "--help").out
    parameters = signature(getattr(import_module(verb.path), verb.function)).parameters
    arguments = [param for param in command_of(verb).params if param.param_type_name == "argument"]
    pieces = []
    for argument in arguments:
        has_default = parameters[argument.name].default is not Parameter.empty
        assert not set("[]{}") & set(argument.metavar), "typer adds the brackets"
        assert has_default or "default" not in argument.help.lower()
        pieces.append(("[%s]" if has_default else "{%s}") % argument.metavar + "..." * (argument.nargs != 1))
    usage = said.partition("\n\n")[0].split()
    assert usage[usage.index("[OPTIONS]") + 1 :] == pieces
    if any("{" in piece for piece in pieces):
        without = moot(verb.name)
        assert (without.code, "missing argument" in without.err) == (2, True)


def test_the_overview_shows_the_ten_that_matter(moot: Moot) -> None:
    overview = moot("--help").out
    assert moot().out == moot("-h").out == moot("help").out == overview
    rows = [line.split()[0] for line in overview.splitlines() if line.startswith("  ")]
    assert rows == [verb.name for verb in VERBS if verb.first]
    assert len(rows) == 10
    assert overview.count("Example:") == 1
    assert "moot help --all" in overview
    assert max(len(line) for line in overview.splitlines()) <= 100


def test_help_all_lists_every_verb_once_by_job(moot: Moot) -> None:
    lines = moot("help", "--all").out.splitlines()
    rows = [line.split()[0] for line in lines if line.startswith("  ")]
    assert rows == NAMES
    assert len(set(rows) - LEAVING) == 36
    jobs = dict.fromkeys(verb.group for verb in VERBS)
    assert [line for line in lines if line in jobs] == list(jobs)
    columns = {len(line) - len(line[2:].split(" ", 1)[1].lstrip()) for line in lines if line.startswith("  ")}
    assert len(columns) == 1, "the descriptions begin in one column"
    listed = moot("help", "--all", "--json").json["verbs"]
    assert [row["verb"] for row in listed] == NAMES


@pytest.mark.parametrize(("word", "instead"), moved.VERBS.items())
def test_a_verb_that_moved_is_an_error_that_says_where(moot: Moot, word: str, instead: str) -> None:
    if word in NAMES:
        pytest.skip("still a verb")
    said = moot(word, "@last")
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert f"`{instead}`" in said.err
    verb = instead.split()[1]
    assert verb in NAMES or verb.startswith("--")


def test_the_version_is_the_distribution_s(moot: Moot) -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert moot("--version").out == f"moot {project['version']}\n"
    assert library.version() == project["version"]


def test_the_public_api_is_what_is_listed() -> None:
    assert set(dir(library)) == set(library.__all__)
    assert all(getattr(library, name) is not None for name in library.__all__)
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = library.nothing_like_it


LOADED = (
    "import sys; from moot.__main__ import main; main(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
)


def test_help_imports_no_framework() -> None:
    loaded = set(python(LOADED, "--help").stderr.split())
    assert "moot.cli" in loaded
    assert not loaded & {"typer", "pydantic", "msgspec", "rich", "ledger", "rounds", *HEAVY}


@pytest.mark.parametrize("verb", ["status", "check", "signals"])
def test_a_verb_imports_no_model_s_sdk_and_nobody_else_s_family(finished: Path, verb: str) -> None:
    loaded = set(python(LOADED, verb, str(finished)).stderr.split())
    assert not loaded & set(HEAVY)
    assert {name for name in loaded if name.startswith("moot.cli.")} <= {
        BY_NAME[verb].path,
        "moot.cli.command",
    }


def test_a_reader_that_goes_away_is_no_error(finished: Path) -> None:
    script = f"{sys.executable} -m moot log {finished} | head -1; echo ${{PIPESTATUS[0]}}"
    said = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert said.stdout.splitlines()[-1] == "0"
    assert said.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_asks_moot_and_parses(moot: Moot, tmp_path: Path, shell: str) -> None:
    script = moot("--show-completion", shell).out
    assert "_MOOT_COMPLETE=complete" in script
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    file = tmp_path / "completion"
    file.write_text(script)
    checked = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["moot", "stat"], {"status"}),
        (["moot", "si"], {"signals"}),
        (["moot", "signals", "--pro"], {"--profile"}),
        (["moot", "status", "@"], {"@last"}),
        (["moot", "status", "2026"], {"2026-01-01-which"}),
        (["moot", "run", "--protocol", "de"], {"debate", "devils-advocate"}),
        (["moot", "gate", "trib"], {"tribunal"}),
    ],
)
def test_bash_completes_verbs_options_runs_and_names(
    moot: Moot, tmp_path: Path, words: list[str], expected: set[str]
) -> None:
    script = tmp_path / "completion"
    script.write_text(moot("--show-completion", "bash").out)
    head = Path("runs/2026-01-01-which/head")
    head.parent.mkdir(parents=True)
    head.touch()
    line = " ".join(f"'{word}'" for word in words)
    probe = (
        f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1};"
        " _moot_completion moot; echo ${COMPREPLY[@]}"
    )
    there = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    said = subprocess.run(["bash", "-c", probe], capture_output=True, text=True, env=there, check=False)
    assert set(said.stdout.split()) == expected, said.stderr


def test_completion_is_installed_where_the_shell_looks(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    said = moot("--install-completion", "bash")
    assert said.code == 0, said.err
    assert "_MOOT_COMPLETE=complete" in (tmp_path / ".bash_completions" / "moot.sh").read_text()
    assert "moot.sh" in (tmp_path / ".bashrc").read_text()
    assert moot("--install-completion", "tcsh").code == 2


def test_the_console_script_is_the_same_program(finished: Path) -> None:
    executable = shutil.which("moot", path=str(Path(sys.executable).parent))
    if executable is None:
        pytest.skip("moot is not installed here")
    said = subprocess.run(
        [executable, "status", str(finished), "--json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert said.returncode == 0, said.stderr
