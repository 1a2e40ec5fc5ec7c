"""What the refs of a memo lead to, in a small ledger."""

from __future__ import annotations

import msgspec

from ledger.events import Belief, Event, ExperimentJudged, ExperimentRun
from ledger.events.envelope import Evidence
from ledger.events.experiments import ClaimMove, ExperimentEnvironment, KeptOutput, RunCounts
from ledger.events.run import ContextDocument
from ledger.events.verifications import StatusChange
from ledger.state.book import Book, book
from ledger.store.blobs import hash_of
from roles.evidence import evidence_class, exhibits
from roles.memo.checks import CitedText
from roles.memo.citing import cited_texts
from tests.ledger import samples
from tests.ledger.test_later_kinds import belief, plan

DOCUMENT, OUTPUT, NOTHING = b"one\ntwo 40\nthree", b"250 of 250 kept\n", b""


class Kept:
    """Blobs in memory."""

    def read(self, sha256: str) -> bytes | None:
        return {hash_of(blob): blob for blob in (DOCUMENT, OUTPUT, NOTHING)}.get(sha256)


def opened() -> Event:
    document = ContextDocument(id="K-1", name="a.txt", sha256=hash_of(DOCUMENT), bytes=len(DOCUMENT))
    return msgspec.structs.replace(samples.opening(), context=(document,))


def ran() -> ExperimentRun:
    def kept(blob: bytes) -> KeptOutput:
        return KeptOutput(sha256=hash_of(blob), bytes=len(blob), kept=hash_of(blob))

    place = ExperimentEnvironment(
        interpreter="3.11", platform="linux", sandbox="bubblewrap", sandbox_version=None, self_test=True
    )
    return ExperimentRun(
        round=1,
        phase="E",
        by="controller",
        of="E-1-1",
        n=1,
        environment=place,
        exit=0,
        stdout=kept(OUTPUT),
        stderr=kept(NOTHING),
        started_at=samples.AT,
        ms=5,
    )


def judged(verdict: str) -> ExperimentJudged:
    return ExperimentJudged(
        round=1,
        phase="E",
        by="controller",
        of="E-1-1",
        counts=RunCounts(holds=3, fails=0, inconclusive=0, error=0),
        verdict=verdict,  # type: ignore[arg-type]
        class_="reproduced" if verdict == "holds" else None,
        changes=(ClaimMove(claim_id="C-1-1", from_="pending", to="tested_confirmed"),)
        if verdict == "holds"
        else (),
    )


def checked() -> Event:
    change = StatusChange(
        claim_id="C-1-2",
        from_="pending",
        to="tested_confirmed",
        bearing="supports",
        class_="quoted",
        evidence=(Evidence(ref="K-1#L2", quote="two 40"),),
    )
    return msgspec.structs.replace(samples.verification(5), claim_status_changes=(change,))


def ledger(*events: Event) -> Book:
    claims = (samples.claim(1), samples.claim(2), samples.claim(3))
    return book((opened(), *claims, plan(), *events), Kept())


def test_a_document_is_its_lines():
    found = cited_texts(ledger(), ["K-1#L2", "K-1", "K-1#L9", "K-2", "nonsense"])
    assert found == {
        "K-1#L2": CitedText(("two 40",), "document"),
        "K-1": CitedText((DOCUMENT.decode(),), "document"),
    }


def test_an_experiment_is_its_question_what_it_wrote_and_how_it_came_out():
    found = cited_texts(ledger(ran(), judged("holds")), ["E-1-1"])["E-1-1"]
    assert (found.kind, found.class_) == ("experiment", "reproduced")
    assert {"Does a torn line show?", OUTPUT.decode(), "3 held, 0 failed, 0 inconclusive, 0 errors"} <= set(
        found.texts
    )


def test_an_experiment_that_decided_nothing_has_no_class():
    assert cited_texts(ledger(), ["E-1-1"])["E-1-1"].class_ is None
    assert cited_texts(ledger(ran(), judged("flaky")), ["E-1-1"])["E-1-1"].class_ is None


def test_a_claim_has_the_class_and_the_words_of_its_last_verdict():
    found = cited_texts(ledger(ran(), judged("holds"), checked()), ["C-1-1", "C-1-2", "C-1-3"])
    assert [one.class_ for one in found.values()] == ["reproduced", "quoted", None]
    assert {one.kind for one in found.values()} == {"claim"}
    assert OUTPUT.decode() in found["C-1-1"].texts
    assert "two 40" in found["C-1-2"].texts
    assert "A torn line is always found. (3)" in found["C-1-3"].texts


def test_a_belief_says_its_points():
    sealed: Belief = belief("critic", O_1=70, none=30)
    assert "O-1: 70" in cited_texts(ledger(sealed), ["B-1-critic"])["B-1-critic"].texts


def test_only_what_was_shown_may_be_cited():
    whole = ledger()
    assert cited_texts(whole, ["C-1-1", "C-1-2"], {"C-1-2": whole.by_id["C-1-2"]}).keys() == {"C-1-2"}


def test_a_verdict_has_the_class_of_what_it_cites():
    later = msgspec.structs.replace(samples.claim(4), seq=9)
    whole = ledger(later)
    document, own = Evidence(ref="K-1#L2", quote="two 40"), Evidence(ref="C-1-4")
    nothing = Evidence(ref="C-9-9")
    found = exhibits(whole, "C-1-1", (document, own, nothing))
    assert [(one.texts[:1], one.by, one.later) for one in found] == [
        (("two 40",), None, False),
        (("critic",), "critic", True),
        ((), None, False),
    ]
    assert evidence_class(found, "critic", "supports") == "quoted"
    assert evidence_class(found[1:], "critic", "contradicts") == "conceded"
    assert evidence_class(found[2:], "critic", "supports") == "said"
