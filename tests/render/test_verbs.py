"""demo, report and doctor as commands: on real runs, through the real entry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import schemas
from moot.__main__ import main
from moot.app.diagnostics import examine
from moot.app.runs import finished_examples
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script

Moot = Callable[..., tuple[int, str, str]]


@pytest.fixture
def moot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Moot:
    """Run moot in an empty directory; exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two rounds, one of them a stress round."""
    path = tmp_path_factory.mktemp("recorded") / "run"
    play(begin(path, rows(2, absent={2: "critic"})), Script(seed=3))
    return path


def satisfies(verb: str, text: str) -> dict[str, object]:
    """The object that a verb printed, after it was held against its published schema."""
    said = json.loads(text)
    schema = json.loads((Path(schemas.__file__).parent / "output" / f"{verb}.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(said)
    return said  # type: ignore[no-any-return]


def test_demo_plays_a_recorded_run_to_its_stop(moot: Moot, recorded: Path) -> None:
    code, out, err = moot("demo", str(recorded))
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0].startswith("RECORDED run: 41 replies recorded on 2026-01-01")
    (same,) = (number for number, line in enumerate(lines) if line.startswith("identical: same head "))
    outcome = "\n".join(lines[same + 1 :])
    assert "answer " in outcome
    assert "finished: no step was left to take" in outcome.replace("\n            ", " ")


def test_demo_json(moot: Moot, recorded: Path) -> None:
    code, out, _ = moot("demo", str(recorded), "--json")
    said = satisfies("demo", out)
    assert code == 0
    assert (said["identical"], said["recorded"], said["divergences"]) == (True, True, [])
    assert said["head"] == said["expected_head"] == json.loads((recorded / "head").read_text())["hash"]


def test_demo_quiet(moot: Moot, recorded: Path) -> None:
    assert moot("demo", str(recorded), "--quiet") == (0, "", "")


def test_demo_finds_the_shortest_finished_example(tmp_path: Path, moot: Moot) -> None:
    examples = tmp_path / "runs" / "examples"
    play(begin(examples / "a-short", rows(1)), Script())
    play(begin(examples / "b-long", rows(2)), Script())
    begin(examples / "c-unfinished", rows(3))
    ours = [path for path in finished_examples() if path.is_relative_to("runs")]
    assert [path.name for path in ours] == ["a-short", "b-long"]
    code, out, _ = moot("demo", "--no-live")
    assert code == 0
    assert out.splitlines()[0].startswith("RECORDED ")


def test_demo_without_an_example_says_so(moot: Moot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import moot as package

    monkeypatch.setattr(package, "__file__", str(tmp_path / "site" / "moot" / "__init__.py"))
    code, out, err = moot("demo")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "no recorded example is here" in err
    assert "moot demo RUN" in err
    begin(tmp_path / "runs" / "examples" / "half", rows(1))
    code, _, err = moot("demo")
    assert code == 2
    assert "no recorded example is finished yet (half)" in err


def test_demo_of_a_run_whose_rules_have_changed_says_where(
    moot: Moot, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from detectors.signals import ADVICE

    monkeypatch.setitem(ADVICE, 1, "wrap_up")
    monkeypatch.setitem(ADVICE, 2, "wrap_up")
    monkeypatch.setitem(ADVICE, 3, "wrap_up")
    code, out, _ = moot("demo", str(recorded))
    assert code == 1
    assert "diverged: rules at event" in out
    assert out.splitlines()[-1].startswith("diverged: ") or "identical" not in out


def test_report_to_stdout_and_to_a_file(moot: Moot, recorded: Path, tmp_path: Path) -> None:
    code, out, err = moot("report", str(recorded))
    assert (code, err) == (0, "")
    assert out.startswith("# Which storage keeps every line?\n\n> **FAKE**")
    for title in (
        "Why it stopped",
        "Final decisions",
        "Stop signals",
        "Rounds",
        "Stress rounds",
        "Claims",
        "Retrospective",
        "Cost",
    ):
        assert f"\n## {title}\n" in out
    code, said, _ = moot("report", str(recorded), "--out", "r.md")
    assert (code, said) == (0, "written to r.md\n")
    assert (tmp_path / "r.md").read_text("utf-8") == out


def test_report_json(moot: Moot, recorded: Path) -> None:
    code, out, _ = moot("report", str(recorded), "--json")
    said = satisfies("report", out)
    assert code == 0
    assert said["out"] is None
    assert str(said["text"]).startswith("# Which storage")


@pytest.mark.parametrize("verb", ["report", "demo"])
def test_a_missing_run_is_one_line(moot: Moot, verb: str) -> None:
    code, out, err = moot(verb, "nowhere")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1


def test_report_into_a_missing_directory_is_one_line(moot: Moot, recorded: Path) -> None:
    code, _, err = moot("report", str(recorded), "--out", "no/such/r.md")
    assert code == 2
    assert err.count("\n") == 1


def test_doctor(moot: Moot) -> None:
    code, out, err = moot("doctor")
    assert (code, err) == (0, "")
    assert "✓ ok" in out
    assert out.splitlines()[-1] == "deliberations can be run here"


@pytest.mark.parametrize("tool", ["apt-get", "dnf", None])
def test_doctor_says_how_to_install_a_sandbox_that_is_not_here(
    monkeypatch: pytest.MonkeyPatch, tool: str | None
) -> None:
    from moot.environment import read_settings

    def which(program: str, **_: object) -> str | None:
        return f"/usr/bin/{program}" if program == tool else None

    monkeypatch.setattr("shutil.which", which)
    found = {one.name: one for one in examine(read_settings())}["experiments"]
    assert found.state == "missing"
    assert found.found.endswith("bubblewrap is not installed")
    assert found.fix == (f"{tool} install bubblewrap" if tool else "install bubblewrap (bwrap)")


def test_doctor_shows_no_key_and_no_password(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-very-secret")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://user:hunter2@models.example:8443/v1?token=t0k")
    code, out, _ = moot("doctor", "--json")
    satisfies("doctor", out)
    assert code == 0
    assert not any(secret in out for secret in ("sk-very-secret", "hunter2", "t0k"))
    assert "https://models.example:8443" in out


def test_doctor_names_the_fault_and_its_mend(
    moot: Moot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("MOOT_RUNS", str(tmp_path / "file" / "runs"))
    code, out, _ = moot("doctor", "--json")
    said = satisfies("doctor", out)
    assert code == 1
    assert said["ok"] is False
    faults = [one for one in said["examined"] if one["state"] == "fault"]  # type: ignore[attr-defined]
    assert [fault["name"] for fault in faults] == ["runs"]
    assert "MOOT_RUNS" in faults[0]["mend"]


def test_doctor_leaves_nothing_behind(moot: Moot, tmp_path: Path) -> None:
    moot("doctor")
    assert list(tmp_path.iterdir()) == []


def test_every_fault_has_a_mend_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from moot.environment import read_settings

    monkeypatch.setenv("MOOT_RUNS", "/proc/none")
    monkeypatch.setenv("MOOT_OFFLINE", "1")
    for one in examine(read_settings()):
        assert (one.fix is None) == (one.state == "ok"), one
        assert "\n" not in (one.fix or "")
