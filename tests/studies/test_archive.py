"""Archives of studies: the same bytes from the same files, and nothing lost on the way."""

from __future__ import annotations

import io
import lzma
import tarfile
from pathlib import Path

import pytest

from tests.studies.archive import ARCHIVE, KEPT, packed

ROOT = Path(__file__).resolve().parents[2]
ARCHIVES = sorted((ROOT / "studies").glob(f"*/{ARCHIVE}"))


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.parent.name)
def test_packing_the_files_of_an_archive_again_gives_its_bytes(path: Path, tmp_path: Path) -> None:
    content = lzma.decompress(path.read_bytes())
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(tmp_path, filter="data")
    assert packed(tmp_path) == content
    assert {run.parent for run in tmp_path.glob("runs/*/decisions.jsonl")} == set(tmp_path.glob("runs/*"))
    assert not KEPT & {file.name for file in tmp_path.iterdir()}


@pytest.mark.parametrize("path", ARCHIVES, ids=lambda path: path.parent.name)
def test_beside_an_archive_stands_the_report_that_names_its_release(path: Path) -> None:
    assert {file.name for file in path.parent.iterdir()} <= KEPT
    assert "`v0.1.0`" in (path.parent / "report.md").read_text("utf-8")


def test_times_and_leftovers_change_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "runs" / "r1").mkdir(parents=True)
        (tmp_path / name / "runs" / "r1" / "head").write_text("1")
    (tmp_path / "b" / "runs" / "r1" / "lock").touch()
    (tmp_path / "b" / "report.md").touch()
    (tmp_path / "b" / "runs" / "r1" / "head").chmod(0o600)
    assert packed(tmp_path / "a") == packed(tmp_path / "b")
