"""Every variant says what it chooses, and none is explained that no protocol has."""

from __future__ import annotations

from rounds.protocols import MEANINGS, PROTOCOLS, RULES
from tests.cli.conftest import Moot, moot

__all__ = ["moot"]


def test_every_variant_has_a_meaning() -> None:
    protocols = list(PROTOCOLS.values())
    had = {rule for protocol in protocols for rule in protocol.variants}
    assert set(MEANINGS) == had == set(RULES)
    for rule, values in RULES.items():
        known = [protocol.variants[rule] for protocol in protocols if rule in protocol.variants]
        assert set(values) == {value for variant in known for value in variant}, rule


def test_one_protocol_can_be_looked_at(moot: Moot) -> None:
    found = moot("gate", "debate", "--json").json
    assert [one["name"] for one in found["protocols"]] == ["debate"]
    assert set(found["protocols"][0]["meanings"]) == {"judges", "rubric"}
    assert "--rule rubric=logic30|evidence40   what is scored" in moot("gate", "debate").out
    said = moot("gate", "debat")
    assert said.code == 2
    assert "did you mean 'debate'" in said.err
