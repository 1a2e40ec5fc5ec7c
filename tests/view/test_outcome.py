"""The outcome block against what the ledgers of the recorded runs say, read by hand, and what it owes to every run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from ledger.events import Decision, Memo
from moot.api import open_run
from moot.view.grounds import rests_on
from moot.view.options import named
from moot.view.outcome import Outcome, outcome_of
from moot.view.outcome_text import LINES, WORDS, outcome_lines, outcome_markdown
from moot.view.show import show_of, show_text
from moot.view.why import why_of, why_text
from tests.protocols.playing import begin, play
from tests.recorded import recorded_names

EXAMPLES = Path(__file__).resolve().parents[2] / "runs" / "examples"


class Read(NamedTuple):
    """What a person reads in a ledger: status, how the answer begins, how sure, who dissents, questions, reasons."""

    status: str
    answer: str
    sure: str
    dissent: tuple[str, ...] = ()
    questions: int = 0
    why: tuple[str, ...] = ()


BY_RULE = "Computed by the rule of the protocol"
STATED = "Confidence {} of 5, as stated"
READ = {
    "adversarial-sessions": Read(
        "decided", "approve with conditions: Approve the direction", STATED.format(4)
    ),
    "comparative-pages": Read("decided", "Recommended: O-2 (an opaque cursor", BY_RULE),
    "council-ledger": Read(
        "decided",
        "3 of 3 say O-2 (One JSONL journal with a hash chain).",
        "Stated confidence, of 5: 4 by 3 of 3 members.",
    ),
    "council-storage": Read(
        "decided",
        "33 of 33 say O-2 (one JSONL journal with a hash chain).",
        "Stated confidence, of 5: 4 by 33 of 33 members.",
    ),
    "cross-examination-totals": Read("decided", "No questioned claim was defended", STATED.format(3)),
    "crux-balance": Read(
        "decided",
        "Pick a server at random: of the three rules",
        "99% for O-3",
        why=("S-1-B-action#reason-3", "C-1-1", "S-1-B-observer#reason-3"),
    ),
    "crux-retry": Read(
        "decided",
        "Use a constant wait of 2 seconds with a random extra",
        "89% for O-3",
        why=("S-1-B-observer#reason-1", "S-1-B-action#reason-2", "S-1-B-action#reason-1"),
    ),
    "debate-services": Read(
        "decided", "Do not split before the season", STATED.format(4), why=("R-1-7", "R-1-9")
    ),
    "devils-advocate-python": Read("decided", "Do not adopt the position as given", STATED.format(4)),
    "jugalbandi-ledger": Read(
        "your_call",
        "Build O-2 (One JSONL journal with a hash chain): one JSONL journal per run",
        STATED.format(4),
        questions=1,
    ),
    "library-minimum-8": Read(
        "decided",
        "This year the library keeps fines, the limit of 10.00",
        STATED.format(4),
        questions=15,
        why=("C-1-1", "C-1-7", "C-1-9"),
    ),
    "panel-sessions": Read("decided", "rethink: The proposal is not ready", STATED.format(5)),
    "priority-season": Read("decided", "Order by the sum of both lenses: 1. O-3 (try the restore", BY_RULE),
    "ratchet-notice": Read("decided", "The text tells each reader whether", "No confidence is stated"),
    "single-pass-ledger": Read(
        "decided", "Build O-2 (One JSONL journal with a hash chain) as segmented JSONL", STATED.format(4)
    ),
    "storage-minimum-8": Read(
        "run_this_first", "No option is adopted. O-2 (one JSONL", STATED.format(4), questions=21
    ),
    "storage-minimum-8.r7-without-critic": Read(
        "decided", "No storage is adopted. O-2 (one JSONL", STATED.format(4), questions=20
    ),
    "storage-standard-13": Read(
        "decided",
        "Use O-2 (one JSONL journal with a hash chain)",
        STATED.format(3),
        questions=24,
    ),
    "structured-church": Read(
        "decided",
        "Holm heats its church with electric bench heaters.",
        STATED.format(3),
        questions=4,
        why=("C-1-1", "C-1-3", "C-1-5"),
    ),
    "structured-ferry": Read(
        "decided",
        "Next season the ferry sells paper tickets from renewed counter printers",
        STATED.format(3),
        dissent=("observer",),
        questions=8,
        why=("C-1-5", "C-2-1", "C-4-4"),
    ),
    "structured-rescue": Read(
        "running",
        "Not final: Pagers on the service's own radio network stay the first choice",
        STATED.format(4),
        questions=9,
        why=("C-4-1", "C-4-3", "C-4-6"),
    ),
    "tribunal-medicines": Read(
        "decided",
        "REFUSE: SAFETY vetoed: The person hurt is the customer",
        BY_RULE,
        dissent=("utility",),
        why=("VO-1-1-safety", "VO-1-1-accuracy"),
    ),
}
"""Every recorded run: what its ledger says, read in the ledger and not in the program's output."""


def of(name: str) -> Outcome:
    return outcome_of(name, open_run(EXAMPLES / name).book)


def test_the_table_has_every_recorded_run() -> None:
    assert set(READ) == {path.name for path in EXAMPLES.iterdir() if path.is_dir()}


@pytest.mark.parametrize("name", recorded_names(READ))
def test_a_recorded_run_comes_to_what_its_ledger_says(name: str) -> None:
    found, read = of(name), READ[name]
    assert found.status == read.status
    assert found.answer.startswith(read.answer)
    assert found.how_sure.startswith(read.sure)
    assert tuple(one.role for one in found.dissent) == read.dissent
    assert sum(len(one.ids) for one in found.needs_you) == read.questions
    if read.why:
        assert tuple(one.refs[0] for one in found.why) == read.why


@pytest.mark.parametrize("name", recorded_names(READ))
@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_block_fits_and_says_where_the_rest_is(name: str, width: int) -> None:
    found = of(name)
    lines = outcome_lines(found, name, width)
    assert max(map(len, lines)) <= width
    if width == 100:
        assert len(lines) <= LINES
        body = lines[lines.index(next(one for one in lines if one.startswith("answer"))) :]
        until = next(n for n, one in enumerate(body) if one.startswith("trust"))
        assert len(" ".join(body[:until]).split()) <= WORDS + 20  # labels are no words of the outcome
    if any("…" in line for line in lines[:-3]):
        assert f"moot show {name} ID" in " ".join(" ".join(lines).split())


@pytest.mark.parametrize("name", recorded_names(READ))
def test_no_quote_stands_at_another_claim(name: str) -> None:
    """A quote shown with a reason stands in the evidence of that very thing, or of a test of it alone."""
    book = open_run(EXAMPLES / name).book
    under = {ground.id: ground for event in book.of(Decision) for ground in rests_on(book, event)}
    for point in of(name).why:
        if point.quote is not None and (memos := book.of(Memo)):
            written = [one for memo in memos for one in memo.sentences if one.text == point.text]
            assert point.quote in [one.quote for one in written]
        elif point.quote is not None:
            ground = under[point.refs[0]]
            assert point.quote in [quote.words for one in (ground, *ground.under) for quote in one.quotes]


def test_a_reason_is_told_as_what_it_was_said_of() -> None:
    """An objection to a draft is no fact about the answer; a vote's number is that of the ballot it was given in."""
    assert of("jugalbandi-ledger").why[0].text.startswith("Objection to the draft, mended: Recovery cuts")
    assert of("single-pass-ledger").why[0].text.startswith("Own objection to the draft, mended: ")
    assert of("cross-examination-totals").why[0].text.startswith("Granted: If the job adds amounts")
    assert "(VETO, risk 82 of 100; 80 in the last ballot)" in of("tribunal-medicines").why[0].text
    assert "So I still hold that the assistant should answer" in of("tribunal-medicines").dissent[0].text


def test_a_scorecard_is_the_mean_of_all_judgements() -> None:
    (card, *_) = of("comparative-pages").why
    assert len(card.refs) == 4


def test_what_a_verdict_took_in_is_not_said_against_it() -> None:
    found = of("adversarial-sessions")
    assert found.objection is None
    assert [point.refs for point in found.not_settled] == [["D-1-1"]] * 5


def test_a_verdict_by_rule_hangs_on_what_the_judgement_under_it_does() -> None:
    assert {point.refs[0] for point in of("comparative-pages").changes_our_mind} == {"D-2-1"}


def test_an_option_that_nobody_listed_is_no_majority(tmp_path: Path) -> None:
    """Each member's own O-1 is another thing: labels that the opening does not define are not counted."""
    session = begin(tmp_path / "run", "council")
    play(session)
    assert " say O-" not in outcome_of("run", session.book()).answer


def test_markdown_has_the_same_rows() -> None:
    text = "\n".join(outcome_markdown(of("debate-services"), "debate-services"))
    for word in ("**DECIDED**", "**Answer.**", "**How sure.**", "**Why**", "**Trust.**", "**Looked at.**"):
        assert word in text
    assert len(text.splitlines()) < 60


def test_options_are_named_once_in_the_askers_words() -> None:
    book = open_run(EXAMPLES / "comparative-pages").book
    assert named(book, "Not O-2 (a cursor), but O-1, and O-1 again.") == (
        "Not O-2 (a cursor), but O-1 (offset and limit), and O-1 again."
    )
    assert named(book, "Numbers (O-1)") == "Numbers (O-1: offset and limit)"


def test_a_run_that_goes_on_says_so(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "adversarial")
    found = outcome_of("run", session.book())
    assert (found.status, found.answer) == ("running", "Nothing is decided yet.")
    assert not found.why
    session.stop("human")
    assert outcome_of("run", session.book()).status == "stopped"


def test_an_override_stands_in_the_place_of_what_it_overturned(tmp_path: Path) -> None:
    from rounds.run.human_actions import override

    session = begin(tmp_path / "run", "adversarial")
    play(session)
    override(session, "D-1-1", "Build neither before the audit.")
    found = outcome_of("run", session.book())
    assert found.answer == "Build neither before the audit."
    assert found.how_sure.startswith("Decided by a person in place of D-1-1.")


@pytest.mark.parametrize("name", sorted(READ))
def test_what_ends_in_an_ellipsis_names_the_thing_that_has_it_whole(name: str) -> None:
    """Each such row holds an id whose `show`, or for a quote `why`, has the words, or the command that prints them."""
    ours = open_run(EXAMPLES / name).book
    found = outcome_of(name, ours)
    for width in (60, 80, 120, 200):
        block = " ".join(" ".join(outcome_lines(found, name, width)).split()).partition(" in full ")[0]
        for place in re.finditer(r"[^…]{40}(?= …)", block):
            rest = block[place.end() : place.end() + 160]
            if re.match(r" … \(moot (?:decisions|log) ", rest):
                continue
            ids = re.findall(r"[(;,] ?(?:whole: )?([A-Z]{1,2}-\d[\w~-]*)", rest[: rest.index(")") + 1])
            ids = [
                one for one in ids if one in ours.by_id
            ]  # a document is quoted, and has no words of its own
            texts = [show_text(show_of(name, ours, ours.by_id[one]), 10_000) for one in ids]
            if at := re.match(r" … \(@(\d+)\)", rest):
                texts.append(show_text(show_of(name, ours, ours.events[int(at[1])]), 10_000))
            texts += [
                why_text(why_of(name, ours, one, everything=True), 10_000) for one in ids if rest[2:3] == "”"
            ]
            last = " ".join(place[0].split()[-3:])
            assert any(last in " ".join(text.split()) for text in texts), f"{place[0]}{rest}"


def test_a_rule_tells_the_confidence_of_the_judge_under_it() -> None:
    """`comparative` said that nobody states a confidence, and its judge states 4 of 5 twice."""
    found = outcome_of("run", open_run(EXAMPLES / "comparative-pages").book)
    assert "confidence under it, as stated: 4 of 5 (judge, D-1-1), 4 of 5 (judge, D-2-1)" in found.how_sure
    by_lenses = outcome_of("run", open_run(EXAMPLES / "priority-season").book)
    assert "nobody states a confidence" in by_lenses.how_sure
