"""No help text, page, prompt of the skill or message names a verb or an option that is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from moot.__main__ import all_verbs, overview
from moot.cli import BY_NAME, VERBS, moved
from moot.cli.command import command_of

ROOT: Final = Path(__file__).resolve().parents[2]
EXEMPT: Final = frozenset({"docs/upgrade.md", "CHANGELOG.md"})
"""They say what went where."""
CODE: Final = (
    "detectors",
    "ledger",
    "moot",
    "roles",
    "rounds",
    "schemas",
    "validators",
    "benchmarks",
    "integrations",
    "skills",
)
PAGES: Final = ("*.md", "*.py", "*.html", "*.toml", "*.yml", "*.yaml", "*.sh", "*.txt", "*.jinja", "*.j2")
GONE_VERBS: Final = sorted(set(moved.VERBS) - set(BY_NAME))
GONE_OPTIONS: Final = sorted(moved.OPTIONS)


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Every text that a person or an agent reads: help, pages, and what the code may print."""
    return tuple(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    yield "moot --help", overview()
    yield "moot help --all", all_verbs()
    pages = [*ROOT.glob("*.md"), *ROOT.glob("*.yml"), *(ROOT / "docs").rglob("*.md")]
    code = [path for folder in CODE for kind in PAGES for path in (ROOT / folder).rglob(kind)]
    for path in [*pages, *code]:
        name = path.relative_to(ROOT).as_posix()
        if name not in EXEMPT and name != "moot/cli/moved.py" and not name.startswith("docs/readers/"):
            yield name, path.read_text("utf-8")


@pytest.mark.parametrize("verb", GONE_VERBS)
def test_no_text_names_a_verb_that_is_gone(verb: str) -> None:
    call = re.compile(rf"\bmoot {re.escape(verb)}(?![\w-])")
    assert [name for name, text in texts() if call.search(text)] == []


@pytest.mark.parametrize("option", GONE_OPTIONS)
def test_no_text_gives_run_an_option_that_is_gone(option: str) -> None:
    """In a call of `moot run`, `new` or `review`; other verbs may have an option of the same name."""
    call = re.compile(rf"\bmoot (?:{'|'.join(moved.SETTING_VERBS)})\b[^\n`|;]*{option}(?![\w-])")
    assert [name for name, text in texts() if call.search(text)] == []


def test_no_help_names_what_is_gone() -> None:
    for verb in VERBS:
        command = command_of(verb)
        help_texts = [
            command.help or "",
            command.epilog or "",
            *(getattr(one, "help", "") or "" for one in command.params),
        ]
        own = {name for parameter in command.params for name in parameter.opts}
        words = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", " ".join(help_texts)))
        others = {
            name for other in VERBS for parameter in command_of(other).params for name in parameter.opts
        }
        assert words <= others | {"--help"}, (verb.name, words - others)
        assert not words & set(GONE_OPTIONS) - own, verb.name


def test_the_table_of_what_moved_names_commands_that_exist() -> None:
    assert not set(moved.VERBS.values()) & set(GONE_VERBS)
    for name in moved.SETTING_VERBS:
        options = {option for parameter in command_of(BY_NAME[name]).params for option in parameter.opts}
        assert not options & set(GONE_OPTIONS), name
