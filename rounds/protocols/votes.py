"""Rulings from votes: the rule of a tribunal in its documents, and the one in the published code (S4-14 … S4-20).

`documented`: any VETO refuses; unanimity decides; a majority of at least two thirds decides; anything less is WARN.
`shipped`: any VETO refuses; a confidence below 40 refuses; then the share of ACT votes rules, with the highest risk.

Laws of both: the order of the votes changes nothing; a veto always wins; one vote whose numbers are not numbers from 0
to 100, or that decides nothing known, makes the whole ballot refuse, and so does having no votes (S4-9 fails open).
A vote with `fallback` is one that was lost: it counts as REFUSE whatever it says, its numbers count for nothing, and a
lost vote of safety refuses (S4-7): nothing is acted on that safety did not see.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

from ledger.result import Result

Rules = Literal["documented", "shipped"]
Outcome = Literal["ACT", "WARN", "REFUSE"]
DECISIONS: Final = ("ACT", "WARN", "REFUSE", "VETO")
CONFIDENCE_AT_LEAST: Final = 40
AGREEMENT_LOW: Final = 60
AGREEMENT_HIGH: Final = 80
RISK_BELOW: Final = 30
VETO_FROM: Final = 50
"""Least risk that makes the vote of safety a veto."""
SAFETY_LOST: Final = "safety_vote_lost"


class VoteRuling(Result, frozen=True):
    """Result of the ballots. `rule` names the rule that decided; `metadata` holds the numbers behind it."""

    decision: Outcome
    rule: str
    metadata: dict[str, Any]


def sides_with(vote: str, ruling: str) -> bool:
    """Return whether a vote went the way of the ruling; a veto refuses."""
    return vote == ruling or {vote, ruling} <= {"REFUSE", "VETO"}


@dataclass(frozen=True, slots=True)
class _Ballot:
    agent: str
    decision: str
    confidence: float
    risk: float
    valid: bool
    lost: bool


class UnknownRules(ValueError):
    """A name that no rules have."""


def aggregate_votes(votes: Sequence[Mapping[str, Any]], rules: str = "documented") -> VoteRuling:
    """Return the ruling of `votes`, each with `agent`, `decision`, `confidence` (0–100) and `risk` (0–100).

    `fallback`: true marks a vote that was lost. Raises `UnknownRules`; a bad vote is no error but refuses.
    """
    if rules not in _RULES:
        raise UnknownRules(f"no rules {rules!r}: documented or shipped")
    # Sorted by agent: the order of the votes must not change which veto or which low confidence is named.
    ballots = sorted((_read(vote, n) for n, vote in enumerate(votes)), key=lambda ballot: ballot.agent)
    vetoes = [ballot for ballot in ballots if ballot.decision == "VETO"]
    common = _common(ballots)
    # A veto comes first, even on an invalid ballot: bad numbers must not disarm it.
    if vetoes:
        worst = min(vetoes, key=lambda ballot: (-ballot.risk, ballot.agent))
        veto = {"veto_applied": True, "veto_agent": worst.agent, "veto_risk": worst.risk}
        return VoteRuling("REFUSE", "safety_veto", common | veto)
    common |= {"veto_applied": False}
    if any(ballot.lost and "safety" in ballot.agent.casefold() for ballot in ballots):
        return VoteRuling("REFUSE", SAFETY_LOST, common)
    if all(ballot.lost for ballot in ballots):
        return VoteRuling("REFUSE", "no_votes", common)
    if common["invalid_ballots"]:
        return VoteRuling("REFUSE", "invalid_ballot", common)
    return _RULES[rules](ballots, common)


def _read(vote: Mapping[str, Any], number: int) -> _Ballot:
    agent, decision = vote.get("agent"), vote.get("decision")
    confidence, risk = _percent(vote.get("confidence")), _percent(vote.get("risk"))
    # A decision may be any JSON value here; a list or a number would raise in a lookup.
    known = isinstance(decision, str) and decision in DECISIONS
    lost = vote.get("fallback", False) is not False  # any other value of the flag is no proof of a vote
    valid = lost or (known and confidence is not None and risk is not None)
    return _Ballot(
        agent=agent if isinstance(agent, str) else f"ballot {number + 1}",
        decision=str(decision) if (valid and not lost) or decision == "VETO" else "REFUSE",
        confidence=0.0 if confidence is None else confidence,
        risk=100.0 if risk is None else risk,
        valid=valid,
        lost=lost,
    )


def _percent(value: object) -> float | None:
    # A bool is an int in Python, and `true` would count as one percent.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # NaN compares false with everything and would pass a threshold that is tested the other way round (S4-9).
    return float(value) if math.isfinite(value) and 0 <= value <= 100 else None


def _common(ballots: Sequence[_Ballot]) -> dict[str, Any]:
    counts = Counter(ballot.decision for ballot in ballots)
    cast = [ballot for ballot in ballots if not ballot.lost]
    lost = [ballot.agent for ballot in ballots if ballot.lost]
    return {
        "vote_breakdown": {decision: counts[decision] for decision in DECISIONS if counts[decision]},
        "max_risk": max((ballot.risk for ballot in cast), default=None),
        "avg_confidence": sum(ballot.confidence for ballot in cast) / len(cast) if cast else None,
        "invalid_ballots": [ballot.agent for ballot in ballots if not ballot.valid],
        **({"lost_votes": lost} if lost else {}),
    }


def _documented(ballots: Sequence[_Ballot], metadata: dict[str, Any]) -> VoteRuling:
    counts = Counter(ballot.decision for ballot in ballots)
    # On a tie the more permissive decision is named, which is harmless: a tie is no strong majority
    # and ends in WARN.
    decision, most = min(counts.items(), key=lambda pair: (-pair[1], DECISIONS.index(pair[0])))
    share = Fraction(most, len(ballots))
    # Fractions: two of three votes are exactly two thirds, and a float could miss that.
    unanimous, strong = most == len(ballots), share >= Fraction(2, 3)
    consensus = "unanimous" if unanimous else "strong_majority" if strong else "split"
    outcome: Outcome = "WARN"
    if strong:
        outcome = "ACT" if decision == "ACT" else "WARN" if decision == "WARN" else "REFUSE"
    return VoteRuling(
        outcome,
        consensus,
        metadata
        | {
            "agreement_percentage": float(share * 100),
            "consensus_type": consensus,
            "dissenting_votes": [ballot.agent for ballot in ballots if ballot.decision != outcome],
        },
    )


def _shipped(ballots: Sequence[_Ballot], metadata: dict[str, Any]) -> VoteRuling:
    if "lost_votes" in metadata:
        return VoteRuling("REFUSE", "vote_lost", metadata)
    # The agent breaks ties, so the named view does not depend on the order of the votes.
    timid = min(ballots, key=lambda ballot: (ballot.confidence, ballot.agent))
    if timid.confidence < CONFIDENCE_AT_LEAST:
        low = {"min_confidence": timid.confidence, "low_confidence_agent": timid.agent}
        return VoteRuling("REFUSE", "low_confidence", metadata | low)
    agreement = Fraction(sum(ballot.decision == "ACT" for ballot in ballots) * 100, len(ballots))
    metadata = metadata | {"agreement_percentage": float(agreement)}
    if agreement < AGREEMENT_LOW:
        others = [ballot.agent for ballot in ballots if ballot.decision != "ACT"]
        return VoteRuling("REFUSE", "low_agreement", metadata | {"disagreeing_agents": others})
    if agreement <= AGREEMENT_HIGH:
        return VoteRuling("WARN", "medium_agreement", metadata)
    if metadata["max_risk"] < RISK_BELOW:
        return VoteRuling("ACT", "high_agreement_low_risk", metadata)
    return VoteRuling("WARN", "high_agreement_high_risk", metadata)


_RULES: Final = {"documented": _documented, "shipped": _shipped}
