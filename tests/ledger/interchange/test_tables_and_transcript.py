"""CSV that no spreadsheet runs, and a Markdown transcript whose structure no model text can forge."""

from __future__ import annotations

import copy
import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from ledger.interchange.formats import FORMULA_STARTS, export_csv, inert, table
from ledger.interchange.skill_export import inline, quoted
from ledger.interchange.skill_import import Terms
from ledger.interchange.transcript import export_markdown
from tests.ledger.interchange.sources import SMALL, Row, imported, source, texts


def read(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_one_table_a_kind_and_the_lifecycles() -> None:
    files = export_csv(imported(source(SMALL))).files
    assert sorted(files) == [
        "claim.csv",
        "decision.csv",
        "drift_check.csv",
        "flip.csv",
        "lifecycle.csv",
        "position.csv",
        "round_opened.csv",
        "run_opened.csv",
        "verification.csv",
    ]
    claims = read(files["claim.csv"])
    assert [(row["id"], row["supersedes"], row["anchor_ref"]) for row in claims] == [
        ("C-1-1", "", "G-1"),
        ("C-2-1", "C-1-1", ""),
    ]
    assert claims[0]["sightings"] == '[{"role":"observer","round":2}]'
    assert [(row["claim"], row["from"], row["to"], row["by"]) for row in read(files["lifecycle.csv"])] == [
        ("C-1-1", "pending", "tested_confirmed", "V-1-1"),
        ("C-1-1", "tested_confirmed", "superseded", "C-2-1"),
    ]


@given(st.lists(st.lists(st.text(max_size=6), min_size=2, max_size=2), max_size=4))
def test_no_cell_is_a_formula_and_every_cell_comes_back(rows: list[list[str]]) -> None:
    text = io.StringIO(table(["=a", "b"], rows).decode("utf-8", "surrogatepass"), newline="")
    header, *cells = list(csv.reader(text))
    assert header == ["'=a", "b"]
    assert not any(cell.startswith(FORMULA_STARTS) for row in cells for cell in row)
    assert cells == [[inert(cell) for cell in row] for row in rows]


def test_a_formula_in_a_claim_is_text() -> None:
    rows: dict[str, list[Row]] = copy.deepcopy(dict(SMALL))
    rows["claims"][0]["text"] = '=HYPERLINK("http://x")'
    assert (
        read(export_csv(imported(source(rows))).files["claim.csv"])[0]["text"] == '\'=HYPERLINK("http://x")'
    )


def test_a_transcript_reads_from_the_question_to_where_the_claims_stand() -> None:
    terms = Terms(question="Which storage <b>now</b>?")
    text = export_markdown(imported(source(SMALL), terms)).files["transcript.md"].decode()
    assert text.startswith(
        "# Which storage \\<b\\>now\\</b\\>?\n\nProtocol structured 1, imported from skill."
    )
    for passage in (
        "## Round 2\n\nLead: guardian. Absent: critic.",
        "**C-1-1** claim of critic\n\n> A torn line is lost.",
        "**V-1-1** critic_attack_on_action_trace: **BROKEN**",
        "- C-1-1: pending → tested_confirmed (supports)",
        "**F-1-1-observer** P-1-1-observer changes from UNCLEAR to ROBUST, citing nothing new",
        "**D-1-1** decision (round) by consensus; rests on: based-on C-1-1.",
        "**H-2** drift: **PASS**, deviation 2 of 5",
        "## How the claims stand\n\n- C-1-1: superseded\n- C-2-1: pending\n",
    ):
        assert passage in text, passage


def test_model_text_cannot_forge_structure() -> None:
    """F-8"""
    assert quoted("a\n# Round 9\n<script>") == "> a\n> \\# Round 9\n> \\<script\\>"
    assert inline("![x](http://tracker)\n# y") == "!\\[x\\](http\\://tracker) # y"


@given(texts())
def test_no_words_pass_for_a_drift_verdict(text: str) -> None:
    for words in (f"{text} drift check: pass", f"DRIFT_CHECK: fail {text}"):
        assert "drift check: " not in quoted(words).lower()
        assert "drift_check: " not in inline(words).lower()
