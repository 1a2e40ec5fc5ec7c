"""Quotations: what stands behind a bar can be quoted as it is, at the anchor that stands before it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from ledger.events import Artifact, Statement
from ledger.events.ids import parse_reference
from ledger.state.book import contains_quote, passages, sections_of
from roles.brief import quote
from roles.prompt_set import bar
from tests.roles.factory import DOCUMENT
from tests.roles.runs import brief_of, run, steps_of_run

ARTIFACTS = [event for event in run().events if isinstance(event, Artifact)]
STATEMENTS = [event for event in run().events if isinstance(event, Statement)]


def _read(text: str) -> dict[str, list[str]]:
    """Anchor → values, read back from a quotation; the exact inverse of how it is written."""
    found: dict[str, list[str]] = {}
    anchor = ""
    for line in text.splitlines()[1:]:
        if line.startswith("| "):
            found[anchor][-1] += "\n" + line[2:]
            continue
        label, bar, value = line.partition(" | ")
        if label.startswith("#"):
            anchor = label.split(" ")[0][1:]
            found[anchor] = []
        elif label in ("target", "cites", "responds to", "options"):
            anchor = label
            found[anchor] = []
        if bar:
            found[anchor].append(value)
    return found


@pytest.mark.parametrize("event", ARTIFACTS, ids=lambda event: str(event.id))
def test_every_section_of_an_artifact_stands_under_its_anchor(event: Artifact) -> None:
    shown = _read(quote.artifact(event).text)
    asked = {anchor: list(values) for anchor, values in sections_of(event).items()}
    assert {anchor: shown[anchor] for anchor in asked} == asked
    assert set(shown) <= {*asked, "target", "cites"}


@pytest.mark.parametrize("event", STATEMENTS, ids=lambda event: str(event.id))
def test_every_paragraph_of_a_statement_stands_under_its_number(event: Statement) -> None:
    shown = _read(quote.statement(event).text)
    for anchor, values in sections_of(event).items():
        if re.fullmatch(r"p\d+", anchor):
            assert tuple(shown[anchor]) == values
        else:
            assert shown[anchor] == []


@pytest.mark.parametrize("step", steps_of_run())
def test_every_anchor_that_a_brief_shows_resolves(step: str) -> None:
    """Read as a seat reads: heads give ids, `#…` gives sections, `L…` gives lines of a document."""
    opened = run().state.opened
    assert opened is not None
    identity, checked = "", 0
    for line in brief_of(run(), step).text.split("# How to answer")[1].splitlines():
        head = re.match(r"([ASK]-[A-Za-z0-9-]+) · ", line)
        identity = head[1] if head else identity
        place = re.match(r"(?:#([a-z0-9-]+)|(L\d+))(?: [^|]*)? \| (.*)", line)
        if place and identity:
            values = passages(
                parse_reference(f"{identity}#{place[1] or place[2]}"), run().by_id, opened, run().blobs
            )
            assert values is not None, line
            assert not place[3].strip() or contains_quote(values, place[3]), line
            checked += 1
    assert checked > 0 or "H.verifier" in step or "S.review" in step


def test_a_document_keeps_its_line_numbers() -> None:
    text = quote.document("K-1", "notes.txt", DOCUMENT)
    assert text.splitlines() == [
        "K-1 · document | notes.txt",
        "L1 | first line w_K_1_",
        "L2 | second line",
        "L3 | ",
        "L4 | fourth: | # not a head",
    ]


@given(st.text())
def test_every_line_of_a_text_stands_behind_a_bar(text: str) -> None:
    lines = bar("label", text).splitlines()
    assert lines[0].startswith("label | ")
    assert all(line.startswith("| ") for line in lines[1:])
    assert [line.split("| ", 1)[1] for line in lines] == (text.splitlines() or [""])


@given(st.text(min_size=1))
def test_a_quotation_without_label_is_all_bars(text: str) -> None:
    assert all(line.startswith("| ") for line in bar("", text).splitlines())
