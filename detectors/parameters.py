"""Thresholds of the stop checks, failure modes and forecasts, read from `parameters.toml` beside this module.

The file has a section for each profile. A verdict names its section by the SHA-256 of the section's bytes, and a run of
`gates` keeps that section as a blob, so its verdicts can be recomputed by the numbers it was opened with. The bytes and
not the parsed numbers are hashed, because the hash is the name of that blob; a hash of anything else would also leave
every recorded verdict of `published` and `crux`, which keep no blob, without the numbers it names.
Every bet is on a rate above the tolerated one: a section in which one is not does not decode.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from ledger.events.envelope import HowTested
from ledger.plain_json import built
from ledger.plain_toml import toml_table
from ledger.state.book import Blobs
from ledger.state.state import State
from ledger.store.blobs import hash_of, own_parameters
from ledger.store.failures import BlobMissing

SignalProfile = Literal["gates", "published"]
PROFILES: Final[tuple[SignalProfile, ...]] = ("gates", "published")
"""Profiles whose stop checks are installed; `crux` judges by its forecasts."""
DEFAULT_PROFILE: Final[SignalProfile] = "gates"
"""The profile that new runs and imports are opened with."""
ROLES: Final = 4
"""The number of roles that the grid of an `AboveShare` is stated for."""

T = TypeVar("T")
Rate = Annotated[float, Meta(gt=0, lt=1)]
Rates = Annotated[tuple[Rate, ...], Meta(min_length=1)]
Multiples = Annotated[tuple[Annotated[float, Meta(gt=1)], ...], Meta(min_length=1)]


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table of the file: closed, so that a misspelled threshold is an error."""


class Share(_Table, frozen=True, kw_only=True):
    """Tolerated share, worse ones, and the units below which nothing is reported."""

    p0: Rate
    grid: Rates
    units_at_least: int = 0

    def __post_init__(self) -> None:
        _bet(self.grid, self.p0, "p0")


class Unanchored(Share, frozen=True, kw_only=True):
    """FM-3: in a run whose forms ask for the goal, fewer units go without one."""

    p0_where_asked: Rate

    def bet(self, *, goal_is_asked: bool) -> tuple[float, tuple[float, ...]]:
        """Return the tolerated share and worse ones, at the same distance from it in log-odds."""
        p0 = self.p0_where_asked if goal_is_asked else self.p0
        return p0, _moved(self.grid, self.p0, p0)


class FailedDrift(_Table, frozen=True, kw_only=True):
    """The tolerated share of failed drift checks, and the one worse share."""

    p0: Rate
    p1: Rate

    def __post_init__(self) -> None:
        _bet((self.p1,), self.p0, "p0", "p1")


class AboveShare(_Table, frozen=True, kw_only=True):
    """Tolerated share of 1/N and so much more; the grid is that of four roles.

    A tolerated share below an even one would alarm on perfectly equal roles.
    """

    above_share: Annotated[float, Meta(ge=0)]
    grid: Rates
    citations_at_least: int = 0

    def __post_init__(self) -> None:
        _bet(self.grid, 1 / ROLES + self.above_share, "above_share")

    def bet(self, roles: int) -> tuple[float, tuple[float, ...]]:
        """Return the tolerated share among so many roles, and worse ones; from 1 on everything is tolerated."""
        p0 = 1 / roles + self.above_share
        return p0, self.grid if p0 >= 1 else _moved(self.grid, 1 / ROLES + self.above_share, p0)


class Unanimity(_Table, frozen=True, kw_only=True):
    """FM-1: consecutive rounds in which checks found nothing and no position was held against the lead's."""

    rounds_running: int
    checks_at_least: int


class Mean(_Table, frozen=True, kw_only=True):
    """A tolerated mean, and multiples of it."""

    mean: Annotated[float, Meta(gt=0)]
    grid: Multiples
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


class ExaminedTerms(_Table, frozen=True, kw_only=True):
    """Tested claims that name each option. FM-9 is read from a round on, and only after so many others were tested."""

    tests_at_least: int
    alarm_from_round: int
    others_tested_at_least: int


class SettledTerms(_Table, frozen=True, kw_only=True):
    """How long what the roles would answer now must keep its leader, how much that may lose, how clearly it leads."""

    rounds_with_same_leader: int
    points_lost_at_most: int
    margin_at_least: int


class CoinParts(_Table, frozen=True, kw_only=True):
    """How the capital of a mode is divided between its bets, in parts; the file names the bets."""

    giving_in: tuple[int, int]
    goal_drift: tuple[int, int]
    domination: tuple[int, int, int]
    inflation: tuple[int, int, int]


class CautiousTerms(_Table, frozen=True, kw_only=True):
    """Limits below which every failure mode must be before a run is READY.

    They are on its E, and on what its last rounds alone are worth.
    """

    e_value_below: float
    late_value_below: float
    late_rounds: int


class GateParameters(_Table, frozen=True, kw_only=True):
    """Section `gates`. Code computes one version of it; recorded verdicts by another are taken as given."""

    version: Literal[5]
    watch_at: float
    alarm_at: float
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
    untested: Annotated[dict[Literal["share_at_most"], float], Meta(min_length=1)]
    stakes: CoinParts
    cautious: CautiousTerms
    claim_cap: Annotated[dict[Literal["claims_at_most"], int], Meta(min_length=1)]

    def __post_init__(self) -> None:
        # Without any data E is 1, so a threshold there would alarm on an empty run.
        if not 1 < self.watch_at <= self.alarm_at:
            raise ValueError(
                f"watch_at {self.watch_at:g} and alarm_at {self.alarm_at:g}: "
                'write numbers above 1, watch_at at most alarm_at, as "10" and "20"'
            )
        # Two rates that are bet on at once go row by row.
        for names in (("domination_cited", "domination_led"), ("inflation", "vagueness")):
            lengths = [len(getattr(self, name).grid) for name in names]
            if len(set(lengths)) > 1:
                raise ValueError(
                    f"{names[0]}.grid has {lengths[0]} rates and {names[1]}.grid {lengths[1]}: they are bet on in "
                    "pairs, so write as many in both"
                )


class ClaimTestingSlows(_Table, frozen=True, kw_only=True):
    """S1: the last windows, against a share of the peak (SD-61)."""

    rounds_at_least: int
    window_rounds: int
    windows_below: int
    share_of_peak: Fraction


class DisagreementPersists(_Table, frozen=True, kw_only=True):
    """S2: the slope of disagreement per round; the last rounds alone must keep the trend (SD-63)."""

    rounds_at_least: int
    slope_at_least: Fraction
    last_rounds: int


class RolesWereStressed(_Table, frozen=True, kw_only=True):
    """S4: how many roles may stay untested, or the one role whose absence says most (SD-67)."""

    roles_spared: int
    or_role: str


class SlopeAlarmAt(_Table, frozen=True, kw_only=True):
    """Limits at which fading disagreement raises the alarm in mid-run (SD-22)."""

    rounds_at_least: int
    readings_running: int


class PublishedParameters(_Table, frozen=True, kw_only=True):
    """Section `published`: the six signals as the source describes them, with FM-1 and FM-8."""

    stop: dict[Literal["satisfied_at_least"], int]
    claim_testing_slows: ClaimTestingSlows
    disagreement_persists: DisagreementPersists
    every_role_led: dict[Literal["entropy_share"], Fraction]
    roles_were_stressed: RolesWereStressed
    few_claims_pending: dict[Literal["share_below"], Fraction]
    slope_alarm: SlopeAlarmAt
    overrun: dict[Literal["signals_at_most"], int]


Stakes = Literal["high", "normal", "low"]
Level = Literal["measured", "reproduced", "ran", "calculated", "quoted"]
"""Level of a verdict, the highest first: measured by a person, run three times, run, calculated, quoted."""


class ForecastLimits(_Table, frozen=True, kw_only=True):
    """`[limits]`: points, but for the two counts."""

    margin_at_least: int
    ill_posed_from: int
    incoherent_above: int
    kept_at_most: int
    extra_programs_at_most: int


class ForecastParameters(_Table, frozen=True, kw_only=True):
    """Section `crux`. Qualities are percent of right verdicts, 50 to 100; `short` is points on one leader."""

    version: int
    quality: dict[Level, int]
    best: dict[HowTested, int]
    tau: dict[Stakes, Fraction]
    limits: ForecastLimits
    short: dict[Literal["first_from", "all_from"], int]


class ForecastTerms(NamedTuple):
    """Terms of a whole run: the worth of a test in points, and what can be tested here."""

    tau: Fraction
    experiments: bool
    documents: bool
    parameters: ForecastParameters

    def here(self, how: HowTested) -> int | None:
        """Return the quality of a test here, in percent; None where this run cannot test such a crux."""
        possible = {"execution": self.experiments, "calculation": True, "document": self.documents}
        return self.parameters.best[how] if possible.get(how) else None


@cache
def params_bytes(section: str) -> bytes:
    """Return a section of the installed file: `gates`, `published` or `crux`."""
    return _section(Path(__file__).with_suffix(".toml").read_bytes(), section)


def params_hash(section: str) -> str:
    """Return the SHA-256 of an installed section: the `params` of `signals`, `alarm` and `stop` (FORMAT 2)."""
    return hash_of(params_bytes(section))


@cache
def gate_parameters() -> GateParameters:
    """Return the installed thresholds of `gates`."""
    return read_parameters(params_bytes("gates"))


@cache
def published_parameters() -> PublishedParameters:
    """Return the installed thresholds of `published`."""
    return _decoded(params_bytes("published"), PublishedParameters)


@cache
def forecast_parameters() -> ForecastParameters:
    """Return the installed numbers of `crux`."""
    return _decoded(params_bytes("crux"), ForecastParameters)


@lru_cache(maxsize=8)
def read_parameters(content: bytes) -> GateParameters:
    """Return the thresholds of a file: a copy of the whole parameter file, or a section as a run keeps it.

    Raises `ValueError` for what is no such file, and for a bet that cannot be made.
    """
    return _decoded(_section(content, "gates"), GateParameters)


def parameter_file_of(state: State, blobs: Blobs | None) -> bytes:
    """Return the section by which a run is judged: its own if it keeps one of this version, else the installed.

    Raises `BlobMissing` where its own is lost. Verdicts that were recorded by other numbers are taken as given.
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
    """Return whether a verdict by the numbers of this hash can be recomputed here."""
    # A protocol whose profile is not installed judges by rules of its own.
    if profile not in PROFILES or named == params_hash(profile):
        return True
    content = blobs.read(named) if profile == "gates" else None
    return content is not None and _is_readable(content)


def _is_readable(content: bytes) -> bool:
    try:
        read_parameters(content)
    except ValueError:
        return False
    return True


def _decoded(content: bytes, kind: type[T]) -> T:
    # Numbers that must stay exact are quoted in the file: a TOML float would already be rounded.
    return msgspec.convert(
        toml_table(content.decode()),
        built(kind),
        strict=False,
        dec_hook=lambda fraction, text: fraction(text),
    )


def _section(content: bytes, name: str) -> bytes:
    """Return a section as a file of its own, the form that is hashed and kept; a file without it is one already."""
    _, header, rest = content.partition(f"\n[{name}]\n".encode())
    body = re.split(rb"\n\[\w+\]\n", rest)[0]
    return body.replace(f"\n[{name}.".encode(), b"\n[") if header else content


def _bet(grid: Sequence[float], p0: float, tolerated: str, worse: str = "grid") -> None:
    """Raise `ValueError` for a rate in the grid that is tolerated."""
    for p1 in grid:
        # A bet on a tolerated rate wins when all is well.
        if not p0 < p1:
            raise ValueError(
                f"{worse}: {p1:g} is no worse rate, {p0:g} is tolerated; write rates between {p0:g} and 1, or a lower "
                f"{tolerated}"
            )


def _moved(grid: Sequence[float], p0: float, new: float) -> tuple[float, ...]:
    """Return the worse rates of `p0` for the tolerated share `new`, at the same distance in log-odds.

    Both shares are between 0 and 1, so the moved rates stay above the new one and below 1.
    """
    if new == p0:
        return tuple(grid)
    shift = _logit(new) - _logit(p0)
    return tuple(1 / (1 + math.exp(-(_logit(p1) + shift))) for p1 in grid)


def _logit(share: float) -> float:
    return math.log(share / (1 - share))
