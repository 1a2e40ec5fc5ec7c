"""Good replies of a small deliberation, by step: with them a run breaks no rule at all, not even one of style."""

from __future__ import annotations

from typing import Any, Final

from ledger.events.ids import StepName

STRESSED: Final = 2
"""The round from which the critic is absent."""
_FILLER: Final = "the writer appends one line and the reader counts it again"
_POSITIONS: Final = {"action": "ROBUST", "guardian": "ROBUST", "observer": "UNCLEAR", "critic": "BROKEN"}


def prose(words: int, topic: str) -> str:
    """A text of so many words that begins with its topic."""
    text = topic.split()
    while len(text) < words:
        text += _FILLER.split()
    return " ".join(text[:words]) + "."


def reply(name: StepName, lead: str, pending: tuple[str, ...]) -> dict[str, Any]:
    """The reply of a step. `lead` leads its round; `pending` are the claims that are pending now."""
    match name.phase, name.act:
        case "B", None:
            return _statement(prose(450, f"proposal of round {name.round}"))
        case "C", None:
            return _statement(prose(240, f"supplement by {name.role}"))
        case "D", None:
            return _artifact(name, f"S-{name.round}-B-{lead}#main")
        case "E", "position":
            checks = {1: (1, 2, 3), STRESSED: (2, 4)}.get(name.round, (1, 2, 3, 4))
            return {"positions": [_position(check, _POSITIONS[name.role]) for check in checks]}
        case "E", act:
            assert act is not None, "a check has an act"
            return _CHECKS[act](name.round)
        case "F", None:
            return _review(name)
        case "G", None:
            return {**_decided(name, "assessment", "what converged"), "concerns": []}
        case "H", None:
            return {
                "verdict": "PASS",
                "deviation_score": 1,
                "notes": "Both goals are still served.",
                "anchors": [{"goal": goal, "served": "yes", "evidence": []} for goal in ("G-1", "G-2")],
                "addresses": None,
            }
        case "S", "resolve":
            return {"resolutions": [_resolution(name.round, claim) for claim in pending]}
        case "S", "review":
            return {
                "summary": "The run kept to its question.",
                "failure_modes": [{"mode": f"FM-{n}", "seen": "no"} for n in range(1, 9)],
                "against": _OBJECTIONS.get((name.round, "S-review", name.role)),
            }
        case "S", "close":
            return _decided(name, "summary", "what stands")
        case _:
            raise AssertionError(f"no reply for {name}")


def _statement(text: str) -> dict[str, Any]:
    return {"sections": [{"name": "main", "text": text}], "responds_to": [], "options": []}


def _position(check: int, stance: str) -> dict[str, Any]:
    return {"check_id": check, "stance": stance, "confidence": 3, "reason": "So the artifacts read."}


def _claim(text: str, section: str, supersedes: str | None = None) -> dict[str, Any]:
    return {
        "text": text,
        "testable_as": f"a run of a thousand appends shows it: {len(text)} lines are found",
        "section": section,
        "anchor_ref": "G-1",
        "about": ["O-1"],
        "supersedes": supersedes,
        "how": "judgement",
        "places": ["K-1#L3"],
    }


def _artifact(name: StepName, proposal: str) -> dict[str, Any]:
    past = [f"D-{name.round - 1}-1"] if name.round > 1 else []
    body, section, claims = _BODIES[name.role](name.round, proposal, past)
    return {
        "body": body,
        "findings": [{"section": section, "text": "This is where it shows."}],
        "proposed_claims": claims,
        "cites": [proposal, *past],
        "self_assessment": 3,
        "minutes": 12,
    }


def _trace(kind: str, trigger: str, hooks: list[str]) -> dict[str, Any]:
    return {
        "kind": kind,
        "trigger": trigger,
        "initial_state": [{"name": f"v{n}", "value": str(n)} for n in range(3)],
        "steps": [{"action": f"append line {n}", "delta": f"v{n % 3}={n + 1}"} for n in range(10)],
        "outcome": "the stream holds ten lines",
        "hooks": hooks,
    }


def _action(round_: int, proposal: str, past: list[str]) -> tuple[dict[str, Any], str, list[Any]]:
    traces = [
        _trace("happy_path", "a client appends", [proposal]),
        _trace("edge_case", "the disk is full", [proposal]),
        _trace("cross_round", "an old decision is used", past or [proposal]),
    ]
    claim = _claim(f"Action holds in round {round_} that no append is lost.", "trace-1-step-3")
    return {"traces": traces}, "trace-2-step-4", [claim]


def _guardian(round_: int, proposal: str, past: list[str]) -> tuple[dict[str, Any], str, list[Any]]:
    del past
    body = {
        "invariant": {
            "always": "every acknowledged line is read again",
            "measured_by": "counting lines before and after a crash",
            "tolerance": "zero lost lines",
        },
        "why_it_matters": "A lost line cannot be told from one that was never written.",
        "verdict": "PASS",
        "evidence": [{"ref": proposal, "quote": f"proposal of round {round_}"}],
        "confidence": 4,
        "mechanism": None,
        "condition": None,
        "failure_scenario": "The count is right and the order is wrong.",
    }
    return (
        body,
        "invariant",
        [_claim(f"Guardian holds in round {round_} that the count is exact.", "invariant")],
    )


def _observer(round_: int, proposal: str, past: list[str]) -> tuple[dict[str, Any], str, list[Any]]:
    del proposal, past
    body = {
        "persona": {"name": "Ines", "role": "on-call engineer", "skill": "two years of SQL, no Rust"},
        "session_goal": "find a lost line in ten minutes",
        "starting_context": "A pager goes off at night.",
        "steps": [{"action": f"opens file {n} and counts", "outcome": "success"} for n in range(8)],
        "friction": [{"step": 3, "text": "The count is shown nowhere."}],
        "verdict": {"goal_achieved": "Yes", "time_to_first_output": "4 minutes", "would_recommend": "Yes"},
    }
    return (
        body,
        "friction-1",
        [_claim(f"Observer holds in round {round_} that counting takes minutes.", "step-3")],
    )


def _critic(round_: int, proposal: str, past: list[str]) -> tuple[dict[str, Any], str, list[Any]]:
    body = {
        "target": past[0] if past else proposal,
        "why_this_target": "Everything rests on it.",
        "hypothesis": "Two appends and one crash lose a line.",
        "preconditions": ["the power fails between two appends"],
        "attack": [{"action": f"cut the power at {n}", "observable": f"line {n} is gone"} for n in range(5)],
        "expected": {"broken": "a line is gone", "robust": "every line is there"},
        "verdict": "BROKEN",
        "verdict_reason": "The second append was acknowledged and is gone.",
        "confidence": 4,
        "assumption": "The disk tells the truth about its writes.",
    }
    older = "C-1-3" if round_ > STRESSED else None
    claims = [
        _claim(
            f"Critic holds in round {round_} that a crash between two appends loses one.", "attack-2", older
        ),
        _claim(f"Critic holds in round {round_} that the disk lies about its writes.", "attack-4"),
    ]
    return body, "preconditions", claims


_BODIES: Final = {"action": _action, "guardian": _guardian, "observer": _observer, "critic": _critic}


def _cited(ref: str, quote: str) -> dict[str, Any]:
    return {"ref": ref, "quote": quote}


def _verdict(result: str, evidence: list[Any], *claims: dict[str, Any]) -> dict[str, Any]:
    return {
        "result": result,
        "evidence": evidence,
        "notes": "The trace and the attack meet at the same line.",
        "claims": list(claims),
        "about": ["O-1"],
        "confidence": 4,
    }


def _test(claim: str, bearing: str | None, *evidence: dict[str, Any]) -> dict[str, Any]:
    """What a verdict does to one claim, and the evidence for that."""
    return {"claim_id": claim, "bearing": bearing, "evidence": list(evidence)}


def _check1(round_: int) -> dict[str, Any]:
    trace = _cited(f"A-{round_}-action#trace-1-step-3", "append line 2")
    attack = _cited(f"A-{round_}-critic#attack-2", "cut the power at 1")
    tests = [_test(f"C-{round_}-1", "contradicts", attack), _test(f"C-{round_}-4", "supports", trace)]
    if round_ == 1:
        tests.append(_test(f"C-{round_}-5", None))
    return _verdict("BROKEN", [trace, attack], *tests)


def _check2(round_: int) -> dict[str, Any]:
    invariant = _cited(f"A-{round_}-guardian#invariant", "every acknowledged line is read again")
    step = _cited(f"A-{round_}-observer#step-3", "opens file 2 and counts")
    return _verdict("ROBUST", [invariant, step], _test(f"C-{round_}-2", "supports", step))


def _check3(round_: int) -> dict[str, Any]:
    friction = _cited(f"A-{round_}-observer#friction-1", "The count is shown nowhere.")
    power = _cited(f"A-{round_}-critic#preconditions", "the power fails between two appends")
    return _verdict("UNCLEAR", [friction, power], _test(f"C-{round_}-3", "inconclusive", power))


def _check4(round_: int) -> dict[str, Any]:
    invariant = _cited(f"A-{round_}-guardian#invariant", "every acknowledged line is read again")
    step = _cited(f"A-{round_}-observer#step-2", "opens file 1 and counts")
    if round_ == STRESSED:
        tests = [_test(f"C-1-{n}", "inconclusive", invariant) for n in (5, 6)]
        return _verdict("UNCLEAR", [invariant, step], *tests)
    partly = _test(f"C-{round_}-2", "partly_contradicts", step)
    return _verdict("ROBUST", [invariant, step], partly, _test("C-1-5", "supports", invariant))


_CHECKS: Final = {"check1": _check1, "check2": _check2, "check3": _check3, "check4": _check4}


def _review(name: StepName) -> dict[str, Any]:
    flips: list[Any] = []
    tensions: list[Any] = []
    claims: list[Any] = []
    if name.round == 1 and name.role == "action":
        because = [_cited("A-1-critic#attack-4", "cut the power at 3")]
        flips = [{"check_id": 1, "to": "BROKEN", "because": because}]
        claims = [_claim("Action and critic hold that the order of writes decides.", "summary")]
    if name.round == 1 and name.role == "critic":
        evidence = [_cited("A-1-observer#step-2", "opens file 1 and counts")]
        tensions = [
            {
                "text": "Speed and safety pull apart.",
                "between": ["action", "C-1-4"],
                "severity": 3,
                "evidence": evidence,
            }
        ]
    return {
        "summary": "The round showed one gap.",
        "flips": flips,
        "claims": claims,
        "tensions": tensions,
        "against": _OBJECTIONS.get((name.round, "F", name.role)),
    }


_OBJECTIONS: Final = {
    (1, "F", "guardian"): "Nobody counted the lines after the crash.",
    (1, "F", "critic"): "A stream a kind loses the order of writes.",
    (3, "S-review", "action"): "The disk was never asked.",
    (3, "S-review", "critic"): "Two appends and one crash still lose a line.",
}
"""What is held against a decision, by round, text and role."""


def _decided(name: StepName, section: str, topic: str) -> dict[str, Any]:
    """A text and a decision. What the critic objects stands against it, and what anybody else does is met."""
    asked = (name.round, "F" if name.phase == "G" else "S-review")
    heard = {
        role: f"S-{round_}-{text}-{role}" for round_, text, role in _OBJECTIONS if (round_, text) == asked
    }
    against = [heard.pop("critic")] if "critic" in heard else []
    return {
        "sections": [{"name": section, "text": prose(30, topic)}],
        "decisions": [_decision(name.round, against)],
        "met": [{"objection": place, "how": "The lines are counted."} for place in heard.values()],
    }


def _decision(round_: int, dissent: list[str]) -> dict[str, Any]:
    cites = [
        {"id": f"C-{min(round_, STRESSED)}-2", "relation": "based-on"},
        {"id": f"V-{round_}-2", "relation": "supported-by"},
    ]
    return {
        "text": f"Round {round_} keeps one stream a kind.",
        "cites": cites,
        "made_by": "round_lead",
        "round_artifact_refs": [f"A-{round_}-guardian#invariant"],
        "anchor_ref": "G-1",
        "about": ["O-1"],
        "confidence": 4,
        "falsifiers": ["a lost line is shown"],
        "requirements": [{"text": "Somebody counts the lines after a crash.", "by": "world"}],
        "dissent": dissent,
    }


def _resolution(round_: int, claim: str) -> dict[str, Any]:
    raised = int(claim.split("-")[1])
    return {
        "claim_id": claim,
        "result": "ROBUST",
        "bearing": "supports",
        "evidence": [
            _cited(f"A-{raised}-{_AUTHOR[raised, claim]}#{section}", quote)
            for section, quote in _PLACES[raised, claim]
        ],
        "notes": f"Nothing in round {round_} speaks against it.",
        "confidence": 3,
    }


_TRACE_PLACES: Final = [("trace-1-step-2", "append line 1"), ("trace-1-step-3", "append line 2")]
_STEP_PLACES: Final = [("step-2", "opens file 1 and counts"), ("step-3", "opens file 2 and counts")]
_ATTACK_PLACES: Final = [("attack-1", "cut the power at 0"), ("attack-2", "cut the power at 1")]
_AUTHOR: Final = {(2, "C-2-1"): "action", (2, "C-2-3"): "observer", (3, "C-3-5"): "critic"}
_PLACES: Final = {(2, "C-2-1"): _TRACE_PLACES, (2, "C-2-3"): _STEP_PLACES, (3, "C-3-5"): _ATTACK_PLACES}
