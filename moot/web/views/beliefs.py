"""Beliefs of a crux run on its page: a plot an option, the cruxes by what a test is worth, on whom the end rests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from detectors.beliefs.report import Beliefs, CruxInRound, PoolInRound
from moot.web.drawing import BeliefPoint, belief_plot

NONE = "none"


class OptionPlot(NamedTuple):
    """An option with its words, its plot, and the last points of the pool; None where nobody was in it."""

    option: str
    words: str
    plot: Markup
    points: float | None


class CruxRow(NamedTuple):
    """A crux as it stood last, and in which round."""

    round: int
    crux: CruxInRound


@dataclass(frozen=True, slots=True)
class BeliefsShown:
    """What is shown: `resting` are the roles without whom the end would be another, with who would lead then."""

    plots: tuple[OptionPlot, ...]
    cruxes: tuple[CruxRow, ...]
    rounds: tuple[PoolInRound, ...]
    resting: tuple[tuple[str, str | None], ...]
    beliefs: Beliefs


def beliefs_shown(found: Beliefs, options: dict[str, str]) -> BeliefsShown:
    """Beliefs for a page; `options` are the words of each option."""
    last: dict[str, CruxRow] = {}
    for one in found.rounds:
        last |= {crux.claim: CruxRow(one.round, crux) for crux in one.cruxes}
    by_value = sorted(last.values(), key=lambda row: -(row.crux.evsi.reproduced or 0))
    return BeliefsShown(
        plots=tuple(_plot(option, found, options) for option in _spoken_for(found)),
        cruxes=tuple(by_value),
        rounds=tuple(found.rounds),
        resting=tuple((role, one.leader) for role, one in found.without.items() if one.changes),
        beliefs=found,
    )


def _spoken_for(found: Beliefs) -> list[str]:
    """The options that somebody gave a point to."""
    return [option for option in (*found.options, NONE) if any(one.pool.get(option) for one in found.rounds)]


def _plot(option: str, found: Beliefs, options: dict[str, str]) -> OptionPlot:
    points = [
        BeliefPoint(one.round, one.pool[option], tuple((role, given[option]) for role, given in one.roles.items()))
        for one in found.rounds
        if option in one.pool
    ]  # fmt: skip
    words = "none of them" if option == NONE else options.get(option, "")
    return OptionPlot(option, words, belief_plot(option, points), points[-1].pool if points else None)
