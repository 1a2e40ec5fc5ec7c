"""The budget of calls: what the engine asks is counted, what a host or a person answers is not."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from ledger.events.envelope import SeatKind
from ledger.events.run import Budgets
from roles.seats.port import Answer, Bound
from rounds.run.budget import Reservations, used_up
from tests.cli.conftest import Moot, moot
from tests.protocols.playing import begin
from tests.protocols.scripts import reply

__all__ = ["moot"]  # a fixture

PANEL = (
    "run",
    "-q",
    "Is the plan sound?",
    "--protocol",
    "panel",
    "--rule",
    "reviewers=5",
    "--out",
    "run",
    "--json",
)


def test_host_seats_use_no_calls(moot: Moot) -> None:
    """R-9: five reviewers wait for their hosts under `--max-calls 3`; nothing was paid, so nothing stops."""
    said = moot(*PANEL, "--max-calls", "3", "--seats", "host")
    assert (said.code, said.json["state"], len(said.json["waiting"])) == (4, "waiting", 5)


@pytest.mark.parametrize("kind", ["host", "human"])
def test_what_others_answered_leaves_the_budget_whole(kind: SeatKind, tmp_path: Path) -> None:
    """R-9: twelve answers of a host or a person on the ledger leave the engine its three calls."""
    session = begin(tmp_path / "run", "tribunal", budget={"calls": 3})
    while asked := session.pending():
        step, saw = asked[0].step, asked[0].brief.saw
        session.submit(step.id, reply(session.book(), step, saw), Answer(kind, "trusted"))
    state = session.book().state
    assert state.opened is not None
    assert state.opened.budgets == Budgets(calls=3)
    assert (state.spend.calls, state.spend.engine_calls) == (12, 0)
    assert used_up(state, 0) is None
    assert Reservations().lacks(state, Bound(0, Decimal(0))) is None


def test_the_engines_own_calls_still_count(moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-9: beside hosts, the seats that the engine calls stop at the limit."""
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")
    roles = (
        "--seats",
        "host",
        "--seat",
        "reviewer_1=command:echo {}",
        "--seat",
        "reviewer_2=command:echo {}",
    )
    said = moot(*PANEL, "--max-calls", "1", *roles)
    assert (said.json["state"], said.json["reason"]) == ("stopped", "budget_calls")
