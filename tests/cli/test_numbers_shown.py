"""R-17: what is shown of a run holds at every round: shares, counts, one report for status and signals."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from detectors.course import course
from detectors.observations import untested
from detectors.parameters import parameters_of
from detectors.signals import signals, signals_of_state
from detectors.stopping.gates import judge
from detectors.stopping.rounds import count_rounds
from ledger.state.fold import fold
from ledger.state.state import Spend, State
from moot.api import Run, open_run
from moot.view.seats import contexts_text, dollars, dollars_cell, seats_of
from moot.view.stop_checks import because, gates_held
from moot.view.story import tell
from tests.cli.conftest import Moot
from tests.recorded import LONG, NAMES, protocol_of, recorded_names, run_of

WATCHED = [*LONG, *(name for name in NAMES if protocol_of(run_of(name)) == "structured")]
PROFILES = ("published", "gates")
OF = re.compile(r"\b(\d+) of (\d+)\b")
PERCENT = re.compile(r"(\d+(?:\.\d+)?) ?%")


@pytest.fixture
def run(name: str) -> Path:
    """Return the directory of the run that a test is about."""
    return run_of(name)


def _rounds_of(run: Run) -> list[int]:
    """The last event of every round, and the head."""
    last = {event.round: event.seq for event in run.events}
    return sorted(set(last.values()))


def _counts_hold(text: str) -> None:
    for n, m in OF.findall(text):
        assert int(n) <= int(m), text
    for share in PERCENT.findall(text):
        assert 0 <= float(share) <= 100, text


@pytest.mark.parametrize("name", recorded_names(WATCHED))
@pytest.mark.parametrize("profile", PROFILES)
def test_every_share_lies_between_0_and_1_and_every_count_in_its_whole(run: Path, profile: str) -> None:
    ours = open_run(run)
    for seq in _rounds_of(ours):
        state = fold(ours.stream(seq))
        found = signals_of_state(state, profile, ours.blobs)
        assert found.satisfied == sum(one.satisfied for one in found.signals) <= found.of == 6
        assert found.quorum.actual <= found.quorum.declared
        _counts_hold(because(found))
        for signal in found.signals:
            _counts_hold(signal.detail)
            if signal.id == "S6" and signal.value is not None:
                assert 0 <= float(signal.value) <= 1
        for gate in found.gates:
            _counts_hold(gate.value or "")
        for alarm in found.alarms:
            _counts_hold(alarm.detail.split("; against it")[0])


@pytest.mark.parametrize("name", recorded_names(WATCHED))
def test_the_panel_has_each_number_once(run: Path) -> None:
    """The share by round that stands beside the gates ends in the number of the gate."""
    ours = open_run(run)
    for seq in _rounds_of(ours):
        state = fold(ours.stream(seq))
        parameters = parameters_of(state, ours.blobs)
        series = {one.name: one for one in course(state, parameters)}
        for one in series.values():
            for value in one.values:
                assert value is None or value >= 0
                assert value is None or not one.share or value <= 1
        rounds = len(count_rounds(state, parameters.bypass.references_at_least))
        if not rounds or any(claim.round > rounds for claim in state.claims.values()):
            continue
        gates = {gate.name: gate.value for gate in judge(state, parameters).gates}
        share = len(untested(state)) / len(state.claims)
        assert gates["untested"] == f"{share:.1%}"
        assert signals_of_state(state, "published").signals[5].value == str(round(share, 6)).removesuffix(
            ".0"
        )
        final = series["untested share"].values[-1]
        assert final is not None
        assert state.finished or f"{final:.1%}" == gates["untested"]


@pytest.mark.parametrize("name", recorded_names(WATCHED))
def test_what_the_closing_settles_was_not_tested(run: Path) -> None:
    """The untested share of a finished run is that of its last round, and no signal is won by relabelling."""
    ours = open_run(run)
    if not ours.state.finished:
        pytest.skip("it was left before its closing")
    closing = next(event.seq for event in ours.events if event.phase == "S")
    before, after = fold(ours.stream(closing - 1)), ours.state
    assert untested(before) == untested(after)
    for profile in PROFILES:
        counts = [signals_of_state(state, profile).signals[5] for state in (before, after)]
        assert counts[0] == counts[1]


@pytest.mark.parametrize("name", recorded_names(WATCHED))
def test_status_says_what_signals_says(moot: Moot, run: Path) -> None:
    """R-17: status said 3 of 6, continue, and signals 4 of 6, stop."""
    status = moot("status", run, "--json").json["stop"]
    found = moot("signals", run, "--json").json
    for name in ("profile", "round", "satisfied", "of", "stop", "advice"):
        assert status[name] == found[name]
    assert status["through"] == found["at"]
    said = re.sub(r"\s+", " ", moot("status", run).out)
    held = gates_held(signals(open_run(run).book, status["profile"]))
    assert f"{held} hold ({found['profile']})" in said
    _counts_hold(said)


@pytest.mark.parametrize("name", recorded_names())
def test_disagreement_is_of_the_checks_that_applied(run: Path) -> None:
    """R-17: "disagreement 18 of 2": what the closing settled stood among the checks of the round."""
    for told in tell(open_run(run).book).rounds:
        assert told.disagreement <= told.applied <= 4


@pytest.mark.parametrize("name", recorded_names())
def test_what_nobody_knows_is_not_nothing(moot: Moot, run: Path) -> None:
    """R-17: `0.000000 USD` for an unknown cost, and "each fresh" where replies named no context."""
    ours = open_run(run)
    said = moot("status", run, "--json").json
    for cost in (said["spend"], *said["spend_parts"]):
        assert (cost["usd"] is None) == (cost["calls"] > 0 and cost["unpriced"] >= cost["calls"])
    for seat in seats_of(ours.book):
        for one in seat.fillings:
            assert ("each fresh" in contexts_text(one)) == (one.contexts == one.calls and not one.continued)
            assert ("unknown" in dollars_cell(one)) == (one.unpriced > 0)
            assert one.contexts <= one.calls - one.unnamed
    if ours.state.spend.unpriced:
        assert "0.00" not in dollars(ours.state.spend)
    compared = moot("diff", run, run).out
    assert "0.000000 USD" not in compared
    assert " 0 tokens in" not in compared


def test_contexts_are_counted_of_replies_that_named_one() -> None:
    """R-17: "contexts 1, each fresh" where three of four replies named none."""

    def told(calls: int, contexts: int, unnamed: int, continued: int) -> str:
        filling = SimpleNamespace(calls=calls, contexts=contexts, unnamed=unnamed, continued=continued)
        return contexts_text(filling)  # type: ignore[arg-type]

    assert told(4, 1, 3, 0) == "1, 3 of 4 replies name none"
    assert told(4, 4, 0, 0) == "4, each fresh"
    assert told(4, 1, 0, 3) == "1, 3 of them in a continued one"
    assert told(4, 2, 0, 0) == "2, used by 4 replies"
    assert told(4, 0, 4, 0) == "not named"


def test_costs_in_words() -> None:
    assert dollars(Spend(calls=3, unpriced=3)) == "cost unknown"
    assert dollars(Spend(calls=3, micro_usd=420_000, unpriced=1)) == "$0.42, 1 of unknown cost"
    assert dollars(Spend(calls=3)) == "$0.00"
    assert dollars_cell(Spend(calls=3, micro_usd=420_000, unpriced=1)) == "0.4200 and 1 unknown"
    assert (Spend().usd, Spend(calls=1, unpriced=1).usd, Spend(calls=1).usd) == ("0.000000", None, "0.000000")


def test_nothing_yet_is_no_share() -> None:
    assert untested(State()) == ()


def test_the_report_of_a_run_says_no_such_number(moot: Moot, tmp_path: Path) -> None:
    for run in map(run_of, WATCHED):
        out = tmp_path / f"{run.name}.md"
        moot("report", run, "--out", out)
        for line in out.read_text().splitlines():
            if line.startswith(("| R", "- ✓", "- ✗", "At the end")):
                _counts_hold(re.sub(r"`[^`]*`", "", line))
