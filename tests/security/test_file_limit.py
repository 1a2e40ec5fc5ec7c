"""Programs that make as many files as they can: the kernel stops them near the limit, however seldom moot looks."""

# ruff: noqa: E501  # a program a line
from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

import pytest

from rounds.experiments import bubblewrap, sandbox
from rounds.experiments.bench import self_test
from rounds.experiments.sandbox import Job, Limits, SandboxRun, run_job
from tests.rounds.experimenting import sandbox_or_skip

pytestmark = pytest.mark.slow  # real programs behind real walls

LIMITS: Final = Limits(wall_seconds=30, cpu_seconds=20)
MOST: Final = LIMITS.inodes * 1.1
ORDINARY: Final = 65_533
"""The number of a user that is nobody in particular."""
BEGIN: Final = """
import os
def report():
    stat = os.statvfs('/work')
    os.write(1, b"%d\\n" % (stat.f_files - stat.f_ffree))
def attempt(make):
    for n in range(50_000):
        # Reported on the way: the program may be killed before it can add up.
        if n % 50 == 0: report()
        try: make(n)
        except OSError: pass
"""
GREEDY: Final = {
    "empty files": "attempt(lambda n: os.close(os.open(f'e{n}', os.O_CREAT)))",
    "hard links": "open('f', 'w').close()\nattempt(lambda n: os.link('f', f'l{n}'))",
    "symbolic links": "attempt(lambda n: os.symlink('x', f's{n}'))",
    "directories": "attempt(lambda n: os.mkdir(f'd{n}'))",
    "pipes with names": "attempt(lambda n: os.mkfifo(f'p{n}'))",
    "a deep tree": "def deeper(n):\n    os.mkdir('d')\n    os.chdir('d')\nattempt(deeper)",
    "trees side by side": "attempt(lambda n: os.makedirs(f't{n}/' + '/'.join('abcdefgh')))",
    "a directory that nobody may list": "os.mkdir('d')\nos.chmod('d', 0o300)\nattempt(lambda n: os.close(os.open(f'd/{n}', os.O_CREAT)))",
    "files of several processes": "for _ in range(3): os.fork()\nattempt(lambda n: os.close(os.open(f'{os.getpid()}-{n}', os.O_CREAT)))",
    "files until there is no room": "try:\n    for n in range(50_000): os.close(os.open(f'e{n}', os.O_CREAT))\nexcept OSError: pass\nreport()\nos._exit(0)",
}  # fmt: skip


@pytest.fixture(autouse=True)
def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that is so busy that moot looks at programs only now and then."""
    if "number of files" in sandbox_or_skip().watched:
        pytest.skip("the kernel does not limit the number of files here")
    monkeypatch.setattr(sandbox, "SECONDS_BETWEEN_LOOKS", 0.5)


def greedy(name: str) -> SandboxRun:
    return run_job(Job(("python3", "-c", BEGIN + GREEDY[name]), limits=LIMITS))


def most(run: SandboxRun) -> int:
    return max(map(int, run.stdout.kept.split()))


@pytest.mark.parametrize("name", GREEDY)
def test_no_program_makes_a_tenth_more_files_than_the_limit(name: str) -> None:
    run = greedy(name)
    assert run.ended == "disk", run
    assert LIMITS.inodes < most(run) <= MOST


@pytest.mark.skipif(os.geteuid() != 0, reason="the tests run as an ordinary user already")
def test_the_limit_holds_without_the_rights_of_root(monkeypatch: pytest.MonkeyPatch) -> None:
    if not os.access("/usr/bin/python3", os.X_OK):
        pytest.skip("the system has no Python that everybody may run")
    monkeypatch.setattr(sys, "base_prefix", "/usr")  # root's own Python may lie where no one else may look
    pid = os.fork()
    if pid == 0:
        failed = 1
        try:
            os.setgroups([])
            os.setgid(ORDINARY)
            os.setuid(ORDINARY)
            bubblewrap.limits_files.cache_clear()
            if not bubblewrap.limits_files():
                failed = 2
            else:
                runs = [greedy(name) for name in ("empty files", "hard links", "a deep tree")]
                failed = any(run.ended != "disk" or most(run) > MOST for run in runs)
        finally:
            os._exit(failed)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code == 2:
        pytest.skip("ordinary users may not make a user namespace here")
    assert code == 0


def test_bytes_beyond_the_limit_count_when_the_program_ends_first() -> None:
    text = "try:\n    for n in range(40): open(f'f{n}', 'wb').write(b'x' * 2**21)\nexcept OSError: pass"
    assert run_job(Job(("python3", "-c", text), limits=LIMITS)).ended == "disk"


def test_a_program_within_the_limit_ends_by_itself() -> None:
    text = f"for n in range({LIMITS.inodes - 10}): open(f'f{{n}}', 'w').close()"
    run = run_job(Job(("python3", "-c", text), limits=LIMITS))
    assert (run.ended, run.exit) == ("exit", 0), run


@pytest.mark.parametrize("refusal", ["exit 1", "exec true"])
def test_where_the_mount_is_refused_files_are_watched_and_doctor_says_so(
    monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(bubblewrap, "_covering", lambda *_: ["/bin/sh", "-c", refusal])
    bubblewrap.limits_files.cache_clear()
    try:
        test = self_test()
        assert test.passed
        assert "number of files" in test.watched
        assert "watched, not enforced by the kernel:" in test.text
        assert greedy("directories").ended == "disk"
    finally:
        bubblewrap.limits_files.cache_clear()


def test_the_program_gets_no_rights_and_the_machine_no_mount() -> None:
    text = (
        "import os\nfor line in open('/proc/self/status'):\n"
        "    if line.startswith(('CapEff', 'CapPrm', 'NoNewPrivs', 'Seccomp:')): print(int(line.split()[1], 16))\n"
        "print(oct(os.stat('/work').st_mode), os.path.exists('/sys'), os.listdir('/work'))"
    )
    run = run_job(Job(("python3", "-c", text)))
    assert run.stdout.kept.decode().splitlines() == ["0", "0", "1", "2", "0o40777 False []"]
    assert not [
        line for line in Path("/proc/self/mounts").read_text().splitlines() if line.startswith("moot ")
    ]
