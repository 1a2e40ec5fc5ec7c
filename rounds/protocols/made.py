"""What every protocol makes alike of parts of a reply: evidence, and the id of a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ledger.events import Argument
from ledger.events.decisions import Cite
from ledger.events.values import Evidence
from roles.protocol import Step
from roles.replies import Cited


def evidence_of(cited: Iterable[Cited]) -> tuple[Evidence, ...]:
    """What a reply cites, as events keep it."""
    return tuple(Evidence(ref=entry.ref, quote=entry.quote) for entry in cited)


UPHELD: Final = frozenset({"UPHELD", "SURVIVE"})
STANDS: Final = UPHELD | {"PARTIALLY_UPHELD"}
"""Standings under which an argument carries a decision."""


def cites_of_winner(
    arguments: Iterable[Argument], winner: str | None, standings: Mapping[str, Sequence[str]]
) -> tuple[Cite, ...]:
    """What a judged decision rests on: the winning side's arguments that stand; of both sides when none won.

    `standings` are argument → what every judge says of it; one that nobody judged stands, and more than half of
    the judges decide. Where nothing stands the decision rests on no argument, and settles them all.
    """
    heard = [(str(event.id), event.side) for event in arguments]
    found = tuple(
        Cite(
            type="argument",
            id=identity,
            relation="supported-by" if _most(standings.get(identity, ()), UPHELD) else "builds-on",
        )
        for identity, side in heard
        if winner in (None, side) and _most(standings.get(identity, ()), STANDS)
    )
    return found or tuple(Cite(type="argument", id=identity, relation="resolves") for identity, _ in heard)


def _most(said: Sequence[str], wanted: frozenset[str]) -> bool:
    return not said or 2 * sum(one in wanted for one in said) > len(said)


def statement_id(step: Step) -> str:
    """The id of the text that a step hands in (FORMAT 3)."""
    act = f"-{step.name.act}" if step.name.act else ""
    repeat = f"~{step.name.repeat}" if step.name.repeat > 1 else ""
    return f"S-{step.name.round}-{step.name.phase}{act}-{step.role}{repeat}"
