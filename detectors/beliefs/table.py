"""The input of `moot signals --table FILE`: the numbers of a run, or of one made up, round by round.

    {options: [O-1, …], tau?, experiments?, run?, documents?, rounds_at_most?, first?, frame?: {ill_posed, objection},
     unseen?: {lists, sightings: [[role, …], …]},
     rounds: [{roles: {role: {O-1: 70, …, none: 5}}, redraw?: {role: {…}}, asked?, no_budget?, no_room?,
               cruxes?: [{claim, how, given: {role: {q, if_true, if_false, predicts?}}, result?, class?}]}]}

Options that a belief does not name have 0 points. `roles` are the beliefs that roles gave themselves in that round,
after its results; a role that is not named keeps its belief, moved by the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from detectors.beliefs.agenda import AskedCrux
from detectors.beliefs.course import BeliefRound
from detectors.beliefs.parameters import CruxTerms, FrameCheck, crux_parameters
from detectors.beliefs.pool import WHOLE, ByRole, Points
from detectors.beliefs.unseen import Unseen, unseen_of
from detectors.beliefs.update import CruxResult, Predicted
from detectors.beliefs.values import MAX_TOGETHER, Conditional
from ledger.events.values import EvidenceClass, HowTested

NONE: Final = "none"
"""The option of every belief that none of the others is right; last in option order."""


class WrongTable(ValueError):
    """A table that says nothing sensible: where, what, and what to write instead."""

    def __init__(self, where: str, wrong: str, fix: str) -> None:
        self.where: Final = where
        self.wrong: Final = wrong
        self.fix: Final = fix
        super().__init__(f"{where}: {wrong}")


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the file: closed, so that a misspelt key is an error."""


class _Numbers(_Part, frozen=True, kw_only=True):
    q: int
    if_true: dict[str, int]
    if_false: dict[str, int]
    predicts: Predicted | None = None
    fair: bool | None = None


class _Crux(_Part, frozen=True, kw_only=True):
    claim: str
    how: HowTested
    given: dict[str, _Numbers] = {}
    result: CruxResult | None = None
    evidence: EvidenceClass | None = msgspec.field(default=None, name="class")


class _Round(_Part, frozen=True, kw_only=True):
    roles: dict[str, dict[str, int]]
    redraw: dict[str, dict[str, int] | int] | None = None
    cruxes: list[_Crux] = []
    asked: int | None = None
    no_budget: bool = False
    no_room: bool = False


class _Frame(_Part, frozen=True, kw_only=True):
    ill_posed: bool = False
    objection: bool = False


class _Unseen(_Part, frozen=True, kw_only=True):
    lists: int
    sightings: list[list[str]]


class _File(_Part, frozen=True, kw_only=True):
    options: list[str]
    rounds: list[_Round]
    tau: Decimal | None = None
    experiments: bool = False
    run: str | None = None
    documents: bool = True
    rounds_at_most: int | None = None
    first: bool = False
    frame: _Frame | None = None
    unseen: _Unseen | None = None


class BeliefTable(NamedTuple):
    """The numbers of a run: options with `none` last, one entry a round, and what holds for all of it."""

    run: str | None
    options: tuple[str, ...]
    rounds: tuple[BeliefRound, ...]
    terms: CruxTerms
    unseen: Unseen | None


def read_table(content: bytes) -> BeliefTable:
    """The table of a file's bytes (JSON). Raises `WrongTable`."""
    try:
        found = msgspec.json.decode(content, type=_File)
    except msgspec.DecodeError as error:
        raise WrongTable("table", str(error), "see docs/crux.md for its keys") from None
    return _table(found)


def _table(found: _File) -> BeliefTable:
    parameters = crux_parameters()
    options = (*(option for option in found.options if option != NONE), NONE)
    if len(options) < 2 or len(set(options)) < len(options):
        raise WrongTable("options", "none, or one of them twice", "name at least one option, each once")
    if not found.rounds:
        raise WrongTable("rounds", "there are none", "write at least the round of first answers")
    if found.tau is not None and not (found.tau.is_finite() and 0 <= found.tau <= WHOLE):
        raise WrongTable("tau", f"{found.tau} is no number of points", "write 0 to 100")
    claims = {crux.claim for one in found.rounds for crux in one.cruxes}
    if len(claims) > MAX_TOGETHER:
        raise WrongTable("rounds", f"{len(claims)} cruxes", f"at most {MAX_TOGETHER} are valued together")
    terms = CruxTerms(
        tau=parameters.tau() if found.tau is None else Fraction(found.tau),
        experiments=found.experiments,
        parameters=parameters,
        documents=found.documents,
        rounds_at_most=parameters.stop.rounds_at_most
        if found.rounds_at_most is None
        else found.rounds_at_most,
        frame=None if found.frame is None else FrameCheck(found.frame.ill_posed, found.frame.objection),
        first=found.first,
    )
    rounds = tuple(_round(f"rounds[{place}]", one, options) for place, one in enumerate(found.rounds))
    unseen = None if found.unseen is None else unseen_of(found.unseen.sightings, found.unseen.lists)
    return BeliefTable(found.run, options, rounds, terms, unseen)


def _round(where: str, one: _Round, options: Sequence[str]) -> BeliefRound:
    own = {role: _points(f"{where}.roles.{role}", said, options) for role, said in one.roles.items()}
    named = [crux.claim for crux in one.cruxes]
    if len(set(named)) < len(named):
        raise WrongTable(f"{where}.cruxes", "the same claim twice", "name each crux once a round")
    return BeliefRound(
        own=own,
        cruxes=tuple(
            _crux(f"{where}.cruxes[{place}]", crux, options) for place, crux in enumerate(one.cruxes)
        ),
        redraw=_redraw(f"{where}.redraw", one.redraw, own, options),
        asked=len(own) if one.asked is None else one.asked,
        no_budget=one.no_budget,
        no_room=one.no_room,
    )


def _redraw(
    where: str, said: Mapping[str, dict[str, int] | int] | None, own: ByRole, options: Sequence[str]
) -> tuple[str, Points] | None:
    """Of the role that is named; a bare belief is the first role's."""
    if not said:
        return None
    by_role = {role: belief for role, belief in said.items() if isinstance(belief, dict)}
    if len(by_role) == len(said) == 1:
        ((role, belief),) = by_role.items()
        return role, _points(f"{where}.{role}", belief, options)
    if by_role or not own:
        raise WrongTable(where, "it is not one belief of one role", "write {role: {O-1: points, …}}")
    flat = {option: points for option, points in said.items() if isinstance(points, int)}
    return next(iter(own)), _points(where, flat, options)


def _crux(where: str, crux: _Crux, options: Sequence[str]) -> AskedCrux:
    if crux.result in ("holds", "fails") and crux.evidence is None:
        raise WrongTable(
            f"{where}.class", f"it {crux.result} and has no class", "name the class of its evidence"
        )
    for role, one in crux.given.items():
        if not 1 <= one.q <= 99:
            raise WrongTable(f"{where}.given.{role}.q", f"{one.q} points", "write 1 to 99: nothing is sure")
    return AskedCrux(
        claim=crux.claim,
        how=crux.how,
        given=dict(_given(f"{where}.given", crux.given, options)),
        predicts={role: one.predicts for role, one in crux.given.items() if one.predicts is not None},
        result=crux.result,
        evidence=crux.evidence,
    )


def _given(
    where: str, given: Mapping[str, _Numbers], options: Sequence[str]
) -> Iterator[tuple[str, Conditional]]:
    for role, one in given.items():
        yield (
            role,
            Conditional(
                Fraction(one.q),
                _points(f"{where}.{role}.if_true", one.if_true, options),
                _points(f"{where}.{role}.if_false", one.if_false, options),
            ),
        )


def _points(where: str, said: Mapping[str, int], options: Sequence[str]) -> Points:
    """A belief in option order: whole points, 0 or more, 100 together."""
    strange = [option for option in said if option not in options]
    if strange:
        raise WrongTable(where, f"{strange[0]!r} is no option", f"use {', '.join(options)}")
    if sum(said.values()) != WHOLE or min(said.values()) < 0:
        raise WrongTable(
            where, f"{sum(said.values())} points in all", "write points of 0 or more that sum to 100"
        )
    return tuple(Fraction(said.get(option, 0)) for option in options)
