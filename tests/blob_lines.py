"""The blobs of a run, for tests that read, lose or change them by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ledger.store.blobs import BlobStore, blob_line
from ledger.store.streams import BLOBS, head_bytes, read_head


def blobs_of(run: Path) -> dict[str, bytes]:
    """Return every blob of a run by its hash, in the order of the file."""
    return dict(BlobStore(run).items())


def write_lines(run: Path, lines: Iterable[bytes]) -> None:
    """Make `lines` the blobs of a run, all of them acknowledged."""
    content = b"".join(lines)
    (run / BLOBS).write_bytes(content)
    (run / "head").write_bytes(head_bytes(read_head(run), len(content)))


def lose(run: Path, sha256: str) -> None:
    """Take the line of a blob out of a run, and say nothing of it."""
    lines = [line for _, line in BlobStore(run).lines()]
    left = [line for line in lines if line[11:75] != sha256.encode()]
    assert len(left) == len(lines) - 1, f"{sha256} is no blob of {run}"
    write_lines(run, left)


def change(run: Path, sha256: str, into: Callable[[bytes], bytes]) -> None:
    """Put another content under the hash of a blob."""
    lines = [line for _, line in BlobStore(run).lines()]
    other = blob_line(into(blobs_of(run)[sha256]))
    write_lines(
        run,
        (line if line[11:75] != sha256.encode() else line[:75] + other[75:] for line in lines),
    )
