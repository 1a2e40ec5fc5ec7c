"""House rules that a number or a name can hold: one name a thing, files that are read at a sitting, short functions."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from statistics import median

from tests.architecture.rooms import ROOT, drawing, folders, imported, nodes, upward
from tests.packaging.test_top_level_names import OURS

LINES_MAX = 450
MEDIAN_MAX = 10


@cache
def sources() -> Mapping[str, str]:
    """Path → text of every file of the product."""
    files = [path for package in OURS for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(files) > 200
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in files}


def classes(source: str) -> Iterator[tuple[str, str]]:
    """(name, name) of the public classes, wherever they stand."""
    for node in nodes(source):
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node.name


def choices(source: str) -> Iterator[tuple[frozenset[str], str]]:
    """(values, name) of the types that are a choice of words: `Severity = Literal["error", "warning"]`."""
    for node in nodes(source):
        if isinstance(node, ast.Assign) and node.col_offset == 0 and isinstance(node.value, ast.Subscript):
            text = ast.unparse(node.value)
            if text.startswith("Literal["):
                words = frozenset(re.findall(r"'[^']*'", text))
                yield words, ast.unparse(node.targets[0])


def twice(found: Iterable[tuple[object, str]]) -> list[set[str]]:
    """The places of what is declared more than once."""
    places: defaultdict[object, list[str]] = defaultdict(list)
    for thing, place in found:
        places[thing].append(place)
    return [set(where) for where in places.values() if len(where) > 1]


def lengths(source: str) -> list[int]:
    """Lines of every function."""
    return [
        (node.end_lineno or 0) - node.lineno + 1
        for node in nodes(source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_public_class_has_its_name_twice() -> None:
    found = [(name, f"{path} {said}") for path, text in sources().items() for name, said in classes(text)]
    assert twice(found) == []


def test_no_choice_of_words_is_declared_twice() -> None:
    found = [(words, f"{path} {name}") for path, text in sources().items() for words, name in choices(text)]
    assert len(found) > 40
    assert twice(found) == []


def test_a_second_declaration_is_seen() -> None:
    assert twice([*classes("class Seat: ...\n"), *classes("class Seat: ...\nclass _Kept: ...\n")]) == [
        {"Seat"}
    ]
    one, other = 'A = Literal["x", "y"]\n', 'B = Literal["y", "x"]\n'
    assert twice([*choices(one), *choices(other)]) == [{"A", "B"}]


def test_every_file_is_read_at_a_sitting() -> None:
    assert {path: n for path, text in sources().items() if (n := text.count("\n")) > LINES_MAX} == {}


def test_half_of_the_functions_are_short() -> None:
    found = [length for text in sources().values() for length in lengths(text)]
    assert len(found) > 1_000
    assert median(found) < MEDIAN_MAX
    assert lengths("def one():\n    return 1\n") == [2]


def test_every_room_is_drawn_and_none_imports_a_higher_one() -> None:
    drawn = re.findall(r"^ *(\w+)/", drawing(), re.MULTILINE)
    assert sorted(drawn) == sorted([*OURS, *(room for package in OURS for room in folders(package))])
    assert upward() == []
    assert imported("from moot.cli.run import run\nimport rich.console\n") == {"moot.cli", "rich.console"}


def test_the_twelve_concepts_have_one_row_each() -> None:
    page = Path(ROOT / "docs/architecture.md").read_text("utf-8")
    concepts = re.findall(
        r"^\| (?!concept|---)([^|]+) \|", page.partition("## 1.")[2].partition("## 2.")[0], re.MULTILINE
    )
    assert len(concepts) == len(set(concepts)) == 12
