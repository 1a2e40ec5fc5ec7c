"""The table of a `crux` run, read from its three streams as docs/format.md describes them.

It reads JSON lines and imports nothing of the product. What the product recorded in a run is compared with what
`tests/oracles/crux.py` makes of this table.
"""

from __future__ import annotations

import json
from pathlib import Path

LEVEL = {
    "measured": "measured",
    "reproduced": "ran_times_3",
    "ran": "ran",
    "calculated": "calculated",
    "quoted": "quoted",
}
ROLES = ("action", "guardian", "observer", "critic")


def events_of(run: Path):
    """Return all events of a run in order."""
    lines = [line for stream in sorted(run.glob("*.jsonl")) for line in stream.read_bytes().splitlines()]
    events = [event for event in map(json.loads, lines) if isinstance(event, dict) and "kind" in event]
    return sorted(events, key=lambda event: event["seq"])


def table_of(events, seq):
    """Return the oracle's table of the run as it was after event `seq`."""
    past = [event for event in events if event["seq"] <= seq]
    opened = past[0]
    options = [option["id"] for option in opened["options"]]
    agenda = next((event for event in past if event["kind"] == "agenda"), None)
    if agenda and not options:
        options = [option["id"] for option in agenda["options"]]
    frame = next((event for event in past if event["kind"] == "frame"), None)
    beliefs = {event["id"]: event for event in past if event["kind"] == "belief"}
    made_options = not opened["options"]
    sealed = "~3" if made_options else ""
    forecasts = {
        role: beliefs[f"B-1-{role}{sealed}"]["points"] for role in ROLES if f"B-1-{role}{sealed}" in beliefs
    }
    if made_options and agenda and agenda["by"] == "controller":
        forecasts = own_options(agenda, beliefs)
    numbers = {
        role: {given["claim"]: given for given in beliefs[f"B-1-{role}~3"]["given"]}
        for role in ROLES
        if f"B-1-{role}~3" in beliefs and not beliefs[f"B-1-{role}~3"]["derived"]
    }
    claims = {event["id"]: event for event in past if event["kind"] == "claim"}
    return {
        "options": options,
        "stakes": opened["rules"].get("stakes", "normal"),
        "experiments": word_about_experiments(past) != "off",
        "documents": bool(opened["context"]),
        "made_options": made_options,
        "frame": frame
        and {
            "ill_posed": frame["ill_posed"],
            "objection": bool(frame["ill_posed"] or frame["missing"] or frame["double"]),
        },
        "forecasts": forecasts,
        "cruxes": [
            {
                "claim": claim,
                "how": claims[claim]["how"],
                "proposed": proposed(agenda, beliefs, claim),
                "numbers": {role: given[claim] for role, given in numbers.items() if claim in given},
            }
            for claim in (agenda["cruxes"] if agenda else ())
        ],
        "verdicts": verdicts(past),
    }


def own_options(agenda, beliefs):
    """Return forecasts over options that are the roles' own answers, because nobody merged them.

    A role gave points to its own answer and to "another one", which may be any other option or none of them: those are
    spread evenly, the first options taking what does not divide.
    """
    names = [option["id"] for option in agenda["options"]] + ["none"]
    result = {}
    for merged in agenda["merged"]:
        for place in merged["from"]:
            role = place.partition("#")[0].rpartition("-")[2]
            given = beliefs[f"B-1-{role}"]["points"]
            others = [name for name in names if name != merged["into"]]
            each, more = divmod(given.get("none", 0), len(others))
            points = {name: each + (n < more) for n, name in enumerate(others)}
            result[role] = {merged["into"]: given.get("own", 0), **points}
    return {role: result[role] for role in ROLES if role in result}


def word_about_experiments(past):
    """Return on, ask or off: what the opening said, or the last word of a person."""
    word = past[0]["rules"].get("experiments", "off")
    for event in past:
        for change in event["change"] if event["kind"] == "amendment" and event["by"] == "human" else ():
            if "experiments" in change["path"]:
                word = change["to"]
    return word if word in ("on", "ask") else "off"


def proposed(agenda, beliefs, claim):
    """Return the proposers' numbers about a crux, turned round where the agenda words the opposite."""
    result = {}
    for merged in agenda["merged"]:
        for place in merged["from"] if merged["into"] == claim else ():
            words, _, section = place.partition("#")
            role = words.rpartition("-")[2]
            given = [one for one in beliefs[f"B-1-{role}"]["given"] if one["claim"] == section]
            if given and role not in result:
                view = {key: given[0][key] for key in ("q", "if_true", "if_false")}
                if merged["negated"]:
                    view = {"q": 100 - view["q"], "if_true": view["if_false"], "if_false": view["if_true"]}
                result[role] = view
    return result


def verdicts(past):
    """Return the verdicts in order; two programs of roles that disagree about a crux give none."""
    planned = {event["id"]: event for event in past if event["kind"] == "experiment_planned"}
    overturned = {
        cite["id"]
        for event in past
        if event["kind"] == "decision" and event["type"] == "override"
        for cite in event["cites"]
        if cite["relation"] == "overrides"
    }
    programs: dict = {}
    others: list = []
    for event in past:
        if event["kind"] == "verification":
            for change in event["claim_status_changes"]:
                if change.get("class") in LEVEL:
                    result = {"supports": "holds", "contradicts": "fails"}.get(change["bearing"])
                    others.append((event["seq"], change["claim_id"], result, change["class"]))
        elif event["kind"] == "experiment_judged" and event["class"] in LEVEL:
            plan = planned[event["of"]]
            for claim in plan["claims"]:
                if plan["by"] in ROLES:
                    one = (event["seq"], claim, event["verdict"], event["class"])
                    programs.setdefault(claim, {})[event["of"]] = one
                else:
                    others.append((event["seq"], claim, event["verdict"], event["class"]))
        elif event["kind"] == "decision" and event.get("result") and event["id"] not in overturned:
            others += [(event["seq"], claim, event["result"], "measured") for claim in event["claims"]]
    for judged in programs.values():
        settled = [one for one in judged.values() if one[2] in ("holds", "fails")]
        if len({one[2] for one in settled}) == 1:
            others += settled
    return [
        {"claim": claim, "result": result, "level": LEVEL[level]}
        for _, claim, result, level in sorted(others)
        if result in ("holds", "fails")
    ]
