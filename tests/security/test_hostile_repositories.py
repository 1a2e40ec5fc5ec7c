"""A stranger's repository is read without starting a program, reaching an address, or believing its attributes."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from moot.app.inputs import files_in, read_change
from moot.errors import MootError
from tests.slowly import mostly_slow

ATTRIBUTES = (
    "* filter=evil diff=evil merge=evil text eol=crlf ident working-tree-encoding=UTF-16\n*.py -diff\n"
)
NAMES_A_PROGRAM_OR_AN_ADDRESS = """
    alias.evil browser.evil.cmd browser.evil.path bundle.evil.uri core.alternateRefsCommand core.askPass
    core.attributesFile core.editor core.excludesFile core.fsmonitor core.gitProxy core.hooksPath
    core.pager core.sshCommand core.worktree credential.helper credential.evil.helper diff.external
    diff.evil.command diff.evil.textconv diff.tool difftool.evil.cmd difftool.evil.path fetch.bundleURI
    filter.evil.clean filter.evil.process filter.evil.smudge gc.recentObjectsHook gpg.evil.program
    gpg.program gpg.ssh.defaultKeyCommand gpg.ssh.program guitool.evil.cmd hook.evil.command http.proxy
    http.evil.proxy imap.host imap.tunnel include.path init.templateDir instaweb.browser instaweb.httpd
    interactive.diffFilter mailmap.file man.evil.cmd man.evil.path merge.evil.driver
    merge.tool mergetool.evil.cmd mergetool.evil.path pager.diff pager.log pager.show pager.status
    remote.evil.proxy remote.evil.pushurl remote.evil.receivepack remote.evil.uploadpack remote.evil.url
    remote.evil.vcs sendemail.smtpServer sendemail.toCmd sendemail.ccCmd sendemail.headerCmd
    sequence.editor submodule.inner.update submodule.inner.url tar.evil.command trailer.evil.cmd
    trailer.evil.command uploadpack.packObjectsHook url.evil.insteadOf url.evil.pushInsteadOf
    web.browser
""".split()  # noqa: SIM905
"""Settings of git's documentation that name a program, a file of more settings, or an address; free parts are `evil`.

git itself accepts a configuration of these alone, so that the fixture can be tried on it.
"""
HOOKS = """
    applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg
    commit-msg post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive
    post-receive post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite
    sendemail-validate fsmonitor-watchman p4-changelist post-index-change
""".split()  # noqa: SIM905
FREE_PARTS = ("<name>", "<driver>", "<tool>", "<cmd>", "<remote>", "<url>", "<base>", "<alias>", "*")


VALUES = {"include.path": "more", "core.attributesFile": "/dev/null", "core.excludesFile": "/dev/null"}
"""Settings that name a file of settings or of rules, which git would not read if it were the program."""


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


def arm(repository: Path, marker: Path, names: Iterable[str]) -> None:
    """Name a program that leaves a mark in settings, attributes and every hook of a repository."""
    program = marker.parent / "evil.sh"
    program.write_text(f"#!/bin/sh\ntouch {marker}\n")
    program.chmod(0o755)
    control = repository / ".git" if (repository / ".git").is_dir() else repository
    lines = [(control / "config").read_text()]
    for name in names:
        section, _, key = name.rpartition(".")
        head, _, middle = section.partition(".")
        title = f'[{head} "{middle}"]' if middle else f"[{head}]"
        if key.isidentifier() and head.isidentifier() and (head, key) != ("core", "bare"):
            lines.append(f'{title}\n\t{key} = "{VALUES.get(name, program)}"')
    lines.append(
        '[extensions]\n\tpartialClone = evil\n[remote "evil"]\n\tpromisor = true\n\turl = http://127.0.0.1:9/x'
    )
    (control / "config").write_text("\n".join(lines) + "\n")
    (control / "more").write_text(f'[core]\n\tfsmonitor = "{program}"\n')
    (control / "info").mkdir(exist_ok=True)
    (control / "info/attributes").write_text(ATTRIBUTES)
    # An address of objects, for fetching over HTTP without a server of git's.
    (control / "objects/info/http-alternates").write_text("http://127.0.0.1:9/objects\n")
    (control / "hooks").mkdir(exist_ok=True)
    for hook in HOOKS:
        (control / "hooks" / hook).write_text(program.read_text())
        (control / "hooks" / hook).chmod(0o755)


@pytest.fixture(params=["every setting", "programs and addresses"])
def armed(place: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give the repository everything that can name a program; afterwards none has left its mark."""
    names = NAMES_A_PROGRAM_OR_AN_ADDRESS
    if request.param == "every setting":
        names = [*every_setting(), *names]
        assert len(names) > 300
    marker = tmp_path / "marks" / "it-ran"
    marker.parent.mkdir()
    git(place, "submodule", "add", "-q", str(place), "inner")
    commit(place, b__txt="added\n")
    bare = place / "looks-like-files"
    git(place, "clone", "-q", "--bare", str(place), str(bare))
    arm(bare, marker, names)
    arm(place, marker, names)
    (place / "inner/.git").rename(place / "inner/.git-file")
    (place / ".gitattributes").write_text(ATTRIBUTES)
    (place / ".gitmodules").write_text(
        f'[submodule "inner"]\n\tpath = inner\n\turl = ssh://127.0.0.1:9/x\n\tupdate = !{marker.parent}/evil.sh\n'
    )
    (place / ".lfsconfig").write_text("[lfs]\n\turl = http://127.0.0.1:9/lfs\n")
    yield place
    assert not marker.exists(), "a program that the repository names was started"


def test_no_setting_attribute_or_hook_of_a_repository_starts_a_program(armed: Path) -> None:
    assert Path("a.py") in files_in(armed)
    assert Path("looks-like-files/config") in files_in(armed / "looks-like-files" / "..")
    change = read_change("git:HEAD~1..HEAD", armed)
    assert [file.path for file in change.files] == [".gitmodules", "b.txt", "inner"]
    assert b"+Subproject commit " in change.diff


def test_the_same_settings_make_git_itself_start_a_program(place: Path, tmp_path: Path) -> None:
    """A fixture that git refuses as a whole would prove nothing."""
    marker = tmp_path / "marks" / "it-ran"
    marker.parent.mkdir()
    names = [name for name in NAMES_A_PROGRAM_OR_AN_ADDRESS if name != "core.worktree"]
    arm(place, marker, names)
    (place / "a.py").write_text("other = 1\n")
    for words in (["status"], ["diff"], ["checkout", "-q", "-f", "HEAD~1"]):
        subprocess.run(["git", *words], cwd=place, capture_output=True, check=False, timeout=60)
        assert marker.exists(), words
        marker.unlink()


_ASK = ("run", "-q", "Ready?", "--protocol", "single-pass", "--seats", "host", "--context")
COMMANDS = [(*_ASK, "."), (*_ASK, "git:HEAD~1..HEAD"), ("review", "git:HEAD~1..HEAD", "--seats", "host")]


@pytest.mark.slow  # the same without strace is quick, below
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize(
    ("words", "owner"), [*zip(COMMANDS, ("another user", "the reader", "another user"), strict=True)]
)
def test_the_kernel_sees_two_interpreters_and_no_address(
    armed: Path, tmp_path: Path, words: tuple[str, ...], owner: str
) -> None:
    """Traced by the system: `execve` of moot and of its reader, and no socket that is given an address."""
    if owner == "another user":
        if os.geteuid() != 0:
            pytest.skip("only root can give a repository away")
        for path in (armed, *armed.rglob("*")):
            os.chown(path, 65534, 65534, follow_symlinks=False)
    log = tmp_path / "calls.txt"
    calls = "trace=execve,execveat,connect,sendto,sendmsg,sendmmsg,bind"
    ended = subprocess.run(
        ["strace", "-f", "-qq", "-e", calls, "-e", "signal=none", "-o", str(log), sys.executable, "-m", "moot", *words,
         "--out", str(tmp_path / "run")],
        cwd=armed, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "PTRACE_TRACEME" in ended.stderr:
        pytest.skip("processes cannot be traced here")
    assert ended.returncode == 4, ended.stderr
    lines = [line.partition(" ")[2].strip() for line in log.read_text().splitlines()]
    assert [line.split('"')[1] for line in lines if line.startswith("exec")] == [sys.executable] * 2, lines
    assert not [line for line in lines if not line.startswith("exec")], lines


@pytest.mark.parametrize("words", mostly_slow([(words,) for words in COMMANDS], quick=2))
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
    arm(place, tmp_path / "it-ran", [*every_setting(), *NAMES_A_PROGRAM_OR_AN_ADDRESS])
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


@pytest.mark.slow
def test_an_object_that_unpacks_to_more_than_memory_is_refused(place: Path) -> None:
    blob = git(place, "rev-parse", "HEAD:a.py")
    file = place / ".git/objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    pack = zlib.compressobj(9)
    content = (
        b"".join(pack.compress(part) for part in (b"blob 4000000000\0", *[bytes(1 << 20)] * 400))
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


@pytest.mark.slow  # slow by design
def test_files_that_are_slow_to_align_are_shown_as_replaced_once_the_work_is_used_up(place: Path) -> None:
    """Each file is within the limit of lines; together they took a minute, and then nothing was shown."""
    rng = random.Random(1)
    for _ in range(2):
        texts = ("".join(f"{rng.randrange(150)}\n" for _ in range(19_000)) for _ in range(30))
        commit(place, **{f"f{n}__txt": text for n, text in enumerate(texts)})
    change = read_change("git:HEAD~1..HEAD", place)
    assert change.diff.count(b"diff --git") == 30
    assert change.diff.count(b"\n@@ -1,19000 +1,19000 @@") > 20
