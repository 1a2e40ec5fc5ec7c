"""What a run cost, by role, phase and round: against sums made the slow way."""

from __future__ import annotations

import msgspec
import pytest

from ledger.events import Call
from ledger.events.envelope import Attempt
from ledger.state.book import Book, GrowingBook
from ledger.state.fold import add_call
from ledger.state.state import Spend
from ledger.store.blobs import BlobStore
from moot.view.seats import WHOLE, costs_of, dollars
from tests.ledger import samples
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
                assert cell.unpriced == sum(
                    max(1, len(one.attempts)) * (one.cost_usd is None) for one in calls
                )
    assert sum(one.calls for one in found.rounds.values()) == found.whole.calls


def test_a_repaired_reply_without_a_price_is_not_told_as_free() -> None:
    call = samples.statement().call
    assert call is not None
    tries = tuple(
        Attempt(
            n=n,
            brief=call.brief,
            reply=None,
            error=None,
            stop_reason=None,
            tokens_in=None,
            tokens_out=None,
            cost_usd=None,
            latency_ms=None,
        )
        for n in (1, 2)
    )
    spend = Spend()
    add_call(spend, msgspec.structs.replace(call, attempts=tries, cost_usd=None))
    assert (spend.calls, spend.unpriced, spend.usd, dollars(spend)) == (2, 2, None, "cost unknown")
