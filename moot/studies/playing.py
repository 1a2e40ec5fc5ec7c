"""Jobs of a study: a run is opened or resumed, and driven until it ends or waits, here or on a cluster.

with LocalEngine(2) as engine:
    engine.submit(task)
    played, archive = engine.next_done()

Processes of this machine and workers of a Ray cluster call the same function. Where the worker does not share the
study's directory, the run is played in a directory of the worker's own and comes back as an archive. No job is lost
with a worker that dies: its jobs are played again, and a run goes on from its ledger.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import tarfile
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, Self

import msgspec

from ledger.result import Result
from ledger.store.disk import plain_file, refuse_link
from ledger.store.failures import DriverBusy, LedgerError
from moot import version
from moot.app.driving import driven
from moot.app.opening import bench_of, open_run_at
from moot.app.seat_specs import choose
from moot.app.seats import bench_for, declared_seats, make_seats
from moot.app.session import Session
from moot.environment import FIXED
from moot.errors import DAMAGED, MootError, usage
from rounds.setup.deliberation import parse
from rounds.setup.opening import Programs, cast_roles, resolve
from rounds.setup.toml_file import DeliberationError

if TYPE_CHECKING:
    from roles.seats.port import Seat


SHARED: Final = "shared"
RETURNED: Final = "returned"
DETAIL_MAX: Final = 4_000
"""Most characters of a job's detail: its file is read up to a limit."""
DROPPED: Final = ("lock", "driver")
"""Files of a run that have a meaning only on the machine where it was played."""
ARCHIVE_BYTES_MAX: Final = 1 << 30
"""Maximum size of a run that a worker sends back, expanded."""


@dataclass(frozen=True, slots=True)
class Task:
    """All that a worker needs.

    `store`: `shared` (the worker sees `directory`), `returned` (the archive comes back with the result), or the
    address of a directory that fsspec knows, where the archive is put.
    """

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
        bench = bench_of(session, None) if task.experiments else None
        end = driven(session, seats, bench=bench)
    # A host or another worker drives this run: it is left to them, and looked at again later.
    except DriverBusy:
        return JobEnd(name=task.name, state="busy")
    except MootError as error:
        if error.code == "interrupted":
            # The study's word to end must not be lost on this worker.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
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
    return JobEnd.from_parts(end, name=task.name, state=state)


def _opened(task: Task, path: Path) -> tuple[Session, Mapping[str, Seat]]:
    """Return the run, opened if it does not exist yet, and its seats."""
    # It would lead out of a study that came from another person.
    refuse_link(path)
    # A run that was begun keeps its opening, whatever the study file says now.
    if (path / "head").is_file():
        session = Session(path)
        return session, make_seats(dict.fromkeys(session.state.roles, task.seats))
    deliberation = parse(task.toml.encode(), "the study")
    # Consent was asked once for the whole study, before any worker was started.
    seats = make_seats(choose(cast_roles(deliberation, "the study"), task.seats, {}, {}))
    programs = Programs("on", bench_for(None).environment.interpreter) if task.experiments else None
    opening = resolve(
        deliberation,
        task.documents,
        moot=version(),
        name="the study",
        seats=declared_seats(seats),
        experiments=programs,
    )
    return open_run_at(path, opening, seats), seats


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
    """Put a run in its place, all or nothing. Raises `MootError` for bytes that `packed` did not write."""
    run.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=run.parent, prefix=".") as folder:
        place = Path(folder) / "run"
        try:
            # A store can hold anything, and a few kilobytes may expand to a full disk. 31: with a header of gzip.
            stream = zlib.decompressobj(31)
            content = stream.decompress(archive, ARCHIVE_BYTES_MAX)
            if not stream.eof:
                raise tarfile.TarError(f"it breaks off, or expands to more than {ARCHIVE_BYTES_MAX:,} bytes")
            with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as entries:
                if strange := next((entry.name for entry in entries if not entry.isreg()), None):
                    raise tarfile.TarError(f"{strange} is no plain file")
                # `data` refuses absolute paths and names that lead out of the directory.
                place.mkdir()
                entries.extractall(place, filter="data")
            place.rename(run)  # `place` is in the same file system, or this would not be atomic
        except (tarfile.TarError, zlib.error, OSError, ValueError) as error:
            what = f"the archive of a run cannot be unpacked: {error}"
            raise MootError("damaged", what, run.name, "play the job again", DAMAGED) from None


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
        return bytes(file.read())


def recorded(played: JobEnd) -> bytes:
    """Return the end of a job as the study keeps it."""
    # A long traceback must not make the record too large to be read again.
    short = msgspec.structs.replace(played, detail=played.detail[:DETAIL_MAX])
    return msgspec.json.format(msgspec.json.encode(short), indent=1)


TRIES: Final = 3
"""Attempts at a job whose worker dies."""
THREADS: Final = 16
"""Jobs that one Ray actor plays at a time: seats over a network mostly wait."""
RESTART_SECONDS: Final = 60.0
"""Time that Ray has to restart an actor that died."""
LOOK_SECONDS: Final = 0.5
INSTALL: Final = "pip install 'ray>=2.50'"
Done = tuple[JobEnd, bytes]


class Engine(Protocol):
    """An executor of jobs; `capacity` is the number of jobs at a time."""

    capacity: int

    def submit(self, task: Task) -> None:
        """Start a job."""
        ...

    def next_done(self) -> Done:
        """Wait for a job that ends, and return its result."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class LocalEngine:
    """Processes of this machine, which share nothing with this one."""

    def __init__(self, workers: int, address: str | None = None) -> None:  # noqa: ARG002
        self.capacity = workers
        self._tried: Counter[str] = Counter()
        self._open: dict[Future[Done], Task] = {}
        self._again: list[Task] = []
        self._pool = self._new_pool()

    @property
    def processes(self) -> list[int]:
        """Return the process id of every worker that has started."""
        return list(self._pool._processes or {})

    def _new_pool(self) -> ProcessPoolExecutor:
        # `spawn`: a forked process would inherit locks and connections of this one in an unknown state.
        return ProcessPoolExecutor(self.capacity, mp_context=get_context("spawn"))

    def submit(self, task: Task) -> None:
        """Start a job."""
        self._tried[task.name] += 1
        try:
            self._open[self._pool.submit(play, task)] = task
        except BrokenProcessPool:
            self._pool = self._new_pool()
            self._open[self._pool.submit(play, task)] = task

    def next_done(self) -> Done:
        """Wait for a job that ends.

        A process that dies breaks the pool: its jobs are started again in a new one.
        """
        while True:
            done, _ = wait(self._open, return_when=FIRST_COMPLETED)
            # One at a time: the caller starts the next job as soon as one has ended.
            future = next(iter(done))
            task = self._open.pop(future)
            try:
                return future.result()
            except BrokenProcessPool:
                if self._tried[task.name] >= TRIES:
                    return died(task)
                self.submit(task)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes:  # an interrupt ends them at once
            # SIGTERM lets the worker end the programs of its seats; waiting for the job could take hours.
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        self._pool.shutdown(wait=True, cancel_futures=True)


class RayEngine:
    """Actors of a Ray cluster, or of a Ray that is started here; `capacity` jobs over actors of 16 threads each."""

    def __init__(self, workers: int, address: str | None = None) -> None:
        try:
            self._ray: Any = import_module("ray")
        except ImportError:
            raise usage("Ray is not installed", INSTALL, "--engine ray") from None
        # A Ray that the caller has started is used, and left running.
        self._is_mine = not self._ray.is_initialized()
        if self._is_mine:
            try:
                self._ray.init(
                    address=address, log_to_driver=False, include_dashboard=False, logging_level=logging.ERROR
                )
            except (ConnectionError, RuntimeError, ValueError) as error:
                what = f"no Ray cluster answers at {address}" if address else "Ray could not be started here"
                raise usage(f"{what}: {error}", "see `ray status`", "--address") from None
        self.capacity = workers
        threads = min(THREADS, workers)
        # No CPU is reserved, because jobs wait for replies; Ray restarts an actor as often as it dies.
        settings: Any = {"num_cpus": 0, "max_concurrency": threads, "max_restarts": -1}
        self._worker: Any = self._ray.remote(**settings)(_Worker)
        self._actors = [self._worker.remote() for _ in range(-(-workers // threads))]
        self._busy: Counter[int] = Counter()
        self._tried: Counter[str] = Counter()
        self._open: dict[Any, tuple[Task, int]] = {}

    def submit(self, task: Task) -> None:
        """Start a job on the actor that has the fewest."""
        self._tried[task.name] += 1
        # Jobs take very different times, so dealing them in turn would leave actors idle.
        number = min(range(len(self._actors)), key=lambda n: self._busy[n])
        self._busy[number] += 1
        self._open[self._actors[number].play.remote(task)] = (task, number)

    def next_done(self) -> Done:
        """Wait for a job that ends; a job whose actor died is started again."""
        while True:
            (ready, *_), _ = self._ray.wait(list(self._open), num_returns=1)
            task, number = self._open.pop(ready)
            self._busy[number] -= 1
            try:
                end: Done = self._ray.get(ready)
                return end
            # A lost actor is not the job's fault: its run goes on from the ledger.
            except self._ray.exceptions.RayActorError:
                if self._tried[task.name] >= TRIES:
                    return died(task)
                self._wait_for(number)
                self.submit(task)

    def _wait_for(self, number: int) -> None:
        """Wait until an actor that died is back: a job given to it earlier fails at once, and counts as an attempt.

        If Ray does not restart it in time, a new actor takes its place.
        """
        until = time.monotonic() + RESTART_SECONDS
        while time.monotonic() < until:
            try:
                self._ray.get(self._actors[number].process.remote(), timeout=RESTART_SECONDS)
            except (self._ray.exceptions.RayActorError, self._ray.exceptions.GetTimeoutError):
                time.sleep(LOOK_SECONDS)
            else:
                return
        self._actors[number] = self._worker.remote()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for actor in self._actors:
            with suppress(Exception):  # an actor that is gone needs no end
                self._ray.kill(actor)
        if self._is_mine:
            self._ray.shutdown()


ENGINES: Final[Mapping[str, Callable[[int, str | None], Engine]]] = {"local": LocalEngine, "ray": RayEngine}
"""Word of --engine → its engine."""


class _Worker:
    """A Ray actor; `play` may be called by several threads at once."""

    def play(self, task: Task) -> Done:
        return play(task)

    def process(self) -> int:
        return os.getpid()


def died(task: Task) -> Done:
    """Return the end of a job whose workers died several times."""
    return JobEnd(
        name=task.name, state="failed", reason="worker_died", detail=f"{TRIES} workers died of it"
    ), b""
