"""Seats of `crux` that live in a simulated world (tests/detectors/beliefs/worlds.py), played through the engine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from detectors.beliefs.parameters import crux_parameters
from detectors.beliefs.pool import Points, leader_of, mean_of
from detectors.beliefs.values import Conditional
from ledger.state.book import Book
from ledger.state.state import VERIFIER
from roles.protocol import Step
from rounds.protocols.crux import asked, standing
from rounds.protocols.crux.answers import shuffled
from rounds.protocols.plans import AUTHORS
from rounds.run.engine import Answer
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.detectors.beliefs.worlds import Circumstances, Seat, World, proposals
from tests.protocols.crux_seats import program_of
from tests.rounds.openings import clock

ARGUED: Final = crux_parameters().qualities["argued"]
NOTHING_RUNS: Final = Circumstances("none can be run, arguments right in 65 %", 0.0, argument_is_right=0.65)
REPLIES_MAX: Final = 60


class WorldPlayed(NamedTuple):
    """What a world came to in the engine: right by the mean of first answers, by the run; its end and its length."""

    mean: bool
    right: bool
    reason: str
    replies: int
    lost: int


def play(path: Path, seed: int, lose: Sequence[str] = (), order: int = 1) -> tuple[RunSession, WorldPlayed]:
    """A world through the engine without waiting; steps in `lose` are given up."""
    world = World(seed, NOTHING_RUNS)
    mean = leader_of(mean_of(seat.belief for seat in world.seats))
    session = _begin(path, world)
    for _ in range(REPLIES_MAX):
        open_ = session.asked()[::order]
        if not open_:
            break
        one = open_[0]
        if one.step.id in lose:
            session.give_up(one.step.id, "given_up", "lost in a test")
        else:
            content = orjson.dumps(_reply(session.book(), one.step, world))
            session.submit(one.step.id, content, Answer(seat="command", isolation="trusted"))
    state = session.book().state
    leader = state.looks[-1].leader if state.looks else None
    reason = state.closing.reason if state.closing else "open"
    right = leader == f"O-{world.right + 1}"
    return session, WorldPlayed(
        mean == world.right, right, str(reason), len(state.answered), len(state.given_up)
    )


def _begin(path: Path, world: World) -> RunSession:
    table: dict[str, Any] = {
        "deliberation": {
            "question": "Which is right?",
            "protocol": "crux",
            "options": [f"option {n}" for n in range(1, len(world.base) + 1)],
        },
        "rules": {"wait": "off"},
    }
    opening = resolve(checked(table), {}, moot="0.2.0", seed=world.seed)
    return start(
        path, opening.event, blobs=opening.blobs, files={}, verdicts=standard, clock=clock(), sync=False
    )


def _points(points: Points, options: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"option": option, "points": int(value)}
        for option, value in zip(options, points, strict=True)
        if value
    ]


def _numbers(numbers: Conditional, options: Sequence[str]) -> dict[str, Any]:
    return {
        "q": int(numbers.q),
        "if_true": _points(numbers.if_true, options),
        "if_false": _points(numbers.if_false, options),
    }


def _fact(book: Book, claim: str) -> int:
    event: Any = book.by_id[claim]
    found = re.search(r"[0-9]+", event.text)
    assert found is not None, event.text
    return int(found[0])


def _seat(world: World, role: str) -> Seat:
    return next(seat for seat in world.seats if seat.role == role)


def _reply(book: Book, step: Step, world: World) -> Mapping[str, Any]:
    state, round_ = book.state, step.name.round
    options = standing.option_ids(state)
    if step.role != VERIFIER and (before := standing.latest(state, step.role, round_ + 1)) is not None:
        _seat(world, step.role).belief = standing.points_of(before.points, options)
    match step.task:
        case "A":
            nothing: dict[str, Any] = {"missing": [], "double": [], "two_readings": [], "runnable": []}
            return {"ill_posed": False, "why": None, **nothing}
        case "B":
            return _answer(world, _seat(world, step.role), options, again=step.name.repeat > 1)
        case "C.agenda":
            return _agenda(book, world)
        case "D":
            plan = {"form": "trace", "steps": ["look"], "holds_if": "it is so", "fails_if": "it is not"}
            wanted = asked.planned_by(state, round_, step.role)
            return {"plans": [{"claim": one, **plan, **program_of(book, step, one)} for one in wanted]}
        case "E.forecast":
            seat = _seat(world, step.role)
            return {"given": [_forecast(book, world, seat, one) for one in standing.tested_in(state, round_)]}
        case "E.check":
            return {"verdicts": [_verdict(book, world, step, one) for one in asked.to_check(state, round_)]}
        case "F":
            said = _points(world.again(_seat(world, step.role)), options)
            return {"belief": said, "because": [], "moved_by": "The result."}
        case "S.memo":
            who = next(role for role in AUTHORS if f"S-1-B-{role}" in book.by_id)
            cited: dict[str, Any] = {"refs": [f"S-1-B-{who}#reason-1"], "quote": None, "judgment": False}
            fields = ("answer", "do_now", "why")
            return {"sentences": [{"field": field, "text": "It is this one.", **cited} for field in fields]}
        case "S.objection":
            return {"text": "It may be another one.", "dissents": False}
        case "S.check":
            count = len(state.memo.sentences) if state.memo else 0
            judged = [{"n": n, "verdict": "supported", "reason": "read"} for n in range(1, count + 1)]
            goals = [{"goal": goal.id, "served": "yes"} for goal in state.opening.goals]
            return {"sentences": judged, "goals": goals, "notes": "All are served."}
        case _:
            raise AssertionError(step.task)


def _answer(world: World, seat: Seat, options: Sequence[str], *, again: bool) -> Mapping[str, Any]:
    belief = world.redraw(seat) if again else seat.belief
    found = {} if again else proposals(world, [seat]).given
    return {
        "answer": None,
        "belief": _points(belief, options),
        "reasons": ["It weighs most."],
        "defeaters": [],
        "cruxes": [
            {
                "text": f"Fact {fact} is so.",
                "test": "Somebody looks.",
                "how": "execution",
                **_numbers(given[seat.role], options),
            }
            for fact, given in found.items()
        ],
        "share_found": 50,
    }


def _agenda(book: Book, world: World) -> Mapping[str, Any]:
    """Proposals of the same fact become one; what is beyond the five worth most is left out.

    In the order of facts, so that cruxes worth the same are tested in the order in which the pure functions test them.
    """
    labels = shuffled(book.state)
    places: dict[int, list[str]] = {}
    for label, role in labels.items():
        words: Any = book.by_id[f"S-1-B-{role}"]
        for section in words.sections:
            if section.name.startswith("crux-"):
                number = int(re.search(r"[0-9]+", section.text)[0])  # type: ignore[index]  # every text has one
                places.setdefault(number, []).append(f"{label}#{section.name}")
    kept = sorted(fact for fact in proposals(world, world.seats).facts if fact in places)
    return {
        "options": [],
        "shared": [],
        "cruxes": [
            {
                "text": f"Fact {fact} is so.",
                "test": "Somebody looks.",
                "how": "execution",
                "of": places[fact],
                "negated": [],
            }
            for fact in kept
        ],
        "defeaters": [],
        "left_out": [
            {"of": place, "why": "It is worth least."}
            for fact, found in places.items()
            if fact not in kept
            for place in found
        ],
    }


def _forecast(book: Book, world: World, seat: Seat, claim: str) -> Mapping[str, Any]:
    options = standing.option_ids(book.state)
    numbers = world.conditional(seat, _fact(book, claim))
    return {
        "claim": claim,
        **_numbers(numbers, options),
        "predicts": "holds" if numbers.q >= Fraction(50) else "fails",
        "fair": True,
        "fair_why": "It can come out either way.",
    }


def _verdict(book: Book, world: World, step: Step, claim: str) -> Mapping[str, Any]:
    """What an argument comes to, cited from a role that did not raise the claim where one planned; seats learn it."""
    fact = _fact(book, claim)
    holds = world.result(fact, run=False)
    planners = [
        role
        for role in AUTHORS
        if claim in asked.planned_by(book.state, step.name.round, role)
        and f"A-{step.name.round}-{role}" in book.state.artifacts
    ]
    raised_by = book.state.claims[claim].raised_by
    role = next((one for one in planners if one != raised_by), planners[0])
    if role != raised_by and not book.state.claims[claim].moves:
        world.learn(fact, holds, ARGUED)
    return {
        "claim": claim,
        "bearing": "supports" if holds else "contradicts",
        "evidence": [{"ref": f"A-{step.name.round}-{role}", "quote": None}],
        "notes": "It was argued.",
    }
