"""One reader of plain files (`ledger/store/disk.py`), searched in the code: every other opening has its reason here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.architecture.rooms import nodes

ROOT: Final = Path(__file__).resolve().parents[2]
PACKAGES: Final = ("schemas", "ledger", "roles", "detectors", "validators", "rounds", "moot")
OPENS: Final = frozenset(
    {"open", "fdopen", "read_bytes", "read_text", "mmap", "fromfile", "memmap", "FileIO"}
)
THE_READER: Final = "ledger/store/disk.py"
OURS: Final = "a file that moot itself ships"
PROC: Final = "a file of the kernel, which ends"
NEW: Final = "opens for writing, never through a link"
INSIDE: Final = "runs inside the sandbox"
ALLOWED: Final = {
    "detectors/parameters.py: Path(__file__).with_suffix('.toml').read_bytes()": OURS,
    "ledger/store/lock.py: BOOT_ID.read_text('ascii')": PROC,
    "ledger/store/lock.py: os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 438)": NEW,
    "moot/app/seats.py: os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 384)": NEW,
    "moot/app/skill.py: ours.read_bytes()": OURS,
    "moot/app/skill.py: path.read_bytes()": OURS,
    "moot/cli/hosts.py: webbrowser.open(url)": "opens no file",
    "moot/mcp/server.py: path.read_text('utf-8')": OURS,
    "moot/studies/playing.py: _file_system().open(address, mode)": "the archive store that the person named",
    "moot/studies/playing.py: tarfile.open(fileobj=content, mode='w:gz', compresslevel=6)": "writes to memory",
    "moot/studies/playing.py: tarfile.open(fileobj=io.BytesIO(content), mode='r:')": "reads from memory",
    "moot/mcp/server.py: os.open(os.devnull, os.O_RDONLY)": "the null device, on purpose",
    "moot/terminal/streams.py: io.FileIO(0, closefd=False)": "standard input",
    "moot/terminal/streams.py: os.open(os.devnull, os.O_RDONLY)": "the null device, on purpose",
    "moot/web/server.py: files('moot.web').joinpath('static', name).read_bytes()": OURS,
    "moot/web/report.py: folder.joinpath('report.css').read_text('utf-8')": OURS,
    "moot/web/report.py: folder.joinpath('style.css').read_text('utf-8')": OURS,
    "roles/prompt_set.py: (whole if whole.is_file() else common / LAYOUT).read_bytes()": OURS,
    "roles/prompt_set.py: entry.read_text(encoding='utf-8')": OURS,
    "roles/seats/command.py: place.read_bytes()": PROC,
    "schemas/__init__.py: path.read_bytes()": OURS,
    "rounds/experiments/bubblewrap.py: Path('/proc/self/uid_map').read_text('ascii')": PROC,
    "rounds/experiments/usage.py: (self._directory / self._version.counts).read_text('ascii')": PROC,
    "rounds/experiments/usage.py: MOUNTS.read_text('utf-8')": PROC,
    "rounds/experiments/usage.py: os.open(f'/proc/{pid}/root{path}', os.O_PATH | os.O_DIRECTORY)": PROC,
    "rounds/experiments/usage.py: OWN.read_text('utf-8')": PROC,
    "rounds/experiments/probe.py: Path('given.json').read_text()": INSIDE,
    "rounds/experiments/probe.py: Path('left.txt').read_text()": INSIDE,
    "rounds/experiments/probe.py: Path(f'/proc/{parent}/cmdline').read_bytes()": INSIDE,
    "rounds/experiments/probe.py: Path(path).read_bytes()": INSIDE,
    "rounds/experiments/probe.py: mmap.mmap(-1, 4096)": INSIDE,
    "rounds/experiments/probe.py: mmap.mmap(zero.fileno(), 4096)": INSIDE,
    "rounds/experiments/probe.py: open('/dev/zero', 'r+b')": INSIDE,
    "rounds/experiments/probe.py: open('big', 'wb')": INSIDE,
    "rounds/experiments/sandbox.py: os.fdopen(opened[-1], 'wb', closefd=False)": "a descriptor that it made",
    "rounds/experiments/bench.py: PROBE.read_bytes()": OURS,
    "rounds/experiments/bench.py: words.read_bytes()": PROC,
    "rounds/experiments/usage.py: Path(f'/proc/{pid}/stat').read_bytes()": PROC,
    "rounds/experiments/usage.py: Path(f'/proc/{pid}/status').read_bytes()": PROC,
    "rounds/experiments/usage.py: Path(f'/proc/{pid}/maps').read_bytes()": PROC,
    "rounds/experiments/usage.py: open(f'/proc/{parent}/task/{task}/children', 'rb', buffering=0)": PROC,
    "rounds/experiments/usage.py: open(f'/proc/{pid}/net/protocols', 'rb')": PROC,

    "rounds/screening/readings.py: _TABLE.read_text('utf-8')": OURS,
    "rounds/setup/gate_cues.py: CUES.read_text('utf-8')": OURS,
    "schemas/__init__.py: (DIRECTORY / f'{name}.json').read_bytes()": OURS,

}  # fmt: skip
"""File and call → why it is not read through the reader of plain files."""


def openings(path: Path) -> Iterator[str]:
    """What in a file opens something by its path or number."""
    for node in nodes(path.read_text("utf-8")):
        match node:
            case ast.Call(func=ast.Name(id="open" | "FileIO")):
                yield ast.unparse(node)
            case ast.Call(func=ast.Attribute(attr=name)) if name in OPENS:
                yield ast.unparse(node)
            case _:
                pass


def test_every_other_opening_of_a_file_has_a_reason() -> None:
    found = {
        f"{path.relative_to(ROOT).as_posix()}: {opening}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.relative_to(ROOT).as_posix() != THE_READER
        for opening in openings(path)
    }
    assert found == set(ALLOWED), "read through ledger/store/disk.py, or say here why not"


def test_the_search_finds_what_opens_a_file(tmp_path: Path) -> None:
    for text in ("open('x')", "p.open()", "p.read_bytes()", "io.open(p)", "os.open(p, 0)", "np.memmap(p)"):
        (tmp_path / "one.py").write_text(text)
        assert list(openings(tmp_path / "one.py")) == [text]
    (tmp_path / "one.py").write_text("read_plain(p, 10)\nopened()\n")
    assert not list(openings(tmp_path / "one.py"))
