"""The arithmetic of `crux` a second time, written from its description (docs/crux.md) and in another style.

It reads a plain table, keeps dictionaries by option name, and conditions by going through cases (the claim true or
false, the verdict right or wrong) instead of using a formula. It imports nothing of the product.

A table is a dictionary:

- `options`: names; `none` is added. `stakes`: high, normal or low. `experiments`, `documents`: whether they exist here.
- `frame`: None if it was lost, else `{"ill_posed": bool, "objection": bool}`.
- `forecasts`: role → points by option, in the order in which roles answered.
- `made_options`: whether the options were made of the answers (left out: no).
- `cruxes`: a list of `{"claim", "how", "proposed", "numbers"}`. `proposed` and `numbers` map a role to
  `{"q", "if_true", "if_false"}`: what proposers gave with their answers, and what roles gave sealed.
- `verdicts`: a list of `{"claim", "result", "level"}` in the order in which they came.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor

QUALITY = {
    "measured": Fraction(85, 100),
    "ran_times_3": Fraction(95, 100),
    "ran": Fraction(85, 100),
    "calculated": Fraction(90, 100),
    "quoted": Fraction(85, 100),
}
"""How often a verdict of a level is right. The order is the order of the levels, the highest first."""
BEST = {
    "execution": Fraction(95, 100),
    "calculation": Fraction(90, 100),  # an expression is all that decides it
    "document": Fraction(85, 100),
    "person": Fraction(85, 100),
}
TAU = {"high": Fraction(3, 2), "normal": Fraction(3), "low": Fraction(6)}
KEPT_AT_MOST = 3
MARGIN = 10
FIRST, ALL = 95, 85


def answer(table):
    """Return everything that follows from a table, exact."""
    result = without(table, None)
    result["without"] = {}
    for role in result["roles"]:
        other = without(table, role)
        changes = (other["leader"], other["status"]) != (result["leader"], result["status"])
        result["without"][role] = {"leader": other["leader"], "changes": changes}
    return result


def without(table, left_out):
    """Return what follows if a role had never been there (None: all are)."""
    names = options_of(table)
    first = {role: full(points, names) for role, points in table["forecasts"].items() if role != left_out}
    cruxes = {
        crux["claim"]: {
            "how": crux["how"],
            "proposed": views(crux["proposed"], names_of_proposals(table), left_out),
            "numbers": views(crux.get("numbers") or {}, names, left_out),
        }
        for crux in table["cruxes"]
    }
    counted = {
        claim: verdict
        for claim, verdict in counted_verdicts(table["verdicts"]).items()
        if known(table, cruxes[claim])  # a verdict that no role gave numbers about moves nobody
    }
    informed = [role for role in first if all(role in known(table, cruxes[claim]) for claim in counted)]
    roles = {}
    for role in informed or first:
        news = [
            (known(table, cruxes[claim])[role], verdict["result"], QUALITY[verdict["level"]])
            for claim, verdict in counted.items()
            if role in known(table, cruxes[claim])
        ]
        roles[role] = conditioned(first[role], news, names) if news else first[role]
    group = mean(list(roles.values()), names)
    unsettled = {}
    settled = counted_verdicts(table["verdicts"])
    for claim, crux in cruxes.items():
        if claim not in settled:
            best = BEST[crux["how"]]
            moved = [
                carried(view, first[role], roles[role], names)
                for role, view in known(table, crux).items()
                if role in roles
            ]
            if moved:
                unsettled[claim] = value(mean_view(moved, names), best, names)
            else:
                unsettled[claim] = value_of_proposals(crux["proposed"], best, names_of_proposals(table))
    return {
        "roles": roles,
        "group": group,
        "leader": group and leader(group, names),
        "margin": group and margin(group),
        "unsettled": unsettled,
        "status": status(table, group, unsettled),
    }


def known(table, crux):
    """Return each role's numbers about a crux: those sealed before the tests, else those of its own proposal.

    Where the options were made of the answers, a proposal speaks of other options and does not count.
    """
    return {**({} if table.get("made_options") else crux["proposed"]), **crux["numbers"]}


def status(table, group, unsettled):
    """Return the status of an outcome whose run is over and whose memo answers the leader."""
    if group is None:
        return "nobody_answered"
    frame = table.get("frame")
    if frame and frame["ill_posed"] and group["none"] >= 50:
        return "ill_posed"
    if any(points >= TAU[table["stakes"]] for points in unsettled.values()):
        return "run_this_first"
    return "your_call" if margin(group) < MARGIN else "decided"


def options_of(table):
    return [name for name in table["options"] if name != "none"] + ["none"]


def full(points, names):
    return {name: Fraction(points.get(name, 0)) for name in names}


def views(given, names, left_out=None):
    return {
        role: {
            "q": Fraction(view["q"]),
            "if_true": full(view["if_true"], names),
            "if_false": full(view["if_false"], names),
        }
        for role, view in given.items()
        if role != left_out
    }


def names_of_proposals(table):
    """Return the options that proposals speak of: where none were given, a role's own answer and another one."""
    return ["own", "none"] if table.get("made_options") else options_of(table)


def value_of_proposals(proposed, quality, names):
    return value(mean_view(list(proposed.values()), names), quality, names) if proposed else Fraction(0)


def is_coherent(view, forecast, names):
    """Return whether the numbers about a crux fit the forecast within ten points, option by option."""
    for name in names:
        mixed = (view["q"] * view["if_true"][name] + (100 - view["q"]) * view["if_false"][name]) / 100
        if abs(mixed - forecast[name]) > 10:
            return False
    return True


# ---------------------------------------------------------------- group forecast


def mean(forecasts, names):
    if not forecasts:
        return None
    return {name: sum(forecast[name] for forecast in forecasts) / len(forecasts) for name in names}


def leader(forecast, names):
    best = names[0]
    for name in names[1:]:
        if forecast[name] > forecast[best]:
            best = name
    return best


def margin(forecast):
    high = sorted(forecast.values())
    return high[-1] - high[-2]


# ---------------------------------------------------------------- Bayes


def cases(q, quality):
    """Go through the claim true or false and the verdict right or wrong: (true?, verdict, probability)."""
    for true in (True, False):
        for right in (True, False):
            chance = (q if true else 100 - q) / 100 * (quality if right else 1 - quality)
            yield true, "holds" if true == right else "fails", chance


def after(q, verdict, quality):
    """Return the probability of the claim after the verdict, in points."""
    seen = [(true, chance) for true, said, chance in cases(q, quality) if said == verdict]
    return 100 * sum(chance for true, chance in seen if true) / sum(chance for _, chance in seen)


def conditioned(forecast, news, names):
    """Return a role's forecast after (numbers, verdict, quality), in whole points that sum to 100."""
    moved = dict(forecast)
    for view, verdict, quality in news:
        new = after(view["q"], verdict, quality)
        for name in names:
            then = (new * view["if_true"][name] + (100 - new) * view["if_false"][name]) / 100
            before = (view["q"] * view["if_true"][name] + (100 - view["q"]) * view["if_false"][name]) / 100
            moved[name] += then - before
    return whole(moved, names)


def whole(points, names):
    positive = {name: max(Fraction(0), points[name]) for name in names}
    share = {name: 100 * positive[name] / sum(positive.values()) for name in names}
    result = {name: floor(share[name]) for name in names}
    while sum(result.values()) < 100:
        lacking = max(names, key=lambda name: (share[name] - result[name], -names.index(name)))
        result[lacking] += 1
    return {name: Fraction(points) for name, points in result.items()}


def carried(view, before, now, names):
    """Return the numbers about an open crux, moved along with the role's forecast, in whole points."""
    moved = {"q": view["q"]}
    for side in ("if_true", "if_false"):
        moved[side] = whole({name: view[side][name] + now[name] - before[name] for name in names}, names)
    return moved


def counted_verdicts(verdicts):
    """Return the verdict that counts for each claim: the highest level, and the later among equals."""
    ranks = list(QUALITY)
    result: dict = {}
    for verdict in verdicts:
        if verdict["result"] not in ("holds", "fails"):
            continue
        known = result.get(verdict["claim"])
        if known is None or ranks.index(verdict["level"]) <= ranks.index(known["level"]):
            result[verdict["claim"]] = verdict
    return result


# ---------------------------------------------------------------- value of a test


def mean_view(given, names):
    return {
        "q": sum(view["q"] for view in given) / len(given),
        "if_true": mean([view["if_true"] for view in given], names),
        "if_false": mean([view["if_false"] for view in given], names),
    }


def value(view, quality, names):
    """Return what it gains to choose after the verdict instead of now, by going through the cases."""
    gain = Fraction(0)
    for verdict in ("holds", "fails"):
        gain += max(
            sum(
                chance * view["if_true" if true else "if_false"][name]
                for true, said, chance in cases(view["q"], quality)
                if said == verdict
            )
            for name in names
        )
    return gain - max(
        (view["q"] * view["if_true"][name] + (100 - view["q"]) * view["if_false"][name]) / 100
        for name in names
    )


def joint(group, tests, names):
    """Return what several tests are worth together: (numbers, quality) of each, results independent.

    Fewer than two are worth nothing together: a single test has a value of its own.
    """
    if len(tests) < 2:
        return Fraction(0)
    best, expected = Fraction(0), dict.fromkeys(names, Fraction(0))
    for verdicts in product(("holds", "fails"), repeat=len(tests)):
        chance, then = Fraction(1), dict(group)
        for (view, quality), verdict in zip(tests, verdicts, strict=True):
            chance *= sum(part for _, said, part in cases(view["q"], quality) if said == verdict)
            step = (after(view["q"], verdict, quality) - view["q"]) / 100
            for name in names:
                then[name] += step * (view["if_true"][name] - view["if_false"][name])
        then = {name: max(Fraction(0), points) for name, points in then.items()}
        total = sum(then.values())
        best += chance * 100 * max(then.values()) / total
        for name in names:
            expected[name] += chance * 100 * then[name] / total
    return best - max(expected.values())


def here(how, table):
    """Return the quality that a test has here; None if it cannot be made here."""
    return {
        "execution": Fraction(95, 100) if table["experiments"] else None,
        "calculation": Fraction(90, 100),
        "document": Fraction(85, 100) if table["documents"] else None,
        "person": None,
    }[how]


def agenda(table):
    """Return what the agenda comes to: values, the kept cruxes in order, whether numbers are asked for, what is tested.

    Where the options were made of the answers, numbers are always asked for, and the proposers' sealed numbers over the
    made options decide what is tested; without any of these, those of every role.
    """
    names, own, tau = options_of(table), names_of_proposals(table), TAU[table["stakes"]]
    hows = {crux["claim"]: crux["how"] for crux in table["cruxes"]}
    values = {
        crux["claim"]: value_of_proposals(views(crux["proposed"], own), BEST[crux["how"]], own)
        for crux in table["cruxes"]
    }
    kept = sorted(values, key=lambda claim: (-values[claim], place(claim)))[:KEPT_AT_MOST]
    means = {}
    for crux in table["cruxes"]:
        given = crux["proposed"]
        if table.get("made_options"):
            given = {role: crux["numbers"][role] for role in given if role in crux["numbers"]}
            if not given:
                given = crux["numbers"]
        if given:
            means[crux["claim"]] = mean_view(list(views(given, names).values()), names)
    group = mean([full(points, names) for points in table["forecasts"].values()], names)
    tests = [(means[claim], BEST[hows[claim]]) for claim in kept if claim in means]
    testable = [claim for claim in kept if claim in means and here(hows[claim], table) is not None]
    at_hand = [(means[claim], here(hows[claim], table)) for claim in testable]
    return {
        "values": values,
        "kept": kept,
        "asks_for_numbers": bool(table.get("made_options")) or are_worth(tests, group, tau, names),
        "tested": testable if are_worth(at_hand, group, tau, names) else [],
    }


def are_worth(tests, group, tau, names):
    """Return whether one of the tests, or all jointly, are worth tau."""
    return joint(group, tests, names) >= tau or any(
        value(view, quality, names) >= tau for view, quality in tests
    )


def place(claim):
    """Return the sort key of a claim's id: C-1-2 before C-1-10."""
    return [int(part) for part in claim.split("-")[1:]]


def is_short(table, answers):
    """Return whether the run may end after these answers: the first one's, or all four.

    `answers`: how many roles were asked. Every proposal counts by its proposer's own numbers.
    """
    names = options_of(table)
    frame, given = table.get("frame"), table["forecasts"]
    if frame is None or frame["ill_posed"] or frame["objection"] or len(given) != answers:
        return False
    if answers == 1 and table["stakes"] == "high":
        return False
    enough = FIRST if answers == 1 else ALL
    leading = set()
    for points in given.values():
        forecast = full(points, names)
        leading.add(leader(forecast, names))
        if max(forecast.values()) < enough:
            return False
    if len(leading) > 1:
        return False
    for crux in table["cruxes"]:
        for view in views(crux["proposed"], names_of_proposals(table)).values():
            if value(view, BEST[crux["how"]], names_of_proposals(table)) >= TAU[table["stakes"]]:
                return False
    return True


# ---------------------------------------------------------------- programs


def needs_second_program(numbers, verdict):
    """Return whether all four roles expected the other result (numbers: role → q in points)."""
    if verdict not in ("holds", "fails") or len(numbers) < 4:
        return False
    return all(q < 50 if verdict == "holds" else q > 50 for q in numbers.values())


def after_second_program(first, second):
    """Return the verdict of two programs: only the same result settles the crux."""
    return first if first == second and first in ("holds", "fails") else None
