"""R-7: a quote stands only at the claim that it was given for, and nothing is cut in silence."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from ledger.events import Claim, Event, Verification
from ledger.events.envelope import Evidence
from ledger.state.book import Book, book
from moot.api import open_run
from moot.view.grounds import Ground
from moot.view.story import tell
from moot.web.overview import overview
from moot.web.report import report_html
from tests.protocols.playing import played
from tests.render.sample import Blobs, sample


def changed(
    evidence: tuple[Evidence, ...],
    text: str | None = None,
    alone: bool = False,
    own: Mapping[str, tuple[Evidence, ...]] | None = None,
) -> Book:
    """The sample in which V-2-2 has other evidence, C-2-1 another text, and V-2-2 perhaps moves C-2-1 alone.

    `own` is the evidence of each move; without it V-2-2 is as an import has it.
    """

    def told(event: Event) -> Event:
        if isinstance(event, Verification) and event.id == "V-2-2":
            moves = tuple(
                replace(one, evidence=(own or {}).get(one.claim_id, ()))
                for one in event.claim_status_changes
                if not alone or one.claim_id == "C-2-1"
            )
            moved = tuple(one.claim_id for one in moves)
            event = replace(event, evidence_refs=evidence, claims_affected=moved, claim_status_changes=moves)
        if isinstance(event, Claim) and event.id == "C-2-1" and text is not None:
            event = replace(event, text=text)
        return event

    return book([told(event) for event in sample().events], Blobs())


def under_the_claim(found: Book) -> tuple[Ground, Ground]:
    """C-2-1 as the final decision cites it, and its test."""
    (claim,) = [one for one in tell(found).outcome[0].rests_on if one.id == "C-2-1"]
    return claim, claim.under[0]


STRANGE = Evidence(ref="A-1-critic#hypothesis", quote="the rename is not durable")
DOCUMENT = Evidence(ref="K-1#L2", quote="between any two writes")


def test_the_evidence_that_moved_a_claim_is_that_claim_s() -> None:
    """A verdict on two claims has evidence for each, which was shown as given for both together."""
    claim, test = under_the_claim(
        changed((STRANGE, DOCUMENT), own={"C-1-1": (STRANGE,), "C-2-1": (DOCUMENT,)})
    )
    assert [one.ref for one in test.quotes] == [DOCUMENT.ref]
    assert test.pooled == ()
    assert claim.foremost.quote is not None
    assert (claim.foremost.quote.ref, claim.foremost.test) == (DOCUMENT.ref, "V-2-2")


def test_what_was_given_for_two_claims_stands_at_neither() -> None:
    """R-7: three claims about SQLite "rested on" one quote about a firewall."""
    claim, test = under_the_claim(changed((STRANGE, DOCUMENT)))
    assert test.quotes == ()
    assert [one.ref for one in test.pooled] == [STRANGE.ref, DOCUMENT.ref]
    assert claim.foremost.quote is None
    assert claim.foremost.elsewhere == "the verdict's evidence, given for 2 claims together: see V-2-2"


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        (Evidence(ref="C-2-1", quote="With the directory synced nothing is lost."), None),
        (DOCUMENT, "What K-1#L2 asks for is met."),
        (DOCUMENT, "No line is lost between any two writes."),
    ],
    ids=["of the claim", "named in its text", "words of its text"],
)
def test_what_can_be_told_to_be_the_claim_s_stands_there(evidence: Evidence, text: str | None) -> None:
    """R-7: the claim itself, a place that its text names, or words that it quotes."""
    claim, test = under_the_claim(changed((STRANGE, evidence), text))
    assert [one.ref for one in test.quotes] == [evidence.ref]
    assert [one.ref for one in test.pooled] == [STRANGE.ref]
    assert claim.foremost.quote is not None
    assert (claim.foremost.quote.ref, claim.foremost.test) == (evidence.ref, "V-2-2")


def test_a_place_is_named_whole() -> None:
    """R-7: `K-1#L20` does not name `K-1#L2`."""
    _, test = under_the_claim(changed((STRANGE, DOCUMENT), "What K-1#L20 asks for is met."))
    assert test.quotes == ()


def test_the_evidence_of_a_verdict_on_one_claim_is_that_claim_s() -> None:
    """R-7: nothing is pooled where there is one claim."""
    claim, test = under_the_claim(changed((STRANGE, DOCUMENT), alone=True))
    assert [one.ref for one in test.quotes] == [STRANGE.ref, DOCUMENT.ref]
    assert test.pooled == ()
    assert claim.foremost.quote is not None


def test_a_decision_lends_no_quote_of_what_it_rests_on() -> None:
    """R-7: a sentence three hops below a cited decision is evidence of something else."""
    (decision,) = [
        one for one in tell(changed((STRANGE,), alone=True)).outcome[0].rests_on if one.id == "D-2-1"
    ]
    assert decision.under
    assert decision.foremost.quote is None


@pytest.mark.parametrize("protocol", ["debate", "comparative"])
def test_every_score_and_standing_is_on_the_page(protocol: str) -> None:
    """R-7: they were cut to the last twelve in silence."""
    run = open_run(played(protocol))
    results = [event for event in run.events if event.kind in ("score", "standing", "ruling")]
    assert len(results) > 9
    page = overview(run.view)
    rows = sum(len(row.totals) + len(row.stands) for row in page["scores"])
    assert rows + len(page["rulings"]) == len(results)
    assert report_html(run)
