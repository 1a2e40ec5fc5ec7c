"""Faults: every call of a commit, of recovery, creation and reading fails, is cut short, or is the last one."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from ledger.audit.verify import verify
from ledger.store.failures import LedgerError, NotARun
from ledger.store.store import RunStore, create_run
from tests.campaign.acts import ACTS, Act, Say, unexpected
from tests.campaign.calls import Real, Watched, faults_of, refused
from tests.campaign.forks import start
from tests.campaign.slices import Counts, expect, folder
from tests.ledger import samples

CALLS_MAX: Final = 2_000


class Fault(NamedTuple):
    """What happens at the `at`-th call (and from then on, when `lasting`): an error, a short write, or death."""

    at: int
    what: str
    number: int = 0
    lasting: bool = False

    def __str__(self) -> str:
        return f"{self.what} {errno.errorcode.get(self.number, '')}{' for ever' * self.lasting} at call {self.at}"


def every_call(index: int, slices: int) -> Counts:
    """Every fault at every call of every act."""
    counts = Counts()
    with folder() as place:
        for act in ACTS:
            names = calls_of(act, place)
            expect(0 < len(names) < CALLS_MAX, f"{act.name} makes {len(names)} calls")
            for number, fault in enumerate(_faults(names)):
                if number % slices == index:
                    counts += tried(act, fault, place / f"{act.name} {number}" / "runs" / "run")
            counts[f"calls of: {act.name}"] += len(names) if index == 0 else 0
    return counts


def calls_of(act: Act, base: Path) -> list[str]:
    """The names of the calls that an act makes, in order."""
    path = base / f"clean {act.name}" / "runs" / "run"  # as deep as those below
    path.parent.parent.mkdir(parents=True)
    _prepare(act, path)
    child = start(partial(_done, act, path))
    said = child.end().decode().split("\n")
    return [line.removeprefix("call ") for line in said if line.startswith("call ")]


def _prepare(act: Act, path: Path) -> None:
    if act.name.startswith(("commit", "read", "drive", "redact")) or "is there" in act.name:
        path.parent.mkdir()
    act.prepare(path)


def _done(act: Act, path: Path, say: Say) -> None:
    """In a child: the act, with every call said."""
    inside = False

    def watch(name: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        nonlocal inside
        if inside:  # what a call does inside is no call of the store's
            return real(*arguments, **named)
        inside = True
        try:
            say(f"call {name}")
            return real(*arguments, **named)
        finally:
            inside = False

    with Watched(watch):
        act.do(path, lambda _: None)


def _faults(names: list[str]) -> Iterator[Fault]:
    for at, name in enumerate(names):
        for number in faults_of(name):
            yield Fault(at, "error", number)
        yield Fault(at, "die before")
        yield Fault(at, "die after")
        if name == "write":
            yield Fault(at, "short")
            yield Fault(at, "die in the middle")
        if name in ("open", "write", "mkdir", "rename"):
            yield Fault(at, "error", errno.ENOSPC, lasting=True)


def tried(act: Act, fault: Fault, path: Path) -> Counts:
    """One act with one fault, and what is then promised."""
    path.parent.parent.mkdir(parents=True)
    _prepare(act, path)
    before = RunStore(path).events() if (path / "head").exists() else ()
    child = start(partial(_failed, act, fault, path))
    said = child.end().decode().split("\n")[:-1]
    what = f"{act.name}: {fault}: {said}"
    expect(not any(line.startswith("escaped") for line in said), what)
    acknowledged = [line for line in said if line[:1].isdigit()]
    counts = Counts({"faults": 1, "acts refused in words": sum("refused" in line for line in said)})
    _holds(path, before, acknowledged, what)
    return counts


def _failed(act: Act, fault: Fault, path: Path, say: Say) -> None:
    """In the child: the act with the fault; then, in the same process, whether anything stayed open or locked."""
    files = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    with Watched(_injector(fault)):
        try:
            act.do(path, say)
        except LedgerError as error:
            say(f"refused {type(error).__name__}")
        except Exception as error:  # noqa: BLE001 - that is what is looked for
            say(f"escaped {type(error).__name__}: {error}")
    if files and len(os.listdir("/proc/self/fd")) > len(files):
        say("escaped: a file was left open")
    if (path / "head").exists():
        with RunStore(path).writer(wait_seconds=0.5) as writer:
            say(f"{writer.commit([samples.claim(901)], at=samples.AT)[-1].seq} C-1-901")


def _injector(fault: Fault) -> Any:
    count, inside = -1, False

    def see(name: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        nonlocal count, inside
        if inside:
            return real(*arguments, **named)
        count += 1
        if count < fault.at or (count > fault.at and not fault.lasting):
            return real(*arguments, **named)
        inside = True
        try:
            return _faulty(fault, name, real, arguments, named)
        finally:
            inside = False

    return see


def _faulty(fault: Fault, name: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    match fault.what:
        case "error":
            if fault.lasting and name not in ("open", "write", "mkdir", "rename", "fsync", "fdatasync"):
                return real(*arguments, **named)
            if name == "close":
                real(*arguments, **named)  # Linux closes the file whatever it answers
            raise refused(fault.number, name)
        case "short" | "die in the middle":
            descriptor, content = arguments
            written = real(descriptor, content[: max(1, len(content) // 2)])
            if fault.what == "short":
                return written
        case "die after":
            real(*arguments, **named)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("nobody survives SIGKILL")


def _holds(path: Path, before: tuple[Any, ...], acknowledged: list[str], what: str) -> None:
    """Nothing acknowledged is lost, the ledger is intact, and it goes on."""
    try:
        now = RunStore(path).events()
    except NotARun:
        expect(not before and not acknowledged, f"gone: {what}")
        create_run(path, samples.opening(), [samples.statement()], blobs=samples.BLOBS, at=samples.AT)
        now = RunStore(path).events()
    report = verify(path)
    expect(report.ok, f"{report.problems}: {what}")
    expect(now[: len(before)] == before, f"what stood was lost: {what}")
    for line in acknowledged:
        seq, name = line.split()
        expect(str(now[int(seq)].id) == name, f"event {seq} was acknowledged and is lost: {what}")
    with RunStore(path).writer() as writer:
        writer.commit([samples.claim(902)], at=samples.AT)
    report = verify(path)
    open_ones = [one for one in unexpected(report) if "redacted" not in one.what]
    expect(report.ok and not open_ones, f"does not go on: {report.problems}: {what}")
