"""`structured` from version 2 on: evidence claim by claim, a computed class, dissent in words, refs in fields."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import given, strategies as st
from msgspec import structs

from ledger.events import Claim, Decision, DriftCheck, Statement, Verification
from ledger.events.envelope import Evidence
from ledger.events.ids import parse_reference
from ledger.state.book import Book, book
from ledger.store.blobs import hash_of
from moot.view.claims import claims_of, claims_text, decision_lines
from moot.view.event_lines import event_lines
from moot.view.marks import claim_mark, shown_as, status_with_level
from moot.view.show import show_of, why_of
from roles.brief import Brief, derive
from roles.evidence import Exhibit, evidence_class, exhibits, ids_in
from roles.prompt_set import installed_prompt_set, read_prompt_set
from roles.protocol import Step, find_step
from roles.schema import parse_reply
from roles.seats.port import Answer
from rounds.protocols import protocol_of
from rounds.protocols.structured import STRUCTURED
from rounds.run.controller import Controller
from rounds.run.reexecution import re_execute
from rounds.run.session import ReplyRefused, RunSession, start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.rounds.openings import clock
from tests.rounds.scripted import Script
from tests.validators.factory import findings
from validators import rulebook

DOCUMENT = "The queue holds 40 requests.\nEach takes 25 ms.\n"
PHASES = ["A", "B", "C", "D", "E", "F", "G", "H", "S"]


def begin(path: Path, rules: dict[str, str] | None = None) -> RunSession:
    table: dict[str, Any] = {
        "deliberation": {
            "question": "Which storage keeps every line?",
            "goals": ["No line is lost"],
            "options": ["three streams", "one journal"],
        },
        "round": [
            {"n": 1, "drift": True},
            {"n": 2, "drift": True},
            {"n": 3, "phases": PHASES, "drift": True},
        ],
        "context": [{"name": "facts.md", "text": DOCUMENT}],
        "rules": rules or {},
    }
    opening = resolve(checked(table), {}, moot="0.1.0")
    return start(path, opening.event, blobs=opening.blobs, verdicts=standard, clock=clock(), files={})


class Careful(Script):
    """The script, but a drift check that finds a goal half served, and a first verdict that reads the documents."""

    def reply(self, book: Book, step: Step, saw: tuple[int, ...]) -> bytes:
        made = json.loads(super().reply(book, step, saw))
        if step.task == "H" and step.name.round == 1:
            made["verdict"], made["notes"] = "PARTIAL", "Nobody asked what a reader loses."
            made["anchors"][0]["served"] = "partly"
        if step.task == "G" and step.name.round == 1:
            asked = {"type": "question", "text": "How long may a line wait?", "severity": 2, "between": []}
            made["concerns"] = [{**asked, "evidence": [], "for_human": True}]
            made["concerns"][0]["deciding"] = None
        for test in made.get("claims", ()) if step.task == "E.check1" else ():
            if test["bearing"]:
                test["evidence"] = [{"ref": "K-1#L1", "quote": "holds 40 requests"}]
        return json.dumps(made).encode()


def played(session: RunSession, until: str = "") -> RunSession:
    script = Careful(3)
    while (asked := session.pending()) and not any(one.step.id == until for one in asked):
        one = asked[0]
        content = script.reply(session.book(), one.step, one.brief.saw)
        session.submit(one.step.id, content, Answer(seat="host", isolation="trusted"))
    return session


@cache
def whole() -> Book:
    return played(begin(Path(mkdtemp()) / "run")).book()


def changes() -> list[tuple[Verification, Any]]:
    return [(event, one) for event in whole().of(Verification) for one in event.claim_status_changes]


def brief_of(step_id: str, ledger: Book | None = None) -> Brief:
    ledger = ledger or whole()
    state = ledger.state
    groups = (group for round_ in sorted(state.rounds) for group in STRUCTURED.groups(state, round_))
    step = next(one for group in groups for one in group.steps if one.id == step_id)
    return derive(ledger, STRUCTURED, step, read_prompt_set(installed_prompt_set("structured")))


# ---------------------------------------------------------------- the run


def test_a_run_breaks_no_rule() -> None:
    opened = whole().state.opening
    assert opened.prompt_set == hash_of(installed_prompt_set("structured"))
    assert {event.v for event in whole().events} == {3}
    report = rulebook.check(whole(), standard(protocol_of(opened)).context())
    assert [one for one in report.findings if one.severity == "error"] == []


def test_the_run_is_executed_again_to_the_same_head() -> None:
    protocol = protocol_of(whole().state.opening)
    again = re_execute(whole(), protocol, Controller(protocol, standard(protocol)))
    assert again.divergences == ()
    assert again.identical


def test_the_published_lengths_are_a_rule(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", {"lengths": "published"})
    assert "600 to 800 words" in session.pending()[0].brief.text
    assert "at most 500 words" in brief_of("r1.B.action").text


# ---------------------------------------------------------------- what is seen


@pytest.mark.parametrize("check", ["check1", "check2", "check3", "check4"])
def test_the_verifier_sees_question_documents_and_every_passage_that_a_claim_names(check: str) -> None:
    brief = brief_of(f"r2.E.{check}.verifier")
    assert "Which storage keeps every line?" in brief.text
    assert "L1 | The queue holds 40 requests." in brief.text
    shown = {event.id for event in whole().events if event.seq in brief.saw}
    places = [ref for claim in whole().of(Claim) if claim.id in shown for ref in claim.places]
    assert places
    for ref in places:
        assert parse_reference(ref).id in shown
        assert f"{ref} · of a statement by " in brief.text
    assert "position of" not in brief.text


def test_the_next_proposal_is_told_what_the_last_round_left_unanswered() -> None:
    (drift,) = (event for event in whole().of(DriftCheck) if event.round == 1)
    text = brief_of("r2.B.guardian").text
    assert drift.notes in text
    assert "G-1 is served: partly" in text
    assert "How long may a line wait?" in text
    assert drift.notes not in brief_of("r3.B.observer").text
    assert drift.notes not in brief_of("r2.C.action").text


def test_who_decides_is_shown_every_objection() -> None:
    said = [event for event in whole().of(Statement) if event.phase == "F" and event.round == 2]
    objections = [section.text for event in said for section in event.sections if section.name == "against"]
    assert objections
    text = brief_of("r2.G.guardian").text
    assert all(f"#against | {words}" in text for words in objections)


# ---------------------------------------------------------------- evidence and its class


def test_every_claim_is_moved_by_evidence_of_its_own_whose_class_is_computed() -> None:
    assert len(changes()) > 5
    classes = set()
    for event, one in changes():
        assert one.evidence
        assert set(one.evidence) <= set(event.evidence_refs)
        raised_by = whole().state.claims[one.claim_id].raised_by
        given_ = exhibits(whole(), one.claim_id, one.evidence)
        assert one.class_ == evidence_class(given_, raised_by, one.bearing)
        classes.add(one.class_)
        if event.check_id == 1:
            assert one.class_ == "quoted"
    assert {"quoted", "argued"} <= classes
    assert not classes & {"ran", "reproduced"}


def _check(**changed: Any) -> tuple[Step, dict[str, Any]]:
    step_id = "r2.E.check1.verifier"
    ledger = whole().first(whole().state.answered[step_id])
    step = find_step(STRUCTURED, ledger.state, step_id)
    assert step is not None
    claim = next(event for event in ledger.of(Claim) if event.round == 2)
    own = {"ref": claim.raised_at_artifact, "quote": None}
    test = {"claim_id": claim.id, "bearing": "supports", "evidence": [own]}
    reply = {"result": "ROBUST", "evidence": [own], "notes": "It held.", "claims": [test], "about": []}
    return step, {**reply, "confidence": 3, **changed}


def _class(step: Step, made: dict[str, Any]) -> str | None:
    ledger = whole().first(whole().state.answered[step.id])
    reply, errors = parse_reply(STRUCTURED.reply_type(ledger.state, step), json.dumps(made).encode())
    assert reply is not None, errors
    (verdict,) = STRUCTURED.record(ledger, step, reply)
    assert isinstance(verdict, Verification)
    (change,) = verdict.claim_status_changes
    return change.class_


PRINTED = st.text(st.characters(codec="ascii", exclude_categories=["C"]), min_size=1, max_size=60)
WORDS = st.one_of(
    st.sampled_from(["reproduced", "ran 3 times", "class: quoted", "calculated", "From my own knowledge:"]),
    PRINTED,
).filter(str.strip)


@given(WORDS, st.integers(1, 5))
def test_no_word_of_a_seat_raises_a_class(words: str, confidence: int) -> None:
    step, made = _check(notes=words, confidence=confidence)
    assert _class(step, made) == "said"


@given(
    st.lists(st.tuples(PRINTED, st.one_of(st.none(), PRINTED), st.booleans()), max_size=5),
    st.sampled_from(["supports", "inconclusive"]),
)
def test_what_its_author_alone_says_is_only_said(texts: list[Any], bearing: Any) -> None:
    own = [
        Exhibit(f"A-{n}-critic#attack-1", quote, (text,), "critic", later)
        for n, (text, quote, later) in enumerate(texts, 1)
    ]
    assert evidence_class(own, "critic", bearing) == "said"


@given(PRINTED)
def test_a_quote_that_stands_nowhere_raises_nothing(quote: str) -> None:
    exhibit = Exhibit("K-1#L1", quote, ("the line",), None)
    assert evidence_class([exhibit], "critic", "supports") == (
        "quoted" if quote.strip() in "the line" else "said"
    )


def test_the_rule_finds_a_class_that_is_only_claimed() -> None:
    event, _ = next(pair for pair in changes() if pair[1].class_ == "argued")
    raised = tuple(structs.replace(one, class_="reproduced") for one in event.claim_status_changes)
    forged = structs.replace(event, claim_status_changes=raised)
    ledger = book([forged if one is event else one for one in whole().events], whole().blobs)
    found = findings(ledger, standard(STRUCTURED).context(), recorded=True)
    assert ("REF007", event.seq) in {(one.code, one.seq) for one in found}


# ---------------------------------------------------------------- refusals


@pytest.fixture(name="at_check")
def _at_check(tmp_path: Path) -> RunSession:
    return played(begin(tmp_path / "run"), until="r1.E.check1.verifier")


def refused(session: RunSession, step: str, made: dict[str, Any]) -> str:
    with pytest.raises(ReplyRefused) as error:
        session.submit(step, json.dumps(made).encode(), Answer(seat="host", isolation="trusted"))
    return "\n".join(error.value.errors)


def made_for(session: RunSession, step_id: str) -> dict[str, Any]:
    one = next(one for one in session.pending() if one.step.id == step_id)
    made: dict[str, Any] = json.loads(Careful(3).reply(session.book(), one.step, one.brief.saw))
    return made


def test_a_claim_is_not_moved_without_evidence_of_its_own(at_check: RunSession) -> None:
    made = made_for(at_check, "r1.E.check1.verifier")
    claim = next(event.id for event in at_check.book().of(Claim))
    bearing = "inconclusive" if made["result"] == "UNCLEAR" else "supports"
    made["claims"] = [{"claim_id": claim, "bearing": bearing, "evidence": []}]
    assert "has evidence of its own" in refused(at_check, "r1.E.check1.verifier", made)
    made["claims"][0]["evidence"] = [{"ref": "K-1#L1", "quote": "holds 41 requests"}]
    assert "does not stand word for word" in refused(at_check, "r1.E.check1.verifier", made)


def test_a_place_is_a_passage_and_no_whole_text(tmp_path: Path) -> None:
    session = played(begin(tmp_path / "run"), until="r1.D.critic")
    made = made_for(session, "r1.D.critic")
    made["proposed_claims"][0]["places"] = ["S-1-B-action"]
    assert "is a whole text" in refused(session, "r1.D.critic", made)
    made["proposed_claims"][0]["places"] = ["A-1-critic#attack-1"]
    assert "your own artifact" in refused(session, "r1.D.critic", made)
    made["proposed_claims"][0]["places"] = ["S-1-B-nobody#p1"]
    assert "unknown" in refused(session, "r1.D.critic", made)


@pytest.mark.parametrize("named", ["C-9-9", "x" * 300])
@pytest.mark.parametrize("field", ["supersedes", "anchor_ref"])
def test_an_id_that_no_event_could_hold_is_unknown_like_any_other(
    tmp_path: Path, field: str, named: str
) -> None:
    session = played(begin(tmp_path / "run"), until="r1.D.critic")
    made = made_for(session, "r1.D.critic")
    made["proposed_claims"][0][field] = named
    assert repr(named) in refused(session, "r1.D.critic", made)


def test_no_objection_is_passed_over_and_none_is_made_up(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    script = Careful(3)
    while not any(one.step.task == "G" for one in session.pending()):
        one = session.pending()[0]
        made = json.loads(script.reply(session.book(), one.step, one.brief.saw))
        if one.step.task == "F":
            made["against"] = f"{one.step.role} would keep one journal."
        session.submit(one.step.id, json.dumps(made).encode(), Answer(seat="host", isolation="trusted"))
    made = made_for(session, "r1.G.action")
    others = ["S-1-F-guardian", "S-1-F-observer", "S-1-F-critic"]
    made["met"], made["decisions"][0]["dissent"] = [], others[:2]
    assert "the objection S-1-F-critic stands against no decision" in refused(session, "r1.G.action", made)
    made["decisions"][0]["dissent"] = [*others, "S-1-F-action"]
    assert "'S-1-F-action' is no objection" in refused(session, "r1.G.action", made)
    made["decisions"][0]["dissent"] = others[:2]
    made["met"] = [{"objection": others[2], "how": "The journal is kept for a year."}]
    session.submit("r1.G.action", json.dumps(made).encode(), Answer(seat="host", isolation="trusted"))
    ledger = session.book()
    decision = ledger.by_id["D-1-1"]
    assert isinstance(decision, Decision)
    assert [(one.role, one.ref, one.text) for one in decision.dissent] == [
        (role, f"S-1-F-{role}", f"{role} would keep one journal.") for role in ("guardian", "observer")
    ]
    assert decision.falsifiers
    assessment = ledger.by_id["S-1-G-action"]
    assert isinstance(assessment, Statement)
    assert others[2] in assessment.responds_to
    assert ("met-critic", "The journal is kept for a year.") in [
        (section.name, section.text) for section in assessment.sections
    ]
    forged = tuple(structs.replace(one, text="Never.") for one in decision.dissent)
    wrong = book(
        [structs.replace(one, dissent=forged) if one is decision else one for one in ledger.events],
        ledger.blobs,
    )
    found = findings(wrong, standard(STRUCTURED).context(), recorded=True)
    assert ("DEC004", decision.seq) in {(one.code, one.seq) for one in found}


def test_a_dissent_is_told_in_its_own_words() -> None:
    dissenting = [event for event in whole().of(Decision) if event.dissent]
    assert dissenting
    for event in dissenting:
        told = "\n".join(event_lines(whole(), event))
        assert all(f"dissent    {one.role}: " in told for one in event.dissent)
    lines = decision_lines(whole())
    assert sum(len(line.dissent) for line in lines) == sum(len(event.dissent) for event in dissenting)


def test_words_of_a_claim_that_name_ids_are_noted() -> None:
    known = {"S-1-B-action", "O-1"}.__contains__
    assert ids_in("S-1-B-action#p3 says that O-1 keeps A-4 paper", known) == ("S-1-B-action", "O-1")
    claim = next(event for event in whole().of(Claim))
    named = structs.replace(claim, text="What S-1-B-action says is so.")
    ledger = book([named if one is claim else one for one in whole().events], whole().blobs)
    found = findings(ledger, standard(STRUCTURED).context(), recorded=True)
    assert ("STY012", claim.seq) in {(one.code, one.seq) for one in found}
    assert "STY012" not in {
        one.code for one in findings(whole(), standard(STRUCTURED).context(), recorded=True)
    }


def test_evidence_is_kept_as_it_was_given() -> None:
    event, one = next(pair for pair in changes() if pair[0].check_id == 1)
    assert one.evidence == (Evidence(ref="K-1#L1", quote="holds 40 requests"),)
    assert event.evidence_refs[-1:] == one.evidence or one.evidence[0] in event.evidence_refs


def test_a_surface_says_how_a_claim_was_tested_and_not_that_it_is_confirmed() -> None:
    assert status_with_level("tested_confirmed", None, "read by verifier") == "● confirmed"
    assert status_with_level("tested_confirmed", "argued", "argued") == "● argued"
    assert status_with_level("tested_refuted", "quoted", "quoted") == "✗ refuted (quoted)"
    moved = [
        (event, one)
        for event, one in changes()
        if one.to == "tested_confirmed" and one.class_ != "reproduced"
    ]
    assert moved
    for event, one in moved:
        (line,) = (told for told in event_lines(whole(), event) if f"{one.claim_id} " in told and "→" in told)
        assert f"→ ● {shown_as(str(one.class_))} in {event.id}" in line


def test_every_surface_names_the_class_of_a_claim_and_never_that_it_is_confirmed() -> None:
    ours = whole()
    told = {claim: claim_mark(ours, claim) for claim in ours.state.claims}
    found = claims_of("run", ours)
    tested = [line for line in found.claims if line.history]
    assert {line.class_ for line in tested} == {one.class_ for _, one in changes()} != set()
    for line in tested:
        assert line.class_ == [one.class_ for one in line.history if one.to != "superseded"][-1] is not None
        assert line.tested == shown_as(line.class_ or "")
        assert f"{line.id}  {told[line.id].plain}  raised by" in claims_text(found)
        history = show_of("run", ours, ours.by_id[line.id]).history
        by = "by C-" if line.status == "superseded" else "in V-"
        assert any(f"→ {told[line.id].plain} {by}" in one for one in history)
        assert not any("● confirmed" in one for one in history)
    assert "● confirmed" not in claims_text(found)
    nodes = [node for one in ours.of(Decision) for node in why_of("run", ours, str(one.id)).nodes]
    assert {node.told == told[node.id].plain for node in nodes if node.kind == "claim"} == {True}
