"""FM-1 from sealed answers: agreement that no test earned is never plain clear, in `crux` and in `structured`."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp

import pytest

from benchmarks.signal_worlds.ledgers import Setting, Simulation
from detectors.signals import signals
from ledger.interchange.skill_import import read_skill
from ledger.state.book import Book, book
from moot.api import open_run
from moot.view.outcome import outcome_of
from moot.view.stop_checks import because
from roles.protocol import Step
from tests.long_run import long_run
from tests.protocols import crux_seats
from tests.protocols.crux_seats import ROLES, World, contested, varied
from tests.protocols.playing import played
from tests.protocols.test_answers import Examiner, begin
from tests.render.test_report import NoBlobs
from tests.rounds.openings import play
from tests.slowly import mostly_slow
from tests.view.test_without import until

WITHHELD = "so this is no all-clear"


class Agreeing(Examiner):
    """Every role seals the same answer in every round, and every check that applies comes out ROBUST."""

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        made = json.loads(super().reply(book, step, saw))
        if step.task.startswith("E.check") and made["result"] != "NOT_APPLICABLE":
            made["result"] = "ROBUST"
            made["claims"] = [one | {"bearing": "supports"} for one in made["claims"]]
        return json.dumps(made).encode()


@cache
def agreeing(plan: str) -> Book:
    session = begin(Path(mkdtemp()) / "run", plan=plan)
    play(session, Agreeing(4))
    return session.book()


def trust(book: Book) -> str:
    return outcome_of("run", book).trust


@pytest.mark.parametrize("plan", mostly_slow(["short-5", "minimum-8"], quick=1))
def test_a_structured_run_that_agrees_and_finds_nothing_is_never_ready_nor_clear(plan: str) -> None:
    run = agreeing(plan)
    for look in run.state.looks:
        found = signals(run, "gates", look.seq)
        assert not found.ready
        assert next(one for one in found.alarms if one.id == "FM-1").verdict != "CLEAR"
    assert "roles give in (FM-1)" in because(signals(run, "gates"))
    assert "open alarms: roles give in (FM-1)" in trust(run)
    assert outcome_of("run", run).status != "decide"


def test_before_the_panel_has_enough_to_alarm_the_outcome_withholds_it(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    script = Agreeing(4)
    assert until(session, script, "D", None)
    assert WITHHELD not in trust(session.book())  # nobody has answered yet
    assert until(session, script, "B", None, round_=2)
    told = trust(session.book())
    assert "no open alarm; every role that answered put O-1 (" in told
    assert f" first in every sealed answer and no test found anything, {WITHHELD}" in told


def test_what_a_check_broke_is_a_finding() -> None:
    session = begin(Path(mkdtemp()) / "run")
    play(session, Examiner(4))
    run = session.book()
    assert {dict(one.points)["O-1"] for one in run.state.beliefs.values()} == {80}  # they agree all the same
    assert WITHHELD not in trust(run)


@pytest.mark.parametrize("run_of", [long_run, partial(played, "debate")], ids=["differed", "sealed nothing"])
def test_who_differed_or_sealed_nothing_is_not_said_to_agree(run_of: Callable[[], Path]) -> None:
    assert WITHHELD not in trust(open_run(run_of()).book)


@pytest.mark.parametrize(
    ("world", "told"),
    [
        (World(first=dict.fromkeys(ROLES, 87)), "nothing was tested"),
        (contested("document"), None),
        (varied(contested("document"), document="not_settled"), "no test found anything"),
        (World(first={**dict.fromkeys(ROLES, 60), "critic": 40}), None),
        (World(first={**dict.fromkeys(ROLES, 60), "critic": 50}), None),
        (World(first=dict.fromkeys(ROLES, 95)), None),  # one role answered: there was nobody to agree
    ],
)
def test_scripted_runs_of_cruxes(tmp_path: Path, world: World, told: str | None) -> None:
    run = crux_seats.play(crux_seats.begin(tmp_path / "run", {"wait": "off"}), world)
    found = trust(run)
    assert (WITHHELD in found) == (told is not None)
    assert (
        told is None
        or f"every role that answered put O-1 (three streams) first in every sealed answer and {told}, "
        in found
    )


def test_an_import_was_not_watched() -> None:
    events = read_skill(Simulation(Setting(seed=1)).files(), None).events
    assert "no failure mode was looked for as it ran" in trust(book(events, NoBlobs()))
