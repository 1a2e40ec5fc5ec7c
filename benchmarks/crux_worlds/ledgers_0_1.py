"""Play simulated worlds through the engine of release 0.1, as whole ledgers, and compare with the functions alone.

python -m benchmarks.crux_worlds.ledgers_0_1 [WORLDS]      30 worlds for each of four rows by default

Seats are scripted. Programs are real and run without a sandbox, because the file writes them itself.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from benchmarks.crux_worlds.release_0_1 import PARAMETERS, TRUST, _conditional, _exact, _proposals, run
from benchmarks.crux_worlds.world import CIRCUMSTANCES, Circumstances, Seat, Verdict, World
from ledger.state.book import Book
from ledger.state.state import VERIFIER
from roles.protocol import Step, awaited_experiments
from rounds.protocols import PROTOCOLS
from rounds.protocols.crux import asked, standing
from rounds.protocols.crux.answers import shuffled
from rounds.protocols.crux.programs import plans_reply
from rounds.protocols.crux.replies import PlansReply
from rounds.protocols.plans import AUTHORS
from rounds.protocols.programs import EXAMPLE
from rounds.run.engine import Answer
from rounds.run.experiments import conduct
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.protocols.world_seats import _numbers, _points
from tests.rounds.experimenting import BENCH
from tests.rounds.openings import clock

SAMPLE: Final = 30
ROWS: Final = (0, 1, 2, 8, 9, 12, 14)
FIRST_WORD: Final = {"holds": "dict", "fails": "turned", "inconclusive": "odd"}


class Scripted:
    """Scripted seats in a world: what each step is answered, and what the seats have learned."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.attempts: dict[int, int] = {}
        self.learned: set[int] = set()

    def seat(self, role: str) -> Seat:
        """Return the seat of a role."""
        return next(seat for seat in self.world.seats if seat.role == role)

    def how(self, fact: int) -> str:
        """Return how a fact would be decided."""
        not_run = "document" if self.world.circumstances.runnable else "execution"
        return "execution" if self.world.runnable[fact] else not_run

    def program(self, fact: int) -> dict[str, Any]:
        """Return a program that ends as the world says, with controls that work."""
        verdict: Verdict = self.world.program(fact, self.attempts.get(fact, 0))
        program = copy.deepcopy(EXAMPLE)
        odd = "if sys.argv[1] == 'odd': sys.exit(5)\n"
        program["files"][0]["text"] = program["files"][0]["text"].replace("keys = json", odd + "keys = json")
        program["argv"] = ["python3", "test.py", FIRST_WORD[verdict]]
        if verdict == "fails":
            program["controls"][0] = {
                "must": "fail",
                "files": [{"name": "keys.json", "text": '["d", "c"]'}],
                "argv": program["argv"],
            }
        return program

    def reply(self, book: Book, step: Step) -> Mapping[str, Any]:
        """Return the reply to a step."""
        state, round_, world = book.state, step.name.round, self.world
        options = standing.option_ids(state)
        if step.role != VERIFIER and (before := standing.latest(state, step.role, round_ + 1)) is not None:
            self.seat(step.role).forecast = tuple(int(v) for v in standing.points_of(before.points, options))
        match step.task:
            case "A":
                return {
                    "ill_posed": False,
                    "why": None,
                    "missing": [],
                    "double": [],
                    "two_readings": [],
                    "runnable": [],
                }
            case "B":
                seat = self.seat(step.role)
                again = step.name.repeat > 1
                forecast = world.redraw(seat) if again else seat.forecast
                given = {} if again else _proposals(world, [seat]).given
                return {
                    "answer": None,
                    "belief": _points(_exact(forecast), options),
                    "reasons": ["It weighs most."],
                    "defeaters": [],
                    "cruxes": [
                        {
                            "text": f"Fact {fact} is so.",
                            "test": "Somebody looks.",
                            "how": self.how(fact),
                            **_numbers(by_role[seat.role], options),
                        }
                        for fact, by_role in given.items()
                    ],
                    "share_found": 50,
                }
            case "C.agenda":
                return self._agenda(book)
            case "D":
                wanted = asked.planned_by(state, round_, step.role)
                programs = asked.programs_wanted(state, round_, step.role)
                is_without_programs = plans_reply(state) is PlansReply
                plan = {"steps": ["look"], "holds_if": "it is so", "fails_if": "it is not"}
                return {
                    "plans": [
                        {
                            "claim": claim,
                            **plan,
                            "form": "experiment" if claim in programs else "trace",
                            **(
                                {}
                                if is_without_programs
                                else {
                                    "program": self.program(_fact(book, claim)) if claim in programs else None
                                }
                            ),
                        }
                        for claim in wanted
                    ]
                }
            case "E.forecast":
                seat = self.seat(step.role)
                return {
                    "given": [self._given(book, seat, claim) for claim in standing.tested_in(state, round_)]
                }
            case "E.check":
                return {
                    "verdicts": [self._verdict(book, step, claim) for claim in asked.to_check(state, round_)]
                }
            case "F":
                said = _points(_exact(world.again(self.seat(step.role))), options)
                return {"belief": said, "because": [], "moved_by": "The result."}
            case "S.memo":
                who = next(role for role in AUTHORS if f"S-1-B-{role}" in book.by_id)
                cited: dict[str, Any] = {"refs": [f"S-1-B-{who}#reason-1"], "quote": None, "judgment": False}
                return {
                    "sentences": [
                        {"field": f, "text": "It is this one.", **cited} for f in ("answer", "do_now", "why")
                    ]
                }
            case "S.objection":
                return {"text": "It may be another one.", "dissents": False}
            case "S.check":
                count = len(state.memo.sentences) if state.memo else 0
                judged = [{"n": n, "verdict": "supported", "reason": "read"} for n in range(1, count + 1)]
                goals = [{"goal": goal.id, "served": "yes"} for goal in state.opening.goals]
                return {"sentences": judged, "goals": goals, "notes": "All are served."}
            case _:
                raise AssertionError(step.task)

    def _agenda(self, book: Book) -> Mapping[str, Any]:
        places: dict[int, list[str]] = {}
        for label, role in shuffled(book.state).items():
            words: Any = book.by_id[f"S-1-B-{role}"]
            for section in words.sections:
                if section.name.startswith("crux-"):
                    places.setdefault(_number(section.text), []).append(f"{label}#{section.name}")
        kept = sorted(fact for fact in _proposals(self.world, self.world.seats).facts if fact in places)
        return {
            "options": [],
            "shared": [],
            "defeaters": [],
            "cruxes": [
                {
                    "text": f"Fact {fact} is so.",
                    "test": "Somebody looks.",
                    "how": self.how(fact),
                    "of": places[fact],
                    "negated": [],
                }
                for fact in kept
            ],
            "left_out": [
                {"of": place, "why": "It is worth least."}
                for fact, found in places.items()
                if fact not in kept
                for place in found
            ],
        }

    def _given(self, book: Book, seat: Seat, claim: str) -> Mapping[str, Any]:
        numbers = _conditional(self.world.numbers(seat, _fact(book, claim)))
        return {
            "claim": claim,
            **_numbers(numbers, standing.option_ids(book.state)),
            "predicts": "holds" if numbers.q >= 50 else "fails",
            "fair": True,
            "fair_why": "It can come out either way.",
        }

    def _verdict(self, book: Book, step: Step, claim: str) -> Mapping[str, Any]:
        fact, round_ = _fact(book, claim), step.name.round
        verdict = self.world.argument(fact, self.attempts.get(fact, 0))
        self.attempts[fact] = self.attempts.get(fact, 0) + 1
        planners = [
            role
            for role in AUTHORS
            if claim in asked.planned_by(book.state, round_, role)
            and f"A-{round_}-{role}" in book.state.artifacts
        ]
        raised_by = book.state.claims[claim].raised_by
        role = next((role for role in planners if role != raised_by), planners[0])
        if role != raised_by and fact not in self.learned and verdict != "inconclusive":
            self.world.learn(fact, verdict, PARAMETERS.qualities["argued"])
            self.learned.add(fact)
        bearing = {"holds": "supports", "fails": "contradicts", "inconclusive": "inconclusive"}[verdict]
        return {
            "claim": claim,
            "bearing": bearing,
            "evidence": [{"ref": f"A-{round_}-{role}", "quote": None}],
            "notes": "It was argued.",
        }

    def ran(self, book: Book, experiment: str) -> None:
        """Let the seats learn what a program found."""
        plan: Any = book.by_id[experiment]
        fact = _fact(book, plan.claims[0])
        self.world.learn(fact, self.world.program(fact, self.attempts.get(fact, 0)), TRUST)
        self.attempts[fact] = self.attempts.get(fact, 0) + 1


def _number(text: str) -> int:
    return int("".join(character for character in text if character.isdigit()))


def _fact(book: Book, claim: str) -> int:
    event: Any = book.by_id[claim]
    return _number(event.text)


def play(path: Path, seed: int, circumstances: Circumstances) -> tuple[int, int, str]:
    """Play a world through the engine: its leader, replies, and reason to stop."""
    world = World(seed, circumstances)
    scripted = Scripted(world)
    session = _begin(path, world)
    protocol = PROTOCOLS["crux"]
    for _ in range(80):
        steps = session.asked()
        if steps:
            content = orjson.dumps(scripted.reply(session.book(), steps[0].step))
            session.submit(steps[0].step.id, content, Answer(seat="command", isolation="trusted"))
            continue
        waiting = awaited_experiments(protocol, session.book().state)
        if not waiting:
            break
        for experiment in waiting:
            scripted.ran(session.book(), experiment)
            list(conduct(session, BENCH, experiment))
    state = session.book().state
    leader = state.looks[-1].leader if state.looks else None
    reason = state.closing.reason if state.closing else "open"
    return int(str(leader).removeprefix("O-")) - 1, len(state.answered), str(reason)


def _begin(path: Path, world: World) -> RunSession:
    table: dict[str, Any] = {
        "deliberation": {
            "question": "Which is right?",
            "protocol": "crux",
            "options": [f"option {n}" for n in range(1, len(world.base) + 1)],
        },
        "rules": {"wait": "off"},
    }
    runs = "CPython 3.11" if world.circumstances.runnable else None
    opening = resolve(checked(table), {}, moot="0.2.0", seed=world.seed, experiments=runs)
    return start(
        path, opening.event, blobs=opening.blobs, files={}, verdicts=standard, clock=clock(), sync=False
    )


def main(options: Sequence[str] = ()) -> int:
    """Compare both on a sample; 1 where a leader or a reason differs."""
    sample = int(options[0]) if options else SAMPLE
    rows = [int(row) for row in options[1:]] or ROWS
    differ = 0
    for row in rows:
        circumstances = CIRCUMSTANCES[row]
        leaders = reasons = replies = 0
        for seed in range(sample):
            with tempfile.TemporaryDirectory() as directory:
                leader, count, reason = play(Path(directory) / "run", seed, circumstances)
            ended = run(seed, circumstances)
            leaders += leader == ended.leader
            reasons += reason == ended.reason
            replies += count == ended.replies
            if (leader, reason) != (ended.leader, ended.reason):
                print(f"  seed {seed}: ledger {leader, count, reason}, functions {ended}")
        differ += 2 * sample - leaders - reasons
        print(
            f"{circumstances.name}: of {sample} the same leader {leaders}, reason {reasons}, replies {replies}",
            flush=True,
        )
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
