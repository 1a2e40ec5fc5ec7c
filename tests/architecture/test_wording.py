"""Figures of the product's language that may only get better: lower a limit when the figure has fallen."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final

from tests.architecture.test_house import sources

WEAK: Final = "what whether how where who whose which when why whoever the a an one all every each"
WEAK_OPENINGS: Final = frozenset(WEAK.split())
VAGUE: Final = frozenset({"one", "found", "said", "told", "made", "given", "shown"})
BANNED: Final = re.compile(
    r"\b(?:is none\b|of none\b|as good as none|what all\b|whoever|nobody|somebody"
    r"|stands? (?:at|in|behind|beside|there)\b|'s to say|comes? to\b|(?:is|are) told\b|has not its\b|hangs? on\b)",
    re.IGNORECASE,
)
AT_MOST: Final = {
    "docstrings of functions that do not begin with a verb, per 1,000": 25,
    "vague identifiers, per 10,000": 3,
    "phrases of another dialect, per 10,000 words of docstrings": 6,
    "constructors that copy three or more fields": 110,
    "functions of seven or more parameters outside moot/cli": 25,
}
COMMENTS_AT_LEAST: Final = 7.5


@cache
def counts() -> Counter[str]:
    """Count what the figures are made of, over every file of the product."""
    total: Counter[str] = Counter()
    for path, source in sources().items():
        for node in ast.walk(ast.parse(source)):
            total.update(_of(node, path))
        total.update(_comments(source))
    return total


def _of(node: ast.AST, path: str) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
        doc = ast.get_docstring(node) or ""
        yield from ["word"] * len(doc.split())
        yield from ["banned"] * len(BANNED.findall(doc))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ["wide"] * (len(node.args.args + node.args.kwonlyargs) >= 7 and "/cli/" not in path)
            if doc:
                yield "docstring"
                yield from ["weak"] * (doc.split()[0].strip("`*\"'").lower() in WEAK_OPENINGS)
    if isinstance(node, ast.Name | ast.Attribute | ast.arg):
        name = (
            node.id
            if isinstance(node, ast.Name)
            else node.attr
            if isinstance(node, ast.Attribute)
            else node.arg
        )
        yield "identifier"
        yield from ["vague"] * (name in VAGUE)
    if isinstance(node, ast.Call):
        same = [
            isinstance(word.value, ast.Attribute) and word.arg == word.value.attr for word in node.keywords
        ]
        yield from ["copy"] * (sum(same) >= 3)
    if isinstance(node, ast.stmt) and not (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ):
        yield "statement"


def _comments(source: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        # A reason needs words; four of them behind the sign are the shortest that can be one.
        if token.type == tokenize.COMMENT and len(token.string.split()) >= 5 and "noqa" not in token.string:
            yield "comment"


def test_the_language_of_the_code_only_gets_better() -> None:
    seen = counts()
    figures = {
        "docstrings of functions that do not begin with a verb, per 1,000": 1_000
        * seen["weak"]
        / seen["docstring"],
        "vague identifiers, per 10,000": 10_000 * seen["vague"] / seen["identifier"],
        "phrases of another dialect, per 10,000 words of docstrings": 10_000 * seen["banned"] / seen["word"],
        "constructors that copy three or more fields": seen["copy"],
        "functions of seven or more parameters outside moot/cli": seen["wide"],
    }
    assert {name: figure for name, figure in figures.items() if figure > AT_MOST[name]} == {}


def test_reasons_are_written_in_comments() -> None:
    seen = counts()
    assert 100 * seen["comment"] / seen["statement"] >= COMMENTS_AT_LEAST
