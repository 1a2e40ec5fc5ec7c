"""A name means one thing: no public class of the product has its name twice."""

import ast
from collections import defaultdict
from pathlib import Path

from tests.packaging.top_level_names import OURS

ROOT = Path(__file__).resolve().parents[2]


def classes(source: str) -> list[str]:
    return [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def twice(sources: dict[str, str]) -> dict[str, list[str]]:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, source in sources.items():
        for name in classes(source):
            places[name].append(path)
    return {name: where for name, where in places.items() if len(where) > 1}


def test_no_public_class_has_its_name_twice() -> None:
    files = [path for package in OURS for path in sorted((ROOT / package).rglob("*.py"))]
    assert len(files) > 200
    assert twice({str(path.relative_to(ROOT)): path.read_text() for path in files}) == {}


def test_a_second_class_of_a_name_is_seen() -> None:
    assert twice({"a.py": "class Seat: ...\n", "b.py": "class Seat: ...\nclass _Kept: ...\n"}) == {
        "Seat": ["a.py", "b.py"]
    }
