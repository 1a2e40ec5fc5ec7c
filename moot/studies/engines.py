"""Engines that play jobs: processes of this machine, or workers of a Ray cluster. Both call the same function.

with LocalEngine(2) as engine:
    engine.submit(task)
    played, archive = engine.next_done()

No job is lost with a worker that dies: its jobs are played again, and a run goes on from its ledger.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from importlib import import_module
from multiprocessing import get_context
from typing import Any, Final, Protocol, Self

from moot.errors import usage
from moot.studies.playing import JobEnd, Task, play

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

    @property
    def processes(self) -> list[int]:
        """Return the process id of every actor."""
        numbers: list[int] = self._ray.get([actor.process.remote() for actor in self._actors])
        return numbers

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
        from os import getpid

        return getpid()


def died(task: Task) -> Done:
    """Return the end of a job whose workers died several times."""
    return JobEnd(
        name=task.name, state="failed", reason="worker_died", detail=f"{TRIES} workers died of it"
    ), b""
