"""What each surface says of decisions: terminal, Markdown, HTML, page and JSON, of runs that the engine played.

A golden file holds what a person reads there about decisions; the laws are asserted of everything that is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, Literal

import orjson
import pytest
from starlette.requests import Request

from ledger.events import Decision, Ruling
from ledger.state.book import Book
from ledger.state.decided import WORDS, outcome
from moot.api import open_run, report as markdown
from moot.run_view import RunView
from moot.view.claims import Decisions, decision_lines, decisions_text
from moot.view.outcome_text import outcome_text
from moot.web import pages as site
from moot.web.report import report_html
from moot.web.run_index import RunIndex
from roles.protocol import Step
from rounds.run.human_actions import override
from tests.protocols.playing import begin as begin_short, play as play_short
from tests.render.golden import agrees
from tests.rounds.openings import begin, play, rows
from tests.rounds.scripted import Script

FALSIFIER: Final = "R1 shows that an answered line is lost"
DEMAND: Final = "mend the first"
OVERRIDE: Final = "Build the second one: the first cannot be restored."
AGAIN: Final = "Build neither before the audit."


class Falsifiers(Script):
    """Replies whose decisions say what would show them wrong."""

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        """The scripted reply with a falsifier under every decision."""
        content: dict[str, Any] = orjson.loads(super().reply(book, step, saw))
        for draft in content.get("decisions", ()):
            draft["falsifiers"] = [FALSIFIER]
        return orjson.dumps(content)


def _overridden(path: Path) -> None:
    session = begin_short(path, "adversarial")
    play_short(session)
    first = outcome(session.book().state)[0]
    override(session, first, OVERRIDE)
    override(session, outcome(session.book().state)[0], AGAIN)


def _debate(path: Path) -> None:
    play_short(begin_short(path, "debate"))


def _panel(path: Path) -> None:
    play_short(begin_short(path, "panel"))


def _structured(path: Path) -> None:
    assert play(begin(path, rows(1)), Falsifiers(seed=9)).state == "finished"


CASES: Final[Mapping[str, Callable[[Path], None]]] = {
    "overridden": _overridden,
    "debate": _debate,
    "panel": _panel,
    "structured": _structured,
}


class Shown(HTMLParser):
    """The words of a page, a line a block; of sections the label with them."""

    BLOCKS: Final = frozenset(
        {"p", "h1", "h2", "h3", "h4", "li", "ul", "div", "section", "article", "dt", "dd", "tr"}
    )
    UNREAD: Final = frozenset({"style", "script", "title", "svg"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.sections: dict[str, list[str]] = {}
        self._open: list[str] = []
        self._unread = 0
        self._line = ""
        self.feed(html)
        self._end_line()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unread += tag in self.UNREAD
        if tag in self.BLOCKS:
            self._end_line()
        if tag == "section":
            self._open.append(dict(attrs).get("aria-labelledby") or "")

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in self.UNREAD
        if tag in self.BLOCKS:
            self._end_line()
        if tag == "section":
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self._line += "" if self._unread else data

    def _end_line(self) -> None:
        line = " ".join(self._line.split())
        self._line = ""
        if line:
            self.sections.setdefault(self._open[-1] if self._open else "", []).append(line)

    def text(self, *names: str) -> str:
        """Some sections, or all."""
        wanted = names or tuple(self.sections)
        return "\n".join(line for name in wanted for line in self.sections.get(name, ()))


def _sections(text: str, *titles: str) -> str:
    """Sections of a Markdown document."""
    parts = re.split(r"(?m)^(?=## )", text)
    return "".join(part for part in parts if part.startswith(tuple(f"## {title}" for title in titles)))


class Surfaces:
    """Everything that is shown of a run: whole, and what stands there about decisions."""

    def __init__(self, path: Path) -> None:
        ours = open_run(path)
        self.book = ours.book
        view = RunView(ours.book, path.name)
        lines = decision_lines(ours.book)
        self.json = Decisions(run=view.name, quorum=view.quorum, outcome=view.outcome, decisions=lines)
        end, listed = outcome_text(self.json.outcome, "RUN"), decisions_text(self.json, ())
        document, record = markdown(ours), markdown(ours, form="full")
        shelf = RunIndex(path.parent)
        pages = [
            Shown(page(shelf, _request(path.name))) for page in (site.overview, site.decisions, site.round_)
        ]
        html = Shown(report_html(ours))
        self.whole: dict[str, str] = {
            "terminal": f"{end}\n{listed}",
            "markdown": f"{document}\n{record}",
            "html": html.text(),
            "page": "\n".join(page.text() for page in pages),
            "json": self.json.model_dump_json(),
        }
        self.decided: dict[str, str] = {
            "terminal": f"{end}\n\n$ moot decisions\n{listed}",
            "markdown": _sections(document, "Final decisions", "Decisions in force", "Other decisions"),
            "html": html.text("decided", "earlier"),
            "page": f"{pages[0].text('decided')}\n\n/decisions\n{_listing(pages[1])}",
            "json": orjson.dumps(self.json.model_dump(), option=orjson.OPT_INDENT_2).decode(),
        }
        self.under_decided: dict[str, str] = {
            "markdown": _sections(document, "Final decisions"),
            "html": html.text("decided"),
            "page": pages[0].text("decided"),
        }


def _listing(page: Shown) -> str:
    """The page of all decisions, from its heading to its foot."""
    lines = page.text("").split("\n")
    first = next(n for n, line in enumerate(lines) if re.fullmatch(r"Decisions \d+", line))
    return "\n".join(lines[first:-1])


def _request(name: str) -> Request:
    return Request(
        {"type": "http", "path_params": {"name": name, "number": 1}, "query_string": b"", "headers": []}
    )


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Surfaces]:
    """A run of one kind, and its surfaces."""
    path = tmp_path_factory.mktemp(request.param) / "run"
    CASES[request.param](path)
    return request.param, Surfaces(path)


SURFACES: Final = ("terminal", "markdown", "html", "page", "json")


@pytest.mark.parametrize("surface", SURFACES)
def test_what_is_said_of_decisions(case: tuple[str, Surfaces], surface: str) -> None:
    """R-5, R-6, R-8: a golden for each surface and kind of run."""
    name, surfaces = case
    agrees("surfaces", f"{name}.{surface}", surfaces.decided[surface])


@pytest.mark.parametrize("surface", SURFACES)
def test_nothing_overturned_stands_as_decided(case: tuple[str, Surfaces], surface: str) -> None:
    """R-6: the override stands in the place of what it overturned, which is shown as overturned wherever it is."""
    _, surfaces = case
    overturned = [one for one in surfaces.json.decisions if one.standing == "overturned"]
    for one in overturned:
        assert AGAIN in surfaces.whole[surface]
        marked = [
            line for line in surfaces.whole[surface].split("\n") if one.id in line and "overturned" in line
        ]
        assert marked, f"{surface} does not say that {one.id} is overturned"
        decided = surfaces.under_decided.get(surface, "")
        for line in decided.split("\n"):
            assert one.text not in line or "overturned" in line
        assert not re.search(rf"(?m)^#+ {re.escape(one.id)}$", decided)


def test_the_first_thing_decided_is_what_is_in_force(case: tuple[str, Surfaces]) -> None:
    """R-6"""
    _, surfaces = case
    first = surfaces.book.by_id[outcome(surfaces.book.state)[0]]
    assert isinstance(first, Decision)
    for surface in ("markdown", "html", "page"):
        text = surfaces.under_decided[surface]
        places = [text.find(one.text) for one in surfaces.json.decisions if one.text in text]
        assert text.find(first.text) == min(places)


@pytest.mark.parametrize("surface", ["terminal", "markdown", "html", "page"])
def test_a_falsifier_is_no_condition_and_a_demand_no_falsifier(
    case: tuple[str, Surfaces], surface: str
) -> None:
    """R-5"""
    name, surfaces = case
    text = " ".join(surfaces.whole[surface].split())
    held: dict[str, dict[Literal["falsifiers", "requirements"], str]] = {
        "structured": {"falsifiers": FALSIFIER},
        "debate": {"falsifiers": "it fails at night"},
        "panel": {"falsifiers": "it fails at night", "requirements": DEMAND},
        "overridden": {"falsifiers": "it fails at night", "requirements": "somebody is on call"},
    }
    # What the judge of a panel asks for binds nobody.
    labels_of = {**WORDS, "requirements": "recommended"} if name == "panel" else dict(WORDS)
    for meaning, words in held[name].items():
        before = [text[max(0, at.start() - 40) : at.start()].lower() for at in re.finditer(words, text)]
        assert before, f"{surface} does not show {words}"
        for one in before:
            assert "condition" not in one
            labels = [label for label in labels_of.values() if label in one]
            assert not labels or max(labels, key=one.rfind) == labels_of[meaning]
        assert any(labels_of[meaning] in one for one in before)


@pytest.mark.parametrize("surface", SURFACES)
def test_who_disagrees_with_the_answer_is_told(case: tuple[str, Surfaces], surface: str) -> None:
    """R-8: each role that disagrees, with its words."""
    name, surfaces = case
    first = surfaces.book.by_id[outcome(surfaces.book.state)[0]]
    assert isinstance(first, Decision)
    assert bool(first.dissent) == (name == "structured")
    text = " ".join(surfaces.whole[surface].split())
    for one in first.dissent:
        assert one.text in text
        assert re.search(rf"{one.role}\W.{{0,40}}{re.escape(one.text)}", text)


def test_json_says_both(case: tuple[str, Surfaces]) -> None:
    """R-5: falsifiers and requirements are two lists."""
    name, surfaces = case
    held = {"structured": (1, 0), "debate": (1, 0), "panel": (1, 1), "overridden": (1, 1)}
    first = surfaces.json.decisions[0]
    assert (len(first.falsifiers), len(first.requirements)) == held[name]


def test_an_overridden_ruling_is_marked_so(tmp_path: Path) -> None:
    """R-6: the ruling of a tribunal, overridden by its number, is nowhere shown as it stood."""
    session = begin_short(tmp_path / "run", "tribunal")
    play_short(session)
    ruling = session.book().of(Ruling)[0]
    override(session, f"@{ruling.seq}", AGAIN)
    surfaces = Surfaces(tmp_path / "run")
    for surface in ("markdown", "page", "html"):
        said = [line for line in surfaces.whole[surface].split("\n") if re.search(r"\bruling\b", line)]
        assert said
        assert all("overturned by D-3-2" in line for line in said), (surface, said)
