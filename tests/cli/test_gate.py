"""`moot gate`: a question is text, however long, and a file only where it is one."""

from __future__ import annotations

from pathlib import Path

import pytest

import moot as library
from moot.api import open_run
from moot.view.protocols import choices_lines
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Moot


@pytest.mark.parametrize(
    "text",
    [
        "Should our team go on with its small internal wiki? " * 12,
        "Should we replace setup.cfg by pyproject.toml",
        "Makefile",
    ],
)
def test_a_question_is_never_taken_for_a_file(moot: Moot, tmp_path: Path, text: str) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    said = moot("gate", text, "--json")
    assert said.code == 0, said.err
    assert said.json["route"] in PROTOCOLS


@pytest.mark.parametrize("text", ["", "   \n"])
def test_nothing_is_no_question(moot: Moot, text: str) -> None:
    said = moot("gate", text)
    assert said.code == 2
    assert "no question" in said.err


def test_a_deliberation_file_is_read(moot: Moot, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "Migrate the billing database with zero downtime"\n')
    assert moot("gate", str(file), "--json").json["route"] == "jugalbandi"
    assert moot("gate", str(tmp_path / "none.toml")).code == 2


def test_it_says_replies_and_how_to_run_it(moot: Moot) -> None:
    """R-23: the route with its price, and a command that works."""
    said = moot("gate", "PostgreSQL or SQLite for the audit ledger?")
    assert (
        "comparative   for two to four options and a choice between them; replies: 11 for two options"
        in said.out
    )
    assert "--protocol comparative --option '…' --option '…'" in said.out
    assert "--option" not in moot("gate", "Build a login page").out


@pytest.mark.parametrize(
    ("flags", "protocol"),
    [
        (("--single",), "single-pass"),
        ((), "crux"),
    ],
)
def test_run_takes_single(moot: Moot, tmp_path: Path, flags: tuple[str, ...], protocol: str) -> None:
    """R-23: AD-2's flag, where a run begins; the route is a decision of the run."""
    out = tmp_path / "run"
    said = moot(
        "run", "-q", "Should we rewrite the service in Go?", "--seats", "host", "--out", str(out), *flags
    )
    assert said.code == 4, said.err
    assert moot("status", str(out), "--json").json["protocol"] == protocol
    gates = [one for one in moot("decisions", str(out), "--json").json["decisions"] if one["type"] == "gate"]
    assert len(gates) == (1 if flags else 0)


@pytest.mark.parametrize(
    "flags", [("--plan", "minimum-8"), ("--rule", "profile=published"), ("--rule", "stress=off")]
)
def test_what_is_said_of_rounds_means_the_structured_deliberation(
    moot: Moot, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    out = tmp_path / "run"
    assert moot("run", "-q", "Which?", "--seats", "host", "--out", str(out), *flags).code == 4
    assert moot("status", str(out), "--json").json["protocol"] == "structured"


def test_crux_takes_stakes_rounds_and_no_wait(moot: Moot, tmp_path: Path) -> None:
    out = tmp_path / "run"
    flags = ("--stakes", "high", "--rule", "rounds=1", "--no-wait")
    assert moot("run", "-q", "Which?", "--seats", "host", "--out", str(out), *flags).code == 4
    rules = open_run(out).state.opening.rules
    assert (rules["stakes"], rules["rounds"], rules["wait"]) == ("high", "1", "off")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--single", "--protocol", "debate"), "protocol has settled it"),
        (("--single", "--plan", "minimum-8"), "plan has settled it"),
        (("--single", "--rule", "stress=off"), "no_stress has settled it"),
    ],
)
def test_what_is_settled_is_not_routed(
    moot: Moot, tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    """R-23: a flag that would be passed over is refused."""
    said = moot("run", "-q", "Should we?", "--seats", "host", "--out", str(tmp_path / "run"), *flags)
    assert said.code == 2
    assert words in said.err
    assert not (tmp_path / "run").exists()


def test_a_flag_stands_over_the_files_gate(moot: Moot, tmp_path: Path) -> None:
    """R-23: AD-2: --single is always one seat, whatever the file says."""
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "What is this?"\n[gate]\ncompete = true\n')
    out = tmp_path / "run"
    assert moot("run", str(file), "--single", "--seats", "host", "--out", str(out)).code == 4
    assert moot("status", str(out), "--json").json["protocol"] == "single-pass"
    assert moot("run", "--resume", str(out), "--single").code == 2


def test_every_protocol_is_named_with_its_replies_and_its_price(moot: Moot) -> None:
    found = moot("gate", "Which storage?", "--json").json
    assert {one["protocol"] for one in found["choices"]} == set(PROTOCOLS)
    counts = [one["replies"] for one in found["choices"]]
    assert counts == sorted(counts)
    by_plan = {one["plan"]: one for one in found["choices"] if one["protocol"] == "structured"}
    assert (by_plan["minimum-8"]["replies"], by_plan["standard-13"]["replies"]) == (142, 258)
    Path("plan.toml").write_text('[deliberation]\nquestion = "Which?"\nplan = "minimum-8"\n')
    estimate = moot("run", "--dry-run", "plan.toml", "--seats", "anthropic", "--json").json
    assert by_plan["minimum-8"]["usd"] == estimate["usd"]
    told = moot("gate", "Which storage?").out
    assert all(name in told for name in PROTOCOLS)
    assert max(map(len, told.splitlines())) <= 100


def test_a_new_file_is_shown_beside_what_else_there_is(moot: Moot) -> None:
    said = moot("new", "-q", "Which storage?", "--protocol", "tribunal")
    assert "deliberation.toml: tribunal, 3 rounds" in said.out
    assert "→ tribunal" in said.out
    assert "  structured minimum-8    142   $1." in said.out


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_table_keeps_to_the_width(width: int) -> None:
    found = library.gate("Which storage?")
    lines = list(choices_lines(found.choices, found.route, width))
    assert max(map(len, lines)) <= width
