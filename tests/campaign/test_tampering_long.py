"""All tampering with a ledger of 300 events: one flip a byte, every line and every cut. `verify` must name each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import pytest

from ledger.events import STREAMS
from ledger.store import Run
from ledger.verify import verify
from tests.ledger import tampering

BLOCKS = 16
NAMES = [f"{stream}.jsonl" for stream in STREAMS]

pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return tampering.build(tmp_path_factory.mktemp("tampering") / "run")


def all_reported(run: Run, name: str, changes: Iterable[tuple[str, bytes]]) -> None:
    path = run.path / name
    before = path.read_bytes()
    count = 0
    for what, content in changes:
        path.write_bytes(content)
        report = verify(run.path)
        assert (report.damaged, report.exit_code) == (True, 3), what
        assert report.problems, what
        count += 1
    path.write_bytes(before)
    assert count > 0
    assert verify(run.path).ok


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("name", NAMES)
def test_every_flipped_byte_is_reported(run: Run, name: str, block: int) -> None:
    content = (run.path / name).read_bytes()
    all_reported(run, name, tampering.byte_flips(content, range(block, len(content), BLOCKS)))


@pytest.mark.parametrize("name", NAMES)
def test_every_changed_line_is_reported(run: Run, name: str) -> None:
    all_reported(run, name, tampering.line_changes((run.path / name).read_bytes()))


@pytest.mark.parametrize("block", range(BLOCKS))
@pytest.mark.parametrize("name", NAMES)
def test_every_truncated_tail_is_reported(run: Run, name: str, block: int) -> None:
    content = (run.path / name).read_bytes()
    all_reported(run, name, tampering.truncations(content, range(block, len(content), BLOCKS)))


def test_every_flip_and_cut_of_the_head_is_reported(run: Run) -> None:
    content = (run.path / "head").read_bytes()
    all_reported(run, "head", tampering.byte_flips(content))
    all_reported(run, "head", tampering.truncations(content))


def test_every_flip_and_cut_of_every_blob_is_reported(run: Run) -> None:
    for path in list((run.path / "blobs").iterdir()):
        name = f"blobs/{path.name}"
        all_reported(run, name, tampering.byte_flips(path.read_bytes()))
        all_reported(run, name, tampering.truncations(path.read_bytes()))


@pytest.mark.parametrize("block", range(BLOCKS))
def test_every_moved_line_is_reported(run: Run, block: int) -> None:
    contents = {name: (run.path / name).read_bytes() for name in NAMES}
    for what, files in islice(tampering.moved_lines(contents), block, None, BLOCKS):
        for name, content in files.items():
            (run.path / name).write_bytes(content)
        assert verify(run.path).damaged, what
        for name in files:
            (run.path / name).write_bytes(contents[name])
    assert verify(run.path).ok
