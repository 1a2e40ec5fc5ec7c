"""Damaged files of every format that moot reads, at the verbs that read them: no crash, no hang, bounded memory.

A format names a folder of good files, which of them are damaged, and the calls that read them. The same seed damages
the same file in the same way. A call runs in this process, or in one of its own.
"""

from __future__ import annotations

import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from ledger.format.canonical import decode, line_hash
from ledger.store.blobs import blob_line, hash_of
from ledger.store.store import RunStore
from ledger.store.streams import BLOBS
from moot.__main__ import main
from moot.app.session import Session
from moot.errors import BUG
from rounds.experiments.bench import self_test
from tests.campaign.tampering import written
from tests.effort import bounded
from tests.security.doors import READING, Fault, Viewer
from tests.security.hostile_bytes import HOSTILE_JSON, HOSTILE_TOML
from tests.security.mutations import damaged_bytes, damaged_value
from tests.security.sample_files import ROOT, make_samples
from tests.security.strange_runs import Donors, donors, strange

CODES: Final = frozenset({0, 1, 2, 3, 4, 5})
"""Exit codes that a verb may end with."""
CPU_SECONDS_MAX: Final = 5.0
WAIT_SECONDS_MAX: Final = 60
"""How long a call may take on a busy machine before it is ended as a hang."""
PEAK_KIBIBYTES_MAX: Final = 300 * 1024
"""Most memory of a process that runs one call."""
GROWTH_KIBIBYTES_MAX: Final = 200 * 1024
"""Most memory that a call adds to this process, where the modules of the tests are loaded as well."""
CALLS_PER_FILE: Final = 2

Call = tuple[str, ...]


class Format(NamedTuple):
    """A kind of file. Calls run inside the folder.

    In a call FILE stands for the damaged file, RUN for the run of the same name without the ending, and STEP for
    a step that is open in it. `is_input`: the damaged bytes come over standard input.
    """

    name: str
    folder: str
    files: str
    calls: tuple[Call, ...]
    hostile: Mapping[str, bytes] = HOSTILE_JSON
    damage: Callable[[random.Random, bytes], bytes] | None = None
    environment: Mapping[str, str] | None = None
    is_input: bool = False
    has_page: bool = False


def _series_chained_anew(rng: random.Random, content: bytes) -> bytes:
    """Return a series whose runs are damaged, with every link between them made anew."""
    series = json.loads(content)
    lines = [json.loads(line) for line in series["lines"]]
    prev, texts = lines[0]["prev"], list[str]()
    for number, line in enumerate(lines):
        changed = damaged_value(rng, line) if number == 0 or rng.random() < 0.3 else line
        text = json.dumps({**changed, "prev": prev}, separators=(",", ":"))
        texts.append(text)
        prev = line_hash(text.encode("utf-8", "surrogatepass"))
    return json.dumps({**series, "lines": texts, "hash": prev}).encode()


def _exchanged_blob(rng: random.Random, run: Path, hostile: Mapping[str, bytes]) -> str:
    """Damage the content of a blob, and chain the ledger anew so that it names what the blob holds now."""
    store = RunStore(run)
    texts = [line.decode() for _, _, line in store.lines()]
    blobs = dict(store.blobs.items())
    old = rng.choice([name for name in sorted(blobs) if name in "".join(texts)])
    content = damage(rng, blobs[old], hostile)
    new = hash_of(content)
    with (run / BLOBS).open("ab") as file:
        file.write(blob_line(content))
    written(run, [decode(text.replace(old, new).encode()) for text in texts])
    return old[:12]


_PLACES: Final = {"RUN": "run", "OTHER": "good", "OUT": "out"}
RUN: Final = (
    *(tuple(_PLACES.get(word, word) for word in form) for form in READING),
    ("list", "."), ("list", ".", "--json"), ("note", "run", "a remark"),
)  # fmt: skip
GOES_ON: Final = (
    ("next", "run"), ("status", "run"), ("run", "--resume", "run", "--no-live"), ("check", "run"),
    ("fork", "run", "--here", "--out", "out"), ("note", "run", "a remark"),
    ("redact", "run", "--secret", "secret.txt", "--reason", "x", "--out", "out"),
    ("redact", "run", "r1.B.action", "--reason", "x", "--out", "out"),
)  # fmt: skip
DELIBERATION: Final = (
    ("run", "FILE", "--dry-run"), ("run", "FILE", "--seats", "host", "--out", "out", "--no-live"),
    ("run", "FILE", "--dry-run", "--json"),
)  # fmt: skip
STUDY: Final = (
    ("study", "status", "."), ("study", "report", "."), ("study", "report", ".", "--keys", "keys.toml"),
    ("study", "run", ".", "--workers", "1", "--limit", "1"), ("next", "."), ("study", "value", "runs"),
    ("study", "report", ".", "--json", "--html", "out.html"),
)  # fmt: skip
_ASK: Final = (
    "run",
    "-q",
    "Ready?",
    "--protocol",
    "single-pass",
    "--seats",
    "host",
    "--out",
    "out",
    "--context",
)
GIT: Final = (
    ("review", "git:HEAD~1..HEAD", "--seats", "host", "--out", "out"),
    (*_ASK, "."), (*_ASK, "git:HEAD~1..HEAD"),
)  # fmt: skip
SHOWN: Final = (
    ("experiment", "show", "run"), ("experiment", "show", "run", "--json"), ("report", "run"),
    ("redact", "run", "--secret", "secret.txt", "--reason", "x", "--out", "out"),
)  # fmt: skip
LEDGER, CONTENTS = "a whole ledger", "a blob and every event that names it"
STREAMS: Final = ("claims.jsonl", "verifications.jsonl", "decisions.jsonl", "head", "blobs.jsonl")

FORMATS: Final[tuple[Format, ...]] = (
    *(Format(f"{name} of a run", "finished", f"run/{name}", RUN, has_page=True) for name in STREAMS),
    Format("ledger chained anew", "finished", LEDGER, RUN, has_page=True),
    *(Format(f"contents chained anew, {folder}", folder, CONTENTS, calls, has_page=True)
      for folder, calls in (("finished", RUN), ("opened", GOES_ON), ("copied", RUN), ("checks", SHOWN))),
    Format("streams of an open run", "opened", "run/*s.jsonl", GOES_ON, has_page=True),
    Format("deliberation.toml of a run", "opened", "run/deliberation.toml", GOES_ON, HOSTILE_TOML),
    Format("spending.jsonl of a run", "opened", "run/spending.jsonl", GOES_ON),
    Format("speech of a run", "opened", "run/speech", (("status", "run"),), has_page=True),
    Format("tape", "tape", "tape/*", (("run", "--resume", "run", "--seats", "tape:tape", "--no-live"),)),
    Format("deliberation file", "question", "question.toml", DELIBERATION, HOSTILE_TOML),
    Format("price list", "question", "prices.toml", (("run", "question.toml", "--dry-run"),), HOSTILE_TOML,
           environment={"MOOT_PRICES": "prices.toml"}),
    Format("document", "question", "facts.md", ((*_ASK, "FILE"),)),
    Format("reply", "replies", "*.json", (("submit", "RUN", "STEP", "FILE"),)),
    Format("standard input", "replies", "*.json", (("submit", "RUN", "STEP"),), is_input=True),
    Format("output of a person's test", "asked", "output.txt",
           (("answer", "run", "C-1-1", "seen", "--holds", "--file", "FILE"),)),
    Format("edited outcome", "finished", "edited.md", (("outcome", "run", "edited", "FILE"),)),
    Format("secrets to redact", "opened", "secret.txt",
           (("redact", "run", "--secret", "FILE", "--reason", "x", "--out", "out"),)),
    Format("import of skill", "skill", "state/**/*", (("import", "skill", "state", "--out", "out"),)),
    Format("import of jugalbandi", "jugalbandi", "*.json", (("import", "jugalbandi", "FILE", "--out", "out"),)),
    Format("study.toml", "study", "study.toml", STUDY, HOSTILE_TOML),
    Format("records of a study", "study", "ends/*.json", STUDY),
    Format("plan of a study", "study", "planned.json", STUDY),
    Format("keys of a study", "study", "keys.toml", STUDY[2:3], HOSTILE_TOML),
    Format("measures of a study", "study", "measures.csv", (STUDY[1], STUDY[-1])),
    Format("runs of a study", "study", "runs/*/*", STUDY),
    Format("parameters", "finished", "parameters.toml",
           (("signals", "run", "--params", "FILE", "--all"), ("signals", "run", "--params", "FILE", "--json")),
           HOSTILE_TOML),
    Format("table of numbers", "table", "table.json",
           (("signals", "--table", "FILE"), ("signals", "--table", "FILE", "--json"))),
    Format("secret key", "sealed", "alice.key", (("seal", "run", "--key", "FILE"),)),
    Format("public key", "sealed", "alice.pub",
           (("verify", "run", "--checkpoint", "seal.note", "--key", "FILE"),)),
    Format("seal", "sealed", "seal.note", (("verify", "run", "--checkpoint", "FILE", "--key", "alice.pub"),)),
    Format("series beside a run", "checks", "run/checks/*.json", SHOWN, has_page=True),
    Format("series chained anew", "checks", "run/checks/*.json", SHOWN, damage=_series_chained_anew),
    Format("git repository", "repository", ".git/**/*", GIT),
)  # fmt: skip
"""Every format but the messages of MCP, which `tests/security/mutated_messages.py` damages."""


class Cases:
    """Damaged files below a folder: good ones are made once, and each case gets a copy."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._here = {"XDG_STATE_HOME": str(folder / "state"), "MOOT_OFFLINE": "1", "MOOT_WATCHED": "1"}
        self._donors: Donors | None = None

    def place(self, name: str) -> Path:
        """Return a fresh copy of the good files of a folder."""
        good, case = self._folder / "good" / name, self._folder / "case"
        if not good.exists():
            make_samples(name, good)
        shutil.rmtree(case, ignore_errors=True)
        return Path(shutil.copytree(good, case, symlinks=True))

    def damaged(self, seed: int, kind: Format) -> tuple[Path, str, bytes]:
        """Damage one file of a format: folder, the file's name in it, and its content now."""
        rng, place = random.Random(f"{kind.name} {seed}"), self.place(kind.folder)
        if kind.files == LEDGER:
            shutil.rmtree(place / "run")
            self._donors = self._donors or donors(self._folder / "donors")
            strange(seed, self._donors, place / "run")
            return place, "run", b""
        if kind.files == CONTENTS:
            return place, f"run, blob {_exchanged_blob(rng, place / 'run', kind.hostile)}", b""
        file = rng.choice([path for path in sorted(place.glob(kind.files)) if path.is_file()])
        content = file.read_bytes()
        changed = kind.damage(rng, content) if kind.damage else damage(rng, content, kind.hostile)
        mode = file.stat().st_mode
        file.chmod(0o600)
        file.write_bytes(changed)
        file.chmod(mode)
        return place, file.relative_to(place).as_posix(), changed

    def tried(self, seed: int, kind: Format, *, in_processes: bool = False) -> tuple[Counter[str], list[str]]:
        """Damage a file and read it: what was counted, and every fault in words."""
        with _environment(self._here):
            return self._tried(seed, kind, in_processes=in_processes)

    def _tried(self, seed: int, kind: Format, *, in_processes: bool) -> tuple[Counter[str], list[str]]:
        place, name, content = self.damaged(seed, kind)
        rng, counts, faults = random.Random(seed), Counter[str](), list[str]()
        calls = rng.sample(kind.calls, min(CALLS_PER_FILE, len(kind.calls)))
        with chdir(place), _environment(kind.environment or {}):
            for form in calls:
                for path in ("out", "out.html"):
                    _removed(Path(path))
                words = _filled(form, name)
                try:
                    stdin = content if kind.is_input else None
                    code = (_in_process if in_processes else _called)(words, stdin)
                except Fault as fault:
                    faults.append(f"{kind.name}, seed {seed}, {name}: moot {' '.join(words)}: {fault}")
                    continue
                counts[f"exit {code}"] += 1
                counts["processes" if in_processes else "calls"] += 1
            if kind.has_page and not in_processes:
                faults += [f"{kind.name}, seed {seed}, {name}: {fault}" for fault in _page_faults(place)]
        return counts, faults


def damage(rng: random.Random, content: bytes, hostile: Mapping[str, bytes]) -> bytes:
    """Return content that is cut, flipped or has other values; one time in ten it is something else altogether."""
    chance = rng.random()
    if chance < 0.1:
        return rng.choice(list(hostile.values()))
    if chance < 0.2:
        return content[: rng.randrange(len(content) + 1)]
    if chance < 0.5:
        return damaged_bytes(rng, content)
    lines = content.split(b"\n")
    number = rng.randrange(len(lines))
    is_line = lines[number].startswith(b"{") and lines[number].endswith(b"}")
    try:
        value = json.loads(lines[number] if is_line else content)
        for _ in range(rng.randint(1, 3)):
            value = damaged_value(rng, value)
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        # Not JSON: TOML, text, or a pack of git.
        return damaged_bytes(rng, content)
    return b"\n".join([*lines[:number], text, *lines[number + 1 :]]) if is_line else text


def _filled(form: Call, name: str) -> Call:
    words = {"FILE": name, "RUN": name.removesuffix(".json")}
    if "STEP" in form:
        words["STEP"] = Session(Path(words["RUN"])).open_ids[0]
    return tuple(words.get(word, word) for word in form)


def _removed(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _environment(more: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _called(words: Call, stdin: bytes | None) -> int:
    """Call moot in this process. Raises `Fault`."""
    out, err = io.StringIO(), io.StringIO()
    # The kernel forgets the peak of the calls before.
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = _kibibytes("VmRSS")
    with _standard_input(stdin), redirect_stdout(out), redirect_stderr(err), _ended_in_time(words):
        code = main([*words])
    grown = _kibibytes("VmHWM") - before
    text = err.getvalue()
    if code not in CODES or "Traceback" in text:
        if code == BUG:
            with _standard_input(stdin), redirect_stdout(out), redirect_stderr(err), suppress(BaseException):
                main([*words, "--debug"])
        raise Fault(f"exit {code}: {err.getvalue()[-1_500:]}")
    if grown > GROWTH_KIBIBYTES_MAX:
        raise Fault(f"{grown} KiB of memory more")
    return code


@contextmanager
def _ended_in_time(words: Call) -> Iterator[None]:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Fault(f"{' '.join(words)}: nothing for {WAIT_SECONDS_MAX} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(WAIT_SECONDS_MAX)
    try:
        with bounded(" ".join(words), CPU_SECONDS_MAX):
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _standard_input(content: bytes | None) -> Iterator[None]:
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(content or b""))
    try:
        yield
    finally:
        sys.stdin = before


def _kibibytes(name: str, process: int | str = "self") -> int:
    text = Path(f"/proc/{process}/status").read_text("ascii")
    return int(text.split(f"{name}:")[1].split()[0])


def _in_process(words: Call, stdin: bytes | None) -> int:
    """Call moot as a process of its own. Raises `Fault`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as file:
        file.write(stdin or b"")
        file.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-m", "moot", *words], env=environment, stdin=file, stdout=out, stderr=err
        )
        peak = _watched(process)
        err.seek(0)
        text = err.read().decode(errors="replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode not in CODES or "Traceback" in text:
        raise Fault(f"process: exit {process.returncode}: {text[-1_500:]}")
    if peak > PEAK_KIBIBYTES_MAX:
        raise Fault(f"process: {peak} KiB of memory")
    if seconds > CPU_SECONDS_MAX:
        raise Fault(f"process: {seconds:.1f} s of processor time")
    return process.returncode


def _watched(process: subprocess.Popen[bytes]) -> int:
    """Wait for a process and return its peak of memory. Raises `Fault` when it does not end."""
    deadline, peak = time.monotonic() + WAIT_SECONDS_MAX, 0
    while time.monotonic() < deadline:
        # Not `ru_maxrss`, which a child takes over from the process that made it.
        with suppress(OSError, IndexError):
            peak = max(peak, _kibibytes("VmHWM", process.pid))
        if process.poll() is not None:
            return peak
        time.sleep(0.005)
    process.kill()
    process.wait()
    raise Fault(f"process: nothing for {WAIT_SECONDS_MAX} seconds")


def _page_faults(place: Path) -> Iterator[str]:
    viewer = Viewer(place)
    for page in ("/", "/run/run", "/run/run/outcome", "/run/run/log"):
        try:
            with bounded(page, CPU_SECONDS_MAX):
                viewer.get(page)
        except Fault as fault:
            yield str(fault)


def tried(folder: Path, seeds: range, *, processes_every: int) -> tuple[Counter[str], list[str]]:
    """Try a damaged file for each seed, of the formats in turn; every so many as a process. Counts and faults."""
    cases, counts, faults = Cases(folder), Counter[str](), list[str]()
    formats = [kind for kind in FORMATS if kind.folder != "checks" or self_test().passed]
    for seed in seeds:
        kind = formats[seed % len(formats)]
        more, broken = cases.tried(seed, kind, in_processes=(seed // len(formats)) % processes_every == 0)
        counts += more
        counts["files"] += 1
        faults += broken
    return counts, faults
