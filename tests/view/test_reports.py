"""Every form of the report over every recorded and long run: lengths, nothing twice, and what each protocol brings.

Of `moot/view/annexes.py`, `moot/view/annexes_judging.py`, `moot/documents.py`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger.events import Argument, Decision, Score, Vote
from ledger.interchange.markdown import inline
from ledger.state.decided import final_in_force
from moot.api import open_run, report
from moot.view.annexes import annexes_of, final_text
from moot.view.annexes_judging import Annex
from moot.view.show import LINES, why_of, why_text
from tests.protocols.playing import played
from tests.recorded import RUNS, protocol_of, recorded_names, run_of

SHORT = [run.name for run in RUNS if protocol_of(run) != "structured"]


def words(text: str) -> int:
    return len(re.findall(r"\w[\w'.,-]*", text))


def annexes(protocol: str, **rules: str) -> dict[str, Annex]:
    """Return the annexes of a scripted run of a protocol by title."""
    return {one.title: one for one in annexes_of(open_run(played(protocol, **rules)).book)}


@pytest.mark.parametrize("name", recorded_names())
def test_three_pages_and_one_page(name: str) -> None:
    run = open_run(run_of(name))
    for text in (report(run), report(run, form="page")):
        assert len(text.splitlines()) <= 250
        # The final text is what the run was for, and is printed whole however long it is.
        around = re.sub(r"^## The final text$.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
        assert words(around) <= 2500


@pytest.mark.parametrize("name", recorded_names())
def test_the_full_report_has_every_event_once(name: str) -> None:
    run = open_run(run_of(name))
    record = report(run, form="full").partition("\n## The record\n")[2]
    heads = re.findall(r"^\*\*(\S+)\*\* ", record, re.MULTILINE)
    expected = [inline(event.id) if event.id else f"@{event.seq}" for event in run.book.events[1:]]
    assert sorted(heads) == sorted(expected)


@pytest.mark.parametrize("name", recorded_names())
def test_why_of_every_final_decision_fits_a_screen_or_two(name: str) -> None:
    run = open_run(run_of(name))
    for identity in final_in_force(run.book.state):
        found = why_of(name, run.book, identity)
        for width in (60, 100, 200):
            lines = why_text(found, width).splitlines()
            assert len(lines) <= LINES
            assert max(map(len, lines)) <= max(width, 60) + len(name) + 40


@pytest.mark.parametrize("name", recorded_names())
def test_a_decision_record_has_the_sections_of_madr(name: str) -> None:
    run = open_run(run_of(name))
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
    book = open_run(run_of(name)).book
    text = report(open_run(run_of(name)), form="page")
    for argument in book.of(Argument):
        assert f"| {inline(argument.id or '')} |" in text
    for score in book.of(Score):
        assert score.of.startswith("O-") or f"{score.total} (" in text
    assert len(list(book.of(Vote))) == len(next((e.rows for e in annexes_of(book) if e.title == "Votes"), []))


def test_a_debate_has_its_trace_table() -> None:
    found = annexes("debate")
    table = found["Argument trace table"]
    assert table.notes[0].startswith("Mean scores, of 10: PRO 6.0000, CON 7.0000; the gap of 1.0000")
    assert len(table.rows) == 6
    row = dict(zip(table.heads, table.rows[5], strict=True))
    assert (row["id"], row["side"], row["met with"]) == ("R-1-6", "CON", "pro concede X-1-3")
    assert row["standing, and why"] == "upheld: so it is"
    given_up = dict(zip(table.heads, table.rows[3], strict=True))
    assert given_up["met with"] == "pro refute X-1-1, answered: answer; given up by con"
    assert found["Key insight"].paragraphs == ["insight of r1 judging judge"]
    assert found["Unresolved questions"].rows == [["N-1-1", "what does it cost?"]]


def test_several_judges_have_each_their_insight_and_their_agreement_is_called_so() -> None:
    """B-2: Krippendorff's alpha was the "Key insight" of the debate."""
    found = annexes("debate", judges="3")
    assert "Key insight" not in found
    assert found["Agreement of the judges"].paragraphs[0].startswith("3 judges; Krippendorff's alpha")
    place = found["Judges"].heads.index("key insight")
    assert [row[place] for row in found["Judges"].rows] == [
        f"insight of r1 judging {judge}" for judge in ("judge", "judge~2", "judge~3")
    ]


def test_a_review_has_both_positions_and_the_zones() -> None:
    found = annexes("adversarial")
    assert list(found) == [
        "Key narratives", "Agreement zones (high confidence)", "Contested zones (flag for attention)",
        "The advocate's case", "What works, as the challenger says", "Whether the challenger held back",
        "Advocate position", "Concerns, by the mean of the others' ratings, else by their own",
    ]  # fmt: skip
    table = found["Concerns, by the mean of the others' ratings, else by their own"]
    first = [dict(zip(table.heads, row, strict=True)) for row in table.rows[:2]]
    assert [(row["others' severity"], row["what the judge says"]) for row in first] == [
        ("judge 5", "genuine, 5 of 5"),
        ("judge 4", "genuine, 4 of 5"),
    ]
    assert all(row["fix"] for row in first)


def test_a_comparison_has_its_scorecard_with_weights() -> None:
    card = annexes("comparative")["Scorecard"]
    assert card.rows[0] == ["complexity", "High", "5.00", "2.00", "2.00"]
    assert card.rows[-1][-3:] == ["5.0000", "2.0000", "2.0000"]


def test_a_tribunal_has_the_votes_of_both_ballots() -> None:
    assert len(annexes("tribunal")["Votes"].rows) == 6


@pytest.mark.parametrize(
    "run", [run for run in RUNS if protocol_of(run) == "council"], ids=lambda run: run.name
)
def test_a_council_is_counted(run: Path) -> None:
    book = open_run(run).book
    members = list(book.of(Decision))
    rows = next(one for one in annexes_of(book) if one.title == "Members").rows
    assert [row[0] for row in rows] == [member.id for member in members]


def test_jugalbandi_hands_on_its_plan_and_its_escalations() -> None:
    found = annexes("jugalbandi")
    assert found["Challenges"].notes == [
        "4 challenges (2 structural, 1 assumption, 1 missing): 2 accepted, 1 rejected, 1 escalated."
    ]
    assert found["The final text"].ref == "S-1-resolve-resolver#plan"
    assert len(found["Challenges"].rows) == 4


def test_the_text_that_is_handed_on_is_the_section_that_the_decision_names() -> None:
    run = open_run(played("single-pass"))
    found = final_text(run.book, next(iter(run.book.of(Decision))))
    assert found is not None
    assert found.ref == "S-1-plan-solo#revised"
    assert run.outcome.do_now[0].text == f"Read the final text before you use it ({found.words} words)."


@pytest.mark.parametrize(
    ("protocol", "row"),
    [
        ("jugalbandi", "| N-1-1 | question about X-1-3, for a person | resolver | who pays? |"),
        ("priority", "| N-1-1 | tension between urgency, impact, for a person | controller | O-1: "),
    ],
)
def test_a_concern_is_raised_by_its_author_and_about_what_it_names(protocol: str, row: str) -> None:
    text = report(open_run(played(protocol)))
    assert "| id | type | raised by | what | severity | standing |" in text
    assert row in text
