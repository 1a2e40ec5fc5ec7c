"""Classes of evidence: computed from what is cited, whatever a seat says."""

from __future__ import annotations

from itertools import permutations

import pytest

from roles.evidence import ORDER, Exhibit, evidence_class, exceeds, strongest

DOCUMENT = Exhibit(
    "K-1#L3", "holds 40 requests of 25 ms", ("The queue holds 40 requests of 25 ms each.",), None
)
SUM = Exhibit("A-2-action#plan-1", "40 × 25 = 1000", ("So 40 × 25 = 1000, a second.",), "action")
OTHER = Exhibit("A-2-guardian#plan-1", None, ("The queue is never full.",), "guardian")
OWN = Exhibit("A-2-critic#plan-1", None, ("It fills up.",), "critic", later=True)
BEFORE = Exhibit("S-1-B-critic#crux-1", None, ("It fills up.",), "critic")


def class_of(*evidence: Exhibit, bearing: str = "supports") -> str:
    return evidence_class(evidence, "critic", bearing)  # type: ignore[arg-type]


def test_a_document_word_for_word_is_quoted():
    assert class_of(DOCUMENT) == "quoted"
    assert class_of(DOCUMENT._replace(quote=None)) == "said"
    assert class_of(DOCUMENT._replace(quote="holds 41 requests")) == "said"
    assert class_of(DOCUMENT._replace(texts=())) == "said"


def test_a_calculation_over_numbers_that_stand_elsewhere_is_calculated():
    assert class_of(SUM, DOCUMENT) == "calculated"
    assert class_of(DOCUMENT, SUM._replace(by="critic")) == "calculated"
    assert class_of(SUM._replace(by="verifier"), DOCUMENT) == "calculated"


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ((SUM,), "argued"),
        ((SUM._replace(quote="40 × 25 = 1001", texts=("40 × 25 = 1001",)), DOCUMENT), "quoted"),
        ((SUM._replace(texts=("nothing of the kind",)), DOCUMENT), "quoted"),
        ((SUM, DOCUMENT._replace(quote="40 requests")), "quoted"),
        ((SUM, DOCUMENT._replace(by="critic")), "argued"),
        ((SUM, SUM._replace(ref="A-2-guardian#plan-1", by="guardian")), "argued"),
        ((SUM, SUM._replace(quote="The 40 of 25", texts=("The 40 of 25",))), "argued"),
    ],
    ids=[
        "alone",
        "wrong",
        "not there",
        "a number is missing",
        "its author's numbers",
        "two sums",
        "the same place",
    ],
)
def test_what_is_not_calculated(evidence, found):
    assert class_of(*evidence) == found


def test_an_argument_is_another_roles():
    assert class_of(OTHER) == "argued"
    assert class_of(OTHER._replace(texts=())) == "said"
    for nobody in ("critic", "verifier", "controller", "human", "import"):
        assert class_of(OTHER._replace(by=nobody)) == "said"


def test_a_confirmation_by_its_author_alone_is_said():
    assert class_of(OWN) == class_of(BEFORE) == class_of(OWN, BEFORE) == class_of() == "said"
    assert class_of(OWN, bearing="inconclusive") == "said"


def test_an_author_concedes_after_the_claim_and_against_it():
    assert class_of(OWN, bearing="contradicts") == "conceded"
    assert class_of(OWN, bearing="partly_contradicts") == "conceded"
    assert class_of(BEFORE, bearing="contradicts") == "said"


def test_the_strongest_counts_in_whatever_order():
    everything = (DOCUMENT, SUM, OTHER, OWN)
    assert {class_of(*some, bearing="contradicts") for some in permutations(everything)} == {"calculated"}
    assert class_of(OTHER, OWN, bearing="contradicts") == "argued"


def test_the_order_of_classes():
    assert ORDER == ("measured", "reproduced", "ran", "calculated", "quoted", "argued", "conceded", "said")
    assert strongest([]) == "said"
    assert strongest(["said", "quoted", "ran"]) == "ran"
    assert exceeds("ran", "quoted")
    assert not exceeds("quoted", "quoted")
    assert not exceeds("said", "conceded")
