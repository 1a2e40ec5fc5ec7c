"""Page `docs/rules.md`, made from the rules: `python -m tests.pages --write | --check`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import Final

from validators.rule import Rule
from validators.rulebook import RULES

PAGE: Final = Path(__file__).parents[2] / "docs" / "rules.md"
_HEAD: Final = """# The rules

Made from `validators/` by `python -m tests.pages --write`; do not edit.

`moot check RUN` judges a run by every rule below. An *error* makes the run fail; a *warning* is something to look at.
The numbers 1 to 7 mark the published checks of the source protocol (SD-49), each with its holes closed (SD-50).
Rules marked *not for imports* need steps, briefs or sealed positions that an imported ledger does not have; there they
are reported as not applicable, never as kept. Rules marked *not recorded* look at bytes, blobs or verdicts, and so are
no part of the `validation` events that a run records on its way.
"""


def page(rules: Sequence[Rule] = RULES) -> str:
    """Return the page's text."""
    rows = [
        f"| [{rule.code}](#{rule.code.lower()}) | {rule.severity} | {rule.published or ''} | {rule.summary} |"
        for rule in rules
    ]
    table = "\n".join(["| code | severity | published | rule |", "|---|---|---|---|", *rows])
    return "\n".join([_HEAD, table, "", *(_entry(rule) for rule in rules)])


def _entry(rule: Rule) -> str:
    return "\n".join(
        [
            f"## {rule.code}",
            "",
            f"**{rule.summary}**",
            "",
            fill(
                f"{rule.reason} Source: {rule.source}.", 120, break_long_words=False, break_on_hyphens=False
            ),
            "",
            ", ".join(_marks(rule)) + ".",
            "",
        ]
    )


def _marks(rule: Rule) -> Iterator[str]:
    yield f"`{rule.name}`, {rule.severity}, version {rule.version}"
    if rule.published is not None:
        yield f"published rule {rule.published}"
    if not rule.applies_to_imports:
        yield "not for imports"
    if not rule.recorded:
        yield "not recorded"


def main(arguments: Sequence[str]) -> int:
    """Write the page; with `--check` compare it. Return 1 when it differs."""
    if "--check" not in arguments:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    print(
        "docs/rules.md does not agree with the rules: python -m tests.pages --write",
        file=sys.stderr,
    )
    return 1
