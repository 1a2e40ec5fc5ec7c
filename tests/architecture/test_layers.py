"""The folder names are the architecture, and nobody imports a model's SDK without calling it."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from tests.packaging.test_top_level_names import OURS

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_SECONDS = 120


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )


def lint_imports(project: Path) -> subprocess.CompletedProcess[str]:
    return python(
        "-c",
        "from importlinter.cli import lint_imports_command as lint; lint()",
        "--no-cache",
        "--no-logo",
        cwd=project,
    )


def rooms() -> set[str]:
    """Every room that a contract names, such as `rounds.setup`."""
    named = re.findall(
        r"\b[a-z]+\.[a-z_]+\b", (ROOT / "pyproject.toml").read_text().partition("[tool.importlinter]")[2]
    )
    return {room for room in named if room.partition(".")[0] in OURS}


def test_imports_run_one_way() -> None:
    linted = lint_imports(ROOT)
    assert linted.returncode == 0, linted.stdout + linted.stderr


def test_an_import_upwards_is_caught(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    for package in OURS:
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    for room in rooms():
        (tmp_path / room.replace(".", "/")).with_suffix(".py").touch()
    assert lint_imports(tmp_path).returncode == 0
    (tmp_path / "detectors" / "__init__.py").write_text("import validators\n")
    (tmp_path / "ledger" / "__init__.py").write_text("import rounds\nimport rich\n")
    (tmp_path / "moot" / "view.py").write_text("import moot.terminal\n")
    (tmp_path / "rounds" / "setup.py").write_text("import rounds.run\n")
    (tmp_path / "detectors" / "forecasts.py").write_text("import detectors.stopping\n")
    linted = lint_imports(tmp_path)
    assert linted.returncode == 1
    for broken in ("ledger is not allowed to import rounds", "detectors is not allowed to import validators"):
        assert broken in linted.stdout
    assert "moot.view is not allowed to import moot.terminal" in linted.stdout
    assert "ledger is not allowed to import rich" in linted.stdout
    assert "rounds.setup is not allowed to import rounds.run" in linted.stdout
    assert "detectors.forecasts is not allowed to import detectors.stopping" in linted.stdout


SDKS = {"anthropic", "openai"}


def test_the_sdk_is_installed_here() -> None:
    """Else the two tests below could not fail."""
    assert all(importlib.util.find_spec(sdk) is not None for sdk in SDKS)


def test_importing_moot_does_not_import_the_sdk() -> None:
    imported = python("-c", "import moot, sys; print(*sys.modules, sep='\\n')")
    assert imported.returncode == 0, imported.stderr
    assert not SDKS & set(imported.stdout.split())


def test_help_does_not_import_the_sdk() -> None:
    shown = python("-X", "importtime", "-m", "moot", "--help")
    assert shown.returncode == 0, shown.stderr
    imported = set(re.findall(r"^import time:.*\|\s+([\w.]+)$", shown.stderr, flags=re.MULTILINE))
    assert "moot" in imported
    assert not SDKS & imported
