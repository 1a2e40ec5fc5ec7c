"""`crux` at its edges: a full agenda, and a document that settles nothing."""

from __future__ import annotations

from pathlib import Path

from ledger.events import Verification
from ledger.state.book import Book
from rounds.protocols import PROTOCOLS
from rounds.protocols.crux import standing
from rounds.run.verdicts import standard
from tests.protocols.crux_seats import ROLES, World, begin, contested, play
from validators.rulebook import findings


def _errors(book: Book) -> list[str]:
    context = standard(PROTOCOLS["crux"]).context()
    return [finding.message for finding in findings(book, context) if finding.severity == "error"]


def test_two_cruxes_of_each_role_fit_on_the_agenda_and_three_are_kept(tmp_path: Path) -> None:
    proposed = {role: [("execution", 50, 90, 30), ("document", 50, 80, 40)] for role in ROLES}
    book = play(begin(tmp_path / "run", {"wait": "off"}), World(proposed=proposed))
    assert len(standing.cruxes_of(book.state)) == 8
    assert len(standing.kept_cruxes(book.state)) == 3
    assert book.state.finished
    assert _errors(book) == []


def test_a_document_that_settles_nothing_needs_no_quote_and_leaves_the_crux_open(tmp_path: Path) -> None:
    world = contested("document", document="not_settled")
    book = play(begin(tmp_path / "run", {"wait": "off"}), world)
    assert book.state.finished
    assert _errors(book) == []
    (reading,) = book.of(Verification)
    assert reading.claims_affected == ("C-1-1",)
    assert [one.ref for one in reading.evidence_refs] == ["K-1"]
    assert [one.bearing for one in reading.claim_status_changes] == ["inconclusive"]
    assert [crux.claim for crux in standing.standing_at(book.state).unsettled] == ["C-1-1"]
