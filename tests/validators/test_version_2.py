"""What rules ask of a run of version 2 of the format that they did not ask of version 1."""

from __future__ import annotations

from msgspec import structs

from ledger.events import Decision, Position, Verification
from ledger.events.decisions import Dissent
from ledger.events.values import Evidence
from ledger.state.book import Book, book
from tests.validators.factory import CONTEXT, base, change, seq_of
from validators.rulebook import findings


def in_version_2(of: Book) -> Book:
    """The same events as a run of version 2 would hold them."""
    return book([structs.replace(event, v=2) for event in of.events], of.blobs)


def broken(ledger: Book, code: str) -> set[int | None]:
    return {one.seq for one in findings(ledger, CONTEXT, recorded=True) if one.code == code}


def test_a_stance_is_no_dissent_and_words_are() -> None:
    noted = {event.seq for event in base().events if isinstance(event, Decision) and event.dissent}
    assert noted
    assert broken(in_version_2(base()), "DEC004") == noted
    last = base().by_id["D-3-1"]
    assert isinstance(last, Decision)
    position = next(event for event in base().events if isinstance(event, Position))
    worded = Dissent(role=position.by, ref=str(position.id), text=position.reason)
    for one, rest in ((worded, noted - {last.seq}), (structs.replace(worded, text="No."), noted)):
        assert broken(in_version_2(change("D-3-1", dissent=(one,))), "DEC004") == rest
    assert broken(in_version_2(change("D-3-1", dissent=())), "DEC004") == noted - {last.seq}


def test_the_evidence_of_a_status_change_is_there_and_says_what_is_quoted() -> None:
    moving = next(
        event for event in base().events if isinstance(event, Verification) and event.claim_status_changes
    )
    assert moving.id is not None
    for evidence, code in (
        (Evidence(ref="A-9-nobody"), "REF002"),
        (Evidence(ref=moving.evidence_refs[0].ref, quote="words that stand nowhere"), "REF004"),
    ):
        changes = tuple(
            structs.replace(one, evidence=(evidence,), class_="said") for one in moving.claim_status_changes
        )
        found = {
            one.code
            for one in findings(
                in_version_2(change(moving.id, claim_status_changes=changes)), CONTEXT, recorded=True
            )
            if one.seq == seq_of(str(moving.id))
        }
        assert code in found
