"""Comparing two runs: alignment, final statuses, the first divergence (FORMAT 11)."""

from __future__ import annotations

import json
import unicodedata
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given, strategies as st

from ledger.compare.diff import SIMILAR_FROM, Alignable, Similar, align, alignable, diff, normal
from ledger.events import Attempt, Call, Claim, Event, Verification
from ledger.events.decisions import Cite
from ledger.events.verifications import StatusChange
from ledger.format.canonical import seal
from ledger.state.book import Book, book
from tests.ledger import samples


class NoBlobs:
    def read(self, sha256: str) -> bytes | None:  # noqa: ARG002
        return None


def made(*drafts: Event, question: str = "Which storage?", at: str = samples.AT) -> Book:
    drafts = (samples.opening(question), *drafts)
    return book(seal(drafts, prev="0" * 64, seq=0, at=at).events, NoBlobs())


def claim(n: int, text: str, testable: str = "Cut a line and look.") -> Claim:
    return msgspec.structs.replace(samples.claim(n), text=text, testable_as=testable)


def verdict(
    claim_id: str, bearing: str = "supports", to: str = "tested_confirmed", n: int = 5
) -> Verification:
    change = msgspec.convert(
        {
            "claim_id": claim_id,
            "from": "pending",
            "to": to,
            "bearing": bearing,
            "evidence": [{"ref": claim_id}],
        },
        StatusChange,
    )
    return msgspec.structs.replace(
        samples.verification(n), claims_affected=(claim_id,), claim_status_changes=(change,)
    )


def test_a_run_is_the_same_as_itself_and_as_its_replay_at_another_time() -> None:
    one = made(samples.statement(), claim(1, "x"), samples.decision(1))
    later = made(samples.statement(), claim(1, "x"), samples.decision(1), at="2027-01-01T00:00:00.000000Z")
    for other in (one, later):
        found = diff(one, other, ("one", "other"))
        assert (found.same, found.comparable, found.first_divergence) == (True, True, None)
        assert [(pair.a, pair.b) for pair in found.claims.matched] == [("C-1-1", "C-1-1")]
    assert [pair.how for pair in diff(one, one).claims.matched] == ["identical"]
    assert [pair.how for pair in diff(one, later).claims.matched] == ["text"]


def test_what_a_call_took_is_no_divergence_and_what_it_said_is() -> None:
    slow = samples.statement()
    assert slow.call is not None
    attempt = Attempt(
        n=1,
        brief="a" * 64,
        reply="b" * 64,
        error=None,
        stop_reason=None,
        tokens_in=1,
        tokens_out=1,
        cost_usd="0.5",
        latency_ms=9,
    )
    first = msgspec.structs.replace(slow, call=msgspec.structs.replace(slow.call, attempts=(attempt,)))
    dear = {"cost_usd": "1.000000", "latency_ms": 7}
    calls: list[Call] = [
        msgspec.structs.replace(
            slow.call, attempts=(msgspec.structs.replace(attempt, cost_usd=None, latency_ms=None),), **dear
        ),
        msgspec.structs.replace(slow.call, attempts=(attempt,), model="another"),
    ]
    same, other = (diff(made(first), made(msgspec.structs.replace(slow, call=call))) for call in calls)
    assert (same.same, same.first_divergence) == (True, None)
    assert (same.cost.a.usd, same.cost.b.usd) == ("0.001200", "1.000000")
    assert (other.same, other.first_divergence) == (False, 1)


def test_a_fork_parts_where_it_goes_on_differently() -> None:
    one = made(claim(1, "x"), claim(2, "y"))
    with_prefix = book(
        [*one.events[:2], *seal([claim(2, "z")], prev=one.events[2].prev, seq=2, at=samples.AT).events],
        NoBlobs(),
    )
    found = diff(one, with_prefix)
    assert found.first_divergence == 2
    assert found.parting is not None
    assert (found.parting.a, found.parting.b) == ("claim C-1-2", "claim C-1-2")
    assert [(pair.a, pair.how) for pair in found.claims.matched] == [("C-1-1", "identical")]


def test_the_shorter_of_two_parts_at_its_end() -> None:
    whole = made(claim(1, "x"))
    cut = book(whole.events[:1], NoBlobs())
    found = diff(whole, cut)
    assert found.first_divergence == 1
    assert found.parting is not None
    assert (found.parting.a, found.parting.b) == ("claim C-1-1", None)
    assert (found.claims.only_a, found.claims.only_b) == (["C-1-1"], [])


def test_another_question_is_not_comparable() -> None:
    found = diff(made(claim(1, "x")), made(claim(1, "x"), question="Which queue?"))
    assert (found.same, found.comparable, found.first_divergence, found.parting) == (False, False, None, None)
    assert [pair.a for pair in found.claims.matched] == ["C-1-1"]


def test_a_matched_claim_with_another_end_is_changed() -> None:
    one = made(claim(1, "A  torn LINE is found."), verdict("C-1-1"))
    other = made(
        claim(1, "Something else entirely here."),
        claim(2, "a torn line is found."),
        verdict("C-1-2", "contradicts", "tested_refuted"),
    )
    found = diff(one, other).claims
    assert [(pair.a, pair.b, pair.how) for pair in found.matched] == [("C-1-1", "C-1-2", "text")]
    assert [(pair.status_a, pair.status_b) for pair in found.changed] == [
        ("tested_confirmed", "tested_refuted")
    ]
    assert (found.only_a, found.only_b) == ([], ["C-1-1"])


def test_a_similar_claim_is_shown_with_its_number_and_never_matched() -> None:
    one = made(claim(1, "one two three four", "five six"))
    other = made(claim(1, "one two three four", "five seven"), claim(2, "one two three four ten", "five six"))
    exact = diff(one, other).claims
    near = diff(made(claim(1, "one two three four nine", "five six")), other).claims
    assert [(pair.a, pair.b) for pair in exact.matched] == [("C-1-1", "C-1-1")]
    assert near.matched == []
    assert near.similar == [Similar(a="C-1-1", b="C-1-2", similarity=0.75)]
    assert (near.only_a, near.only_b) == (["C-1-1"], ["C-1-1", "C-1-2"])


@pytest.mark.parametrize(("shared", "whole", "similar"), [(3, 5, True), (4, 7, False), (6, 10, True)])
def test_similar_begins_at_exactly_six_tenths(shared: int, whole: int, similar: bool) -> None:
    left = Alignable("C-1-1", "", "a", frozenset(map(str, range(shared))))
    right = Alignable("C-1-1", "x", "b", frozenset(map(str, range(whole))))
    pairs = align([left], [right]).similar
    assert [pair.similarity for pair in pairs] == ([Fraction(shared, whole)] if similar else [])


def test_decisions_stand_in_force_at_risk_or_overturned() -> None:
    later = msgspec.structs.replace(
        samples.decision(2), cites=(Cite(type="decision", id="D-1-1", relation="overturns"),), text="No."
    )
    calm = made(claim(1, "x"), samples.decision(1))
    risky = made(claim(1, "x"), samples.decision(1), verdict("C-1-1", "contradicts", "tested_refuted"))
    overturned = made(claim(1, "x"), samples.decision(1), later)
    assert [
        [(pair.status_a, pair.status_b) for pair in diff(calm, other).decisions.changed]
        for other in (risky, overturned)
    ] == [[("in_force", "at_risk")], [("in_force", "overturned")]]


@given(st.text())
def test_normal_text_is_stable(text: str) -> None:
    assert normal(normal(text)) == normal(text)
    assert normal(unicodedata.normalize("NFD", text)) == normal(unicodedata.normalize("NFC", text))


WORDS = st.lists(st.sampled_from("abcdefg"), max_size=6).map(" ".join)
TEXTS = st.lists(st.tuples(WORDS, WORDS), max_size=6)


@given(TEXTS, TEXTS)
def test_alignment_agrees_with_a_slow_and_obvious_one(
    a: list[tuple[str, str]], b: list[tuple[str, str]]
) -> None:
    left, right = (
        [
            alignable(msgspec.structs.replace(samples.claim(n), text=text, testable_as=testable, by=side))
            for n, (text, testable) in enumerate(texts, 1)
        ]
        for side, texts in (("critic", a), ("observer", b))
    )
    found = align(left, right)
    free_a = [one for one in left if one.id not in {pair.a for pair in found.matched}]
    free_b = [one for one in right if one.id not in {pair.b for pair in found.matched}]
    assert not {one.text for one in free_a if one.text} & {one.text for one in free_b}
    assert (found.only_a, found.only_b) == (tuple(o.id for o in free_a), tuple(o.id for o in free_b))
    assert [(pair.a, pair.b, pair.similarity) for pair in found.similar] == _greedy(free_a, free_b)


def _greedy(left: list[Alignable], right: list[Alignable]) -> list[tuple[str, str, Fraction]]:
    """The best pair of all, again and again, as FORMAT 11 words it."""
    chosen: list[tuple[str, str, Fraction]] = []
    while True:
        pairs = [
            (-Fraction(len(one.tokens & other.tokens), len(one.tokens | other.tokens) or 1), one.id, other.id)
            for one in left
            for other in right
        ]
        best = min(pairs, default=None)
        if best is None or -best[0] < SIMILAR_FROM:
            return chosen
        chosen.append((best[1], best[2], -best[0]))
        left = [one for one in left if one.id != best[1]]
        right = [one for one in right if one.id != best[2]]


def test_the_shape_that_machines_read() -> None:
    found = diff(made(claim(1, "x")), made())
    shape = found.model_dump()
    assert shape == json.loads(found.model_dump_json())
    assert {"a", "b", "same", "first_divergence", "claims", "decisions", "cost"} <= shape.keys()
    assert set(shape["claims"]) == {"only_a", "only_b", "changed", "matched", "similar"}
