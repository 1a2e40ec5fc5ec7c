"""The gate: flags before triggers before words, reasons named, the route a decision on the ledger (AD-2, AD-9)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from ledger.events import Decision
from rounds.protocols import FOR_A_QUESTION, PROTOCOLS
from rounds.run.session import start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.gate import GateQuestion, GateRefused, gate
from rounds.setup.gate_cues import Route
from rounds.setup.opening import resolve
from rounds.setup.toml_file import DeliberationError
from tests.rounds.openings import clock
from validators import rulebook

QUESTIONS = Path(__file__).parent / "questions"


def labelled(name: str) -> list[tuple[tuple[str, ...], str]]:
    """(Routes that are right, the better first; what a person types), in the order of the file."""
    lines = (QUESTIONS / name).read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(tuple(routes.split("|")), text) for routes, text in rows]


def right(rows: list[tuple[tuple[str, ...], str]]) -> int:
    """How many are routed as labelled."""
    return sum(gate(GateQuestion(text)).route in routes for routes, text in rows)


def test_all_protocols_are_known() -> None:
    """R-23: it knew three of thirteen."""
    routed = set(PROTOCOLS) - {FOR_A_QUESTION}  # what a question is given to where nobody asks the gate
    assert set(get_args(Route)) == routed
    assert {route for routes, _ in labelled("gate.tsv") for route in routes} == routed


def test_labelled_questions_find_their_protocol() -> None:
    """R-23: half of the first set tuned the rules, the other half was held out; the second set tuned them again."""
    first = labelled("gate.tsv")
    assert len(first) == 178
    assert (right(first[0::2]), right(first[1::2])) == (89, 89)
    second = labelled("gate-second.tsv")
    assert (right(second), len(second)) == (73, 74)


def test_unseen_questions_find_it_less_often() -> None:
    """R-23: what to expect of words that nobody has thought of; docs/screening.md gives this figure."""
    unseen = labelled("gate-unseen.tsv")
    page = (Path(__file__).parents[2] / "docs" / "screening.md").read_text("utf-8")
    assert f"{right(unseen)} of {len(unseen)}" in page


def test_no_small_question_gets_a_full_deliberation() -> None:
    """R-23: "add a health check endpoint" went to 258 replies. The dear mistake is the one that is not made."""
    for name in ("gate.tsv", "gate-second.tsv", "gate-unseen.tsv"):
        for routes, text in labelled(name):
            assert gate(GateQuestion(text)).route != "structured" or "structured" in routes, text


@pytest.mark.parametrize("text", (QUESTIONS / "ordinary.txt").read_text("utf-8").splitlines())
def test_reasons_are_true_of_the_text(text: str) -> None:
    """R-23: every word that a reason quotes stands in the text."""
    for reason in gate(GateQuestion(text)).reasons:
        for quoted in re.findall(r"(?<=[ :])'(.*?)…?'(?=,|$)", reason.detail):
            assert (
                " ".join(quoted.replace("\\'", "'").split()).casefold() in " ".join(text.split()).casefold()
            )


def test_flags_beat_triggers_and_words() -> None:
    heavy = "Migrate the billing database with zero downtime"
    assert gate(GateQuestion(heavy, single=True, triggers=("billing",))).route == "single-pass"
    assert gate(GateQuestion("What is this?", compete=True)).route == "jugalbandi"
    assert gate(GateQuestion("Should we move?", compete=True)).route == "debate"
    assert gate(GateQuestion("What is this?", triggers=("THIS",))).route == "jugalbandi"
    with pytest.raises(GateRefused):
        gate(GateQuestion(heavy, single=True, compete=True))


def test_every_reason_is_named() -> None:
    found = gate(GateQuestion("Choose a payment provider", options=("a", "b"), triggers=("payment",)))
    assert found.route == "comparative"
    assert [reason.name for reason in found.reasons] == ["trigger", "options", "stakes"]
    assert all(reason.detail for reason in found.reasons)


def test_a_route_is_a_decision_of_the_run(tmp_path: Path) -> None:
    table = {"deliberation": {"question": "Build a login page"}, "gate": {"triggers": ["login"]}}
    opening = resolve(checked(table), {}, moot="0.1.0")
    session = start(
        tmp_path / "run",
        opening.event,
        blobs=opening.blobs,
        files={},
        verdicts=standard,
        clock=clock(),
        sync=False,
    )
    assert session.protocol.name == "jugalbandi"
    (decision,) = [event for event in session.book().events if isinstance(event, Decision)]
    assert (decision.type, decision.made_by, decision.cites[0].id) == ("gate", "rule", "@1")
    assert "trigger +3 (your trigger 'login' is in it)" in decision.text
    assert rulebook.check(session.book(), session.verdicts.context()).ok


def test_a_named_protocol_is_its_own_decision() -> None:
    table = {
        "deliberation": {"question": "Build a login page", "protocol": "debate"},
        "gate": {"compete": True},
    }
    opening = resolve(checked(table), {}, moot="0.1.0")
    assert opening.event.protocol == "debate"
    assert "gate_route" not in opening.event.rules


def test_contradicting_flags_in_a_file_are_refused() -> None:
    table = {"deliberation": {"question": "Build it"}, "gate": {"compete": True, "single": True}}
    with pytest.raises(DeliberationError, match="contradict"):
        resolve(checked(table), {}, moot="0.1.0")


def test_many_options_are_put_in_order_and_few_compared() -> None:
    """R-23: comparative compares two to four, so five go to priority."""
    assert gate(GateQuestion("Which one?", options=("a", "b"))).route == "comparative"
    assert gate(GateQuestion("Which one?", options=tuple("abcde"))).route == "priority"


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("Should we sell the building? It cannot be undone.", "debate"),
        ("Should we sell the building? It cannot be undone, and the trustees disagree.", "structured"),
        ("The trustees disagree: should we open on Mondays?", "debate"),
    ],
)
def test_one_sign_of_weight_is_not_enough(text: str, route: str) -> None:
    """R-23: full deliberation is for what is weighty."""
    assert gate(GateQuestion(text)).route == route


@pytest.mark.parametrize(
    "text",
    [
        "Delete all users who have not logged in for a year",
        "remove the old backup files",
        "delete the customers table",
        "clean up our customer accounts",
        "please delete my git history",
        "wipe the test data",
    ],
)
def test_what_is_dear_to_undo_is_no_chore(text: str) -> None:
    """R-23: deleting users was "a small act that is taken back as easily as done"."""
    found = gate(GateQuestion(text))
    assert found.route != "single-pass"
    assert "undo" in [reason.name for reason in found.reasons]


@pytest.mark.parametrize("text", ["delete the unused variable", "delete the log line", "remove the old flag"])
def test_what_is_easily_undone_is_one(text: str) -> None:
    assert gate(GateQuestion(text)).route == "single-pass"
