"""Scripted runs of `crux`: what each look and each forecast records, against a second reading and calculation.

The seats are scripted. Answers, cruxes, numbers, programs, lost replies and a person's results are drawn by seed.
"""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest

from ledger.state.book import Book
from rounds.protocols import PROTOCOLS
from rounds.run.controller import Controller
from rounds.run.human_actions import answer
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.oracles import crux as oracle
from tests.oracles.crux_runs import events_of, table_of
from tests.protocols.crux_seats import ROLES, World, begin, play
from tests.rounds.experimenting import BENCH
from tests.validators.factory import findings

CRUX = PROTOCOLS["crux"]
QUICK = 4
RUNS = 40
STEPS = (
    "r1.A.verifier",
    "r1.B.guardian",
    "r1.B.critic",
    "r1.C.verifier",
    "r1.E.action",
    "r1.E.observer",
    "r1.D.verifier",
    "r1.D.c1.critic",
    "r1.D.c2.action",
)
HOWS = ("execution", "execution", "calculation", "document", "person")


def _numbers(random: Random, own: int) -> tuple[int, int, int]:
    """Probability and points if true and if false, coherent with a role's own points."""
    q, effect = random.choice((5, 20, 40, 50, 60, 80, 95)), random.choice((-90, -60, -25, 5, 25, 60, 90))
    while True:
        true, false = own + round((100 - q) * effect / 100), own - round(q * effect / 100)
        if 0 <= true <= 100 and 0 <= false <= 100:
            return q, true, false
        effect = int(effect / 2)


def _world(random: Random) -> World:
    middle = random.choice((40, 45, 50, 55, 60, 70, 97))
    first = {role: min(100, max(0, middle + random.randint(-8, 8))) for role in ROLES}
    proposed = {
        role: [
            (random.choice(HOWS), *_numbers(random, first[role])) for _ in range(random.choice((0, 1, 1, 2)))
        ]
        for role in ROLES
    }
    if on_none := random.random() < 0.15:
        proposed = {}
    # A repair keeps the predicates: a program that prints what no predicate reads is mended by printing it.
    programs = (("holds",), ("fails",), ("error", "holds"), ("error", "fails"), ("unreadable", "readable"))
    return World(
        first=first,
        proposed=proposed,
        of_role={role: _numbers(random, first[role]) for role in ROLES},
        programs={role: random.choice(programs) for role in ROLES},
        document=random.choice(("holds", "fails", "not_settled")),
        expression=random.choice(("40 * 25", "40 - 25", None)),
        frame={"ill_posed": True, "why": "It asks two things."} if on_none else {},
        rest=-1 if on_none else 1,
    )


def _run(path: Path, seed: int) -> RunSession:
    """Play a run, and answer each question that it waits with, one after the other."""
    random = Random(f"run {seed}")
    world = _world(random)
    rules = {"stakes": random.choice(("normal", "high", "low")), "wait": random.choice(("on", "off"))}
    session = begin(
        path,
        rules,
        options=random.choice((2, 2, 2, 0)),
        seed=random.randrange(4),
        document=random.random() < 0.7,
        experiments=random.choice(("on", "on", "off")),
    )
    lose = frozenset(random.sample(STEPS, random.choice((0, 0, 1, 2))))
    play(session, world, lose=lose, bench=BENCH, order=random.choice((1, -1)))
    for _ in range(4):
        state = session.book().state
        questions = [
            identity
            for identity, concern in state.concerns.items()
            if concern.for_human and concern.between and identity not in state.resolved
        ]
        if state.finished or not questions:
            break
        result: Literal["holds", "fails"] = random.choice(("holds", "fails"))
        answer(session, random.choice(questions), "It was measured last night.", result=result)
        play(session, world, bench=BENCH)
    return session


def _decimal(value: Fraction) -> str:
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{exact.quantize(Decimal('0.000001'), rounding=ROUND_HALF_EVEN):f}"


def _agrees(path: Path, seed: int) -> Counter[str]:
    """Compare every look of a run, and the forecasts that stood at it, with the oracle; return what was seen."""
    book: Book = _run(path, seed).book()
    events = events_of(path)
    seen: Counter[str] = Counter()
    for look in (event for event in events if event["kind"] == "signals"):
        table = table_of(events, look["seq"])
        expected = oracle.without(table, None)
        recorded: dict[str, Any] = {entry["claim"]: entry["evsi"] for entry in look["values"]}
        assert look["status"] == expected["status"], seed
        assert look["leader"] == expected["leader"], seed
        assert recorded == {claim: _decimal(value) for claim, value in expected["unsettled"].items()}, seed
        group = expected["group"] or {}
        assert look["pool"] == {name: _decimal(points) for name, points in group.items()}, seed
        seen["options made by code"] += (by_code := _options_are_own_answers(events))
        for role, forecast in () if by_code else expected["roles"].items():
            assert _latest_points(events, role, look["seq"], forecast) == forecast, (seed, role)
        seen[look["status"]] += 1
        seen["verdicts"] += bool(table["verdicts"])
        seen["a person's result"] += any(verdict["level"] == "measured" for verdict in table["verdicts"])
        seen["a role left"] += len(expected["roles"]) < len(table["forecasts"])
    assert book.state.looks, seed
    context = standard(CRUX).context()
    assert [one.message for one in findings(book, context) if one.severity == "error"] == [], seed
    assert re_execute(book, CRUX, Controller(CRUX, standard(CRUX))).identical, seed
    return seen


def _options_are_own_answers(events: list[dict[str, Any]]) -> bool:
    """Whether each answer became an option. Then forecasts are recorded over a role's own answer, and never moved."""
    return any(event["kind"] == "agenda" and event["by"] == "controller" for event in events)


def _latest_points(
    events: list[dict[str, Any]], role: str, seq: int, forecast: dict[str, Fraction]
) -> dict[str, Fraction]:
    """The forecast of a role that was recorded last before an event."""
    own = [
        event
        for event in events
        if event["kind"] == "belief" and event["role"] == role and event["seq"] < seq
    ]
    points = own[-1]["points"]
    return {name: Fraction(points.get(name, 0)) for name in forecast}


@pytest.mark.parametrize("seed", range(QUICK))
def test_the_oracle_agrees_on_a_scripted_run(tmp_path: Path, seed: int) -> None:
    assert _agrees(tmp_path / "run", seed)


@pytest.mark.slow
def test_the_oracle_agrees_on_many_scripted_runs(tmp_path: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(RUNS):
        seen += _agrees(tmp_path / str(seed), seed)
    wanted = (
        "decided",
        "your_call",
        "run_this_first",
        "ill_posed",
        "verdicts",
        "a person's result",
        "a role left",
    )
    assert all(seen[name] for name in wanted), seen
