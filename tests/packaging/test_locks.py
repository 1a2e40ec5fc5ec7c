"""The lock: every package once, and a first part that is what moot runs on. How it is installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.packaging.installing import installed, options
from tests.packaging.lock import LOCK, SEATS, TOOLS, entries, joined, run_part, seats_part

ROOT = Path(__file__).parents[2]


def test_every_package_is_pinned_once_for_a_python() -> None:
    lock = LOCK.read_text("utf-8")
    pins = re.findall(r"^([A-Za-z0-9._-]+)==[^ ]+(?: ; ([^\\\n]*))?", lock, re.MULTILINE)
    assert len(pins) == len(set(pins))
    names = [name for name, _ in pins]
    assert {*names} == {*entries(lock)}
    unmarked = [name for name, marker in pins if "python" not in marker]
    assert all(names.count(name) == 1 for name in unmarked), "a pin for every Python stands alone"
    assert lock.count("--hash=sha256:") >= len(names)


def test_the_first_part_is_what_the_project_declares_and_no_tool() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = {re.split(r"[<>=\[]", word)[0] for word in project["project"]["dependencies"]}
    run = entries(run_part(LOCK.read_text("utf-8")))
    assert declared <= set(run)
    assert {"anthropic", "pytest", "mypy", "playwright", "pyright"}.isdisjoint(run)


def test_the_second_part_is_the_seats_and_mcp_and_no_tool() -> None:
    seats = entries(seats_part(LOCK.read_text("utf-8")))
    assert {"anthropic", "openai", "mcp"} <= set(seats)
    assert {"pytest", "mypy", "playwright", "pyright", "ray", "numpy"}.isdisjoint(seats)


def test_the_lock_is_cut_at_the_lines_between_its_parts() -> None:
    assert f"/^{SEATS.strip()}$$/" in (ROOT / "Makefile").read_text("utf-8")
    for name in ("integrations/action/install.sh", "integrations/container/Containerfile"):
        assert f"/^{TOOLS.strip()}$/,\\$d" in (ROOT / name).read_text("utf-8"), name


def test_a_package_that_both_parts_need_keeps_the_wider_marker() -> None:
    run = "a==1 ; sys_platform == 'win32' \\\n    --hash=sha256:0\n"
    everything = "a==1 \\\n    --hash=sha256:0\nb==2 \\\n    --hash=sha256:1\n"
    seats = "c==3 \\\n    --hash=sha256:2\n"
    lock = joined(run, seats, everything + seats)
    assert entries(lock) == entries(everything + seats)
    assert "win32" not in lock
    assert set(entries(run_part(lock))) == {"a"}
    assert set(entries(seats_part(lock))) == {"c"}


def test_uv_looks_where_pip_is_set_to_look() -> None:
    settings = (
        "global.cert='/etc/ssl/a.crt'\nglobal.extra-index-url='file:///a/simple file:///b/simple'\n"
        "global.find-links='/wheels'\n:env:.index-url='https://index.example/simple'\n"
    )
    assert list(options(settings)) == [
        ("--index", "file:///a/simple"),
        ("--index", "file:///b/simple"),
        ("--find-links", "/wheels"),
        ("--default-index", "https://index.example/simple"),
    ]


def test_pip_installs_what_uv_does_not(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    wheel = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("tiny.py", "")
        file.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        file.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr("tiny-1.0.dist-info/RECORD", "")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = tmp_path / "env/bin/python"
    # uv knows no such option.
    assert installed(python, "--no-index", "--no-deps", "--no-warn-script-location", str(wheel))
    assert "unexpected argument" in capfd.readouterr().err
    assert list((tmp_path / "env").rglob("tiny.py"))
    assert not installed(python, "--no-index", "nothing-of-that-name")
