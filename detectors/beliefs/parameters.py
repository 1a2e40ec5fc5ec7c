"""The numbers of `detectors/parameters/crux.toml`: starting values, not measurements."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

import msgspec

from detectors.parameters import DIRECTORY
from ledger.events.values import EvidenceClass, HowTested

Stakes = Literal["high", "normal", "low"]
RUN_HERE: Final[frozenset[HowTested]] = frozenset(("execution", "calculation"))
"""Decided by running, where experiments may run."""


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file: closed, so that a misspelt threshold is an error."""


class Stopping(_Part, frozen=True, kw_only=True):
    """`[stop]`: points, but for the three counts."""

    tau: Fraction
    movement_at_most: Fraction
    margin_at_least: Fraction
    ill_posed_from: Fraction
    rounds_at_most: int
    replies_at_most: int
    replies_of_the_close: int


class ShortWays(_Part, frozen=True, kw_only=True):
    """`[short]`: points on one leader."""

    first_from: Fraction
    all_from: Fraction


class Admission(_Part, frozen=True, kw_only=True):
    """`[crux]`: points, and how many."""

    effect_at_least: Fraction
    incoherent_above: Fraction
    proposals_at_most: int
    agenda_at_most: int
    tested_at_most: int
    rounds_asked_at_most: int


class Updating(_Part, frozen=True, kw_only=True):
    """`[update]`: points."""

    surprised_from: Fraction
    unexplained_above: Fraction


class CruxParameters(_Part, frozen=True, kw_only=True):
    """`crux.toml`. Qualities are shares of right verdicts, 0.5 … 1."""

    version: int
    qualities: dict[EvidenceClass, Fraction]
    at_best: dict[HowTested, Fraction]
    stop: Stopping
    short: ShortWays
    stakes: dict[Stakes, Fraction]
    crux: Admission
    update: Updating

    def here(self, how: HowTested, *, experiments: bool, documents: bool) -> Fraction | None:
        """The quality that can be had in this run; None where nobody here can test such a crux.

        Not 0 for a person's: the formula is as informative at 0 as at 1.
        """
        if how == "person":
            return None
        at_hand = experiments if how in RUN_HERE else documents if how == "document" else False
        return self.at_best[how] if at_hand else self.qualities["argued"]

    def tau(self, stakes: Stakes = "normal") -> Fraction:
        """The value from which on a test is worth a round, in points."""
        return self.stop.tau * self.stakes[stakes]


def _exact(wanted: type, value: Any) -> Any:
    """A decimal string as the fraction that it writes; a float never."""
    if wanted is Fraction and isinstance(value, str):
        return Fraction(value)
    raise ValueError(f"{value!r}: write the number as a decimal in quotation marks")


@cache
def crux_parameters() -> CruxParameters:
    """The installed numbers."""
    return msgspec.toml.decode(crux_parameter_bytes(), type=CruxParameters, dec_hook=_exact)


@cache
def crux_parameter_bytes() -> bytes:
    """The file itself; its SHA-256 is the `params` of a run's verdicts."""
    return (DIRECTORY / "crux.toml").read_bytes()


@cache
def crux_parameter_hash() -> str:
    """SHA-256 of the file, in hexadecimal."""
    return sha256(crux_parameter_bytes()).hexdigest()


class FrameCheck(NamedTuple):
    """What the frame check said. `objection`: ill-posed, an option missing, or two that are one."""

    ill_posed: bool
    objection: bool


class CruxTerms(NamedTuple):
    """What holds for a whole run. `tau` in points; `first`: only the first seats were asked in round 1.

    `experiments`, `documents`: whether this run can run programs, and has documents to read.
    """

    tau: Fraction
    experiments: bool
    parameters: CruxParameters
    documents: bool = True
    rounds_at_most: int = 3
    frame: FrameCheck | None = None
    first: bool = False

    def here(self, how: HowTested) -> Fraction | None:
        """The quality that can be had here; None where nobody here can test it."""
        return self.parameters.here(how, experiments=self.experiments, documents=self.documents)
