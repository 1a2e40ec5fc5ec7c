"""Checks of a round: which can be made, the positions that are sealed on them, and their flips."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ledger.events import Decision, Event, Fallback, Flip, Position, RoundOpened, RunClosed, Verification
from ledger.events.ids import event_id
from ledger.events.verifications import CHECK_NEEDS
from ledger.state.book import contains_quote
from ledger.state.decided import has_precedent
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


def applicable(opened: RoundOpened, index: LedgerIndex) -> tuple[int, ...]:
    """Return the checks that the round can make, judged when it is opened."""
    decided = has_precedent(index.book.state, opened.seq)
    return tuple(
        check
        for check, roles in CHECK_NEEDS.items()
        if opened.absent not in roles and (check != 4 or decided)
    )


def feasible_checks(opened: RoundOpened, index: LedgerIndex, before: int) -> tuple[int, ...]:
    """Return the applicable checks whose artifacts were not given up before seq `before`."""
    given_up = index.book.state.given_up
    # A check needs the artifacts themselves. When a seat failed to deliver one, the check is as impossible as
    # in a stress round.
    lost = {role for role in index.authors if given_up.get(f"r{opened.round}.D.{role}", before) < before}
    return tuple(check for check in opened.applicable if not lost.intersection(CHECK_NEEDS.get(check, ())))


class LastStance(NamedTuple):
    """Last stance of a role, and the position or flip that states it."""

    role: str
    stance: str
    ref: str


def last_stances(verification: str, before: int, index: LedgerIndex) -> dict[str, LastStance]:
    """Return role → last stance on a verification before seq `before`."""
    state = index.book.state
    stances: dict[str, LastStance] = {}
    owners: dict[str, str] = {}
    for identity, position in state.positions.items():
        if position.on == verification and position.seq < before:
            owners[identity] = position.role
            stances[position.role] = LastStance(position.role, position.stance, identity)
    for identity, flip in state.flips.items():
        # A flip of another role's position changes no stance; POS002 reports it.
        if flip.seq < before and owners.get(flip.of) == flip.role:
            stances[flip.role] = LastStance(flip.role, flip.to, identity)
    return stances


@rule("STR002", "error", source="SD-32, SD-34 … SD-36, SD-56, SD-84, FORMAT 5")
def inapplicable_check_is_not_asked(index: LedgerIndex) -> Iterator[Breach]:
    """A check that lacks what it needs is marked NOT_APPLICABLE and not asked; every other check has a verdict.

    A verdict on an artifact that does not exist would hide the absence, and NOT_APPLICABLE on one that does would hide
    the test.
    """
    if not index.watched:
        return
    opened: RoundOpened | None = None
    done: set[int] = set()
    reviewed = False
    for event, step in index.pairs:
        if isinstance(event, RoundOpened):
            # Every round starts anew: a check of the round before says nothing about this one.
            opened, done, reviewed = event, set[int](), False
            plan = index.opened.plan if index.opened else ()
            phases = plan[event.plan_row].phases if event.plan_row < len(plan) else ()
            if (
                not index.is_imported(event.seq)
                and "E" in phases
                # Whether check 4 applies depends on decisions before the opening, so the list is recomputed as
                # of that event.
                and event.applicable != applicable(event, index)
            ):
                listed = ", ".join(map(str, applicable(event, index)))
                yield Breach(event.seq, f"the applicable checks of round {event.round} are {listed}")
        elif opened is None:
            continue
        elif isinstance(event, Verification) and event.check_id in CHECK_NEEDS and event.repeats is None:
            done.add(event.check_id)
            imported = index.is_imported(event.seq)
            yield from _imported(event, opened) if imported else _verdict(event, opened, index)
        elif step is not None and step.phase == "F" and not reviewed:
            reviewed = True
            missing = [event_id("verification", event.round, n) for n in CHECK_NEEDS if n not in done]
            if missing:
                yield Breach(event.seq, f"F begins without {', '.join(missing)}")


def _verdict(event: Verification, opened: RoundOpened, index: LedgerIndex) -> Iterator[Breach]:
    possible = event.check_id in feasible_checks(opened, index, event.seq)
    void = event.result == "NOT_APPLICABLE"
    if not possible and not void:
        yield Breach(
            event.seq, f"{event.id} judges what is not there: check {event.check_id} is not applicable"
        )
    if possible and void and not _given_up(event, index):
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE, but check {event.check_id} can be made")
    if void and (event.by != "controller" or event.step is not None):
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE by {event.by}; the controller writes that")
    if void and (event.evidence_refs or event.claims_affected or event.claim_status_changes):
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE and yet has evidence or affects claims")


def _given_up(event: Verification, index: LedgerIndex) -> bool:
    """Return whether the verdict replaces one that the verifier did not give."""
    seq = index.book.state.given_up.get(f"r{event.round}.E.check{event.check_id}.verifier")
    return seq is not None and seq < event.seq and isinstance(index.events[seq], Fallback)


def _imported(event: Verification, opened: RoundOpened) -> Iterator[Breach]:
    blocked = opened.absent is not None and opened.absent in CHECK_NEEDS[event.check_id]
    if blocked and event.result != "NOT_APPLICABLE":
        yield Breach(event.seq, f"{event.id} needs {opened.absent}, who is absent from round {event.round}")
    if not blocked and event.result == "NOT_APPLICABLE" and event.check_id != 4:
        yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE, but nobody it needs is absent", "warning")


@rule("POS001", "error", source="DETECTORS FM-1, FORMAT 5 (E.position)", applies_to_imports=False)
def position_is_sealed(index: LedgerIndex) -> Iterator[Breach]:
    """Every active role seals one position on every check that is asked, before any verdict of it.

    A position taken after the verdict is agreement, not judgement, and a missing one hides who would have disagreed.
    """
    if not index.watched or index.opened is None:
        return
    # Runs may turn positions off, or ask for forecasts instead. Then none is missing.
    silent = index.opened.rules.get("positions") in ("off", "beliefs")
    sealed: set[tuple[int, str, int]] = set()
    judged: set[int] = set()
    for event in index.events:
        opened = index.book.state.rounds.get(event.round)
        if opened is None or opened.seq > event.seq:
            continue
        if isinstance(event, Position) and event.check_id is not None:
            yield from _position(event, opened, index)
            key = (event.round, event.by, event.check_id)
            if key in sealed:
                yield Breach(event.seq, f"{event.by} seals a second position on check {event.check_id}")
            sealed.add(key)
        # Only the first verdict of a round is checked: after it every position is too late anyway.
        elif (
            isinstance(event, Verification)
            and event.phase == "E"
            and event.by != "controller"
            and not silent
            and event.round not in judged
        ):
            judged.add(event.round)
            yield from _missing(event, opened, index, sealed)


def _position(event: Position, opened: RoundOpened, index: LedgerIndex) -> Iterator[Breach]:
    verdict = event_id("verification", event.round, event.check_id)
    if event.on != verdict:
        yield Breach(event.seq, f"a position on check {event.check_id} is on {verdict}, not {event.on}")
    if event.check_id not in feasible_checks(opened, index, event.seq):
        yield Breach(event.seq, f"check {event.check_id} is not asked in round {event.round}")
    if index.earlier(verdict, event.seq) is not None:
        yield Breach(event.seq, f"{event.id} is sealed after {verdict} was given")


def _missing(
    event: Event, opened: RoundOpened, index: LedgerIndex, sealed: set[tuple[int, str, int]]
) -> Iterator[Breach]:
    given_up = index.book.state.given_up
    for role in index.authors:
        excused = given_up.get(f"r{event.round}.E.position.{role}", event.seq) < event.seq
        if role == opened.absent or excused:
            continue
        missing = [
            str(number)
            for number in feasible_checks(opened, index, event.seq)
            if (event.round, role, number) not in sealed
        ]
        if missing:
            yield Breach(
                event.seq,
                f"{event.id} is given before {role} sealed a position on check {', '.join(missing)}",
            )


@rule("POS002", "error", source="DETECTORS FM-1, FORMAT 2 (`flip`), FORMAT 5 (F)", applies_to_imports=False)
def flip_is_of_own_position(event: Flip, index: LedgerIndex) -> Iterator[str]:
    """A role flips its own sealed position, from the stance it last held to another.

    A flip from a stance that was never taken would make steadfastness look like conformity, or the reverse.
    """
    position = index.earlier(event.of, event.seq)
    if not isinstance(position, Position):
        yield f"{event.id} flips {event.of}, which is no earlier position"
        return
    if position.by != event.by:
        yield f"{event.by} flips {event.of}, which {position.by} sealed"
        return
    held = last_stances(position.on, event.seq, index).get(event.by)
    if held is not None and held.stance != event.from_:
        yield f"{event.id} flips from {event.from_}; {event.by} held {held.stance} ({held.ref})"
    if event.from_ == event.to:
        yield f"{event.id} flips from {event.from_} to itself"


@rule("POS003", "warning", source="DETECTORS FM-1, FORMAT 2 (`flip`)", applies_to_imports=False)
def flip_brings_new_evidence(index: LedgerIndex) -> Iterator[Breach]:
    """Evidence given for a flip was not cited in the same check before.

    A role that changes its mind names new evidence, or it only follows the others. What the verdict on that check
    cites, and what an earlier flip on it cited, is new to no role. FM-1 counts a flip on nothing but the verdict's
    own evidence as one without evidence.
    """
    cited: dict[str, set[str]] = {}
    for event in index.events:
        if isinstance(event, Verification):
            cited.setdefault(event.id, set()).update(evidence.ref for evidence in event.evidence_refs)
        elif isinstance(event, Flip):
            position = index.earlier(event.of, event.seq)
            if not isinstance(position, Position):
                continue
            known = cited.setdefault(position.on, set())
            cited_refs = {evidence.ref for evidence in event.because}
            if cited_refs and cited_refs <= known:
                yield Breach(event.seq, f"{event.id} cites only what {position.on} had cited before")
            # Evidence of one flip is known to the next one, so it does not count as new twice.
            known |= cited_refs


@rule("DEC004", "error", source="FORMAT 2 (`decision.dissent`), SD-47", applies_to_imports=False, version=3)
def dissent_is_recorded(event: Decision, index: LedgerIndex) -> Iterator[str]:
    """A role that a decision names as dissenting says so in these words where the decision points.

    Invented words would raise an open question months later. They are the role's own, or they are left out.
    """
    # Decisions by a person or the controller quote no dissent. Only a seat can invent a dissenter.
    if event.step is None:
        return
    for dissent in event.dissent:
        source = index.earlier(dissent.ref, event.seq)
        words = index.passages(dissent.ref, event.seq) or ()
        if source is None or source.by != dissent.role or not contains_quote(words, dissent.text):
            yield f"{event.id}: {dissent.role} does not say at {dissent.ref} what it is said to say"


CHECKS_MIN: Final = 2
"""A single check that holds says nothing about a round."""


@rule("STY009", "warning", source="SD-39, SD-73")
def round_has_disagreement(index: LedgerIndex) -> Iterator[Breach]:
    """Not every check of a round comes out ROBUST.

    Such a round is a candidate for sycophancy, never a reason to stop: look at how hard the critic pushed. The rule
    reports it when the next round opens or the run ends.
    """
    results: list[str] = []
    for event in index.events:
        match event:
            case RoundOpened() | RunClosed(state="finished"):
                # Reported when the round is over, because a later check of the same round may still disagree.
                if len(results) >= CHECKS_MIN and set(results) == {"ROBUST"}:
                    round_ = event.round - 1 if isinstance(event, RoundOpened) else event.round
                    yield Breach(event.seq, f"all {len(results)} checks of round {round_} are ROBUST")
                results = []
            case Verification(repeats=None) if event.check_id <= 4 and event.result != "NOT_APPLICABLE":
                results.append(event.result)
            case _:
                pass
