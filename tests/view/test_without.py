"""On whom an answer hangs: computed by hand from sealed answers, said in the block, in the report and on its page."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from detectors.report import EndWithout
from ledger.state.book import Book
from moot.api import open_run, report
from moot.app.runs import Run
from moot.view.agreement import NOT_MEASURABLE
from moot.view.outcome import outcome_of
from moot.view.outcome_text import outcome_lines, outcome_markdown
from moot.web.report import report_html
from roles.protocol import Step
from roles.seats.port import Answer
from rounds.run.human_actions import override
from rounds.run.session import RunSession
from tests.cli.test_stress import Split
from tests.protocols.crux_seats import World, scripted_run
from tests.protocols.playing import played
from tests.protocols.test_answers import Examiner, begin
from tests.rounds.openings import play
from tests.rounds.scripted import Script

SPLIT = {
    "action": EndWithout("none", True),  # (45 + 45 + 45) / 3 against (55 + 55 + 55) / 3
    "guardian": EndWithout("stands", False),  # (100 + 45 + 45) / 3 against (0 + 55 + 55) / 3
    "observer": EndWithout("stands", False),
    "critic": EndWithout("stands", False),
}


@cache
def split() -> Run:
    path = Path(mkdtemp()) / "run"
    play(begin(path, ()), Split())
    return open_run(path)


class Naming(Examiner):
    """The lead's decisions name the option that all sealed answers prefer."""

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        made = json.loads(super().reply(book, step, saw))
        for decision in made.get("decisions", ()):
            decision["about"] = ["O-1"]
        return json.dumps(made).encode()


@cache
def agreed(script: type[Examiner] = Naming) -> Run:
    path = Path(mkdtemp()) / "run"
    play(begin(path), script(4))
    return open_run(path)


def test_an_answer_that_one_role_carries_says_which_and_what_would_lead_instead() -> None:
    found = outcome_of("run", split().book)
    assert found.without == SPLIT
    assert found.hangs_on == "action: without it another answer would lead"
    assert "depends on  action: without it another answer would lead" in outcome_lines(found, "run")
    assert "**Depends on.** action: without it another answer would lead" in list(outcome_markdown(found))


def test_an_answer_that_hangs_on_nobody_says_so() -> None:
    found = outcome_of("run", agreed().book)
    assert set(found.without.values()) == {EndWithout("O-1", False)}
    assert (
        found.hangs_on
        == "no single role's sealed answer: without any one of them the answer would be the same"
    )
    # The lead alone decides, and its decision names no option: sealed answers for one say nothing of it.
    assert outcome_of("run", agreed(Examiner).book).hangs_on is None


def test_the_report_has_a_table_of_it() -> None:
    section = report(split()).partition("## Without each role\n\n")[2].partition("\n## ")[0].splitlines()
    assert section[2:6] == [
        "| action | another answer | 10 | another one leads |",
        "| guardian | the answer as it stands | 26.7 | the same |",
        "| observer | the answer as it stands | 26.7 | the same |",
        "| critic | the answer as it stands | 26.7 | the same |",
    ]
    assert "no reply was spent on it" in section[-1]
    page = " ".join(re.sub(r"<[^>]+>", " ", page_of(split())).split())
    assert "Depends on action: without it another answer would lead." in page
    assert "action another answer 10 another one leads guardian the answer as it stands 26.7 the same" in page


def test_forecasts_say_it_of_a_run_of_cruxes(tmp_path: Path) -> None:
    first = {"action": 90, "guardian": 50, "observer": 50, "critic": 20}
    scripted_run(tmp_path / "run", World(first=first))
    run = open_run(tmp_path / "run")
    found = outcome_of("run", run.book)
    assert found.hangs_on is not None
    assert found.hangs_on.startswith("action: without it O-2 would lead; critic: without it")
    assert {role: one.changes for role, one in found.without.items()} == {
        "action": True, "guardian": False, "observer": False, "critic": True,
    }  # fmt: skip
    assert "Without each role" not in report(run)


def test_without_sealed_answers_the_block_is_silent_and_the_report_says_why(tmp_path: Path) -> None:
    play(begin(tmp_path / "run", positions="off"), Examiner(4))
    run = open_run(tmp_path / "run")
    found = outcome_of("run", run.book)
    assert (found.hangs_on, found.without) == (None, {})
    assert not [line for line in outcome_lines(found, "run") if line.startswith("depends on")]
    assert f"## Without each role\n\n{NOT_MEASURABLE}\n" in report(run)
    assert NOT_MEASURABLE in page_of(run)
    assert NOT_MEASURABLE not in report(open_run(played("debate")))


def test_a_person_who_decided_hangs_on_no_role(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", ())
    play(session, Split())
    final = outcome_of("run", session.book()).status
    assert final == "run_this_first"
    last = [event.id for event in session.book().of(type(session.book().by_id["D-1-1"]))][-1]
    override(session, str(last), "Build it.")
    found = outcome_of("run", session.book())
    assert found.hangs_on is None
    assert found.without == SPLIT


def test_of_answers_that_are_coming_in_nothing_is_told(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", ())
    script = Split()
    assert until(session, script, "E.belief", "guardian")
    assert [one.role for one in session.book().state.beliefs.values()] == ["action"]
    assert outcome_of("run", session.book()).without == {}
    assert until(session, script, "F", None)
    assert outcome_of("run", session.book()).without == SPLIT


def page_of(run: Run) -> str:
    return report_html(open_run(run.path))


def until(session: RunSession, script: Script, task: str, role: str | None, round_: int = 1) -> bool:
    """Answer step by step until one of that task, of that role, is the next in that round; False if none comes."""
    host = Answer(seat="host", isolation="trusted")
    for _ in range(200):
        for one in session.pending():
            there = one.step.name.round == round_ and role in (None, one.step.role)
            if there and one.step.task.startswith(task):
                return True
            session.submit(one.step.id, script.reply(session.book(), one.step, one.brief.saw), host)
            break
    return False
