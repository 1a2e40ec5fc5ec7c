"""What a run may take is said before the first call that costs something, and above a limit a person is asked."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from ledger.events import RoundOpened
from moot.app.opening import estimated, opened
from moot.app.seats import SeatChoice, make_seats
from moot.app.settings import RunOptions
from moot.environment import read_settings
from moot.errors import MootError
from moot.terminal.live import most_replies
from moot.view.estimate import estimate_line
from tests.cli.conftest import Moot
from tests.protocols.playing import begin

LONG = RunOptions({"deliberation": {"question": "Which storage?", "plan": "minimum-8"}})
SHORT = RunOptions({"deliberation": {"question": "Which storage?", "protocol": "tribunal"}})


@pytest.fixture(autouse=True)
def commands_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")


def asked(
    said: list[str], answer: bool | None, *, yes: bool = False, everybody: str = "command:true"
) -> SeatChoice:
    """A choice of seats by somebody who answers so, or is not there."""

    def agreed(_: str, question: str) -> bool:
        said.append(question)
        return bool(answer)

    there = agreed if answer is not None else None
    return SeatChoice(everybody, {}, agreed=there, tell=said.append, yes=yes)


def begun(tmp_path: Path, options: RunOptions, choice: SeatChoice) -> bool:
    opened(None, options, choice, tmp_path / "run")
    return (tmp_path / "run" / "head").exists()


def test_after_a_no_nothing_is_begun(tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(MootError, match="nothing was begun"):
        begun(tmp_path, LONG, asked(said, False))
    assert list(tmp_path.iterdir()) == []
    assert re.match(r"\d+ to 142 replies, cost unknown, about \d+ min to 2\.0 h; ", said[0])
    assert said[1:] == ["Begin?"]


@pytest.mark.parametrize(
    ("options", "answer", "yes", "questions"),
    [(LONG, True, False, 1), (LONG, False, True, 0), (LONG, None, False, 0), (SHORT, False, False, 0)],
)
def test_it_begins_after_a_yes_with_yes_unasked_and_when_it_is_small(
    tmp_path: Path, options: RunOptions, answer: bool | None, yes: bool, questions: int
) -> None:
    said: list[str] = []
    assert begun(tmp_path, options, asked(said, answer, yes=yes))
    assert "replies, cost unknown, about" in said[0]
    assert said[1:] == ["Begin?"] * questions


def test_where_nothing_costs_anything_nothing_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    assert begun(tmp_path, LONG, asked(said, False, everybody="host"))
    assert said == []


def test_the_limit_in_dollars_is_a_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "Which storage?"\nplan = "minimum-8"\n')
    found = estimated(str(file), RunOptions(), SeatChoice("anthropic", {}))
    assert found.usd is not None
    paid = make_seats(dict.fromkeys(("action",), "command:true"))
    for limit, questions in ((found.usd.high, []), ("0.01", ["Begin?"])):
        monkeypatch.setenv("MOOT_ASK_ABOVE_USD", limit)
        said: list[str] = []
        asked(said, True).check_size(lambda: found, paid)
        assert said == [f"{estimate_line(found)}; `moot run --dry-run` shows the details\n", *questions]
    monkeypatch.delenv("MOOT_ASK_ABOVE_USD")
    assert read_settings().ask_above_usd == Decimal(5)
    monkeypatch.setenv("MOOT_ASK_ABOVE_USD", "much")
    with pytest.raises(MootError, match="is no amount"):
        read_settings()


def test_the_cap_stands_beside_the_estimate_and_decides_whether_to_ask(tmp_path: Path) -> None:
    """`--max-usd 1` on a run that may take $32: the cap was not mentioned, and a person was asked about $32."""
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "Which storage?"\nplan = "standard-13"\n')
    paid = make_seats(dict.fromkeys(("action",), "command:true"))
    for budget, questions in (({"usd": "1"}, 0), ({"usd": "20"}, 1), ({}, 1)):
        found = estimated(str(file), RunOptions({"budget": budget}), SeatChoice("anthropic", {}))
        assert found.usd is not None
        assert Decimal(found.usd.high) > 5
        said: list[str] = []
        asked(said, True).check_size(partial(lambda estimate: estimate, found), paid)
        assert len(said) == 1 + questions
        limit = [f", never more than ${Decimal(usd):.2f} (--max-usd), about" for usd in budget.values()]
        assert all(clause in said[0] for clause in limit)
        assert ("never more than" in said[0]) == bool(limit)


def test_a_cap_does_not_stand_for_a_seat_of_unknown_price(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "Which storage?"\nplan = "standard-13"\n')
    found = estimated(str(file), RunOptions({"budget": {"usd": "1"}}), SeatChoice("command:true", {}))
    paid = make_seats(dict.fromkeys(("action",), "command:true"))
    said: list[str] = []
    asked(said, True).check_size(lambda: found, paid)
    assert said[1:] == ["Begin?"]


@pytest.mark.slow
def test_plain_lines_count_replies_against_the_whole(moot: Moot, tmp_path: Path) -> None:
    session = begin(tmp_path / "played", "tribunal")
    assert most_replies(session.book()) == 12
    code = "import json,sys; print(json.dumps({'reasoning': 'No.', 'confidence': 80, 'risk': 20}))"
    said = moot(
        "run",
        "-q",
        "Which?",
        "--protocol",
        "tribunal",
        "--seats",
        f'command:python3 -c "{code}"',
        "--out",
        "new",
    )
    assert said.out.startswith("12 replies, cost unknown, about ")
    rounds = [event for event in session.book().events if isinstance(event, RoundOpened)]
    assert len(rounds) == 1
    assert "3 of at most 12 replies so far" in said.out
