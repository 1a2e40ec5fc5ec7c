"""What lies beside this file: simulated ledgers with labels, and published results. README.md says where it is from."""

from pathlib import Path
from typing import Final

HERE = Path(__file__).parent
LABELS: Final = HERE / "labelled" / "labels.json"
LABELLED: Final = sorted(path for path in LABELS.parent.iterdir() if path.is_dir())
"""State directories in the `skill` layout."""
JUGALBANDI: Final = sorted((HERE / "jugalbandi").glob("task-*.json"))
"""Result files of the published experiment."""
