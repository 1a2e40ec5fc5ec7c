"""Scripted runs of every short protocol, whose outcome is held against the ledger line by line.

The replies are made by a program and labeled so. What is expected is read from the raw events, not from the views: who
said what, what a judge made of it, what is open, how much was written.

Of `moot/view/judgements.py`, `moot/view/objections.py`, `moot/view/outcome_status.py`, `moot/view/reasons.py`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from ledger.events import (
    Amendment,
    Argument,
    Assumption,
    Challenge,
    Claim,
    Concern,
    Decision,
    Disposition,
    Rating,
    Response,
    Standing,
    Statement,
    Vote,
)
from ledger.state.book import Book
from ledger.state.decided import concern_standing, final_in_force
from moot.__main__ import main
from moot.api import open_run
from moot.errors import MootError
from moot.view.agreement import choices
from moot.view.outcome import Outcome, outcome_of
from moot.view.outcome_text import outcome_lines, status_clause
from roles.protocol import Step, awaited_answers
from rounds.run import human_actions
from rounds.run.outcome import quorum_of
from rounds.run.session import RunSession
from tests.protocols import crux_seats
from tests.protocols.changing import Change, changed_run, unchanged
from tests.protocols.playing import begin, play, submit
from tests.recorded import run_of
from tests.rounds.openings import DOCUMENT

RUNS: list[tuple[str, dict[str, str]]] = [
    ("jugalbandi", {}), ("jugalbandi", {"rounds": "2"}), ("jugalbandi", {"wait": "off"}), ("single-pass", {}),
    ("single-pass", {"dispositions": "three"}), ("council", {}), ("debate", {}), ("debate", {"judges": "3"}),
    ("adversarial", {}), ("adversarial", {"scale": "green_amber_red"}), ("devils-advocate", {}), ("comparative", {}),
    ("cross-examination", {}), ("ratchet", {}), ("panel", {}), ("priority", {}), ("tribunal", {}),
    ("tribunal", {"voting": "shipped"}),
]  # fmt: skip


def played(path: Path, protocol: str, change: Change = unchanged, **more: Any) -> tuple[Book, Outcome]:
    session = changed_run(path / "run", protocol, change, **more)
    book = session.book()
    return book, outcome_of("run", book)


def texts_of(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for part in value.values():
                yield from texts_of(part)
        case list():
            for part in value:
                yield from texts_of(part)
        case _:
            pass


def written(book: Book) -> int:
    replies = (book.blobs.read(event.call.reply) for event in book.events if event.call is not None)
    return sum(len(text.split()) for reply in replies if reply for text in texts_of(orjson.loads(reply)))


@pytest.mark.parametrize(("protocol", "rules"), RUNS)
def test_every_line_is_so_by_the_ledger(protocol: str, rules: dict[str, str], tmp_path: Path) -> None:
    book, found = played(tmp_path, protocol, rules=rules)
    state = book.state
    replies = sum(event.call is not None for event in book.events)
    assert f"{replies:,} repl" in found.looked_at
    assert f"{written(book):,} words" in found.looked_at
    assert (
        f"{len(state.answered)} of {len(state.answered) + len(state.given_up)} requested repl" in found.trust
    )
    assert found.trust.startswith(f"no live run: {replies} repl")
    finals = [event for event in book.of(Decision) if event.type == "final"]
    last = finals[0] if finals else next(iter(book.of(Decision)))
    refused = {cite.id for cite in last.cites if cite.relation == "resolves"}
    for point in found.why:  # no reason is something that the decision settled or that stands against it
        named = [ref for ref in point.refs if not ref.startswith("@")]
        assert all(ref in book.by_id for ref in named)
        assert not refused.intersection(named) or protocol == "devils-advocate"
        if point.quote:
            event = book.by_id[named[0]]
            assert point.quote in [one.quote for one in getattr(event, "evidence", ())]
    if found.objection:
        who, _, rest = found.objection.line.partition(": ")
        said = book.by_id[rest.rpartition("(")[2].partition(";")[0].rstrip(")")]
        assert (said.by, isinstance(said, Argument | Challenge | Concern | Vote)) == (who, True)
        assert said.id not in {ref for point in found.why for ref in point.refs}
    asked = {one.id for one in book.of(Concern) if one.for_human and one.id not in state.resolved}
    assert {one for asking in found.needs_you for one in asking.ids} == asked
    if protocol in ("jugalbandi", "single-pass"):
        assert len(found.assumed) == len(list(book.of(Assumption)))
    told = {one.text for one in found.requirements} | {one.text for one in found.changes_our_mind}
    judges = [one for one in book.of(Statement) if one.phase == "judging"]
    decisions = list(book.of(Decision))
    said_by = {text for one in decisions for text in one.falsifiers}
    said_by |= {needed.text for one in decisions for needed in one.requirements}
    said_by |= {part.text for one in judges for part in one.sections if part.name == "falsifiers"}
    assert told <= said_by
    assert bool(told) == bool(said_by)
    for one in found.dissent:
        assert one.ref in book.by_id
    assert max(map(len, outcome_lines(found, "run", 100))) <= 100


def test_statuses_of_the_plain_scripts(tmp_path: Path) -> None:
    told = {
        (protocol, *rules.values()): status_clause(played(tmp_path / str(n), protocol, rules=rules)[1])
        for n, (protocol, rules) in enumerate(RUNS)
    }
    assert told == {
        ("jugalbandi",): "WAITING: for a person's answer",
        ("jugalbandi", "2"): "WAITING: for a person's answer",
        ("jugalbandi", "off"): "YOUR CALL: 1 question to you is open",
        ("single-pass",): "DECIDED: no option named, 1 requirement",
        ("single-pass", "three"): "YOUR CALL: 1 question to you is open",
        ("council",): "YOUR CALL: 3 members, and nobody joins their answers",
        ("debate",): "DECIDED: no option named",
        ("debate", "3"): "DECIDED: no option named",
        ("adversarial",): "DECIDED: approve with conditions, no option named, 1 requirement",
        ("adversarial", "green_amber_red"): "DECIDED: AMBER, no option named, 1 requirement",
        ("devils-advocate",): "DECIDED: no option named",
        ("comparative",): "DECIDED",
        ("cross-examination",): "DECIDED: no option named",
        ("ratchet",): "DECIDED: no option named",
        ("panel",): "DECIDED: ready, no option named",
        ("priority",): "YOUR CALL: 2 questions to you are open",
        ("tribunal",): "DECIDED: no option named",
        ("tribunal", "shipped"): "DECIDED: no option named",
    }


# ---------------------------------------------------------------- approvals


def judged(verdict: str, score: int, surviving: int = 1, unaddressed: int = 0) -> Change:
    """A judge who gives every concern the same score."""

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task != "verdict" or "scores" not in made:
            return
        concerns = [row["of"] for row in made["scores"]]
        made |= {
            "scores": [{"of": one, "score": score, "reason": "so"} for one in concerns],
            "surviving": ["R-1-1", "R-1-2"][:surviving],
            "unaddressed": concerns[:unaddressed],
            "verdict": verdict,
        }

    return change


@pytest.mark.parametrize("score", [1, 5])
def test_an_approval_has_the_surviving_arguments_as_reasons_and_a_concern_against_it(
    score: int, tmp_path: Path
) -> None:
    book, found = played(tmp_path, "adversarial", judged("approve", score))
    assert [point.refs for point in found.why] == [["R-1-1"]]
    assert found.why[0].text.startswith("advocate: ")
    assert found.objection is not None
    against = book.by_id[found.objection.ref]
    assert isinstance(against, Concern)
    words = "a stretch" if score == 1 else "genuine"
    assert f"[judge: {words}, {score} of 5 (severity 5 of 5 by its author)]" in found.objection.line
    assert (against.id in book.state.resolved) is (score == 1)
    assert status_clause(found) == "DECIDED: approve, no option named, 1 requirement"


def test_a_rejection_has_the_concerns_as_reasons_and_the_advocate_against_it(tmp_path: Path) -> None:
    book, found = played(tmp_path, "adversarial", judged("reject", 5))
    concerns = [book.by_id[point.refs[0]] for point in found.why]
    assert all(isinstance(concern, Concern) for concern in concerns)
    assert [point.text.partition(": ")[0] for point in found.why] == [
        f"{concern.by} (severity {concern.severity} of 5 by its author)" if concern.severity else concern.by
        for concern in concerns
        if isinstance(concern, Concern)
    ]
    assert {concern.by for concern in concerns} == {"advocate", "challenger"}
    assert found.objection is not None
    assert found.objection.line == "advocate: claim number 0 of r1 case advocate [judge: survives] (R-1-1)"
    _, none = played(tmp_path / "none", "adversarial", judged("reject", 5, surviving=0))
    assert none.objection is not None
    assert "[judge: not named as surviving] (R-1-1; others: R-1-2)" in none.objection.line


def test_the_concern_that_the_judge_scores_highest_is_against_it(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "verdict":
            made["unaddressed"] = ["N-1-1", "N-1-3"]  # scored 1 and 3; N-1-5 is scored 5

    book, found = played(tmp_path, "adversarial", change)
    assert found.objection is not None
    assert (found.objection.ref, found.objection.became.partition(";")[0]) == (
        "N-1-5",
        "judge: genuine, 5 of 5 (severity 2 of 5 by its author)",
    )
    # Three are genuine. The advocate's own blocker is listed as not settled, so it is not counted here again.
    assert found.objection.others == ("N-1-4", "N-1-3")
    assert ["N-1-1"] in [point.refs for point in found.not_settled]
    assert {"N-1-2", "N-1-6"} == book.state.resolved


def test_a_blocker_that_the_advocate_names_itself_is_said_with_what_the_judge_makes_of_it(
    tmp_path: Path,
) -> None:
    _, found = played(tmp_path, "adversarial")
    assert [point.text for point in found.not_settled if point.refs == ["N-1-1"]] == [
        "A blocker that the advocate itself names (judge: a stretch, 1 of 5, not addressed): blocker of r1 case"
        " advocate"
    ]
    # As the objection or as a reason it is said there.
    _, lost = ended(tmp_path / "lost", "adversarial", {"r1.attack.challenger"})
    assert lost.objection is not None
    assert lost.objection.ref == "N-1-1"
    _, rejected = played(tmp_path / "no", "adversarial", judged("reject", 5))
    assert ["N-1-1"] in [point.refs for point in rejected.why]
    # A stretch that the judge does not leave unaddressed is resolved.
    _, settled = played(tmp_path / "settled", "adversarial", judged("approve", 1))
    shown = (*lost.not_settled, *rejected.not_settled, *settled.not_settled)
    assert not [point for point in shown if point.refs == ["N-1-1"]]


def test_arguments_that_the_judge_lets_fall_are_named(tmp_path: Path) -> None:
    fallen = "On its side, but not counted as reasons: R-1-2 (not named as surviving)."
    _, found = played(tmp_path, "adversarial")
    assert ([point.refs for point in found.why], fallen in found.how_sure) == ([["R-1-1"]], True)
    _, both = played(tmp_path / "both", "adversarial", judged("approve", 4, surviving=2))
    assert "not counted as reasons" not in both.how_sure
    # What speaks for the proposal is not on the side of a rejection.
    _, rejected = played(tmp_path / "no", "adversarial", judged("reject", 5))
    assert "not counted as reasons" not in rejected.how_sure


def test_what_the_judge_calls_unaddressed_is_never_said_to_be_resolved(tmp_path: Path) -> None:
    book, found = ended(tmp_path, "adversarial", {"r1.attack.challenger"})
    assert found.objection is not None
    assert found.objection.became == "judge: a stretch, 1 of 5, not addressed"
    assert concern_standing(book.state, found.objection.ref) == "open"
    assert not book.state.resolved


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (judged("reject", 1), "The judge says reject, though it scores no concern as genuine."),
        (
            judged("approve", 4, unaddressed=2),
            "The judge says approve, though it calls genuine and not addressed: N-1-1, N-1-2.",
        ),
        (
            judged("approve", 1, surviving=0),
            "The judge says approve, though it names no argument that survives.",
        ),
        (judged("approve", 4), ""),
        (judged("approve with conditions", 4, unaddressed=2), ""),
        (judged("reject", 3), ""),
    ],
)
def test_a_judge_who_speaks_against_its_own_verdict_is_said_to(
    change: Change, sentence: str, tmp_path: Path
) -> None:
    _, found = played(tmp_path, "adversarial", change)
    assert found.how_sure.endswith(sentence)
    assert ("though" in found.how_sure) is bool(sentence)


@pytest.mark.parametrize("verdict", ["approve", "approve with conditions"])
@pytest.mark.parametrize("score", [2, 4])
def test_open_concerns_are_against_an_approval_and_resolved_ones_are_said_to_be(
    verdict: str, score: int, tmp_path: Path
) -> None:
    book, found = played(tmp_path, "adversarial", judged(verdict, score, unaddressed=1))
    concerns = {event.id for event in book.of(Concern)}
    assert not concerns.intersection(ref for point in found.why for ref in point.refs)
    assert found.objection is not None
    assert found.objection.ref == "N-1-1"
    # What the judge finds a stretch counts where nothing met it.
    assert {*found.objection.others} == (set() if score == 2 else concerns - {"N-1-1"})
    words = "a stretch, 2 of 5" if score == 2 else "genuine, 4 of 5"
    # The challenger's first concern is one more stretch, or it is as genuine as the others.
    first = "; of N-1-2, which the challenger ranks first: a stretch, 2 of 5" * (score == 2)
    assert found.objection.became == f"judge: {words}, not addressed{first}"
    assert found.objection.became in " ".join(" ".join(outcome_lines(found, "run", 100)).split())


@pytest.mark.parametrize("verdict", ["targeted fixes", "rethink"])
def test_a_panel_that_is_not_ready_has_its_blockers_as_reasons(verdict: str, tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "verdict":
            made["verdict"] = verdict
            made["blockers"] = ["N-1-4", "N-1-9"]

    book, found = played(tmp_path, "panel", change)
    (decision,) = book.of(Decision)
    blockers = [cite.id for cite in decision.cites if cite.relation == "based-on"]
    assert [point.refs[0] for point in found.why] == blockers == ["N-1-4", "N-1-9"]
    assert [point.text for point in found.why] == [
        "reviewer_2 (severity 5 of 5 by its author, 4, 4 by others, marked as theirs too by reviewer_1):"
        " finding 0 of r1 findings reviewer_2",
        "reviewer_3 (severity 2 of 5 by its author, 4, 4 by others): finding 2 of r1 findings reviewer_3",
    ]  # fmt: skip
    assert status_clause(found) == f"DECIDED: {verdict}, no option named"
    # The judge of a panel has to recommend something, so it is no condition.
    assert (found.requirements, [point.text for point in found.do_now]) == ([], ["mend the first"])
    assert "though" not in found.how_sure
    if verdict == "targeted fixes":  # what was taken up is no objection any more
        assert found.objection is not None
        assert (found.objection.ref, found.objection.became.partition(" (")[0]) == ("N-1-1", "open")
    # Findings that are shown nowhere else are counted, with the command that lists them.
    left = 6 if verdict == "targeted fixes" else 7
    # Where the judge calls all of N-1-1 mended it is the objection, else the gravest that is left.
    gravest = {
        6: "reviewer_3: finding 0 of r1 findings reviewer_3 (severity 5 of 5 by its author, 4, 4 by others)",
        7: "reviewer_1, 1 as grave: finding 0 of r1 findings reviewer_1 (severity 5 of 5 by its author, 4, 4 by"
        " others, marked as theirs too by reviewer_2 and reviewer_3)",
    }
    assert [point.text for point in found.not_settled] == [
        f"{left} more findings (moot log run --kind concern), the gravest by its author, {gravest[left]}"
    ]


def test_a_panel_that_is_ready_shows_what_matters_most_as_what_speaks_against_it(tmp_path: Path) -> None:
    from moot.view.annexes import annexes_of

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "verdict":
            made["blockers"] = ["N-1-9", "N-1-4"]  # Low and Critical

    book, found = played(tmp_path, "panel", change)
    # It has to name what matters most whatever it says, so that is no contradiction.
    assert "though" not in found.how_sure
    assert found.objection is not None
    assert found.objection.ref == "N-1-4"
    assert found.objection.became.startswith("judge: among what matters most (severity 5 of 5")
    (concerns,) = [annex for annex in annexes_of(book) if annex.title.startswith("Concerns")]
    assert {row[0]: row[-1] for row in concerns.rows if row[-1]} == {
        "N-1-4": "among what matters most",
        "N-1-9": "among what matters most",
    }


@pytest.mark.parametrize("protocol", ["adversarial", "debate", "devils-advocate", "panel"])
def test_an_answer_in_the_place_of_a_lost_verdict_decides(tmp_path: Path, protocol: str) -> None:
    """The run asked a person to decide, was told, and still said that nothing was decided."""
    session = begin(tmp_path / "run", protocol)
    while pending := session.pending():
        if pending[0].step.role == "judge":
            session.give_up(pending[0].step.id, "given_up", "lost in a test")
        else:
            submit(session, pending[0])
    before = outcome_of("run", session.book())
    (lost,) = session.book().state.given_up
    assert (status_clause(before), before.answer) == (
        "NOBODY ANSWERED: the step that decides has no reply; replies lost:"
        f" 1 of 1 in {lost.split('.')[1]} (Judge)",
        "Nothing was decided.",
    )
    (asking,) = before.needs_you
    human_actions.answer(session, asking.ids[0], "Take the journal.")
    after = outcome_of("run", session.book())
    assert (status_clause(after), after.answer) == ("DECIDED: by a person", "Take the journal.")
    assert (after.how_sure, after.why) == ("Decided by a person, because no reply decided.", [])
    assert "nothing is decided" not in quorum_of(session.book().state).headline


# ---------------------------------------------------------------- votes


VOTES = {
    "ACT": {"utility": (70, 20), "accuracy": (90, 10), "safety": (80, 20)},
    "WARN": {"utility": (50, 40), "accuracy": (70, 40), "safety": (50, 40)},
    "REFUSE": {"utility": (30, 40), "accuracy": (50, 40), "safety": (50, 80)},
}
"""Vote → confidence and risk that come to it, by view; safety's REFUSE is a veto."""


def voting(utility: str, accuracy: str, safety: str, first: str | None = None) -> Change:
    wanted = {"utility": utility, "accuracy": accuracy, "safety": safety}

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task in ("analyse", "revise"):
            vote = first if step.task == "analyse" and first is not None else wanted[step.role]
            made["confidence"], made["risk"] = VOTES[vote][step.role]

    return change


@pytest.mark.parametrize("voting_rule", ["documented", "shipped"])
def test_a_split_is_your_call_and_nobodys_words_are_the_answer(voting_rule: str, tmp_path: Path) -> None:
    _, found = played(tmp_path, "tribunal", voting("ACT", "REFUSE", "WARN"), rules={"voting": voting_rule})
    assert status_clause(found) == "YOUR CALL: the votes are split"
    assert "No majority (accuracy REFUSE, safety WARN, utility ACT)" in found.answer
    assert "reasons of" not in found.answer
    assert found.why == []
    assert {one.role for one in found.dissent} == {"utility", "accuracy", "safety"}


def test_a_unanimous_warning_is_no_vote_to_act(tmp_path: Path) -> None:
    _, found = played(tmp_path, "tribunal", voting("WARN", "WARN", "WARN"))
    assert found.answer.startswith("WARN by the rule unanimous (3 of 3 last votes are WARN). accuracy: ")
    assert status_clause(found) == "DECIDED: no option named"


def test_votes_that_were_lost_are_counted_where_the_rule_counts_them(tmp_path: Path) -> None:
    from moot.view.annexes import annexes_of

    session = begin(tmp_path / "run", "tribunal")
    play(session, lose=frozenset({"r3.revise.utility", "r3.revise.accuracy"}))
    book = session.book()
    assert outcome_of("run", book).answer.startswith(
        "REFUSE by the rule strong majority (2 of 3 last votes are REFUSE, 2 of them as no vote was given)."
    )
    (votes,) = [annex for annex in annexes_of(book) if annex.title == "Votes"]
    assert [row[2] for row in votes.rows].count("no vote (counts as REFUSE)") == 2


def test_a_majority_is_told_with_who_went_another_way(tmp_path: Path) -> None:
    _, found = played(tmp_path, "tribunal", voting("WARN", "WARN", "ACT"))
    assert found.answer.startswith("WARN by the rule strong majority (2 of 3 last votes are WARN). ")
    assert [one.role for one in found.dissent] == ["safety"]
    assert found.objection is not None
    assert found.objection.line.startswith("safety: ")


def test_a_veto_decides_and_a_withdrawn_one_is_named(tmp_path: Path) -> None:
    _, vetoed = played(tmp_path / "vetoed", "tribunal", voting("ACT", "ACT", "REFUSE"))
    # A view never says a vote: its numbers make it one, and the rule makes a ruling of it.
    assert vetoed.answer.startswith(
        "REFUSE by the rule safety veto: safety puts the risk at 80 of 100, which by rule is a veto (from 50 on)."
    )
    assert status_clause(vetoed) == "DECIDED: no option named"
    _, withdrawn = played(tmp_path / "withdrawn", "tribunal", voting("ACT", "ACT", "ACT", first="REFUSE"))
    assert "A veto of safety in the first ballot was withdrawn." in withdrawn.answer
    # Nobody votes against the ruling in the end, but the vetoed objection was made, and its reason is on the ledger.
    assert withdrawn.objection is not None
    assert withdrawn.objection.line == (
        "utility: REFUSE, risk 40 of 100 in the first ballot: reasons of r1 analyse utility"
        " (VO-1-1-utility; others: VO-1-1-accuracy, VO-1-1-safety)"
    )
    assert withdrawn.dissent == []


def test_a_ruling_that_no_last_vote_makes_says_so(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "tribunal", {"r1.analyse.safety"})
    assert found.answer.startswith("REFUSE by the rule safety vote lost (none of 3 last votes are REFUSE).")
    assert [one.role for one in found.dissent] == ["accuracy", "safety", "utility"]


def test_a_vote_reads_as_made_by_rule_and_a_lost_one_as_none(tmp_path: Path) -> None:
    from moot.view.event_lines import event_line

    book, found = ended(tmp_path, "tribunal", {"r3.revise.utility"})
    lines = {vote.id: event_line(vote, book) for vote in book.of(Vote)}
    assert lines["VO-3-2-utility"].endswith("✗ REFUSE by rule as no vote was given")
    assert "✓ ACT by rule from confidence 90, risk 10: reasons" in lines["VO-3-2-accuracy"]
    assert "Last votes, each made by rule from the numbers of its view: accuracy ACT" in found.how_sure


def test_a_lost_vote_is_told_as_no_vote(tmp_path: Path) -> None:
    _, found = played(
        tmp_path, "tribunal", voting("ACT", "ACT", "ACT"), lose=frozenset({"r3.revise.accuracy"})
    )
    assert "accuracy gave no vote (counts as REFUSE; ACT, risk 10 in the first ballot)" in found.how_sure
    assert "controller" not in found.how_sure
    assert [one.role for one in found.dissent] == []
    assert "No vote in the last ballot: accuracy." in found.answer
    assert "(DEGRADED)" in found.trust


@pytest.mark.parametrize(
    ("lost", "reasons"),
    [
        (
            {"r3.revise.utility", "r3.revise.accuracy"},
            [
                "The last vote of utility was lost, which counts as REFUSE."
                " Before it: ACT, risk 20 of 100: reasons of r1 analyse utility",
                "The last vote of accuracy was lost, which counts as REFUSE."
                " Before it: ACT, risk 10 of 100: reasons of r1 analyse accuracy",
            ],
        ),
        ({"r1.analyse.safety"}, ["The first vote of safety was lost, which counts as REFUSE."]),
        (
            {"r1.analyse.utility", "r3.revise.utility", "r3.revise.accuracy"},
            # Only the loss of the safety view in the first ballot refuses: it could have been a veto.
            [
                "The last vote of utility was lost, which counts as REFUSE.",
                "The last vote of accuracy was lost, which counts as REFUSE."
                " Before it: ACT, risk 10 of 100: reasons of r1 analyse accuracy",
            ],
        ),
    ],
)
def test_lost_votes_are_counted_among_the_reasons_of_a_refusal(
    lost: set[str], reasons: list[str], tmp_path: Path
) -> None:
    from moot.view.show import why_of

    book, found = ended(tmp_path, "tribunal", lost)
    assert [point.text for point in found.why if "lost" in point.text] == reasons
    assert [point.text for point in found.why[: len(reasons)]] == reasons
    nodes = why_of("run", book, final_in_force(book.state)[0]).nodes
    votes = {vote.id for vote in book.of(Vote) if vote.fallback}
    # A rule counts them; nothing is calculated, and nobody decided it.
    assert f"{len(reasons)} on lost votes" in found.how_sure
    assert {point.class_ for point in found.why if "lost" in point.text} == {None}
    assert {node.id for node in nodes if node.relation == "lost"} == votes


def test_a_ruling_to_act_rests_on_no_vote_that_was_lost(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "tribunal", {"r1.analyse.utility", "r3.revise.utility"})
    assert found.answer.startswith("ACT by the rule strong majority")
    assert [point.refs for point in found.why] == [["VO-3-2-accuracy"], ["VO-3-2-safety"]]


def test_a_view_that_was_lost_on_the_way_has_its_first_vote(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "tribunal", {"r3.revise.safety", "r1.analyse.accuracy", "r3.revise.accuracy"})
    assert "safety gave no vote (counts as REFUSE; VETO, risk 60 in the first ballot)" in found.how_sure
    assert "accuracy gave no vote (counts as REFUSE)," in found.how_sure


def test_a_dissenter_is_named_with_its_first_vote(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "tribunal", {"r3.revise.utility", "r3.revise.accuracy"})
    assert [one.text for one in found.dissent] == [
        "ACT, risk 20 of 100; VETO, risk 60 in the first ballot: reasons of r3 revise safety"
    ]


def test_what_code_doubts_about_a_ruling_is_said(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "revise":
            made["confidence"] = 100

    book, found = played(tmp_path, "tribunal", change)
    doubts = {concern.id: concern.text for concern in book.of(Concern)}
    assert "Forced consensus: all confidences are the same." in doubts.values()
    *told, challenges = found.not_settled
    assert {point.refs[0]: point.text for point in told} == doubts
    # No view has to say what it makes of what was put to it.
    assert {*challenges.refs} == {event.id for event in book.of(Challenge)}
    # What was put to the view that can veto is shown.
    assert challenges.text == (
        "What became of 6 challenges (moot log run --kind challenge) is not stated; one by utility to safety:"
        " weakest of r2 challenge on_safety utility"
    )


def test_a_veto_that_no_challenge_reached_is_not_said_to_be_argued_away(tmp_path: Path) -> None:
    """Its veto was withdrawn, the challenges of it were lost, and only the number of the others was shown."""
    lost = {"r2.challenge.on_safety.utility", "r2.challenge.on_safety.accuracy"}
    _, found = ended(tmp_path, "tribunal", lost)
    (challenges,) = found.not_settled
    assert challenges.text.startswith(
        "What became of 4 challenges (moot log run --kind challenge) is not stated, none of them to safety;"
    )
    assert status_clause(found) == (
        "DECIDED: no option named, replies lost: 2 of 6 in challenge (Utility, Accuracy)"
    )


@pytest.mark.parametrize("rules", ["documented", "shipped"])
def test_a_ruling_names_the_rules_of_its_run(rules: str, tmp_path: Path) -> None:
    _, found = played(tmp_path, "tribunal", rules={"voting": rules})
    assert found.how_sure.startswith(f"Computed by the {rules} rules from the votes.")


# ---------------------------------------------------------------- debates: who conceded what, and which side won


def scored(*judges: list[int], standing: str = "UPHELD", by_judge: tuple[str, ...] = ()) -> Change:
    """Judges who give the arguments these scores and standings; the last of each is for all later judges."""

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "judging":
            judge = step.name.repeat - 1
            for row, value in zip(made["scores"], judges[min(judge, len(judges) - 1)], strict=True):
                row |= {name: value for name in row if name.endswith("_score")}
                row["standing"] = by_judge[min(judge, len(by_judge) - 1)] if by_judge else standing

    return change


def in_turn(*changes: Change) -> Change:
    def change(step: Step, made: dict[str, Any]) -> None:
        for each in changes:
            each(step, made)

    return change


CON_AHEAD = [3, 4, 5, 5, 6, 7]


def conceding(task: str, role: str, *ids: str) -> Change:
    """A role that concedes these in its answers or its closing, and nothing else there."""

    def change(step: Step, made: dict[str, Any]) -> None:
        if (step.task, step.role) == (task, role):
            if task == "closing":
                made["concessions"] = [{"of": name, "text": "so be it"} for name in ids]
                made["unrebutted"] = []
            for row in made.get("answers", ()):
                row["outcome"] = "concede" if row["to"] in ids else "answer"

    return change


def test_reasons_of_a_debate_have_their_side_and_say_what_was_conceded(tmp_path: Path) -> None:
    nothing = in_turn(conceding("closing", "pro"), conceding("closing", "con"))
    _, found = played(tmp_path, "debate", in_turn(scored(CON_AHEAD), nothing))
    # The crossing of pro refutes, challenges and concedes the three arguments of con.
    assert {point.refs[0]: point.class_ for point in found.why} == {
        "R-1-4": "argued", "R-1-5": "argued", "R-1-6": "conceded",
    }  # fmt: skip
    lead = {"argued": "CON (judge: u", "conceded": "CON, conceded by pro (judge: u"}
    assert all(point.text.startswith(lead[point.class_ or ""]) for point in found.why)


@pytest.mark.parametrize("lost", ["r1.crossing.pro", "r1.opening.pro"])
def test_an_argument_that_nobody_argued_about_is_only_stated(lost: str, tmp_path: Path) -> None:
    _, found = ended(tmp_path, "debate", {lost})
    assert found.why
    assert {point.class_ for point in found.why} == {"said"}
    assert "stated, not tested; none was run." in found.how_sure


def test_what_a_side_gave_up_is_neither_a_reason_nor_an_objection(tmp_path: Path) -> None:
    given_up = in_turn(conceding("closing", "pro", "R-1-2", "R-1-3"), conceding("closing", "con", "R-1-5"))
    _, found = played(tmp_path, "debate", in_turn(scored(CON_AHEAD), given_up))
    assert [point.refs for point in found.why] == [["R-1-4"], ["R-1-6"]]
    assert found.objection is not None
    assert (found.objection.ref, found.objection.others) == ("R-1-1", ())


def test_an_argument_that_was_upheld_and_given_up_is_named_beside_the_reasons(tmp_path: Path) -> None:
    _, found = played(tmp_path, "debate")
    assert [point.refs for point in found.why] == [["R-1-6"]]
    # The judge names no side, and what the other side gave up is in no row.
    assert found.how_sure.endswith(
        " By these scores CON is ahead, and its arguments are the reasons. On its side, but not counted as reasons:"
        " R-1-4 (judge: upheld, given up by con); R-1-5 (judge: uncertain). Given up by the other side: R-1-1"
        " (judge: uncertain)."
    )
    _, panel = played(tmp_path / "panel", "debate", rules={"judges": "3"})
    assert "R-1-4 (judge: upheld (3 of 3), given up by con)" in panel.how_sure
    # The panel's own decision names the side.
    assert "by these scores" not in panel.how_sure.lower()
    _, alone = ended(tmp_path / "alone", "debate", {"r1.opening.pro"})
    assert "by these scores" not in alone.how_sure.lower()


def test_concessions_against_the_decision_are_listed_and_are_no_objections_too(tmp_path: Path) -> None:
    """By the side that won: arguments of the other side, own ones, and challenges to own ones."""
    book, found = played(tmp_path, "debate")
    assert [(point.text, point.refs) for point in found.conceded] == [
        ("con, an argument of PRO (judge: uncertain): claim number 2 of r1 opening pro", ["R-1-3"]),
        ("con, an argument of CON (judge: upheld): claim number 0 of r1 opening con", ["R-1-4"]),
    ]
    assert found.objection is not None
    assert (found.objection.ref, found.objection.others) == ("R-1-2", ())
    (granted,) = [event for event in book.of(Challenge) if (event.by, event.type) == ("con", "concede")]
    assert granted.target == "R-1-3"
    answers = in_turn(conceding("answering", "con", "X-1-2"), conceding("closing", "con", "R-1-3"))
    _, challenged = played(tmp_path / "answers", "debate", in_turn(scored(CON_AHEAD), answers))
    assert ["R-1-5"] in [point.refs for point in challenged.why]
    assert [(point.text, point.refs) for point in challenged.conceded] == [
        ("con, an argument of PRO (judge: upheld): claim number 2 of r1 opening pro", ["R-1-3"]),
        ("con: point 1 of r1 crossing pro; answer: answer of r1 answering con", ["X-1-2"]),
    ]
    # Where no side is ahead, nothing is conceded against the decision.
    _, even = played(tmp_path / "even", "debate", scored([5] * 6))
    assert even.conceded == []


def test_conceding_that_an_argument_is_refuted_gives_it_up(tmp_path: Path) -> None:
    # X-1-1 refutes R-1-4, X-1-2 challenges the evidence of R-1-5.
    answers = in_turn(conceding("answering", "con", "X-1-1", "X-1-2"), conceding("closing", "con"))
    _, found = played(tmp_path / "answers", "debate", in_turn(scored(CON_AHEAD), answers))
    assert [point.refs for point in found.why] == [["R-1-5"], ["R-1-6"]]
    closing = conceding("closing", "con", "X-1-1", "X-1-2")
    _, closed = played(tmp_path / "closing", "debate", in_turn(scored(CON_AHEAD), closing))
    assert [point.text for point in closed.why] == [point.text for point in found.why]


def refuting(step: Step, made: dict[str, Any]) -> None:
    """Let no argument stand."""
    for row in made["scores"] if step.task == "judging" else ():
        row["standing"] = "REFUTED"


def test_where_no_argument_of_the_winner_stands_the_loser_gives_no_reasons(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "judging":
            for row in made["scores"][3:]:
                row["standing"] = "REFUTED"

    book, found = played(tmp_path, "debate", in_turn(scored(CON_AHEAD), change))
    (decision,) = book.of(Decision)
    assert {cite.relation for cite in decision.cites} == {"resolves"}
    assert found.why == []
    assert found.objection is not None
    assert found.objection.role == "pro"


def test_even_sides_speak_neither_for_nor_against(tmp_path: Path) -> None:
    _, found = played(tmp_path, "debate", scored([5] * 6))
    assert {point.text[:3] for point in found.why} == {"PRO", "CON"}
    assert found.objection is None


@pytest.mark.parametrize("rules", [{}, {"judges": "3"}])
def test_where_no_side_is_ahead_none_of_them_lost(rules: dict[str, str], tmp_path: Path) -> None:
    """Nothing stands, so the decision cites all arguments, and the side with more points seemed to have won."""
    judges = scored([9, 9, 9, 1, 2, 3], [1, 2, 3, 7, 8, 9]) if rules else scored([5] * 6)
    book, found = played(tmp_path, "debate", in_turn(judges, refuting), rules=rules)
    (decision,) = book.of(Decision)
    assert {cite.relation for cite in decision.cites} == {"resolves"}
    assert (found.why, found.objection, found.conceded) == ([], None, [])
    assert "On its side" not in found.how_sure
    assert "Not counted as reasons: R-1-1 (judge: refuted" in found.how_sure


def test_where_the_sides_are_even_the_one_whose_arguments_stand_has_not_won(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        for row in made["scores"][3:] if step.task == "judging" else ():
            row["standing"] = "UNCERTAIN"

    _, found = played(tmp_path, "debate", in_turn(scored([5] * 6), change))
    assert {point.text[:3] for point in found.why} == {"PRO"}
    assert (found.objection, found.conceded) == (None, [])
    # Neither what was given up nor what fell is hidden, on either side.
    assert found.how_sure.endswith(
        " Not counted as reasons: R-1-1 (judge: upheld, given up by pro); R-1-4 (judge: uncertain, given up by con);"
        " R-1-5 (judge: uncertain); R-1-6 (judge: uncertain, conceded by pro)."
    )


def test_several_judges_speak_by_their_vote_and_their_majority(tmp_path: Path) -> None:
    """One judge gives much to pro, two a little to con: the means prefer pro, and the vote con."""
    judges = scored([3, 10, 6, 2, 9, 5], [2, 9, 5, 2, 9, 6], by_judge=("UPHELD", "UPHELD", "REFUTED"))
    nothing = in_turn(conceding("closing", "pro"), conceding("closing", "con"))
    book, found = played(tmp_path, "debate", in_turn(judges, nothing), rules={"judges": "3"})
    (decision,) = book.of(Decision)
    assert decision.text.startswith("CON argued better by the panel's weighted vote")
    # The last judge alone refutes them.
    assert [point.refs[0] for point in found.why] == ["R-1-5", "R-1-4", "R-1-6"]
    assert found.objection is not None
    assert found.objection.role == "pro"


# ---------------------------------------------------------------- debates, comparisons, councils, priorities


def test_judges_who_do_not_agree_come_to_no_determination(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "judging":
            for n, row in enumerate(made["scores"]):
                value = 1 + (n * (3 if step.name.repeat == 1 else 5) + 4 * step.name.repeat) % 10
                for name in row:
                    if name.endswith("_score"):
                        row[name] = value

    book, found = played(tmp_path, "debate", change, rules={"judges": "3"})
    (decision,) = book.of(Decision)
    assert decision.text.startswith("No determination")
    assert status_clause(found) == "YOUR CALL: the judges came to no determination"


def test_scores_and_recommendations_of_several_judges_are_labeled(tmp_path: Path) -> None:
    from moot.view.annexes import annexes_of

    book, found = played(tmp_path, "debate", rules={"judges": "3"})
    annexes = {annex.title: annex for annex in annexes_of(book)}
    assert [row[0] for row in annexes["Judges"].rows] == ["judge 1", "judge 2", "judge 3"]
    assert all("recommendation of r1 judging judge" in row[1] for row in annexes["Judges"].rows)
    assert all("insight of r1 judging judge" in row[2] for row in annexes["Judges"].rows)
    points = dict(
        zip(annexes["Argument trace table"].heads, annexes["Argument trace table"].rows[0], strict=True)
    )
    assert points["points"].startswith("mean ")
    assert all(f"judge {n} " in points["points"] for n in (1, 2, 3))
    assert all(f"judge {n}, " in points["standing, and why"] for n in (1, 2, 3))
    assert [row[0] for row in annexes["Unresolved questions"].rows] == ["N-1-1, N-1-2, N-1-3"]
    assert [point.refs for point in found.not_settled] == [["N-1-1", "N-1-2", "N-1-3"]]
    # A rule decided by the scores, and none of the judges is heard in it.
    judged = [event.id for event in book.of(Statement) if event.phase == "judging"]
    assert [point.refs for point in found.do_now] == [[name] for name in judged]
    assert found.do_now[1].text == "judge recommends: recommendation of r1 judging judge~2"


@pytest.mark.parametrize("total", ["7.5", "3.0000", None])
def test_a_judge_who_adds_up_otherwise_is_said_to(total: str | None, tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "judging":
            made["scores"][0] |= {name: 3 for name in made["scores"][0] if name.endswith("_score")}
            made["scores"][0]["claimed_total"] = total

    _, found = played(tmp_path, "debate", change)
    text = " Totals that judges give differ from their points, which count: R-1-1 7.5 instead of 3"
    assert (text in found.how_sure) == (total == "7.5")


def test_options_within_five_per_cent_are_your_call(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "scoring":
            for row in made["scores"]:
                row["score"] = 3

    _, found = played(tmp_path, "comparative", change, options=2)
    assert status_clause(found) == "YOUR CALL: O-1 and O-2 are within five per cent"
    _, half = played(
        tmp_path / "half", "comparative", change, options=2, lose=frozenset({"r2.scoring.judge"})
    )
    assert status_clause(half) == "YOUR CALL: O-1 and O-2 are within five per cent"
    assert found.answer.startswith("Close: O-1")


def test_a_round_that_preferred_another_option_speaks_against_the_recommended_one(tmp_path: Path) -> None:
    _, found = played(tmp_path, "comparative", options=2)  # the script recommends the first of each pair
    assert found.answer.startswith("Recommended: O-1")
    assert [point.refs[0] for point in found.why if point.refs[0].startswith("D-")] == ["D-1-1"]
    assert [one.ref for one in found.dissent] == ["D-2-1"]
    # Its own scores put O-1 in front.
    assert found.how_sure.endswith(
        " The judge scores another option higher than the one that it recommends in D-2-1."
    )
    assert {point.refs[0] for point in found.changes_our_mind} == {"D-1-1"}


def test_a_judge_that_followed_the_order_of_the_cases_is_named(tmp_path: Path) -> None:
    _, found = played(tmp_path / "first", "comparative")  # the script recommends the first of each pair
    turned = "pairs judged in both orders with all cases the recommendation turned with the order."
    assert f"In 3 of 3 {turned}" in found.how_sure

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "scoring":
            made["recommended"] = min(row["option"] for row in made["scores"])

    _, steady = played(tmp_path / "steady", "comparative", change)
    assert "order" not in steady.how_sure
    # With one case alone it is the lost case that decided, and not the order.
    _, lost = ended(tmp_path / "lost", "comparative", {"r2.case.for_o_2.advocate_a"})
    assert f"In 2 of 2 {turned}" in lost.how_sure
    seconds = {"r2.case.for_o_2.advocate_a", "r4.case.for_o_3.advocate_a", "r6.case.for_o_3.advocate_a"}
    _, once = ended(tmp_path / "once", "comparative", seconds)
    # The round that would show whether the order decided was not judged.
    _, alone = ended(tmp_path / "alone", "comparative", {f"r{n}.scoring.judge" for n in range(2, 7)})
    no_pair = "No pair was judged in both orders with all cases, so the judge may have followed the order."
    assert all(no_pair in found.how_sure for found in (once, alone))


def test_a_comparison_says_what_was_judged_without_a_lost_case_or_rebuttal(tmp_path: Path) -> None:
    lose = {"r2.case.for_o_2.advocate_a", "r3.rebuttal.for_o_1.advocate_a"}
    _, found = ended(tmp_path, "comparative", lose)
    assert found.answer.endswith(
        " Judged without a reply that was lost: the case by O-2's advocate in round 2 (so no rebuttals),"
        " the rebuttal by O-1's advocate in round 3."
    )


def test_a_comparison_whose_last_round_has_no_case_is_decided_by_the_others(tmp_path: Path) -> None:
    lose = {"r6.case.for_o_3.advocate_a", "r6.case.for_o_2.advocate_b"}
    _, found = ended(tmp_path, "comparative", lose)
    assert status_clause(found) == "DECIDED: replies lost: 2 of 12 in case (Long view, Near term)"
    assert found.answer.startswith("Recommended: O-1 (three streams). Weighted means: O-1 5.0000")
    assert found.answer.endswith(
        " Not scored: round 6, O-3 against O-2 (whatever the scores, the recommendation would be the same)."
    )


def test_a_comparison_is_told_by_the_rounds_that_compared_the_recommended_option(tmp_path: Path) -> None:
    """Rounds 5 and 6 compare O-2 with O-3; the judge names O-1 in rounds 1 and 3, and what it is compared with else."""

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "scoring":
            made["confidence"] = step.name.round % 5 + 1
            made["rebuttals"][0]["target"] = "COLLAPSE"
            made |= {
                name: [f"{text} in {step.name.round}" for text in made[name]]
                for name in ("questions", "falsifiers")
            }

    book, found = played(tmp_path, "comparative", change)
    assert "not counted as reasons" not in found.how_sure
    assert found.how_sure.startswith(
        "Computed by the rule of the protocol; confidence that judgements under it state, each for its own"
        " recommendation, of 5: 2 (D-1-1, D-6-1), 3 (D-2-1), 4 (D-3-1), 5 (D-4-1), 1 (D-5-1)."
    )
    assert [point.refs[0] for point in found.changes_our_mind] == ["D-1-1", "D-1-1", "D-3-1", "D-3-1"]
    asked = [ref for point in found.not_settled for ref in point.refs if "?" in point.text]
    assert {book.by_id[ref].round for ref in asked} == {1, 2, 3, 4}
    # The risks of an option are named by the advocate of the other one.
    (risks,) = [point for point in found.not_settled if "risk" in point.text]
    assert risks.text.startswith(
        "12 risks of O-1, named and not judged (all risks named: moot log run --kind concern), the first: risk 0"
    )
    assert risks.refs == [event.id for event in book.of(Concern) if event.text.startswith("O-1: ")]
    # Arguments that nobody attacked stand like those that survived an attack.
    collapsed = {
        event.of for event in book.events if isinstance(event, Standing) and event.standing == "COLLAPSE"
    }
    standing = [
        event.id
        for event in book.of(Argument)
        if event.round < 5 and event.side != "O-1" and event.id not in collapsed
    ]
    assert found.objection is not None
    assert sorted([found.objection.ref, *found.objection.others]) == sorted(standing)
    assert found.objection.became == "judge: survives"
    (scores,) = [point for point in found.why if "ahead" in point.text]
    assert (scores.text.startswith("By the judge's scores O-1 is ahead of O-"), scores.class_) == (
        True,
        "said",
    )


def test_what_an_advocate_concedes_is_said_for_and_against_the_recommended_option(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "rebuttal":
            made["conceded"] = f"{step.role} grants it."

    _, found = played(tmp_path, "comparative", change, options=2)
    assert [point.text for point in found.why if point.class_ == "conceded"] == [
        "Conceded by advocate_b, who argues for O-2: advocate_b grants it.",
        "Conceded by advocate_a, who argues for O-2: advocate_a grants it.",
    ]
    assert [point.refs for point in found.conceded] == [
        ["S-1-rebuttal-for_o_1-advocate_a#conceded"], ["S-2-rebuttal-for_o_1-advocate_b#conceded"],
    ]  # fmt: skip


def test_a_lost_case_is_not_said_to_be_scored(tmp_path: Path) -> None:
    book, _ = ended(tmp_path, "comparative", {"r2.case.for_o_1.advocate_b", "r2.scoring.judge"})
    told = quorum_of(book.state).told
    assert (
        "r2.case.for_o_1.advocate_b (its option has no case; without any case the round is not scored)"
        in told
    )
    lost, _ = ended(tmp_path / "lost", "adversarial", {"r1.attack.challenger", "r1.verdict.judge"})
    assert "the judge decides without" not in quorum_of(lost.state).told


def test_a_council_without_a_majority_is_your_call(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        made |= {"decision": f"Not O-1, but O-{step.name.repeat}.", "answers": f"O-{step.name.repeat}"}

    _, found = played(tmp_path / "split", "council", change)
    assert status_clause(found) == "YOUR CALL: no option has more than half of 3 members"

    def agreed(step: Step, made: dict[str, Any]) -> None:
        made |= {"decision": "Build O-3 later.", "answers": f"O-{1 if step.name.repeat < 3 else 2}"}

    _, majority = played(tmp_path / "majority", "council", agreed)
    assert majority.answer.startswith("2 of 3 say O-1 (three streams).")
    assert status_clause(majority).startswith("DECIDED: by 2 of 3 members, ")


def test_a_challenge_in_the_log_begins_with_what_it_claims(tmp_path: Path) -> None:
    from moot.view.event_lines import event_line

    book, _ = played(tmp_path, "council")
    first = next(iter(book.of(Challenge)))
    assert f", attack: {first.claim} it " in event_line(first, book)


def test_every_plan_of_a_council_is_named_with_the_command_that_shows_it(tmp_path: Path) -> None:
    _, found = played(tmp_path, "council")
    assert (
        found.answer
        == "3 members, naming no option. The first of them (D-1-1; the other plans may differ: D-1-2, D-1-3): do it"
    )
    assert [point.text for point in found.do_now] == [
        "Read the 3 plans before you use one: S-1-plan-solo#revised, S-1-plan-solo~2#revised, S-1-plan-solo~3#revised;"
        " moot show run ID (each decision names its plan)"
    ]
    _, alone = ended(tmp_path / "alone", "council", {"r1.plan.solo", "r1.plan.solo~3"})
    assert status_clause(alone) == "YOUR CALL: 1 member, and nobody joins their answers"
    assert [point.text for point in alone.do_now] == [
        "Read the plan before you use it: S-1-plan-solo~2#revised; moot show run ID (each decision names its plan)",
        "To ask again: moot fork run --round 1 (all of that round and of later ones)",
    ]


def test_an_answer_is_shown_with_its_question_and_the_objection_that_put_it(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "jugalbandi")
    play(session)
    found = outcome_of("run", session.book())
    assert found.do_now[0].text == (
        "Work in what a person answered to N-1-1 (“who pays?”, after X-1-3): Do the smaller of the two."
    )
    human_actions.override(session, "D-1-2", "Neither of them.")
    found = outcome_of("run", session.book())
    assert found.do_now[0].text.endswith("(“who pays?”, after X-1-3): Neither of them.")
    assert "Do the smaller" not in str(found)


def test_an_order_is_shown_with_the_other_one_where_they_differ(tmp_path: Path) -> None:
    _, apart = played(tmp_path / "apart", "priority")
    assert "2. O-2 (one journal) P2 (sum 4), 2. O-3" in apart.answer
    assert apart.how_sure.endswith(
        "Counted instead by how many options each lens puts below it, a tie as half (Borda count), the order is:"
        " 1. O-1 (2.5), 2. O-3 (2), 3. O-2 (1.5)."
    )

    def change(_: Step, made: dict[str, Any]) -> None:
        for n, row in enumerate(made["levels"]):
            row["level"] = f"P{n}"

    _, alike = played(tmp_path / "alike", "priority", change)
    assert alike.how_sure.endswith("the order is: 1. O-1 (4), 2. O-2 (2), 3. O-3 (0).")


def test_levels_far_apart_are_settled_by_an_answer(tmp_path: Path) -> None:
    session = changed_run(tmp_path / "run", "priority")
    for concern in ("N-1-1", "N-1-2"):
        human_actions.answer(session, concern, "Urgency is right.", "Ada")
    found = outcome_of("run", session.book())
    assert status_clause(found) == "DECIDED"
    assert found.needs_you == []


# ---------------------------------------------------------------- what a person says


def test_an_answer_of_a_person_is_never_the_answer_of_the_run(tmp_path: Path) -> None:
    session = changed_run(
        tmp_path / "run",
        "jugalbandi",
        rules={"rounds": "2"},
        until=lambda book: bool(list(book.of(Decision))),
    )
    before = outcome_of("run", session.book())
    human_actions.answer(session, "N-1-1", "Nobody pays.", "Ada")
    after = outcome_of("run", session.book())
    assert after.answer == before.answer == "Not final: build it"
    fresh = changed_run(tmp_path / "fresh", "jugalbandi", until=lambda book: bool(list(book.of(Concern))))
    human_actions.answer(fresh, "N-1-1", "Nobody pays.", "Ada")
    assert "Nobody pays" not in outcome_of("run", fresh.book()).answer


def test_one_answer_settles_every_escalation_that_asks_the_same(tmp_path: Path) -> None:
    def change(_: Step, made: dict[str, Any]) -> None:
        for row in made.get("dispositions", ()):
            row |= {"disposition": "escalated", "revision": None, "question": "Who pays for the second copy?"}

    session = changed_run(tmp_path / "run", "jugalbandi", change)
    found = outcome_of("run", session.book())
    assert [sorted(asking.ids) for asking in found.needs_you] == [["N-1-1", "N-1-2", "N-1-3", "N-1-4"]]
    events = human_actions.answer(session, "N-1-3", "The parish.")
    assert session.book().state.finished
    again = human_actions.answer(session, "N-1-3", "The parish.")  # the same act once more, as after a crash
    assert again[0].id == events[0].id


def test_another_question_keeps_waiting(tmp_path: Path) -> None:
    def change(_: Step, made: dict[str, Any]) -> None:
        for n, row in enumerate(made.get("dispositions", ())):
            row |= {"disposition": "escalated", "revision": None, "question": f"Who pays for copy {n}?"}

    session = changed_run(tmp_path / "run", "jugalbandi", change)
    human_actions.answer(session, "N-1-1", "The parish.")
    assert not session.book().state.finished


@pytest.mark.parametrize("protocol", ["adversarial", "tribunal", "debate", "panel"])
def test_an_override_has_nothing_of_what_it_overruled_but_as_its_objection(
    protocol: str, tmp_path: Path
) -> None:
    session = changed_run(tmp_path / "run", protocol)
    old, (decided,) = outcome_of("run", session.book()), final_in_force(session.book().state)
    human_actions.say_what_became(session, "held", "It worked for a year.", decided, "Ada")
    human_actions.override(session, decided, "Do the opposite.", "Bo")
    found = outcome_of("run", session.book())
    assert (found.answer, status_clause(found)) == ("Do the opposite.", "DECIDED: by a person")
    assert found.how_sure.startswith(f"Decided by Bo in place of {decided}.")
    assert found.why == []
    assert found.dissent == []
    assert found.objection is not None
    assert found.objection.line.endswith(f"({decided})")
    assert " had decided: " in found.objection.line
    (became,) = found.became
    assert became.overruled_by is not None
    block = outcome_lines(found, "run", 100)
    assert not [line for line in block if line.startswith("became")]
    assert any(line.startswith("said before") for line in block)
    assert old.objection != found.objection


def test_a_waiver_of_a_person_is_said(tmp_path: Path) -> None:
    session = changed_run(tmp_path / "run", "jugalbandi")
    assert "wait" not in outcome_of("run", session.book()).trust
    human_actions.stop_waiting(session)
    seq = session.book().of(Amendment)[0].seq
    assert f"; a person said not to wait for answers (@{seq})" in outcome_of("run", session.book()).trust
    _, opened = played(tmp_path / "opened", "jugalbandi", rules={"wait": "off"})
    assert "; opened not to wait for answers" in opened.trust


# ---------------------------------------------------------------- plans, and what is cut


def test_what_a_replaced_plan_takes_for_granted_is_said_to_be_its_own(tmp_path: Path) -> None:
    def change(_: Step, made: dict[str, Any]) -> None:
        if "challenges" in made:
            made["challenges"][0]["target"] = "Q-1-2"

    book, found = played(tmp_path, "jugalbandi", change)
    assert [event.disposition for event in book.of(Disposition) if event.of == "X-1-1"] == ["accepted"]
    assert {point.refs[0] for point in found.assumed} == {"Q-1-1", "Q-1-3", "Q-1-4", "Q-1-5"}
    assert all(point.text.startswith("in the first plan: ") for point in found.assumed)
    _, own = played(tmp_path / "own", "single-pass")
    assert own.assumed
    assert not any("plan: " in point.text for point in own.assumed)


@pytest.mark.parametrize(
    ("protocol", "others"),
    [
        ("debate", "; others: R-1-1"),
        ("devils-advocate", "; others: X-1-2, X-1-5"),
        ("adversarial", "; others: N-1-4, N-1-3"),
    ],
)
def test_one_objection_of_several_says_which_the_others_are(
    protocol: str, others: str, tmp_path: Path
) -> None:
    nothing = in_turn(conceding("closing", "pro"), conceding("closing", "con"))
    _, found = played(tmp_path, protocol, nothing)
    assert found.objection is not None
    block = " ".join(" ".join(outcome_lines(found, "run", 100)).split())
    assert f"({found.objection.ref}{others})" in block


# ---------------------------------------------------------------- whose words, and what was not done


def ended(
    path: Path, protocol: str, lose: set[str], rules: dict[str, str] | None = None
) -> tuple[Book, Outcome]:
    """Play to the end without the steps in `lose`; with `{"all"}` without any."""
    session = begin(path / "run", protocol, rules)
    while pending := session.pending():
        step = pending[0]
        if lose == {"all"} or step.step.id in lose:
            session.give_up(step.step.id, "given_up", "lost in a test")
        else:
            submit(session, step)
    return session.book(), outcome_of("run", session.book())


@pytest.mark.parametrize(
    ("protocol", "role"), [("single-pass", "solo"), ("cross-examination", "examiner"), ("debate", "judge")]
)
def test_a_confidence_is_that_of_the_role_that_stated_it(protocol: str, role: str, tmp_path: Path) -> None:
    book, found = played(tmp_path, protocol)
    assert book.of(Decision)[-1].by == role
    assert f"as stated ({role})." in found.how_sure


@pytest.mark.parametrize("protocol", ["adversarial", "jugalbandi", "debate", "panel", "ratchet", "council"])
def test_without_any_reply_nothing_is_handed_in_or_taken(protocol: str, tmp_path: Path) -> None:
    book, found = ended(tmp_path, protocol, {"all"})
    assert status_clause(found).startswith("NOBODY ANSWERED")
    assert found.needs_you == []
    assert found.how_sure == "No confidence is stated."
    assert found.looked_at.endswith("finished: no step was left to take.")
    assert not any("side by side" in concern.text for concern in book.of(Concern))


def test_a_lost_reply_is_no_step_that_was_taken(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "debate", {"r1.closing.pro"})
    assert found.looked_at.endswith("finished: no step was left to take.")
    _, whole = ended(tmp_path / "whole", "debate", set())
    assert whole.looked_at.endswith("finished: no step was left to take.")


def test_one_side_alone_has_no_gap(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "debate", {"r1.opening.pro"})
    assert "Mean scores, of 10: CON 4.0000; only one side was heard." in found.how_sure


def test_the_points_of_one_lens_are_no_sum(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "priority", {"r1.rating.urgency"})
    assert "P1 (points 3)" in found.answer
    assert "sum" not in found.answer


def test_nothing_that_speaks_for_another_option_is_a_reason_or_what_is_for_it_against_it(
    tmp_path: Path,
) -> None:
    """The judge of the second round prefers O-2, though its own points put O-1 in front."""
    session = begin(tmp_path / "run", "comparative", options=3)
    while session.book().state.round < 3:
        submit(session, session.pending()[0])
    book, found = session.book(), outcome_of("run", session.book())
    assert book.of(Decision)[-1].about == ("O-2",)
    assert not any("is ahead of" in point.text for point in found.why)
    assert found.objection is not None
    against = book.by_id[found.objection.ref]
    assert isinstance(against, Argument)
    assert against.side == "O-1"


def test_sealed_forecasts_are_counted_by_role(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "crux")
    while "r1.E.guardian" not in session.book().state.answered:
        submit(session, session.pending()[0])
    assert outcome_of("run", session.book()).how_sure == (
        "4 roles gave a sealed forecast; forecasts stay sealed until all numbers are in."
    )


def test_a_finished_run_says_why_its_forecasts_make_no_group_forecast(tmp_path: Path) -> None:
    """A-19: "the step is still open", although the run had ended."""
    session = crux_seats.begin(tmp_path / "run", {"wait": "off"}, options=0)
    world = crux_seats.World(dict.fromkeys(crux_seats.ROLES, 80))
    crux_seats.play(session, world, lose=frozenset(f"r1.E.{role}" for role in crux_seats.ROLES))
    assert session.book().state.finished
    assert outcome_of("run", session.book()).how_sure == (
        "4 roles gave a sealed forecast; other numbers were lost, so there is no group forecast."
    )


def test_a_tie_says_that_it_is_one(tmp_path: Path) -> None:
    tie = crux_seats.World(first=dict.fromkeys(crux_seats.ROLES, 50))
    book = crux_seats.play(crux_seats.begin(tmp_path / "run", {"wait": "off"}), tie)
    assert status_clause(outcome_of("run", book)) == "YOUR CALL: the first two options are 0.0 points apart"


def test_fewer_facts_are_listed_before_one_is_cut() -> None:
    book = open_run(run_of("crux-hook")).book
    found = outcome_of("run", book)
    block = " ".join(" ".join(outcome_lines(found, "run", 100)).split())
    for points in (found.do_now, found.why, found.changes_our_mind, found.requirements):
        assert points[0].text in block
        more = f"and {len(points) - 1} more: moot status run --json"
        assert len(points) == 1 or more in block
    # A text that has no room breaks off where a clause ends.
    assert "a few seconds of smoke tests … (@5) (and 3 more: moot status run --json)" in block


# ---------------------------------------------------------------- what became of a criticism


def test_a_criticism_is_answered_with_a_change_however_much_of_it_was_taken_up(tmp_path: Path) -> None:
    """The ledger has no field for "in part", so nothing more is said, and the answer is named."""

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "revision":
            for row in made["answers"]:
                row |= {"outcome": "fix", "text": "The date is named; a rule for clashes is left out."}

    book, found = played(tmp_path, "ratchet", change)
    answers = {response.to: response.id for response in book.of(Response)}
    assert {point.text.partition(":")[0] for point in found.why} == {
        f"Criticism, answered with a change by reviser in {answers[of]}, which nobody checked"
        for of in ("X-1-1", "X-1-2", "X-1-3")
    }
    # The critic sees no revision, so that the change is one is the word of its author.
    assert {point.class_ for point in found.why} == {"said"}


def test_concessions_are_said_with_who_made_them_and_what_was_handed_in_then(tmp_path: Path) -> None:
    """A gap that was conceded and mended looked as if nothing had been done about it."""
    book, found = played(tmp_path, "cross-examination")
    conceded = [response for response in book.of(Response) if response.outcome == "concede"]
    challenges = {event.id: event for event in book.of(Challenge)}
    assert conceded
    assert [(point.text, point.refs) for point in found.conceded] == [
        (
            f"{response.by} (then handed in S-1-answering-{response.by}#analysis):"
            f" {challenges[response.to].claim}; answer: {response.text}",
            [response.to, response.revised],
        )
        for response in conceded
    ]


@pytest.mark.parametrize("lost", [set[str](), {"r1.rating.devils_advocate"}])
def test_what_a_text_concedes_is_no_reason_for_a_decision_on_it(lost: set[str], tmp_path: Path) -> None:
    book, found = ended(tmp_path, "devils-advocate", lost)
    (conceded,) = [response.to for response in book.of(Response) if response.outcome == "concede"]
    rated = [event.disposition for event in book.of(Disposition) if event.of == conceded]
    assert bool(rated) is not bool(lost)
    said = [point.text for point in found.conceded if conceded in point.refs]
    assert not any(conceded in point.refs for point in found.why)
    assert found.objection is not None
    if lost:
        assert said == [
            "steelman (then handed in S-1-defence-steelman#position): wrong 2 of r1 attack devils_advocate; answer: so"
        ]
        assert conceded not in (found.objection.ref, *found.objection.others)
    else:  # its author holds that what was conceded for it does not meet it, which is said once
        assert said == []
        assert found.objection.ref == conceded
        assert found.objection.became == "conceded by steelman; devils_advocate: deflected, so"
        assert found.objection.others == ("X-1-2", "X-1-5")


def test_concessions_that_have_no_room_are_counted(tmp_path: Path) -> None:
    def change(_: Step, made: dict[str, Any]) -> None:
        for row in made.get("questions", ()):
            row["gap"] = f"{row['gap']} and much more {'of it ' * 8}"
        for row in made.get("answers", ()):
            row |= {"outcome": "concede", "evidence": []}

    book, found = played(tmp_path, "cross-examination", change)
    assert [point.refs[0] for point in found.conceded] == [event.id for event in book.of(Challenge)]
    shown = " ".join(" ".join(outcome_lines(found, "run", 100)).split())
    assert "(X-1-3) (and 3 more: moot status run --json)" in shown


@pytest.mark.parametrize("protocol", ["devils-advocate", "cross-examination"])
def test_the_words_of_an_answer_have_the_id_of_the_answer(protocol: str, tmp_path: Path) -> None:
    book, found = played(tmp_path, protocol)
    points = [point for point in found.why if point.text.startswith(("Met, ", "Held "))]
    assert points
    for point in points:
        answer = book.by_id[point.refs[0]]
        assert isinstance(answer, Response)
        assert point.text.endswith(answer.text)
        assert point.refs[1] == answer.to


@pytest.mark.parametrize(
    ("protocol", "became"),
    [
        ("jugalbandi", "resolver: rejected, for a reason"),
        ("single-pass", "solo: rejected, for a reason"),
        ("devils-advocate", "conceded by steelman; devils_advocate: deflected, so"),
        ("ratchet", "not judged: reviser justifies the text, done"),
        ("debate", "judge: upheld"),
    ],
)
def test_an_objection_says_what_became_of_it_however_long_it_is(
    protocol: str, became: str, tmp_path: Path
) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        del step
        for rows in made.values():
            for row in rows if isinstance(rows, list) else ():
                if isinstance(row, dict) and {"claim", "text"} <= set(row):
                    row["text"] += " and more of it" * 60

    _, found = played(tmp_path, protocol, change)
    assert found.objection is not None
    assert found.objection.became == became
    shown = " ".join(" ".join(outcome_lines(found, "run", 100)).split())
    assert f"[{became}] ({found.objection.ref}" in shown


def test_an_objection_of_several_judges_says_how_many_judged_it_so(tmp_path: Path) -> None:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "judging":
            for row in made["scores"]:
                row["standing"] = "REFUTED" if step.name.repeat == 1 else "UPHELD"

    _, found = played(tmp_path, "debate", change, rules={"judges": "3"})
    assert found.objection is not None
    assert found.objection.became == "judge: upheld (2 of 3), judge: refuted (1 of 3)"


def test_a_question_without_an_answer_is_told_and_comes_before_one_that_was_deflected(tmp_path: Path) -> None:
    def change(_: Step, made: dict[str, Any]) -> None:
        for row in made.get("assessments", ()):
            row["disposition"] = "deflected" if row["of"] == "X-1-2" else row["disposition"]

    _, found = played(tmp_path, "cross-examination", change)
    assert found.objection is not None
    assert (found.objection.ref, found.objection.became) == ("X-1-2", "examiner: deflected, so")
    silent = frozenset({"r1.answering.analyst_2"})
    _, lost = played(tmp_path / "lost", "cross-examination", change, lose=silent)
    assert lost.objection is not None
    assert (lost.objection.ref, lost.objection.others) == ("X-1-3", ("X-1-4", "X-1-2"))
    assert lost.objection.became == "not answered; examiner: deflected, so"


@pytest.mark.parametrize(
    ("protocol", "lost", "conceded"),
    [
        ("cross-examination", "r1.assessment.examiner", ["X-1-1", "X-1-3", "X-1-5"]),
        ("devils-advocate", "r1.verdict.judge", ["X-1-3"]),
        ("debate", "r1.judging.judge", ["R-1-6", "R-1-3", "R-1-1", "R-1-4"]),
    ],
)
def test_what_was_conceded_is_told_without_a_verdict(
    protocol: str, lost: str, conceded: list[str], tmp_path: Path
) -> None:
    _, found = played(tmp_path, protocol, lose=frozenset({lost}))
    assert [point.refs[0] for point in found.conceded] == conceded

    def answered(book: Book) -> bool:
        return bool(book.of(Response))

    # While a run goes on, nothing is conceded for good.
    _, running = played(tmp_path / "running", protocol, until=answered)
    assert (running.status, running.conceded) == ("running", [])


def test_a_verdict_on_a_position_names_the_text_that_it_is_about(tmp_path: Path) -> None:
    _, found = played(tmp_path / "whole", "devils-advocate")
    assert " The position after its defense: S-1-defence-steelman." in found.how_sure
    # What survives was shown nowhere, while what needs work is not settled.
    zones = "survived of r1 verdict judge; strengthened of r1 verdict judge"
    assert found.how_sure.endswith(f" Settled, as the judge says: {zones} (D-1-1).")
    _, lost = played(tmp_path / "lost", "devils-advocate", lose=frozenset({"r1.defence.steelman"}))
    assert " The position: S-1-steelman-steelman." in lost.how_sure


# ---------------------------------------------------------------- texts without a decision, and ids


@pytest.mark.parametrize(
    ("protocol", "lost", "draft"),
    [
        ("ratchet", "r1.revision.reviser", "S-1-draft-drafter#text"),
        ("ratchet", "r1.critique.critic", "S-1-draft-drafter#text"),
        ("jugalbandi", "r1.resolve.resolver", "S-1-plan-proposer#plan"),
        ("jugalbandi", "r1.challenge.challenger", "S-1-plan-proposer#plan"),
    ],
)
def test_a_run_that_lost_its_last_step_points_to_the_last_draft(
    protocol: str, lost: str, draft: str, tmp_path: Path
) -> None:
    _, found = ended(tmp_path, protocol, {lost})
    assert status_clause(found).startswith("NOBODY ANSWERED")
    *others, point = found.do_now
    assert all(other.text.startswith(("Choose one of ", "Weigh ")) for other in others)
    assert point.refs == [draft]
    assert point.text.startswith("Read the last draft before you use it (")
    assert point.text.endswith(f"moot show run {draft}")


def test_a_run_that_goes_on_points_to_no_draft(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "ratchet")
    submit(session, session.pending()[0])
    assert outcome_of("run", session.book()).do_now == []


def test_every_id_of_a_run_can_be_shown(tmp_path: Path) -> None:
    from moot.app.readings import read_event
    from moot.view.show import show_text

    book, _ = ended(tmp_path, "adversarial", {"r1.attack.challenger"})
    run = open_run(tmp_path / "run")
    (document,) = book.state.opening.context
    shown = read_event(run, "K-1")
    assert (shown.kind, shown.says["name"], shown.says["bytes"]) == ("document", "facts.md", document.bytes)
    assert shown.says["sha256"] == document.sha256
    assert shown.says["text"] == DOCUMENT.decode()
    assert "one writer\n" in show_text(shown)
    assert read_event(run, "K-1#L2").says["text"] == "many readers"
    assert "no such lines" in read_event(run, "K-1#L9").says["text"]
    assert read_event(run, "O-2").says == {"text": "one journal"}
    assert read_event(run, "G-1").says == {"text": "No line is lost"}
    assert read_event(run, "r1.verdict.judge").id == "S-1-verdict-judge"
    assert read_event(run, "r1.attack.challenger").kind == "fallback"
    for event in book.events:
        assert read_event(run, event.ref).seq == event.seq
    for unknown in ("K-2", "O-9", "r9.verdict.judge"):
        with pytest.raises(MootError, match="no event"):
            read_event(run, unknown)


# ---------------------------------------------------------------- runs that ended before the step that decides


@pytest.mark.parametrize(
    ("protocol", "lost", "never"),
    [
        ("ratchet", ["r1.draft.drafter"], "critique, revision"),
        ("ratchet", ["r1.critique.critic"], "revision"),
        ("devils-advocate", ["r1.steelman.steelman"], "attack, defence, rating, verdict"),
        ("devils-advocate", ["r1.attack.devils_advocate"], "defence, rating, verdict"),
        ("debate", ["r1.opening.pro", "r1.opening.con"], "crossing, answering, closing, judging"),
        ("jugalbandi", ["r1.challenge.challenger"], "resolve"),
        ("cross-examination", ["r1.questions.examiner"], "answering, assessment"),
    ],
)
def test_a_step_that_was_never_open_is_not_said_to_have_no_reply(
    protocol: str, lost: list[str], never: str, tmp_path: Path
) -> None:
    _, found = ended(tmp_path, protocol, set(lost))
    early = "NOBODY ANSWERED: the run ended before the step that decides; replies lost: "
    assert status_clause(found).startswith(f"{early}{len(lost)} of {len(lost)} in {lost[0].split('.')[1]} (")
    assert status_clause(found).endswith(f"; never asked for: {never}")


@pytest.mark.parametrize(
    ("protocol", "lost", "phases"),
    [
        ("ratchet", {"r1.revision.reviser"}, "1 of 1 in revision (Reviser)"),
        (
            "cross-examination",
            {"r1.analysis.analyst_2", "r1.assessment.examiner"},
            "1 of 3 in analysis (Analyst 2), 1 of 1 in assessment (Examiner)",
        ),
        (
            "debate",
            {"r1.opening.pro", "r1.judging.judge"},
            "1 of 2 in opening (For), 1 of 1 in judging (Judge); never asked for: crossing, answering, closing",
        ),
    ],
)
def test_a_deciding_step_that_was_lost_has_no_reply(
    protocol: str, lost: set[str], phases: str, tmp_path: Path
) -> None:
    _, found = ended(tmp_path, protocol, lost)
    assert status_clause(found) == (
        f"NOBODY ANSWERED: the step that decides has no reply; replies lost: {phases}"
    )


# ---------------------------------------------------------------- what is left of a position


def verdict_on_position(**parts: str) -> Change:
    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "verdict":
            made |= parts

    return change


def test_what_a_verdict_gives_up_is_settled(tmp_path: Path) -> None:
    from moot.view.annexes import annexes_of

    book, found = played(
        tmp_path, "devils-advocate", verdict_on_position(needs_work="The price.", abandon="The date.")
    )
    assert [point.text for point in found.not_settled] == ["The price."]
    (annex,) = [annex for annex in annexes_of(book) if annex.title == "Key narratives"]
    assert annex.paragraphs == ["Given up: The date."]
    assert found.conceded == []  # the proposer gave nothing up: it is the judge who would
    assert [point.text for point in found.do_now if "D-1-1" in point.refs] == [
        "Give up, as the judge says: The date."
    ]


def test_nothing_is_no_part_of_a_position(tmp_path: Path) -> None:
    """The prompt asks for the word."""
    book, found = played(
        tmp_path,
        "devils-advocate",
        verdict_on_position(survived="Nothing", needs_work="nothing", abandon="Nothing."),
    )
    (decision,) = book.of(Decision)
    assert found.not_settled == []
    assert decision.narratives == ()
    assert decision.zones is not None
    assert decision.zones.agreement == ("strengthened of r1 verdict judge",)


def test_an_attack_whose_defense_was_lost_is_against_the_decision(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "devils-advocate", {"r1.defence.steelman"})
    # Without a defense nothing was rated either.
    assert found.objection is not None
    assert (found.objection.ref, found.objection.became) == ("X-1-1", "not answered")
    assert found.objection.others == ("X-1-2", "X-1-3", "X-1-4", "X-1-5")


# ---------------------------------------------------------------- objections on request, and cruxes that decided


def test_what_was_put_to_a_draft_after_its_decision_is_against_it(tmp_path: Path) -> None:
    """Round 2 was never judged, and the objection shown was one of round 1 that had been rejected."""
    book, found = played(
        tmp_path, "jugalbandi", rules={"rounds": "2"}, lose=frozenset({"r2.resolve.resolver"})
    )
    later = [event.id for event in book.of(Challenge) if event.round == 2]
    assert found.objection is not None
    assert (found.objection.ref, found.objection.became) == (later[0], "not answered")
    assert {*later[1:]} <= {*found.objection.others}


def test_an_objection_that_was_asked_for_says_so_and_whether_it_dissents(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "crux", set())
    assert [(one.role, one.became) for one in found.dissent] == [
        ("guardian", "asked to object, and dissents; its own numbers give O-1 81%")
    ]
    shown = " ".join(" ".join(outcome_lines(found, "run", 100)).split())
    assert "guardian: The other one is cheaper to run. [asked to object, and dissents; its own" in shown

    recorded = outcome_of("run", open_run(run_of("crux-hook")).book)
    assert recorded.dissent == []
    assert recorded.objection is not None
    assert (recorded.objection.ref, recorded.objection.became) == (
        "N-2-2",
        "asked to object; would not decide otherwise",
    )


def test_a_lost_objection_is_said_to_be_lost(tmp_path: Path) -> None:
    from rounds.run.outcome import quorum_of

    book, _ = ended(tmp_path, "crux", {"r1.S.objection.guardian"})
    assert "no objection" not in quorum_of(book.state).told
    assert "what this role objects to in the memo of this round is not known" in quorum_of(book.state).told


def test_the_crux_that_decided_is_named_with_its_test(tmp_path: Path) -> None:
    book, found = ended(tmp_path, "crux", set())
    claim = book.by_id["C-1-1"]
    assert isinstance(claim, Claim)
    tested = f"A test raised O-1 from 60% to 81%: C-1-1 holds: {claim.text} (test: {claim.testable_as})"
    assert (found.why[0].text, found.why[0].class_, found.why[0].refs) == (tested, "quoted", ["C-1-1"])
    assert "Of 2 reasons: 1 quoted from a document, 1 stated, not tested; none was run." in found.how_sure
    # No role said 81: what each said before the test gives that, for what was found, if tests are right that often.
    assert (
        "the group forecast of 4 roles, 81% each by its numbers and the tests' assumed reliability."
        in found.how_sure
    )
    # Where a reason of the memo cites it, it is named there.
    recorded = outcome_of("run", open_run(run_of("crux-hook")).book)
    assert not any(point.text.startswith("A test raised") for point in recorded.why)


def test_what_a_decision_after_a_loss_lacks_is_named(tmp_path: Path) -> None:
    _, alone = ended(tmp_path / "debate", "debate", {"r1.opening.con"})
    assert status_clause(alone) == (
        "DECIDED: no option named, replies lost: 1 of 2 in opening (Against), never asked for: crossing, answering,"
        " closing"
    )
    # The field of a lost reviewer is named.
    _, panel = ended(tmp_path / "panel", "panel", {"r1.findings.reviewer_2"})
    assert (
        status_clause(panel)
        == "DECIDED: ready, no option named, replies lost: 1 of 3 in findings (Architecture)"
    )
    _, bare = ended(tmp_path / "adversarial", "adversarial", {"r1.case.advocate"})
    assert bare.why == []
    assert bare.how_sure.startswith(
        "Confidence 3 of 5, as stated (judge). Settled, as the judge says, though replies were lost: "
    )
    # A fork asks the round again as a whole.
    _, lost = ended(tmp_path / "lost", "jugalbandi", {"r1.resolve.resolver"})
    lines = "\n".join(outcome_lines(lost, "RUN", 200))
    assert "moot fork" in lines
    assert "(asks all of that round again)" in lines


def test_a_crux_without_a_verdict_decides_nothing(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "crux", {"r1.D.verifier"})
    assert [point.refs for point in found.why] == [["S-1-B-action#reason-1"]]


def test_what_would_show_several_judges_wrong_stands_in_their_statements(tmp_path: Path) -> None:
    book, found = played(tmp_path, "debate", rules={"judges": "3"})
    judged = [event.id for event in book.of(Statement) if event.phase == "judging"]
    # Each judge states a confidence beside its scores.
    assert "nobody states a confidence" not in found.how_sure
    assert [(point.text, point.refs) for point in found.changes_our_mind] == [("it fails at night", judged)]


def test_one_judge_who_is_left_of_several_is_not_said_to_disagree(tmp_path: Path) -> None:
    lost = frozenset({"r1.judging.judge", "r1.judging.judge~2"})
    _, found = played(tmp_path, "debate", rules={"judges": "3"}, lose=lost)
    assert found.answer == "No determination: whether the judges agree cannot be measured."
    assert status_clause(found) == "YOUR CALL: the judges came to no determination"


def test_a_panel_shows_every_named_finding_with_its_severity_and_who_marked_it(tmp_path: Path) -> None:
    """The outcome showed one of two named findings, no severity, and not that other fields marked it too."""

    def change(step: Step, made: dict[str, Any]) -> None:
        if step.task == "verdict":
            made["blockers"] = ["N-1-1", "N-1-4"]

    book, found = played(tmp_path, "panel", change)
    marked: dict[str, list[str]] = {}
    for event in book.of(Rating):
        if event.criterion == "cross-cutting":
            marked.setdefault(event.of, []).append(event.by)
    severities = {event.id: event.severity for event in book.of(Concern)}
    words = {
        finding: f"severity {severities[finding]} of 5 by its author, 4, 4 by others, marked as theirs too by"
        f" {' and '.join(marked[finding])}"
        for finding in ("N-1-1", "N-1-4")
    }
    assert found.objection is not None
    shown = {found.objection.ref: found.objection.became}
    shown |= {point.refs[0]: point.text for point in found.not_settled if words.keys() & point.refs}
    assert {finding: text in shown[finding] for finding, text in words.items()} == {
        "N-1-1": True,
        "N-1-4": True,
    }


@pytest.mark.parametrize(("protocol", "word"), [("panel", "recommended"), ("adversarial", "required")])
def test_what_a_panel_recommends_is_nowhere_called_required(
    tmp_path: Path, protocol: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    played(tmp_path, protocol)
    for verb in (["show", run, "D-1-1"], ["decisions", run], ["report", run], ["report", run, "--full"]):
        main(verb)
        text = capsys.readouterr().out.casefold()
        assert word in text, verb
        assert ("required" in text) == (word == "required"), verb


def tie(path: Path) -> RunSession:
    """Play a crux whose roles put the same points on two options."""
    world = crux_seats.World(first=dict.fromkeys(crux_seats.ROLES, 50))
    session = crux_seats.begin(path / "run", {"wait": "off"})
    crux_seats.play(session, world)
    return session


YOURS: list[tuple[str, dict[str, str], frozenset[str]]] = [
    ("council", {}, frozenset()),
    ("priority", {}, frozenset()),
    ("comparative", {}, frozenset({"r1.scoring.judge", "r2.scoring.judge", "r3.scoring.judge"})),
    ("debate", {"judges": "3"}, frozenset({"r1.judging.judge", "r1.judging.judge~2"})),
    ("crux", {}, frozenset()),
]
"""Runs that leave the decision to a person."""


@pytest.mark.parametrize(("protocol", "rules", "lost"), YOURS)
def test_your_call_names_the_command_that_settles_it(
    protocol: str, rules: dict[str, str], lost: frozenset[str], tmp_path: Path
) -> None:
    session = (
        tie(tmp_path)
        if protocol == "crux"
        else changed_run(tmp_path / "run", protocol, rules=rules, lose=lost)
    )
    path = str(session.run.path)
    found = outcome_of(path, session.book())
    assert found.status == "your_call"
    command = found.go_on
    assert command is not None
    assert command in " ".join(" ".join(outcome_lines(found, path, 200)).split())
    program, *words = shlex.split(command)
    assert (program, words.pop()) == ("moot", "TEXT")
    assert main([*words, "Take neither."]) == 0
    settled = outcome_of(path, open_run(Path(path)).book)
    assert (settled.answer, status_clause(settled)) == ("Take neither.", "DECIDED: by a person")
    assert settled.go_on is None


def test_a_question_of_a_role_is_settled_by_its_answer(tmp_path: Path) -> None:
    session = changed_run(tmp_path / "run", "jugalbandi", rules={"wait": "off"})
    found = outcome_of("run", session.book())
    assert (found.status, found.go_on) == ("your_call", None)
    human_actions.answer(session, found.needs_you[0].ids[0], "The parish pays.", "Ada")
    assert outcome_of("run", session.book()).status == "decided"


def test_whichever_plan_of_a_council_a_person_overrules_the_decision_is_the_person_s(tmp_path: Path) -> None:
    """The outcome went on showing the members' plans, and the override nowhere."""
    session = changed_run(tmp_path / "run", "council")
    human_actions.override(session, "D-1-2", "Take neither.", "Ada")
    found = outcome_of("run", session.book())
    assert (found.answer, status_clause(found)) == ("Take neither.", "DECIDED: by a person")
    assert found.how_sure.startswith("Decided by Ada in place of D-1-2.")


def test_an_answer_after_a_plan_that_is_not_final_is_to_be_worked_in(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "jugalbandi", {"rounds": "2"})
    while True:
        if waits := awaited_answers(session.protocol, session.book().state):
            human_actions.answer(session, waits[0], "The parish pays.", "Ada")
        elif pending := session.pending():
            if pending[0].step.id == "r2.challenge.challenger":
                session.give_up(pending[0].step.id, "given_up", "lost in a test")
            else:
                submit(session, pending[0])
        else:
            break
    book = session.book()
    found = outcome_of("run", book)
    (answer,) = (event for event in book.of(Decision) if event.type == "answer")
    assert status_clause(found) == "YOUR CALL: nothing final was decided"
    assert found.do_now[0].text.startswith("Work in what a person answered to N-1-1")
    assert found.do_now[0].refs == [answer.id]
    assert found.do_now[-1].text.startswith("To ask again: moot fork run --round 2 (all")


@pytest.mark.parametrize("lost", ["r1.resolve.resolver", "r1.challenge.challenger"])
def test_a_plan_without_its_decision_keeps_its_assumptions(lost: str, tmp_path: Path) -> None:
    book, found = ended(tmp_path, "jugalbandi", {lost})
    assert sorted(point.text for point in found.assumed) == sorted(
        f"{event.text}{' (nobody asked for it)' * bool(event.unrequested)}" for event in book.of(Assumption)
    )


def test_one_lens_alone_is_your_call_and_the_other_was_lost(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "priority", {"r1.rating.impact"})
    assert status_clause(found) == "YOUR CALL: one lens was lost, so whether both agree is not known"
    assert found.answer.startswith("Order by urgency alone, as impact was lost: 1. O-1")
    assert "gave no levels" not in found.answer


@pytest.mark.parametrize("early", [True, False])
def test_an_answer_that_no_rule_counts_is_said_to_be_none(early: bool, tmp_path: Path) -> None:
    """An answer to a round that was lost was shown as work to put into the text, or not at all."""
    lost = frozenset({"r1.scoring.judge"})
    session = changed_run(
        tmp_path / "run", "comparative", lose=lost, until=lambda book: early and bool(questions_put(book))
    )
    human_actions.answer(session, next(iter(questions_put(session.book()))), "O-2.", "Ada")
    play(session)
    found = outcome_of("run", session.book())
    (chief,) = final_in_force(session.book().state)
    answered = [point.text for point in found.do_now if "answered" in point.text]
    assert answered == [
        "Weigh what a person answered to N-1-7 (“Round 1 was not judged (step r1.scoring.judge was given up): what was"
        " handed…”), which the rule does"
        f" not count (to follow it: moot override run {chief} 'TEXT'): O-2."
    ]
    assert answered[0] in " ".join(" ".join(outcome_lines(found, "run", 100)).split())


def questions_put(book: Book) -> list[str]:
    return [event.id for event in book.of(Concern) if event.for_human and event.by == "controller"]


def test_lost_rounds_are_asked_about_in_their_order(tmp_path: Path) -> None:
    lost = frozenset({"r1.scoring.judge", "r3.scoring.judge"})
    _, found = played(tmp_path, "comparative", lose=lost)
    assert [asking.text.partition(" was")[0] for asking in found.needs_you] == ["Round 1", "Round 3"]
    _, order = played(tmp_path / "order", "priority")
    assert [asking.ids for asking in order.needs_you] == [["N-1-1"], ["N-1-2"]]


def test_a_lost_vote_is_shown_without_the_numbers_that_fill_its_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended(tmp_path, "tribunal", {"r3.revise.utility"})
    main(["show", str(tmp_path / "run"), "VO-3-2-utility"])
    text = capsys.readouterr().out
    assert "No vote was given; the rule enters REFUSE." in text
    assert "confidence" not in text
    assert "risk" not in text


def test_roles_whose_forecast_was_lost_are_counted_beside_the_others(tmp_path: Path) -> None:
    _, found = ended(tmp_path, "crux", {"r1.B.guardian", "r1.B.observer"})
    assert [point.text for point in found.changes_our_mind][:1] == [
        "A way to be wrong, named by 2 of 2 roles (2 more were lost): It breaks."
    ]
    assert "the group forecast of 2 roles (2 more were lost), 81% each" in found.how_sure
    _, alone = ended(tmp_path / "alone", "crux", {"r1.B.guardian"})
    assert "of 3 roles (1 more was lost)" in alone.how_sure
    # A role without numbers about the test is out of the forecast. It has named its way to be wrong all the same.
    _, fewer = ended(tmp_path / "fewer", "crux", {"r1.B.critic", "r1.E.guardian"})
    assert "without guardian" in fewer.how_sure
    assert "named by 3 of 3 roles (1 more was lost): It breaks." in fewer.changes_our_mind[0].text
    _, whole = ended(tmp_path / "whole", "crux", set())
    assert "lost" not in whole.how_sure


# ---------------------------------------------------------------- what a reader would miss


def test_an_answer_that_one_test_turns_says_so(tmp_path: Path) -> None:
    _, found = played(tmp_path, "crux")
    assert found.hangs_on is not None
    assert found.hangs_on.endswith("the same; the test of C-1-1: had it failed, O-2 would lead")
    _, untested = ended(tmp_path / "lost", "crux", {"r1.D.verifier"})
    assert untested.hangs_on is not None
    assert "had it failed" not in untested.hangs_on


def test_an_answer_without_an_objection_says_that_no_role_was_heard(tmp_path: Path) -> None:
    unheard = "No role was asked to object to the answer."
    _, heard = played(tmp_path / "heard", "crux")
    _, off = played(tmp_path / "off", "crux", rules={"memo": "off"})
    _, lost = ended(tmp_path / "lost", "crux", {"r1.S.objection.guardian"})
    assert [unheard in found.how_sure for found in (heard, off, lost)] == [False, True, False]
    assert off.why[1].text.startswith("action: action has")


def test_a_role_that_answers_after_a_lost_reply_is_not_counted_as_lost(tmp_path: Path) -> None:
    lose = frozenset({"r1.B.critic", "r1.B.observer"})
    session = begin(tmp_path / "run", "crux", {"memo": "off"}, options=0)
    play(session, lose=lose)
    found = outcome_of("run", session.book())
    assert "the group forecast of 4 roles, 81% each by its numbers" in found.how_sure
    _, given = ended(tmp_path / "given", "crux", set(lose))
    assert "the group forecast of 2 roles (2 more were lost), 81% each" in given.how_sure


def test_a_role_without_which_only_the_status_differs_puts_no_other_answer_first() -> None:
    from detectors.report import EndWithout
    from moot.view.labels import changing_roles

    ends = {"action": EndWithout("O-1", changes=True), "critic": EndWithout(None, changes=True)}
    assert list(changing_roles(ends, "O-1")) == [
        "action: without it the status would be another",
        "critic: without it nobody answers",
    ]


def test_a_plan_of_a_council_that_a_person_overrules_leaves_the_others_in_view(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "council")
    play(session)
    shared = outcome_of("run", session.book())
    assert "required    somebody is on call (D-1-1, D-1-2, D-1-3)" in outcome_lines(shared, "run", 100)
    human_actions.override(session, "D-1-1", "Take the second plan.", "Ada")
    objection = outcome_of("run", session.book()).objection
    assert objection is not None
    # It said "resolver", a role that a council does not have.
    assert (objection.role, objection.ref, objection.others) == ("solo", "D-1-1", ("D-1-2", "D-1-3"))


def test_what_survives_is_counted_for_every_option(tmp_path: Path) -> None:
    _, found = played(tmp_path, "comparative")
    survive = (
        "Arguments that survive, of those that the judge checked: O-1 12 of 12, O-2 12 of 12, O-3 12 of 12."
    )
    assert survive in found.how_sure


def test_a_question_names_the_objection_that_put_it_and_a_rejection_its_reason(tmp_path: Path) -> None:
    def change(_: Step, made: dict[str, Any]) -> None:
        for rows in made.values():
            for row in rows if isinstance(rows, list) else ():
                if "disposition" in row:
                    row["reason"] = "It is not so."

    _, found = played(tmp_path, "single-pass", change, rules={"dispositions": "three"})
    assert found.needs_you[0].text == "After X-1-3: who pays?"
    assert found.objection is not None
    assert found.objection.became == "solo: rejected, It is not so."


def test_a_test_that_was_proposed_is_named_where_the_reply_that_lists_tests_was_lost(tmp_path: Path) -> None:
    """The outcome called the run decided and named nothing that could turn its answer."""
    _, heard = played(tmp_path / "heard", "crux")
    assert not any("and no reply listed it" in point.text for point in heard.do_now)
    _, lost = ended(tmp_path / "lost", "crux", {"r1.C.verifier"})
    proposed = [point for point in lost.do_now if "and no reply listed it" in point.text]
    assert proposed[0] is lost.do_now[0]
    assert proposed[0].refs == ["S-1-B-action#crux-1"]
    assert "action would see it" in proposed[0].text
    assert proposed[0].text.startswith("Proposed, and no reply listed it: action would see it")
    assert "; test, by document: " in proposed[0].text
    assert lost.do_now[-1].text.startswith("To ask again: moot fork run --round 1")


NO_MEMO = "No memo gives reasons: those stated are of one role alone."


def test_reasons_without_a_memo_are_those_of_one_role(tmp_path: Path) -> None:
    """Beside "the group forecast of 4 roles", "1 of 2 reasons" was read as the agreement of two roles."""
    _, whole = ended(tmp_path / "whole", "crux", set())
    assert NO_MEMO not in whole.how_sure
    writers = {f"r1.S.memo.{role}" for role in ("action", "guardian", "observer", "critic")}
    _, lost = ended(tmp_path / "lost", "crux", writers)
    _, off = played(tmp_path / "off", "crux", rules={"memo": "off"})
    counted = "Of 2 reasons: 1 quoted from a document, 1 stated, not tested; none was run"
    for found in (lost, off):
        assert NO_MEMO in found.how_sure
        assert counted in found.how_sure
        assert {point.text.partition(":")[0] for point in found.why if point.class_ == "said"} == {"action"}


@pytest.mark.parametrize("phase", ["B", "E"])
def test_one_forecast_that_is_left_is_said_to_be_the_only_one(phase: str, tmp_path: Path) -> None:
    """With the numbers of one role, "no single role's sealed answer" was so by the arithmetic, and said nothing."""
    lost = {f"r1.{phase}.{role}" for role in ("guardian", "observer", "critic")}
    _, found = ended(tmp_path, "crux", lost)
    only = {"B": "action: without it nobody answers", "E": "action: only its forecast counts"}
    assert found.hangs_on == f"{only[phase]}; the test of C-1-1: had it failed, O-2 would lead"
    assert status_clause(found).startswith("DECIDED: replies lost: 3 of ")
    assert status_clause(found).endswith(", only one forecast counts")


def test_a_run_of_crux_says_which_replies_it_lost(tmp_path: Path) -> None:
    """All other protocols had it beside the status."""
    _, whole = ended(tmp_path / "whole", "crux", set())
    assert status_clause(whole) == "DECIDED"
    _, found = ended(tmp_path / "lost", "crux", {"r1.B.guardian", "r1.S.objection.observer"})
    assert status_clause(found) == "DECIDED: replies lost: 2 of 13 (guardian, observer)"
    everyone = {f"r1.B.{role}" for role in ("action", "guardian", "observer", "critic")}
    _, nobody = ended(tmp_path / "nobody", "crux", everyone)
    assert status_clause(nobody).endswith("replies lost: 4 of 5 (action, guardian, observer, critic)")


def test_a_round_whose_scores_would_change_nothing_leaves_no_call_to_a_person(tmp_path: Path) -> None:
    """YOUR CALL was said for a round that compared the other two options, far behind the recommended one."""
    _, one = ended(tmp_path / "one", "comparative", {"r6.scoring.judge"})
    assert status_clause(one) == "DECIDED: replies lost: 1 of 6 in scoring (Judge)"
    assert "(whatever the scores, the recommendation would be the same)." in one.answer
    assert one.go_on is None
    many = {f"r{n}.scoring.judge" for n in (1, 2, 3)}
    _, found = ended(tmp_path / "many", "comparative", many)
    could = "YOUR CALL: rounds without scores could change the recommendation"
    assert status_clause(found) == could
    assert "whatever the scores" not in found.answer
    # Nobody is asked about a round without a case, which was DECIDED.
    cases = {"r1.case.for_o_1.advocate_a", "r1.case.for_o_2.advocate_b"}
    session = begin(tmp_path / "half", "comparative", options=2)
    half = outcome_of("run", play(session, lose=frozenset(cases)))
    assert (status_clause(half), half.needs_you) == (could, [])


def test_what_has_no_room_says_of_which_row_it_is_and_who_states_it(tmp_path: Path) -> None:
    """Two rows ended in "(and 1 more: D-1-1)", and what three plans state had the first of them alone."""

    def change(_: Step, made: dict[str, Any]) -> None:
        for name in {"falsifiers", "requirements"} & made.keys():
            made[name] = [f"{name} {n} {'of many words in a row ' * 5}" for n in range(3)]

    _, found = played(tmp_path, "council", change)
    lines = " ".join(" ".join(outcome_lines(found, "run", 100)).split())
    assert "(and 1 more “revisit if”: D-1-1, D-1-2, D-1-3)" in lines
    assert "(and 1 more “required”: D-1-1, D-1-2, D-1-3)" in lines


def of_world(path: Path, world: crux_seats.World, *lost: str, options: int = 2) -> tuple[Book, Outcome]:
    """Play a crux of a world to its end without some replies."""
    session = crux_seats.begin(path / "run", {"wait": "off"}, options=options)
    book = crux_seats.play(session, world, lose=frozenset(lost))
    return book, outcome_of("run", book)


def test_several_tests_are_a_reason_each_that_names_them_all(tmp_path: Path) -> None:
    """They had no level together, and were counted as "decided on the way"."""
    _, found = of_world(tmp_path, crux_seats.contested("document", "document"))
    assert [(point.refs, point.class_) for point in found.why[:2]] == [
        (["C-1-1"], "quoted"),
        (["C-1-2"], "quoted"),
    ]
    together = (
        "2 tests together took O-1 from 60% to 100%; C-1-1 holds, which raised it: What action would see"
    )
    assert found.why[0].text.startswith(together)
    assert found.why[1].text.startswith("C-1-2 holds, which raised it: What guardian would see is so, 1.")
    assert "Of 3 reasons: 2 quoted from a document, 1 stated, not tested; none was run." in found.how_sure
    _, alone = of_world(tmp_path / "alone", crux_seats.contested("document"))
    assert alone.why[0].text.startswith("A test raised O-1 from 60% to 81%: C-1-1 holds: ")


def test_a_way_to_be_wrong_is_counted_among_the_roles_whose_lists_are_about_the_leader(
    tmp_path: Path,
) -> None:
    """Four roles named it; the list of the one that prefers another option is about that option."""
    world = crux_seats.World(first=dict(zip(crux_seats.ROLES, (70, 40, 65, 60), strict=True)))
    _, found = of_world(tmp_path, world)
    ways = "A way to be wrong, named by 3 of 3 roles that put O-1 first: It breaks."
    assert found.changes_our_mind[0].text == ways


def test_a_memo_that_leaves_the_leader_is_the_reason_of_your_call(tmp_path: Path) -> None:
    _, found = of_world(tmp_path, crux_seats.World(answers="O-2"))
    assert status_clause(found) == "YOUR CALL: the memo answers with another option than the group forecast"


def test_an_answer_in_own_words_is_no_option_that_roles_share(tmp_path: Path) -> None:
    """Where the reply that makes options of the answers is lost, "own" was shown, and would have been agreement."""
    book, found = of_world(tmp_path, crux_seats.contested("document"), "r1.C.verifier", options=0)
    assert found.dissent[0].became == "asked to object, and dissents; its own numbers give its own answer 60%"
    assert choices(book) == {}


def test_a_council_that_lost_half_of_its_members_has_no_majority(tmp_path: Path) -> None:
    """One reply of three was DECIDED, "by 1 of 1 members"; the lost ones might have outvoted it."""

    def change(step: Step, made: dict[str, Any]) -> None:
        made["answers"] = "O-1" if step.name.repeat == 2 else "O-2"

    _, found = played(tmp_path, "council", change, lose=frozenset({"r1.plan.solo", "r1.plan.solo~2"}))
    assert status_clause(found) == "YOUR CALL: no option has more than half of 3 members"
    _, enough = played(tmp_path / "enough", "council", change, lose=frozenset({"r1.plan.solo~2"}))
    assert status_clause(enough).startswith(
        "DECIDED: by 2 of 2 members, 1 requirement in 2 plans, replies lost"
    )
    _, whole = played(tmp_path / "whole", "council", change)
    assert [dissenter.text for dissenter in whole.dissent] == ["for O-1: do it"]


def test_what_was_handed_in_is_counted_once_on_a_screen(tmp_path: Path) -> None:
    """ "4 challenges (X-1-1, X-1-2, X-1-3 and 1 more)" ended in "(and 1 more: …)", which is another one."""
    _, found = ended(tmp_path, "jugalbandi", {"r1.resolve.resolver"}, {"wait": "off"})
    (weigh,) = [point.text for point in found.do_now if "challenger" in point.text]
    assert weigh.startswith("Weigh 4 challenges (X-1-1, X-1-2, X-1-3 and others) of challenger: ")


def test_ways_in_which_the_leader_could_be_wrong_are_none_to_another_answer(tmp_path: Path) -> None:
    """A person who took the other option read what would show the overruled one to be wrong."""
    _, left = of_world(tmp_path / "left", crux_seats.World(answers="O-2"))
    assert not any("A way to be wrong" in point.text for point in left.changes_our_mind)
    session = changed_run(tmp_path / "run", "crux")
    (decided,) = final_in_force(session.book().state)
    assert any(
        "way to be wrong" in point.text for point in outcome_of("run", session.book()).changes_our_mind
    )
    human_actions.override(session, decided, "Take O-2 all the same.", "Bo")
    assert outcome_of("run", session.book()).changes_our_mind == []
