"""The terms that moot uses, each in one sentence: what `moot explain` answers where no other table has the word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

TERMS: Final[Mapping[str, str]] = {
    "run": "One deliberation: a directory with a ledger. RUN is its path, its id under ./runs, or @last.",
    "event": "One line of the ledger. Events are only appended; everything moot shows is computed from them.",
    "ledger": "The three event streams of a run, in one hash chain, with the texts they name.",
    "protocol": "The table of steps of a deliberation. `moot gate` lists the protocols.",
    "step": "One request to one role, such as r1.B.critic: round 1, phase B, the critic.",
    "round": "One pass through the steps of a protocol.",
    "phase": "A group of steps in a round. Steps of one phase do not see each other's replies.",
    "role": "Who a step is given to: action, guardian, observer, critic, verifier and others.",
    "seat": "What answers for a role: a model, a program, a person, an agent host or a recording.",
    "prompt": "The exact text a seat receives for a step. Its file and event field are called brief.",
    "brief": "The exact text a seat receives for a step. On screens it is called the prompt.",
    "reply": "What a seat returns for a step.",
    "claim": "A testable statement with a status: pending, confirmed, refuted, partly refuted, unclear or superseded.",
    "crux": "A claim whose test could change the answer. It is also the protocol that looks for such claims.",
    "forecast": "A role's points over the options, such as 58% for O-1, given before it sees the others.",
    "group forecast": "The mean of the roles' forecasts.",
    "experiment": "A program that is run in the sandbox to test a claim.",
    "evidence level": "How a claim was tested: ran, measured by a person, calculated, quoted, argued or stated.",
    "decision": "What was decided, with what it rests on and who disagrees.",
    "outcome": "The summary of a run: the answer, how sure, who disagrees, what would change it.",
    "condition": "What must be met for a decision to hold.",
    "falsifier": "What would prove a decision wrong.",
    "revisit if": "What would be a reason to open a decision again.",
    "open question": "A question that only a person can answer. Answer it with `moot answer RUN ID TEXT`.",
    "stop check": "One criterion for stopping. `moot signals` shows them all.",
    "gate": "One criterion for stopping, also called a stop check. The verb `moot gate` chooses a protocol.",
    "failure mode": "A way in which a deliberation goes wrong, FM-1 to FM-9. `moot signals` looks for them.",
    "alarm": "A failure mode that was detected. `moot ack` closes it with a reason.",
    "rule": "A law of the ledger. `moot check` lists where a run breaks one.",
    "finding": "A place where a rule is broken.",
    "isolation": "Whether a seat could have read more than its prompt: enforced, or trusted.",
    "seal": "A signed checkpoint of a ledger's head. Kept apart from the run, it detects a rewritten ledger.",
    "fork": "A run that shares the beginning of another run, byte for byte, and continues differently.",
    "stress round": "A round in which one role is absent, to show what it contributes.",
}
"""Term → its meaning. Terms that have a table of their own (kinds, rules, checks, statuses) are not here."""

STATUS_MEANINGS: Final[Mapping[str, str]] = {
    "pending": "The claim was not tested yet.",
    "tested_confirmed": "A test supports the claim, and none contradicts it.",
    "tested_refuted": "A test contradicts the claim.",
    "partially_refuted": "A test contradicts a part of the claim.",
    "tested_unclear": "The claim was tested, and the test did not settle it.",
    "superseded": "Another claim replaced this one.",
}
"""Status of a claim → its meaning."""

LABELS: Final[Mapping[str, str]] = {
    "option": "An option of the question.",
    "goal": "A goal that a good outcome serves.",
    "document": "A document that the roles were given.",
}
"""Letter of an id that no event has → its meaning."""
