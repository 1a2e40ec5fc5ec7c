"""Lawful replies for every short protocol, made from what a brief shows: a test double, never shown as a model's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import orjson

from ledger.events import Event
from ledger.events.ids import number_of, parse_reference
from ledger.state.book import Book
from roles.protocol import Step
from rounds.protocols.adversarial import SCALES
from rounds.protocols.comparative import CRITERIA
from rounds.protocols.sides import pairing
from rounds.protocols.step_table import rule
from tests.protocols import crux_seats

Shown = Sequence[Event]
Script = Callable[[Book, Step, Shown], dict[str, Any]]


def of(shown: Shown, kind: str) -> list[Any]:
    """The shown events of one kind, by number; never by seq, which the order of arrival decides."""
    return sorted(
        (event for event in shown if event.kind == kind),
        key=lambda event: (number_of(str(event.id)), str(event.id)),
    )


def ids(shown: Shown, kind: str) -> list[str]:
    """Their ids."""
    return [str(event.id) for event in of(shown, kind)]


def say(step: Step, what: str) -> str:
    """Words that name the step, so that a canary can be looked for."""
    return f"{what} of {step.id.replace('.', ' ')}"


def _hangs_on(*fields: str) -> dict[str, Any]:
    """What a decision hangs on."""
    said = {"falsifiers": ["it fails at night"], "requirements": ["somebody is on call"]}
    return {name: said[name] for name in fields}


def _argument(step: Step, n: int) -> dict[str, Any]:
    return {
        "claim": say(step, f"claim number {n}"),
        "reasoning": say(step, "a chain of reasoning"),
        "evidence": say(step, "evidence"),
        "quotes": [],
    }


def _assumptions(step: Step) -> list[dict[str, Any]]:
    return [{"text": say(step, f"assumption {n}"), "unrequested": n % 2 == 0} for n in range(5)]


DISPOSITIONS: Final = ("accepted", "rejected", "escalated")


def _disposed(n: int, known: Sequence[str] = DISPOSITIONS) -> dict[str, Any]:
    disposition = known[n % len(known)]
    return {
        "disposition": disposition,
        "reason": "for a reason",
        "revision": "a change" if disposition == "accepted" else None,
        "question": "who pays?" if disposition == "escalated" else None,
    }


def _jugalbandi(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    del book
    match step.task:
        case "plan":
            return {
                "plan": say(step, "first") + ".\n\n" + say(step, "then"),
                "assumptions": _assumptions(step),
            }
        case "challenge":
            target = ids(shown, "statement")[0]
            return {
                "challenges": [
                    {
                        "tag": tag,
                        "claim": say(step, f"{tag} {n} breaks"),
                        "text": "at night, dearly",
                        "target": target,
                        "evidence": [],
                    }
                    for n, tag in enumerate(("STRUCTURAL", "ASSUMPTION", "MISSING", "STRUCTURAL"))
                ]
            }
        case _:
            challenges = ids(shown, "challenge")
            return {
                "dispositions": [{"of": one, **_disposed(n)} for n, one in enumerate(challenges)],
                "decision": "build it",
                "plan": say(step, "final plan"),
                "confidence": 4,
                **_hangs_on("falsifiers", "requirements"),
            }


def _pass(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    del shown
    known = DISPOSITIONS if rule(book.state, "dispositions") == "three" else DISPOSITIONS[:2]
    return {
        "plan": say(step, "plan"),
        "assumptions": _assumptions(step),
        "criticisms": [
            {"claim": say(step, f"flaw {n}"), "text": "it breaks", **_disposed(n, known)} for n in range(3)
        ],
        "decision": "do it",
        "revised": say(step, "revised plan"),
        "confidence": 3,
        **({"answers": None} if book.state.opening.options else {}),
        **_hangs_on("falsifiers", "requirements"),
    }


def _debate(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    role = step.role
    match step.task:
        case "opening":
            return {"position": say(step, "position"), "arguments": [_argument(step, n) for n in range(3)]}
        case "crossing":
            theirs = [event for event in of(shown, "argument") if event.by != role]
            kinds = ("refute", "challenge", "concede", "partial")
            return {
                "responses": [
                    {
                        "target": event.id,
                        "type": kinds[n % 4],
                        "claim": say(step, f"point {n}"),
                        "text": "because",
                        "follow_up_question": None if kinds[n % 4] == "concede" else "how so?",
                        "evidence": [],
                    }
                    for n, event in enumerate(theirs)
                ]
            }
        case "answering":
            asked = [event for event in of(shown, "challenge") if event.follow_up_question]
            return {
                "answers": [
                    {"to": event.id, "outcome": "answer", "text": say(step, "answer"), "evidence": []}
                    for event in asked
                ]
            }
        case "closing":
            own = [str(event.id) for event in of(shown, "argument") if event.by == role]
            return {
                "concessions": [{"of": own[0], "text": "given up"}],
                "unrebutted": own[1:],
                "position": " ".join([say(step, "final position"), *["holds"] * 110]),
            }
        case _:
            return _judged(book, step, shown)


def _judged(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    fields = {
        "logic30": ("logic_score", "evidence_score", "responsiveness_score", "honesty_score"),
        "evidence40": ("evidence_score", "coherence_score", "rebuttal_score", "clarity_score"),
    }[rule(book.state, "rubric")]
    arguments = of(shown, "argument")
    return {
        "scores": [
            {
                "argument_id": event.id,
                **dict.fromkeys(fields, 3 + (n + 2 * (event.side == "PRO")) % 6),
                "fallacies": ["Straw Man"] if n == 0 else [],
                "notes": "noted",
                "claimed_total": "7.5" if n == 0 else None,
                "standing": "UPHELD" if n % 2 else "UNCERTAIN",
                "reason": "so it is",
            }
            for n, event in enumerate(arguments)
        ],
        "key_insight": say(step, "insight"),
        "unresolved_questions": ["what does it cost?"],
        "recommendation": say(step, "recommendation"),
        "confidence": 4,
        **_hangs_on("falsifiers"),
    }


def _concern(step: Step, n: int) -> dict[str, Any]:
    return {
        "text": say(step, f"concern {n}"),
        "risk": "an outage",
        "fix": "mend it",
        "severity": 5 - n % 5,
        "evidence": [{"ref": "K-1#L1", "quote": "one writer"}],
    }


def _adversarial(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    match step.task:
        case "case":
            blockers = [{"text": say(step, "blocker"), "fix": "mend it"}]
            return {
                "summary": say(step, "case"),
                "arguments": [_argument(step, n) for n in range(2)],
                "blockers": blockers,
            }
        case "attack":
            return {"works": say(step, "what works"), "concerns": [_concern(step, n) for n in range(5)]}
        case _:
            concerns, arguments = ids(shown, "concern"), ids(shown, "argument")
            return {
                "scores": [{"of": one, "score": 1 + n % 5, "reason": "so"} for n, one in enumerate(concerns)],
                "surviving": arguments[:1],
                "unaddressed": concerns[:1],
                "added": [] if concerns else [_concern(step, 0)],
                "pulled_punches": "no",
                "pulled_punches_why": "it hit",
                "agreement": ["both want it"],
                "contested": ["when"],
                "narratives": ["one story", "another"],
                "verdict": SCALES[rule(book.state, "scale")][1],
                "decision": say(step, "decision"),
                "confidence": 3,
                **_hangs_on("falsifiers", "requirements"),
            }


def _devils_advocate(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    del book
    challenges = ids(shown, "challenge")
    match step.task:
        case "steelman":
            return {"position": say(step, "one") + ".\n\n" + say(step, "two")}
        case "attack":
            target = ids(shown, "statement")[0]
            return {
                "challenges": [
                    {
                        "claim": say(step, f"wrong {n}"),
                        "text": "harm follows",
                        "target": f"{target}#p1",
                        "severity": 3,
                        "evidence": [{"ref": f"{target}#p1", "quote": None}],
                    }
                    for n in range(5)
                ]
            }
        case "defence":
            target = ids(shown, "statement")[0]
            fresh = [{"ref": f"{target}#p2", "quote": None}]
            return {
                "answers": [
                    {
                        "to": one,
                        "outcome": "concede" if n == 2 else "defend",
                        "text": "so",
                        "evidence": [] if n == 2 else fresh,
                    }
                    for n, one in enumerate(challenges)
                ],
                "position": say(step, "new position"),
            }
        case "rating":
            known = ("addressed", "partially_addressed", "deflected")
            return {
                "ratings": [
                    {"of": one, "disposition": known[n % 3], "reason": "so"}
                    for n, one in enumerate(challenges)
                ]
            }
        case _:
            words = {name: say(step, name) for name in ("survived", "strengthened", "needs_work", "abandon")}
            return {**words, "decision": "keep it", "confidence": 4, **_hangs_on("falsifiers")}


def _ratchet(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    del book
    match step.task:
        case "draft":
            return {"text": say(step, "one draft") + ".\n\n" + say(step, "two")}
        case "critique":
            target = ids(shown, "statement")[0]
            return {
                "critiques": [
                    {
                        "quote": {"ref": f"{target}#p1", "quote": "one draft"},
                        "weakness": say(step, f"weak {n}"),
                        "fix": "say it",
                    }
                    for n in range(3)
                ]
            }
        case _:
            outcomes = ("fix", "justify", "fix")
            return {
                "answers": [
                    {"to": one, "outcome": outcomes[n], "text": "done"}
                    for n, one in enumerate(ids(shown, "challenge"))
                ],
                "text": say(step, "the whole text"),
                "decision": "it is settled",
            }


def _panel(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    match step.task:
        case "findings":
            severities = ("Critical", "High", "Low")
            return {
                "overview": say(step, "overview"),
                "findings": [
                    {
                        "text": say(step, f"finding {n}"),
                        "severity": severity,
                        "fix": "mend it",
                        "evidence": [],
                    }
                    for n, severity in enumerate(severities)
                ],
            }
        case "crossing":
            return {
                "marks": [
                    {"of": one, "cross_cutting": n == 0, "severity": 4, "reason": say(step, "mark")}
                    for n, one in enumerate(ids(shown, "concern"))
                ]
            }
        case _:
            return {
                "quality": [{"of": one, "value": 4, "reason": "clear"} for one in ids(shown, "statement")],
                "blockers": ids(shown, "concern")[:2],
                "recommendations": ["mend the first"],
                "verdict": SCALES[rule(book.state, "scale")][0],
                "decision": say(step, "decision"),
                "confidence": 4,
                **_hangs_on("falsifiers"),
            }


def _cross_examination(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    del book
    match step.task:
        case "analysis":
            return {"analysis": say(step, "analysis one") + ".\n\n" + say(step, "two")}
        case "questions":
            return {
                "questions": [
                    {
                        "about": {"ref": f"{one}#p1", "quote": "analysis one"},
                        "gap": say(step, f"gap {n} in {one}"),
                        "question": say(step, f"question {n} on {one}"),
                    }
                    for one in ids(shown, "statement")
                    for n in range(2)
                ]
            }
        case "answering":
            own = next(event.id for event in of(shown, "statement"))
            return {
                "answers": [
                    {
                        "to": one,
                        "outcome": "defend" if n else "concede",
                        "text": say(step, "answer"),
                        "evidence": [{"ref": f"{own}#p2", "quote": None}] if n else [],
                    }
                    for n, one in enumerate(ids(shown, "challenge"))
                ],
                "analysis": say(step, "revised analysis"),
            }
        case _:
            outcome: Mapping[str, str] = {event.to: event.outcome for event in of(shown, "response")}
            become = {"defend": "defended", "concede": "conceded"}
            return {
                "assessments": [
                    {"of": one, "disposition": become.get(outcome.get(one, ""), "deflected"), "reason": "so"}
                    for one in ids(shown, "challenge")
                ],
                "decision": say(step, "decision"),
                "confidence": 3,
                **_hangs_on("falsifiers"),
            }


def _priority(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    del shown
    assert book.state.opened is not None
    levels = ("P0", "P2", "P3") if step.role == "urgency" else ("P2", "P2", "P1")
    return {
        "principle": say(step, "principle"),
        "reasoning": say(step, "a chain of reasoning"),
        "evidence": say(step, "evidence"),
        "levels": [
            {"of": option.id, "level": levels[n % 3], "reason": "so"}
            for n, option in enumerate(book.state.opened.options)
        ],
    }


_NUMBERS: Final = {"utility": (70, 20), "accuracy": (90, 10), "safety": (80, 60)}


def _tribunal(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    del book, shown
    if step.task == "challenge":
        return {"claim": say(step, "weakest"), "text": say(step, "challenge")}
    confidence, risk = _NUMBERS[step.role]
    if step.task == "revise" and step.role == "safety":
        risk = 20
    return {"reasoning": say(step, "reasons"), "confidence": confidence, "risk": risk}


def _comparative(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    criteria = CRITERIA[rule(book.state, "criteria")]
    match step.task:
        case "weights":
            weights = ("High", "Medium", "Low")
            return {
                "weights": [
                    {"criterion": one, "weight": weights[n % 3], "reason": "so"}
                    for n, one in enumerate(criteria)
                ]
            }
        case "case":
            return {
                "criteria": [
                    {
                        "criterion": one,
                        "claim": say(step, f"claim on {one}"),
                        "reasoning": say(step, "a chain of reasoning"),
                        "evidence": say(step, "evidence"),
                    }
                    for one in criteria
                ],
                "risks": [say(step, f"risk {n}") for n in range(3)],
                "stakeholders": "the team",
                "closing": "One. Two. Three.",
            }
        case "rebuttal":
            theirs = [event for event in of(shown, "argument") if event.by != step.role][:3]
            return {
                "rebuttals": [
                    {"target": event.id, "quote": "claim on", "why": say(step, "fails"), "evidence": []}
                    for event in theirs
                ],
                "conceded": None,
            }
        case _:
            pair = pairing(book.state, step.name.round)
            return {
                "scores": [
                    {"option": option, "criterion": one, "score": 5 if option == "O-1" else 2, "reason": "so"}
                    for option in pair
                    for one in criteria
                ],
                "rebuttals": [
                    {"of": one, "effectiveness": 3, "target": "SURVIVE", "reason": "so"}
                    for one in ids(shown, "challenge")
                ],
                "recommended": pair.a,
                "decision": say(step, "decision"),
                "falsifiers": ["if one", "if two"],
                "questions": ["how much?", "how long?"],
                "confidence": 3,
            }


def _crux(book: Book, step: Step, shown: Shown) -> dict[str, Any]:
    """One claim is contested, and a document supports it."""
    del shown
    return crux_seats.reply(book, step, crux_seats.contested("document"))


SCRIPTS: Final[Mapping[str, Script]] = {
    "crux": _crux,
    "jugalbandi": _jugalbandi,
    "single-pass": _pass,
    "council": _pass,
    "debate": _debate,
    "adversarial": _adversarial,
    "devils-advocate": _devils_advocate,
    "comparative": _comparative,
    "cross-examination": _cross_examination,
    "ratchet": _ratchet,
    "panel": _panel,
    "priority": _priority,
    "tribunal": _tribunal,
}
"""Protocol → its lawful replies."""


def reply(book: Book, step: Step, saw: Sequence[int]) -> bytes:
    """The lawful reply of a step."""
    assert book.state.opened is not None
    shown = [event for event in book.events if event.seq in saw and event.seq > 0]
    return orjson.dumps(SCRIPTS[book.state.opened.protocol](book, step, shown))


def named(shown: Shown) -> set[str]:
    """Ids that shown events carry."""
    return {parse_reference(str(event.id)).id for event in shown if event.id}
