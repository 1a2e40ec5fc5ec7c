"""The holes of the published validator (SD-50, SD-51): each is closed, and what it let through is an error here.

Holes of reading (lines that are no JSON, evidence as a string, a status that is null, a claim without id) are closed
where lines are read; those tests stand with the ledger and its import.
"""

from __future__ import annotations

import pytest

from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence
from ledger.format.canonical import NotCanonical, decode, encode
from ledger.state.book import Book
from tests.validators.factory import CONTEXT, base, change, findings, imported, seq_of
from tests.validators.pairs_claims import moved
from tests.validators.pairs_roles import CHECK


def _errors(ledger: Book) -> set[tuple[str, int | None]]:
    return {
        (finding.code, finding.seq)
        for finding in findings(ledger, CONTEXT, recorded=True)
        if finding.severity == "error"
    }


def test_an_anchor_that_is_no_section():
    pieces = (Evidence(ref="A-1-action#conclusion"), Evidence(ref="A-1-critic#attack-2"))
    assert ("REF002", seq_of("V-1-1")) in _errors(change("V-1-1", evidence_refs=pieces))


@pytest.mark.parametrize(
    "ref", ["#x", "", "#", ".", "artifacts/", "K-1#L0", "K-1#L2-L1", "K-9#L1", "A-1-action#"]
)
def test_a_reference_to_nothing_in_particular(ref: str):
    pieces = (Evidence(ref=ref), Evidence(ref="A-1-critic#attack-2"))
    found = _errors(change("V-1-1", evidence_refs=pieces))
    assert (("REF002", seq_of("V-1-1")) in found) == (ref != "A-1-action#")


def test_a_directory_is_no_file_of_an_import():
    from msgspec import structs

    pieces = (Evidence(ref="artifacts#x"), Evidence(ref="artifacts/a.md#x"))
    ledger = imported(structs.replace(CHECK, evidence_refs=pieces), documents={"artifacts/a.md": b"x"})
    found = [finding for finding in findings(ledger, CONTEXT) if finding.code == "REF002"]
    assert [finding.message for finding in found] == [
        "V-2-1: no file came with this import for 'artifacts#x'"
    ]


def test_an_inapplicable_check_that_points_at_a_missing_file():
    from msgspec import structs

    pieces = (Evidence(ref="gone.md#x"),)
    ledger = imported(structs.replace(CHECK, result="NOT_APPLICABLE", evidence_refs=pieces))
    assert "REF002" in {finding.code for finding in findings(ledger, CONTEXT)}


def test_a_successor_that_is_not_later():
    assert ("LIF005", seq_of("C-1-2")) in _errors(change("C-1-2", supersedes="C-1-4"))


def test_a_claim_that_supersedes_itself():
    assert ("LIF005", seq_of("C-1-2")) in _errors(change("C-1-2", supersedes="C-1-2"))


def test_an_id_that_is_there_twice():
    assert ("IDS001", seq_of("V-1-3")) in _errors(change("V-1-3", id="V-1-2"))


def test_an_id_without_form():
    assert ("LAW001", seq_of("C-1-2")) in _errors(change("C-1-2", id="claim two"))


def test_an_id_of_another_round():
    assert ("ORD003", seq_of("C-1-2")) in _errors(change("C-1-2", id="C-2-9"))


def test_an_enum_value_that_does_not_exist_is_no_line():
    line = encode(base().by_id["V-1-1"]).replace(b'"result":"BROKEN"', b'"result":"SHATTERED"')
    with pytest.raises(NotCanonical, match="SHATTERED"):
        decode(line)


def test_a_claim_by_a_role_that_does_not_exist():
    assert ("AUT002", seq_of("C-1-2")) in _errors(change("C-1-2", raised_by="auditor"))


def test_a_decision_that_cites_what_does_not_exist():
    cites = tuple(Cite(type="claim", id=claim, relation="based-on") for claim in ("C-1-2", "C-7-7"))
    assert ("DEC003", seq_of("D-1-1")) in _errors(change("D-1-1", cites=cites))


@pytest.mark.parametrize(
    ("cited", "what"),
    [
        ("C-7-7", "which is not on the ledger before it"),
        ("V-3-6", "which is not on the ledger before it"),
        ("@9999", "which is not on the ledger before it"),
        (f"@{seq_of('V-3-6')}", "which is not on the ledger before it"),
        (f"@{seq_of('C-1-2')}", "which is claim C-1-2; by place"),
        ("@0", "which is run_opened; by place"),
    ],
)
def test_what_is_wrong_with_a_citation_is_said(cited: str, what: str):
    ledger = change("D-1-1", cites=(Cite(type="verification", id=cited, relation="based-on"),))
    (message,) = [finding.message for finding in findings(ledger, CONTEXT) if finding.code == "DEC003"]
    assert message.startswith(f"D-1-1 cites {cited}, {what}")


def test_a_change_from_where_the_claim_never_was():
    ledger = moved("C-1-2", "tested_refuted", "tested_confirmed", "supports")
    assert ("LIF001", seq_of("V-1-2")) in _errors(ledger)


def test_a_transition_that_the_machine_does_not_have():
    ledger = moved("C-1-2", "pending", "superseded", "contradicts")
    assert ("LIF002", seq_of("V-1-2")) in _errors(ledger)


def test_a_claim_of_the_same_round_may_be_tested():
    """SD-51: claims are minted when D closes, so that a verification of E may name them."""
    assert base().by_id["C-1-1"].round == base().by_id["V-1-1"].round
    assert _errors(base()) == set()
