"""Every rule matches what breaks it, where it is broken, and keeps silent about what comes close.

Of `validators/rules/calls.py`, `validators/rules/checks.py`, `validators/rules/claims.py`,
`validators/rules/events.py`, `validators/rules/references.py`, `validators/rules/replay.py`,
`validators/rules/roles.py`, `validators/rules/rounds.py`, `validators/rules/texts.py`.
"""

from __future__ import annotations

import pytest

from tests.validators import (
    pairs_beliefs,
    pairs_claims,
    pairs_evidence,
    pairs_experiments,
    pairs_order,
    pairs_roles,
    pairs_texts,
    pairs_verdicts,
)
from tests.validators.factory import CONTEXT, base, findings, judge
from tests.validators.pair import Pair
from validators.rulebook import RULES

PAIRS = (
    *pairs_order.PAIRS,
    *pairs_roles.PAIRS,
    *pairs_evidence.PAIRS,
    *pairs_claims.PAIRS,
    *pairs_beliefs.PAIRS,
    *pairs_texts.PAIRS,
    *pairs_verdicts.PAIRS,
    *pairs_experiments.PAIRS,
)
named = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.code} {pair.why}".strip())


def test_a_good_deliberation_breaks_no_rule():
    assert findings(base(), CONTEXT) == ()


def test_every_rule_has_a_pair():
    paired = {pair.code for pair in PAIRS if pair.code != "BRIEF-UNAVAILABLE"}
    assert {rule.code for rule in RULES} == paired | {"FLW002", "SCR001"}  # whole runs: tests/protocols


@named
def test_a_rule_finds_its_fault_and_nothing_where_it_only_nearly_is_one(pair: Pair):
    found = judge(pair.match(), pair.code, pair.context)
    assert (pair.severity, pair.at()) in {(finding.severity, finding.seq) for finding in found}, found
    assert judge(pair.near(), pair.code) == ()
