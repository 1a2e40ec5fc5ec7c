"""Questions to a person: merged where one asks what another asks, in any script; two recorded runs, read by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from ledger.events import Concern
from moot.api import open_run
from moot.view.questions import SHOWN, asked_of_you
from rounds.run.same_question import covers

EXAMPLES: Final = Path(__file__).resolve().parents[2] / "runs" / "examples"
SAME: Final = (
    ("Who runs R1, R3 and R7, on which file systems, and by when?", "WHO RUNS R1 AND R3, AND BY WHEN?"),
    ("Öffnet die Ausleihe gesperrte Karten am Montag?", "ÖFFNET DIE AUSLEIHE GESPERRTE KARTEN?"),
    ("Кто запускает проверку на втором сервере, и когда?", "КТО запускает проверку на втором сервере?"),
    ("这台服务器的备份由谁负责，什么时候做？", "这台服务器的备份由谁负责？"),
    ("Ποιος πληρώνει τις κάρτες των μελών φέτος;", "ΠΟΙΟΣ ΠΛΗΡΏΝΕΙ τις κάρτες των μελών;"),
)  # fmt: skip
OTHER: Final = (
    ("Is a fine under 10.00 waived for every card?", "Is a fine under 12.00 waived for every card?"),
    ("Who runs R1, and by when?", "Who runs R2, and by when?"),
    ("Does the desk take part payments?", "Does the desk take part payments, and who pays the postage of letters?"),
    ("这台服务器的备份由谁负责？", "那些读者的罚款由谁支付？"),
    ("Кто платит за карты?", "Кто запускает проверку на втором сервере?"),
    ("Why?", "When?"),
)  # fmt: skip
READ: Final = {
    "storage-standard-13": [
        ["N-13-12"],
        ["N-13-11", "N-12-6", "N-8-11", "N-4-13"],  # who runs R1, R3 and R7, and by when
        ["N-12-7"],
        ["N-11-10"],
    ],
    "library-minimum-8": [
        ["N-7-16"],
        ["N-7-15"],  # N-6-10 asks this and more: it stays a question of its own
        ["N-7-14"],  # N-5-11 names 9.99 and not "under 10.00": it is not merged by its words alone
        ["N-6-11", "N-5-12"],  # how many of the 870 cards stand under 12.00 and 20.00
    ],
}
"""Run → the questions that are shown, with what each stands for, as somebody read them."""


@pytest.mark.parametrize(("newer", "older"), SAME)
def test_the_same_question_in_any_script_is_one(newer: str, older: str) -> None:
    assert covers(newer, older)


@pytest.mark.parametrize(("newer", "older"), OTHER)
def test_another_number_name_or_thing_is_another_question(newer: str, older: str) -> None:
    assert not covers(newer, older)


@pytest.mark.parametrize("name", sorted(READ))
def test_a_recorded_run_asks_at_most_five_and_merges_only_what_is_the_same(name: str) -> None:
    book = open_run(EXAMPLES / name).book
    found = asked_of_you("run", book)
    assert len(found) <= SHOWN
    assert [one.ids for one in found[:-1]] == READ[name]
    assert all(one.command == f"moot answer run {one.ids[0]} 'TEXT'" for one in found[:-1])
    asked = {str(one.id) for one in book.of(Concern) if one.for_human} - book.state.resolved
    told = [identity for one in found for identity in one.ids]
    assert sorted(told) == sorted(asked)  # each is somewhere, and once
    assert found[-1].text == f"{len(found[-1].ids)} older questions."


def test_every_recorded_run_keeps_to_five() -> None:
    for path in sorted(EXAMPLES.iterdir()):
        if path.is_dir():
            assert len(asked_of_you(path.name, open_run(path).book)) <= SHOWN
