"""`why`: every node once, within 60 lines for every final decision; `show`: one thing in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.events import Belief, Claim, Decision, Disposition, Memo, Standing, Verification
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from moot.api import open_run
from moot.view.outcome import outcome_of
from moot.view.show import LINES, show_of, show_text, why_of, why_text
from rounds.protocols import PROTOCOLS
from tests.long_run import long_run
from tests.protocols.playing import begin, played, submit
from tests.recorded import recorded_names, run_of


def book(name: str) -> Book:
    return open_run(run_of(name)).book


@pytest.fixture(scope="module")
def long() -> Book:
    return open_run(long_run()).book


def last_final(long: Book) -> str:
    """Return the final decision that builds on an earlier one."""
    return final_in_force(long.state)[-1]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_there_are_final_decisions_to_explain(protocol: str) -> None:
    path = long_run() if protocol == "structured" else played(protocol)
    finals = final_in_force(open_run(path).book.state)
    assert bool(finals) == (protocol != "council")


@pytest.mark.parametrize("name", recorded_names())
def test_the_tree_of_a_final_decision_is_short_and_tells_each_node_once(name: str) -> None:
    for identity in final_in_force(book(name).state):
        found = why_of(name, book(name), identity)
        assert len(why_text(found).splitlines()) <= LINES
        told = [node.id for node in found.nodes if not node.again]
        assert len(told) == len(set(told))
        assert all(node.id in told for node in found.nodes if node.again)
        assert max(node.depth for node in found.nodes) <= 3


def test_all_of_it_has_every_node_once_and_every_quote(long: Book) -> None:
    part = why_of("run", long, last_final(long))
    whole = why_of("run", long, last_final(long), everything=True)
    told = [node.id for node in whole.nodes if not node.again]
    assert len(told) == len(set(told)) > len(part.nodes)
    assert sum(node.below for node in part.nodes) > 0 == sum(node.below for node in whole.nodes)
    assert "--all" in why_text(part)
    assert "--all" not in why_text(whole, everything=True)


def test_lines_keep_to_the_width(long: Book) -> None:
    found = why_of("r", long, final_in_force(long.state)[0])
    for width in (60, 200):
        assert max(map(len, why_text(found, width).splitlines())) <= width


def test_a_claim_is_shown_with_its_life_and_what_names_it(long: Book) -> None:
    """The claim was never tested before the closing resolved it."""
    resolved = [one for one in long.of(Verification) if one.check == "synthesis_resolution"]
    verdict = next(one for one in resolved if len(long.state.claims[one.claims_affected[0]].moves) == 1)
    claim = long.by_id[verdict.claims_affected[0]]
    assert isinstance(claim, Claim)
    found = show_of("run", long, claim)
    assert (found.kind, found.by, found.standing) == ("claim", claim.raised_by, "? unclear (argued)")
    assert [one for one in found.history if not one.startswith("took ")] == [
        f"○ pending → ? unclear (argued) in {verdict.id}"
    ]
    citing = [one for one in long.of(Decision) if claim.id in [cite.id for cite in one.cites]]
    assert found.named_by == [one.id for one in sorted([verdict, *citing], key=lambda event: event.seq)]
    assert "testable as:" in show_text(found)


def test_a_decision_says_what_would_show_it_wrong(long: Book) -> None:
    for decision in long.of(Decision):
        if decision.type in ("round", "final"):
            assert show_of("run", long, decision).says["would show it wrong"] == list(decision.falsifiers)


def test_a_claim_says_what_its_replies_took(long: Book) -> None:
    """Raised in one reply and tested in another; what is unknown says so."""
    claim = next(one for one, facts in long.state.claims.items() if len(facts.moves) == 1)
    shown = show_of("run", long, long.by_id[claim])
    (line,) = [one for one in shown.history if one.startswith("took ")]
    assert line.startswith("took 2 replies whole (@")
    assert line.endswith("tokens unknown, cost unknown")


def test_a_forecast_under_a_decision_has_its_numbers_before_and_after_the_tests() -> None:
    crux = book("crux-hook")
    told = why_text(why_of("run", crux, "D-2-1"))
    for role in ("action", "guardian", "observer", "critic"):
        before, after = crux.by_id[f"B-1-{role}~3"], crux.by_id[f"B-1-{role}~4"]
        assert isinstance(before, Belief)
        assert isinstance(after, Belief)
        moved = f"O-3 {before.points['O-3']}% → {after.points['O-3']}%, "
        assert f"based on: B-1-{role}~4 forecast, {role}: {moved}" in told
        assert f"based on: B-1-{role}~3 forecast, {role}: O-2 {before.points['O-2']}%, " in told


# ---------------------------------------------------------------- one event of a run, whatever its kind


def lines_of(protocol: str, identity: str, **rules: str) -> list[str]:
    """Return what `moot why` prints of one event of a scripted run."""
    return why_text(why_of("RUN", open_run(played(protocol, **rules)).book, identity)).splitlines()


def test_a_memo_rests_on_what_its_sentences_cite() -> None:
    assert lines_of("crux", "M-1") == [
        "M-1 memo, action: O-1: Use three streams.",
        "  answer: M-1#s1 sentence, supported: Use three streams.",
        "    cites: S-1-B-action#reason-1 statement, action: action has a reason",
        "  why: M-1#s2 sentence, supported: There is a reason for it.",
        "    cites: see S-1-B-action#reason-1",
        "  changes our mind: M-1#s3 sentence, supported: A lost line would show it wrong.",
        "    cites: see S-1-B-action#reason-1",
        "  do now: M-1#s4 sentence, supported: Write the first line.",
    ]


def test_the_quote_of_a_sentence_stands_at_the_place_that_has_it() -> None:
    """The second reason quotes a role, and cites a document first."""
    crux = book("crux-hook")
    (memo,) = [event for event in crux.of(Memo) if event.id == "M-2"]
    sentence = next(one for one in memo.sentences if one.quote == "savings come only on failing pushes")
    assert sentence.refs[0] == "K-1#L1"
    quotes = {
        quote.words: (quote.ref, quote.holds)
        for node in why_of("run", crux, "M-2").nodes
        for quote in node.quotes
    }
    assert quotes[sentence.quote] == ("S-1-B-critic#reason-2", True)
    assert all(holds for _, holds in quotes.values())
    reason = next(point for point in outcome_of("run", crux).why if point.quote == sentence.quote)
    assert reason.refs == ["S-1-B-critic#reason-2", "K-1#L1", "K-1#L5"]


@pytest.mark.parametrize(
    ("protocol", "identity", "lines"),
    [
        (
            "ratchet",
            "X-1-1",
            [
                "X-1-1 challenge, critic: weak 0 of r1 critique critic",
                "    “one draft” S-1-draft-drafter#p1",
                "  about: S-1-draft-drafter#p1 statement, drafter: one draft of r1 draft drafter.",
            ],
        ),
        (
            "devils-advocate",
            "Y-1-1",
            [
                "Y-1-1 response, defends, steelman: so",
                "  cites: S-1-steelman-steelman#p2 statement, steelman: two of r1 steelman steelman",
                "  about: X-1-1 challenge, devils_advocate: wrong 0 of r1 attack devils_advocate",
            ],
        ),
        (
            "devils-advocate",
            "@22",
            [
                "@22 disposition, addressed, devils_advocate: so",
                "  about: X-1-4 challenge, devils_advocate: wrong 3 of r1 attack devils_advocate",
            ],
        ),
        ("crux", "B-1-action", ["B-1-action forecast, action: O-1 60%, O-2 40%", "it cites nothing"]),
        (
            "crux",
            "V-1-5",
            [
                "V-1-5 ✓ ROBUST, verifier: As it is written.",
                "    “one writer” K-1#L1",
                "  about: C-1-1 ● quoted, action: What action would see is so, 1.",
            ],
        ),
    ],
)
def test_any_event_says_what_it_is_about(protocol: str, identity: str, lines: list[str]) -> None:
    assert lines_of(protocol, identity) == lines


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if name != "structured"])
def test_an_event_that_cites_something_is_never_said_to_cite_nothing(protocol: str) -> None:
    run = open_run(played(protocol)).book
    for event in run.events:
        text = why_text(why_of("RUN", run, event.ref))
        assert "not on the ledger" not in text
        if event.kind in ("challenge", "response", "memo", "disposition", "standing", "rating", "score"):
            assert "it cites nothing" not in text, text


def test_a_forecast_stays_sealed_while_others_answer(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "crux")
    for _ in range(2):
        submit(session, session.pending()[0])
    (belief,) = session.book().of(Belief)
    assert (
        why_text(why_of("RUN", session.book(), belief.id)).splitlines()[0]
        == "B-1-action belief, sealed, action:"
    )


def test_what_became_of_a_challenge_or_an_argument_names_it_later() -> None:
    attacked = open_run(played("devils-advocate")).book
    judged = next(event for event in attacked.of(Disposition) if event.of == "X-1-2")
    assert show_of("run", attacked, attacked.by_id["X-1-2"]).named_by == ["Y-1-2", judged.ref, "D-1-1"]
    debate = open_run(played("debate")).book
    upheld = next(event for event in debate.of(Standing) if event.of == "R-1-4")
    assert show_of("run", debate, debate.by_id["R-1-4"]).named_by == ["X-1-1", upheld.ref, "D-1-1"]


def test_a_challenge_under_a_decision_shows_how_it_was_answered() -> None:
    """The outcome sends readers to `moot why` for all reasons, which showed the questions and none of the answers."""
    book = open_run(played("cross-examination")).book
    (decision,) = final_in_force(book.state)
    lines = why_text(why_of("run", book, decision)).splitlines()
    for number, verb in ((1, "concedes"), (2, "defends"), (6, "defends")):
        (at,) = [n for n, line in enumerate(lines) if f": X-1-{number} challenge" in line]
        assert any(f"answered by: Y-1-{number} response, {verb}" in line for line in lines[at : at + 4])


def test_an_argument_that_its_side_gave_up_says_so_under_the_decision() -> None:
    """The outcome leaves it out of the reasons, and `moot why` showed it like one that its side still held."""
    lines = why_text(why_of("run", open_run(played("debate")).book, "D-1-1")).splitlines()
    assert ["given up by con" in line for line in lines[1:3]] == [True, False]
    assert lines[1].lstrip().startswith("supported by: R-1-4 argument, given up by con, con: ")
