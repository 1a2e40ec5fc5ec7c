"""Which option a role is told for its claim: those tested least first, by a rule that older runs do not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledger.events import Claim
from ledger.state.state import State
from roles.protocol import Step, find_step
from roles.seats.port import Answer
from rounds.protocols import PROTOCOLS
from rounds.protocols.structured import visibility as rivals
from rounds.run.session import RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.rounds.openings import clock
from tests.rounds.scripted import Script

STRUCTURED = PROTOCOLS["structured"]
ROLES = ("action", "guardian", "observer", "critic")


def opened(options: int, rules: dict[str, str] | None = None) -> Any:
    table: dict[str, Any] = {
        "deliberation": {
            "question": "Which?",
            "options": [f"the {n}th way" for n in range(options)],
            "protocol": "structured",
        },
        "round": [{"n": 1}, {"n": 2, "absent": "critic"}, {"n": 3, "phases": ["A", "S"]}],
        "rules": rules or {},
    }
    return resolve(checked(table), {}, moot="0")


def begun(path: Path, options: int, rules: dict[str, str] | None = None) -> RunSession:
    opening = opened(options, rules)
    return start(path, opening.event, blobs=opening.blobs, files={}, verdicts=standard, clock=clock())


class AsTold(Script):
    """The script, with claims about the option that the brief names."""

    def answered(self, session: RunSession) -> str:
        asked = session.pending()[0]
        content = self.reply(session.book(), asked.step, asked.brief.saw)
        option = rivals.option_for(session.book().state, asked.step.name.round, asked.step.role)
        if asked.step.task.startswith("D.") and option:
            content = content.replace(b'"about":[]', f'"about":["{option}"]'.encode())
        session.submit(asked.step.id, content, Answer(seat="host", isolation="trusted"))
        return asked.step.id


def told(state: State, round_: int) -> list[str | None]:
    return [rivals.option_for(state, round_, role) for role in ROLES]


def test_options_are_spread_over_the_roles_in_order(tmp_path: Path) -> None:
    two = begun(tmp_path / "two", 2).book().state
    assert told(two, 1) == ["O-1", "O-2", "O-1", "O-2"]
    assert told(begun(tmp_path / "three", 3).book().state, 1) == ["O-1", "O-2", "O-3", "O-1"]
    assert told(begun(tmp_path / "five", 5).book().state, 1) == ["O-1", "O-2", "O-3", "O-4"]
    assert told(begun(tmp_path / "one", 1).book().state, 1) == [None] * 4


def test_the_option_with_the_fewest_claims_of_its_own_comes_first(tmp_path: Path) -> None:
    session, script = begun(tmp_path / "run", 3), AsTold(1)
    while session.book().state.round == 1:
        script.answered(session)
    state = session.book().state
    alone = dict.fromkeys(("O-1", "O-2", "O-3"), 0)
    for claim in session.book().of(Claim):
        if len(claim.about) == 1:
            alone[claim.about[0]] += 1
    assert sum(alone.values()) > 0
    fewest = min(alone, key=alone.__getitem__)
    first = rivals.option_for(state, 2, "action")
    assert first is not None
    assert alone[first] == alone[fewest]
    assert rivals.option_for(state, 2, "critic") is None  # absent


def test_the_brief_of_an_artifact_names_it_and_no_other_brief_does(tmp_path: Path) -> None:
    session, script = begun(tmp_path / "run", 2), AsTold(2)
    seen: dict[str, str] = {}
    while session.book().state.round == 1:
        asked = session.pending()
        seen |= {one.step.id: one.brief.text for one in asked}
        script.answered(session)
    naming = {step for step, text in seen.items() if "let the claim that you raise be about" in text}
    assert naming == {f"r1.D.{role}" for role in ROLES}
    assert "be about O-2 alone (`about`: O-2 and no other)" in seen["r1.D.guardian"]


@pytest.mark.parametrize("rules", [{"rivals": "free"}])
def test_without_the_rule_nobody_is_told(tmp_path: Path, rules: dict[str, str]) -> None:
    state = begun(tmp_path / "run", 2, rules).book().state
    assert state.opening.rules["rivals"] == "free"
    assert not rivals.spreads(state)
    step = find_step(STRUCTURED, state, "r1.D.critic")
    assert isinstance(step, Step)
    assert "told" not in {str(column) for column in STRUCTURED.view(state, step)}
