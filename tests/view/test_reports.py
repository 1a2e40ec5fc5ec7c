"""Every form of the report over every recorded run: lengths, nothing twice, and what each protocol brings out."""

from __future__ import annotations

import re

import pytest

from ledger.events import Argument, Challenge, Decision, Score, Vote
from ledger.interchange.markdown import inline
from ledger.state.decided import final_in_force
from moot.api import open_run, report
from moot.view.annex_parts import Annex
from moot.view.annexes import annexes_of, final_text
from moot.view.why import LINES, why_of, why_text
from tests.recorded import EXAMPLES, RUNS, recorded_names

SHORT = [run.name for run in RUNS if not run.name.startswith(("storage-", "library-"))]


def words(text: str) -> int:
    return len(re.findall(r"\w[\w'.,-]*", text))


def annexes(name: str) -> dict[str, Annex]:
    return {one.title: one for one in annexes_of(open_run(EXAMPLES / name).book)}


@pytest.mark.parametrize("name", recorded_names())
def test_three_pages_and_one_page(name: str) -> None:
    run = open_run(EXAMPLES / name)
    for text in (report(run), report(run, form="page")):
        assert len(text.splitlines()) <= 250
        assert words(text) <= 2500


@pytest.mark.parametrize("name", recorded_names())
def test_the_full_report_has_every_event_once(name: str) -> None:
    run = open_run(EXAMPLES / name)
    record = report(run, form="full").partition("\n## The record\n")[2]
    heads = re.findall(r"^\*\*(\S+)\*\* ", record, re.MULTILINE)
    expected = [inline(event.id) if event.id else f"@{event.seq}" for event in run.book.events[1:]]
    assert sorted(heads) == sorted(expected)


@pytest.mark.parametrize("name", recorded_names())
def test_why_of_every_final_decision_fits_a_screen_or_two(name: str) -> None:
    run = open_run(EXAMPLES / name)
    for identity in final_in_force(run.book.state):
        found = why_of(name, run.book, identity)
        for width in (60, 100, 200):
            lines = why_text(found, width).splitlines()
            assert len(lines) <= LINES
            assert max(map(len, lines)) <= max(width, 60) + len(name) + 40


@pytest.mark.parametrize("name", recorded_names())
def test_a_decision_record_has_the_sections_of_madr(name: str) -> None:
    run = open_run(EXAMPLES / name)
    text = report(run, form="adr")
    heads = re.findall(r"^#+ .*$", text, re.MULTILINE)[1:]
    assert heads == [
        "## Context and Problem Statement", "## Decision Drivers", "## Considered Options", "## Decision Outcome",
        "### Consequences", "### Confirmation", "## More Information",
    ]  # fmt: skip
    assert re.match(r"---\nstatus: proposed\ndate: \d{4}-\d\d-\d\d\ndecision-makers: \S", text)
    assert inline(run.outcome.answer) in text
    for point in (*run.outcome.why, *run.outcome.changes_our_mind, *run.outcome.requirements):
        assert inline(point.text) in text


@pytest.mark.parametrize("name", recorded_names(SHORT))
def test_what_a_protocol_brings_out_is_all_there(name: str) -> None:
    """Each argument, vote and score once, in the words of the ledger, on the page that is handed on."""
    book = open_run(EXAMPLES / name).book
    text = report(open_run(EXAMPLES / name), form="page")
    for argument in book.of(Argument):
        assert f"| {inline(argument.id or '')} |" in text
    for score in book.of(Score):
        assert score.of.startswith("O-") or f"{score.total} (" in text
    assert len(list(book.of(Vote))) == len(next((e.rows for e in annexes_of(book) if e.title == "Votes"), []))


def test_a_debate_has_its_trace_table() -> None:
    found = annexes("debate-services")
    table = found["Argument trace table"]
    assert table.notes[0].startswith("Totals: PRO 5.6125, CON 6.8200; the gap of 1.2075")
    assert len(table.rows) == 9
    row = dict(zip(table.heads, table.rows[6], strict=True))
    assert (row["id"], row["side"], row["met with"]) == ("R-1-7", "CON", "pro concede X-1-3")
    assert row["standing, and why"].startswith("upheld: Every listed item has a remedy")
    assert found["Key insight"].paragraphs[0].startswith("The containment for which the split was proposed")
    assert len(found["Unresolved questions"].rows) == 6


def test_a_review_has_both_positions_and_the_zones() -> None:
    found = annexes("adversarial-sessions")
    assert list(found) == [
        "Key narratives", "Agreement zones (high confidence)", "Contested zones (flag for attention)",
        "What works, as the challenger says", "The advocate's case", "Advocate position",
        "Whether the challenger held back", "Concerns, the gravest first",
    ]  # fmt: skip
    table = found["Concerns, the gravest first"]
    first = [dict(zip(table.heads, row, strict=True)) for row in table.rows[:2]]
    assert [(row["others' severity"], row["what the judge says"]) for row in first] == [
        ("judge 5", "genuine")
    ] * 2
    assert all(row["fix"] for row in first)


def test_a_comparison_has_its_scorecard_with_weights() -> None:
    card = annexes("comparative-pages")["Scorecard"]
    assert card.rows[0] == ["complexity", "High", "4.00", "3.00"]
    assert card.rows[-1][-2:] == ["3.6923", "2.8077"]


def test_a_tribunal_has_its_votes_and_what_all_shared() -> None:
    votes = annexes("tribunal-medicines")["Votes"]
    assert votes.notes == [
        "REFUSE by the rule safety veto.",
        "1 of 3 vote ACT, 1 of 3 vote VETO, 1 of 3 vote REFUSE; every vote puts the risk at 54 of 100 or more.",
    ]
    assert len(votes.rows) == 6


def test_a_council_is_counted() -> None:
    assert annexes("council-storage")["Members"].notes == ["33 of 33 O-2."]


def test_jugalbandi_hands_on_its_plan_and_its_escalations() -> None:
    found = annexes("jugalbandi-ledger")
    assert found["Challenges"].notes == [
        "8 challenges (3 structural, 3 missing, 2 assumption): 7 accepted, 1 escalated."
    ]
    assert found["The final text"].ref == "S-1-resolve-resolver#plan"
    assert len(found["Challenges"].rows) == len(
        list(open_run(EXAMPLES / "jugalbandi-ledger").book.of(Challenge))
    )


def test_the_text_that_is_handed_on_is_the_section_that_the_decision_names() -> None:
    run = open_run(EXAMPLES / "single-pass-ledger")
    found = final_text(run.book, next(iter(run.book.of(Decision))))
    assert found is not None
    assert found.ref == "S-1-plan-solo#revised"
    assert run.outcome.do_now[0].text == f"Take the final text as it stands there ({found.words} words)."
