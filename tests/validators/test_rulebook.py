"""What holds for the rulebook as a whole: prefixes, imports, bad ledgers, hashes, phases, the report and the page.

Of `validators/ledger_index.py`, `validators/finding.py`.
"""

from __future__ import annotations

import hashlib
import json
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from msgspec import structs

import moot
from ledger.events import Decision, Event
from ledger.events.decisions import Cite
from ledger.state.book import Book, book
from moot.api import open_run
from tests.pages import rules
from tests.validators import pairs_claims, pairs_evidence, pairs_order, pairs_roles, pairs_texts
from tests.validators.factory import CONTEXT, base, change, cut, findings, imported, judge, seq_of
from tests.validators.pairs_roles import CHECK, CLAIM, ROUND
from validators import rulebook
from validators.finding import standing
from validators.ledger_index import RuleContext
from validators.rule import Rule
from validators.rulebook import RULES, PhaseUnknown, check, end_of, rules_hash

VALIDATORS = Path(rulebook.__file__).parent
ALL_PAIRS = (
    *pairs_order.PAIRS,
    *pairs_roles.PAIRS,
    *pairs_evidence.PAIRS,
    *pairs_claims.PAIRS,
    *pairs_texts.PAIRS,
)
COMMITS = tuple(event.seq for event in base().events if event.rest == 0)


def _prefix_agrees(ledger: Book, through: int, context: RuleContext = CONTEXT) -> bool:
    """Whether judging a prefix gives what the whole gave through its end."""
    rules = [rule for rule in RULES if rule.recorded]
    whole = findings(ledger, context, through=through, rules=rules)
    prefix = findings(cut(through, ledger), context, rules=rules)
    return [(finding.code, finding.seq, finding.message) for finding in whole] == [
        (finding.code, finding.seq, finding.message) for finding in prefix
    ]


@pytest.mark.parametrize("pair", {pair.code: pair for pair in ALL_PAIRS}.values(), ids=lambda pair: pair.code)
def test_the_findings_of_a_prefix_are_those_of_the_whole_through_its_end(pair):
    """The law on which recorded validations are recomputed (`validators.finding`)."""
    ledger = pair.match()
    assert [event.seq for event in ledger.events] == list(range(len(ledger.events))), "a prefix is cut by seq"
    ends = [event.seq for event in ledger.events if event.rest == 0]
    for through in (ends[len(ends) // 3], ends[2 * len(ends) // 3]):
        assert _prefix_agrees(ledger, through, pair.context), through


def test_a_decision_without_tested_claims_is_not_called_at_risk():
    """R-16: AT RISK has one definition, and that is another one."""
    cites = (Cite(type="claim", id="C-1-3", relation="based-on"),)
    (finding,) = judge(change("D-3-1", cites=cites), "DEC002")
    assert finding.message == "D-3-1 rests on no tested claim that stands: C-1-3 is superseded"


@pytest.mark.parametrize("kind", ["answer", "override", "gate"])
def test_only_what_was_deliberated_is_a_decision_that_artifacts_have_to_look_at(kind: str):
    """R-3: an answer, an override and a routing are none."""
    ledger = change("A-2-guardian", cites=())
    assert judge(ledger, "STY011")
    for identity in [one for one, facts in ledger.state.decisions.items() if facts.round == 1]:
        ledger = change(identity, ledger, type=kind)
    assert judge(ledger, "STY011") == ()


def test_a_mended_decision_is_at_risk_only_in_between():
    """D-3-1 rests on C-2-1, which is pending until the synthesis confirms it."""
    ledger = change("D-3-1", cites=(Cite(type="claim", id="C-2-1", relation="based-on"),))
    assert judge(ledger, "DEC002") == ()
    (finding,) = (one for one in findings(ledger, CONTEXT, through=seq_of("D-3-1")) if one.code == "DEC002")
    assert (finding.seq, finding.until) == (seq_of("D-3-1"), seq_of("V-3-5"))


@settings(max_examples=25)
@given(st.data())
def test_no_ledger_makes_a_rule_fail(data: st.DataObject):
    """Events dropped, doubled, swapped and given each other's fields: always findings, never an exception."""
    events: list[Event] = list(base().events)
    for _ in range(data.draw(st.integers(1, 4))):
        one = data.draw(st.integers(1, len(events) - 1))
        other = data.draw(st.integers(1, len(events) - 1))
        match data.draw(st.sampled_from(["drop", "double", "swap", "fields"])):
            case "drop":
                del events[one]
            case "double":
                events.insert(one, events[other])
            case "swap":
                events[one], events[other] = events[other], events[one]
            case _:
                fields = ("round", "phase", "step", "by", "saw", "via", "id")
                name = data.draw(st.sampled_from(fields))
                if name != "id" or (events[one].id is None) == (events[other].id is None):
                    events[one] = structs.replace(events[one], **{name: getattr(events[other], name)})
    numbered = [structs.replace(event, seq=seq) for seq, event in enumerate(events)]
    findings(book(numbered, base().blobs), CONTEXT)


def test_an_empty_ledger_is_judged():
    assert findings(book((), base().blobs), CONTEXT) == ()


def test_a_ledger_without_protocol_is_judged_as_far_as_it_goes():
    assert findings(base(), RuleContext()) == ()


def test_an_import_lists_what_it_cannot_be_judged_by():
    report = check(imported(ROUND), CONTEXT)
    assert {entry.code for entry in report.not_applicable} == {
        rule.code for rule in RULES if not rule.applies_to_imports
    }
    assert {entry.reason for entry in report.not_applicable} == {"imported"}
    assert check(base(), CONTEXT).not_applicable == []


def test_an_import_is_judged_by_all_seven_published_rules():
    assert {rule.published for rule in RULES if rule.applies_to_imports and rule.published} == set(
        range(1, 8)
    )


def test_published_rules_speak_in_an_import():
    bare = imported(
        structs.replace(ROUND, round=1, absent=None, plan_row=0),
        structs.replace(CLAIM, id="C-1-1", round=1, testable_as=""),
        structs.replace(CHECK, id="V-1-1", round=1, evidence_refs=(), claims_affected=("C-1-2",)),
    )
    assert {
        (finding.code, finding.seq) for finding in findings(bare, CONTEXT) if finding.severity == "error"
    } == {
        ("CLM001", 2),
        ("REF001", 3),
        ("REF005", 3),
    }


def test_codes_are_unique_and_every_rule_of_every_topic_is_listed_once():
    assert len({rule.code for rule in RULES}) == len(RULES)
    topics = [
        import_module(f"validators.rules.{path.stem}")
        for path in (VALIDATORS / "rules").glob("*.py")
        if path.stem != "__init__"
    ]
    written = [
        (name, value.name, value.code)
        for topic in topics
        for name, value in vars(topic).items()
        if isinstance(value, Rule)
    ]
    assert sorted(written) == sorted((rule.name, rule.name, rule.code) for rule in RULES)


def test_every_rule_says_itself_its_reason_and_its_source():
    assert [
        rule.code for rule in RULES if not (rule.summary.endswith(".") and rule.reason and rule.source)
    ] == []


def test_the_hash_is_that_of_codes_and_versions():
    canonical = json.dumps(sorted([rule.code, rule.version] for rule in RULES), separators=(",", ":"))
    assert rules_hash() == hashlib.sha256(canonical.encode()).hexdigest()
    assert rules_hash(RULES[::-1]) == rules_hash()
    assert rules_hash(RULES[1:]) != rules_hash()


def test_the_report_has_the_published_shape():
    report = check(change("V-1-2", claims_affected=()), CONTEXT, recorded=True).model_dump()
    assert set(report) == {"run", "ok", "findings", "as_given", "not_applicable"}
    assert report["ok"] is False
    first = report["findings"][0]
    assert first == {
        "code": "LIF004",
        "severity": "error",
        "seq": seq_of("V-1-2"),
        "stream": "verifications",
        "line": 3,
        "message": "V-1-2 moves C-1-2 and does not list it as affected",
    }


def test_warnings_leave_a_run_good():
    report = check(change("A-1-action", minutes=45), CONTEXT, recorded=True)
    assert report.ok
    assert [finding.code for finding in report.findings] == ["WRD001"]


def test_a_phase_judges_the_ledger_as_it_stood_then():
    broken = change("D-3-2", anchor_ref="G-9")
    assert end_of("G", broken) < seq_of("D-3-2")
    assert check(broken, CONTEXT, "G").ok
    assert not check(broken, CONTEXT, "S").ok
    with pytest.raises(PhaseUnknown):
        check(broken, CONTEXT, "Z")


def test_standing_orders_by_seq_and_keeps_what_is_no_event():
    found = findings(change("A-1-action", minutes=45), CONTEXT)
    assert standing(reversed(found), 10_000) == found


@pytest.mark.parametrize("through", COMMITS[::20])
def test_every_prefix_of_a_good_deliberation_is_good(through: int):
    assert findings(cut(through), CONTEXT, recorded=True) == ()


def test_the_page_agrees_with_the_rules():
    assert rules.main(["--check"]) == 0


def test_a_stale_page_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rules, "PAGE", tmp_path / "rules.md")
    assert rules.main(["--check"]) == 1
    assert rules.main(["--write"]) == 0
    assert rules.main(["--check"]) == 0


def test_a_decision_after_a_persons_result_does_not_rest_on_a_pending_claim() -> None:
    """The rules once called the claim pending that the person's measurement had refuted."""
    run = Path(__file__).parents[2] / "runs" / "examples" / "crux-hook"
    (measured,) = [event for event in open_run(run).book.of(Decision) if event.claims]
    (claim,) = measured.claims
    later = [one for one in moot.check(run).findings if one.seq is not None and one.seq > measured.seq]
    assert [one.message for one in later if f"{claim} is pending" in one.message] == []
