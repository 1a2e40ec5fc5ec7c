"""What a caller sees is what it was: JSON of every reading verb over every recorded run, exit codes, help texts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_contract_holds() -> None:
    """A process of its own: widths and colors are read once."""
    again = subprocess.run(
        [sys.executable, "-m", "tests.golden.contract", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
