"""Price of the rest of a study: runs, replies and dollars, and the person's consent above the limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from ledger.plain_text import counted
from moot.app import choices
from moot.app.seat_specs import choose, may_cost
from moot.environment import read_settings
from moot.errors import MootError
from moot.studies.conduct import StudyState
from moot.studies.definition import Study
from moot.studies.units import StudyUnit, deliberation_for, jobs_of
from moot.view.estimate import Estimate
from rounds.setup.opening import cast_roles

SMALL: Final = 20
"""Number of replies up to which a study of unknown price starts without asking."""


@dataclass(frozen=True, slots=True)
class StudyPrice:
    """Price range: `usd_low` and `usd_high` are None if a seat has no known price; `paid` if a reply may cost money."""

    runs: int
    replies: int
    usd_low: Decimal | None
    usd_high: Decimal | None
    paid: bool

    def line(self) -> str:
        """Return the price in one line."""
        if not self.paid:
            dollars = "nothing to pay for"
        elif self.usd_low is None or self.usd_high is None:
            dollars = "dollars unknown"
        else:
            dollars = f"{self.usd_low:.2f} to {self.usd_high:.2f} USD"
        runs, replies = counted(self.runs, "run"), counted(self.replies, "reply")
        return f"{runs} to play, at most {replies}, {dollars}"


def price_of(state: StudyState) -> StudyPrice:
    """Return the most that unfinished jobs may take; a run that is half done counts as a whole one."""
    study = state.study
    left = Counter(
        # Judging is counted apart, because its replies come from the judges' seats and not from the arm's.
        (job.unit.item, job.unit.arm, job.part.startswith("judge-"))
        for job in state.jobs
        if job.name not in state.ends
    )
    replies, low, high, is_known, paid = 0, Decimal(0), Decimal(0), True, False
    for (item, arm, is_judge), number in left.items():
        # A judging job is one reply of the judges' seats, whatever the arm of its unit costs.
        seats = (
            study.file.judging.seats if is_judge and study.file.judging is not None else study.arm(arm).seats
        )
        is_paid = may_cost(seats)
        paid = paid or is_paid
        if is_judge:
            replies += number
            is_known = is_known and not is_paid
            continue
        # Estimated once per item and arm: repetitions and draws differ only in their seed.
        estimate = _estimate(study, item, arm)
        replies += number * estimate.replies_at_most
        if estimate.usd is None:
            is_known = is_known and not is_paid
        else:
            low += number * Decimal(estimate.usd.low)
            high += number * Decimal(estimate.usd.high)
    return StudyPrice(
        sum(left.values()), replies, low if is_known else None, high if is_known else None, paid
    )


def _estimate(study: Study, item: str, arm: str) -> Estimate:
    job = next(job for job in jobs_of(study) if job.unit == StudyUnit(item, arm, 1) and not job.after)
    deliberation = deliberation_for(study, job, {})
    name = f"item {item}, arm {arm}"
    specs = choose(cast_roles(deliberation, name), study.arm(arm).seats.replace("{item}", item), {}, {})
    opening = choices.opening_of(deliberation, study.documents[item], specs, name=name)
    return choices.estimate_for(opening, specs, name)


def agreed_to(
    price: StudyPrice, *, yes: bool, tell: Callable[[str], object], agreed: Callable[[str, str], bool] | None
) -> None:
    """Print the price, and ask above the limit where a person can answer. Raises `MootError` after a no."""
    tell(f"{price.line()}\n")
    if price.usd_high is None:
        # Without prices only the number of replies tells how much is at stake.
        is_small = not price.paid or price.replies <= SMALL
    else:
        is_small = price.usd_high <= read_settings().ask_above_usd
    if yes or is_small or agreed is None or agreed("", "Begin?"):
        return
    fix = "plan fewer items or repetitions, or set budgets; --yes begins without being asked"
    raise MootError("not_begun", "nothing was begun", "moot study run", fix)
