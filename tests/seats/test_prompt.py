"""Where the breakpoints of the prefix cache stand: behind what the next round, the next step and the siblings share."""

from __future__ import annotations

import pytest

from roles.seats.prompt import user_of
from tests.roles.runs import brief_of, run


@pytest.mark.parametrize(
    ("step", "behind"),
    [
        ("r1.C.critic", ["K-1", "decisions", "S-1-B-action"]),
        ("r2.D.critic", ["old_claims", "left-1", "S-2-C-critic"]),
        ("r2.E.check1.verifier", ["old_claims", "claims", "places"]),
    ],
)
def test_breakpoints_stand_behind_what_others_share(step: str, behind: list[str]) -> None:
    brief = brief_of(run(), step)
    content = user_of(brief)
    names = {block.text: block.name for block in brief.blocks}
    marked = [block["text"] for block in content if "cache_control" in block]
    assert [names.get(text) for text in marked[:-1]] == behind
    assert "JSON Schema" in marked[-1]
