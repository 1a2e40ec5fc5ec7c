"""How far a run can be trusted, in a line: what it says of replies agrees with their number.

Of `moot/view/trust.py`.
"""

from __future__ import annotations

import pytest

from moot.api import open_run
from tests.protocols.playing import played


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        ("single-pass", "1 of 1 reply may have used more than its prompt; "),
        ("debate", "9 of 9 replies may have used more than their prompt; "),
    ],
)
def test_one_reply_has_its_prompt_and_several_have_theirs(protocol: str, told: str) -> None:
    assert f"isolation not enforced: {told}" in open_run(played(protocol)).outcome.trust
