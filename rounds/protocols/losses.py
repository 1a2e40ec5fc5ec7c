"""Losses: what each protocol does without a reply, and which of its steps decide the outcome; the only such table.

The engine writes `instead` into a fallback, the verdict lines say `means`, the exit code follows from `decides`, and
the protocols' pages print the rows. A row's key is the kind of step: `phase`, `phase.role`, `phase.act` or, of a
repetition, `phase.act~`; the narrowest that fits counts. A run in which no step that decides was answered decided
nothing, whatever else was answered.

Each meaning holds whichever other steps are lost too. A loss is never read as agreement: in `tribunal` a lost vote
refuses, and without safety's vote nothing is acted on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from roles.protocol import Loss

_FOR_A_PERSON: Final = "what was handed in stands side by side, and a person decides"

LOSSES: Final[Mapping[str, Mapping[str, Loss]]] = {
    "structured": {
        "B": Loss("skipped", "the round has no proposal"),
        "C": Loss("skipped", "the proposal stands without this supplement"),
        "D": Loss("skipped", "no artifact and no claims from it"),
        "E.position": Loss("skipped", "this role has no sealed stance in the round"),
        "E.belief": Loss("skipped", "nothing shows what this role would answer in the round"),
        **{f"E.check{n}": Loss("unclear", "the verdict reads UNCLEAR") for n in range(1, 5)},
        "F": Loss("skipped", "this role reviewed nothing in the round"),
        "G": Loss("skipped", "the round decides nothing"),
        "H": Loss("skipped", "drift was not checked"),
        "S.resolve": Loss("skipped", "pending claims stay pending"),
        "S.review": Loss("skipped", "this role has no retrospective"),
        "S.close": Loss("skipped", "nothing is final; decisions of the rounds stand", decides=True),
    },
    "jugalbandi": {
        "plan": Loss("skipped", "there is no plan, so this round challenges and resolves nothing"),
        "challenge": Loss("survivor_only", "the plan stands unchallenged, so this round resolves nothing"),
        "resolve": Loss("raw_side_by_side", _FOR_A_PERSON, decides=True),
    },
    "single-pass": {"plan": Loss("skipped", "there is no plan", decides=True)},
    "council": {"plan": Loss("skipped", "the council has one plan fewer", decides=True)},
    "debate": {
        "opening": Loss("survivor_only", "only a side that opened is judged; without any, nothing is"),
        "crossing": Loss("skipped", "nobody answers or closes"),
        "answering": Loss("skipped", "the questions to this side stay unanswered"),
        "closing": Loss("skipped", "this side has no closing"),
        "judging": Loss("raw_side_by_side", "the other judges decide; without any, a person", decides=True),
    },
    "adversarial": {
        "case": Loss("survivor_only", "the judge has no case to work from"),
        "attack": Loss("survivor_only", "the judge has no challenger's concerns and raises its own"),
        "verdict": Loss("raw_side_by_side", _FOR_A_PERSON, decides=True),
    },
    "devils-advocate": {
        "steelman": Loss("skipped", "there is no position to attack"),
        "attack": Loss("survivor_only", "the position stands unattacked, so nothing is judged"),
        "defence": Loss("skipped", "the attacks stand undefended"),
        "rating": Loss("skipped", "the judge has no ratings of the attacker"),
        "verdict": Loss("raw_side_by_side", _FOR_A_PERSON, decides=True),
    },
    "comparative": {
        "weights": Loss("skipped", "every criterion counts Medium"),
        "case": Loss(
            "survivor_only", "only a case that was made is judged in this round; without any, none is"
        ),
        "rebuttal": Loss("skipped", "the other case stands without this rebuttal"),
        "scoring": Loss(
            "raw_side_by_side", "this round is not scored, and a person decides it", decides=True
        ),
    },
    "cross-examination": {
        "analysis": Loss("skipped", "only analyses that were made are examined; without any, nothing is"),
        "questions": Loss("skipped", "nobody was questioned, so nothing is assessed"),
        "answering": Loss("skipped", "the questions to this analyst count as deflected"),
        "assessment": Loss("raw_side_by_side", _FOR_A_PERSON, decides=True),
    },
    "ratchet": {
        "draft": Loss("skipped", "there is no draft, so nothing is criticised or revised"),
        "critique": Loss("survivor_only", "the draft stands uncriticised and unrevised"),
        "revision": Loss("raw_side_by_side", _FOR_A_PERSON, decides=True),
    },
    "panel": {
        "findings": Loss(
            "skipped", "the panel has no findings of this field; without any field, it gives no verdict"
        ),
        "crossing": Loss("skipped", "this field marked nothing as its own too"),
        "verdict": Loss("raw_side_by_side", _FOR_A_PERSON, decides=True),
    },
    "priority": {
        "rating": Loss(
            "survivor_only",
            "the order is the other lens's alone; without either, there is none",
            decides=True,
        )
    },
    "tribunal": {
        "analyse": Loss("refuse", "nobody could challenge this view; its first vote is REFUSE"),
        "analyse.safety": Loss(
            "refuse", "nobody could challenge safety; without its vote the ruling is REFUSE"
        ),
        "challenge": Loss("skipped", "this challenge was not put"),
        "revise": Loss("refuse", "its vote is REFUSE", decides=True),
        "revise.safety": Loss("refuse", "without safety's vote the ruling is REFUSE", decides=True),
    },
    "crux": {
        "A": Loss("skipped", "the question itself was not checked, so the run takes no short way"),
        "B": Loss("skipped", "this role is not in the group forecast", decides=True),
        "C": Loss("skipped", "there are no cruxes, so nothing is tested"),
        "E": Loss("skipped", "this role leaves the group forecast where a verdict needs its numbers"),
        "D": Loss("skipped", "the crux is not settled"),
        "D.verifier": Loss("skipped", "the cruxes that documents could settle are not settled"),
        "S.memo": Loss(
            "skipped", "the next nearest role writes the memo; without one the leader is the answer"
        ),
        "S.memo~": Loss("skipped", "the unsupported sentences are removed"),
        "S.objection": Loss("skipped", "there is no objection"),
        "S.check": Loss("skipped", "no sentence of the memo was checked against what it cites"),
        "S.check~": Loss("skipped", "the rewritten sentences were not checked against what they cite"),
    },
}
"""Meaning of each loss, by protocol and kind of step. Every row of a protocol has its entry."""
