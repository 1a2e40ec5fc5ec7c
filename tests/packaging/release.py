"""Before a release: `python -m tests.packaging.release v0.2.0` says whether tag, package and changelog agree;
`--sbom FILE` writes what the lock installs at run time as CycloneDX 1.5."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import moot
from tests.packaging.lock import LOCK, run_part

ROOT: Final = Path(__file__).resolve().parents[2]
RELEASED: Final = re.compile(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", re.MULTILINE)
PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^ \\]+).*?(?=^\S|\Z)", re.MULTILINE | re.DOTALL)


def problems(tag: str, changelog: str, package: str, module: str) -> Iterator[str]:
    """What keeps a tag from being released."""
    version = tag.removeprefix("v")
    if not tag.startswith("v") or not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"{tag} is no tag of a version: v1.2.3"
    for where, said in (("pyproject.toml", package), ("moot.version()", module)):
        if said != version:
            yield f"{where} says {said}, the tag {version}"
    released = RELEASED.findall(changelog)
    if not released or released[0][0] != version:
        newest = released[0][0] if released else "none"
        yield f"the newest section of CHANGELOG.md with a date is {newest}, not {version}"
    unreleased = changelog.partition("## [Unreleased]")[2].partition("\n## ")[0].strip()
    if unreleased:
        yield "CHANGELOG.md has entries under [Unreleased]: put them under the version"


def sbom(lock: str, version: str) -> dict[str, Any]:
    """What is installed with moot, by the lock: name, version, hashes."""
    components = [
        {
            "type": "library",
            "name": found[1],
            "version": found[2],
            "purl": f"pkg:pypi/{found[1].lower()}@{found[2]}",
            "hashes": [
                {"alg": "SHA-256", "content": one} for one in re.findall(r"sha256:([0-9a-f]{64})", found[0])
            ],
        }
        for found in PIN.finditer(lock)
    ]
    about = {"type": "application", "name": "moot-ledger", "version": version}
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {"component": about},
        "components": components,
    }  # fmt: skip


def main(words: list[str]) -> int:
    """Exit code 1 when something disagrees."""
    if words[:1] == ["--sbom"]:
        lock = run_part(LOCK.read_text("utf-8"))
        Path(words[1]).write_text(json.dumps(sbom(lock, moot.version()), indent=1) + "\n", "utf-8")
        return 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    found = list(problems(words[0], changelog, project["version"], moot.version()))
    print("\n".join(found) or f"{words[0]} can be released")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
