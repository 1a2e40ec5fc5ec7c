"""Scripted seats of `crux` for tests: what each role says of a small world. Never shown as a model's."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson

from ledger.state.book import Book
from ledger.state.state import OWN, VERIFIER
from moot.view.outcome import outcome_of
from roles.outcome_status import OutcomeStatus
from roles.protocol import Step, awaited_experiments
from roles.seats.port import Answer
from rounds.protocols.crux import standing
from rounds.protocols.crux.answers import shuffled
from rounds.protocols.crux.assignments import broken_program, to_read
from rounds.protocols.crux.memo import to_judge
from rounds.protocols.crux.standing import standing_of_look
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import EXAMPLE
from rounds.run.experiments import conduct
from rounds.run.session import PendingStep, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import Programs, resolve
from tests.rounds.openings import DOCUMENT, clock

ROLES: Final = AUTHORS
OPTIONS: Final = ("three streams", "one journal")
QUESTION: Final = "Which storage keeps every line, for 40 writers and 25 lines each?"
Numbers = tuple[int, int, int]
"""Probability, points on the first option if true, if false."""


@dataclass(frozen=True)
class World:
    """What the roles say.

    `first`: points on the first option by role. `proposed`: role → its cruxes, each (how, probability, points on the
    first option if true, if false). `numbers`: what every role says of every crux; by role in `of_role`,
    by claim in `of_claim`.
    `programs`: role → what each program that it writes does, in order: holds, fails, error or unreadable.
    """

    first: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(ROLES, 60))
    proposed: Mapping[str, Sequence[tuple[str, int, int, int]]] = field(
        default_factory=dict[str, Sequence[tuple[str, int, int, int]]]
    )
    numbers: Numbers | None = None
    of_role: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])
    of_claim: Mapping[str, Numbers] = field(default_factory=dict[str, Numbers])
    programs: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    document: str = "holds"
    expression: str | None = "40 * 25"
    frame: Mapping[str, Any] = field(default_factory=dict[str, Any])
    answers: str | None = None
    """The option that the memo answers with; None: the leader."""
    unsupported: tuple[int, ...] = ()
    """Sentences of the memo that nothing supports."""
    rewritten: str = ""
    """What the writer makes of each of them; nothing: it hands them in again as they were."""
    still: bool = False
    """Whether nothing supports them after that either."""
    dissents: bool = True
    merged: Mapping[str, str] = field(default_factory=dict[str, str])
    """Role → where its way to be wrong goes in its own crux: `of` or `negated`."""
    rest: int = 1
    """Place of the option that has the other points; −1 is `none`."""


def contested(*hows: str, **more: Any) -> World:
    """A world where each of the given kinds of crux is worth a test, one role proposing each."""
    proposed = {role: [(how, 50, 90, 30)] for role, how in zip(ROLES, hows, strict=False)}
    return World(**({"proposed": proposed, "numbers": (50, 90, 30)} | more))


def points(first: int, options: tuple[str, ...], rest: int = 1) -> list[dict[str, Any]]:
    """A forecast: these points on the first option, the rest on another."""
    return [{"option": options[0], "points": first}, {"option": options[rest], "points": 100 - first}]


def begin(
    path: Path,
    rules: dict[str, str] | None = None,
    *,
    options: int = 2,
    seed: int = 0,
    document: bool = True,
    experiments: str = "off",
    budget: Mapping[str, Any] | None = None,
) -> RunSession:
    """Open a run of `crux` at `path`."""
    table: dict[str, Any] = {
        "deliberation": {
            "question": QUESTION,
            "protocol": "crux",
            "goals": ["No line is lost"],
            "options": list(OPTIONS[:options]),
            "seed": seed,
        },
        "context": [{"name": "facts.md", "text": DOCUMENT.decode()}] if document else [],
        "rules": rules or {},
        "budget": budget or {},
    }
    word = None if experiments == "off" else Programs(experiments, "CPython 3.11")  # type: ignore[arg-type]
    opening = resolve(checked(table), {}, moot="0.2.0", experiments=word)
    files = {"deliberation.toml": opening.toml.encode()}
    return start(path, opening.event, blobs=opening.blobs, files=files, verdicts=standard, clock=clock())


def play(
    session: RunSession,
    world: World,
    *,
    order: int = 1,
    lose: frozenset[str] = frozenset(),
    until: int = 60,
    bench: Any = None,
) -> Book:
    """Answer every step by script until nothing is open; `order` −1 answers the last open step first.

    With a `bench` the programs that the run waits for are run.
    """
    for _ in range(until):
        open_ = session.pending()[::order]
        state = session.book().state
        waiting = awaited_experiments(session.protocol, state) if state.runs_programs else ()
        if not open_ and bench is not None and waiting:
            list(conduct(session, bench, waiting[0]))
            continue
        if not open_:
            return session.book()
        one = open_[0]
        if one.step.id in lose:
            session.give_up(one.step.id, "given_up", "lost in a test")
        else:
            submit(session, one, world)
    raise AssertionError(f"still open after {until} replies: {[one.step.id for one in session.pending()]}")


def submit(session: RunSession, one: PendingStep, world: World) -> None:
    """Hand in one scripted reply."""
    content = orjson.dumps(reply(session.book(), one.step, world))
    roles = (*ROLES, VERIFIER)
    context = f"c{roles.index(one.step.role) + 1 + 10 * one.step.name.repeat}"
    session.submit(one.step.id, content, Answer(seat="command", isolation="trusted", context_id=context))


def reply(book: Book, step: Step, world: World) -> dict[str, Any]:
    """The reply of a step in this world."""
    match step.task:
        case "A":
            empty: dict[str, Any] = {
                "ill_posed": False,
                "why": None,
                "missing": [],
                "double": [],
                "two_readings": [],
            }
            return {**empty, **world.frame}
        case "B":
            return _answer(book, step, world)
        case "C.agenda":
            return _agenda(book, world)
        case "E":
            return _numbers(book, step, world)
        case "D.program" | "D.again":
            broken = broken_program(book.state, step.name)
            kinds = world.programs.get(step.role, ("holds",))
            place = min(1 if broken else 0, len(kinds) - 1)
            return {"measures": "Whether every line is there.", "program": program(kinds[place])}
        case "D.calculation":
            fields = {"expression": world.expression, "comparison": "at_least", "value": "40"}
            return {"why": "Writers times lines.", **fields}
        case "D.read":
            return {"verdicts": [_read(world, claim) for claim in to_read(book.state)]}
        case "S.memo":
            return _memo(book, step, world)
        case "S.objection":
            return {"text": "The other one is cheaper to run.", "dissents": world.dissents}
        case "S.check":
            refused = world.unsupported if step.name.repeat == 1 or world.still else ()
            return {
                "sentences": [
                    {"n": n, "verdict": "not" if n in refused else "supported", "reason": "read"}
                    for n in to_judge(book, step)
                ],
                "goals": [{"goal": goal.id, "served": "yes"} for goal in book.state.opening.goals],
                "notes": "All are served.",
            }
        case _:
            raise AssertionError(step.task)


def program(kind: str) -> dict[str, Any]:
    """The example's program, changed so that it holds, fails, ends in an error, or prints what no predicate reads."""
    made = copy.deepcopy(EXAMPLE)
    if kind == "fails":
        turned = ["python3", "test.py", "turned"]
        made["argv"] = turned
        made["controls"][0] = {
            "must": "fail",
            "files": [{"name": "keys.json", "text": '["d", "c"]'}],
            "argv": turned,
        }
    if kind == "error":
        made["files"][0]["text"] = (
            "import sys\nprint('CANARYOUT')\nprint('CANARYERR', file=sys.stderr)\nsys.exit(9)\n"
        )
    if kind in ("unreadable", "readable"):
        lost = {"of": "json", "test": "equals", "pointer": "/lost", "tolerance": None}
        made["pass_if"] = [{**lost, "value": "0"}]
        made["fail_if"] = [{**lost, "value": "3"}]
        text = made["files"][0]["text"]
        read = text.replace("print(made)", "print(json.dumps({'lost': 0 if made == keys else 3}))")
        made["files"][0]["text"] = read if kind == "readable" else text
    return made


def _answer(book: Book, step: Step, world: World) -> dict[str, Any]:
    open_ended = standing.is_open_ended(book.state)
    options = (OWN, standing.NONE) if open_ended else standing.option_ids(book.state)
    return {
        "answer": f"what {step.role} holds" if open_ended else None,
        "forecast": points(world.first[step.role], options, world.rest),
        "reasons": [f"{step.role} has a reason"],
        "could_be_wrong": [f"a way that {step.role} found"],
        "cruxes": [
            {
                "text": f"{step.role} would see it {n} times",
                "test": f"one sees it {n} times",
                "how": how,
                "probability": q,
                "if_true": points(true, options),
                "if_false": points(false, options),
            }
            for n, (how, q, true, false) in enumerate(world.proposed.get(step.role, ()), 1)
        ],
    }


def _agenda(book: Book, world: World) -> dict[str, Any]:
    labels = shuffled(book.state)
    by_role = sorted(labels.items(), key=lambda pair: ROLES.index(pair[1]))
    return {
        "options": list(OPTIONS) if standing.is_open_ended(book.state) else [],
        "shared": ["Lines matter."],
        "cruxes": [
            {
                "text": f"What {role} would see is so, {n}.",
                "test": f"One sees what {role} would see, {n}.",
                "how": how,
                "of": [f"{label}#crux-{n}", *([way] if world.merged.get(role) == "of" else [])],
                "negated": [way] if world.merged.get(role) == "negated" else [],
            }
            for label, role in by_role
            for way in (f"{label}#defeater-1",)
            for n, (how, *_) in enumerate(world.proposed.get(role, ()), 1)
        ],
        "could_be_wrong": [
            {
                "text": "It breaks.",
                "of": [
                    f"{label}#defeater-1" for label in sorted(labels) if labels[label] not in world.merged
                ],
            }
        ],
        "left_out": [],
    }


def _numbers(book: Book, step: Step, world: World) -> dict[str, Any]:
    options, own = standing.option_ids(book.state), world.first[step.role]

    def given(claim: str) -> dict[str, Any]:
        usual = world.of_role.get(step.role) or world.numbers or (50, own, own)
        q, true, false = world.of_claim.get(claim, usual)
        conditional = {"if_true": points(true, options), "if_false": points(false, options)}
        return {"claim": claim, "probability": q, **conditional}

    numbers = {"numbers": [given(claim) for claim in standing.kept_cruxes(book.state)]}
    if standing.is_open_ended(book.state):
        return {"forecast": points(own, options), **numbers}
    return numbers


def _read(world: World, claim: str) -> dict[str, Any]:
    line = DOCUMENT.decode().splitlines()[0]
    quotes = [] if world.document == "not_settled" else [{"ref": "K-1#L1", "quote": line}]
    return {"claim": claim, "verdict": world.document, "quotes": quotes, "notes": "As it is written."}


def _memo(book: Book, step: Step, world: World) -> dict[str, Any]:
    who = next(role for role in ROLES if f"S-1-B-{role}" in book.by_id)
    options = standing.option_ids(book.state)
    place = standing_of_look(book.state, step.name.round).leader
    leader = options[place or 0]
    answers = world.answers or leader
    texts = standing.option_texts(book.state)

    def sentence(name: str, text: str, **more: Any) -> dict[str, Any]:
        cites = {"refs": [f"S-1-B-{who}#reason-1"], "quote": None, "judgment": False}
        return {"field": name, "text": text, **cites, **more}

    sentences = [
        sentence("answer", f"Use {texts[answers]}."),
        sentence("why", "There is a reason for it."),
        sentence("changes_our_mind", "A lost line would show it wrong."),
        sentence("do_now", "Write the first line.", refs=[], judgment=True),
    ]
    if step.name.repeat > 1 and world.rewritten:
        for n in world.unsupported:
            sentences[n - 1]["text"] = world.rewritten
    why_not = None if answers == leader else "It is the safer one of the two."
    return {"answers": answers, "why_not_leader": why_not, "sentences": sentences}


def varied(world: World, **changes: Any) -> World:
    """The same world but for these."""
    return replace(world, **changes)


def scripted_run(path: Path, world: World | None = None) -> Path:
    """Make a finished run of `crux` at `path`. Its replies are scripted; no model wrote them."""
    play(begin(path, {"wait": "off"}), world or contested("document", first=dict.fromkeys(ROLES, 60)))
    return path


def status_of(book: Book) -> OutcomeStatus:
    """The status that a person is shown."""
    return outcome_of("run", book).status
