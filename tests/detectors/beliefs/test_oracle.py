"""The product against a second calculation that shares no code with it, on 1,000 random tables."""

from __future__ import annotations

import pytest

from tests.detectors.beliefs.tables import beliefs, random_table
from tests.oracles.beliefs import answer

TABLES = 1000
QUICK = 40


def in_strings(value):
    """Numbers as the oracle writes them: two decimals."""
    if isinstance(value, dict):
        return {key: in_strings(one) for key, one in value.items()}
    if isinstance(value, list):
        return [in_strings(one) for one in value]
    return f"{value:.2f}" if isinstance(value, int | float) and not isinstance(value, bool) else value


def told(table):
    """What the product says, without what is only for people."""
    found = beliefs(table).model_dump()
    rounds = []
    for one in found["rounds"]:
        stop = {key: value for key, value in one["stop"].items() if key != "text"}
        rounds.append({**in_strings(one), "round": one["round"], "stop": stop})
    return {"options": found["options"], "rounds": rounds, "without": found["without"]}


def test_the_oracle_agrees_to_two_decimals():
    for seed in range(QUICK):
        table = random_table(seed)
        assert told(table) == answer(table), seed


@pytest.mark.slow
def test_the_oracle_agrees_on_many_tables_that_reach_every_reason_and_result():
    reasons, results, derived, carried = set(), set(), 0, 0
    for seed in range(TABLES):
        table = random_table(seed)
        found = told(table)
        assert found == answer(table), seed
        for one in found["rounds"]:
            reasons.add(one["stop"]["reason"])
            results |= {crux["result"] for crux in one["cruxes"]}
            derived += bool(one["derived"])
        carried += any(one["changes"] for one in found["without"].values())
    assert reasons == {"short", "ill_posed", "budget", "settled", "hand_over", "values", "cap", "go_on"}
    assert results == {"holds", "fails", "partly", "inconclusive", "flaky", "error", None}
    assert min(derived, carried) > TABLES / 10
