"""What contradicts itself is refused, and writes nothing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ledger.store.store import RunStore
from moot.app.session import session_at
from tests.cli.conftest import Moot
from tests.protocols.playing import begin
from tests.protocols.scripts import reply

EXAMPLES = Path(__file__).parents[2] / "runs" / "examples"


@pytest.fixture
def council(tmp_path: Path) -> Path:
    """A council of three that waits for its members."""
    begin(tmp_path / "council", "council")
    return tmp_path / "council"


def test_a_member_of_a_council_has_a_context_of_its_own(moot: Moot, council: Path, tmp_path: Path) -> None:
    for n, (step, context, code) in enumerate(
        [("r1.plan.solo", "c1", 0), ("r1.plan.solo~2", "c1", 1), ("r1.plan.solo~2", "c2", 0)]
    ):
        session = session_at(council)
        asked = next(one for one in session.pending() if one.step.id == step)
        file = tmp_path / f"{n}.json"
        file.write_bytes(reply(session.book(), asked.step, asked.brief.saw))
        before = RunStore(council).head()
        said = moot("submit", str(council), step, str(file), "--context-id", context)
        assert said.code == code, said.err
        if code:
            assert "context of its own" in said.err
            assert RunStore(council).head() == before


def test_a_step_is_answered_or_given_up(moot: Moot, council: Path, tmp_path: Path) -> None:
    file = tmp_path / "reply.json"
    file.write_text("{}")
    before = RunStore(council).head()
    said = moot("submit", str(council), "r1.plan.solo", str(file), "--give-up", "no time")
    assert said.code == 2
    assert "answered or given up" in said.err
    assert RunStore(council).head() == before


def test_a_variant_is_named_once(moot: Moot) -> None:
    said = moot("new", "-q", "Which?", "--protocol", "council", "--rule", "members=5", "--rule", "members=3")
    assert said.code == 2
    assert "members is 5 already" in said.err


def test_a_finished_run_still_has_an_operator(moot: Moot, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "ratchet-notice", tmp_path / "run")
    said = moot("mcp", "--tokens", tmp_path / "run")
    assert said.code == 0
    assert [line.split()[0] for line in said.out.splitlines()] == ["operator", "drafter", "critic", "reviser"]


@pytest.mark.parametrize("option", ["--html", "--out"])
def test_a_report_that_cannot_be_written_says_so(moot: Moot, tmp_path: Path, option: str) -> None:
    said = moot("report", str(EXAMPLES / "ratchet-notice"), option, str(tmp_path / "nowhere" / "report"))
    assert said.code == 2
    assert "cannot write" in said.err
