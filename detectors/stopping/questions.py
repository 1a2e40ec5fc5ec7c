"""Open questions that decide: what a person must answer before the outcome can be final.

A question decides if the lead marked it in phase G with the option that the answer would change, or if it was asked
again in a later round, which is recognized by its words. In runs recorded before questions were marked, a question to a
person of the greatest severity decides.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from ledger.state.decided import is_overruled
from ledger.state.state import ConcernFacts, State

SEVERITY_UNMARKED: Final = 5
"""Of a question that decides, in a run whose questions carry no mark."""
SHARE_OF_WORDS: Final = 0.5
WORDS_AT_LEAST: Final = 3
"""Two questions are the same if they share this many words, and the share above of the shorter question's words."""


class OpenQuestion(msgspec.Struct, frozen=True):
    """Question that decides and is open: as it was asked last, in which rounds, and what it would change."""

    id: str
    rounds: tuple[int, ...]
    option: str | None


def deciding_questions(state: State) -> tuple[OpenQuestion, ...]:
    """Return the open questions that decide, in the order in which they were last asked."""
    # A person who overrides the final decision has seen the open questions and decided anyway.
    if is_overruled(state):
        return ()
    concerns = {
        identity: facts
        for identity, facts in state.concerns.items()
        if facts.type == "question" and (facts.for_human or facts.deciding is not None)
    }
    marked = any(facts.deciding is not None for facts in concerns.values())
    matters: list[list[str]] = []
    for identity, facts in concerns.items():
        # Roles rephrase a question each round, so repeated ones are grouped by their words before they are
        # counted.
        same = next((matter for matter in matters if _belongs(facts, matter, concerns)), None)
        if same is None:
            matters.append([identity])
        else:
            same.append(identity)
    questions = [
        # Only the last asking must be resolved: it replaces the earlier ones.
        _question(matter, concerns, marked=marked)
        for matter in matters
        if matter[-1] not in state.resolved
    ]
    return tuple(
        sorted(
            (question for question in questions if question), key=lambda question: concerns[question.id].seq
        )
    )


def _question(matter: list[str], concerns: dict[str, ConcernFacts], *, marked: bool) -> OpenQuestion | None:
    facts = [concerns[identity] for identity in matter]
    rounds = tuple(dict.fromkeys(concern.round for concern in facts))
    option = next((concern.deciding for concern in reversed(facts) if concern.deciding is not None), None)
    heaviest = max(concern.severity or 0 for concern in facts)
    decides = option is not None or len(rounds) > 1 or (not marked and heaviest >= SEVERITY_UNMARKED)
    return OpenQuestion(matter[-1], rounds, option) if decides else None


def _belongs(facts: ConcernFacts, matter: Collection[str], concerns: dict[str, ConcernFacts]) -> bool:
    """Return whether a question asks again what an earlier one asked (by text)."""
    return any(
        concerns[identity].round < facts.round and _is_same(facts.matter, concerns[identity].matter)
        for identity in matter
    )


def _is_same(words: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(words & other)
    return shared >= WORDS_AT_LEAST and shared >= SHARE_OF_WORDS * min(len(words), len(other))
