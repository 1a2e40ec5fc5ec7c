"""The gate: whether a question deserves several roles, and which protocol (AD-2, AD-9, JB's routing).

`--single` beats `--compete` beats triggers; both flags together are an error, not a guess. Without either the text is
read: does the task narrow what can be done later (a write) or only look; how much would a plan have to assume; how
dear would a mistake be; do people disagree; is an attack asked for. Reading words is a rule of thumb: the reasons are
named so that a person can disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from ledger.result import Result

Route = Literal["single-pass", "jugalbandi", "structured"]


class GateReason(Result, frozen=True):
    """One thing that counted: `points` towards several roles, negative against."""

    name: str
    points: int
    detail: str


class GateResult(Result, frozen=True):
    """The protocol that a question deserves, and why."""

    route: Route
    reasons: list[GateReason]


class GateRefused(ValueError):
    """Flags that contradict each other."""


class Asked(NamedTuple):
    """What the gate reads."""

    text: str
    goals: Sequence[str] = ()
    options: Sequence[str] = ()
    documents: int = 0
    triggers: Sequence[str] = ()
    compete: bool = False
    single: bool = False


_INSISTS: Final = ("compete", "trigger", "attack")
"""Reasons that call for several roles, and say nothing about how many."""
JUGALBANDI_FROM: Final = 3
STRUCTURED_FROM: Final = 6

_WRITES: Final = re.compile(
    r"\b(add|adopt|allow|automate|ban|become|build|buy|change|choose|close|cut|decide|delete|deploy|design|drop|end|"
    r"extend|fire|hire|implement|integrate|introduce|keep|launch|merge|migrate|move|pick|plan|refactor|release|remove|"
    r"rename|replace|restructure|rewrite|roll ?out|select|set up|split|start|stop|store|switch|upgrade|use)\b",
    re.IGNORECASE,
)
_DECIDES: Final = re.compile(
    r"^\s*(?:should|shall|ought|would it be better|do we (?:want|need|have)|which (?:of|one|option)|what should)\b",
    re.IGNORECASE,
)
_READS: Final = re.compile(
    r"^\s*(?:please\s+)?(?:(?:is|are|was|were) (?:the|this|that|it|our|my)|what|which line|why|who|when|where|explain|"
    r"describe|list|show|summari[sz]e|find|count|"
    r"look up|tell me|is there|are there|does|do|did|has|have|how (?:does|do|did|many|much|long|often))\b",
    re.IGNORECASE,
)
_STAKES: Final = re.compile(
    r"\b(architecture|audit|authentication|billing|breach|compliance|contract|crash|customer data|data loss|"
    r"data model|encryption|gdpr|health|irreversible|law|legal|migration|money|multi-?tenant|outage|payment|"
    r"patients?|prescriptions?|privacy|production|public api|regulat\w+|safety|security|tamper\w*|zero downtime)\b",
    re.IGNORECASE,
)
_GONE: Final = re.compile(
    r"\b(delete|wipe|erase|overwrite|shut down|close down|decommission|sell|for good(?! reason)|permanent\w*|"
    r"cannot be undone)\b",
    re.IGNORECASE,
)
_DISAGREE: Final = re.compile(
    r"\b(disagree\w*|divided|dispute\w*|controvers\w+|cannot agree|(?:do|does|did) not agree|object(?:s|ed)? to|"
    r"(?:is|are|was|were) against)\b|\bthinks?\b.{1,120}\b(?:do|does) not\b"
    r"|\bsome\b.{0,30}\bwants?\b.{1,300}\b(?:some|others)\b|\b(?:angry|furious)\b",
    re.IGNORECASE | re.DOTALL,
)
_ATTACK: Final = re.compile(
    r"\b(tear (?:it|this|that|them) apart|poke holes|pick (?:it|this) apart|what (?:could|can|might|will) go wrong|"
    r"pre-?mortem|devil'?s advocate|(?:red.?team|stress.?test|attack|challenge) (?:it|this|the|our|my))\b",
    re.IGNORECASE,
)
_GIVEN: Final = re.compile(
    r"\b\d+(?:[.,]\d+)?\b"
    r"|\b(?:must|at most|at least|within|only|without|because|using|between|per (?:day|hour|second))\b",
    re.IGNORECASE,
)
_ENOUGH_GIVEN: Final = 4
"""From so many constraints on a plan has little left to assume."""


def gate(asked: Asked) -> GateResult:
    """The route of a question. Raises `GateRefused` when it is told to be single and to compete."""
    if asked.single and asked.compete:
        raise GateRefused("single and compete contradict each other")
    if asked.single:
        return GateResult("single-pass", [GateReason("single", -STRUCTURED_FROM, "you asked for one seat")])
    reasons = list(_reasons(asked))
    insisted = any(reason.name in _INSISTS for reason in reasons)
    points = sum(reason.points for reason in reasons if reason.name not in _INSISTS)
    if points >= STRUCTURED_FROM:
        return GateResult("structured", reasons)
    return GateResult("jugalbandi" if insisted or points >= JUGALBANDI_FROM else "single-pass", reasons)


def _reasons(asked: Asked) -> Iterator[GateReason]:
    if asked.compete:
        yield GateReason("compete", JUGALBANDI_FROM, "you asked for several roles")
    for trigger in asked.triggers:
        if trigger.casefold() in asked.text.casefold():
            yield GateReason("trigger", JUGALBANDI_FROM, trigger)
    writes = _writes(asked)
    if writes is None:
        yield GateReason(
            "only reads", -2, "it asks to look, not to do; nothing here narrows what can be done later"
        )
    else:
        yield GateReason("writes", 1, f"{writes!r} narrows what can be done later")
        missing = max(0, _ENOUGH_GIVEN - _given(asked))
        if missing:
            yield GateReason(
                "assumes", missing, f"a plan would have to assume about {missing} thing{'s' * (missing > 1)}"
            )
    stakes = sorted({found.casefold() for found in _STAKES.findall(asked.text)})
    if stakes:
        yield GateReason("stakes", min(3, len(stakes)), ", ".join(stakes[:6]))
    if gone := _GONE.search(asked.text):
        yield GateReason("undo", 2, f"{gone[0].casefold()!r} is dear to undo")
    if said := _DISAGREE.search(asked.text):
        yield GateReason("disagreement", 3, f"people disagree: {' '.join(said[0].split())[:60]!r}")
    if asked_for := _ATTACK.search(asked.text):
        yield GateReason("attack", JUGALBANDI_FROM, f"an attack is asked for: {asked_for[0].casefold()!r}")
    if len(asked.options) > 1:
        yield GateReason("options", 2, f"{len(asked.options)} options are on the table")


def _writes(asked: Asked) -> str | None:
    """The word that makes it a write; None for a question that only looks."""
    if _DECIDES.search(asked.text):
        return "the choice"
    found = _GONE.search(asked.text) or _WRITES.search(asked.text)
    if found is not None and not _READS.search(asked.text):
        return found[0].casefold()
    return "one of the options" if asked.options else None


def _given(asked: Asked) -> int:
    """How much is given: constraints in the text, goals, documents that can be long."""
    return len(_GIVEN.findall(asked.text)) + max(0, len(asked.goals) - 1) + 2 * asked.documents
