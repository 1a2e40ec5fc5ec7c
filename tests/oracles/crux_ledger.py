"""The table of a recorded `crux` run, read from its three files as docs/format.md says, and the ways nobody found.

It reads JSON lines and imports nothing of the product: what the product makes of the same run is compared with what
`tests/oracles/beliefs.py` makes of this table.
"""

from __future__ import annotations

import json
import re
from fractions import Fraction
from typing import Any

TAU = {"high": Fraction(3, 2), "normal": 3, "low": 6}
RESULT = {
    "supports": "holds",
    "contradicts": "fails",
    "partly_contradicts": "partly",
    "inconclusive": "inconclusive",
}


def events_of(run):
    """All events of a run in their order."""
    files = (run / f"{name}.jsonl" for name in ("claims", "verifications", "decisions"))
    lines = [json.loads(line) for file in files for line in file.read_bytes().splitlines()]
    return sorted(lines, key=lambda event: event["seq"])


def table_of(events):
    """What `moot signals --table` would be given."""
    opened, agenda = events[0], _agenda(events)
    frame = next((one for one in events if one["kind"] == "frame"), None)
    claims = {one["id"]: one for one in events if one["kind"] == "claim"}
    listed = opened["options"] or agenda["options"]
    rounds = [one["round"] for one in events if one["kind"] == "signals"]
    return {
        "options": [one["id"] for one in listed],
        "tau": str(TAU[opened["rules"]["stakes"]]),
        "experiments": opened["rules"].get("experiments") == "sandbox",
        "documents": bool(opened["context"]),
        "rounds_at_most": int(opened["rules"]["rounds"]),
        "frame": frame
        and {
            "ill_posed": frame["ill_posed"],
            "objection": bool(frame["ill_posed"] or frame["missing"] or frame["double"]),
        },
        "rounds": [
            _first(events, agenda, claims, open_ended=not opened["options"])
            if number == 1
            else _tested(events, number, agenda["cruxes"], claims)
            for number in rounds
        ],
    }


def _agenda(events):
    """The agenda; a run that took the first short way out has none."""
    none: dict[str, Any] = {"options": [], "cruxes": [], "merged": []}
    return next((one for one in events if one["kind"] == "agenda"), none)


def _beliefs(events, number, n):
    """Role → its belief of that number in a round."""
    wanted = "" if n == 1 else f"~{n}"
    return {
        one["role"]: one
        for one in events
        if one["kind"] == "belief" and one["id"] == f"B-{number}-{one['role']}{wanted}"
    }


def _first(events, agenda, claims, *, open_ended):
    """Answers with their proposals; where the agenda made the options, the beliefs that were asked for then."""
    sealed, chosen = _beliefs(events, 1, 1), _beliefs(events, 1, 3)
    stated = chosen if open_ended else sealed
    given: dict[str, dict[str, Any]] = {claim: {} for claim in agenda["cruxes"]}
    if open_ended:
        for role, belief in chosen.items():
            for view in belief["given"]:
                given[view["claim"]][role] = view
    else:
        for merge in agenda["merged"]:
            if merge["into"] in given:
                for reference in merge["from"]:
                    ((role, place),) = re.findall(r"^S-1-B-(\w+)#(crux-\d)$", reference)
                    view = _turned(_proposal(sealed[role], place), merge["negated"])
                    _keep_first(given[merge["into"]], role, place, view)
    return {
        "asked": 4,
        "roles": {role: belief["points"] for role, belief in stated.items()},
        "redraw": {role: belief["points"] for role, belief in _beliefs(events, 1, 2).items()},
        "cruxes": [
            {"claim": claim, "how": claims[claim]["how"], "given": _plain(given[claim])} for claim in given
        ],
    }


def _proposal(belief, place):
    return next(view for view in belief["given"] if view["claim"] == place)


def _turned(view, negated):
    if not negated:
        return view
    return {**view, "q": 100 - view["q"], "if_true": view["if_false"], "if_false": view["if_true"]}


def _keep_first(given, role, place, view):
    """Of a role that proposed one crux twice the first counts."""
    if role not in given or place < given[role]["place"]:
        given[role] = {**view, "place": place}


def _plain(given):
    return {role: {key: view[key] for key in ("q", "if_true", "if_false")} for role, view in given.items()}


def _tested(events, number, agenda, claims):
    """A round of tests: what was asked about and how it came out, and what roles said for themselves afterwards."""
    sealed = _beliefs(events, number, 1)
    verdicts = {
        change["claim_id"]: (RESULT[change["bearing"]], change["class"])
        for one in events
        if one["kind"] == "verification" and one["round"] == number
        for change in one["claim_status_changes"]
    }
    for one in events:
        if one["kind"] == "experiment_judged" and one["round"] == number:
            for change in one["changes"]:
                verdicts[change["claim_id"]] = (one["verdict"], one["class"])
    asked = [
        claim
        for claim in agenda
        if any(view["claim"] == claim for belief in sealed.values() for view in belief["given"])
    ]
    cruxes = []
    for claim in asked:
        given = {
            role: view
            for role, belief in sealed.items()
            for view in belief["given"]
            if view["claim"] == claim
        }
        result, class_ = verdicts.get(claim, (None, None))
        cruxes.append(
            {
                "claim": claim,
                "how": claims[claim]["how"],
                "given": _plain(given),
                "result": result,
                "class": class_,
            }
        )
    return {
        "roles": {role: belief["points"] for role, belief in _beliefs(events, number, 3).items()},
        "cruxes": cruxes,
    }


def unseen_of(events, leader):
    """Ways in which the leader may be wrong that were listed sealed, and how many nobody listed (LIT-4, LIT-5)."""
    agenda = _agenda(events)
    n = 1 if events[0]["options"] else 3
    favourites = {}
    for role, belief in _beliefs(events, 1, n).items():
        most = max(belief["points"].values())
        names = sorted(belief["points"], key=lambda name: (name == "none", name))
        favourites[role] = next(name for name in names if belief["points"][name] == most)
    lists = {role for role, favourite in favourites.items() if favourite == leader}
    seen = []
    for merge in agenda["merged"]:
        if merge["into"].startswith("N-"):
            roles = {one for ref in merge["from"] for one in re.findall(r"^S-1-B-(\w+)#defeater-\d$", ref)}
            seen.append(len(roles & lists))
    once, twice, distinct, m = seen.count(1), seen.count(2), sum(count > 0 for count in seen), len(lists)
    if m == 0:
        return None
    share = Fraction(m - 1, m)
    return {
        "distinct": distinct,
        "once": once,
        "twice": twice,
        "lists": m,
        "jackknife": distinct + once * share,
        "chao2": distinct + share * Fraction(once * (once - 1), 2 * (twice + 1)),
    }
