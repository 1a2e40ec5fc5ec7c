"""A scripted seat for tests: lawful replies made from the book by rule, seeded, so that runs of any length are cheap.

It is a test double and says so (`provider: scripted`); nothing it writes is ever shown as a model's.
"""

from __future__ import annotations

import random
from typing import Any

import orjson

from ledger.events import Artifact, Statement
from ledger.events.envelope import SeatKind
from ledger.state.book import Book, sections_of
from roles.asof import status_at_opening
from roles.brief import Brief
from roles.objections import objection_in
from roles.protocol import Protocol, Step
from roles.seats.port import Request, SeatReply
from rounds.protocols.schedule import applicable_checks
from rounds.run.session import RunSession

WORDS = (
    "journal",
    "stream",
    "index",
    "writer",
    "reader",
    "crash",
    "lock",
    "hash",
    "commit",
    "batch",
    "replay",
)

TRACES = ("happy_path", "edge_case", "cross_round")


class Script:
    """Replies for `structured`. `disagreement` is the share of checks that come out BROKEN or UNCLEAR."""

    def __init__(self, seed: int = 0, disagreement: float = 0.5) -> None:
        self.seed = seed
        self.disagreement = disagreement

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        """The reply of a step: a function of seed, step and what its brief shows."""
        rng = random.Random(f"{self.seed}/{step.id}")
        known = sorted((book.events[seq] for seq in saw), key=lambda event: (event.round, str(event.id)))
        made = self._make(book, step, rng, known)
        return orjson.dumps(self._in_fields(step, made, random.Random(f"{self.seed}/{step.id}/2"), known))

    def _in_fields(
        self, step: Step, made: dict[str, Any], rng: random.Random, known: list[Any]
    ) -> dict[str, Any]:
        """Add what stands in fields: evidence claim by claim, places, objections."""
        for draft in (
            *made.get("proposed_claims", ()),
            *(made.get("claims", ()) if step.task == "F" else ()),
        ):
            texts = [event for event in known if isinstance(event, Statement)]
            draft["how"] = rng.choice(["execution", "document", "judgement"])
            draft["places"] = [f"{rng.choice(texts).id}#p1"] if texts else []
        if step.task.startswith("E.check"):
            for test in made["claims"]:
                test["evidence"] = self._evidence(rng, known, 1) if test["bearing"] else []
        if step.task in ("F", "S.review"):
            made["against"] = _prose(rng, 8) if rng.random() < 0.5 else None
        if step.task in ("G", "S.close"):
            phase = "F" if step.task == "G" else "S"
            heard = [
                event.id
                for event in known
                if isinstance(event, Statement)
                and event.phase == phase
                and event.by != step.role
                and objection_in(event)
            ]
            for decision in made["decisions"]:
                del decision["conditions"]
                decision["falsifiers"] = [_prose(rng, 6)]
                decision["requirements"] = []
                decision["dissent"] = heard[1:]
            made["met"] = [{"objection": one, "how": _prose(rng, 6)} for one in heard[:1]]
        if step.task == "G":
            # Texts of so few words look alike, and a question that is asked again decides: here none is to a person.
            made["concerns"] = [one | {"deciding": None, "for_human": False} for one in made["concerns"]]
        if step.task == "S.review":
            made["failure_modes"] = [
                {"mode": one["mode"], "seen": one["seen"]} for one in made["failure_modes"]
            ]
        return made

    def _make(self, book: Book, step: Step, rng: random.Random, known: list[Any]) -> dict[str, Any]:
        match step.task:
            case "B" | "C":
                sections = {"main": 40, "risks": 20}
                texts = [{"name": name, "text": _prose(rng, words)} for name, words in sections.items()]
                return {"sections": texts, "responds_to": [], "options": []}
            case "D.action" | "D.guardian" | "D.observer" | "D.critic":
                return self._artifact(book, step, rng, known)
            case "E.position":
                checks = applicable_checks(book.state, step.name.round)
                return {
                    "positions": [
                        {
                            "check_id": check,
                            "stance": rng.choice(["BROKEN", "ROBUST", "UNCLEAR"]),
                            "confidence": rng.randint(1, 5),
                            "reason": _prose(rng, 8),
                        }
                        for check in checks
                    ]
                }
            case "E.belief":
                first, *rest = [*([option.id for option in book.state.options] or ["stands"]), "none"]
                return {
                    "belief": [{"option": first, "points": 80}, {"option": rest[0], "points": 20}],
                    "because": [],
                }
            case "E.check1" | "E.check2" | "E.check3" | "E.check4":
                return self._check(book, step, rng, known)
            case "F":
                return self._review(book, step, rng, known)
            case "G":
                cites = self._cites(rng, known)
                return {
                    "sections": [{"name": "assessment", "text": _prose(rng, 40)}],
                    "decisions": [_decision(rng, cites)],
                    "concerns": [_concern(rng)] if rng.random() < 0.3 else [],
                }
            case "H":
                assert book.state.opened is not None
                return {
                    "verdict": "PASS",
                    "deviation_score": 1,
                    "notes": _prose(rng, 8),
                    "anchors": [
                        {"goal": goal.id, "served": "yes", "evidence": []} for goal in book.state.opened.goals
                    ],
                    "addresses": None,
                }
            case "S.resolve":
                pending = [claim for claim, facts in book.state.claims.items() if facts.status == "pending"]
                return {
                    "resolutions": [
                        {
                            "claim_id": claim,
                            "result": "UNCLEAR",
                            "bearing": "inconclusive",
                            "evidence": self._evidence(rng, known, 2),
                            "notes": _prose(rng, 8),
                            "confidence": 2,
                        }
                        for claim in pending
                    ]
                }
            case "S.review":
                return {
                    "summary": _prose(rng, 20),
                    "failure_modes": [
                        {"mode": f"FM-{n}", "seen": rng.choice(["yes", "no"]), "text": _prose(rng, 6)}
                        for n in range(1, 9)
                    ],
                }
            case "S.close":
                return {
                    "sections": [{"name": "summary", "text": _prose(rng, 40)}],
                    "decisions": [_decision(rng, self._cites(rng, known))],
                }
            case _:
                raise AssertionError(f"no script for {step.task}")

    def _artifact(self, book: Book, step: Step, rng: random.Random, known: list[Any]) -> dict[str, Any]:
        proposal = next(event for event in known if isinstance(event, Statement))
        ref = f"{proposal.id}#main"
        quote = " ".join(sections_of(proposal)["main"][0].split()[:5])
        body, section = _bodies(rng, ref, quote)[step.role]
        claims = [_claim(rng, section) for _ in range(rng.randint(1, 2))]
        tested = sorted(
            event.id
            for event in known
            if event.kind == "claim"
            and status_at_opening(book.state, event.id, step) not in ("pending", "superseded")
        )
        if tested and step.role == "critic" and rng.random() < 0.6:
            claims[0]["supersedes"] = rng.choice(tested)
        return {
            "body": body,
            "findings": [{"section": section, "text": _prose(rng, 8)}],
            "proposed_claims": claims,
            "cites": [ref],
            "self_assessment": 3,
            "minutes": 10,
        }

    def _check(self, book: Book, step: Step, rng: random.Random, known: list[Any]) -> dict[str, Any]:
        result = "ROBUST"
        if rng.random() < self.disagreement:
            result = rng.choice(["BROKEN", "BROKEN", "UNCLEAR"])
        bearings = (
            ["inconclusive"] if result == "UNCLEAR" else ["supports", "contradicts", "partly_contradicts"]
        )
        movable = [
            event.id
            for event in known
            if event.kind == "claim" and status_at_opening(book.state, event.id, step) != "superseded"
        ]
        picked = rng.sample(movable, min(len(movable), 2))
        return {
            "result": result,
            "evidence": self._evidence(rng, known, 2),
            "notes": _prose(rng, 10),
            "claims": [{"claim_id": claim, "bearing": rng.choice([*bearings, None])} for claim in picked],
            "about": [],
            "confidence": rng.randint(1, 5),
        }

    def _review(self, book: Book, step: Step, rng: random.Random, known: list[Any]) -> dict[str, Any]:
        round_ = step.name.round
        flips: list[dict[str, Any]] = []
        for check in applicable_checks(book.state, round_):
            position = book.state.positions.get(f"P-{round_}-{check}-{step.role}")
            verdict = book.state.checks[f"V-{round_}-{check}"].result
            if position and position.stance != verdict and rng.random() < 0.4:
                because = self._evidence(rng, known, 1) if rng.random() < 0.5 else []
                flips.append({"check_id": check, "to": verdict, "because": because})
        tension = {
            "text": _prose(rng, 10),
            "between": ["action", "critic"],
            "severity": 3,
            "evidence": self._evidence(rng, known, 1),
        }
        return {
            "summary": _prose(rng, 12) + ".",
            "flips": flips,
            "claims": [_claim(rng, "summary")] if rng.random() < 0.4 else [],
            "tensions": [tension] if rng.random() < 0.3 else [],
        }

    def _evidence(self, rng: random.Random, known: list[Any], count: int) -> list[dict[str, Any]]:
        places = [
            (f"{event.id}#{name}", values[0])
            for event in known
            if isinstance(event, Artifact | Statement)
            for name, values in sections_of(event).items()
            if values
        ]
        if len(places) < count:
            places += [(event.id, event.text) for event in known if event.kind in ("claim", "decision")]
        picked = rng.sample(places, count)
        return [{"ref": ref, "quote": " ".join(text.split()[:4])} for ref, text in picked]

    def _cites(self, rng: random.Random, known: list[Any]) -> list[dict[str, Any]]:
        claims = [event.id for event in known if event.kind == "claim"]
        checks = [event.id for event in known if event.kind == "verification"]
        cites = [{"id": claim, "relation": "based-on"} for claim in rng.sample(claims, min(2, len(claims)))]
        return cites + [
            {"id": check, "relation": "supported-by"} for check in rng.sample(checks, min(1, len(checks)))
        ]


class ScriptedSeat:
    """A seat that answers by script. Its kind is `command`: a program, not a model."""

    kind: SeatKind = "command"

    def __init__(self, session: RunSession, script: Script) -> None:
        self._session, self._script = session, script

    async def reply(self, request: Request) -> SeatReply:
        """The scripted reply of the request's step."""
        content = self._script.reply(self._session.book(), request.step, request.brief.saw)
        return SeatReply(
            content=content, seat="command", isolation="trusted", provider="scripted", simulated="fake"
        )


def scripted_reply(script: Script, book: Book, protocol: Protocol, step: Step, brief: Brief) -> bytes:
    """One reply, for tests that submit by hand."""
    del protocol
    return script.reply(book, step, brief.saw)


def _prose(rng: random.Random, words: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(words))


def _claim(rng: random.Random, section: str) -> dict[str, Any]:
    return {
        "text": _prose(rng, 10),
        "testable_as": _prose(rng, 8),
        "section": section,
        "anchor_ref": rng.choice(["G-1", None]),
        "about": [],
        "supersedes": None,
    }


def _decision(rng: random.Random, cites: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "text": _prose(rng, 12),
        "cites": cites,
        "made_by": "round_lead",
        "round_artifact_refs": [],
        "anchor_ref": "G-1",
        "about": [],
        "confidence": 4,
        "conditions": [],
    }


def _concern(rng: random.Random) -> dict[str, Any]:
    return {
        "type": "question",
        "text": _prose(rng, 8),
        "severity": 2,
        "between": [],
        "evidence": [],
        "for_human": True,
    }


def _bodies(rng: random.Random, ref: str, quote: str) -> dict[str, tuple[dict[str, Any], str]]:
    return {
        "action": ({"traces": [_trace(rng, kind, ref) for kind in TRACES]}, "trace-1-step-2"),
        "guardian": (
            {
                "invariant": {
                    "always": _prose(rng, 6),
                    "measured_by": _prose(rng, 4),
                    "tolerance": "zero lost lines",
                },
                "why_it_matters": _prose(rng, 8),
                "verdict": "PASS",
                "evidence": [{"ref": ref, "quote": quote}],
                "confidence": 4,
                "mechanism": None,
                "condition": None,
                "failure_scenario": _prose(rng, 8),
            },
            "invariant-evidence",
        ),
        "observer": (
            {
                "persona": {"name": "Ines", "role": "on-call engineer", "skill": "two years of SQL, no Rust"},
                "session_goal": _prose(rng, 6),
                "starting_context": _prose(rng, 6),
                "steps": [{"action": _prose(rng, 4), "outcome": "success"} for _ in range(8)],
                "friction": [{"step": 3, "text": _prose(rng, 6)}],
                "verdict": {
                    "goal_achieved": "Yes",
                    "time_to_first_output": "4 minutes",
                    "would_recommend": "Yes",
                },
            },
            "friction-1",
        ),
        "critic": (
            {
                "target": ref,
                "why_this_target": _prose(rng, 6),
                "hypothesis": _prose(rng, 8),
                "preconditions": [_prose(rng, 5)],
                "attack": [{"action": _prose(rng, 4), "observable": _prose(rng, 4)} for _ in range(5)],
                "expected": {"broken": _prose(rng, 4), "robust": _prose(rng, 4)},
                "verdict": "BROKEN",
                "verdict_reason": _prose(rng, 6),
                "confidence": 3,
                "assumption": _prose(rng, 6),
            },
            "attack-2",
        ),
    }


def _trace(rng: random.Random, kind: str, ref: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "trigger": f"{kind} {_prose(rng, 3)}",
        "initial_state": [{"name": f"v{n}", "value": str(n)} for n in range(3)],
        "steps": [{"action": _prose(rng, 3), "delta": f"v{n % 3}={n}"} for n in range(10)],
        "outcome": _prose(rng, 4),
        "hooks": [ref],
    }
