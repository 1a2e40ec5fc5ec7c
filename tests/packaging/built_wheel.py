"""The wheel alone is enough: built, installed where the sources are out of reach, and started there.

Run by `make test-all` as `python -m tests.packaging.built_wheel`. The empty environment gets the wheel, the
runtime dependencies as the lock pins them, and nothing else: a file or a dependency we forgot is missed here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from moot.app.runs import INSTALLED_EXAMPLE
from tests.packaging.installing import installed
from tests.packaging.lock import LOCK, entries
from tests.packaging.test_top_level_names import OURS, owners

ROOT = Path(__file__).resolve().parents[2]
STEP_TIMEOUT_SECONDS = 300


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="moot-wheel-") as folder:
        scratch = Path(folder).resolve()
        wheel = build(scratch / "dist")
        expect_every_packaged_file(wheel)
        site = install(wheel, scratch)
        expect_only_us(site)
        expect_it_starts(scratch)
        expect_experiments(scratch)
    print("built wheel: complete, alone and alive")


def build(out: Path) -> Path:
    run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)],
        cwd=ROOT,
    )
    (wheel,) = out.glob("moot_ledger-*.whl")
    return wheel


def expect_every_packaged_file(wheel: Path) -> None:
    """What lies in a package's folder is in the wheel, below `moot` the skill and one example; no other folder is."""
    shipped = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    there = {
        path.relative_to(ROOT).as_posix()
        for package in OURS
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    below_moot = {
        "integrations/plugin/skills": "moot/skills",
        f"runs/examples/{INSTALLED_EXAMPLE}": f"moot/examples/{INSTALLED_EXAMPLE}",
    }
    for folder, place in below_moot.items():
        files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
        there |= {f"{place}/{path.relative_to(ROOT / folder).as_posix()}" for path in files}
    assert shipped == there, f"missing: {sorted(there - shipped)}; not ours: {sorted(shipped - there)}"


def install(wheel: Path, scratch: Path) -> Path:
    """The wheel and its locked runtime dependencies in a new environment; its site-packages."""
    venv = scratch / "venv"
    run([sys.executable, "-m", "venv", "--without-pip", str(venv)], cwd=scratch)
    python = venv / "bin" / "python"
    locked = scratch / "runtime.lock"
    locked.write_text("".join(locked_entries(runtime_dependencies())))
    assert installed(python, "--no-deps", "--require-hashes", "--requirement", str(locked))
    assert installed(python, "--no-deps", str(wheel))
    run([sys.executable, "-m", "pip", "--python", str(python), "check"], cwd=scratch)
    (site,) = venv.glob("lib/python*/site-packages")
    return site


def runtime_dependencies() -> set[str]:
    """What moot needs to run, and what that needs in turn, on this machine."""
    needed: set[str] = set()
    waiting = [("moot-ledger", "")]
    while waiting:
        name, extra = waiting.pop()
        for requirement in map(Requirement, requires(name) or ()):
            dependency = canonicalize_name(requirement.name)
            wanted = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
            if wanted and dependency not in needed:
                needed.add(dependency)
                waiting.extend((dependency, part) for part in ("", *requirement.extras))
    return needed


def locked_entries(names: set[str]) -> Iterator[str]:
    """The lock's own lines, pin and hashes, for each name."""
    return (entry for name, entry in entries(LOCK.read_text("utf-8")).items() if name in names)


def expect_only_us(site: Path) -> None:
    for name in OURS:
        assert owners(name, [site]) == {"moot-ledger"}, f"{name} is installed by {owners(name, [site])}"


def expect_it_starts(scratch: Path) -> None:
    venv = scratch / "venv"
    elsewhere = scratch / "elsewhere"
    elsewhere.mkdir()
    seen = run(
        [str(venv / "bin" / "python"), "-c", f"import {', '.join(OURS)}; print(ledger.__file__)"],
        cwd=elsewhere,
    )
    assert Path(seen.strip()).is_relative_to(venv), f"imported from {seen.strip()}"
    version = run([str(venv / "bin" / "moot"), "--version"], cwd=elsewhere)
    assert "0.1.0" in version, version
    assert "moot" in run([str(venv / "bin" / "moot"), "--help"], cwd=elsewhere)
    played = run([str(venv / "bin" / "moot"), "demo", "--no-live"], cwd=elsewhere)
    assert "identical: same head" in played, played


def expect_experiments(scratch: Path) -> None:
    """The self-test of a sandbox passes; without one recorded experiments are not run, and that is said."""
    moot = str(scratch / "venv" / "bin" / "moot")
    if shutil.which("bwrap"):
        assert "✓ ok      experiments" in run([moot, "doctor"], cwd=scratch)
    (example,) = (scratch / "venv").rglob(f"moot/examples/{INSTALLED_EXAMPLE}")
    alone = subprocess.run(
        [moot, "replay", str(example), "--re-run"],
        cwd=scratch, env={"PATH": "/nowhere"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (alone.returncode, "not run here" in alone.stdout) == (1, True), alone


def run(command: list[str], *, cwd: Path) -> str:
    """Standard output of a command that must succeed, started without a way back to the sources."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=STEP_TIMEOUT_SECONDS
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}exit code {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    main()
