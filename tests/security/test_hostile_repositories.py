"""A stranger's repository is read without starting a program, reaching an address, or believing its attributes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from moot.app.git import files_in, read_change
from moot.errors import MootError

ATTRIBUTES = (
    "* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n*.py -diff\n"
)
FREE_PARTS = ("<name>", "<driver>", "<tool>", "<cmd>", "<remote>", "<url>", "<base>", "<alias>", "*")


def git(place: Path, *words: str) -> str:
    """Run git as the repository's own author would, with settings that start nothing."""
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    ended = subprocess.run(
        ["git", "-c", "user.name=Eve", "-c", "user.email=eve@example.org", "-c", "core.attributesFile=/dev/null",
         "-c", "protocol.file.allow=always", *words],
        cwd=place, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ended.stdout.strip()


def commit(place: Path, **files: str | bytes | None) -> str:
    """Commit files by name (`__` stands for a dot) and return the commit's id."""
    for name, content in files.items():
        path = place / name.replace("__", ".")
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    git(place, "add", "-A", "-f")
    git(place, "commit", "-qm", "a change", "--allow-empty")
    return git(place, "rev-parse", "HEAD")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make a repository with two commits of one file."""
    here = tmp_path / "clone"
    here.mkdir()
    git(here, "init", "-q", "-b", "main")
    commit(here, a__py="first = 1\nsecond = 2\n")
    commit(here, a__py="first = 1\n")
    return here


def every_setting() -> list[str]:
    """Return the names of all settings that the installed git knows, with its free parts filled in."""
    listing = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout
    names = [line for line in listing.splitlines() if "." in line and " " not in line]
    for part in FREE_PARTS:
        names = [name.replace(part, "evil") for name in names]
    return names


def arm(repository: Path, marker: Path) -> None:
    """Name a program that leaves a mark in every setting, attribute and hook of a repository."""
    program = marker.parent / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    control = repository / ".git" if (repository / ".git").is_dir() else repository
    lines = [(control / "config").read_text()]
    for name in (*every_setting(), "filter.evil.process", "diff.evil.textconv", "remote.evil.uploadpack"):
        section, _, key = name.rpartition(".")
        head, _, middle = section.partition(".")
        title = f'[{head} "{middle}"]' if middle else f"[{head}]"
        if key.isidentifier() and head.isidentifier() and (head, key) not in {("core", "bare")}:
            lines.append(f'{title}\n\t{key} = "{program}"')
    lines.append(
        '[extensions]\n\tpartialClone = evil\n[remote "evil"]\n\tpromisor = true\n\turl = http://127.0.0.1:9/x'
    )
    (control / "config").write_text("\n".join(lines) + "\n")
    (control / "info").mkdir(exist_ok=True)
    (control / "info/attributes").write_text(ATTRIBUTES)
    (control / "hooks").mkdir(exist_ok=True)
    for hook in (
        "post-checkout",
        "post-index-change",
        "fsmonitor-watchman",
        "reference-transaction",
        "pre-auto-gc",
    ):
        (control / "hooks" / hook).write_text(program.read_text())
        (control / "hooks" / hook).chmod(0o755)


@pytest.fixture
def armed(place: Path, tmp_path: Path) -> Iterator[Path]:
    """Give the repository everything that can name a program; afterwards none has left its mark."""
    marker = tmp_path / "marks" / "it-ran"
    marker.parent.mkdir()
    git(place, "submodule", "add", "-q", str(place), "inner")
    commit(place, b__txt="added\n")
    bare = place / "looks-like-files"
    git(place, "clone", "-q", "--bare", str(place), str(bare))
    arm(bare, marker)
    arm(place, marker)
    (place / "inner/.git").rename(place / "inner/.git-file")
    (place / ".gitattributes").write_text(ATTRIBUTES)
    assert len(every_setting()) > 300
    yield place
    assert not marker.exists(), "a program that the repository names was started"


def test_no_setting_attribute_or_hook_of_a_repository_starts_a_program(armed: Path) -> None:
    assert Path("a.py") in files_in(armed)
    assert Path("looks-like-files/config") in files_in(armed / "looks-like-files" / "..")
    change = read_change("git:HEAD~1..HEAD", armed)
    assert [file.path for file in change.files] == [".gitmodules", "b.txt", "inner"]
    assert b"+Subproject commit " in change.diff


@pytest.mark.parametrize(
    "words",
    [
        ("run", "-q", "Ready?", "--protocol", "single-pass", "--seats", "host", "--context", "."),
        (
            "run",
            "-q",
            "Ready?",
            "--protocol",
            "single-pass",
            "--seats",
            "host",
            "--context",
            "git:HEAD~1..HEAD",
        ),
        ("review", "git:HEAD~1..HEAD", "--seats", "host"),
    ],
)
def test_a_command_starts_its_own_reader_and_nothing_else(
    armed: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    log = tmp_path / "events.jsonl"
    watcher = (
        "import json, runpy, sys\n"
        f"log = open({str(log)!r}, 'a', buffering=1)\n"
        "watched = ('subprocess.Popen', 'os.exec', 'os.posix_spawn', 'os.system', 'socket.connect')\n"
        "def note(event, arguments):\n"
        "    if event in watched: log.write(json.dumps([event, repr(arguments)]) + '\\n')\n"
        "sys.addaudithook(note)\n"
        f"sys.argv = ['moot', *{[*words, '--out', str(tmp_path / 'run')]!r}]\n"
        "runpy.run_module('moot', run_name='__main__')\n"
    )
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    ended = subprocess.run(
        [sys.executable, "-c", watcher],
        cwd=armed,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 4, ended.stderr
    events = [json.loads(line) for line in log.read_text().splitlines()]
    started = [arguments for event, arguments in events if event == "subprocess.Popen"]
    assert len(started) == 1, started
    assert "moot.app.git_reader" in started[0]
    assert not [event for event, _ in events if event in ("socket.connect", "os.system", "os.exec")]


def test_a_missing_object_of_a_partial_clone_is_explained_and_not_fetched(
    place: Path, tmp_path: Path
) -> None:
    blob = git(place, "rev-parse", "HEAD~1:a.py")
    (place / ".git/objects" / blob[:2] / blob[2:]).unlink()
    arm(place, tmp_path / "it-ran")
    with pytest.raises(MootError, match="partial clone"):
        read_change("git:HEAD~1..HEAD", place)
    assert not (tmp_path / "it-ran").exists()


def test_a_shallow_clone_is_explained(place: Path, tmp_path: Path) -> None:
    git(place, "clone", "-q", "--depth", "1", f"file://{place}", str(tmp_path / "shallow"))
    with pytest.raises(MootError, match="shallow"):
        read_change("git:HEAD~1..HEAD", tmp_path / "shallow")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_owner_is_read(place: Path) -> None:
    for path in (place, *place.rglob("*")):
        os.chown(path, 65534, 65534)
    assert read_change("git:HEAD~1..HEAD", place).files[0].path == "a.py"
    assert files_in(place) == [Path("a.py")]


def test_attributes_that_a_change_adds_hide_nothing_of_it(place: Path) -> None:
    before = git(place, "rev-parse", "HEAD")
    commit(place, a__py="backdoor = True\n", __gitattributes="*.py -diff\n* binary\n")
    change = read_change(f"git:{before}..HEAD", place)
    assert b"-first = 1\n+backdoor = True\n" in change.diff


@pytest.mark.parametrize("name", ["evil\n+++ b other.py", 'quo"te.py', "tab\tname.py", "back\\slash.py"])
def test_no_file_name_can_forge_a_line_of_the_diff(place: Path, name: str) -> None:
    (place / name).write_text("x = 1\n")
    commit(place)
    diff = read_change("git:HEAD~1..HEAD", place).diff
    heads = [line for line in diff.split(b"\n") if line.startswith(b"+++ ")]
    assert len(heads) == 1
    assert heads[0].startswith(b'+++ "b/')


@pytest.mark.parametrize(
    "where", [".git/HEAD", ".git/index", ".git/info/exclude", ".gitignore", ".git/packed-refs"]
)
def test_a_pipe_in_place_of_a_file_blocks_nothing(place: Path, where: str) -> None:
    (place / where).unlink(missing_ok=True)
    os.mkfifo(place / where)
    for read in (lambda: files_in(place), lambda: read_change("git:HEAD~1..HEAD", place)):
        with suppress(MootError):
            read()


def test_an_object_that_unpacks_to_more_than_memory_is_refused(place: Path) -> None:
    blob = git(place, "rev-parse", "HEAD:a.py")
    file = place / ".git/objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    pack = zlib.compressobj(9)
    content = (
        b"".join(pack.compress(part) for part in (b"blob 4000000000\0", *[bytes(1 << 20)] * 1_500))
        + pack.flush()
    )
    file.write_bytes(content)
    with pytest.raises(MootError):
        read_change("git:HEAD~1..HEAD", place)


def test_a_rewrite_of_many_lines_is_compared_in_bounded_time(place: Path) -> None:
    lines = [f"{n % 101}\n" for n in range(60_000)]
    commit(place, a__py="".join(lines))
    commit(place, a__py="".join(reversed(lines)))
    change = read_change("git:HEAD~1..HEAD", place)
    assert change.diff.count(b"\n@@ -") == 1
