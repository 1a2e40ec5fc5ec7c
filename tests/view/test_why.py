"""`why`: every node once, within 60 lines for every final decision; `show`: one thing in words."""

from __future__ import annotations

import pytest

from ledger.events import Belief, Claim, Decision, Verification
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from moot.api import open_run
from moot.view.show import LINES, show_of, show_text, why_of, why_text
from rounds.protocols import PROTOCOLS
from tests.long_run import long_run
from tests.protocols.playing import played
from tests.recorded import recorded_names, run_of


def book(name: str) -> Book:
    return open_run(run_of(name)).book


@pytest.fixture(scope="module")
def long() -> Book:
    return open_run(long_run()).book


def last_final(long: Book) -> str:
    """Return the final decision that builds on an earlier one."""
    return final_in_force(long.state)[-1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_there_are_final_decisions_to_explain(protocol: str) -> None:
    path = long_run() if protocol == "structured" else played(protocol)
    finals = final_in_force(open_run(path).book.state)
    assert bool(finals) == (protocol != "council")


@pytest.mark.parametrize("name", recorded_names())
def test_the_tree_of_a_final_decision_is_short_and_tells_each_node_once(name: str) -> None:
    for identity in final_in_force(book(name).state):
        found = why_of(name, book(name), identity)
        assert len(why_text(found).splitlines()) <= LINES
        told = [node.id for node in found.nodes if not node.again]
        assert len(told) == len(set(told))
        assert all(node.id in told for node in found.nodes if node.again)
        assert max(node.depth for node in found.nodes) <= 3


def test_all_of_it_has_every_node_once_and_every_quote(long: Book) -> None:
    part = why_of("run", long, last_final(long))
    whole = why_of("run", long, last_final(long), everything=True)
    told = [node.id for node in whole.nodes if not node.again]
    assert len(told) == len(set(told)) > len(part.nodes)
    assert sum(node.below for node in part.nodes) > 0 == sum(node.below for node in whole.nodes)
    assert "--all" in why_text(part)
    assert "--all" not in why_text(whole, everything=True)


def test_lines_keep_to_the_width(long: Book) -> None:
    found = why_of("r", long, final_in_force(long.state)[0])
    for width in (60, 200):
        assert max(map(len, why_text(found, width).splitlines())) <= width


def test_a_claim_is_shown_with_its_life_and_what_names_it(long: Book) -> None:
    """The claim was never tested before the closing resolved it."""
    resolved = [one for one in long.of(Verification) if one.check == "synthesis_resolution"]
    verdict = next(one for one in resolved if len(long.state.claims[one.claims_affected[0]].moves) == 1)
    claim = long.by_id[verdict.claims_affected[0]]
    assert isinstance(claim, Claim)
    found = show_of("run", long, claim)
    assert (found.kind, found.by, found.standing) == ("claim", claim.raised_by, "? unclear (argued)")
    assert [one for one in found.history if not one.startswith("took ")] == [
        f"○ pending → ? unclear (argued) in {verdict.id}"
    ]
    citing = [one for one in long.of(Decision) if claim.id in [cite.id for cite in one.cites]]
    assert found.named_by == [one.id for one in sorted([verdict, *citing], key=lambda event: event.seq)]
    assert "testable as:" in show_text(found)


def test_a_decision_says_what_would_show_it_wrong(long: Book) -> None:
    for decision in long.of(Decision):
        if decision.type in ("round", "final"):
            assert show_of("run", long, decision).says["would show it wrong"] == list(decision.falsifiers)


def test_a_claim_says_what_its_replies_took(long: Book) -> None:
    """Raised in one reply and tested in another; what is unknown says so."""
    claim = next(one for one, facts in long.state.claims.items() if len(facts.moves) == 1)
    shown = show_of("run", long, long.by_id[claim])
    (line,) = [one for one in shown.history if one.startswith("took ")]
    assert line.startswith("took 2 replies whole (@")
    assert line.endswith("tokens unknown, cost unknown")


def test_a_forecast_under_a_decision_has_its_numbers_before_and_after_the_tests() -> None:
    crux = book("crux-hook")
    told = why_text(why_of("run", crux, "D-2-1"))
    for role in ("action", "guardian", "observer", "critic"):
        before, after = crux.by_id[f"B-1-{role}~3"], crux.by_id[f"B-1-{role}~4"]
        assert isinstance(before, Belief)
        assert isinstance(after, Belief)
        moved = f"O-3 {before.points['O-3']}% → {after.points['O-3']}%, "
        assert f"based on: B-1-{role}~4 forecast, {role}: {moved}" in told
        assert f"based on: B-1-{role}~3 forecast, {role}: O-2 {before.points['O-2']}%, " in told
