"""The status of a run: a stop that comes too early names its round; what it says of replies agrees with their number.

Of `moot/view/status.py` and `moot/view/trust.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from moot.api import open_run
from moot.view.status import status_text
from tests.protocols.playing import played
from tests.rounds.openings import begin, play, rows


def test_a_stop_is_told_as_advice_only_before_the_round_from_which_it_is_obeyed(tmp_path: Path) -> None:
    play(begin(tmp_path / "run", rows(2)))
    view = open_run(tmp_path / "run").view
    state, report = view.book.state, view.signals
    assert report is not None
    first = state.opening.stop.not_before

    def says_it(*, stop: bool, round_: int) -> bool:
        text = status_text("run", state, replace(report, stop=stop, round=round_))
        return f"says stop, obeyed from round {first} on" in " ".join(text.split())

    assert says_it(stop=True, round_=first - 1)
    assert not says_it(stop=True, round_=first)
    assert not says_it(stop=False, round_=first - 1)
    assert not says_it(stop=False, round_=first)


@pytest.mark.parametrize(
    ("protocol", "told"),
    [
        ("single-pass", "1 of 1 reply may have used more than its prompt; "),
        ("debate", "9 of 9 replies may have used more than their prompt; "),
    ],
)
def test_one_reply_has_its_prompt_and_several_have_theirs(protocol: str, told: str) -> None:
    assert f"isolation not enforced: {told}" in open_run(played(protocol)).outcome.trust
