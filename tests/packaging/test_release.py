"""What keeps a tag from being released, what a release says is in it, and workflows that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tests.packaging.lock import LOCK, run_part
from tests.packaging.release import ROOT, problems, sbom

GOOD = "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n- New.\n\n## [0.1.0] - 2026-11-01\n"


def test_a_tag_that_agrees_with_all_can_be_released() -> None:
    assert list(problems("v0.2.0", GOOD, "0.2.0", "0.2.0")) == []


@pytest.mark.parametrize(
    ("tag", "changelog", "package", "module", "says"),
    [
        ("0.2.0", GOOD, "0.2.0", "0.2.0", "no tag of a version"),
        ("v0.2", GOOD, "0.2", "0.2", "no tag of a version"),
        ("v0.2.0", GOOD, "0.1.0", "0.2.0", "pyproject.toml says 0.1.0"),
        ("v0.2.0", GOOD, "0.2.0", "0.1.0", "moot.version() says 0.1.0"),
        ("v0.2.0", GOOD.replace("0.2.0] - 2026-12-01", "0.2.0]"), "0.2.0", "0.2.0", "is 0.1.0, not 0.2.0"),
        ("v0.2.0", GOOD.replace("[Unreleased]\n", "[Unreleased]\n\n- More.\n"), "0.2.0", "0.2.0", "under [Unreleased]"),
        ("v0.2.0", "# Changelog\n", "0.2.0", "0.2.0", "is none"),
    ],
)  # fmt: skip
def test_what_disagrees_is_said(tag: str, changelog: str, package: str, module: str, says: str) -> None:
    found = list(problems(tag, changelog, package, module))
    assert any(says in one for one in found), found


def test_the_bill_of_materials_has_every_pin_with_its_hashes() -> None:
    lock = run_part(LOCK.read_text("utf-8"))
    made = sbom(lock, "0.2.0")
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^ \\]+)", lock, re.MULTILINE)
    assert [(one["name"], one["version"]) for one in made["components"]] == pins
    assert len(pins) > 15
    assert all(one["hashes"] for one in made["components"])
    assert sum(len(one["hashes"]) for one in made["components"]) == lock.count("--hash=sha256:")


@pytest.mark.parametrize("file", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda file: file.name)
def test_what_a_code_host_reads_can_be_read(file: Path) -> None:
    read = yaml.safe_load(file.read_text("utf-8"))
    assert read
    for job in (read.get("jobs") or {}).values():
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert "${{" not in step.get("run", ""), "what a tag or a person says comes by the environment"
