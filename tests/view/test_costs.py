"""What a run cost, by role, phase and round, and for one claim or decision: against sums made the slow way."""

from __future__ import annotations

import pytest

from ledger.events import Call
from ledger.state.book import Book, GrowingBook
from ledger.state.decided import in_force
from ledger.store.blobs import BlobStore
from moot.api import open_run
from moot.view.seats import WHOLE, costs_of
from tests.long_run import long_run
from tests.render.sample import sample


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Book:
    growing = GrowingBook(BlobStore(tmp_path_factory.mktemp("none")))
    growing.take(tuple(sample().events))
    return growing.book()


def _calls(book: Book, role: str = WHOLE, phase: str = WHOLE) -> list[Call]:
    return [
        one.call
        for one in book.events
        if one.call is not None and role in (WHOLE, one.by) and phase in (WHOLE, one.phase)
    ]


def test_every_cell_is_the_sum_of_its_calls(book: Book) -> None:
    found = costs_of(book)
    assert found.whole.calls > 0
    for role in (*found.roles, WHOLE):
        for phase in (*found.phases, WHOLE):
            calls = _calls(book, role, phase)
            cell = found.cells.get((role, phase))
            assert (cell is None) == (not calls)
            if cell is not None:
                assert cell.calls == sum(max(1, len(one.attempts)) for one in calls)
                assert cell.tokens_in == sum(one.tokens_in or 0 for one in calls)
                assert cell.unpriced == sum(one.cost_usd is None for one in calls)
    assert sum(one.calls for one in found.rounds.values()) == found.whole.calls


def test_what_one_thing_cost_is_the_whole_divided() -> None:
    run = open_run(long_run())
    found = costs_of(run.book)
    each = {one.noun: one for one in found.each}
    assert each["reply"].calls == 1
    claims = len(run.state.claims)
    assert each["claim raised"].number == claims
    assert each["claim raised"].calls == pytest.approx(found.whole.calls / claims)
    decided = [one for one in in_force(run.state) if run.state.decisions[one].rank != "answer"]
    assert each["decision in force"].number == len(decided)
    assert each["claim settled"].number < claims
    assert each["reply"].usd is None  # no seat said what it cost: never nought
    assert not found.known
