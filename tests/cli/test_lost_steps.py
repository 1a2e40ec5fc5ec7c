"""Runs that ended with a step given up by hand: the last `submit`, the verbs that look, and the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.api import open_run
from rounds.run.session import RunSession
from tests.cli.conftest import Moot, Said
from tests.protocols.playing import begin
from tests.protocols.scripts import reply

FIRST = "UNANSWERED: 0 of 1 requested reply accepted; no reply answered what decides"


def test_the_last_submit_of_a_run_that_nobody_answered(moot: Moot, tmp_path: Path) -> None:
    """R-2: the only step is given up by hand, and the run does not end well."""
    begin(tmp_path / "run", "jugalbandi")
    said = moot("submit", tmp_path / "run", "r1.plan.proposer", "--give-up", "nobody plans")
    assert said.code == 5
    assert said.out.splitlines()[1].startswith(FIRST)
    assert said.out.endswith("the run is finished\n")
    for verb in ("status", "decisions", "check"):
        looked = moot(verb, tmp_path / "run")
        assert (looked.code, looked.out.startswith(FIRST)) == (0, True), verb
    report = moot("report", tmp_path / "run")
    assert report.code == 0
    assert report.out.index("**UNANSWERED** 0 of 1 requested reply ") < report.out.index("## ")
    assert open_run(tmp_path / "run").quorum.kind == "unanswered"


def test_giving_up_is_accepted_while_the_run_goes_on_and_counts_at_its_end(
    moot: Moot, tmp_path: Path
) -> None:
    """R-2: 0 in the middle; 5 for the submit that ends the run, for the same bytes again, and in its JSON."""
    session = begin(tmp_path / "run", "adversarial")
    given_up = moot("submit", tmp_path / "run", "r1.attack.challenger", "--give-up", "no time", "--json")
    assert (given_up.code, given_up.json["quorum"]["kind"]) == (0, "degraded")
    case, verdict = "r1.case.advocate", "r1.verdict.judge"
    said = [submitted(moot, session, step) for step in (case, verdict, verdict)]
    assert [one.code for one in said] == [0, 5, 5]
    for one in said[1:]:
        outcome = one.json["quorum"]
        assert (one.json["accepted"], outcome["kind"]) == (True, "degraded")
        assert outcome["told"].startswith(
            "2 of 3 requested replies accepted; given up: r1.attack.challenger ("
        )
        assert [one["decides"] for one in outcome["lost"]] == [False]


def submitted(moot: Moot, session: RunSession, step: str) -> Said:
    """A scripted reply handed in; an answered step gets the bytes that it was answered with."""
    asked = next((one for one in session.pending() if one.step.id == step), None)
    file = session.run.path.parent / f"{step}.json"
    if asked is not None:
        file.write_bytes(reply(session.book(), asked.step, asked.brief.saw))
    return moot("submit", session.run.path, step, file, "--json")


def test_a_run_that_lost_nothing_ends_well(moot: Moot, tmp_path: Path) -> None:
    """R-2: its quorum stands first all the same."""
    session = begin(tmp_path / "run", "single-pass")
    (asked,) = session.pending()
    (tmp_path / "reply.json").write_bytes(reply(session.book(), asked.step, asked.brief.saw))
    said = moot("submit", tmp_path / "run", asked.step.id, tmp_path / "reply.json")
    assert said.code == 0
    assert "\nquorum: 1 of 1 requested reply accepted\n" in said.out
    assert "; 1 of 1 requested reply accepted" in " ".join(moot("decisions", tmp_path / "run").out.split())


def test_a_run_that_no_seat_answered_says_that_it_was_stopped_and_why(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-2: it said nothing, and `0 of 0 steps were answered` as if that were a count."""
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")
    call = ("run", "-q", "Which?", "--protocol", "debate", "--seats", "command:false", "--out", "run")
    assert moot(*call).code == 5
    for verb in ("status", "decisions"):
        assert moot(verb, "run").out.startswith("Which?\nSTOPPED: a seat failed for good; r1.opening."), verb
        assert moot(verb, "run", "--json").json["quorum"]["told"] == "no step was answered yet"
