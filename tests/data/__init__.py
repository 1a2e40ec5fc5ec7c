"""What lies beside this file: simulated ledgers with labels, and published results. README.md says where it is from."""

import atexit
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Final

HERE = Path(__file__).parent


def _unpacked(archive: Path) -> Path:
    """Return a directory with the content of an archive; it goes when the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="moot-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(archive) as content:
        content.extractall(folder, filter="data")
    return folder


LABELS: Final = _unpacked(HERE / "labelled.tar.xz") / "labels.json"
LABELLED: Final = sorted(path for path in LABELS.parent.iterdir() if path.is_dir())
"""State directories in the `skill` layout."""
JUGALBANDI: Final = sorted((HERE / "jugalbandi").glob("task-*.json"))
"""Result files of the published experiment."""
