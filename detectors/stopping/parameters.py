"""Thresholds of the failure modes and of readiness, read from `detectors/parameters/gates.toml`.

Every bet is on a rate above the tolerated one; `read_parameters` refuses a file in which one is not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import msgspec

from detectors.parameters import PROFILES, params_bytes, params_hash
from detectors.stopping.betting import moved
from ledger.state.book import Blobs
from ledger.state.state import State
from ledger.store.blobs import own_parameters
from ledger.store.failures import BlobMissing

VERSION: Final = 5
"""The version of what is computed from these thresholds. A file of another version is not computed by."""
ROLES: Final = 4
"""The number of roles that the grid of an `AboveShare` is stated for."""


class WrongParameters(ValueError):
    """Parameter file that bets the wrong way, or on nothing: which key, and what to change."""

    def __init__(self, key: str, wrong: str, fix: str) -> None:
        self.key: Final = key
        self.fix: Final = fix
        super().__init__(f"{key}: {wrong}")


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table of the file: closed, so that a misspelled threshold is an error."""


class Share(_Table, frozen=True, kw_only=True):
    """Tolerated share, worse ones, and the units below which nothing is reported."""

    p0: float
    grid: tuple[float, ...]
    units_at_least: int = 0


class Unanchored(Share, frozen=True, kw_only=True):
    """FM-3: in a run whose forms ask for the goal, fewer units go without one."""

    p0_where_asked: float

    def bet(self, *, asked: bool) -> tuple[float, tuple[float, ...]]:
        """Return the tolerated share and worse ones, at the same distance from it in log-odds."""
        p0 = self.p0_where_asked if asked else self.p0
        return p0, moved(self.grid, self.p0, p0)


class FailedDrift(_Table, frozen=True, kw_only=True):
    """The tolerated share of failed drift checks, and the one worse share."""

    p0: float
    p1: float


class AboveShare(_Table, frozen=True, kw_only=True):
    """Tolerated share of 1/N and so much more; the grid is that of four roles."""

    above_share: float
    grid: tuple[float, ...]
    citations_at_least: int = 0

    def bet(self, roles: int) -> tuple[float, tuple[float, ...]]:
        """Return the tolerated share among so many roles, and worse ones; from 1 on everything is tolerated."""
        p0 = 1 / roles + self.above_share
        return p0, self.grid if p0 >= 1 else moved(self.grid, 1 / ROLES + self.above_share, p0)


class Unanimity(_Table, frozen=True, kw_only=True):
    """FM-1: a string of rounds in which checks found nothing and no position differed from the lead's."""

    rounds_running: int
    checks_at_least: int


class Mean(_Table, frozen=True, kw_only=True):
    """A tolerated mean, and multiples of it."""

    mean: float
    grid: tuple[float, ...]
    rounds_at_least: int = 0


class Starvation(_Table, frozen=True, kw_only=True):
    """FM-5: fewer new claims per round than this, for this many rounds running, while work is left."""

    claims_below: int
    rounds_running: int


class Bypass(Share, frozen=True, kw_only=True):
    """FM-6: and how many references to a numbered place are enough."""

    references_at_least: int


class StressAvoidance(_Table, frozen=True, kw_only=True):
    """FM-7 is deterministic."""

    made_up_within_rounds: int
    references_at_least: int


class UntestedTerms(_Table, frozen=True, kw_only=True):
    """The share of claims that may be untested."""

    share_at_most: float


class ExaminedTerms(_Table, frozen=True, kw_only=True):
    """Tested claims that name each option."""

    tests_at_least: int
    alarm_from_round: int
    """FM-9 is read from this round on, and only …"""
    others_tested_at_least: int
    """… after this many claims about options were tested."""


class SettledTerms(_Table, frozen=True, kw_only=True):
    """How long what the roles would answer now must keep its leader, how much that may lose, how clearly it leads."""

    rounds_with_same_leader: int
    points_lost_at_most: int
    margin_at_least: int


class Stakes(_Table, frozen=True, kw_only=True):
    """How one coin is split between the bets of a mode, in parts."""

    giving_in: tuple[int, int]
    """FM-1: positions, checks that found nothing; the same where no position differs, or none was sealed."""
    goal_drift: tuple[int, int]
    """FM-3: anchors, both at once."""
    domination: tuple[int, int, int]
    """FM-4: citations, leads, both at once."""
    inflation: tuple[int, int, int]
    """FM-5: number, vagueness, both at once."""


class CautiousTerms(_Table, frozen=True, kw_only=True):
    """READY waits while a mode's E is not below the first, or what its last rounds alone are worth not below the
    second."""

    e_value_below: float
    late_value_below: float
    late_rounds: int


class ClaimCap(_Table, frozen=True, kw_only=True):
    """Claims that an artifact may propose while a cap is in force."""

    claims_at_most: int


class GateParameters(_Table, frozen=True, kw_only=True):
    """`gates.toml`."""

    version: int
    watch_at: str
    alarm_at: str
    giving_in: Share
    only_robust: Share
    unanimity: Unanimity
    pro_forma_broken: Share
    drift_unanchored: Unanchored
    drift_failed: FailedDrift
    domination_cited: AboveShare
    domination_led: AboveShare
    inflation: Mean
    vagueness: Share
    starvation: Starvation
    bypass: Bypass
    stress_avoidance: StressAvoidance
    examined: ExaminedTerms
    settled: SettledTerms
    untested: UntestedTerms
    stakes: Stakes
    cautious: CautiousTerms
    claim_cap: ClaimCap


@cache
def gate_parameters() -> GateParameters:
    """Return the installed thresholds."""
    return read_parameters(params_bytes("gates"))


def read_parameters(content: bytes) -> GateParameters:
    """Return the thresholds of a parameter file.

    Raises `msgspec.DecodeError` when it is not one, and `WrongParameters` for a bet that cannot be made.
    """
    parameters = msgspec.toml.decode(content, type=GateParameters)
    # The first fault is raised, because later ones may follow from it.
    for wrong in faults(parameters):
        raise wrong
    return parameters


def parameter_file_of(state: State, blobs: Blobs | None) -> bytes:
    """Return the parameter file by which a run is judged: its own if it keeps one of this version, else the installed.

    Raises `BlobMissing` where its own is lost. Verdicts that were recorded by another file are taken as given.
    """
    own = own_parameters(state.opened) if state.opened is not None else None
    # A run keeps its own file, so that a release with better thresholds does not change its verdicts.
    if own is None or blobs is None or own == params_hash("gates"):
        return params_bytes("gates")
    content = blobs.read(own)
    if content is None:
        raise BlobMissing(f"the file of the run's own parameters ({own[:12]}…)")
    # A file of another version cannot be computed by this code. Recorded verdicts by it are accepted as they
    # are.
    return content if _is_readable(content) else params_bytes("gates")


def parameters_of(state: State, blobs: Blobs | None) -> GateParameters:
    """Return the thresholds by which a run is judged."""
    return read_parameters(parameter_file_of(state, blobs))


def judges_by(profile: str, named: str, blobs: Blobs) -> bool:
    """Return whether a verdict by the parameter file of this hash can be recomputed here."""
    if profile not in PROFILES:
        return True  # a protocol that judges by rules of its own
    if named == params_hash(profile):
        return True
    content = blobs.read(named) if profile == "gates" else None
    return content is not None and _is_readable(content)


def _is_readable(content: bytes) -> bool:
    try:
        read_parameters(content)
    except (msgspec.DecodeError, UnicodeDecodeError, WrongParameters):
        return False
    return True


def faults(parameters: GateParameters) -> Iterator[WrongParameters]:
    """Yield what is wrong with readable thresholds: every bet needs p1 > p0, every multiple more than 1."""
    # The version comes first: other keys may mean something else in another version.
    if parameters.version != VERSION:
        yield WrongParameters(
            "version",
            f"{parameters.version}, and only {VERSION} is read for a run that was not opened with it",
            "edit a copy of the installed detectors/parameters/gates.toml",
        )
        return
    for name, share in _shares(parameters):
        yield from _bet(f"{name}.grid", share.p0, share.grid, f"{name}.p0")
    asked = parameters.drift_unanchored.p0_where_asked
    if not 0 < asked < 1:
        yield WrongParameters(
            "drift_unanchored.p0_where_asked",
            f"tolerates {asked:g}, and a share lies between 0 and 1",
            "change it",
        )
    yield from _bet(
        "drift_failed.p1", parameters.drift_failed.p0, (parameters.drift_failed.p1,), "drift_failed.p0"
    )
    cited, led = parameters.domination_cited, parameters.domination_led
    for name, above in (("domination_cited", cited), ("domination_led", led)):
        tolerated = f"{name}.above_share"
        yield from _bet(f"{name}.grid", 1 / ROLES + above.above_share, above.grid, tolerated)
        # A tolerated share below an even one would alarm on perfectly equal roles.
        if above.above_share < 0:
            yield WrongParameters(
                tolerated, f"{above.above_share:g} is below an even share", "make it 0 or more"
            )
    yield from _multiples("inflation", parameters.inflation)
    yield from _together("domination_cited", cited.grid, "domination_led", led.grid)
    yield from _together("inflation", parameters.inflation.grid, "vagueness", parameters.vagueness.grid)
    yield from _thresholds(parameters)


def _shares(parameters: GateParameters) -> tuple[tuple[str, Share], ...]:
    return tuple(
        (name, rule)
        for name in parameters.__struct_fields__
        if isinstance(rule := getattr(parameters, name), Share)
    )


def _bet(key: str, p0: float, grid: Sequence[float], tolerated: str) -> Iterator[WrongParameters]:
    """Check that a tolerated rate is between 0 and 1, and every worse one between it and 1."""
    if not 0 < p0 < 1:
        yield WrongParameters(
            tolerated, f"tolerates {p0:g}, and a share lies between 0 and 1", f"change {tolerated}"
        )
    elif not grid:
        yield WrongParameters(key, "names no worse rate to bet on", f"name rates between {p0:g} and 1")
    for p1 in grid:
        if 0 < p0 < 1 and not p0 < p1 < 1:
            wrong = f"{p1:g} is no worse rate: {p0:g} is tolerated, so a bet on it wins when all is well"
            yield WrongParameters(key, wrong, f"name rates between {p0:g} and 1, or lower {tolerated}")


def _multiples(name: str, rule: Mean) -> Iterator[WrongParameters]:
    if not rule.mean > 0:
        yield WrongParameters(f"{name}.mean", f"{rule.mean:g} tolerates nothing", "make it more than 0")
    if not rule.grid or not all(times > 1 for times in rule.grid):
        multiples = ", ".join(f"{times:g}" for times in rule.grid) or "nothing"
        wrong = f"{multiples}: a multiple of what is tolerated is more than 1"
        yield WrongParameters(f"{name}.grid", wrong, "name multiples above 1")


def _together(
    name: str, grid: Sequence[float], other: str, beside: Sequence[float]
) -> Iterator[WrongParameters]:
    """Check that two rates that are bet on at once have grids of one length, because they go row by row."""
    if len(grid) != len(beside):
        wrong = f"{len(grid)} rates, and {other}.grid has {len(beside)}: they are bet on in pairs"
        yield WrongParameters(f"{name}.grid", wrong, f"name as many in {name}.grid as in {other}.grid")


def _thresholds(parameters: GateParameters) -> Iterator[WrongParameters]:
    """Check the e-values for watch and alarm: numbers, in this order, above the 1 that no data gives."""
    try:
        ordered = 1 < float(parameters.watch_at) <= float(parameters.alarm_at)
    except ValueError:
        ordered = False
    if not ordered:
        wrong = f"{parameters.watch_at!r}, with alarm_at {parameters.alarm_at!r}"
        yield WrongParameters(
            "watch_at", wrong, 'say numbers above 1, watch_at at most alarm_at: "10" and "20"'
        )
