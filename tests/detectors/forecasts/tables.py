"""Random tables of a `crux` run by seed, in the form of `tests/oracles/crux.py` and in that of the product."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from detectors.forecasts.arithmetic import Forecast, Numbers
from detectors.forecasts.standing import Crux, ForecastTable, FrameCheck, Verdict
from detectors.parameters import ForecastTerms, Level, forecast_parameters

ROLES: Final = ("action", "guardian", "observer", "critic")
HOWS: Final = ("execution", "execution", "calculation", "document", "person")
LEVELS: Final = ("measured", "ran_times_3", "ran_times_3", "ran", "calculated", "quoted")
PRODUCT_LEVEL: Final[dict[str, Level]] = {
    "measured": "measured",
    "ran_times_3": "reproduced",
    "ran": "ran",
    "calculated": "calculated",
    "quoted": "quoted",
}


def points(random: Random, options: list[str]) -> dict[str, int]:
    """Return a forecast: often sure of something, sometimes even, seldom `none`."""
    names = [*options, "none"]
    kind = random.random()
    if kind < 0.25:
        weights = {random.choice(names): 1.0}
    elif kind < 0.35:
        weights = dict.fromkeys(options, 1.0)
    else:
        weights = {name: random.random() ** random.choice((1, 3)) for name in names}
    left, name = 100, names[0]
    forecast: dict[str, int] = {}
    for name in sorted(weights, key=lambda _: random.random()):
        forecast[name] = min(left, round(100 * weights[name] / sum(weights.values())))
        left -= forecast[name]
    forecast[name] += left
    return forecast


def around(random: Random, forecast: dict[str, int], by: int) -> dict[str, int]:
    """Return the same with some points moved from one option to another."""
    moved = dict(forecast)
    for _ in range(3):
        source, target = random.choice(list(moved)), random.choice(list(moved))
        amount = random.randint(0, min(by, moved[source]))
        moved[source] -= amount
        moved[target] += amount
    return moved


def random_table(seed: int) -> dict[str, Any]:
    """Return a table: answers, proposals, sealed numbers that may be lost, and verdicts that may repeat."""
    random = Random(f"table {seed}")
    options = [f"O-{n + 1}" for n in range(random.choice((1, 2, 2, 3, 4)))]
    roles = random.sample(ROLES, random.choice((0, 1, 2, 3, 4, 4, 4, 4, 4, 4)))
    shared = points(random, options)
    first = {role: around(random, shared, random.choice((5, 60))) for role in roles}
    made_options = random.random() < 0.1
    # Before there are options, a proposal speaks of the role's own answer and of another one.
    before = {role: points(random, ["own"]) if made_options else first[role] for role in roles}
    cruxes: list[dict[str, Any]] = []
    for n in sorted(random.sample(range(1, 13), random.choice((0, 1, 1, 2, 3, 4, 6)))):
        givers = random.sample(roles, min(len(roles), random.choice((0, 1, 1, 2))))
        asked = roles if random.random() < 0.7 else random.sample(roles, random.randint(0, len(roles)))
        cruxes.append(
            {
                "claim": f"C-1-{n}",
                "how": random.choice(HOWS),
                "proposed": {role: _numbers(random, before[role]) for role in givers},
                "numbers": {role: _numbers(random, first[role]) for role in asked},
            }
        )
    return {
        "options": options,
        "stakes": random.choice(("high", "normal", "normal", "low")),
        "experiments": random.random() < 0.5,
        "documents": random.random() < 0.5,
        "made_options": made_options,
        "frame": None
        if random.random() < 0.1
        else {"ill_posed": random.random() < 0.2, "objection": random.random() < 0.2},
        "forecasts": first,
        "cruxes": cruxes,
        "verdicts": [
            {
                "claim": crux["claim"],
                "result": random.choice(("holds", "fails", "holds", "fails", "inconclusive")),
                "level": random.choice(LEVELS),
            }
            for crux in cruxes
            for _ in range(random.choice((0, 0, 1, 1, 2)))
        ],
    }


def _numbers(random: Random, forecast: dict[str, int]) -> dict[str, Any]:
    by = random.choice((4, 50))
    return {
        "q": random.randint(1, 99),
        "if_true": around(random, forecast, by),
        "if_false": around(random, forecast, by),
    }


def product_table(table: dict[str, Any]) -> ForecastTable:
    """Return the same table in the product's form."""
    names = [*table["options"], "none"]
    parameters = forecast_parameters()

    before = ["own", "none"] if table["made_options"] else names

    def forecast(given: dict[str, int], names: list[str]) -> Forecast:
        return tuple(given.get(name, 0) for name in names)

    def numbers(given: dict[str, Any], names: list[str]) -> dict[str, Numbers]:
        return {
            role: Numbers(view["q"], forecast(view["if_true"], names), forecast(view["if_false"], names))
            for role, view in given.items()
        }

    return ForecastTable(
        forecasts={role: forecast(given, names) for role, given in table["forecasts"].items()},
        cruxes=[
            Crux(
                crux["claim"],
                crux["how"],
                numbers(crux["proposed"], before),
                numbers(crux["numbers"], names),
                tuple(
                    Verdict(verdict["result"], PRODUCT_LEVEL[verdict["level"]])
                    for verdict in table["verdicts"]
                    if verdict["claim"] == crux["claim"] and verdict["result"] in ("holds", "fails")
                ),
            )
            for crux in table["cruxes"]
        ],
        terms=ForecastTerms(
            parameters.tau[table["stakes"]], table["experiments"], table["documents"], parameters
        ),
        frame=FrameCheck(**table["frame"]) if table["frame"] else None,
        made_options=table["made_options"],
    )
