"""The seven top-level names are ours alone (ADR 1)."""

from pathlib import Path

import pytest

from tests.packaging.top_level_names import OURS, owners


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
