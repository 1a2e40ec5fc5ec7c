"""The documentation as a site: `python -m tests.packaging.site`, into build/site. Strict: a link or an anchor that
leads nowhere ends it.

The pages are those of docs/, the README as the first, the changelog, and two that the program writes of itself: every
verb with its help, and every object of `--json` with its fields.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from moot.cli import VERBS

ROOT: Final = Path(__file__).resolve().parents[2]
PAGES: Final = ROOT / "build" / "site-pages"
CONFIGURATION: Final = ROOT / "build" / "mkdocs.yml"
MOVED: Final = {
    "README.md": "index.md",
    ".github/CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    ".github/SECURITY.md": "security.md",
}
"""Pages of the repository that stand elsewhere on the site."""
LINK: Final = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
FENCED: Final = re.compile(r"(^```.*?^```|^    .*?$)", re.DOTALL | re.MULTILINE)


def written() -> Path:
    """The pages, ready to be built."""
    shutil.rmtree(PAGES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", PAGES, ignore=shutil.ignore_patterns("*.yml"))
    for name, place in MOVED.items():
        shutil.copy2(ROOT / name, PAGES / place)
    for page in sorted(PAGES.rglob("*.md")):
        source = next((name for name, place in MOVED.items() if PAGES / place == page), None)
        was = ROOT / source if source else ROOT / "docs" / page.relative_to(PAGES)
        page.write_text(_linked(page.read_text("utf-8"), was, page), "utf-8")
    reference = PAGES / "reference"
    reference.mkdir()
    (reference / "commands.md").write_text("\n".join(_commands()) + "\n", "utf-8")
    (reference / "json.md").write_text("\n".join(_schemas()) + "\n", "utf-8")
    return PAGES


def _linked(text: str, was: Path, page: Path) -> str:
    """Links as they lead on the site; what the site does not hold is named, not linked."""

    def led(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        where, hash_, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:") or not where:
            return found[0]
        place = Path(os.path.normpath(was.parent / where))
        name = place.relative_to(ROOT).as_posix()
        there = (
            PAGES / MOVED[name]
            if name in MOVED
            else PAGES / Path(name).relative_to("docs")
            if name.startswith("docs/")
            else None
        )
        if there is not None and there.is_dir():
            there = next(iter(sorted(there.glob("*.md"))), None)
        if there is None or not there.exists():
            return f"{words} (`{name}`)" if name not in words else words
        return f"{mark}[{words}]({os.path.relpath(there, page.parent)}{hash_}{anchor})"

    parts = FENCED.split(text)
    return "".join(part if n % 2 else LINK.sub(led, part) for n, part in enumerate(parts))


def _commands() -> Iterator[str]:
    """Every verb with its help, by group."""
    yield "# Commands"
    group = ""
    for verb in VERBS:
        if verb.group != group:
            group = verb.group
            yield f"\n## {group}\n"
        said = subprocess.run(
            [sys.executable, "-m", "moot", verb.name, "--help"],
            cwd=ROOT, env={**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}, capture_output=True, text=True, check=True,
        )  # fmt: skip
        yield f"### moot {verb.name}\n\n```text\n{said.stdout.strip()}\n```\n"


def _schemas() -> Iterator[str]:
    """Every object that `--json` prints: its fields at the top, and what each of its parts holds."""
    yield "# JSON"
    yield "\nWhat `--json` prints, verb by verb. The schemas are in `schemas/output/` of the package.\n"
    for file in sorted((ROOT / "schemas" / "output").glob("*.json")):
        schema = json.loads(file.read_bytes())
        yield f"## {file.stem}\n"
        if schema.get("description"):
            yield f"{_words(schema['description'])}\n"
        yield from _fields(schema)
        for name, part in sorted(schema.get("$defs", {}).items()):
            if part.get("properties"):
                yield f"**{name}**: {_words(part.get('description', ''))}\n"
                yield from _fields(part)


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    if not schema.get("properties"):
        return
    yield "| field | type |"
    yield "| --- | --- |"
    for name, field in schema["properties"].items():
        yield f"| `{name}` | {_type(field)} |"
    yield ""


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_type(one) for one in field["anyOf"]))
    if "enum" in field:
        return ", ".join(f"`{one}`" for one in field["enum"])
    if "const" in field:
        return f"`{field['const']}`"
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    if isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    return str(field.get("type", "any"))


def _words(text: str) -> str:
    """A docstring's words, in which nothing is a tag."""
    return " ".join(text.split()).replace("<", "&lt;").replace("|", "\\|")


def configured() -> Path:
    """The configuration, with the pages of folders in its table of contents."""
    configuration = yaml.safe_load((ROOT / "docs" / "mkdocs.yml").read_text("utf-8"))
    folders = {"PROTOCOLS": "protocols", "ADRS": "adr"}

    def filled(entry: Any) -> Any:
        if isinstance(entry, str) and entry in folders:
            return [
                page.relative_to(PAGES).as_posix() for page in sorted((PAGES / folders[entry]).glob("*.md"))
            ] + (["crux.md"] if entry == "PROTOCOLS" else [])
        if isinstance(entry, dict):
            return {name: filled(value) for name, value in entry.items()}
        return [filled(one) for one in entry] if isinstance(entry, list) else entry

    configuration["nav"] = filled(configuration["nav"])
    configuration |= {"docs_dir": str(PAGES), "site_dir": str(ROOT / "build" / "site")}
    CONFIGURATION.write_text(yaml.safe_dump(configuration, sort_keys=False, allow_unicode=True), "utf-8")
    return CONFIGURATION


def main() -> int:
    """Write the pages and build the site."""
    written()
    words = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--clean",
        "--quiet",
        "--config-file",
        str(configured()),
    ]
    return subprocess.run(words, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
