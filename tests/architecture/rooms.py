"""The drawing of the rooms in docs/architecture.md: every folder of the product, in the order in which imports go down.

The order is that of import-linter's contracts in pyproject.toml; the words are the first sentence of each folder.
"""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
COLUMN: Final = 24


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Every node of a source. Kept, because a dozen tests read the whole product."""
    return tuple(ast.walk(ast.parse(source)))


def contracts() -> dict[str, list[list[str]]]:
    """Package, or "" for the product itself → its layers, each the modules that stand side by side in it."""
    read: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layered = [one for one in read["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    found = {}
    for one in layered:
        layers = [[name.strip() for name in layer.split("|")] for layer in one["layers"]]
        package, dot, _ = layers[0][0].partition(".")
        found[package if dot else ""] = layers
    return found


def folders(package: str) -> list[str]:
    """The rooms of a package: the folders right below it that hold Python."""
    return sorted(path.parent.name for path in (ROOT / package).glob("*/__init__.py"))


def upward() -> list[str]:
    """Imports of a room that is drawn higher, which there must be none of."""
    layers = contracts()
    found: list[str] = []
    for package in (one for side_by_side in layers[""] for one in side_by_side):
        rooms = _in_order(package, layers)
        for place, room in enumerate(rooms):
            above = {f"{package}.{one}" for one in rooms[:place]}
            for path in sorted((ROOT / package / room).rglob("*.py")):
                asked = imported(path.read_text("utf-8")) & above
                found += [f"{path.relative_to(ROOT)} imports {one}" for one in sorted(asked)]
    return found


def imported(source: str) -> set[str]:
    """The rooms that a source imports anything of."""
    names: set[str] = set()
    for node in nodes(source):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{one.name}" for one in node.names)}
        if isinstance(node, ast.Import):
            names |= {one.name for one in node.names}
    return {".".join(name.split(".")[:2]) for name in names}


def drawing() -> str:
    """The drawing, as the page has it."""
    layers = contracts()
    lines: list[str] = []
    for side_by_side in layers[""]:
        for package in side_by_side:
            lines.append(_line(f"{package}/", package))
            lines += [_line(f"    {room}/", f"{package}/{room}") for room in _in_order(package, layers)]
    return "\n".join(["```", *lines, "```", ""])


def _in_order(package: str, layers: dict[str, list[list[str]]]) -> list[str]:
    ranked = [module.partition(".")[2] for layer in layers.get(package, []) for module in layer]
    rooms = folders(package)
    return [one for one in ranked if one in rooms] + [one for one in rooms if one not in ranked]


def _line(name: str, folder: str) -> str:
    return f"{name:{COLUMN}}{_told(folder)}"


def _told(folder: str) -> str:
    said = (ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text("utf-8"))) or "").strip()
    first = re.split(r"(?<=\.)\s", said.partition("\n\n")[0].replace("\n", " "), maxsplit=1)[0]
    told = re.sub(rf"^{Path(folder).name}: ", "", first, flags=re.IGNORECASE)
    plain = re.sub(r" \([^)]*\d[^)]*\)", "", told).rstrip(".")  # without the rules that it cites
    return plain[0].upper() + plain[1:]
