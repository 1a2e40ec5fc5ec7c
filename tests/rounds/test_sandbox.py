"""The sandbox, with real programs in it; where this machine has none the tests are skipped.

Of `rounds/experiments/bubblewrap.py`, `rounds/experiments/probe.py`, `rounds/experiments/seccomp.py`,
`rounds/experiments/usage.py`.
"""

# ruff: noqa: E501  # a program a line
from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from rounds.experiments import bubblewrap
from rounds.experiments.bench import LIMITS, PROBE, NoSandbox, bench_here, self_test
from rounds.experiments.sandbox import Job, Limits, SandboxBroken, SandboxRun, run_job
from rounds.experiments.usage import ControlGroup, Usage, control_group, is_alive, usage_of
from tests.rounds.experimenting import sandbox_or_skip

pytestmark = pytest.mark.slow  # real programs, each behind walls of its own

MEBIBYTE: Final = 2**20
Command = Callable[..., list[str]]


def leaking(launcher: Sequence[str], files: Mapping[str, int], *more: Any) -> list[str]:
    """No walls at all: exactly what must never be used."""
    work = Path(tempfile.mkdtemp(prefix="moot-leaking-"))
    for name, descriptor in files.items():
        work.joinpath(name).write_bytes(os.pread(descriptor, MEBIBYTE, 0))
    environment: Mapping[str, str] = more[1]
    return ["env", "-C", str(work), *(f"{name}={value}" for name, value in environment.items()), *launcher]


def broken(*_: Any) -> list[str]:
    """Walls that cannot be built."""
    return ["sh", "-c", "echo 'no permission to build walls' >&2; exit 1"]


@pytest.fixture(scope="module")
def sandbox() -> None:
    sandbox_or_skip()


@pytest.fixture
def walls(monkeypatch: pytest.MonkeyPatch) -> Callable[[Command], None]:
    """Put other walls in the place of bubblewrap's."""
    monkeypatch.setattr(bubblewrap, "version", lambda: "0.8.0")
    return lambda command: monkeypatch.setattr(bubblewrap, "command", command)


def program(text: str, *words: str, limits: Limits | None = None, seed: int = 0) -> Job:
    files = {"program.py": text.encode(), "in.txt": b"given"}
    return Job(("python3", "program.py", *words), files, seed, limits or Limits(wall_seconds=30))


def test_the_probe_gets_through_in_the_open(tmp_path: Path) -> None:
    """A self-test whose attempts cannot succeed anywhere would prove nothing."""
    secret = tmp_path / "secret.txt"
    secret.write_text("x")
    work = tmp_path / "work"
    work.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        given = {
            "port": listener.getsockname()[1],
            "secret": str(secret),
            "homes": [str(tmp_path)],
            "checkout": str(PROBE.parent),
            "parent": os.getpid(),
            "variables": ["A_TOKEN"],
            "memory": 16 * MEBIBYTE,
            "file": MEBIBYTE,
            "processes": 2,
            "cpu": 10,
        }
        (work / "given.json").write_text(json.dumps(given))
        environment = {"A_TOKEN": "1", "PATH": os.environ["PATH"]}
        words = [sys.executable, str(PROBE)]
        said = subprocess.run(words, cwd=work, env=environment, capture_output=True, check=True)
    tried: Mapping[str, bool] = json.loads(said.stdout)
    through = {name for name, got_through in tried.items() if got_through}
    # Whether these four succeed in the open depends on who runs the tests, and in what.
    assert through >= set(tried) - {"writes_outside", "privileges", "other_processes", "kernel_settings"}


def test_walls_that_leak_or_cannot_be_built_are_never_used(
    walls: Callable[[Command], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # For root in the open the kernel bounds no processes; the probe shall live to the end of its attempts.
    monkeypatch.setattr("rounds.experiments.sandbox.OUR_PROCESSES", 50)
    walls(leaking)
    test = self_test()
    assert not test.passed
    assert {"network", "secret_file"} <= set(test.escaped)
    assert "does not hold" in test.text
    walls(broken)
    assert self_test().text == "bubblewrap 0.8.0 cannot be used: no permission to build walls"
    with pytest.raises(NoSandbox, match="no permission to build walls"):
        bench_here()


def test_a_missing_bubblewrap_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert self_test().text == "bubblewrap is not installed"
    assert "bubblewrap" in self_test().fix


@pytest.mark.usefixtures("sandbox")
def test_a_program_gives_its_code_its_words_and_its_files() -> None:
    text = "import sys; open('made.txt', 'w').write('made'); print(sys.argv[1:], open('in.txt').read()); sys.exit(3)"
    found = run_job(program(text, "$HOME", "; ls"))
    assert (found.ended, found.exit, found.signal) == ("exit", 3, None)
    assert found.stdout.kept == b"['$HOME', '; ls'] given\n"  # no shell reads the words


@pytest.mark.usefixtures("sandbox")
def test_the_seed_decides_what_a_hash_is() -> None:
    said = [run_job(program("print(hash('a'))", seed=seed)).stdout.kept for seed in (1, 1, 2)]
    assert said[0] == said[1] != said[2]


@pytest.mark.usefixtures("sandbox")
def test_output_is_capped_and_the_hash_is_that_of_the_whole() -> None:
    found = run_job(program("print('x' * 99_999)", limits=Limits(kept_bytes=10)))
    whole = b"x" * 99_999 + b"\n"
    assert found.stdout.kept == whole[:10]
    assert (found.stdout.length, found.stdout.sha256) == (len(whole), hashlib.sha256(whole).hexdigest())


BEYOND: Final = {
    "wall": ("import time; time.sleep(99)", Limits(wall_seconds=1)),
    "output": ("while True: print('x' * 9999)", Limits(out_bytes=MEBIBYTE)),
    "memory": (
        "import os, time\nfor _ in range(4): os.fork()\ntaken = b'x' * (40 * 2**20)\ntime.sleep(20)",
        Limits(memory_bytes=200 * MEBIBYTE),
    ),
    "disk": (
        # A full disk is an error of the program's; it goes on, so that a watcher on a busy machine sees it too.
        "import time\ntry:\n  for n in range(64): open(f'f{n}', 'wb').write(b'x' * 2**20)\nexcept OSError: pass\n"
        "time.sleep(20)",
        Limits(disk_bytes=4 * MEBIBYTE),
    ),
}


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("limit", BEYOND)
def test_a_program_beyond_a_limit_is_ended(limit: str) -> None:
    text, limits = BEYOND[limit]
    found: SandboxRun = run_job(program(text, limits=limits))
    assert (found.ended, found.exit) == (limit, None)


@pytest.mark.usefixtures("sandbox")
def test_a_program_that_never_stops_computing_or_writing_gets_a_signal() -> None:
    spun = run_job(program("while True: pass", limits=Limits(cpu_seconds=1)))
    assert (spun.ended, spun.signal) in {("signal", signal.SIGXCPU), ("signal", signal.SIGKILL)}
    text = (
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); open('big', 'wb').write(b'x' * 2**21)"
    )
    wrote = run_job(program(text, limits=Limits(file_bytes=MEBIBYTE)))
    assert (wrote.ended, wrote.signal) == ("signal", signal.SIGXFSZ)


@pytest.mark.usefixtures("sandbox")
def test_a_fork_bomb_ends() -> None:
    text = "import os\nwhile True: os.fork()"
    found = run_job(program(text, limits=replace(LIMITS, wall_seconds=10)))
    assert found.ended in {"exit", "processes", "wall", "memory"}
    assert found.exit != 0


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/b", "", ".hidden", "x" * 101])
def test_a_file_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValueError, match="plain file name"):
        run_job(Job(("python3",), {name: b""}))


@pytest.mark.parametrize("word", ["no-such-program", "/bin/ls", "./not-given"])
def test_a_program_that_is_not_there_is_not_started(word: str) -> None:
    with pytest.raises(SandboxBroken, match="neither a file of the experiment nor a program"):
        run_job(Job((word,)))


def test_walls_that_do_not_stand_start_nothing(walls: Callable[[Command], None]) -> None:
    walls(broken)
    with pytest.raises(SandboxBroken, match="no permission to build walls"):
        run_job(Job(("python3", "-c", "1")))


IN_MANY: Final = "import os, time\nfor _ in range(3): os.fork()\ntaken = b'x' * (40 * 2**20)\ntime.sleep(20)"
PEAKS: Final = ("memory.peak", "memory.max_usage_in_bytes")


@pytest.mark.usefixtures("sandbox")
def test_memory_in_many_processes_is_watched_where_there_is_no_control_group(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rounds.experiments.sandbox.control_group", lambda _: None)
    limits = Limits(memory_bytes=200 * MEBIBYTE)
    assert run_job(program(IN_MANY, limits=limits)).ended == "memory"
    waits = "import os, time\nfor _ in range(3): os.fork()\ntaken = b'x' * (10 * 2**20)\ntime.sleep(0.3)"
    assert run_job(program(waits, limits=limits)).ended == "exit"


@pytest.mark.usefixtures("sandbox")
def test_a_program_close_to_its_limit_stands_still_while_it_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look at many processes takes long, and on a busy machine longer; what grows meanwhile would be beyond."""
    growth: list[int] = []

    def pages(pids: Iterable[int]) -> int:
        """The sum alone: on a busy machine a look takes upper bounds for the rest."""
        texts = (Path(f"/proc/{pid}/status").read_text() for pid in pids if is_alive(pid))
        return sum(int(found[1]) for text in texts for found in re.finditer(r"RssAnon:\s*(\d+)", text))

    def slow(pid: int, work: str, *, is_exact: bool = False) -> Usage:
        seen = usage_of(pid, work, is_exact=is_exact)
        if is_exact:
            before = pages(seen.pids)
            time.sleep(0.1)
            growth.append(pages(seen.pids) - before)
        return seen

    monkeypatch.setattr("rounds.experiments.sandbox.control_group", lambda _: None)
    monkeypatch.setattr("rounds.experiments.sandbox.usage_of", slow)
    text = "import os, time\nfor _ in range(3): os.fork()\nkept = []\nwhile True:\n    kept.append(b'x' * 2**18)\n    time.sleep(0.001)"
    run = run_job(program(text, limits=Limits(wall_seconds=30, memory_bytes=200 * MEBIBYTE)))
    assert run.ended == "memory"
    assert growth
    assert max(growth) <= 0  # less, where a process ends


def test_a_control_group_holds_memory_exactly_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    first = control_group(MEBIBYTE)
    if first is None:
        pytest.skip("no control group can be made here")
    first.remove()
    groups: list[ControlGroup] = []
    peaks: list[int] = []

    def remove(group: ControlGroup) -> None:
        groups.append(group)
        beside = group.entrance.parent
        peak = next(beside / name for name in PEAKS if (beside / name).exists())
        peaks.append(int(peak.read_text()))
        removed(group)

    removed = ControlGroup.remove
    monkeypatch.setattr(ControlGroup, "remove", remove)
    limits = Limits(memory_bytes=200 * MEBIBYTE)
    assert run_job(program(IN_MANY, limits=limits)).ended == "memory"
    # The kernel kills the child, and its parent would end as if nothing had happened.
    child = (
        "import os\nif os.fork() == 0:\n    kept = [b'x' * 2**20 for _ in range(170)]\n    os._exit(0)\n"
        "kept = b'x' * (100 * 2**20)\nos.wait()"
    )
    assert run_job(program(child, limits=limits)).ended == "memory"
    assert run_job(program("print(len(b'x' * (100 * 2**20)))", limits=limits)).ended == "exit"
    assert max(peaks) <= 1.1 * limits.memory_bytes
    assert not [group for group in groups if group.entrance.exists()]


def hierarchy(folder: Path, kind: str, own: str) -> dict[str, Path]:
    """Files that look like the hierarchy of control groups and what a process is told of it."""
    names = {"root": folder / "cgroup", "mounts": folder / "mounts", "own": folder / "own"}
    (names["root"] / own.lstrip("/")).mkdir(parents=True)
    options = "rw" if kind == "cgroup2" else "rw,memory"
    names["mounts"].write_text(f"tmpfs /tmp tmpfs rw 0 0\n{kind} {names['root']} {kind} {options} 0 0\n")
    line = f"0::{own}\n" if kind == "cgroup2" else f"4:memory:{own}\n0::/elsewhere\n"
    names["own"].write_text(f"8:pids:/other\n{line}")
    return names


@pytest.mark.parametrize("kind", ["cgroup", "cgroup2"])
@pytest.mark.parametrize("delegated", ["", "user/app", "user"])
def test_a_group_is_made_where_the_hierarchy_was_delegated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, delegated: str
) -> None:
    """Without root's rights: below moot's own group, or beside it; never where moot may not enter it."""
    names = hierarchy(tmp_path, kind, "/user/app")
    monkeypatch.setattr("rounds.experiments.usage.MOUNTS", names["mounts"])
    monkeypatch.setattr("rounds.experiments.usage.OWN", names["own"])
    assert control_group(MEBIBYTE) is None
    place = names["root"] / delegated
    (place / "cgroup.procs").write_text("")
    group = control_group(MEBIBYTE)
    assert group is not None
    assert group.entrance.parent.parent == place
    names["own"].write_text(f"4:memory:/../{tmp_path.name}\n0::/../{tmp_path.name}\n")
    (tmp_path / "cgroup.procs").write_text("")
    outside = control_group(MEBIBYTE)  # a group beyond a container's own namespace
    assert outside is None or outside.entrance.parent.parent == names["root"]


@pytest.mark.parametrize("kind", ["cgroup", "cgroup2"])
def test_groups_that_a_killed_moot_left_behind_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Only empty groups of owners that are gone, and only by the process numbers of one namespace."""
    names = hierarchy(tmp_path, kind, "/user/app")
    monkeypatch.setattr("rounds.experiments.usage.MOUNTS", names["mounts"])
    monkeypatch.setattr("rounds.experiments.usage.OWN", names["own"])
    (names["root"] / "cgroup.procs").write_text("")
    gone = subprocess.Popen(["true"])
    gone.wait()
    namespace = os.stat("/proc/self/ns/pid").st_ino
    for name in (
        abandoned := f"moot-{namespace}-{gone.pid}-0",
        in_use := f"moot-{namespace}-{gone.pid}-1",
        alive := f"moot-{namespace}-{os.getppid()}-0",
        elsewhere := f"moot-{namespace + 1}-{gone.pid}-0",
        other := "system.slice",
    ):
        (names["root"] / name).mkdir()
    (names["root"] / in_use / "below").mkdir()  # as little to be removed as a group with processes
    assert control_group(MEBIBYTE) is not None
    left = {path.name for path in names["root"].iterdir() if path.is_dir()}
    assert abandoned not in left
    assert {in_use, alive, elsewhere, other} < left


ORDINARY: Final = {
    "processes": "from multiprocessing import Process, Queue\nq = Queue(); p = Process(target=q.put, args=(3,)); p.start(); print(q.get()); p.join()",
    "a pool": "from concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(4) as pool: print(sum(pool.map(abs, range(4))))",
    "asyncio": "import asyncio\nasync def main():\n    p = await asyncio.create_subprocess_exec('echo', '3', stdout=-1); print((await p.communicate())[0].decode().strip())\nasyncio.run(main())",
    "sqlite": "import sqlite3\nd = sqlite3.connect('x.db'); d.execute('pragma journal_mode=wal'); d.execute('create table t(a)'); d.executemany('insert into t values(?)', [(n,) for n in range(3)]); d.commit(); print(d.execute('select count(*) from t').fetchone()[0])",
    "a mapped file": "import mmap\nf = open('f', 'w+b'); f.truncate(4096); m = mmap.mmap(f.fileno(), 0); m[0:1] = b'3'; m.flush(); print(open('f').read(1))",
    "shared values": "from multiprocessing import Value, shared_memory\ns = shared_memory.SharedMemory(create=True, size=9); s.buf[0] = Value('i', 3).value; print(s.buf[0]); s.close(); s.unlink()",
    "a shell": "import subprocess\nprint(subprocess.run('seq 3 | tail -1', shell=True, capture_output=True, text=True).stdout.strip())",
    "a local server": "import socket, threading\ns = socket.socket(socket.AF_UNIX); s.bind('s'); s.listen()\nthreading.Thread(target=lambda: s.accept()[0].send(b'3')).start()\nc = socket.socket(socket.AF_UNIX); c.connect('s'); print(c.recv(1).decode())",
    "a temporary file": "import os, tempfile\nwith tempfile.NamedTemporaryFile('w+') as f: f.write('3'); f.flush(); os.fsync(f.fileno()); print(open(f.name).read())",
}  # fmt: skip


@pytest.mark.usefixtures("sandbox")
@pytest.mark.parametrize("name", ORDINARY)
def test_what_ordinary_programs_do_works_inside(name: str) -> None:
    result = run_job(program(ORDINARY[name]))
    assert (result.ended, result.exit) == ("exit", 0), result.stderr.kept.decode()
    assert result.stdout.kept.strip() in (b"3", b"6")


@pytest.mark.usefixtures("sandbox")
def test_programs_side_by_side_take_nothing_from_each_other() -> None:
    """The kernel counts processes by user, so each program has one of its own."""
    text = "import os, time\nfor _ in range(25):\n    if os.fork() == 0: break\ntime.sleep(1)"
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run_job, [program(text)] * 4))
    assert [(result.ended, result.exit) for result in results] == [("exit", 0)] * 4
