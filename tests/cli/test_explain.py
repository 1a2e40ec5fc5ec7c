"""`moot explain`: every code that moot prints has a meaning, taken from the table that defines it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from detectors.parameters import gate_parameters
from detectors.report import NAMES
from ledger.events import KINDS
from ledger.events.envelope import FailureMode, Status
from moot.errors import EXIT_CODES
from moot.view.explain import STATUS_MEANINGS, TERMS, all_entries, explain
from moot.view.stop_checks import conditions_of_gates
from moot.view.words import CLOSINGS, FAILURE_MODES, FAILURE_SIGNS
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Moot
from validators.rulebook import RULES

ROOT = Path(__file__).resolve().parents[2]
LETTERS = sorted({f"{row.letter}-" for row in KINDS.values() if row.id})
CODES = (
    *(rule.code for rule in RULES),
    *get_args(FailureMode),
    *conditions_of_gates(gate_parameters()),
    *get_args(Status),
    *KINDS,
    *LETTERS,
    *map(str, EXIT_CODES),
    *NAMES,
    *CLOSINGS,
    *PROTOCOLS,
    *TERMS,
)


@pytest.mark.parametrize("code", CODES)
def test_every_code_is_explained(code: str) -> None:
    entries = explain(code).entries
    assert entries
    assert all(len(entry.text.split()) >= 3 and "{" not in entry.text for entry in entries)


def test_tables_that_hold_the_meanings_are_complete() -> None:
    assert set(FAILURE_SIGNS) == set(FAILURE_MODES) == set(get_args(FailureMode))
    assert set(STATUS_MEANINGS) == set(get_args(Status))
    page = (ROOT / "docs" / "format.md").read_text("utf-8").partition("## 13. Exit codes")[2]
    rows = {int(number) for number in re.findall(r"^\| (\d) \|", page.partition("\n## ")[0], re.M)}
    assert rows == set(EXIT_CODES) - {70}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("fm-4", "FM-4"),
        ("N-1-6", "N-"),
        ("O-2", "O-2"),
        ("r2.E.check1.verifier~2", "r2.E.check1.verifier~2"),
        ("@12", "@12"),
        ("exit 4", "4"),
        ("Claims", "claim"),
        ("partly refuted", "partially_refuted"),
        ("drift check", "drift_check"),
        ("one role dominates", "FM-4"),
    ],
)
def test_other_forms_of_a_code_are_known(asked: str, code: str) -> None:
    assert code in {entry.code for entry in explain(asked).entries}


def test_an_unknown_word_names_the_nearest(moot: Moot) -> None:
    wrong = moot("explain", "sinlge-pass")
    assert (wrong.code, "did you mean 'single-pass'?" in wrong.err) == (2, True)
    assert "lists what can be explained" in moot("explain", "qqqqqq").err


def test_words_of_the_command_line_need_no_quotes(moot: Moot) -> None:
    assert moot("explain", "group", "forecast").out == moot("explain", "group forecast").out
    whole = moot("explain", "--json").json["entries"]
    assert len(whole) == len(list(all_entries()))
