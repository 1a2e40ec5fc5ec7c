"""What a decision cites, and what is wrong with a belief in points.

Of `rounds/protocols/citations.py`.
"""

from __future__ import annotations

import pytest

from ledger.events import Argument
from rounds.protocols.citations import OptionPoints, cites_of_winner, points_problems

SAID = {"round": 1, "phase": "F", "by": "critic", "at": "2026-03-04T05:00:00.000000Z"}


def argument(identity: str, side: str) -> Argument:
    return Argument(
        id=identity, label=identity, side=side, claim="c", reasoning="r", evidence="e", **SAID  # type: ignore[arg-type]
    )  # fmt: skip


@pytest.mark.parametrize(
    ("named", "relation"),
    [
        ([], "supported-by"),
        (["UPHELD"], "supported-by"),
        (["UPHELD", "COLLAPSE"], "resolves"),
        (["PARTIALLY_UPHELD", "SURVIVE", "COLLAPSE"], "builds-on"),
        (["UPHELD", "SURVIVE", "COLLAPSE"], "supported-by"),
        (["COLLAPSE"], "resolves"),
    ],
)
def test_an_argument_stands_by_more_than_half_of_the_judges(named: list[str], relation: str) -> None:
    found = cites_of_winner([argument("R-1-1", "pro")], "pro", {"R-1-1": named})
    assert [(one.id, one.relation) for one in found] == [("R-1-1", relation)]


def test_the_other_side_carries_a_decision_only_where_nobody_won() -> None:
    both = [argument("R-1-1", "pro"), argument("R-1-2", "con")]
    assert [one.id for one in cites_of_winner(both, "con", {})] == ["R-1-2"]
    assert [one.id for one in cites_of_winner(both, None, {})] == ["R-1-1", "R-1-2"]


@pytest.mark.parametrize(
    ("belief", "problems"),
    [
        ({"O-1": 60, "O-2": 40}, []),
        ({"O-1": 60, "O-2": 39}, ["belief: 99 points in all; give 100"]),
        ({"O-1": 60, "O-2": 41}, ["belief: 101 points in all; give 100"]),
        ({"O-1": 60, "O-3": 40}, ["belief: 'O-3' is no option here; use O-1, O-2"]),
    ],
)
def test_points_are_for_options_that_there_are_and_come_to_the_whole(
    belief: dict[str, int], problems: list[str]
) -> None:
    entries = [OptionPoints(option=option, points=points) for option, points in belief.items()]
    assert list(points_problems(entries, ["O-1", "O-2"], "belief")) == problems
