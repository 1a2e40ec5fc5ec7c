"""`why`: every node once, within 60 lines for every final decision; `show`: one thing in words."""

from __future__ import annotations

import pytest

from ledger.state.book import Book
from ledger.state.decided import final_in_force
from moot.api import open_run
from moot.view.show import show_of, show_text
from moot.view.why import LINES, why_of, why_text
from tests.recorded import EXAMPLES, ONE_PER_PROTOCOL, recorded_names


def book(name: str) -> Book:
    return open_run(EXAMPLES / name).book


def test_there_are_final_decisions_to_explain() -> None:
    assert sum(len(final_in_force(book(name).state)) for name in ONE_PER_PROTOCOL) > 12


@pytest.mark.parametrize("name", recorded_names())
def test_the_tree_of_a_final_decision_is_short_and_tells_each_node_once(name: str) -> None:
    for identity in final_in_force(book(name).state):
        found = why_of(name, book(name), identity)
        assert len(why_text(found).splitlines()) <= LINES
        told = [node.id for node in found.nodes if not node.again]
        assert len(told) == len(set(told))
        assert all(node.id in told for node in found.nodes if node.again)
        assert max(node.depth for node in found.nodes) <= 3


def test_all_of_it_has_every_node_once_and_every_quote() -> None:
    part = why_of("run", book("storage-minimum-8"), "D-8-1")
    whole = why_of("run", book("storage-minimum-8"), "D-8-1", everything=True)
    told = [node.id for node in whole.nodes if not node.again]
    assert len(told) == len(set(told)) > len(part.nodes)
    assert sum(node.below for node in part.nodes) > 0 == sum(node.below for node in whole.nodes)
    assert "--all" in why_text(part)
    assert "--all" not in why_text(whole, everything=True)


def test_lines_keep_to_the_width() -> None:
    found = why_of("r", book("library-minimum-8"), "D-8-1")
    for width in (60, 200):
        assert max(map(len, why_text(found, width).splitlines())) <= width


def test_a_claim_is_shown_with_its_life_and_what_names_it() -> None:
    ours = book("storage-minimum-8")
    found = show_of("run", ours, ours.by_id["C-4-1"])
    assert (found.kind, found.by, found.standing) == ("claim", "action", "? unclear")
    assert [one for one in found.history if not one.startswith("took ")] == [
        "○ pending → ? unclear, read by verifier in V-8-48"
    ]
    assert found.named_by == ["V-8-48", "D-8-1", "D-8-4"]
    assert "testable as:" in show_text(found)


def test_what_had_expected_another_verdict_is_not_called_dissent() -> None:
    ours = book("library-minimum-8")
    says = show_of("run", ours, ours.by_id["D-8-1"]).says
    assert "dissent" not in says
    assert says["had expected another verdict"] == ["observer (P-1-1-observer)"]
    assert len(says["would show it wrong"]) == 3


def test_a_claim_says_what_its_replies_took() -> None:
    """Raised in one reply and tested in another; what is unknown says so."""
    shown = show_of("run", (book := open_run(EXAMPLES / "library-minimum-8").book), book.by_id["C-1-1"])
    (line,) = [one for one in shown.history if one.startswith("took ")]
    assert line.startswith("took 2 replies whole (@")
    assert line.endswith("tokens unknown, cost unknown")
