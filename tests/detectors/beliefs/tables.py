"""Tables as `moot signals --table` reads them: random ones by seed, and small ones by hand."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from detectors.beliefs.report import Beliefs, of_table
from detectors.beliefs.table import read_table

ROLES = ("action", "guardian", "observer", "critic")
HOWS = ("execution", "execution", "calculation", "document", "person")
CLASSES = ("reproduced", "ran", "calculated", "quoted", "argued", "argued", "conceded", "said")
RESULTS = ("holds", "holds", "fails", "fails", "partly", "inconclusive", "flaky", "error", None)


def beliefs(table: dict) -> Beliefs:
    """What the product makes of a table."""
    return of_table(read_table(json.dumps(table).encode()))


def points(random: Random, options: list[str]) -> dict[str, int]:
    """A belief: often sure of something, sometimes even, seldom `none`."""
    names = [*options, "none"]
    kind = random.random()
    if kind < 0.25:
        weights = {random.choice(names): 1.0}
    elif kind < 0.35:
        weights = dict.fromkeys(options, 1.0)
    else:
        weights = {name: random.random() ** random.choice((1, 3)) for name in names}
    left = 100
    found = {}
    for name in sorted(weights, key=lambda _: random.random()):
        found[name] = min(left, round(100 * weights[name] / sum(weights.values())))
        left -= found[name]
    found[name] += left
    return found


def around(random: Random, belief: dict[str, int], by: int) -> dict[str, int]:
    """The same with some points moved from one option to another."""
    found = dict(belief)
    for _ in range(3):
        source, target = random.choice(list(found)), random.choice(list(found))
        moved = random.randint(0, min(by, found[source]))
        found[source] -= moved
        found[target] += moved
    return found


def random_table(seed: int) -> dict:
    """Answers, then rounds of tests: replies get lost, results come out every way, roles change their minds."""
    random = Random(seed)
    options = [f"O-{n + 1}" for n in range(random.choice((1, 2, 2, 3, 4)))]
    roles = list(ROLES[: random.choice((1, 2, 3, 4, 4, 4))])
    random.shuffle(roles)
    shared = points(random, options)
    agenda = {
        f"C-1-{n}": random.choice(HOWS)
        for n in random.sample(range(1, 12), random.choice((0, 1, 1, 2, 2, 3, 4)))
    }
    first = {role: around(random, shared, 60) for role in roles}
    table: dict[str, Any] = {
        "options": options,
        "tau": random.choice((1, 1.5, 3, 3, 6)),
        "experiments": random.random() < 0.5,
        "rounds": [],
    }
    for number in range(1, random.choice((1, 2, 2, 3, 3, 4, 5)) + 1):
        asked = []
        for claim, how in agenda.items():
            if number > 1 and random.random() < 0.3:
                continue
            giving = [role for role in roles if random.random() < (0.5 if number == 1 else 0.9)]
            given = {role: _numbers(random, first[role], number) for role in giving}
            crux: dict[str, Any] = {"claim": claim, "how": how, "given": given}
            if number > 1 and random.random() < 0.8:
                crux["result"] = random.choice(RESULTS)
                crux["class"] = random.choice(CLASSES)
            asked.append(crux)
        stating = roles if number == 1 else [role for role in roles if random.random() < 0.25]
        own = {role: first[role] if number == 1 else around(random, first[role], 30) for role in stating}
        one = {"roles": own, "cruxes": asked}
        if number == 1 and random.random() < 0.6:
            one["redraw"] = {roles[0]: around(random, first[roles[0]], 15)}
        table["rounds"].append(one)
    return _with_circumstances(random, table)


def _numbers(random: Random, belief: dict[str, int], number: int) -> dict:
    found = {
        "q": random.randint(1, 99),
        "if_true": around(random, belief, 50),
        "if_false": around(random, belief, 50),
    }
    return found if number == 1 else found | {"predicts": random.choice(("holds", "fails"))}


def _with_circumstances(random: Random, table: dict) -> dict:
    if random.random() < 0.3:
        table["frame"] = {"ill_posed": random.random() < 0.3, "objection": random.random() < 0.2}
    if random.random() < 0.2:
        table["documents"] = False
    if random.random() < 0.2:
        table["rounds_at_most"] = random.randint(0, 2)
    if random.random() < 0.1:
        table["first"] = True
    if random.random() < 0.1:
        random.choice(table["rounds"])[random.choice(("no_budget", "no_room"))] = True
    if random.random() < 0.1:
        table["rounds"][0]["asked"] = len(table["rounds"][0]["roles"]) + 1
    return table
