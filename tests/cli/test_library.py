"""The Python API beside the command line: every protocol, seats of every form, and a state that is never stale."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import moot as library
from ledger.state.state import State
from moot import errors
from moot.errors import MootError, explain
from roles.seats.host import HostSeat
from rounds.protocols import PROTOCOLS, ProtocolUnknown, protocol_of
from rounds.run import human_actions as people
from rounds.run.session import RunSession
from rounds.setup.toml_file import DeliberationError
from tests.cli.conftest import Moot, moot
from tests.protocols.playing import begin

__all__ = ["moot"]

QUESTION = "Which storage keeps every line?"


def table(protocol: str, rules: dict[str, str] | None = None) -> dict[str, Any]:
    wanted = ["one journal", "three streams"] if PROTOCOLS[protocol].options_wanted[1] else []
    subject = {"question": QUESTION, "protocol": protocol, "options": wanted}
    return {"deliberation": subject, "rules": rules or {}}


@pytest.mark.parametrize("protocol", sorted(PROTOCOLS))
def test_every_protocol_runs_with_one_specification_for_all(protocol: str, tmp_path: Path) -> None:
    """R-20: the roles are those that the run will have, also where rules make them."""
    run = library.run_deliberation(table(protocol), "host", tmp_path / "run")
    assert run.state.opened is not None
    assert {member.seat for member in run.state.opened.cast} == {"host"}
    assert not run.state.finished


def test_roles_that_a_rule_makes_are_seated_too(tmp_path: Path) -> None:
    """R-20: a panel of five reviewers has five seats."""
    run = library.run_deliberation(table("panel", {"reviewers": "5"}), "host", tmp_path / "run")
    assert len([role for role in run.state.roles if "reviewer" in role]) == 5


def test_a_file_with_a_gate_runs(tmp_path: Path) -> None:
    """R-20: what the gate routes to says which roles there are."""
    file = tmp_path / "plan.toml"
    file.write_text(f'[deliberation]\nquestion = "{QUESTION}"\n\n[gate]\nsingle = true\n')
    run = library.run_deliberation(file, "host", tmp_path / "run")
    assert run.state.opened is not None
    assert run.state.opened.protocol == "single-pass"


def test_seats_may_be_named_role_by_role(tmp_path: Path) -> None:
    roles = dict.fromkeys(PROTOCOLS["tribunal"].role_ids(), "host")
    mixed: dict[str, Any] = {**roles, next(iter(roles)): HostSeat()}
    assert library.run_deliberation(table("tribunal"), mixed, tmp_path / "run").state.roles == tuple(roles)
    incomplete = dict(list(roles.items())[1:])
    with pytest.raises(MootError, match=f"no seat for {next(iter(roles))}"):
        library.run_deliberation(table("tribunal"), incomplete, tmp_path / "other")
    with pytest.raises(MootError, match="no role 'nobody'"):
        library.run_deliberation(table("tribunal"), {**roles, "nobody": HostSeat()}, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_an_unknown_protocol_is_an_error_in_words(tmp_path: Path, moot: Moot) -> None:
    """R-20: by the file, by the table of protocols, and in a run of a later moot."""
    with pytest.raises(DeliberationError, match="no protocol 'tribunals'") as refused:
        library.run_deliberation(
            {"deliberation": {"question": "Which?", "protocol": "tribunals"}}, "host", tmp_path / "a"
        )
    assert "did you mean 'tribunal'?" in refused.value.fix
    with pytest.raises(ProtocolUnknown, match="this moot has no protocol 'tribunals'"):
        PROTOCOLS["tribunals"]
    assert PROTOCOLS.get("tribunals") is None
    opened = begin(tmp_path / "run", "tribunal").opened
    with pytest.raises(ProtocolUnknown, match="this moot has no protocol 'tribunals'") as later:
        protocol_of(replace(opened, protocol="tribunals"))
    said = explain(later.value)
    assert said is not None
    assert (said.code, said.exit_code) == ("protocol_unknown", 2)
    assert said.fix == "install moot 0.1.0, which wrote the run"
    assert moot("gate", "tribunals").code == 2


def test_the_state_of_a_run_is_that_of_its_last_event(tmp_path: Path) -> None:
    """R-20: also when somebody commits after it was read first."""
    session: RunSession = begin(tmp_path / "run", "single-pass")
    run = library.open_run(tmp_path / "run")
    first: State = run.state
    assert run.state is first  # read once while nothing is committed
    people.note(session, "One more thing.")
    assert run.state.seq == first.seq + 1
    assert [one.reason for one in run.state.amendments] == ["One more thing."]


def test_errors_of_other_layers_are_told_by_what_they_bring_and_not_by_their_names() -> None:
    """R-28: a class of another name with words is told, one of the old name without words is not."""

    class Renamed(Exception):
        what, fix, exit_code = "r1.B.critic: not open", "see `moot next`", 1

    class StepRefused(Exception):
        fix = "see `moot next`"

    said = explain(Renamed())
    assert said is not None
    assert (said.code, said.what, said.exit_code) == ("renamed", "r1.B.critic: not open", 1)
    assert explain(StepRefused()) is None


PAGE = Path(library.__file__).parents[1] / "docs" / "library.md"


def script() -> str:
    """The script of the page."""
    return PAGE.read_text("utf-8").partition("```python\n")[2].partition("```")[0]


def played(tmp_path: Path, text: str) -> tuple[dict[str, Any], Path]:
    """The names that the script leaves, run in an empty directory, and the run that it made."""
    left: dict[str, Any] = {}
    exec(compile(text, PAGE.name, "exec"), left)
    (path,) = (head.parent for head in (tmp_path / "runs").glob("*/head"))
    return left, path


@pytest.fixture
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MOOT_RUNS", raising=False)


def test_the_script_of_the_page_has_ten_lines_and_is_formatted() -> None:
    assert len([line for line in script().splitlines() if line.strip()]) == 10
    assert max(len(line) for line in script().splitlines()) <= 120


@pytest.mark.usefixtures("_alone")
def test_the_script_of_the_page_plays_a_whole_protocol(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, path = played(tmp_path, script())
    assert capsys.readouterr().out.startswith("ACT by the rule")
    run = library.open_run(path)
    assert run.state.finished
    assert (run.quorum.declared, run.quorum.actual) == (12, 12)
    assert library.check(path).ok


@pytest.mark.usefixtures("_alone")
def test_a_reply_that_is_refused_is_the_error_that_the_page_handles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = script().replace('"claim"', '"clam"')
    assert wrong != script()
    left, path = played(tmp_path, wrong)
    assert capsys.readouterr().out.startswith("Refused, nothing was written: ")
    assert len(library.open_run(path).state.answered) == 3  # the views; no challenge
    good: dict[str, Any] = {}
    exec(compile(script().partition("session =")[0], PAGE.name, "exec"), good)
    assert left["session"].play(good["seat"]).answer.startswith("ACT by the rule")


@pytest.mark.usefixtures("_alone")
def test_a_seat_function_without_an_answer_gives_its_step_up(tmp_path: Path) -> None:
    left, path = played(tmp_path, script().partition("try:")[0])

    def silent(step: library.OpenStep) -> dict[str, object]:
        if "challenge" in step.step:
            raise errors.SeatFailed("given_up", "no challenge comes to mind")
        answered: dict[str, object] = left["seat"](step)
        return answered

    left["session"].play(silent)
    run = library.open_run(path)
    assert run.state.finished
    assert run.quorum.kind == "degraded"
    assert run.quorum.told.startswith("6 of 12 requested replies accepted; given up: r2.challenge.")


def first_column(part: str) -> set[str]:
    """The names in the first cells of a table of the page."""
    cells = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`(\w+)", cell)}


def test_the_page_names_what_is_public_and_nothing_else() -> None:
    public, _, raised = PAGE.read_text("utf-8").partition("## What is there")[2].partition("## Errors")
    assert first_column(public) == set(library.__all__)
    assert all(getattr(library, name) is not None for name in library.__all__)
    assert first_column(raised) == {"MootError", *(set(dir(errors)) - set(vars(errors)))}
    assert all(issubclass(getattr(errors, name), Exception) for name in first_column(raised))


def test_a_session_takes_a_reply_as_bytes_text_or_object(tmp_path: Path) -> None:
    session = library.start(table("tribunal"), tmp_path / "run")
    first, second, third = session.open_steps()
    view = {"reasoning": "Nothing reads them – “none”.", "confidence": 80, "risk": 20}
    assert session.submit(first.step, view).accepted
    assert session.submit(second.step, json.dumps(view)).next == [third.step]
    done = session.submit(third.step, json.dumps(view).encode(), model="some-model-1", context_id="c3")
    assert session.submit(third.step, json.dumps(view).encode()).events == done.events  # the same bytes again
    with pytest.raises(errors.StepRefused, match="already answered"):
        session.submit(third.step, "{}")
    with pytest.raises(MootError, match="no context id"):
        session.submit(session.open_ids[0], "{}", context_id="mine")
    with pytest.raises(MootError, match="no role 'nobody'"):
        session.open_steps("nobody")


def test_a_run_is_forked_reported_and_gone_on_with(tmp_path: Path) -> None:
    session = library.start(table("tribunal"), tmp_path / "run")
    view = {"reasoning": "Nothing reads them.", "confidence": 80, "risk": 20}
    for step in session.open_steps():
        session.submit(step.step, view)
    branch = library.fork(session.path, 2, tmp_path / "branch")
    assert branch.open_ids == session.open_ids
    assert library.resume(branch.path, "host").state.life == "running"
    assert library.report(session.path).startswith("# ")
    assert library.diff(session.path, branch.path).same is False
    assert library.gate("Rename a local variable").protocol in {
        one.name for one in library.protocols().protocols
    }
