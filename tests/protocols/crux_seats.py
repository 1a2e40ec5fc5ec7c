"""Seats of `crux` by script, for tests: what each believes of a small world; never shown as a model's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson

from ledger.state.book import Book
from ledger.state.state import VERIFIER
from roles.protocol import Step
from rounds.protocols.crux import asked, programs, standing
from rounds.protocols.crux.answers import shuffled
from rounds.protocols.crux.memo import to_judge
from rounds.protocols.crux.replies import PlansReply
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import EXAMPLE
from rounds.run.engine import Answer
from rounds.run.session import AskedStep, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.rounds.openings import DOCUMENT, clock

ROLES: Final = AUTHORS
OPTIONS: Final = ("three streams", "one journal")


@dataclass(frozen=True)
class World:
    """What the seats say. `first`: points on the first option by role; `proposed`: (how, q, if true, if false) of the
    crux that a role proposes, points on the first option; `bearing`: what the verifier finds."""

    first: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(ROLES, 60))
    proposed: Mapping[str, tuple[str, int, int, int]] = field(
        default_factory=dict[str, tuple[str, int, int, int]]
    )
    bearing: str = "supports"
    predicts: str = "holds"
    later: tuple[int, int, int] | None = None
    """(q, if true, if false) that everybody says before a test; None: the belief itself either way."""
    frame: Mapping[str, Any] = field(default_factory=dict[str, Any])
    own: int | None = None
    """Points on the first option of whoever is asked again; None: what follows from the numbers."""
    redraw: int = 0
    """How far the second draw is from the first."""
    unsupported: tuple[int, ...] = ()
    """Sentences of the memo that nothing supports."""
    rewritten: str = ""
    """What the writer makes of each of them; nothing: it hands them in again as they were."""
    still: bool = False
    """Whether nothing supports them after that either."""
    dissents: bool = True
    unfair: tuple[str, ...] = ()
    rest: int = 1
    """The place of the option that has the other points; −1 is `none`."""


def points(first: int, options: tuple[str, ...], rest: int = 1) -> list[dict[str, Any]]:
    """A belief: so many points on the first option, the rest on another."""
    return [{"option": options[0], "points": first}, {"option": options[rest], "points": 100 - first}]


def begin(
    path: Path,
    rules: dict[str, str] | None = None,
    *,
    options: int = 2,
    seed: int = 0,
    document: bool = True,
    calls: int | None = None,
    sync: bool = False,
) -> RunSession:
    """A session on a new run of `crux` at `path`."""
    table: dict[str, Any] = {
        "deliberation": {
            "question": "Which storage keeps every line?",
            "protocol": "crux",
            "goals": ["No line is lost"],
            "options": list(OPTIONS[:options]),
        },
        "context": [{"name": "facts.md", "text": DOCUMENT.decode()}] if document else [],
        "rules": rules or {},
        "budget": {"calls": calls} if calls else {},
    }
    opening = resolve(checked(table), {}, moot="0.2.0", seed=seed)
    files = {"deliberation.toml": opening.toml.encode()}
    return start(
        path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=clock(), sync=sync
    )


def play(
    session: RunSession,
    world: World,
    *,
    order: int = 1,
    lose: frozenset[str] = frozenset(),
    until: int = 60,
) -> Book:
    """Answer every step by script until nothing is open; `order` −1 answers the last open step first."""
    for _ in range(until):
        open_ = session.asked()[::order]
        if not open_:
            return session.book()
        one = open_[0]
        if one.step.id in lose:
            session.give_up(one.step.id, "given_up", "lost in a test")
        else:
            submit(session, one, world)
    raise AssertionError(f"still open after {until} replies: {[one.step.id for one in session.asked()]}")


def submit(session: RunSession, one: AskedStep, world: World) -> None:
    """Hand one scripted reply in."""
    content = orjson.dumps(reply(session.book(), one.step, world))
    roles = (*ROLES, VERIFIER)
    context = f"c{roles.index(one.step.role) + 1 + 10 * one.step.name.repeat}"
    session.submit(one.step.id, content, Answer(seat="command", isolation="trusted", context_id=context))


def reply(book: Book, step: Step, world: World) -> dict[str, Any]:
    """The reply of a step in this world."""
    state = book.state
    match step.task:
        case "A":
            empty: dict[str, Any] = {
                "ill_posed": False,
                "why": None,
                "missing": [],
                "double": [],
                "two_readings": [],
            }
            return {**empty, "runnable": [], **world.frame}
        case "B":
            return _answer(book, step, world)
        case "C.agenda":
            return _agenda(book)
        case "C.choice":
            return _choice(book, step, world)
        case "D":
            wanted = asked.planned_by(state, step.name.round, step.role)
            plan = {"form": "trace", "steps": ["look"], "holds_if": "it is seen", "fails_if": "it is not"}
            return {"plans": [{"claim": claim, **plan, **program_of(book, step, claim)} for claim in wanted]}
        case "E.forecast":
            return {
                "given": [_forecast(book, step, world, c) for c in standing.tested_in(state, step.name.round)]
            }
        case "E.check":
            wanted = asked.to_check(state, step.name.round)
            return {"verdicts": [_verdict(book, step, world, claim) for claim in wanted]}
        case "F":
            derived = standing.belief(state, step.name.round, step.role, 2)
            before = derived or standing.latest(state, step.role, step.name.round)
            options = standing.option_ids(state)
            first = before.points.get(options[0], 0) if before else 50
            said = points(first if world.own is None else world.own, options)
            return {"belief": said, "because": [], "moved_by": "The result of the test."}
        case "S.memo":
            return _memo(book, step, world)
        case "S.objection":
            return {"text": "The other one is cheaper to run.", "dissents": world.dissents}
        case "S.check":
            refused = world.unsupported if step.name.repeat == 1 or world.still else ()
            judged = [
                {"n": n, "verdict": "not" if n in refused else "supported", "reason": "read"}
                for n in to_judge(book, step)
            ]
            return {
                "sentences": judged,
                "goals": [{"goal": goal.id, "served": "yes"} for goal in state.opening.goals],
                "notes": "All are served.",
            }
        case _:
            raise AssertionError(step.task)


def program_of(book: Book, step: Step, claim: str) -> dict[str, Any]:
    """The program of a plan, where one is asked for."""
    if programs.plans_reply(book.state) is PlansReply:
        return {}
    wanted = claim in asked.programs_wanted(book.state, step.name.round, step.role)
    return {"program": EXAMPLE if wanted else None}


def _answer(book: Book, step: Step, world: World) -> dict[str, Any]:
    open_ended = standing.is_open_ended(book.state)
    options = (standing.OWN, standing.NONE) if open_ended else standing.option_ids(book.state)
    first = world.first[step.role] + (world.redraw if step.name.repeat > 1 else 0)
    cruxes: list[dict[str, Any]] = []
    if step.role in world.proposed:
        how, q, true, false = world.proposed[step.role]
        numbers = {"q": q, "if_true": points(true, options), "if_false": points(false, options)}
        cruxes = [{"text": f"{step.role} would see it", "test": "one sees it", "how": how, **numbers}]
    return {
        "answer": f"what {step.role} holds" if open_ended else None,
        "belief": points(first, options, world.rest),
        "reasons": [f"{step.role} has a reason"],
        "defeaters": [f"a defeater that {step.role} found"],
        "cruxes": cruxes,
        "share_found": 50,
    }


def _agenda(book: Book) -> dict[str, Any]:
    labels = shuffled(book.state)
    cruxes = [
        {
            "text": f"What {role} would see is so.",
            "test": "One sees it.",
            "how": _how(book, role),
            "of": [f"{label}#crux-1"],
            "negated": [],
        }
        for label, role in sorted(labels.items(), key=lambda pair: ROLES.index(pair[1]))
        if any(one.name == "crux-1" for one in _words(book, role))
    ]
    defeaters = [{"text": "It breaks.", "of": [f"{label}#defeater-1" for label in sorted(labels)]}]
    made = list(OPTIONS) if standing.is_open_ended(book.state) else []
    return {
        "options": made,
        "shared": ["Lines matter."],
        "cruxes": cruxes,
        "defeaters": defeaters,
        "left_out": [],
    }


def _words(book: Book, role: str) -> Any:
    event: Any = book.by_id[f"S-1-B-{role}"]
    return event.sections


HOW: dict[str, str] = {}
"""Role → how its crux is tested; the answer does not keep it, so the script does."""


def _how(book: Book, role: str) -> str:
    del book
    return HOW.get(role, "document")


def _choice(book: Book, step: Step, world: World) -> dict[str, Any]:
    options = standing.option_ids(book.state)
    first = world.first[step.role] + (world.redraw if step.name.repeat > 1 else 0)
    cruxes = book.state.agenda.cruxes if book.state.agenda else ()
    q, true, false = world.later or (50, first, first)
    numbers = {"q": q, "if_true": points(true, options), "if_false": points(false, options)}
    return {"belief": points(first, options), "given": [{"claim": claim, **numbers} for claim in cruxes]}


def _forecast(book: Book, step: Step, world: World, claim: str) -> dict[str, Any]:
    options = standing.option_ids(book.state)
    before = standing.latest(book.state, step.role, step.name.round)
    assert before is not None
    own = before.points.get(options[0], 0)
    q, true, false = world.later or (50, own, own)
    return {
        "claim": claim,
        "q": q,
        "if_true": points(true, options),
        "if_false": points(false, options),
        "predicts": world.predicts,
        "fair": step.role not in world.unfair,
        "fair_why": "It can come out either way.",
    }


def _verdict(book: Book, step: Step, world: World, claim: str) -> dict[str, Any]:
    planner = next(
        role
        for role in ROLES
        if f"A-{step.name.round}-{role}" in book.state.artifacts
        and claim in asked.planned_by(book.state, step.name.round, role)
    )
    evidence = [{"ref": f"A-{step.name.round}-{planner}#plan-1", "quote": None}]
    if book.state.opening.context and book.state.claims[claim].how == "document":
        line = DOCUMENT.decode().splitlines()[0]
        evidence = [{"ref": "K-1#L1", "quote": line}]
    return {"claim": claim, "bearing": world.bearing, "evidence": evidence, "notes": "As it is written."}


def _memo(book: Book, step: Step, world: World) -> dict[str, Any]:
    who = next(role for role in ROLES if f"S-1-B-{role}" in book.by_id)
    ref = f"S-1-B-{who}#reason-1"

    def sentence(field_: str, text: str, **more: Any) -> dict[str, Any]:
        return {"field": field_, "text": text, "refs": [ref], "quote": None, "judgment": False, **more}

    whole = {
        "sentences": [
            sentence("answer", "Keep three streams."),
            sentence("why", "There is a reason for it."),
            sentence("changes_our_mind", "A lost line would show it wrong."),
            sentence("do_now", "Write the first line.", refs=[], judgment=True),
        ]
    }
    if step.name.repeat > 1 and world.rewritten:
        for n in world.unsupported:
            whole["sentences"][n - 1]["text"] = world.rewritten
    return whole


def varied(world: World, **changes: Any) -> World:
    """The same world but for these."""
    return replace(world, **changes)
