"""What briefs of one ledger share saves work and changes nothing."""

from __future__ import annotations

import pytest

from ledger.state.book import Book, book
from roles.brief import BriefCache, derive
from roles.protocol import Step, open_steps
from rounds.protocols.structured import STRUCTURED
from tests.roles.runs import installed, run, step_of, steps_of_run


def asked() -> list[tuple[Book, Step]]:
    """Every step of the run in the order of asking, with the book that it was asked with."""
    ledger = run()
    found = [(ledger.events[: ledger.state.answered[step]], step) for step in steps_of_run()]
    return [(book(events, ledger.blobs), step_of(ledger, step)) for events, step in found]


def test_briefs_with_a_memo_are_those_derived_alone() -> None:
    memo = BriefCache()
    for ledger, step in asked():
        assert derive(ledger, STRUCTURED, step, installed(), memo) == derive(
            ledger, STRUCTURED, step, installed()
        )


@pytest.mark.parametrize("backwards", [False, True])
def test_the_whole_ledger_may_keep_one_memo_in_any_order_of_groups(backwards: bool) -> None:
    memo, ledger = BriefCache(), run()
    steps = [step_of(ledger, step) for step in steps_of_run()]
    for step in reversed(steps) if backwards else steps:
        alone = derive(ledger, STRUCTURED, step, installed())
        assert derive(ledger, STRUCTURED, step, installed(), memo) == alone


def test_siblings_share_their_blocks() -> None:
    ledger, memo = run(), BriefCache()
    first = next(
        place for place, (book_, _) in enumerate(asked()) if len(open_steps(STRUCTURED, book_.state)) > 1
    )
    book_, _ = asked()[first]
    one, other, *_ = (
        derive(book_, STRUCTURED, step, installed(), memo) for step in open_steps(STRUCTURED, book_.state)
    )
    kept = {id(block) for block in one.blocks} & {id(block) for block in other.blocks}
    assert len(kept) >= len(one.blocks) - 2, "only the role and the task are a step's own"
    assert ledger.events[: len(book_.events)] == book_.events
