"""The arithmetic of `crux` a second time, straight from the rules as they are written down and in another style.

It reads the JSON of a table, keeps dictionaries by option name, conditions by going through worlds (the claim true or
false, the verdict right or wrong) and not by a formula, and imports nothing of the product.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

CLASS = {
    "reproduced": Fraction(95, 100),
    "ran": Fraction(85, 100),
    "calculated": Fraction(9, 10),
    "quoted": Fraction(85, 100),
    "argued": Fraction(7, 10),
    "conceded": Fraction(7, 10),
    "said": Fraction(1, 2),
}
BEST = {
    "execution": Fraction(95, 100),
    "calculation": Fraction(95, 100),
    "document": Fraction(85, 100),
    "person": Fraction(85, 100),
}


def answer(table):
    """The output of the whole table, points with two decimals as strings."""
    options = [name for name in table["options"] if name != "none"]
    rounds = play(table, leaving_out=None)
    last = rounds[-1]
    without = {}
    for role in last["roles"]:
        other = play(table, leaving_out=role)[-1]
        same = other["leader"] == last["leader"] and outcome(other) == outcome(last)
        without[role] = {"leader": other["leader"], "changes": not same}
    return {"options": options, "rounds": [shown(one) for one in rounds], "without": without}


def outcome(one):
    reason = one["stop"]["reason"]
    return {"short": "settled", "budget": "cap"}.get(reason, reason)


def play(table, leaving_out):
    """All rounds, one after the other; a role that is left out was never there."""
    names = [name for name in table["options"] if name != "none"] + ["none"]
    tau = Fraction(str(table.get("tau", 3)))
    here = quality_here(table)
    latest: dict[str, Any] = {}
    cruxes: dict[str, Any] = {}
    past: list[Any] = []
    outside, noise = set(), None
    for number, given_round in enumerate(table["rounds"], start=1):
        stated = {
            role: full(points, names) for role, points in given_round["roles"].items() if role != leaving_out
        }
        asked = [strip(crux, names, leaving_out) for crux in given_round.get("cruxes", ())]
        redraw = given_round.get("redraw") or {}
        for role, points in redraw.items():
            if role != leaving_out and role in stated:
                noise = distance(stated[role], full(points, names))
        answered = {role for crux in asked for role in crux["given"]}
        now, derived_roles = {}, []
        for role in list(latest) + [role for role in stated if role not in latest]:
            news = [
                (crux["given"][role], crux["result"], CLASS[crux["class"]])
                for crux in asked
                if crux["result"] in ("holds", "fails")
                and role in crux["given"]
                and not (crux["class"] == "argued" and cruxes.get(crux["claim"], {}).get("argued"))
            ]
            if role in stated:
                now[role] = stated[role]
                outside.discard(role)
            else:
                now[role] = latest[role]
                if news:
                    now[role] = conditioned(latest[role], news, names)
                    derived_roles.append(role)
                if role in answered:
                    outside.discard(role)
                elif answered:
                    outside.add(role)
        for crux in asked:
            note(cruxes, crux, number, here)
        for entry in cruxes.values():
            for role, view in entry["given"].items():
                if role in latest:
                    for side in ("if_true", "if_false"):
                        raised = {
                            o: max(Fraction(0), view[side][o] + now[role][o] - latest[role][o]) for o in names
                        }
                        view[side] = {o: raised[o] * 100 / sum(raised.values()) for o in names}
        latest = now
        roles = {role: points for role, points in latest.items() if role not in outside}
        past.append(look(number, roles, derived_roles, noise, cruxes, asked, past, names, tau, here, table))
    return past


def quality_here(table):
    runs, reads = table.get("experiments", False), table.get("documents", True)
    return {
        "execution": Fraction(95, 100) if runs else Fraction(7, 10),
        "calculation": Fraction(95, 100) if runs else Fraction(7, 10),
        "document": Fraction(85, 100) if reads else Fraction(7, 10),
        "person": None,
    }


def full(points, names):
    return {name: Fraction(points.get(name, 0)) for name in names}


def strip(crux, names, leaving_out):
    given = {
        role: {
            "q": Fraction(view["q"]),
            "if_true": full(view["if_true"], names),
            "if_false": full(view["if_false"], names),
        }
        for role, view in crux["given"].items()
        if role != leaving_out
    }
    return {
        "claim": crux["claim"],
        "how": crux["how"],
        "given": given,
        "result": crux.get("result"),
        "class": crux.get("class"),
    }


def distance(a, b):
    return sum(abs(a[name] - b[name]) for name in a) / 2


def worlds(q, quality):
    """Claim true or false, verdict right or wrong: (true?, verdict, probability)."""
    for true in (True, False):
        for right in (True, False):
            chance = (q if true else 100 - q) / 100 * (quality if right else 1 - quality)
            yield true, "holds" if true == right else "fails", chance


def after(q, verdict, quality):
    """How likely the claim is once the verdict is known, 0…100."""
    seen = [(true, chance) for true, said, chance in worlds(q, quality) if said == verdict]
    return 100 * sum(chance for true, chance in seen if true) / sum(chance for _, chance in seen)


def conditioned(belief, news, names):
    moved = dict(belief)
    for view, verdict, quality in news:
        new = after(view["q"], verdict, quality)
        for name in names:
            then = (new * view["if_true"][name] + (100 - new) * view["if_false"][name]) / 100
            before = (view["q"] * view["if_true"][name] + (100 - view["q"]) * view["if_false"][name]) / 100
            moved[name] += then - before
    positive = {name: max(Fraction(0), value) for name, value in moved.items()}
    share = {name: 100 * value / sum(positive.values()) for name, value in positive.items()}
    whole = {name: floor(value) for name, value in share.items()}
    while sum(whole.values()) < 100:
        lacking = max(names, key=lambda name: (share[name] - whole[name], -names.index(name)))
        whole[lacking] += 1
    return {name: Fraction(value) for name, value in whole.items()}


def note(cruxes, crux, number, here):
    entry = cruxes.setdefault(
        crux["claim"], {"how": crux["how"], "given": {}, "tries": 0, "closed": False, "argued": False}
    )
    entry["how"] = crux["how"]
    if crux["given"]:
        entry["given"] = {
            role: {"q": view["q"], "if_true": dict(view["if_true"]), "if_false": dict(view["if_false"])}
            for role, view in crux["given"].items()
        }
    if (number > 1 and crux["given"]) or crux["result"] is not None:
        entry["tries"] += 1
    if crux["result"] in ("holds", "fails"):
        argued = crux["class"] == "argued"
        if not (argued and entry["argued"]):
            for view in entry["given"].values():
                view["q"] = after(view["q"], crux["result"], CLASS[crux["class"]])
        entry["argued"] = entry["argued"] or argued
        only_argument_here = here[crux["how"]] in (None, Fraction(7, 10))
        entry["closed"] = entry["closed"] or not argued or only_argument_here


def means(given, roles, names):
    views = [view for role, view in given.items() if role in roles]
    if not views:
        return None
    return {
        "q": sum(view["q"] for view in views) / len(views),
        "if_true": {name: sum(view["if_true"][name] for view in views) / len(views) for name in names},
        "if_false": {name: sum(view["if_false"][name] for view in views) / len(views) for name in names},
    }


def value(view, quality, names):
    """Choose after each verdict, against choosing now: by going through the worlds."""
    gain = Fraction(0)
    for verdict in ("holds", "fails"):
        gain += max(
            sum(
                chance * view["if_true" if true else "if_false"][name]
                for true, said, chance in worlds(view["q"], quality)
                if said == verdict
            )
            for name in names
        )
    now = max(
        (view["q"] * view["if_true"][name] + (100 - view["q"]) * view["if_false"][name]) / 100
        for name in names
    )
    return gain - now


def together(pool, tests, names):
    if not tests:
        return None
    best, mean = Fraction(0), dict.fromkeys(names, Fraction(0))
    for verdicts in product(("holds", "fails"), repeat=len(tests)):
        chance, x = Fraction(1), dict(pool)
        for (view, quality), verdict in zip(tests, verdicts, strict=True):
            chance *= sum(p for _, said, p in worlds(view["q"], quality) if said == verdict)
            step = (after(view["q"], verdict, quality) - view["q"]) / 100
            for name in names:
                x[name] += step * (view["if_true"][name] - view["if_false"][name])
        x = {name: max(Fraction(0), points) for name, points in x.items()}
        total = sum(x.values())
        best += chance * 100 * max(x.values()) / total
        for name in names:
            mean[name] += chance * 100 * x[name] / total
    return best - max(mean.values())


def look(number, roles, derived_roles, noise, cruxes, asked, past, names, tau, here, table):
    """The round as it is reported, exact."""
    one = {
        "round": number,
        "roles": roles,
        "derived": [role for role in roles if role in derived_roles],
        "noise": noise,
        "pool": None,
        "leader": None,
        "margin": None,
        "movement": None,
        "joint": None,
        "cruxes": [],
        "stop": {"reason": None, "go_on": False, "crux": None},
        "quiet": False,
    }
    if past:
        common = [role for role in roles if role in past[-1]["roles"]]
        if common:
            moves = [distance(roles[role], past[-1]["roles"][role]) for role in common]
            one["movement"] = sum(moves) / len(moves)
    open_ = {claim: entry for claim, entry in cruxes.items() if not entry["closed"] and entry["tries"] < 2}
    tested = {crux["claim"]: crux for crux in asked if crux["result"] is not None}
    for claim, entry in cruxes.items():
        if claim in tested or claim in open_:
            source = tested.get(claim, entry)
            view = means(source["given"], roles, names)
            one["cruxes"].append(
                {
                    "claim": claim,
                    "how": entry["how"],
                    "q": view and view["q"],
                    "if_true": view and view["if_true"],
                    "if_false": view and view["if_false"],
                    "evsi": {
                        "reproduced": view and value(view, Fraction(95, 100), names),
                        "argued": view and value(view, Fraction(7, 10), names),
                    },
                    "result": source.get("result"),
                    "class": source.get("class"),
                }
            )
    if not roles:
        return one
    one["pool"] = {name: sum(points[name] for points in roles.values()) / len(roles) for name in names}
    in_order = sorted(names, key=lambda name: (-one["pool"][name], names.index(name)))
    one["leader"] = in_order[0]
    one["margin"] = one["pool"][in_order[0]] - one["pool"][in_order[1]]
    views = {}
    for claim, entry in open_.items():
        view = means(entry["given"], roles, names)
        if view is not None:
            views[claim] = view
    at_best = {claim: value(view, BEST[open_[claim]["how"]], names) for claim, view in views.items()}
    at_hand = {claim: here[open_[claim]["how"]] for claim in views}
    one["joint"] = together(one["pool"], [(views[c], BEST[open_[c]["how"]]) for c in views], names)
    joint_here = together(one["pool"], [(views[c], at_hand[c]) for c in views if at_hand[c]], names)
    worth_here = [value(views[c], at_hand[c], names) for c in views if at_hand[c]]
    decide(one, past, open_, at_best, at_hand, joint_here, worth_here, tau, table)
    return one


def decide(one, past, open_, at_best, at_hand, joint_here, worth_here, tau, table):
    frame, this = table.get("frame"), table["rounds"][one["round"] - 1]
    rank = sorted(at_best, key=lambda claim: (-at_best[claim], [int(n) for n in claim.split("-")[1:]]))
    testable = [claim for claim in rank if at_hand[claim] is not None]
    worth = [claim for claim in rank if at_best[claim] >= tau]
    jointly = one["joint"] is not None and one["joint"] >= tau
    elsewhere = bool(worth or jointly)
    if any(value >= tau for value in worth_here) or (joint_here is not None and joint_here >= tau):
        elsewhere = False
    for claim in worth or rank:
        if open_[claim]["how"] in ("execution", "calculation") and open_[claim]["tries"] == 0:
            elsewhere = False
    unmoved = one["movement"] is None or one["movement"] <= max(Fraction(5), one["noise"] or Fraction(0))
    same = not past or past[-1]["leader"] == one["leader"]
    if not testable and not elsewhere:
        unmoved = same = True
    quiet = unmoved and same and not worth and not jointly
    close = one["margin"] < 10
    one["quiet"] = quiet and close
    reason, crux = "go_on", None
    if not past and short(one, frame, table):
        reason = "short"
    elif frame and frame.get("ill_posed") and one["pool"]["none"] >= 50:
        reason = "ill_posed"
    elif this.get("no_budget"):
        reason = "budget"
    elif table.get("rounds_at_most", 3) == 0:
        reason = "cap"
    elif quiet and not close:
        reason = "settled"
    elif elsewhere:
        reason, crux = "hand_over", rank[0]
    elif one["quiet"] and (not testable or (past and past[-1]["quiet"])):
        reason = "values"
    elif one["round"] - 1 >= table.get("rounds_at_most", 3) or this.get("no_room"):
        reason = "cap"
    else:
        crux = testable[0]
    one["stop"] = {"reason": reason, "go_on": reason == "go_on", "crux": crux}


def short(one, frame, table):
    if frame is None or frame.get("ill_posed") or frame.get("objection"):
        return False
    first = table["rounds"][0]
    names = list(one["pool"])
    if len(first["roles"]) < first.get("asked", 0):
        return False
    least = 90 if table.get("first") else 85
    for points in one["roles"].values():
        top = max(names, key=lambda name: (points[name], -names.index(name)))
        if top != one["leader"] or points[top] < least:
            return False
    tau = Fraction(str(table.get("tau", 3)))
    for crux in first.get("cruxes", ()):
        for view in strip(crux, names, None)["given"].values():
            if value(view, Fraction(95, 100), names) >= tau:
                return False
    return True


def shown(one):
    """A round with its points as strings of two decimals, half-even."""

    def text(number):
        if number is None:
            return None
        cents, rest = divmod(abs(number) * 100, 1)
        cents += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and cents % 2 == 1)
        return f"{'-' if number < 0 and cents else ''}{cents // 100}.{cents % 100:02d}"

    def named(points):
        return None if points is None else {name: text(value) for name, value in points.items()}

    return {
        "round": one["round"],
        "pool": named(one["pool"]) or {},
        "roles": {role: named(points) for role, points in one["roles"].items()},
        "derived": one["derived"],
        "leader": one["leader"],
        "margin": text(one["margin"]),
        "movement": text(one["movement"]),
        "noise": text(one["noise"]),
        "cruxes": [
            {
                "claim": crux["claim"],
                "how": crux["how"],
                "q": text(crux["q"]),
                "if_true": named(crux["if_true"]),
                "if_false": named(crux["if_false"]),
                "evsi": named(crux["evsi"]),
                "result": crux["result"],
                "class": crux["class"],
            }
            for crux in one["cruxes"]
        ],
        "joint": text(one["joint"]),
        "stop": one["stop"],
    }
