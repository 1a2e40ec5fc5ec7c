"""A claim that a person tested is tested for the rules too."""

from __future__ import annotations

from pathlib import Path

import moot
from ledger.events import Decision
from moot.api import open_run

RUN = Path(__file__).resolve().parents[2] / "runs" / "examples" / "crux-hook"


def test_a_decision_after_a_persons_result_does_not_rest_on_a_pending_claim() -> None:
    """The rules once called the claim pending that the person's measurement had refuted."""
    (measured,) = [event for event in open_run(RUN).book.of(Decision) if event.claims]
    (claim,) = measured.claims
    later = [one for one in moot.check(RUN).findings if one.seq is not None and one.seq > measured.seq]
    assert [one.message for one in later if f"{claim} is pending" in one.message] == []
