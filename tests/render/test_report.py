"""The report: what must be known first, decisions down to quoted sentences, and text that stays text."""

from __future__ import annotations

import re

import pytest

from detectors.signals import signals
from ledger.format.canonical import Head
from ledger.interchange.markdown import code, inline, quoted
from ledger.state.book import Book
from moot.api import open_run, report as markdown
from moot.documents import run_report
from moot.run_view import RunView
from moot.view.story import tell
from tests.recorded import recorded_names, run_of
from tests.render.golden import agrees
from tests.render.sample import sample_book

HEAD = Head(43, "9" * 64)


def report_text(book: Book) -> str:
    view = RunView(book)
    view.signals = signals(book, "published")
    return run_report(view, HEAD)


def test_report() -> None:
    agrees("render", "report", report_text(sample_book()))


def test_an_unfinished_run_says_so_first_and_calls_nothing_final() -> None:
    text = report_text(sample_book(37))
    assert text.index("UNFINISHED") < text.index("## ")
    assert "The run has not stopped" in text
    assert "## Decisions in force (none is final)" in text
    assert "## Final decisions" not in text


def test_a_decision_says_what_it_rests_on_and_where_that_is_told() -> None:
    lines = report_text(sample_book()).splitlines()
    under = lines[lines.index("### D-3-1") : lines.index("## Other decisions")]
    assert any(line.startswith("- cites C-2-1 ● argued, ") for line in under)
    assert any(line.endswith("`moot why RUN D-3-1`") for line in under)


def test_the_full_report_has_every_event_once() -> None:
    book = sample_book()
    text = run_report(RunView(book), HEAD, "full")
    for event in book.events[1:]:
        name = re.escape(inline(event.id) if event.id else f"@{event.seq}")
        assert len(re.findall(rf"^\*\*{name}\*\* ", text, re.MULTILINE)) == 1, name


@pytest.mark.parametrize("name", recorded_names())
def test_a_recorded_run_is_reported_on_three_pages(name: str) -> None:
    text = markdown(open_run(run_of(name)))
    assert len(text.splitlines()) <= 250
    # The final text is what the run was for, and is printed whole however long it is.
    around = re.sub(r"^## The final text$.*?(?=^## )", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len(re.findall(r"\w[\w'.,-]*", around)) <= 2500


def test_a_quote_that_does_not_stand_there_is_marked() -> None:
    book = sample_book()
    story = tell(book)
    ground = story.decisions[0].rests_on[1]
    assert [quote.holds for quote in ground.quotes] == [True, True]
    bare = tell(Book(book.events, book.state, book.by_id, NoBlobs()))
    assert [quote.holds for quote in bare.decisions[0].rests_on[1].quotes] == [True, False]


class NoBlobs:
    """Nothing is there."""

    def read(self, sha256: str) -> bytes | None:
        """Never."""
        del sha256
        return None


def test_at_risk_and_lifecycles() -> None:
    text = report_text(sample_book())
    assert "▲ AT RISK: C-1-1 fell" in text
    assert "| D-2-1 | round | Sync the directory after every rename. | C-2-1, N-1-1 | in force |" in text
    lifecycle = "○ pending → ? unclear (argued) (V-1-1) → ● argued (V-1-2) → ✗ refuted (argued) (V-2-2)"
    assert lifecycle in text


def test_stress_is_observed_not_proven() -> None:
    text = report_text(sample_book())
    assert "| R2 | critic | no check will come out BROKEN | 0 of 1 checks BROKEN | as predicted |" in text
    assert "not proof" in text


TRICKS = {
    "# heading": "\\# heading",
    "<script>alert(1)</script>": "\\<script\\>alert(1)\\</script\\>",
    "![x](http://evil/?q=1)": "!\\[x\\](http\\://evil/?q=1)",
    "a | b": "a \\| b",
    "1. list": "1\\. list",
    "--- rule": "\\--- rule",
    "keep `fsync` code": "keep `fsync` code",
    "odd ` tick": "odd \\` tick",
    "**bold** _em_ ~~x~~": "\\*\\*bold\\*\\* \\_em\\_ \\~\\~x\\~\\~",
    "&lt;": "\\&lt;",
    "moot 0.1.0": "moot 0.1.0",
    "see www.example.com": "see www\\.example\\.com",
    "\x1b[2J\u202e": "␛\\[2J\\<U+202E\\>",
}


@pytest.mark.parametrize(("said", "kept"), TRICKS.items())
def test_text_stays_text(said: str, kept: str) -> None:
    assert inline(said) == kept


def test_a_quotation_stays_one() -> None:
    assert quoted("one\n# two\n\nthree") == "> one\n> \\# two\n>\n> three"


def test_code_only_where_it_can_be() -> None:
    assert code("A-1-critic#attack-1") == "`A-1-critic#attack-1`"
    assert code("a`b|c") == "a\\`b\\|c"


def test_a_hostile_ledger_makes_no_heading_link_or_html() -> None:
    text = report_text(sample_book(hostile="\n# forged\n[x](http://evil)<img src=x>\x1b[2J\u202e|"))
    assert "\n# forged" not in text
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "<img" not in text.replace("\\<img", "")
    assert not {"\x1b", "\u202e"} & set(text)
    rows = [line for line in text.splitlines() if line.startswith("| C-")]
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)
