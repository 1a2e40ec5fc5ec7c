"""`moot explain`: every code that moot prints has a meaning, taken from the table that defines it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from detectors.parameters import gate_parameters
from detectors.report import NAMES, StopVerdict
from ledger.events import KINDS, Disposition, Standing
from ledger.events.envelope import EvidenceClass, FailureMode, Status
from moot.api import open_run
from moot.errors import EXIT_CODES
from moot.view import marks
from moot.view.explain import TERMS, all_entries, explain
from moot.view.labels import LABELS, labels_of_run
from moot.view.marks import Mark
from moot.view.outcome import outcome_of
from moot.view.outcome_text import ROWS, STATUSES as OUTCOME_WORDS, outcome_lines
from moot.view.stop_checks import HEADLINES, conditions_of_gates
from moot.view.words import CLOSINGS, FAILURE_MODES, FAILURE_SIGNS
from rounds.protocols import PROTOCOLS
from rounds.protocols.adversarial import SCALES
from rounds.run.outcome import Kind
from tests.cli.conftest import Moot
from tests.protocols.playing import played
from tests.recorded import recorded_names, run_of
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
    *LABELS,
    *HEADLINES,
    *ROWS,
    *get_args(EvidenceClass),
    *marks.SHOWN_AS.values(),
    *OUTCOME_WORDS.values(),
    *(mark.word for mark in vars(marks).values() if isinstance(mark, Mark) and mark.word),
    *(
        mark.word
        for table in vars(marks).values()
        for mark in (table.values() if isinstance(table, dict) else ())
        if isinstance(mark, Mark)
    ),
    *(verdict for scale in SCALES.values() for verdict in scale),
    *(kind.upper() for kind in get_args(Kind)),
    *(verdict.upper().replace("_", " ") for verdict in get_args(StopVerdict)),
    *get_args(get_type_hints(Disposition)["disposition"]),
    *get_args(get_type_hints(Standing)["standing"]),
)


@pytest.mark.parametrize("first", sorted({code[0] for code in CODES}))
def test_every_code_is_explained(first: str) -> None:
    for code in CODES:
        if code[0] == first:
            entries = explain(code).entries
            assert entries, code
            assert all(len(entry.text.split()) >= 3 and "{" not in entry.text for entry in entries), code
            assert all(one.text.endswith(".") and not one.text.startswith("Shown as") for one in entries), (
                code
            )


@pytest.mark.parametrize("name", [*recorded_names(), *sorted(PROTOCOLS.keys() - {"structured"})])
def test_every_label_of_a_screen_is_explained(name: str) -> None:
    book = open_run(played(name) if name in PROTOCOLS else run_of(name)).book
    lines = outcome_lines(outcome_of("run", book))
    start = next(n for n, line in enumerate(lines) if line.startswith("answer "))
    labels = {line[:12].strip() for line in lines[start:]} - {""}
    assert labels <= set(ROWS)
    for label in labels_of_run(book):
        assert explain(label.kind).entries


def test_an_unknown_word_is_answered_with_a_word(moot: Moot) -> None:
    assert "did you mean 'decided'?" in moot("explain", "decidedd").err


def test_tables_that_hold_the_meanings_are_complete() -> None:
    assert set(FAILURE_SIGNS) == set(FAILURE_MODES) == set(get_args(FailureMode))
    assert set(marks.STATUSES) == set(get_args(Status))
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
