"""The story: the same facts for every view, each traceable to the ledger."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledger.events import Decision, RoundOpened, Verification
from ledger.events.decisions import Cite
from ledger.state.book import book
from moot.view.grounds import Ground, Quote
from moot.view.seats import filled_by
from moot.view.story import Story, tell
from tests.render.sample import MODEL, Blobs, sample, sample_book


@pytest.fixture(scope="module")
def story() -> Story:
    """The whole sample."""
    return tell(sample_book())


def test_labels_stand_in_order_of_gravity(story: Story) -> None:
    assert [label.kind for label in story.labels] == ["DEGRADED", "ALARM"]
    early = tell(sample_book(10))
    assert [label.kind for label in early.labels] == ["UNFINISHED"]


def test_seats_say_what_answered(story: Story) -> None:
    seats = {seat.role: seat for seat in story.seats}
    assert [filled_by(one) for one in seats["critic"].fillings] == [f"host: {MODEL} (trusted)"]
    assert seats["observer"].lost == 1
    assert seats["verifier"].fillings[0].calls == 4
    assert seats["verifier"].fillings[0].micro_usd == 6_000


def leaves(ground: Ground) -> list[Quote]:
    """All quotes below a ground."""
    return [*ground.quotes, *ground.pooled, *(quote for under in ground.under for quote in leaves(under))]


def test_every_final_decision_reaches_a_quote_that_holds(story: Story) -> None:
    for decision in story.outcome:
        quotes = [quote for ground in decision.rests_on for quote in leaves(ground)]
        assert any(quote.words and quote.holds for quote in quotes), decision.id


def test_a_decision_that_rests_on_itself_in_a_circle_still_ends() -> None:
    on_the_final = Cite(type="decision", id="D-3-1", relation="builds-on")
    events = [
        replace(event, cites=(*event.cites, on_the_final)) if isinstance(event, Decision) else event
        for event in sample().events
    ]
    final = tell(book(events, Blobs())).outcome[0]
    depth, seen, grounds = 0, set[str](), list(final.rests_on)
    while grounds:
        depth += 1
        seen |= {ground.id for ground in grounds}
        grounds = [under for ground in grounds for under in ground.under]
    assert final.id in seen
    assert 2 <= depth <= 5


def test_flips(story: Story) -> None:
    check = story.rounds[0].checks[0]
    flipped = {stance.role: stance.flipped_to for stance in check.stances}
    assert flipped == {"action": "BROKEN", "guardian": None, "critic": None}


def test_disagreement_counts_broken_and_unclear(story: Story) -> None:
    assert [told.disagreement for told in story.rounds] == [1, 0, 0]


def test_a_tension_resolved_by_a_decision_is_closed(story: Story) -> None:
    assert {one.id: one.resolved_by for one in story.concerns} == {"N-1-1": "D-2-1", "N-1-2": None}


def test_retrospectives_by_role(story: Story) -> None:
    assert [(review.role, review.modes["FM-1"]) for review in story.reviews] == [
        ("action", "no"),
        ("guardian", "yes"),
    ]


def test_the_story_of_every_prefix_can_be_told() -> None:
    events = sample().events
    for count in range(1, len(events) + 1):
        told, prefix = tell(book(events[:count], Blobs())), events[:count]
        rounds = [event for event in prefix if isinstance(event, RoundOpened)]
        assert [one.n for one in told.rounds] == [event.round for event in rounds]
        assert [one.focus for one in told.rounds] == [event.focus for event in rounds]
        decisions = {event.id for event in prefix if isinstance(event, Decision)}
        assert {one.id for one in told.decisions} == decisions
        checks = {event.id for event in prefix if isinstance(event, Verification)}
        assert {check.id for one in told.rounds for check in one.checks} == checks
