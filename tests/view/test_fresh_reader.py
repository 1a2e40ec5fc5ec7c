"""Sentences of the outcome screen that a fresh reader of recorded runs found to be false or misleading."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ledger.events import Assumption, Challenge, Disposition, Response, Vote
from ledger.state.book import Book
from ledger.state.decided import standing
from moot.api import open_run
from moot.view.forecasts import closing_lines, forecasts_of
from moot.view.outcome import Outcome, outcome_of
from moot.view.outcome_text import QUESTION, outcome_lines, status_clause
from roles.protocol import Step
from tests.long_run import NAME
from tests.protocols.changing import Change, changed_run, unchanged
from tests.recorded import run_of


def recorded(name: str) -> tuple[Book, Outcome]:
    book = open_run(run_of(name)).book
    return book, outcome_of(name, book)


def scripted(path: Path, protocol: str, change: Change, **more: Any) -> tuple[Book, Outcome]:
    book = changed_run(path / "run", protocol, change, **more).book()
    return book, outcome_of("run", book)


def rows(outcome: Outcome, label: str, width: int = 100) -> str:
    """Return the text of all rows with a label."""
    texts: dict[str, list[str]] = {}
    current = ""
    for line in outcome_lines(outcome, "run", width):
        current = line[:12].strip() or current
        texts.setdefault(current, []).append(line[12:])
    return " ".join(" ".join(texts.get(label, [])).split())


# ---------------------------------------------------------------- the last ballot decides


def test_a_veto_is_quoted_from_the_ballot_that_decided() -> None:
    _, outcome = recorded("tribunal-medicines")
    assert outcome.answer == (
        "REFUSE by the rule safety veto: safety puts the risk at 71 of 100, which by rule is a veto (from 50 on)."
        " safety: What can happen remains severe and partly irreversible, and the question as put promises none"
        " of these safeguards, so I still oppose acting on it without them. (VO-3-2-safety)"
    )


def test_reasons_of_a_vote_are_those_of_last_ballots() -> None:
    book, outcome = recorded("tribunal-medicines")
    assert [point.refs for point in outcome.why] == [["VO-3-2-accuracy"], ["VO-3-2-safety"]]
    for point in outcome.why:
        vote = book.by_id[point.refs[0]]
        assert isinstance(vote, Vote)
        assert point.text.partition("): ")[2] in " ".join(vote.reasoning.split())
    assert outcome.why[0].text.startswith(
        "accuracy (REFUSE, risk 65 of 100; REFUSE, risk 70 in the first ballot): The question"
    )


@pytest.mark.parametrize(
    ("reasoning", "quoted"),
    [
        ("Both hit a gap. I still oppose it. With a source I support it.", "I still oppose it."),
        ("Both hit a gap. I now keep my veto. I would support a source.", "I now keep my veto."),
        (
            "Far too much about the person is unknown here. With a checked source I support it.",
            "Far too much about the person is unknown here.",
        ),
    ],
)
def test_the_sentence_quoted_is_for_the_vote_and_else_the_first(
    reasoning: str, quoted: str, tmp_path: Path
) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task in ("analyse", "revise") and step.role == "safety":
            made["confidence"], made["risk"] = 50, 80
            made["reasoning"] = reasoning if step.task == "revise" else "A first reason."

    _, outcome = scripted(tmp_path, "tribunal", change)
    assert outcome.answer.endswith(f"(from 50 on). safety: {quoted} (VO-3-2-safety)")


def test_a_role_that_changed_its_vote_is_told_with_both(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task in ("analyse", "revise") and step.role == "safety":
            made["confidence"], made["risk"] = (50, 80) if step.task == "analyse" else (80, 20)

    _, outcome = scripted(tmp_path, "tribunal", change)
    (safety,) = [point.text for point in outcome.why if point.refs == ["VO-3-2-safety"]]
    assert safety.startswith("safety (ACT, risk 20 of 100; VETO, risk 80 in the first ballot): ")


# ---------------------------------------------------------------- a question is shown whole


@pytest.mark.parametrize("width", [60, 100, 200])
def test_a_question_is_shown_with_all_its_options(width: int) -> None:
    _, outcome = recorded("jugalbandi-ledger")
    asked = rows(outcome, "needs you", width)
    assert asked.startswith(f"{outcome.needs_you[0].text} (N-1-1) ")
    assert "or refusal of all commits? And which named person" in asked


def _asking(question: str) -> Change:
    def change(step: Step, made: dict[str, Any]) -> None:
        del step
        dispositions = made.get("dispositions", made.get("criticisms", ()))
        for n, disposition in enumerate(dispositions):
            asks = {"disposition": "escalated", "question": question, "revision": None}
            disposition |= asks if n == 0 else {"disposition": "rejected", "question": None, "revision": None}

    return change


@pytest.mark.parametrize("protocol", ["jugalbandi", "single-pass"])
def test_a_very_long_question_ends_with_the_command_that_prints_it(protocol: str, tmp_path: Path) -> None:
    question = f"Which of these: {'a very long option, ' * 40}or none?"
    rules = {"dispositions": "three"} if protocol == "single-pass" else {}
    _, outcome = scripted(tmp_path / "long", protocol, _asking(question), rules=rules)
    (asking,) = outcome.needs_you
    asked = rows(outcome, "needs you")
    assert f"… ({asking.ids[0]}; whole: moot show run {asking.ids[0]})" in asked
    assert QUESTION - 30 <= len(asked.partition("…")[0]) <= QUESTION
    question = f"Which of these: {'an option, ' * 30}or none?"
    _, outcome = scripted(tmp_path / "whole", protocol, _asking(question), rules=rules)
    assert rows(outcome, "needs you").startswith(f"After X-1-1: {question} (")


# ---------------------------------------------------------------- what is against the final answer


def test_what_waits_as_a_question_is_no_objection_too() -> None:
    book, outcome = recorded("jugalbandi-ledger")
    assert book.state.concerns["N-1-1"].between == ("X-1-10",)
    assert outcome.objection is None
    assert not rows(outcome, "against it")


@pytest.mark.parametrize("rounds", ["1", "2"])
def test_an_objection_is_one_that_was_rejected(rounds: str, tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        del step
        ways = ["escalated", "accepted", "rejected"]
        for way, disposition in zip(ways, made.get("dispositions", ()), strict=False):
            disposition |= {"disposition": way, "question": "Who pays?" if way == "escalated" else None}
            disposition["revision"] = "Mended." if way == "accepted" else None

    book, outcome = scripted(tmp_path, "jugalbandi", change, rules={"rounds": rounds})
    assert outcome.objection is not None
    became = {event.of: event.disposition for event in book.of(Disposition)}
    against = [outcome.objection.ref, *outcome.objection.others]
    assert {became[identity] for identity in against} == {"rejected"}
    # What an earlier round rejected is against the same text, after what the last round did.
    assert [book.by_id[identity].round for identity in against] == [2, 1][-int(rounds) :]
    assert against[-1] in rows(outcome, "against it")


def test_what_would_make_a_veto_fall_is_a_row_of_the_outcome() -> None:
    book, outcome = recorded("tribunal-medicines")
    assert [point.refs for point in outcome.changes_our_mind] == [
        ["VO-3-2-accuracy"],
        ["VO-3-2-safety"],
    ]
    for point in outcome.changes_our_mind:
        vote = book.by_id[point.refs[0]]
        assert isinstance(vote, Vote)
        assert point.text.partition(": ")[2] in " ".join(vote.reasoning.split())
    assert "With them in place and tested" in outcome.changes_our_mind[1].text
    assert rows(outcome, "revisit if")


def test_terms_of_a_vote_to_act_are_in_its_own_words_and_not_required(tmp_path: Path) -> None:
    """A sentence with a condition may name what would end the approval: `I would refuse if the risk doubled.`"""

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task in ("analyse", "revise"):
            made["reasoning"] = "It helps. I would act only if a person reads each answer. So be it."

    _, outcome = scripted(tmp_path, "tribunal", change)
    terms = {point.text for point in outcome.changes_our_mind}
    assert outcome.answer.startswith("ACT")
    assert "utility: I would act only if a person reads each answer." in terms
    assert outcome.requirements == []


def test_a_vote_is_shown_with_the_scale_of_its_numbers() -> None:
    assert (
        "utility ACT (66% sure that acting is right, risk 54 of 100)"
        in recorded("tribunal-medicines")[1].how_sure
    )


def test_a_tension_that_a_person_decides_is_put_as_a_question() -> None:
    (asking,) = recorded("priority-season")[1].needs_you
    assert asking.text.startswith("Which view holds? O-5: urgency says P1 (")


def test_blanks_of_a_final_text_are_in_the_status_and_named() -> None:
    _, outcome = recorded("ratchet-notice")
    assert status_clause(outcome) == "DECIDED: 5 blanks left to fill"
    assert (
        "Fill in [DAY MONTH YEAR], [TEAM NAME], [EMAIL ADDRESS] in the final text" in outcome.do_now[0].text
    )


@pytest.mark.parametrize("name", ["single-pass-ledger", "jugalbandi-ledger"])
def test_a_text_without_blanks_is_only_to_be_read(name: str) -> None:
    assert recorded(name)[1].do_now[0].text.startswith("Read the final text before you use it")


# ---------------------------------------------------------------- plans of several members


def test_the_plans_of_other_members_are_named() -> None:
    _, outcome = recorded("council-ledger")
    assert outcome.answer.startswith(
        "3 of 3 say O-2 (One JSONL journal with a hash chain). In the words of one of them"
        " (D-1-1; the other plans may differ: D-1-2, D-1-3): Build O-2 as one hash-chained JSONL journal"
    )


def test_conditions_are_those_of_all_members_who_agree() -> None:
    _, outcome = recorded("council-ledger")
    assert status_clause(outcome) == "DECIDED: by 3 of 3 members, 9 requirements in 3 plans"
    for points in (outcome.requirements, outcome.changes_our_mind):
        assert [point.refs for point in points] == [[f"D-1-{n}"] for n in (1, 2, 3) for _ in range(3)]
    for label in ("required", "revisit if"):
        assert re.search(
            rf"\(D-1-1\) \(and [678] more “{label}”: D-1-1, D-1-2, D-1-3\)$", rows(outcome, label)
        )


def test_reasons_objections_and_assumptions_are_those_of_every_plan() -> None:
    book, outcome = recorded("council-ledger")
    steps = [book.by_id[f"D-1-{n}"].step for n in (1, 2, 3)]
    assert [book.by_id[point.refs[0]].step for point in outcome.why] == steps
    assert " in 3 plans, 3 shown" in outcome.how_sure
    assert outcome.objection is not None
    assert outcome.objection.line.endswith(
        "(X-1-8; others: X-1-9; to the other plans: X-1-17, X-1-24, X-1-25, X-1-26)"
    )
    # An objection is to one plan alone.
    aimed = {event.id: event.step for event in book.of(Challenge)}
    own = {aimed[name] for name in (outcome.objection.ref, *outcome.objection.others)}
    assert (own, own & {aimed[name] for name in outcome.objection.also}) == ({steps[0]}, set())
    assert len(outcome.assumed) == len(book.of(Assumption)) == 53
    assert [book.by_id[point.refs[0]].step for point in outcome.assumed[:3]] == steps
    assert rows(outcome, "assumed").endswith(" more: moot log run --kind assumption)")


def test_claims_that_were_read_are_no_run_without_a_test() -> None:
    book = open_run(run_of(NAME)).book
    assert re.search(
        r"no program was run, claims checked: \d+ of \d+ by reading", outcome_of("run", book).looked_at
    )


def test_a_member_for_another_option_sets_no_conditions(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        made |= {"decision": f"Plan {step.name.repeat}.", "answers": f"O-{1 if step.name.repeat < 3 else 2}"}
        made["requirements"] = [f"need {step.name.repeat}"]

    _, outcome = scripted(tmp_path, "council", change)
    assert outcome.answer.startswith("2 of 3 say O-1")
    assert "(D-1-1; the other plan may differ: D-1-2): Plan 1." in outcome.answer
    assert {point.refs[0] for point in outcome.requirements} == {"D-1-1", "D-1-2"}


def test_an_answer_that_rests_on_a_claim_s_failure_is_not_at_risk() -> None:
    """The memo of crux-hook cites the measurement that refuted C-1-1, and not the claim, which supports nothing."""
    state = recorded("crux-hook")[0].state
    assert standing(state, "D-2-1") == "in_force"
    cites = {cite.id: cite.relation for cite in state.decisions["D-2-1"].cites}
    assert cites["D-1-2"] == "supported-by"
    assert "C-1-1" not in cites


def test_what_a_person_measured_is_counted_beside_the_programs() -> None:
    assert "no program was run, claims checked: 1 of 3 by a person" in recorded("crux-hook")[1].looked_at


def test_a_test_that_a_question_asks_for_is_listed_once() -> None:
    _, outcome = recorded("crux-hook")
    assert outcome.needs_you[0].text.startswith("Take the last 100 CI runs")
    assert not any("Take the last 100 CI runs" in point.text for point in outcome.do_now)


def test_an_estimate_of_no_more_ways_to_be_wrong_is_not_shown() -> None:
    report = forecasts_of("run", open_run(run_of("crux-balance")).book)
    assert report is not None
    assert "3 ways to be wrong named." in list(closing_lines(report))


# ---------------------------------------------------------------- one protocol each


def scoring(totals: dict[int, tuple[int, int]]) -> Change:
    """Scores of both options of a round, the same in every criterion: of the first by name, of the second."""

    def change(step: Step, made: dict[str, Any]) -> None:
        first = min((row["option"] for row in made["scores"]), default="") if step.task == "scoring" else ""
        for row in made["scores"] if first else ():
            row["score"] = totals[step.name.round][row["option"] != first]

    return change


def test_every_judgement_that_leaves_its_own_scores_is_named(tmp_path: Path) -> None:
    """Rounds 5 and 6 compare options that are not recommended in the end."""
    # The script recommends the first of each pair, in even rounds the later one by name.
    _, outcome = scripted(tmp_path, "comparative", scoring(dict.fromkeys(range(1, 7), (4, 2))))
    assert outcome.how_sure.endswith(" than the one that it recommends in D-2-1, D-4-1, D-6-1.")


def test_a_leader_that_loses_where_both_were_compared_is_said_to(tmp_path: Path) -> None:
    lost = "; in the rounds that compare the two, O-2 scores higher."
    # O-1 leads by its rounds against O-3, and O-2 is behind by its own.
    scores = {1: (3, 4), 2: (3, 3), 3: (5, 1), 4: (5, 1), 5: (2, 2), 6: (2, 2)}
    _, outcome = scripted(tmp_path / "lost", "comparative", scoring(scores))
    (point,) = [point for point in outcome.why if "ahead" in point.text]
    assert point.text.startswith("By the judge's scores O-1 is ahead of O-2 in ")
    assert point.text.endswith(lost)
    _, even = scripted(tmp_path / "even", "comparative", scoring(scores | {2: (4, 3)}))
    assert all(lost not in point.text for point in even.why)


def test_a_ruling_by_the_numbers_of_one_view_has_that_view_as_its_reason(tmp_path: Path) -> None:
    """Safety votes ACT and is 12 percent sure; accuracy alone votes the way of the ruling."""
    numbers = {"utility": (60, 32), "accuracy": (32, 16), "safety": (12, 29)}

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "revise":
            made["confidence"], made["risk"] = numbers[step.role]

    _, outcome = scripted(tmp_path, "tribunal", change, rules={"voting": "shipped"})
    assert outcome.answer.startswith(
        "REFUSE by the rule low confidence of safety (1 of 3 last votes are REFUSE). safety: reasons of r3 "
    )
    assert [point.refs for point in outcome.why] == [["VO-3-2-safety"], ["VO-3-2-accuracy"]]
    assert [dissenter.role for dissenter in outcome.dissent] == ["utility"]
    assert outcome.objection is not None
    assert outcome.objection.ref == "VO-3-2-utility"


def test_a_majority_against_acting_is_the_reason_of_a_refusal_by_its_rule(tmp_path: Path) -> None:
    numbers = {"utility": (90, 20), "accuracy": (70, 20), "safety": (80, 40)}

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "revise":
            made["confidence"], made["risk"] = numbers[step.role]

    _, outcome = scripted(tmp_path, "tribunal", change, rules={"voting": "shipped"})
    assert outcome.answer.startswith(
        "REFUSE by the rule low agreement of accuracy, safety (none of 3 last votes"
    )
    assert [point.refs for point in outcome.why] == [["VO-3-2-accuracy"], ["VO-3-2-safety"]]
    assert [dissenter.role for dissenter in outcome.dissent] == ["utility"]


def test_the_first_thing_to_do_is_no_alternative_to_nothing(tmp_path: Path) -> None:
    _, outcome = scripted(tmp_path, "tribunal", unchanged, lose=frozenset({"r3.revise.safety"}))
    assert rows(outcome, "do now").startswith("To ask again: moot fork run --round 3 (all of that round")


def test_a_reason_of_a_debate_says_how_it_was_judged_and_which_fallacy_a_judge_sees(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        for n, row in enumerate(made["scores"] if step.task == "judging" else ()):
            row |= dict.fromkeys((name for name in row if name.endswith("_score")), 9 - n)
            row |= {"standing": "REFUTED" if (n, step.name.repeat) == (1, 3) else "UPHELD"}
            row |= {"fallacies": ["Straw Man"] * (n == 1)}
        for name in ("concessions", "unrebutted"):
            made |= {name: []} if name in made else {}

    _, outcome = scripted(tmp_path / "three", "debate", change, rules={"judges": "3"})
    told = {point.refs[0]: point.text.partition("):")[0] + ")" for point in outcome.why}
    assert told["R-1-1"] == "PRO (judge: upheld (3 of 3))"
    assert told["R-1-2"] == "PRO (judge: upheld (2 of 3), judge: refuted (1 of 3); fallacy: Straw Man)"
    _, single = scripted(tmp_path / "one", "debate", change)
    assert single.why[0].text.startswith("PRO (judge: upheld): claim number 0")


def test_an_argument_that_fell_although_it_was_conceded_is_said_to_be_conceded(tmp_path: Path) -> None:
    """The crossing of con concedes R-1-3, and the judge is uncertain of it."""

    def change(step: Step, made: dict[str, Any]) -> None:
        for n, row in enumerate(made["scores"] if step.task == "judging" else ()):
            row |= dict.fromkeys((name for name in row if name.endswith("_score")), 9 - n)

    _, outcome = scripted(tmp_path, "debate", change)
    assert " R-1-3 (judge: uncertain, conceded by con)" in outcome.how_sure


def test_a_finding_keeps_its_words_where_its_marks_have_no_room(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        for n, row in enumerate(made.get("findings", ())):
            row["text"] = f"words of finding {n} {step.role} " + "that go on " * 6
        if step.task == "verdict":
            made["blockers"] = ["N-1-4", "N-1-1", "N-1-2"]

    _, outcome = scripted(tmp_path, "panel", change, rules={"reviewers": "5"})
    left = rows(outcome, "not settled")
    assert (
        "Among what matters most to the judge: reviewer_2: words of finding 0 reviewer_2 that go on" in left
    )
    assert ", the gravest by its author, reviewer_" in left


def test_questions_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    lost = frozenset({"r1.answering.analyst_1"})
    _, outcome = scripted(tmp_path, "cross-examination", unchanged, lose=lost)
    assert outcome.how_sure.endswith(
        " Of 6 questions 2 were defended, 2 conceded and 2 deflected; 2 had no answer."
    )


def test_a_change_that_a_critic_proposes_is_no_part_of_the_weakness(tmp_path: Path) -> None:
    book, outcome = scripted(tmp_path, "ratchet", unchanged)
    (answer,) = [event for event in book.of(Response) if event.outcome == "justify"]
    assert rows(outcome, "against it") == (
        "critic: weak 1 of r1 critique critic Proposed: say it [not judged: reviser justifies the text,"
        f" {answer.text}] (X-1-2)"
    )


def test_roles_that_gave_no_reply_are_counted(tmp_path: Path) -> None:
    _, outcome = scripted(tmp_path / "lost", "priority", unchanged, lose=frozenset({"r1.rating.impact"}))
    assert "; 1 of 2 roles, " in outcome.trust
    _, whole = scripted(tmp_path / "whole", "priority", unchanged)
    assert "; 2 roles, " in whole.trust


def test_an_answer_names_the_objection_that_it_meets(tmp_path: Path) -> None:
    _, outcome = scripted(tmp_path, "devils-advocate", unchanged)
    assert outcome.why[0].text.startswith("Met, as the attacker judged it, by this answer to X-1-")


def test_the_command_for_whole_texts_needs_one(tmp_path: Path) -> None:
    _, outcome = scripted(
        tmp_path / "lost", "devils-advocate", unchanged, lose=frozenset({"r1.steelman.steelman"})
    )
    assert rows(outcome, "in full") == ""
    _, whole = scripted(tmp_path / "whole", "devils-advocate", unchanged)
    assert rows(whole, "in full").startswith("moot show run ID: ")


def test_an_answer_that_leaves_the_options_open_says_so(tmp_path: Path) -> None:
    text = "The answer names none of the options that the question names."
    _, outcome = scripted(tmp_path / "open", "single-pass", unchanged, rules={"dispositions": "three"})
    assert outcome.status == "your_call"
    assert text in [point.text for point in outcome.not_settled]
    # The status of a decision says it: "no option named".
    _, decided = scripted(tmp_path / "decided", "single-pass", unchanged)
    assert text not in [point.text for point in decided.not_settled]
