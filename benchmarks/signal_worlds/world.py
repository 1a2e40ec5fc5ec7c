"""Parameters of simulated deliberations, and the worlds that the tables name.

`PUBLISHED` has the base rates of the published definitions. The others resemble long runs of moot 0.1: their rates of
resolutions, anchors, references, findings and ROBUST verdicts are near those of `library-minimum-8` and
`storage-standard-13`, and claims are raised more slowly, at the pace that the plan tolerates. The distance between two
forecasts of a role is that of recorded runs of `crux`. How fast forecasts settle is an assumption, because no long run
has recorded it. No world was fitted to a detector.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True)
class World:
    """Base rates of healthy runs; each run draws its own around them."""

    name: str
    issues_mean: float = 55
    issues_spread: float = 8
    renewal: float = 0.0
    """Issues that a round adds to what can be found, as a share of all: proposals are renewed."""
    pace: float = 1.75
    """Claims a role and round while much is left to find."""
    robust: tuple[float, float] = (0.3, 0.55)
    """Between these lies a run's share of ROBUST verdicts."""
    unclear: float = 0.38
    """UNCLEAR among the verdicts that are not ROBUST; 1 is a world that refutes nothing."""
    settling: float = 1.5
    """Claims that a check moves, on average."""
    settles_most: int = 3
    giving_in: float = 0.125
    empty: float = 0.02
    unanchored: float = 0.18
    drift: float = 0.05
    held_back: float = 0.6
    """The share of claims that roles keep to themselves at full strength (FM-5, starvation)."""
    shallow: float = 0.05
    vague: float = 0.04
    together: float = 0.0
    """Checks on which all roles seal one draw, and give in or not by one draw."""
    lost: float = 0.0
    """Checks whose sealed positions are lost."""
    asked: bool = False
    """A run of moot's own: its forms, and a plan; else an import."""
    options: int = 0
    """Options of the question; 0 is an open-ended one."""
    belief_noise: float = 4.0
    """Spread of every number of a sealed answer, in points. Two answers of a role are then about 8 points apart; in ten
    recorded runs of `crux` they were 3 to 15 apart, 8.6 on average."""
    evidence_half: float = 6.0
    """Tested claims after which roles have gone half the way from what they held first."""
    stuck: float = 0.0
    """Claims that no check settles: only a run or a person could."""
    compares: float = 0.0
    """Claims about options that compare two of them."""
    turns: float = 0.0
    """Runs in which late evidence turns the answer to another option, in R3 to R12."""
    close: float = 0.0
    """Runs in which all evidence leaves two options within 12 points of each other."""


PUBLISHED: Final = World("published")
RENEWING: Final = World(
    "renewing",
    asked=True,
    options=3,
    unanchored=0.01,
    empty=0.01,
    shallow=0.01,
    vague=0.01,
    renewal=0.1,
    pace=1.7,
    robust=(0.2, 0.4),
    settling=2.4,
    evidence_half=8.0,
    settles_most=4,
)
CONFIRMING: Final = World(
    "confirming",
    asked=True,
    options=3,
    unanchored=0.01,
    empty=0.0,
    shallow=0.01,
    vague=0.01,
    robust=(0.35, 0.55),
    unclear=1.0,
    settling=1.8,
    lost=0.15,
)
TOGETHER: Final = World(
    "together",
    asked=True,
    unanchored=0.02,
    empty=0.01,
    shallow=0.01,
    vague=0.01,
    renewal=0.05,
    pace=1.6,
    robust=(0.25, 0.45),
    settling=2.0,
    together=0.5,
    belief_noise=6.0,
)
LIVE: Final = World(
    "live",
    asked=True,
    options=3,
    unanchored=0.01,
    empty=0.01,
    shallow=0.01,
    vague=0.01,
    renewal=0.12,
    pace=1.5,
    robust=(0.3, 0.5),
    settling=2.4,
    settles_most=4,
    evidence_half=8.0,
    compares=0.4,
    stuck=0.1,
    held_back=0.9,
)
TURNING: Final = replace(LIVE, name="turning", turns=0.15, close=0.3)
WORLDS: Final = {world.name: world for world in (PUBLISHED, RENEWING, CONFIRMING, TOGETHER, LIVE, TURNING)}
"""By name. `renewing`: new proposals in every round. `confirming`: nothing is refuted, fields are lost. `together`:
roles that move as one, and no options. `live`: rates of recorded runs with model seats, claims that compare options and
roles that stop raising claims where they starve. `turning`: the same with near ties and late turns of the answer."""
