"""The product against a second calculation that shares no code with it, on 1,000 random tables."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from detectors.forecasts.arithmetic import Numbers, group_forecast, incoherence
from detectors.forecasts.standing import (
    ForecastTable,
    all_expected_otherwise,
    best_value,
    cruxes_to_test,
    kept,
    short_way,
    standing_of,
    wants_numbers,
    without_each,
)
from tests.detectors.forecasts.tables import ROLES, product_table, random_table
from tests.oracles import crux as oracle

TABLES = 1000
QUICK = 60


def _end(table: dict[str, Any], product: ForecastTable) -> dict[str, Any]:
    """What the product makes of the end of a run, in the oracle's form."""
    names = [*table["options"], "none"]
    standing = standing_of(product)
    group = standing.group
    return {
        "roles": {
            role: dict(zip(names, forecast, strict=True)) for role, forecast in standing.forecasts.items()
        },
        "group": group and {name: group.points(place) for place, name in enumerate(names)},
        "leader": None if standing.leader is None else names[standing.leader],
        "margin": standing.margin,
        "unsettled": {crux.claim: crux.best for crux in standing.unsettled},
        "status": standing.status.value,
        "without": {
            role: {"leader": None if end.leader is None else names[end.leader], "changes": end.changes}
            for role, end in without_each(product).items()
        },
    }


def _agenda(product: ForecastTable) -> dict[str, Any]:
    terms = product.terms
    chosen = kept(product.cruxes, terms.parameters)
    asks = product.made_options or wants_numbers(chosen, group_forecast(product.forecasts.values()), terms)
    return {
        "values": {crux.claim: best_value(crux, terms.parameters) for crux in product.cruxes},
        "kept": [crux.claim for crux in chosen],
        "asks_for_numbers": asks,
        "tested": [crux.claim for crux in cruxes_to_test(product, chosen)],
    }


def _is_short(table: dict[str, Any], product: ForecastTable, asked: int) -> bool:
    proposals = [(crux.how, numbers) for crux in product.cruxes for numbers in crux.proposed.values()]
    if asked == 1 and table["stakes"] == "high":
        return False  # the protocol skips this way; the function does not know of it
    short = product.terms.parameters.short
    at_least = short["first_from" if asked == 1 else "all_from"]
    return short_way(product.forecasts, asked, proposals, product.frame, product.terms, at_least)


def _agrees(seed: int) -> dict[str, Any]:
    table = random_table(seed)
    product = product_table(table)
    expected: dict[str, Any] = oracle.answer(table)
    assert _end(table, product) == expected, seed
    if table["forecasts"]:
        agenda = oracle.agenda(table)
        assert _agenda(product) == agenda, seed
        expected |= agenda
    asked = 1 if len(table["forecasts"]) == 1 else 4
    expected["made_options"] = table["made_options"]
    expected["short"] = oracle.is_short(table, asked)
    assert _is_short(table, product, asked) == expected["short"], seed
    return expected


def test_the_oracle_agrees() -> None:
    for seed in range(QUICK):
        _agrees(seed)


@pytest.mark.slow
def test_the_oracle_agrees_on_many_tables_that_reach_every_case() -> None:
    cases: Counter[str] = Counter()
    for seed in range(TABLES):
        end = _agrees(seed)
        cases[end["status"]] += 1
        cases["short"] += end["short"]
        cases["rests on one role"] += any(one["changes"] for one in end["without"].values())
        cases["asks and cannot test"] += bool(end.get("asks_for_numbers") and not end["tested"])
        cases["tests"] += bool(end.get("tested"))
        cases["worth it only jointly"] += bool(
            end.get("asks_for_numbers")
            and not end["made_options"]
            and 0 < max(end["values"].values(), default=0) < Fraction(3, 2)
        )
        cases["four or more cruxes"] += len(end.get("values", ())) > 3
    statuses = {"nobody_answered", "ill_posed", "run_this_first", "your_call", "decided"}
    assert statuses <= set(cases)
    assert min(cases.values()) >= 3, cases


WORTH_EXACTLY_TAU = (
    ("execution", "high", 4, 71, 49),
    ("execution", "normal", 4, 92, 48),
    ("execution", "low", 10, 92, 28),
    ("calculation", "normal", 4, 97, 48),
    ("document", "normal", 6, 96, 44),
    ("person", "low", 10, 98, 42),
)


@pytest.mark.parametrize(("how", "stakes", "q", "if_true", "if_false"), WORTH_EXACTLY_TAU)
def test_a_crux_worth_exactly_tau_is_worth_a_test(
    how: str, stakes: str, q: int, if_true: int, if_false: int
) -> None:
    """Values by search over whole points; random tables do not hit the threshold."""
    view = {
        "q": q,
        "if_true": {"O-1": if_true, "none": 100 - if_true},
        "if_false": {"O-1": if_false, "none": 100 - if_false},
    }
    forecast = {"O-1": 75, "none": 25}
    table = {
        "options": ["O-1"],
        "stakes": stakes,
        "experiments": True,
        "documents": True,
        "made_options": False,
        "frame": {"ill_posed": False, "objection": False},
        "forecasts": dict.fromkeys(ROLES, forecast),
        "cruxes": [{"claim": "C-1-1", "how": how, "proposed": {"critic": view}, "numbers": {}}],
        "verdicts": [],
    }
    product = product_table(table)
    assert oracle.agenda(table)["values"]["C-1-1"] == oracle.TAU[stakes]
    assert _agenda(product) == oracle.agenda(table)
    assert _end(table, product) == oracle.answer(table)
    assert _end(table, product)["status"] == "run_this_first"
    sure = table | {"forecasts": {role: {"O-1": 99, "none": 1} for role in ROLES}}
    assert not _is_short(sure, product_table(sure), 4)
    nothing_to_test = sure | {"cruxes": []}
    assert _is_short(nothing_to_test, product_table(nothing_to_test), 4)


def test_second_programs_and_coherence_agree() -> None:
    random = Random("second")
    for _ in range(TABLES):
        q = {role: random.choice((1, 40, 50, 51, 60, 99)) for role in ROLES[: random.choice((3, 4, 4, 4))]}
        numbers = {role: Numbers(value, (60, 40), (40, 60)) for role, value in q.items()}
        for verdict in ("holds", "fails"):
            expected = oracle.needs_second_program(q, verdict)
            assert all_expected_otherwise(numbers, verdict == "holds", ROLES) == expected
        forecast = {"O-1": random.randint(0, 100)}
        forecast["none"] = 100 - forecast["O-1"]
        view: dict[str, Any] = {
            "q": random.randint(1, 99),
            "if_true": {"O-1": 70, "none": 30},
            "if_false": {"O-1": 20, "none": 80},
        }
        product = incoherence(Numbers(view["q"], (70, 30), (20, 80)), (forecast["O-1"], forecast["none"]))
        assert all(abs(part) <= 10 for part in product) == oracle.is_coherent(view, forecast, ("O-1", "none"))
