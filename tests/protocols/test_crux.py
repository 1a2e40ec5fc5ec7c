"""`crux` from the first answer to the end: why it stops, what it costs, what is lost, and that it is the same again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import moot
from ledger.events import Amendment, Belief, Claim, Concern, Decision, DriftCheck, Memo, Verification
from ledger.events.run import Change
from ledger.state.book import Book
from ledger.state.state import VERIFIER
from roles.prompt_set import installed_prompt_set, read_prompt_set
from roles.protocol import awaited_answers
from rounds.protocols import PROTOCOLS
from rounds.protocols.crux import SHEET, standing
from rounds.run.human_actions import answer
from rounds.run.outcome import outcome_of
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from tests.protocols.crux_seats import HOW, ROLES, World, begin, play, submit
from tests.validators.factory import add, change, cut
from validators import rulebook

SPLIT: Final = dict.fromkeys(ROLES, 60)
CONTESTED: Final = World(first=SPLIT, proposed={"action": ("document", 50, 95, 25)}, later=(50, 95, 25))
"""Four roles at 60 points, and a claim that would move them to 95 or to 25."""


@pytest.fixture(autouse=True)
def _documents() -> Iterator[None]:
    """Cruxes are about a document unless a test says otherwise."""
    HOW.clear()
    yield
    HOW.clear()


def ended(book: Book) -> tuple[str | None, int]:
    """Why the run ended, and after how many replies."""
    closing = book.state.closing
    return (closing.reason if closing else None), len(book.state.answered)


def decision(book: Book) -> Decision:
    """The final one."""
    (found,) = [e for e in book.events if isinstance(e, Decision) and e.type == "final"]
    return found


def test_one_sure_answer_is_enough(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), World(first=dict.fromkeys(ROLES, 95)))
    assert ended(book) == ("short", 4)
    assert decision(book).about == ("O-1",)
    assert decision(book).text == "Keep three streams."
    assert decision(book).falsifiers == ("A lost line would show it wrong.",)


def test_four_sure_answers_are_enough_without_an_agenda(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), World(first=dict.fromkeys(ROLES, 87)))
    assert ended(book) == ("short", 9)
    assert book.state.agenda is None


@pytest.mark.parametrize("rules", [{"first": "4"}, {"stakes": "high"}])
def test_the_first_short_way_can_be_skipped(tmp_path: Path, rules: dict[str, str]) -> None:
    book = play(begin(tmp_path / "run", rules), World(first=dict.fromkeys(ROLES, 95)))
    assert set(book.state.beliefs_at(1)) == set(ROLES)


@pytest.mark.parametrize(
    "objection",
    [
        {"missing": ["a fourth way"]},
        {"double": [["O-1", "O-2"]]},
        {"ill_posed": True, "why": "No answer fits."},
    ],
)
def test_an_objection_of_the_frame_closes_the_short_ways(tmp_path: Path, objection: dict[str, Any]) -> None:
    book = play(begin(tmp_path / "run"), World(first=dict.fromkeys(ROLES, 95), frame=objection))
    assert ended(book)[0] == "settled"
    assert len(book.state.answered) == 10


def test_a_lost_frame_is_no_agreement(tmp_path: Path) -> None:
    world = World(first=dict.fromkeys(ROLES, 95))
    book = play(begin(tmp_path / "run"), world, lose=frozenset({"r1.A.verifier"}))
    assert ended(book)[0] == "settled"


def test_a_proposal_that_could_change_it_closes_the_short_way(tmp_path: Path) -> None:
    HOW["action"] = "execution"
    world = World(
        first=dict.fromkeys(ROLES, 90), proposed={"action": ("execution", 80, 100, 50)}, later=(80, 100, 50)
    )
    assert ended(play(begin(tmp_path / "harmless"), world))[0] == "short"
    world = World(
        first=dict.fromkeys(ROLES, 90), proposed={"action": ("execution", 90, 100, 5)}, later=(90, 100, 5)
    )
    book = play(begin(tmp_path / "telling"), world)
    assert book.state.looks[0].reason == "go_on"


def test_nothing_to_test_settles(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), World(first=SPLIT))
    assert ended(book) == ("settled", 10)
    assert book.state.redraw is not None


def test_an_even_pool_with_nothing_to_test_is_for_a_person_to_weigh(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), World(first=dict.fromkeys(ROLES, 53)))
    assert ended(book)[0] == "values"
    memo = book.state.memo
    assert memo is not None
    assert memo.status == "your_weighing"


def test_an_ill_posed_question_is_called_so_when_the_pool_says_none(tmp_path: Path) -> None:
    world = World(
        first=dict.fromkeys(ROLES, 30), rest=-1, frame={"ill_posed": True, "why": "No answer fits."}
    )
    book = play(begin(tmp_path / "run"), world)
    assert ended(book)[0] == "ill_posed"
    assert book.state.looks[-1].leader == "none"


def test_a_round_of_tests_settles_it(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), CONTESTED)
    assert [look.reason for look in book.state.looks] == ["go_on", "settled"]
    assert len(book.state.answered) == 21
    (verdict,) = [event for event in book.events if isinstance(event, Verification)]
    assert verdict.claim_status_changes[0].class_ == "quoted"
    derived = [event for event in book.events if isinstance(event, Belief) and event.derived]
    assert [event.role for event in derived] == list(ROLES)
    assert all(event.points == {"O-1": 85, "O-2": 15} for event in derived)


def test_the_doubter_and_the_holder_plan_and_everybody_predicts(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), CONTESTED)
    steps = [step for step in book.state.answered if step.startswith("r2.")]
    assert steps[:2] == ["r2.D.action", "r2.D.guardian"]
    assert [step for step in steps if ".E." in step][:4] == [f"r2.E.{role}" for role in ROLES]


def test_a_result_that_nobody_expected_is_asked_about(tmp_path: Path) -> None:
    world = World(
        first=SPLIT, proposed={"action": ("document", 50, 95, 25)}, later=(50, 62, 58), predicts="fails"
    )
    book = play(begin(tmp_path / "run"), world)
    assert [step for step in book.state.answered if ".F." in step] == [f"r2.F.{role}" for role in ROLES]


def test_whoever_leaves_what_follows_without_evidence_is_unexplained(tmp_path: Path) -> None:
    world = World(first=SPLIT, proposed=CONTESTED.proposed, later=CONTESTED.later, own=40)
    book = play(begin(tmp_path / "run"), world)
    own = [
        event for event in book.events if isinstance(event, Belief) and event.id and event.id.endswith("~3")
    ]
    assert own
    assert all(event.unexplained for event in own)


def test_the_cap_is_reached_when_tests_come_to_nothing(tmp_path: Path) -> None:
    world = World(
        first=SPLIT,
        proposed=dict.fromkeys(ROLES, ("document", 50, 95, 25)),
        later=(50, 95, 25),
        bearing="inconclusive",
    )
    book = play(begin(tmp_path / "run", {"rounds": "1"}), world)
    assert ended(book)[0] == "cap"
    assert [look.reason for look in book.state.looks] == ["go_on", "cap"]


@pytest.mark.parametrize(("calls", "reasons"), [(7 + 13 + 4, ["go_on", "settled"]), (7 + 13 + 3, ["budget"])])
def test_a_budget_that_forbids_a_round_stops_before_it(
    tmp_path: Path, calls: int, reasons: list[str]
) -> None:
    book = play(begin(tmp_path / "run", calls=calls), CONTESTED)
    assert [look.reason for look in book.state.looks] == reasons
    assert (book.state.memo is not None, len(decision(book).text) > 0) == (True, True)
    assert len(book.state.answered) <= calls


def test_no_run_has_more_than_forty_replies(tmp_path: Path) -> None:
    world = World(
        first=SPLIT,
        proposed=dict.fromkeys(ROLES, ("document", 50, 95, 25)),
        later=(50, 95, 25),
        bearing="inconclusive",
        predicts="fails",
    )
    book = play(begin(tmp_path / "run"), world)
    assert len(book.state.answered) <= 40


def test_without_rounds_answers_are_merged_and_nothing_is_tested(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run", {"rounds": "0"}), CONTESTED)
    assert ended(book) == ("cap", 9)
    assert book.state.redraw is None
    assert book.state.agenda is not None


def test_what_only_a_person_knows_is_handed_over_and_waited_for(tmp_path: Path) -> None:
    HOW["guardian"] = "person"
    world = World(first=SPLIT, proposed={"guardian": ("person", 50, 95, 25)}, later=(50, 95, 25), own=90)
    session = begin(tmp_path / "run")
    book = play(session, world)
    assert book.state.closing is None
    assert [look.reason for look in book.state.looks] == ["hand_over"]
    (question,) = [i for i, one in book.state.concerns.items() if one.for_human]
    answer(session, question, "It was seen, twice.")
    assert [one.step.id for one in session.asked()] == [f"r2.F.{role}" for role in ROLES]
    book = play(session, world)
    assert ended(book)[0] == "settled"


def test_a_result_from_elsewhere_is_handed_in_as_an_answer(tmp_path: Path) -> None:
    """What a program would settle, and nobody here may run: the run waits with its test, and takes what is said."""
    HOW["guardian"] = "execution"
    proposed = {"guardian": ("execution", 70, 75, 25)}
    session = begin(tmp_path / "run")
    world = World(first=SPLIT, proposed=proposed, later=(70, 75, 25), own=75)
    book = play(session, world)
    assert [look.reason for look in book.state.looks] == ["go_on", "hand_over"]
    (question,) = awaited_answers(session.protocol, book.state)
    assert book.state.concerns[question].between == ("C-1-1",)
    answer(session, question, "It ran, and held.")
    assert [one.step.id for one in session.asked()] == [f"r3.F.{role}" for role in ROLES]
    book = play(session, world)
    assert ended(book)[0] == "settled"
    assert awaited_answers(session.protocol, book.state) == ()
    assert [f for f in moot.check(session.run.path).findings if f.severity == "error"] == []
    assert _again(session).identical


def test_when_the_answer_comes_and_no_round_is_left_the_run_closes(tmp_path: Path) -> None:
    HOW["guardian"] = "execution"
    world = World(first=SPLIT, proposed={"guardian": ("execution", 70, 75, 25)}, later=(70, 75, 25))
    session = begin(tmp_path / "run", {"rounds": "1"})
    book = play(session, world)
    assert book.state.closing is None
    (question,) = awaited_answers(session.protocol, book.state)
    answer(session, question, "It ran, and held.")
    assert ended(play(session, world))[0] == "hand_over"


def test_told_not_to_wait_it_closes_with_what_is_open(tmp_path: Path) -> None:
    HOW["guardian"] = "person"
    world = World(first=SPLIT, proposed={"guardian": ("person", 50, 95, 25)}, later=(50, 95, 25))
    book = play(begin(tmp_path / "run", {"wait": "off"}), world)
    assert ended(book)[0] == "hand_over"
    assert book.state.memo is not None
    assert book.state.memo.status == "run_this_first"


def test_what_a_program_could_settle_is_planned_and_predicted_before_it_is_handed_over(
    tmp_path: Path,
) -> None:
    HOW["guardian"] = "execution"
    world = World(first=SPLIT, proposed={"guardian": ("execution", 70, 75, 25)}, later=(70, 75, 25))
    book = play(begin(tmp_path / "run", {"wait": "off"}), world)
    assert [look.reason for look in book.state.looks] == ["go_on", "hand_over"]
    assert "A-2-action" in book.state.artifacts
    assert "r2.E.verifier" not in book.state.answered


def test_two_who_call_a_plan_unfair_stop_its_test(tmp_path: Path) -> None:
    world = World(
        first=SPLIT, proposed=CONTESTED.proposed, later=CONTESTED.later, unfair=("observer", "critic")
    )
    book = play(begin(tmp_path / "run", {"rounds": "1"}), world)
    assert "r2.E.verifier" not in book.state.answered
    assert ended(book)[0] == "cap"


def test_without_options_the_agenda_makes_them(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run", options=0), World(first=SPLIT))
    assert ended(book) == ("settled", 14)
    assert [option.text for option in book.state.options] == ["three streams", "one journal"]
    short = play(begin(tmp_path / "short", options=0), World(first=dict.fromkeys(ROLES, 95)))
    assert ended(short) == ("short", 4)


def test_a_sentence_that_nothing_supports_is_taken_out(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run"), World(first=SPLIT, unsupported=(3,)))
    memo = [event for event in book.events if isinstance(event, Memo)][-1]
    assert memo.id == "M-1~3"
    assert [one.text for one in memo.removed] == ["A lost line would show it wrong."]
    assert decision(book).falsifiers == ()


def test_a_sentence_that_is_rewritten_is_checked_alone_and_stays(tmp_path: Path) -> None:
    world = World(first=SPLIT, unsupported=(3,), rewritten="A line that is lost would show it.")
    session = begin(tmp_path / "run")
    briefs: dict[str, str] = {}
    while asked := session.asked():
        briefs[asked[0].step.id] = asked[0].brief.text
        submit(session, asked[0], world)
    assert "#s3 refused, nothing that it cites says so | read" in briefs["r1.S.memo.action~2"]
    assert "sentence 3, changes_our_mind\nsays | A line" in briefs["r1.S.check.verifier~2"]
    assert "sentence 1" not in briefs["r1.S.check.verifier~2"]
    book = session.book()
    steps = [step for step in book.state.answered if ".S." in step]
    assert steps[-2:] == ["r1.S.memo.action~2", "r1.S.check.verifier~2"]
    assert [event.id for event in book.of(Memo)] == ["M-1", "M-1~2"]
    second = next(event for event in book.of(DriftCheck) if event.id == "H-1~2")
    assert [one.of for one in second.sentences] == ["M-1~2#s3"]
    assert decision(book).falsifiers == ("A line that is lost would show it.",)
    assert [f for f in moot.check(session.run.path).findings if f.severity == "error"] == []
    assert _again(session).identical


def test_a_rewritten_sentence_that_nothing_supports_either_is_taken_out(tmp_path: Path) -> None:
    world = World(first=SPLIT, unsupported=(3,), rewritten="A line that is lost would show it.", still=True)
    book = play(begin(tmp_path / "run"), world)
    memo = book.of(Memo)[-1]
    assert memo.id == "M-1~3"
    assert [one.text for one in memo.removed] == ["A line that is lost would show it."]


@pytest.mark.parametrize("lost", ["r1.S.memo.action~2", "r1.S.check.verifier~2"])
def test_a_lost_rewrite_or_its_check_ends_the_run_all_the_same(tmp_path: Path, lost: str) -> None:
    world = World(first=SPLIT, unsupported=(3,), rewritten="A line that is lost would show it.")
    session = begin(tmp_path / "run")
    book = play(session, world, lose=frozenset({lost}))
    kept = () if ".memo." in lost else ("A line that is lost would show it.",)
    assert decision(book).falsifiers == kept
    assert outcome_of(book.state).kind == "degraded"
    assert [f for f in moot.check(session.run.path).findings if f.severity == "error"] == []


def test_the_objection_is_the_dissent_of_whoever_would_decide_otherwise(tmp_path: Path) -> None:
    first = {**SPLIT, "observer": 20}
    book = play(begin(tmp_path / "run"), World(first=first))
    (dissent,) = decision(book).dissent
    assert (dissent.role, dissent.text) == ("observer", "The other one is cheaper to run.")
    agreed = play(begin(tmp_path / "agreed"), World(first=first, dissents=False))
    assert decision(agreed).dissent == ()


def test_without_a_memo_the_decision_names_the_leader(tmp_path: Path) -> None:
    book = play(begin(tmp_path / "run", {"memo": "off"}), World(first=SPLIT))
    assert ended(book) == ("settled", 7)
    assert decision(book).text == "three streams"


@pytest.mark.parametrize("seed", range(4))
def test_the_seed_names_who_answers_first(tmp_path: Path, seed: int) -> None:
    session = begin(tmp_path / "run", seed=seed)
    assert [one.step.id for one in session.asked()] == [f"r1.B.{ROLES[seed]}", "r1.A.verifier"]


# ---------------------------------------------------------------- sealed


def test_no_brief_before_the_closing_shows_another_roles_words_or_points(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    for _ in range(60):
        asked = session.asked()
        if not asked:
            break
        for one in asked:
            if one.step.name.phase != "S" and one.step.role != VERIFIER:
                others = [role for role in ROLES if role != one.step.role]
                text = "".join(block.text for block in one.brief.blocks if block.name != "frame")
                assert not any(f"B-{n}-{role}" in text for role in others for n in (1, 2))
                assert not any(f"{role} has a reason" in text for role in others)
        submit(session, asked[0], CONTESTED)


def test_the_agenda_sees_answers_without_names_and_numbers(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    while (asked := session.asked())[0].step.task != "C.agenda":
        submit(session, asked[0], CONTESTED)
    text = asked[0].brief.text
    assert "answer a" in text
    assert "S-1-B-" not in text.partition("# What you need for this step")[2]


# ---------------------------------------------------------------- the same again


WORLDS: Final[dict[str, tuple[dict[str, str], int, World]]] = {
    "short": ({}, 2, World(first=dict.fromkeys(ROLES, 95))),
    "tested": ({}, 2, CONTESTED),
    "open": ({}, 0, CONTESTED),
    "removed": ({}, 2, World(first=SPLIT, unsupported=(2,))),
}


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.parametrize("order", [1, -1])
def test_it_keeps_every_rule_and_runs_again_to_the_same_head(tmp_path: Path, name: str, order: int) -> None:
    rules, options, world = WORLDS[name]
    session = begin(tmp_path / "run", rules, options=options)
    book = play(session, world, order=order)
    assert {event.v for event in book.events} == {2}
    assert [f for f in moot.check(session.run.path).findings if f.severity == "error"] == []
    assert _again(session).identical


def _again(session: RunSession) -> Any:
    return re_execute(session.book(), session.protocol, session.controller)


@pytest.mark.parametrize("name", WORLDS)
def test_the_order_of_arrival_changes_nothing_that_is_decided(tmp_path: Path, name: str) -> None:
    rules, options, world = WORLDS[name]
    forth = play(begin(tmp_path / "forth", rules, options=options), world)
    back = play(begin(tmp_path / "back", rules, options=options), world, order=-1)
    for book in (forth, back):
        assert book.state.closing is not None
    assert _comes_to(forth) == _comes_to(back)


def _comes_to(book: Book) -> tuple[object, ...]:
    beliefs = {identity: facts.points for identity, facts in sorted(book.state.beliefs.items())}
    claims = {event.id: event.text for event in book.events if isinstance(event, Claim)}
    looks = [(look.reason, look.pool, look.values) for look in book.state.looks]
    return decision(book).text, decision(book).about, set(book.state.answered), beliefs, claims, looks


# ---------------------------------------------------------------- what is lost


def _steps(tmp_path: Path) -> list[str]:
    return list(play(begin(tmp_path / "whole"), CONTESTED).state.answered)


@pytest.mark.slow  # a run for each reply
def test_every_lost_reply_ends_in_a_decision_or_is_called_undecided(tmp_path: Path) -> None:
    steps = _steps(tmp_path)
    for n, step in enumerate(steps):
        session = begin(tmp_path / f"lost-{n}")
        book = play(session, CONTESTED, lose=frozenset({step}))
        assert book.state.closing is not None, step
        assert outcome_of(book.state).kind == "degraded", step
        assert decision(book).text, step
        assert [f for f in moot.check(session.run.path).findings if f.severity == "error"] == [], step


def test_nobody_answered_is_no_decision(tmp_path: Path) -> None:
    lost = frozenset(f"r1.B.{role}" for role in ROLES)
    book = play(begin(tmp_path / "run"), CONTESTED, lose=lost)
    assert ended(book)[0] == "seats_failed"
    assert outcome_of(book.state).kind == "unanswered"


def test_whoever_gave_no_numbers_is_out_of_the_pool_until_it_answers(tmp_path: Path) -> None:
    lost = frozenset({"r2.E.observer", "r2.F.observer"})
    book = play(begin(tmp_path / "run"), CONTESTED, lose=lost)
    assert "observer" not in standing.end_of(book.state, 2).roles
    back = play(begin(tmp_path / "back"), CONTESTED, lose=frozenset({"r2.E.observer"}))
    assert "observer" in standing.end_of(back.state, 2).roles


def test_a_lost_memo_is_written_by_the_next_nearest_and_then_by_nobody(tmp_path: Path) -> None:
    world = World(first=SPLIT)
    once = play(begin(tmp_path / "once"), world, lose=frozenset({"r1.S.memo.action"}))
    assert "r1.S.memo.guardian" in once.state.answered
    twice = frozenset({"r1.S.memo.action", "r1.S.memo.guardian"})
    none = play(begin(tmp_path / "none"), world, lose=twice)
    assert none.state.memo is None
    assert decision(none).text == "three streams"


def test_it_is_listed_and_writes_format_2() -> None:
    assert "crux" in list(PROTOCOLS)


def test_its_prompts_are_whole_and_have_a_template_for_every_step() -> None:
    templates = set(read_prompt_set(installed_prompt_set("crux"))["templates"])
    tasks = {f"tasks/{row.task}" for row in SHEET.rows}
    charters = {f"charters/{role}" for role in (*ROLES, VERIFIER)}
    blocks = {f"blocks/{name}" for name in ("frame", "question", "before", "told", "role", "task", "repair")}
    assert templates == tasks | charters | blocks


# ---------------------------------------------------------------- what is computed cannot be edited


def _found_in(book: Book, session: RunSession) -> set[tuple[str, int | None]]:
    report = rulebook.check(book, session.verdicts.context())
    return {(one.code, one.seq) for one in report.findings if one.severity == "error"}


def test_a_derived_belief_that_was_edited_is_found(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    book = play(session, CONTESTED)
    seq = book.by_id["B-2-action~2"].seq
    assert _found_in(change(seq, book), session) == set()
    edited = change(seq, book, points={"O-1": 84, "O-2": 16})
    assert ("FLW002", seq) in _found_in(edited, session)


def test_a_stop_that_was_edited_is_found(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    book = play(session, CONTESTED)
    for change_ in ({"reason": "cap"}, {"leader": "O-2"}, {"pool": {"O-1": "90.000000"}}):
        seq = book.state.looks[-1].seq
        assert ("VER002", seq) in _found_in(change(seq, book, **change_), session)


def test_a_question_of_the_look_that_was_edited_or_left_out_is_found(tmp_path: Path) -> None:
    HOW["guardian"] = "person"
    session = begin(tmp_path / "run")
    proposed = {"guardian": ("person", 50, 95, 25)}
    book = play(session, World(first=SPLIT, proposed=proposed, later=(50, 95, 25), own=90))
    (asked,) = [one for one in book.events if isinstance(one, Concern) and one.for_human]
    assert _found_in(book, session) == set()
    assert ("VER002", asked.seq) in _found_in(change(asked.seq, book, text="Is it so?"), session)
    look = book.state.looks[-1]
    short = change(look.seq - 1, change(look.seq, cut(look.seq, book), rest=0), rest=1)
    assert ("VER002", look.seq - 1) in _found_in(short, session)
    claim = book.by_id[asked.between[0]].seq
    redaction = Amendment(
        round=1,
        phase=asked.phase,
        by="human",
        what="redaction",
        change=(Change(path=f"@{claim}", from_=None, to=None),),
        cause="human",
        reason="It names people.",
    )
    redacted = change(claim, add(book, redaction), testable_as="[redacted]")
    assert ("VER002", asked.seq) not in _found_in(redacted, session)
    assert ("VER002", asked.seq) in _found_in(change(claim, book, testable_as="[redacted]"), session)
