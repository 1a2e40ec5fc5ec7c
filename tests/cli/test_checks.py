"""`checks/E-….json`: a verdict is computed from the runs, and what was changed, moved or made up is said."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledger.format.canonical import line_hash
from ledger.store.store import RunStore
from moot.__main__ import main
from tests.cli.conftest import Moot
from tests.cli.test_experiment import PLAN
from tests.protocols.crux_seats import play
from tests.rounds.experimenting import READS, WORLD, sandbox_or_skip, with_claims

FILES = {"test.py": READS, "data.txt": "good", "bad.txt": "bad", "other.txt": " good "}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run with an experiment, two series of which were run beside it."""
    sandbox_or_skip()
    place = tmp_path_factory.mktemp("checks")
    for name, text in FILES.items():
        (place / name).write_text(text)
    play(with_claims(place / "run"), WORLD)
    here = Path.cwd()
    os.chdir(place)
    try:
        assert main(["experiment", "plan", "run", *PLAN]) == 0
        (experiment,) = RunStore(place / "run").state().experiments
        assert experiment == "E-1-1"
        for _ in range(2):
            assert main(["experiment", "run", "run", experiment]) == 0
    finally:
        os.chdir(here)
    return place / "run"


@pytest.fixture
def sandbox() -> None:
    sandbox_or_skip()


@pytest.fixture
def run(ended: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(ended, tmp_path / "run"))


def checks(moot: Moot, run: Path, code: int) -> list[dict[str, Any]]:
    said = moot("experiment", "show", run, "E-1-1", "--json")
    assert said.code == code, said.err
    text = moot("experiment", "show", run, "E-1-1")
    assert text.code == code
    return list(said.json["experiments"][0]["checks"])


def file_of(run: Path, number: int = 1) -> Path:
    return run / "checks" / f"E-1-1.{number}.json"


def changed(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(file_of(run).read_text())
    change(content)
    file_of(run).write_text(json.dumps(content))


def test_untouched_series_are_shown_with_their_verdicts(moot: Moot, run: Path) -> None:
    assert [(one["verdict"], one["problem"]) for one in checks(moot, run, 0)] == [("holds", None)] * 2


def test_no_verdict_is_kept_so_none_can_be_forged(moot: Moot, run: Path) -> None:
    assert b"verdict" not in file_of(run).read_bytes()
    changed(run, lambda content: content.update(verdict="fails"))
    first, second = checks(moot, run, 1)
    assert first["verdict"] is None
    assert "unknown field" in first["problem"]
    assert (second["verdict"], second["problem"]) == ("holds", "series 1 before it is missing or damaged")


def other_exit(line: str) -> str:
    return line.replace('"exit":0', '"exit":1')


def forged_whole(content: dict[str, Any]) -> None:
    """Every run says another exit code, and every link is made anew."""
    prev = json.loads(content["lines"][0])["prev"]
    lines: list[str] = []
    for line in content["lines"]:
        old = json.loads(line)["prev"]
        line = line.replace(old, prev)
        lines.append(
            line.replace('"exit":1', '"exit":7')
            .replace('"exit":0', '"exit":1')
            .replace('"exit":7', '"exit":0')
        )
        prev = line_hash(lines[-1].encode())
    content.update(lines=lines, hash=prev)


def test_a_chain_that_was_made_anew_breaks_the_series_behind_it(moot: Moot, run: Path) -> None:
    changed(run, forged_whole)
    first, second = checks(moot, run, 1)
    assert first["problem"] is None, (
        "a whole chain without anything behind it can be forged, as SECURITY.md says"
    )
    assert first["verdict"] == "error", "the controls then did not do what they must"
    assert second["problem"] == "it does not go on from the series before it"


FORGED: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda content: content["lines"].__setitem__(-1, other_exit(content["lines"][-1])), "it was changed"),
    (lambda content: content["lines"].__setitem__(2, other_exit(content["lines"][2])), "it was changed"),
    (lambda content: content["lines"].pop(), "it was changed"),
    (lambda content: content["lines"].pop(0), "not those of a whole series"),
    (lambda content: content["lines"].reverse(), "it was changed"),
    (lambda content: content.update(lines=[]), "does not hold the runs"),
    (lambda content: content.update(lines=content["lines"] * 9), "does not hold the runs"),
    (lambda content: content.update(lines=["{}"]), "is not what moot writes"),
    (lambda content: content.update(lines=["[" * 5_000]), "is not what moot writes"),
    (lambda content: content.update(lines=[None]), "is not what moot writes"),
    (lambda content: content.update(hash="0" * 64), "it was changed"),
    (lambda content: content["wrote"].update(dict.fromkeys(content["wrote"], "bad\n")), "does not have the hash"),
    (lambda content: content.update(wrote={}), "is missing"),
    (lambda content: content.update(wrote_bytes={"0" * 64: "\u20ac"}), "is not what moot writes"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "why"), FORGED)
def test_a_forged_run_or_output_is_said(
    moot: Moot, run: Path, change: Callable[[dict[str, Any]], object], why: str
) -> None:
    changed(run, change)
    first, second = checks(moot, run, 1)
    assert first["verdict"] is None
    assert why in first["problem"]
    assert second["problem"]


WRONG: dict[str, Callable[[Path], object]] = {
    "null": lambda file: file.write_bytes(b"null"),
    "list": lambda file: file.write_bytes(b"[]"),
    "empty": lambda file: file.write_bytes(b""),
    "number": lambda file: file.write_bytes(b"1e999999999"),
    "deep": lambda file: file.write_bytes(b"[" * 100_000),
    "deep_inside": lambda file: file.write_bytes(b'{"wrote":' + b'{"a":' * 100_000),
    "bytes": lambda file: file.write_bytes(b"\xff\xfe\x00"),
    "0.1": lambda file: file.write_bytes(b'{"of":"E-1-1","verdict":"holds","runs":[],"wrote":{}}'),
    "pipe": os.mkfifo,
    "directory": Path.mkdir,
    "device": lambda file: file.symlink_to("/dev/zero"),
    "nowhere": lambda file: file.symlink_to("/nowhere"),
    "huge": lambda file: os.truncate(os.open(file, os.O_CREAT | os.O_WRONLY), 1 << 40),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_series_is_said_and_never_exit_70(moot: Moot, run: Path, wrong: str) -> None:
    file_of(run).unlink()
    WRONG[wrong](file_of(run))
    first, second = checks(moot, run, 1)
    assert first["verdict"] is None
    assert first["problem"]
    assert first["file"] == "checks/E-1-1.1.json"
    assert second["verdict"] == "holds"
    text = moot("experiment", "show", run, "E-1-1").out
    assert "✗ checks/E-1-1.1.json: " in text
    assert "move the series of E-1-1 away" in text


def test_a_file_that_was_moved_is_said(moot: Moot, run: Path) -> None:
    file_of(run).rename(file_of(run, 3))
    second, third = checks(moot, run, 1)
    assert second["problem"] == "series 1 before it is missing or damaged"
    assert third["problem"] == "it does not go on from the series before it"
    file_of(run, 3).rename(run / "checks" / "E-1-1.copy.json")
    misnamed, second = checks(moot, run, 1)
    assert "its name" in misnamed["problem"]


def test_a_series_of_another_run_is_said(moot: Moot, run: Path, tmp_path: Path) -> None:
    for name, text in {**FILES, "data.txt": "good "}.items():
        (tmp_path / name).write_text(text)
    play(with_claims(tmp_path / "other"), WORLD)
    assert moot("experiment", "plan", tmp_path / "other", *PLAN).code == 0
    shutil.copytree(run / "checks", tmp_path / "other" / "checks")
    first, _ = checks(moot, tmp_path / "other", 1)
    assert "beside another ledger" in first["problem"]


@pytest.mark.usefixtures("sandbox")
def test_the_next_series_goes_on_and_overwrites_nothing(moot: Moot, run: Path) -> None:
    file_of(run).unlink()
    kept = file_of(run, 2).read_bytes()
    assert moot("experiment", "run", run, "E-1-1", "--times", 1).code == 1, "one before it is missing"
    assert file_of(run, 2).read_bytes() == kept
    _, third = checks(moot, run, 1)
    assert (third["problem"], third["verdict"], third["repetitions"]) == (None, "holds", 1)


@pytest.mark.usefixtures("sandbox")
def test_a_link_in_the_place_of_the_directory_is_not_followed(moot: Moot, run: Path, tmp_path: Path) -> None:
    shutil.rmtree(run / "checks")
    (tmp_path / "elsewhere").mkdir()
    (run / "checks").symlink_to(tmp_path / "elsewhere")
    assert moot("experiment", "run", run, "E-1-1", "--times", 1).code == 3
    assert not list((tmp_path / "elsewhere").iterdir())
