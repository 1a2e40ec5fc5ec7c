"""Playing of one job: its run is opened or resumed, and driven until it ends or has to wait.

The same function serves a process of this machine and a worker of a cluster. Where the worker does not share the
study's directory, the run is played in a directory of the worker's own and comes back as an archive.
"""

from __future__ import annotations

import io
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from ledger.result import Result
from ledger.store.disk import plain_file
from ledger.store.failures import DriverBusy, LedgerError
from moot.app import running
from moot.app.consent import bench_for
from moot.app.seats import SeatChoice, make_seats
from moot.app.session import Session
from moot.environment import FIXED
from moot.errors import MootError, usage
from rounds.setup.deliberation import parse
from rounds.setup.opening import Programs, cast_roles
from rounds.setup.toml_file import DeliberationError

if TYPE_CHECKING:
    from roles.seats.port import Seat

SHARED: Final = "shared"
RETURNED: Final = "returned"
DETAIL_MAX: Final = 4_000
"""Most characters of a job's detail: its file is read up to a limit."""
DROPPED: Final = ("lock", "driver")
"""Files of a run that have a meaning only on the machine where it was played."""


@dataclass(frozen=True, slots=True)
class Task:
    """All that a worker needs. `store`: `shared` (the worker sees `directory`), `returned` (the archive comes back with
    the result), or the address of a directory that fsspec knows, where the archive is put."""

    name: str
    directory: str
    toml: str
    seats: str
    documents: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    experiments: bool = False
    instant: str | None = None
    store: str = SHARED


class JobEnd(Result, frozen=True):
    """End of a job.

    `busy`: another process drives its run; `broken`: it could not be started, or its ledger is damaged.
    """

    name: str
    state: Literal["finished", "waiting", "paused", "stopped", "failed", "busy", "broken"]
    reason: str | None = None
    detail: str = ""


def play(task: Task) -> tuple[JobEnd, bytes]:
    """Play a job; return its end, and its run as an archive where it has to be sent back.

    Raises only for faults of moot itself.
    """
    if task.store == SHARED:
        return _played(task, Path(task.directory)), b""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        played = _played(task, place)
        # Packed in every state: a run that waits is resumed from its archive as well.
        archive = packed(place / task.name) if (place / task.name / "head").is_file() else b""
    if task.store == RETURNED or not archive:
        return played, archive
    with opened_address(archive_at(task.store, task.name), "wb") as file:
        file.write(archive)
    return played, b""


def _played(task: Task, directory: Path) -> JobEnd:
    # A context variable and no global: threads of a Ray actor play several jobs at once.
    word = FIXED.set(task.instant)
    try:
        session, seats = _opened(task, directory / task.name)
        # A run that came with the study may say `on` where the study does not, and the person's word is for the study.
        bench = running.bench_of(session, None) if task.experiments else None
        end = running.driven(session, seats, bench=bench)
    # A host or another worker drives this run: it is left to them, and looked at again later.
    except DriverBusy:
        return JobEnd(name=task.name, state="busy")
    except MootError as error:
        # A failed seat is a result of the arm; any other error means that the job never ran.
        failed = error.code == "seat_failed"
        return JobEnd(
            name=task.name, state="failed" if failed else "broken", reason=error.code, detail=error.what
        )
    except (LedgerError, DeliberationError, OSError) as error:
        return JobEnd(name=task.name, state="broken", reason=type(error).__name__, detail=str(error))
    finally:
        FIXED.reset(word)
    # A study never asks for a pause, so a paused run was stopped from outside.
    state = "stopped" if end.state == "paused" else end.state
    return JobEnd(name=task.name, state=state, reason=end.reason, detail=end.detail)


def _opened(task: Task, path: Path) -> tuple[Session, Mapping[str, Seat]]:
    """Return the run, opened if it does not exist yet, and its seats."""
    # A run that was begun keeps its opening, whatever the study file says now.
    if (path / "head").is_file():
        session = Session(path)
        return session, make_seats(dict.fromkeys(session.state.roles, task.seats))
    deliberation = parse(task.toml.encode(), "the study")
    # Consent was asked once for the whole study, before any worker was started.
    choice = SeatChoice(task.seats, {}, commands=True)
    seats = choice.build(choice.seats(cast_roles(deliberation, "the study"), {}))
    programs = Programs("on", bench_for(None).environment.interpreter) if task.experiments else None
    session = running.open_deliberation(
        deliberation, seats, path, documents=task.documents, name="the study", experiments=programs
    )
    return session, seats


def packed(run: Path) -> bytes:
    """Return a run as an archive that depends on nothing but its bytes."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz", compresslevel=6) as archive:
        for path in sorted(run.rglob("*")):
            # A lock or a driver's mark of another machine would block this one.
            if path.is_file() and path.name not in DROPPED:
                # A fresh entry has no owner, time or mode of this machine, so equal runs give equal archives.
                entry = tarfile.TarInfo(path.relative_to(run).as_posix())
                entry.size, entry.mode = path.stat().st_size, 0o644
                with plain_file(path) as file:
                    archive.addfile(entry, file)
    return content.getvalue()


def unpacked(archive: bytes, run: Path) -> None:
    """Put a run in its place, all or nothing. Raises `tarfile.TarError` and `OSError`."""
    run.parent.mkdir(parents=True, exist_ok=True)
    # In the same directory, because a rename is only atomic within one file system.
    with tempfile.TemporaryDirectory(dir=run.parent, prefix=".") as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as contents:
            # The archive comes from a worker: `data` refuses absolute paths, links out of it and devices.
            contents.extractall(Path(folder) / "run", filter="data")
        (Path(folder) / "run").rename(run)


def archive_at(store: str, name: str) -> str:
    """Return the address of a run's archive in a store."""
    return f"{store.rstrip('/')}/{name}.tar.gz"


def _file_system() -> Any:
    """Return fsspec, which has no type hints. Raises `MootError` where it is not installed."""
    try:
        return import_module("fsspec")
    except ImportError:
        raise usage("fsspec is not installed", "pip install 'fsspec>=2026.1'", "--store") from None


def check_store(store: str) -> None:
    """Raise `MootError` for a word that is not a store, and for an address that cannot be reached from here."""
    if store in (SHARED, RETURNED):
        return
    if "/" not in store:
        raise usage(
            f"no store {store!r}",
            f"say {SHARED}, {RETURNED} or an address such as s3://bucket/path",
            "--store",
        )
    try:
        _file_system().core.url_to_fs(store)
    except (ValueError, ImportError) as error:
        raise usage(
            f"{store} cannot be reached: {error}", "name a directory that fsspec knows", "--store"
        ) from None


def opened_address(address: str, mode: str) -> Any:
    """Open a file at an address that fsspec knows (file, s3, gs, memory …), for use by `with`.

    Raises `MootError` for any other address.
    """
    try:
        return _file_system().open(address, mode)
    except (ValueError, ImportError) as error:
        raise usage(
            f"{address} cannot be opened: {error}", "name a directory that fsspec knows", "--store"
        ) from None


def fetched(store: str, name: str) -> bytes:
    """Return the archive of a run that a worker put at a store."""
    with opened_address(archive_at(store, name), "rb") as file:
        content: bytes = file.read()
    return content


def recorded(played: JobEnd) -> bytes:
    """Return the end of a job as the study keeps it."""
    # A long traceback must not make the record too large to be read again.
    short = msgspec.structs.replace(played, detail=played.detail[:DETAIL_MAX])
    return msgspec.json.format(msgspec.json.encode(short), indent=1)
