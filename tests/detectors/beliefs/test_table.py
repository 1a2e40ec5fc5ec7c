"""Tables that say nothing sensible are refused in one line that says where, what and what to write instead."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

from detectors.beliefs.table import WrongTable, read_table
from tests.detectors.beliefs.tables import beliefs, random_table

NUMBERS = {"q": 70, "if_true": {"O-1": 85, "O-2": 15}, "if_false": {"O-1": 25, "O-2": 75}}
TABLE: dict[str, Any] = {
    "options": ["O-1", "O-2"],
    "tau": 3,
    "rounds": [
        {
            "roles": {"action": {"O-1": 70, "O-2": 30}, "critic": {"O-1": 60, "none": 40}},
            "cruxes": [{"claim": "C-1-1", "how": "execution", "given": {"action": NUMBERS}}],
        }
    ],
}


def changed(*path, to):
    """The table with one value changed; a path goes through keys and places."""
    table = deepcopy(TABLE)
    inner: Any = table
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return table


CRUX = ("rounds", 0, "cruxes", 0)
WRONG = [
    (("options",), [], "options"),
    (("options",), ["O-1", "O-1"], "options"),
    (("options",), ["none"], "options"),
    (("rounds",), [], "rounds"),
    (("tau",), 101, "tau"),
    (("tau",), -1, "tau"),
    (("tau",), "NaN", "tau"),
    (("tau",), "x", "table"),
    (("strange",), 1, "table"),
    (("rounds", 0, "roles", "action"), {"O-1": 99}, "rounds[0].roles.action"),
    (("rounds", 0, "roles", "action"), {"O-1": 101, "O-2": -1}, "rounds[0].roles.action"),
    (("rounds", 0, "roles", "action"), {"O-1": 70.5, "O-2": 29.5}, "table"),
    (("rounds", 0, "roles", "action"), {"O-9": 100}, "rounds[0].roles.action"),
    (("rounds", 0, "roles", "action"), {}, "rounds[0].roles.action"),
    (("rounds", 0, "redraw"), {"action": {"O-1": 1}}, "rounds[0].redraw.action"),
    (("rounds", 0, "redraw"), {"action": {"O-1": 100}, "critic": {"O-1": 100}}, "rounds[0].redraw"),
    ((*CRUX, "how"), "magic", "table"),
    ((*CRUX, "result"), "maybe", "table"),
    ((*CRUX, "result"), "holds", "rounds[0].cruxes[0].class"),
    ((*CRUX, "given", "action", "q"), 0, "rounds[0].cruxes[0].given.action.q"),
    ((*CRUX, "given", "action", "q"), 100, "rounds[0].cruxes[0].given.action.q"),
    ((*CRUX, "given", "action", "if_true"), {"O-1": 1}, "rounds[0].cruxes[0].given.action.if_true"),
    (("rounds", 0, "cruxes"), TABLE["rounds"][0]["cruxes"] * 2, "rounds[0].cruxes"),
]


@pytest.mark.parametrize(("path", "to", "where"), WRONG)
def test_a_wrong_table_is_refused_where_it_is_wrong(path, to, where):
    with pytest.raises(WrongTable) as refused:
        read_table(json.dumps(changed(*path, to=to)).encode())
    assert refused.value.where == where
    assert refused.value.fix
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"options": ["O-1"]}'])
def test_what_is_no_table_is_refused(content):
    with pytest.raises(WrongTable):
        read_table(content)


def test_more_cruxes_than_can_be_valued_together_are_refused():
    many = [{"claim": f"C-1-{n}", "how": "person"} for n in range(13)]
    with pytest.raises(WrongTable, match="13 cruxes"):
        read_table(json.dumps(changed("rounds", 0, "cruxes", to=many)).encode())


def test_what_is_left_out_has_its_default():
    found = read_table(json.dumps({key: value for key, value in TABLE.items() if key != "tau"}).encode())
    assert found.terms.tau == 3
    assert (found.terms.experiments, found.terms.documents, found.terms.rounds_at_most) == (False, True, 3)
    assert found.options == ("O-1", "O-2", "none")
    assert found.unseen is None


def test_none_may_be_named_and_stays_last():
    named = changed("options", to=["none", "O-1", "O-2"])
    assert beliefs(named) == beliefs(TABLE)


def test_a_redraw_without_a_name_is_the_first_role_s():
    bare = changed("rounds", 0, "redraw", to={"O-1": 64, "O-2": 36})
    named = changed("rounds", 0, "redraw", to={"action": {"O-1": 64, "O-2": 36}})
    assert beliefs(bare) == beliefs(named)
    assert beliefs(bare).rounds[0].noise == 6


def test_what_nobody_found_goes_through():
    unseen = {"lists": 4, "sightings": [["action"], ["action", "critic"], ["guardian"]]}
    found = beliefs(TABLE | {"unseen": unseen, "run": "x"})
    assert found.run == "x"
    assert found.unseen is not None
    assert found.unseen.model_dump() == {
        "distinct": 3,
        "once": 2,
        "twice": 1,
        "lists": 4,
        "jackknife": 4.5,
        "chao2": 3.38,
    }


def test_decimals_are_rounded_half_even_from_exact_numbers():
    three = {role: {"O-1": points, "O-2": 100 - points} for role, points in (("a", 50), ("b", 50), ("c", 51))}
    assert beliefs(TABLE | {"rounds": [{"roles": three}]}).rounds[0].pool["O-1"] == 50.33
    eight = {f"r{n}": {"O-1": 50 + (n == 0), "O-2": 50 - (n == 0)} for n in range(8)}
    assert beliefs(TABLE | {"rounds": [{"roles": eight}]}).rounds[0].pool == {
        "O-1": 50.12,
        "O-2": 49.88,
        "none": 0,
    }


def test_the_same_table_says_the_same_twice():
    assert beliefs(random_table(7)) == beliefs(random_table(7))
