"""Whatever a run holds, a Markdown document about it has the structure of one about harmless text (F-8)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from detectors.signals import signals
from ledger.format.canonical import Head
from ledger.interchange.markdown import code, inline, listed, paragraphs, quoted
from ledger.interchange.skill_export import export_skill
from ledger.plain_text import one_line, visible
from ledger.state.book import Book
from ledger.store.store import RunStore
from moot.documents import run_report
from moot.run_view import RunView
from moot.view.annexes_judging import merged_questions, open_questions
from moot.view.questions import open_questions_merged
from tests.protocols import playing
from tests.protocols.playing import VARIANTS
from tests.render.hostile_texts import TRICKS, harmless, hostile, reshaped
from tests.render.sample import sample_book

pytestmark = pytest.mark.slow

HEAD: Final = Head(43, "9" * 64)
GITHUB: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])
RAW: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")
"""Keeps what a backslash escaped apart from the text around it, as programs see it that look for addresses."""
INERT: Final = frozenset({"text", "softbreak", "code_inline"})
"""What a text may become inside a line; code between two backticks can hold nothing else."""
WAKES: Final = re.compile(r"(?i)\b(?:https?|ftp|mailto):|\bwww\.|[\w.+-]@\w|\[\^|\$")
"""What an extension would read inside a line: addresses, footnotes, formulas."""
DEFINES: Final = re.compile(r"(?m)^[\s>]*(?:[-+*] +)?(?::[ ~]|\[[ xX]\])")
"""What one would read at the start of a line: a definition, a task."""


def blocks(text: str) -> list[tuple[str, str, int]]:
    """The blocks of a document."""
    return [(token.type, token.tag, token.level) for token in GITHUB.parse(text)]


def spans(text: str) -> list[str]:
    """What stands inside its lines and is more than text."""
    found = (inner.type for token in GITHUB.parse(text) for inner in token.children or ())
    return [kind for kind in found if kind not in INERT]


def awake(text: str) -> list[str]:
    """Texts that some program would make a link, a note, a formula, a definition or a task of."""
    return DEFINES.findall(text) + [
        inner.content
        for token in RAW.parse(text)
        for inner in token.children or ()
        if inner.type == "text" and WAKES.search(inner.content)
    ]


def words(text: str) -> str:
    """What a reader sees."""
    return "".join(_words(GITHUB.parse(text)))


def _words(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        for inner in token.children or ():
            if inner.type == "softbreak":
                yield "\n"
            elif inner.type == "code_inline":
                yield f"`{inner.content}`"
            else:
                yield inner.content


def agrees(text: str, plain: str) -> None:
    """Assert that a document has the structure of its harmless double and wakes no extension."""
    assert blocks(text) == blocks(plain)
    assert spans(text) == spans(plain)
    assert awake(text) == awake(plain)


anything = st.lists(
    st.sampled_from(TRICKS) | st.text("#-+*=_~`<>[]()!|\\:&$.@x1 \t\n", max_size=12) | st.text(max_size=8),
    min_size=1,
    max_size=4,
).map("".join)
PLACES: Final = (
    "{}",
    "# {}",
    "- {}",
    "- **{}** {}",
    "> **{}** {}  ",
    "a word, {}: {}.",
    "*{}*\n\nnext",
    "1. x\n   - {}",
    "| a | b |\n| --- | --- |\n| {} | {} |",
    "Options: **O-1** {}; **O-2** {}.",
)


@given(anything, st.sampled_from(PLACES))
@settings(max_examples=300)
def test_a_line_is_text_wherever_it_stands(text: str, place: str) -> None:
    """F-8"""
    plain = re.sub(r"\S", "x", one_line(text))
    for escaped in (inline(text), code(text), listed([text])):
        shown = place.replace("{}", escaped)
        assert blocks(shown) == blocks(place.replace("{}", plain))
        assert spans(shown) == spans(place.replace("{}", plain))
        assert not awake(shown)


@given(anything)
@settings(max_examples=300)
def test_several_lines_are_text(text: str) -> None:
    """F-8"""
    plain = re.sub(r"\S", "x", visible(text))
    for prefix in ("> ", "  > ", ""):
        bad, good = (quoted(one, prefix) if prefix else paragraphs(one) for one in (text, plain))
        agrees(f"- before\n\n{bad}\n\nafter", f"- before\n\n{good}\n\nafter")


@given(anything)
def test_a_reader_sees_what_was_said(text: str) -> None:
    """Nothing is lost by escaping; code loses a space at each end, as Markdown has it."""
    said = one_line(text)
    assert words(inline(text)).replace(" ", "") == said.replace(" ", "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pay at evil.com/x", "pay at evil\\.com/x"),
        ("facts.md", "facts\\.md"),
        ("r1.opening.pro", "r1.opening\\.pro"),
        ("r1.opening.con, e.g. this", "r1.opening.con, e.g. this"),
        ("EVIL.CO.UK: 80", "EVIL\\.CO\\.UK: 80"),
        ("пример.рф", "пример\\.рф"),
        ("//localhost/x", "/\\/localhost/x"),
    ],
)
def test_a_bare_host_is_no_link(text: str, shown: str) -> None:
    """F-8: linkifiers make a link of a host without a scheme; so `facts.md` and `r1.opening.pro` were live."""
    assert inline(text) == shown
    assert words(shown) == text


def test_a_cell_stays_in_its_column() -> None:
    lines = ["| a | b |", "| --- | --- |", *(f"| {inline(trick)} | x |" for trick in TRICKS)]
    cells = [token.type for token in GITHUB.parse("\n".join(lines))].count("td_open")
    assert cells == 2 * len(TRICKS)


@cache
def played(number: int) -> Book:
    """A run of every protocol and variant that changes what happens; the first is `structured`."""
    if number == 0:
        return sample_book()
    name, rules = VARIANTS[number - 1]
    return RunStore(playing.played(name, **rules)).book()  # a book reads its blobs from there


def documents(of: Book) -> dict[str, str]:
    """Everything that moot writes about a run as Markdown."""
    watched = of.state.opening.protocol == "structured"
    files = export_skill(of).files if watched else {}
    exported = {name: file for name, file in files.items() if name.endswith(".md")}
    view = RunView(of)
    view.signals = signals(of, "published") if watched else None
    written, whole = run_report(view, HEAD), run_report(view, HEAD, "full")
    return {"report": written, "full": whole, **{name: file.decode() for name, file in exported.items()}}


RUNS: Final = ["structured", *("-".join([name, *rules.values()]) for name, rules in VARIANTS)]


@pytest.mark.parametrize("number", range(len(RUNS)), ids=RUNS)
@given(st.integers(0, 10**6))
@settings(max_examples=2, phases=[Phase.generate], suppress_health_check=[HealthCheck.filter_too_much])
def test_no_text_of_a_run_changes_a_document(number: int, seed: int) -> None:
    """F-8: every text of the run is another trick, names, scales, rubrics and refs included."""
    original = played(number)
    tricky, plain = (reshaped(original, shape) for shape in (hostile(seed), harmless(hostile(seed))))
    # Questions that ask the same are one row; whether they do goes by their words, which the marks change.
    assume(len(open_questions_merged(tricky)) == len(open_questions_merged(plain)))
    rows = [
        len(
            merged_questions(sorted(open_questions(run), key=lambda question: -question.round))
        )  # as the report asks
        for run in (tricky, plain)
    ]
    assume(rows[0] == rows[1])
    bad, good = documents(tricky), documents(plain)
    assert [*bad] == [*good]
    for name, text in bad.items():
        agrees(text, good[name])
