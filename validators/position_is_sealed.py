"""POS001, error: every active role seals exactly one position on every check that is asked, before any verdict of it.

A position taken after the verdict is agreement, not judgement, and a missing one hides who would have disagreed.
Source: DETECTORS FM-1, FORMAT 5 (E.position).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Event, Position, RoundOpened, Verification
from validators.reading.checks_of_a_round import asked
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Positions on the wrong thing, too late, twice or missing."""
    if not docket.structured or docket.opened is None:
        return
    silent = docket.opened.rules.get("positions") == "off"
    sealed: set[tuple[int, str, int]] = set()
    judged: set[int] = set()
    for event in docket.events:
        opened = docket.rounds().get(event.round)
        if opened is None or opened.seq > event.seq:
            continue
        if isinstance(event, Position) and event.check_id is not None:
            yield from _position(event, opened, docket)
            key = (event.round, event.by, event.check_id)
            if key in sealed:
                yield Breach(event.seq, f"{event.by} seals a second position on check {event.check_id}")
            sealed.add(key)
        elif _is_verdict(event) and not silent and event.round not in judged:
            judged.add(event.round)
            yield from _missing(event, opened, docket, sealed)


def _is_verdict(event: Event) -> bool:
    """Whether somebody judged a check; what the controller writes is no judgement."""
    return isinstance(event, Verification) and event.phase == "E" and event.by != "controller"


def _position(event: Position, opened: RoundOpened, docket: Docket) -> Iterator[Breach]:
    verdict = f"V-{event.round}-{event.check_id}"
    if event.on != verdict:
        yield Breach(event.seq, f"a position on check {event.check_id} is on {verdict}, not {event.on}")
    if event.check_id not in asked(opened, docket, event.seq):
        yield Breach(event.seq, f"check {event.check_id} is not asked in round {event.round}")
    if docket.earlier(verdict, event.seq) is not None:
        yield Breach(event.seq, f"{event.id} is sealed after {verdict} was given")


def _missing(
    event: Event, opened: RoundOpened, docket: Docket, sealed: set[tuple[int, str, int]]
) -> Iterator[Breach]:
    given_up = docket.book.state.given_up
    for role in docket.authors:
        excused = given_up.get(f"r{event.round}.E.position.{role}", event.seq) < event.seq
        if role == opened.absent or excused:
            continue
        missing = [
            str(number)
            for number in asked(opened, docket, event.seq)
            if (event.round, role, number) not in sealed
        ]
        if missing:
            yield Breach(
                event.seq,
                f"{event.id} is given before {role} sealed a position on check {', '.join(missing)}",
            )


RULE: Final = Rule(
    code="POS001",
    name="position_is_sealed",
    severity="error",
    summary="Every active role seals one position on every check that is asked, before any verdict of it.",
    check=check,
    applies_to_imports=False,
)
