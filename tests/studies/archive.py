"""Pack a folder, such as what a study played, into one file: `python -m tests.studies.archive studies/pilot`.

A finished study keeps its definition, its keys, its report and `archive.tar.xz`. The archive holds the rest: the
runs, how each ended, the questions' files, what readers answered. No program reads it. To look inside, or to make the
report again with the release that the report names, unpack it where it lies: `tar -xJf archive.tar.xz`.

The same files give the same bytes: sorted names, no times, no owners.
"""

from __future__ import annotations

import io
import lzma
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ARCHIVE: Final = "archive.tar.xz"
KEPT: Final = frozenset({"study.toml", "keys.toml", "report.md", ARCHIVE})
"""What stands beside the archive."""
LEFT_OUT: Final = frozenset({"lock", "driver", "speech"})
"""What a running program leaves in a run, and git ignores."""


def files_of(study: Path) -> Iterator[Path]:
    """Yield the files that the archive of a study holds."""
    for path in sorted(study.rglob("*")):
        inside = path.relative_to(study)
        if path.is_file() and str(inside) not in KEPT and path.name not in LEFT_OUT:
            yield path


def packed(study: Path) -> bytes:
    """Return the files of a study as an uncompressed archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in files_of(study):
            member = tarfile.TarInfo(path.relative_to(study).as_posix())
            data = path.read_bytes()
            member.size, member.mode = len(data), 0o644
            archive.addfile(member, io.BytesIO(data))
    return content.getvalue()


def main(names: list[str]) -> None:
    """Write the archive of each study and print its size."""
    for name in names:
        target = Path(name) / ARCHIVE
        target.write_bytes(lzma.compress(packed(Path(name)), preset=9 | lzma.PRESET_EXTREME))
        print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
