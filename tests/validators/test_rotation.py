"""The lead rotates (SD-52, SD-53)."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from roles.protocol import next_lead

ROLES = ("action", "guardian", "observer", "critic")


def test_the_published_simulation_of_thirteen_rounds():
    absent = {5: "critic", 10: "guardian", 12: "action", 13: "observer"}
    led: list[str | None] = []
    for round_ in range(1, 14):
        led.append(next_lead(ROLES, led, absent.get(round_)))
    assert led == [
        "action",
        "guardian",
        "observer",
        "critic",
        "action",
        "guardian",
        "observer",
        "critic",
        "action",
        "observer",
        "guardian",
        "critic",
        "action",
    ]


@given(st.lists(st.sampled_from([*ROLES, "system", None])), st.sampled_from([*ROLES, None]))
def test_nobody_who_is_present_has_led_less(led: list[str | None], absent: str | None):
    lead = next_lead(ROLES, led, absent)
    assert lead != absent
    for role in ROLES:
        if role != absent:
            assert (led.count(lead), ROLES.index(lead)) <= (led.count(role), ROLES.index(role))


def test_somebody_must_be_present():
    with pytest.raises(AssertionError):
        next_lead(("critic",), (), "critic")
