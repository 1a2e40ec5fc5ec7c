"""A verdict of a lower evidence class undoes none of a higher one; between equals the later counts (FORMAT 2).

Of `ledger/state/lifecycle.py`.
"""

from __future__ import annotations

import pytest

from ledger.events.envelope import Status
from ledger.state.lifecycle import WEIGHT, Move, Place, history, status_after

CONFIRMED: Status = "tested_confirmed"
REFUTED: Status = "tested_refuted"
UNCLEAR: Status = "tested_unclear"


def moves(*said: tuple[Status, str]) -> list[Move]:
    """Moves in the order given, by status and class."""
    return [
        Move(Place(1, "E", 0, 0, n), "pending", to, None, f"V-1-{n}", n, class_)
        for n, (to, class_) in enumerate(said)
    ]


@pytest.mark.parametrize("lower", WEIGHT)
@pytest.mark.parametrize("higher", WEIGHT)
def test_what_weighs_more_stands_and_between_equals_the_later(lower: str, higher: str) -> None:
    found = status_after(moves((CONFIRMED, higher), (REFUTED, lower)))
    assert found == (CONFIRMED if WEIGHT[lower] < WEIGHT[higher] else REFUTED)


def test_an_outweighed_move_is_kept_and_moves_nothing() -> None:
    first, second, third = history(
        moves((CONFIRMED, "reproduced"), (REFUTED, "argued"), (UNCLEAR, "reproduced"))
    )
    assert (first.counts, second.counts, third.counts) == (True, False, True)
    assert second.legal
    assert second.outweighed
    assert third.from_ == CONFIRMED


def test_a_program_that_decides_nothing_leaves_the_claim_open_to_any_later_verdict() -> None:
    assert status_after(moves((CONFIRMED, "reproduced"), (UNCLEAR, ""))) == UNCLEAR
    assert status_after(moves((CONFIRMED, "reproduced"), (UNCLEAR, ""), (REFUTED, "said"))) == REFUTED


def test_moves_without_a_class_follow_each_other_as_in_version_1() -> None:
    assert status_after(moves((CONFIRMED, ""), (REFUTED, ""), (CONFIRMED, ""))) == CONFIRMED
