"""When a run of `crux` stops, and why: the first reason that holds after a round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from detectors.beliefs.parameters import RUN_HERE, CruxParameters, FrameCheck
from detectors.beliefs.pool import ByRole, leader_of
from detectors.beliefs.triage import CruxValue, ranked
from detectors.beliefs.values import Conditional, evsi
from ledger.events.values import StopReason

STATUS: Final[Mapping[StopReason, str]] = {
    "short": "decide",
    "settled": "decide",
    "ill_posed": "ill_posed",
    "values": "your_weighing",
    "hand_over": "run_this_first",
    "cap": "decide_with_tripwire",
    "budget": "decide_with_tripwire",
    "go_on": "running",
}
"""What the outcome of a run is when it ends for this reason."""


class Situation(NamedTuple):
    """What the stop reads after a round, in points.

    `rounds`: rounds of tests so far. `leader_unchanged`: or there was no pool before. `movement`, `noise`, `joint` are
    None where there is none. `joint_here`: of the cruxes that can be tested here, at the quality that is to be had.
    `weighed`: after the round before only the margin was missing. `ill_posed`: the frame check said so. `no_budget`:
    the budget forbids the next step. `no_room`: another round would not fit under the cap of replies.
    """

    rounds: int
    none: Fraction
    margin: Fraction
    leader_unchanged: bool
    movement: Fraction | None
    noise: Fraction | None
    open: tuple[CruxValue, ...]
    joint: Fraction | None
    joint_here: Fraction | None
    weighed: bool = False
    ill_posed: bool = False
    no_budget: bool = False
    no_room: bool = False


class CruxStop(NamedTuple):
    """Why it stops, or goes on and with which crux; `weighing` says that only the margin was missing to settle."""

    reason: StopReason
    crux: str | None
    weighing: bool

    @property
    def go_on(self) -> bool:
        """Whether another round opens."""
        return self.reason == "go_on"


def stop_of(now: Situation, tau: Fraction, rounds_at_most: int, parameters: CruxParameters) -> CruxStop:
    """The first reason that holds; `tau` in points, `rounds_at_most` rounds of tests (0: answers merged, always `cap`).

    ill_posed · budget · settled · hand_over · values · cap · go_on. What is worth testing is read at the best quality;
    whether it can be tested here, at the quality here (LIT-2).
    """
    limits = parameters.stop
    top = ranked(one for one in now.open if one.testable)
    handing_over = _only_elsewhere(now, tau)
    at_rest = (now.leader_unchanged and _still(now, limits.movement_at_most)) or not (top or handing_over)
    quiet = at_rest and not _worth(now.open, now.joint, tau)
    weighing = quiet and now.margin < limits.margin_at_least
    crux = None
    reason: StopReason
    if now.ill_posed and now.none >= limits.ill_posed_from:
        reason = "ill_posed"
    elif now.no_budget:
        reason = "budget"
    elif rounds_at_most == 0:
        reason = "cap"
    elif quiet and not weighing:
        reason = "settled"
    elif handing_over:
        reason, crux = "hand_over", ranked(now.open)[0].claim
    elif weighing and (now.weighed or not top):
        reason = "values"
    elif now.rounds >= rounds_at_most or now.no_room:
        reason = "cap"
    else:
        reason, crux = "go_on", top[0].claim
    return CruxStop(reason, crux, weighing)


def _still(now: Situation, at_most: Fraction) -> bool:
    """Whether the roles moved no further than two draws of one seat differ; nothing to compare counts as still."""
    return now.movement is None or now.movement <= max(at_most, now.noise or at_most)


def _worth(cruxes: Iterable[CruxValue], joint: Fraction | None, tau: Fraction) -> bool:
    return any(one.at_best >= tau for one in cruxes) or (joint is not None and joint >= tau)


def _only_elsewhere(now: Situation, tau: Fraction) -> bool:
    """Whether a test is worth a round and nobody here can do it well enough.

    What is decided by running is planned and predicted here once before that, so that the work order has a command.
    """
    if not _worth(now.open, now.joint, tau):
        return False
    if any(one.here >= tau for one in now.open) or (now.joint_here is not None and now.joint_here >= tau):
        return False
    wanted = [one for one in now.open if one.at_best >= tau] or now.open
    return all(one.planned or one.how not in RUN_HERE for one in wanted)


def short_way(
    answers: ByRole,
    asked: int,
    proposals: Iterable[Conditional],
    frame: FrameCheck | None,
    *,
    at_least: Fraction,
    tau: Fraction,
    parameters: CruxParameters,
) -> bool:
    """Whether the run may end before any test: all that were asked have one leader, at `at_least` points.

    The frame check came and has no objection, and no proposal is worth `tau` points or more at the quality of a
    reproduced run by its proposer's own numbers. An answer that was lost agrees with nobody; a frame that was lost
    closes this way.
    """
    if frame is None or frame.ill_posed or frame.objection or not answers or len(answers) < asked:
        return False
    agreed = len({leader_of(points) for points in answers.values()}) == 1
    sure = all(max(points) >= at_least for points in answers.values())
    quality = parameters.qualities["reproduced"]
    return agreed and sure and all(evsi(given, quality) < tau for given in proposals)


def in_words(stop: CruxStop, values: Sequence[CruxValue], joint: Fraction | None, tau: Fraction) -> str:
    """The reason as one sentence for people."""
    worth = {one.claim: one.at_best for one in values}
    together = "" if joint is None else f", all of them together {float(joint):.2f}"
    match stop.reason:
        case "short":
            return "The answers agree, and nothing that anybody proposed to test could change them."
        case "ill_posed":
            return (
                "The question is ill-posed: the frame check says so, and the roles would rather answer none."
            )
        case "budget":
            return "The budget forbids the next step."
        case "settled":
            return f"No test is worth {float(tau):g} points any more{together}."
        case "hand_over":
            return f"{stop.crux} is worth {float(worth[stop.crux or '']):.2f} points{together}; not to be had here."
        case "values":
            return "No test would tell the first two apart: the goals conflict, and a person weighs."
        case "cap":
            return f"No further round of tests fits{together}."
        case _:
            return f"{stop.crux} is worth {float(worth[stop.crux or '']):.2f} points{together}."
