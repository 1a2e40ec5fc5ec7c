"""Tests use public doors, and a module's tests are found by its name: the exceptions, which may only become fewer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.architecture.rooms import ROOT
from tests.architecture.test_house import sources
from tests.packaging.test_top_level_names import OURS

PRIVATE: Final = {
    "tests/ledger/test_plain_json.py": "_strings",
    "tests/mcp/test_rights.py": "_make_secret",
    "tests/roles/test_schema.py": "_is_perhaps_unclean _unclean",
    "tests/rounds/test_stopped.py": "_has_news",
    "tests/security/test_file_limit.py": "_covering",
}
"""Test file → private names of the product that it uses: none of these shows through a public door."""
UNNAMED_AT_MOST: Final = 57
"""Modules whose tests are not found by a name: lower it when a module gets one."""


def private_names(tree: ast.AST) -> Iterator[str]:
    """Names with an underscore that are imported from the product, read from one of its modules, or replaced there."""
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            for alias in node.names:
                modules.add(alias.asname or alias.name)
                yield from [alias.name] * is_private(alias.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            # `_replace` and its like are the public methods of a named tuple.
            yield from [node.attr] * (is_private(node.attr) and node.value.id.islower())
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "setattr"
        ):
            names = [word.value for word in node.args if isinstance(word, ast.Constant)]
            of_ours = node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in modules
            yield from (str(name) for name in names if of_ours and is_private(str(name)))


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_tests_use_public_doors() -> None:
    used = {
        str(path.relative_to(ROOT)): " ".join(names)
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if (names := sorted(set(private_names(ast.parse(path.read_text("utf-8"))))))
    }
    assert used == PRIVATE
    sample = "from ledger.store import lock\nfrom roles.schema import _key\nlock._wait\nm.setattr(lock, '_at', 1)\n"
    assert sorted(private_names(ast.parse(sample))) == ["_at", "_key", "_wait"]


def test_the_tests_of_a_module_are_found_by_its_name() -> None:
    """By the name of a test file, or by the path of the module in what the file says of itself."""
    files = list((ROOT / "tests").rglob("test_*.py"))
    names = [path.stem for path in files]
    said = "\n".join(ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "" for path in files)
    modules = [Path(path) for path in sources() if not path.endswith("__init__.py")]
    unnamed = [
        str(path)
        for path in modules
        if not any(path.stem.rstrip("s") in name for name in names) and f"`{path}`" not in said
    ]
    assert len(unnamed) <= UNNAMED_AT_MOST, unnamed
