"""Pairs of the rules about experiments: a plan, its runs and its judgement behind a good deliberation."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final, Literal

from msgspec import structs

from ledger.events import Amendment, Event, ExperimentPlanned, ExperimentRun, Verification
from ledger.events.experiments import (
    ExperimentControl,
    ExperimentEnvironment,
    ExperimentLimits,
    KeptOutput,
    NamedBlob,
    Predicate,
    RunCounts,
)
from ledger.events.run import Change
from ledger.state.book import Book, book
from ledger.state.experiments import judgement
from tests.validators.factory import base, change, seq_of
from tests.validators.pair import Pair

ROUND: Final = 3
EXPERIMENT: Final = f"E-{ROUND}-1"
NOTHING: Final = hashlib.sha256(b"").hexdigest()
Say = Callable[[list[Event]], list[Event]]


class _Blobs:
    """Nothing was written by any program, and the rest is where it was."""

    def read(self, sha256: str) -> bytes | None:
        return b"" if sha256 == NOTHING else base().blobs.read(sha256)


@cache
def good() -> tuple[Event, ...]:
    """A person's word, a plan, both controls and three repetitions that hold, and what they come to."""
    events: list[Event] = [word(), plan(), run("must_fail", 1, 1), run("must_hold", 1, 0)]
    events += [run(None, n, 0) for n in (1, 2, 3)]
    return (*events, judgement(behind(tuple(events)), EXPERIMENT))


def behind(events: tuple[Event, ...]) -> Book:
    """A good deliberation with these events at its end."""
    before = base().events
    placed = [
        structs.replace(event, seq=len(before) + place, round=before[-1].round, phase="close")
        for place, event in enumerate(events)
    ]
    return book([*before, *placed], _Blobs())


def word() -> Amendment:
    said = (Change(path=f"experiments.{EXPERIMENT}", from_=None, to="on"),)
    return Amendment(
        round=ROUND, phase="close", by="human", what="note", change=said, cause="human", reason="Run it."
    )


def plan(**more: Any) -> ExperimentPlanned:
    def files(name: str) -> tuple[NamedBlob, ...]:
        return (NamedBlob(name=name, sha256=NOTHING),)

    controls = (
        ExperimentControl(must="fail", files=files("broken.py"), argv=("python3", "broken.py")),
        ExperimentControl(must="hold", files=files("sound.py"), argv=("python3", "sound.py")),
    )
    fields: dict[str, Any] = {
        "id": EXPERIMENT, "by": "human", "round": ROUND, "phase": "close", "claims": ("C-1-1",),
        "question": "Does it hold?", "files": files("test.py"), "argv": ("python3", "test.py"),
        "pass_if": (Predicate(of="exit", test="equals", value="0"),),
        "fail_if": (Predicate(of="exit", test="equals", value="1"),),
        "controls": controls, "k": 3, "seed": 0,
        "limits": ExperimentLimits(wall_seconds=9, cpu_seconds=9, memory_bytes=2**26, output_bytes=99),
    }  # fmt: skip
    return ExperimentPlanned(**(fields | more))


def run(
    control: Literal["must_fail", "must_hold"] | None, n: int, exit_: int, tried: bool = True
) -> ExperimentRun:
    nothing = KeptOutput(sha256=NOTHING, bytes=0, kept=NOTHING)
    environment = ExperimentEnvironment(
        interpreter="CPython 3.11",
        platform="Linux",
        sandbox="bubblewrap",
        sandbox_version="0.8",
        self_test=tried,
    )
    return ExperimentRun(
        round=ROUND, phase="close", by="controller", of=EXPERIMENT, n=n, control=control, exit=exit_, ms=1,
        environment=environment, stdout=nothing, stderr=nothing, started_at="2026-01-01T00:00:00.000000Z",
    )  # fmt: skip


def _with(place: int, event: Event | None) -> Callable[[], Book]:
    """The good series with another event at a place, or none there."""

    def made() -> Book:
        events = list(good())
        events[place : place + 1] = [event] if event is not None else []
        return behind(tuple(events))

    return made


def _judged(**more: Any) -> Callable[[], Book]:
    return lambda: _with(7, structs.replace(good()[7], **more))()


def _moved() -> Verification:
    return next(e for e in base().events if isinstance(e, Verification) and e.claim_status_changes)


def _called(class_: Any) -> Callable[[], Book]:
    def made() -> Book:
        changes = tuple(structs.replace(one, class_=class_) for one in _moved().claim_status_changes)
        return change(str(_moved().id), claim_status_changes=changes)

    return made


def _place(number: int) -> Callable[[], int]:
    return lambda: len(base().events) + number


def _good() -> Book:
    return behind(good())


PAIRS: Final = (
    Pair("EXP001", _with(1, plan(controls=plan().controls[:1])), _place(1), _good, why="one control"),
    Pair("EXP001", _with(1, plan(fail_if=plan().pass_if)), _place(1), _good, why="cannot differ"),
    Pair("EXP001", _with(1, plan(k=21)), _place(1), _good, why="too often"),
    Pair("EXP002", _with(1, None), _place(1), _good, why="not planned"),
    Pair("EXP002", _with(2, None), _place(3), _good, why="a control is missing"),
    Pair("EXP002", _with(4, None), _place(4), _good, why="a repetition is missing"),
    Pair("EXP002", _with(5, run(None, 1, 0)), _place(5), _good, why="twice the same"),
    Pair("EXP003", _with(0, None), _place(1), _good, why="no word"),
    Pair("EXP003", _with(4, run(None, 1, 0, tried=False)), _place(4), _good, why="not tried"),
    Pair("EXP004", _judged(verdict="fails"), _place(7), _good, why="another verdict"),
    Pair("EXP004", _judged(class_="ran"), _place(7), _good, why="another class"),
    Pair("EXP004", _judged(changes=()), _place(7), _good, why="no move"),
    Pair(
        "EXP004",
        _judged(counts=RunCounts(holds=4, fails=0, inconclusive=0, error=0)),
        _place(7),
        _good,
        why="counts",
    ),
    Pair("EXP004", _with(6, run(None, 3, 1)), _place(7), _good, why="flaky"),
    Pair("EXP004", _with(2, run("must_fail", 1, 0)), _place(7), _good, why="a control that passes"),
    Pair("EXP005", _called("reproduced"), lambda: seq_of(str(_moved().id)), _called("argued")),
    Pair("EXP005", _called("ran"), lambda: seq_of(str(_moved().id)), _called("said"), why="ran"),
)
