"""The seven top-level names are ours alone (ADR 1)."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest

OURS = ("detectors", "ledger", "moot", "roles", "rounds", "schemas", "validators")


def owners(name: str, path: Sequence[Path] | None = None) -> set[str]:
    """Names of the distributions that install `name`, in `path` (default: wherever this Python looks)."""
    if path is None:
        return _installed().get(name, set())
    found = distributions(path=[str(folder) for folder in path])
    return {distribution.name for distribution in found if name in _top_level_names(distribution)}


@cache
def _installed() -> dict[str, set[str]]:
    """Return the distributions of this Python by the names that they own, read once: their lists are long."""
    owned: dict[str, set[str]] = {}
    for distribution in distributions():
        for name in _top_level_names(distribution):
            owned.setdefault(name, set()).add(distribution.name)
    return owned


def _top_level_names(distribution: Distribution) -> Iterator[str]:
    # top_level.txt is older than wheels and optional; the list of files is what an import would find.
    yield from (distribution.read_text("top_level.txt") or "").split()
    # A large distribution lists ten thousand files, and `Distribution.files` makes an object of each.
    record = distribution.read_text("RECORD")
    paths = map(str, distribution.files or ()) if record is None else record.splitlines()
    for path in {"/".join(path.partition(",")[0].split("/")[:2]) for path in paths}:
        first, slash, _ = path.partition("/")
        if slash or first.endswith((".py", ".so", ".pyd")):
            yield first.partition(".")[0]


@pytest.mark.parametrize("name", OURS)
def test_no_other_distribution_owns_the_name(name: str) -> None:
    assert owners(name) <= {"moot-ledger"}


@pytest.mark.parametrize(
    "file", ["ledger/__init__.py", "ledger.py", "ledger.cpython-311-x86_64-linux-gnu.so"]
)
def test_an_owner_is_seen(tmp_path: Path, file: str) -> None:
    install(tmp_path, "stranger", [file, "strange/ledgers.py"])
    assert owners("ledger", [tmp_path]) == {"stranger"}


def test_a_folder_further_down_owns_nothing(tmp_path: Path) -> None:
    install(tmp_path, "neighbour", ["neighbour/ledger/__init__.py", "ledger_of_names/__init__.py"])
    assert owners("ledger", [tmp_path]) == set()


def install(site: Path, name: str, files: list[str]) -> None:
    folder = site / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    for file in files:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).touch()
    (folder / "RECORD").write_text("".join(f"{file},,\n" for file in files))
