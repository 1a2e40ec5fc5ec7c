"""A run to read, and runs by name: what a RUN argument refers to, names of new runs, recorded examples, and removal.

Every seat sees the name of its run, and some must never see the question (a challenger sees only the plan). So a
generated name holds no word of it: a date and four letters. Only a person's `--out` may.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from datetime import date
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import moot
from ledger.events import Event
from ledger.plain_text import some
from ledger.state.book import Book
from ledger.state.state import State
from ledger.store.blobs import BlobStore
from ledger.store.disk import real, writing
from ledger.store.failures import DriverBusy, LedgerError, Problem
from ledger.store.lock import DriverLease, locked
from ledger.store.store import RunStore
from ledger.store.streams import FILES, STREAM_FILES
from moot.environment import read_settings
from moot.errors import MootError

if TYPE_CHECKING:
    from ledger.format.canonical import Head
    from moot.run_view import RunView
    from moot.view.claims import ClaimLine, DecisionLine
    from moot.view.outcome import Outcome
    from moot.view.results import RemovedRun
    from rounds.run.outcome import RunQuorum

AnyPath = str | os.PathLike[str]


class Run:
    """A run to read. It never writes, and it reads only what the head vouches for."""

    def __init__(self, path: AnyPath) -> None:
        self.path: Final = Path(path)
        self._store: Final = RunStore(self.path)
        # Raises at once where there is no run, not at the first property that is read.
        self._store.head()
        self._folded: tuple[Head, State] | None = None

    @property
    def head(self) -> Head:
        """Return the last commit."""
        return self._store.head()

    @property
    def book(self) -> Book:
        """Return all events with their state and an index of ids. Raises `StrangeRun` when they do not form a run."""
        return self._store.book()

    @property
    def raw_book(self) -> Book:
        """Return the same without that check, to judge events that may not form a run."""
        return self._store.raw_book()

    @property
    def events(self) -> tuple[Event, ...]:
        """Return all events, in order."""
        return self._store.events()

    @property
    def state(self) -> State:
        """Return the state after the last event, read anew after a commit, without keeping the events."""
        head = self._store.head()
        # Folding a long ledger takes seconds, and pages ask for the state several times between two commits.
        if self._folded is None or self._folded[0] != head:
            self._folded = (head, self._store.state())
        return self._folded[1]

    @property
    def view(self) -> RunView:
        """Return the facts derived from the book; the same object until something is committed."""
        from moot.run_view import RunView

        book = self.book
        # Kept with the book in one atomic step: threads that ask at the same time get the same view.
        view: RunView = book.facts.setdefault("view", RunView(book, str(self.path), self.path))
        return view

    @property
    def claims(self) -> list[ClaimLine]:
        """Return the claims with their lifecycles."""
        from moot.view.claims import claims_of

        return claims_of(str(self.path), self.book).claims

    @property
    def decisions(self) -> list[DecisionLine]:
        """Return the decisions with their grounds."""
        from moot.view.claims import decision_lines

        return decision_lines(self.book)

    @property
    def outcome(self) -> Outcome:
        """Return the outcome: the answer, how sure, why, what would change it, what it needs from a person."""
        return self.view.outcome

    @property
    def quorum(self) -> RunQuorum:
        """Return the declared and the actual quorum, what was lost, and whether a role decided."""
        return self.view.quorum

    @property
    def blobs(self) -> BlobStore:
        """Return the store of prompts, replies and documents, by hash."""
        return self._store.blobs

    def problems(self) -> list[Problem]:
        """Return what is wrong or worth knowing besides the events: blobs, bytes after the head, extra files."""
        from ledger.audit.verify import problems_of

        return problems_of(self._store)

    def stream(self, at: int | None = None) -> Iterator[Event]:
        """Yield all events, or those up to sequence number `at`, one at a time."""
        events = self._store.stream()
        # Lazy, so that an early state of a long run is read without its later events.
        return events if at is None else takewhile(lambda event: event.seq <= at, events)

    def lines(self) -> Iterator[tuple[str, int, bytes]]:
        """Yield stream, line number and line of every event, in order."""
        return self._store.lines()


LAST: Final = "@last"
SHOWN: Final = 5
RUN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
LETTERS: Final = "bcdfghjkmnpqrstvwxz"
"""No vowels, so that no word comes out, and nothing that reads as a digit."""
LETTERS_DRAWN: Final = 4


def find_run(name: str) -> Path:
    """Return the directory of a run, whether or not it holds one. Raises `MootError` with the runs that exist."""
    runs = read_settings().runs
    if name == LAST:
        return _last(runs)
    for path in (Path(name), runs / name):
        if name and path.is_dir():
            return path
    if name and Path(name).exists():
        raise MootError("not_a_run", f"{name!r} is a file", name, "give the directory that holds it")
    raise MootError("not_a_run", f"no run {name!r}", str(runs), _near(name, runs))


def runs_under(runs: Path) -> list[Path]:
    """Return the directories with a ledger below `runs`, the last committed first."""
    # The head is replaced at every commit, so its time of change is that of the last commit.
    heads = [head for pattern in ("*/head", "examples/*/head") for head in runs.glob(pattern)]
    return [
        head.parent for head in sorted(heads, key=lambda head: (-head.stat().st_mtime_ns, head.parent.name))
    ]


def runs_at(place: Path) -> list[Path]:
    """Return a run itself, and of any other directory the runs directly below it."""
    # Sorted by name, which is by date: streaks of runs without a disagreement depend on the order.
    return [place] if (place / "head").is_file() else sorted(head.parent for head in place.glob("*/head"))


def _last(runs: Path) -> Path:
    runs_here = [path for path in runs_under(runs) if path.parent == runs]
    if not runs_here:
        raise MootError("not_a_run", "there is no last run", str(runs), "start one with `moot run`")
    return runs_here[0]


def _near(name: str, runs: Path) -> str:
    from difflib import get_close_matches

    names = [str(path.relative_to(runs)) for path in runs_under(runs)]
    near = get_close_matches(name, names, 1, 0.6)
    if near:
        return f"did you mean {near[0]!r}?"
    if names:
        return f"runs there: {some(names, SHOWN)}"
    return "start one with `moot run`, or give a run's directory"


def drawn() -> str:
    """Return random letters, different for every run."""
    import secrets  # only a new run draws

    return "".join(secrets.choice(LETTERS) for _ in range(LETTERS_DRAWN))


def new_directory(runs: Path, today: date) -> Path:
    """Return a free path such as `runs/2026-03-04-kfmr`."""
    while (path := runs / f"{today.isoformat()}-{drawn()}").exists():
        pass
    return path


def fork_directory(runs: Path, parent: str, change: str) -> Path:
    """Return `storage.r7-without-critic` for a fork of `storage`, with a number appended when that is taken."""
    base = runs / f"{parent}.{change}"
    number, path = 1, base
    while path.exists():
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path


INSTALLED_EXAMPLE: Final = "crux-balance"
"""The recorded run in the wheel: what `moot demo` plays."""


def example_directories() -> list[Path]:
    """Return where examples are searched: the runs in force, `runs` here and in the checkout, the package."""
    package = real(Path(moot.__file__)).parent
    places = (read_settings().runs, Path("runs"), package.parent / "runs", package)
    return list(dict.fromkeys(place / "examples" for place in places))


def examples() -> list[Path]:
    """Return every readable example, finished or not. Of two with one name, the nearer directory wins."""
    by_name: dict[str, Path] = {}
    for directory in example_directories():
        for head in sorted(directory.glob("*/head")):
            by_name.setdefault(head.parent.name, head.parent)
    return list(by_name.values())


def example(name: str) -> Path | None:
    """Return the example with a name; None when it does not exist."""
    return next((path for path in examples() if path.name == name), None)


def finished_examples() -> list[Path]:
    """Return the finished examples: the installed one first, then those with the shortest plan."""
    ranked: list[tuple[bool, int, str, Path]] = []
    for path in examples():
        try:
            state = RunStore(path).book().state
        except LedgerError:
            continue  # `moot doctor` names it, and `moot verify` says what is wrong
        if state.finished and state.opening.origin.type in ("new", "converted"):
            ranked.append((path.name != INSTALLED_EXAMPLE, len(state.opening.plan), path.name, path))
    return [path for *_, path in sorted(ranked)]


HEAD: Final = "head"
LOCK_SECONDS: Final = 2.0


def check_is_run(path: Path) -> None:
    """Refuse a directory that is not a run, a link to one, and one that holds a file moot did not write.

    A person may have opened a run in a directory of other files, so an unknown file stops the removal.
    """
    # Following a link would empty a directory elsewhere and leave the link behind.
    if path.is_symlink():
        raise MootError("not_a_run", "this is a link to a directory", str(path), "name the directory itself")
    names = {entry.name for entry in os.scandir(path)}
    if not (path / HEAD).is_file() or (path / HEAD).is_symlink() or not names & STREAM_FILES:
        raise MootError("not_a_run", "this directory is no run", str(path), "name the directory of a run")
    # Staging files of an interrupted write are moot's own, and are no reason to keep the directory.
    strange = sorted(name for name in names - FILES if Path(name).suffix != ".tmp")
    if strange:
        what = f"the directory also holds {', '.join(strange[:3])}, which moot did not write"
        raise MootError("not_only_a_run", what, str(path), "move it elsewhere first")


def reason_to_keep(path: Path) -> str | None:
    """Return why removing a run needs confirmation; None for a run that is over or unreadable."""
    try:
        # Taking the lease is the only sure sign: a lease file alone may be left over from a crash.
        with DriverLease(path):
            pass
    except DriverBusy:
        return "a process is writing it"
    # A damaged run can be removed: its lease says nothing that would be worth keeping.
    except (LedgerError, OSError):
        return None
    try:
        state = RunStore(path).book().state
    except (LedgerError, OSError, ValueError):
        return None
    return "it waits for replies or a person" if state.life == "running" else None


def remove_run(path: Path) -> RemovedRun:
    """Remove the directory of a run that `check_is_run` accepted. Links inside it are removed, never followed.

    Streams and head go last: until then an interrupted removal leaves a run, which can be removed again.
    """
    from moot.view.results import RemovedRun  # every verb finds runs, and few remove one

    # Listed before the lock is taken, so that a file that appears meanwhile stops the `rmdir`.
    entries = sorted(os.scandir(path), key=lambda entry: (entry.name == HEAD, entry.name in STREAM_FILES))
    with writing(path), locked(path, LOCK_SECONDS):
        for entry in entries:
            # A link to a directory counts as a file here, so only the link is removed.
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            elif entry.name != "lock":
                os.unlink(entry.path)
        # The lock goes only now, while it is held: removed earlier, another process could lock a new file meanwhile.
        (path / "lock").unlink(missing_ok=True)
        path.rmdir()
    return RemovedRun(run=str(path), removed=sorted(entry.name for entry in entries))
