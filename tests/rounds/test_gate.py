"""The gate: flags, then the likeliest kind of question by its words; never one reply where something is at stake.

Of `rounds/setup/gate_cues.py`.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from benchmarks.gate.learn import TRAINING
from ledger.events import Decision
from rounds.protocols import PROTOCOLS
from rounds.run.session import start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.gate import (
    OTHERWISE,
    SINGLE,
    GateQuestion,
    GateRefused,
    compared_items,
    gate,
    kinds,
    listed_items,
)
from rounds.setup.gate_cues import CUES, STAKES, cues_of, scores, stakes_in, stem, table, weights
from rounds.setup.opening import resolve
from rounds.setup.toml_file import DeliberationError
from tests.rounds.openings import clock
from validators import rulebook

ORDINARY = (Path(__file__).parent / "questions" / "ordinary.txt").read_text("utf-8").splitlines()
BY_KIND = {
    "position": (
        "I believe that every service should own its database. Challenge that!",
        "Play devil's advocate: we never need a staging environment.",
        "My thesis: code review by chat is worse than none.",
        "Where am I wrong when I say that small teams need no manager?",
    ),
    "proposal": (
        "Review our rollout plan before Friday.",
        "RFC: drop the XML endpoint. What speaks against merging it?",
        "Can you sign off on this change request?",
        "Is our backup concept watertight?",
        "Do a pre-mortem of the launch.",
    ),
    "order": (
        "Rank these bugs by urgency: login fails, slow search, broken footer.",
        "Which of these should we fix first: the roof, the heating or the windows?",
        "Please prioritize the backlog.",
        "In what order should we move the teams?",
    ),
    "text": (
        "Rewrite this paragraph so that a layman understands it.",
        "Draft an apology to the members.",
        "Make this headline shorter.",
        "Please proofread the newsletter.",
    ),
    "compare": (
        "Compare Kafka and NATS on cost and operation.",
        "Monolith vs. microservices for a team of six",
        "What are the pros and cons of renting and buying?",
    ),
    "fact": (
        "Is it true that the library was never audited?",
        "Do the benchmarks support the claim of the vendor?",
        "Two sources disagree on the date of the first release. Which one is right?",
    ),
    "task": (
        "Plan the move to the new office.",
        "Build a booking page for the sports hall.",
        "Draft a timetable for the migration of the wiki",
        "We need to set up continuous delivery for the app.",
    ),
    "chore": (
        "Fix the typo in the README",
        "Rename `tmo` to `timeout`.",
        "Summarize the minutes of the meeting.",
    ),
    "look-up": (
        "What does exit code 137 mean?",
        "Where does the client keep its cache?",
        "Which flag turns color off?",
        "How many columns does the table have?",
    ),
    "decision": (
        "Which architecture holds under ten times the load?",
        "Should our nightly export become a stream?",
        "Server-sent events or websockets for our notifications?",
        "What should the system look like instead?",
        "Who should own the API?",
        "Why does the nightly job fail?",
        "How do we split the rent fairly?",
        "Let's move to a monorepo, yes or no?",
        "Nothing has used the table since Monday.",
    ),
}
SMALL_QUESTIONS = (*BY_KIND["chore"], *BY_KIND["look-up"])
AT_STAKE = (
    "in production",
    "for all customers",
    "of the backup",
    "with the password",
    "for the tax return",
    "per dose",
    "of the contract",
    "for the children",
    "without downtime",
    "under the GDPR",
    "of the payroll",
    "and it is permanent",
)


def test_most_plain_requests_of_every_kind_go_to_its_protocol() -> None:
    """The table is learned, so it is held to a share; `python -m benchmarks gate` measures it on held-out questions."""
    rows = [(kind, gate(GateQuestion(text))) for kind, texts in BY_KIND.items() for text in texts]
    right = Counter(kind for kind, choice in rows if choice.protocol == kinds()[kind].protocol)
    assert right.total() >= 0.85 * len(rows)
    assert all(right[kind] > len(texts) / 2 for kind, texts in BY_KIND.items()), right
    small = {row.name for row in kinds().values() if row.protocol == SINGLE}
    assert [kind for kind, choice in rows if choice.protocol == SINGLE and kind not in small] == []


def test_every_kind_has_a_protocol_and_questions_here() -> None:
    rows = kinds()
    assert set(rows) == set(BY_KIND)
    assert set(table()[0]) == set(rows)
    assert "structured" not in {row.protocol for row in rows.values()}


@pytest.mark.parametrize("stakes", AT_STAKE)
def test_one_reply_is_never_chosen_where_something_is_at_stake(stakes: str) -> None:
    for put in (
        put
        for text in SMALL_QUESTIONS
        for put in (
            f"{text.rstrip('.?')} {stakes}{'?' if text.endswith('?') else ''}",
            f"{text} It is {stakes}.",
        )
    ):
        choice = gate(GateQuestion(put))
        assert choice.protocol != SINGLE, put
        assert choice.stakes
        assert SINGLE not in choice.also


@pytest.mark.parametrize(
    "text",
    [
        "Delete all users who have not logged in for a year",
        "remove the old backup files",
        "delete the customers table",
        "please delete our git history for good",
        "What is the maximum dose of ibuprofen for a child?",
        "Which flag drops the production database?",
        "How many days of notice does my contract need?",
        "Turn off the firewall flag",
        "Delete the rows older than a year",
        "Convert our REST interface to gRPC",
        "Translate the backend to Rust",
        "Reformat the disk of the build machine",
        "Rename the company",
        "Where is the bottleneck?",
        "When does it crash?",
        "Who owns the API?",
        "Which method scales to a million rows?",
        "Which command removes all stopped containers?",
        "How many tablets may I take per day?",
        "How much weight does this shelf hold?",
        "How long can cooked rice be kept?",
        "Give me a plan for the launch",
        "List the risks of our rollout",
        "What does this clause in my lease mean?",
        "What does 'joint tenancy' mean?",
        "How long does my landlord have to return the deposit?",
        "How many hours may my employer make me work in a row?",
        "What is the age limit for custody wishes?",
        "What is the longest gap between two pills?",
        "How many units of insulin are in one pen?",
        "What is a normal heart rate at night?",
        "What is a concussion?",
        "What does my dog weigh at most for this worming pill?",
        "When does the school admission round close?",
        "What is the statute of limitations on assault?",
        "What does the clause on early termination say?",
        "Which port does remote desktop use?",
        "Who is the owner of the billing service?",
        "Make the repo public.",
        "Move the wiki to a forum",
    ],
)
def test_a_request_that_is_hard_to_undo_or_to_answer_is_not_small(text: str) -> None:
    assert gate(GateQuestion(text)).protocol != SINGLE


@given(
    st.text(max_size=400),
    st.integers(0, 64),
    st.booleans(),
    st.lists(st.text(min_size=1, max_size=9), max_size=3),
)
def test_it_is_total_and_deterministic(text: str, options: int, compete: bool, triggers: list[str]) -> None:
    question = GateQuestion(text, options, tuple(triggers), compete)
    choice = gate(question)
    assert choice == gate(question)
    assert choice.protocol in {row.protocol for row in kinds().values()}
    assert options <= PROTOCOLS[choice.protocol].options_wanted[1]
    assert choice.protocol not in choice.also
    assert all(name in PROTOCOLS for name in choice.also)
    if stakes_in(text) or compete or any(trigger.casefold() in text.casefold() for trigger in triggers):
        assert choice.protocol != SINGLE


def test_every_word_that_names_stakes_is_found_in_a_question() -> None:
    entries = [entry for entry in STAKES.split("\n") if not entry.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9_]*\*?( [a-z0-9_]+\*?)*", entry) for entry in entries)
    for word in " ".join(entries).split():
        phrase = word.replace("_", " ")
        text = f"Where is {phrase.replace('*', 's')}?".title()
        assert stakes_in(text), word
        # Only a word with an asterisk takes an ending.
        assert word.endswith("*") or phrase not in stakes_in(f"Where is {phrase}zzz?")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Is my landlord's notice valid?", ["landlord"]),
        ("Delete the old, unused buckets", ["delete the old, unused buckets"]),
        (
            "Prices: what is the price of the lease, and who pays the price?",
            ["prices", "price", "lease", "pays"],
        ),
        ("Does the power-of-attorney form need a stamp?", ["attorney"]),
        ("How are the painters listed in the boilerplate of the auditorium?", []),
    ],
)
def test_stakes_are_named_as_they_are_written(text: str, named: list[str]) -> None:
    assert stakes_in(text) == named


def test_where_one_reply_is_too_few_the_question_is_a_decision() -> None:
    """Not the next likeliest kind, which may want options: "Fix the typo on the login page" would be put in order."""
    small = [text for text in SMALL_QUESTIONS if gate(GateQuestion(text)).protocol == SINGLE]
    assert small
    for text in small:
        assert gate(GateQuestion(text, compete=True)).kind == OTHERWISE
        assert gate(GateQuestion(text, triggers=(text[:9],))).kind == OTHERWISE
    assert gate(GateQuestion("Fix the typo on the login page")).kind == OTHERWISE


def test_a_long_text_is_read_like_a_short_one() -> None:
    """Weights are divided by the root of the cues: ten times the same words are no surer than once."""
    cues = cues_of("Rename the flag")
    weight = {
        kind: value - start for (kind, value), start in zip(scores(cues).items(), weights(""), strict=True)
    }
    root = math.sqrt(len(cues & table()[1].keys()))
    assert weight["chore"] == pytest.approx(
        sum(weights(cue)[table()[0].index("chore")] for cue in cues & table()[1].keys()) / root
    )
    assert scores(set()) == dict(zip(table()[0], weights(""), strict=True))


@pytest.mark.parametrize(
    ("words", "its"),
    [
        ("rewriting", "rewrit-"),
        ("improvements", "improve-"),
        ("tests", "test-"),
        ("this", "this"),
        ("?", "?"),
    ],
)
def test_a_stem_is_a_longer_word_without_its_ending(words: str, its: str) -> None:
    assert stem(words) == its
    assert its in cues_of(f"About {words}")


@given(
    st.sampled_from([*ORDINARY, *(text for texts in BY_KIND.values() for text in texts)]),
    st.sampled_from(AT_STAKE),
)
def test_stakes_rule_one_reply_out_of_any_question(text: str, stakes: str) -> None:
    assert gate(GateQuestion(f"{text} {stakes}")).protocol != SINGLE


def test_the_reason_names_cues_of_the_question() -> None:
    for text in ORDINARY:
        choice = gate(GateQuestion(text))
        if choice.kind != OTHERWISE:
            cues = {cue.strip("^[]") for cue in cues_of(text)}
            named = ast.literal_eval(f"[{choice.reason.partition(': ')[2]}]")
            assert named
            assert set(named) <= cues


def test_the_table_is_whole_and_its_cues_are_ones_that_a_question_can_have() -> None:
    kinds, rows = table()
    assert len(rows) == len(CUES.read_text("utf-8").splitlines()) - 1
    assert all(len(weights(cue)) == len(kinds) for cue in rows)
    # Every command that asks the gate reads the file.
    assert CUES.stat().st_size <= 250_000
    training = (line for line in TRAINING.read_text("utf-8").splitlines())
    seen = {cue for line in training for cue in cues_of(json.loads(line)["question"])}
    assert rows.keys() <= seen | {""}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("我们应该删除所有客户的生产数据吗？", True),
        ("どのデータベースを使うべきですか？", True),
        ("هل نستخدم قاعدة بيانات واحدة أم اثنتين؟", True),
        ("Welche Datenbank passt zu einem kleinen Verein?", True),
        ("REST vs. gRPC: was passt besser für unsere Dienste?", True),
        ("Faut-il ignorer les avertissements du compilateur ?", True),
        ("Нужно ли хранить журналы дольше года?", True),
        ("Should we keep the café's menu?", False),
    ],
)
def test_a_question_in_another_language_is_a_decision_and_says_so(text: str, named: bool) -> None:
    choice = gate(GateQuestion(text))
    assert choice.protocol == "crux"
    assert ("know English" in choice.reason) == named
    assert (SINGLE in choice.also) != named


@pytest.mark.parametrize("mark", ["?", "？", "؟"])
def test_question_marks_of_other_scripts_count(mark: str) -> None:
    """D-4: a request becomes a question by its mark."""
    text = "Move the meeting to Friday"
    assert "[asks nothing]" in cues_of(text)
    assert gate(GateQuestion(f"{text}{mark}")) == gate(GateQuestion(f"{text}?"))
    assert gate(GateQuestion(f"{text}?")).kind != gate(GateQuestion(text)).kind


def test_what_a_long_text_quotes_is_no_cue() -> None:
    quoted = "The committee met. " * 40 + "Rank the bids. " + "It went home. " * 40
    assert gate(GateQuestion(f"What should we do now? {quoted}")).kind == "decision"
    assert gate(GateQuestion(f"{quoted} Rewrite the last paragraph.")).kind == "text"


def test_flags_come_first() -> None:
    """AD-2: single is one reply, compete several roles, both an error."""
    assert (
        gate(GateQuestion("Drop the production database?", single=True, triggers=("database",))).protocol
        == SINGLE
    )
    for text in SMALL_QUESTIONS:
        assert gate(GateQuestion(text, compete=True)).protocol != SINGLE
        assert gate(GateQuestion(text, triggers=(text[:9].upper(),))).protocol != SINGLE
    assert gate(GateQuestion("Rank these bugs", compete=True)).protocol == "priority"
    with pytest.raises(GateRefused):
        gate(GateQuestion("What is this?", single=True, compete=True))


def test_what_else_would_fit_is_named() -> None:
    assert gate(GateQuestion("Which architecture?")).also == [SINGLE]
    assert gate(GateQuestion("Postgres or SQLite for the wiki?")).also == ["comparative", SINGLE]
    assert gate(GateQuestion("Shorten this sentence.")).also == [SINGLE, "crux"]
    assert gate(GateQuestion("Can we turn it off in production?")).also == []


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Compare Kafka and RabbitMQ for ten messages a minute.", ["Kafka", "RabbitMQ"]),
        ("Weigh Hetzner, OVH and AWS against our criteria", ["Hetzner", "OVH", "AWS"]),
        ("Monolith vs. microservices for a team of six", ["Monolith", "microservices"]),
        ("Compare these on cost: tape, disk, cloud", ["tape", "disk", "cloud"]),
        ("Compare our options", []),
    ],
)
def test_options_to_compare_are_read_from_the_question(text: str, items: list[str]) -> None:
    assert compared_items(text) == items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        (
            "Rank: a leak, a slow query, and two typos. Time is short.",
            ["a leak", "a slow query", "two typos"],
        ),
        (
            "Put these in order:\n- the roof\n- the heating, old\n- windows",
            ["the roof", "the heating, old", "windows"],
        ),
        ("Order these: fix v1.2; write docs, tests; rest", ["fix v1.2", "write docs, tests", "rest"]),
        ("Prioritize the backlog.", []),
    ],
)
def test_items_to_order_are_read_from_the_question(text: str, items: list[str]) -> None:
    assert listed_items(text) == items


def opened(table: dict[str, Any]) -> Any:
    return resolve(checked(table), {}, moot="0.2.0").event


@pytest.mark.parametrize(
    ("said", "protocol"),
    [
        ({}, "single-pass"),
        ({"plan": "short-5"}, "structured"),
        ({"no_stress": True}, "structured"),
        ({"profile": "published"}, "structured"),
        ({"check_every": 2}, "structured"),
        ({"options": [f"option {n}" for n in range(9)]}, "single-pass"),
        ({"protocol": "debate"}, "debate"),
    ],
)
def test_the_protocol_takes_everything_that_was_said(said: dict[str, Any], protocol: str) -> None:
    table = {"deliberation": {"question": "What does exit code 137 mean?", **said}}
    event = opened(table)
    assert event.protocol == protocol
    assert ("gate_route" in event.rules) == (protocol == "single-pass")


@pytest.mark.parametrize(
    "more",
    [
        {"rules": {"stakes": "high"}},
        {"cast": {"critic": {"title": "Auditor"}}},
        {"experiments": {"run": "on"}},
    ],
)
def test_a_variant_a_role_or_experiments_call_for_a_protocol_that_has_them(more: dict[str, Any]) -> None:
    event = opened({"deliberation": {"question": "What does exit code 137 mean?"}, **more})
    assert event.protocol == "crux"
    assert "single-pass takes no" in str(event.rules["gate_reasons"])


def test_more_options_than_crux_takes_are_put_in_order() -> None:
    options = [f"option {n}" for n in range(9)]
    event = opened({"deliberation": {"question": "What should we do?", "options": options}})
    assert event.protocol == "priority"
    assert (
        opened({"deliberation": {"question": "What should we do?", "options": options[:8]}}).protocol
        == "crux"
    )


def test_items_of_the_question_become_options_of_the_run() -> None:
    event = opened({"deliberation": {"question": "Compare Kafka and NATS on cost."}})
    assert [option.text for option in event.options] == ["Kafka", "NATS"]
    with pytest.raises(DeliberationError, match="at least 2 options"):
        opened({"deliberation": {"question": "Prioritize the backlog."}})


def test_a_route_is_a_decision_of_the_run(tmp_path: Path) -> None:
    table = {"deliberation": {"question": "Fix the typo in the title."}, "gate": {"triggers": ["title"]}}
    opening = resolve(checked(table), {}, moot="0.2.0")
    session = start(
        tmp_path / "run",
        opening.event,
        blobs=opening.blobs,
        files={},
        verdicts=standard,
        clock=clock(),
    )
    assert session.protocol.name == "crux"
    (decision,) = [event for event in session.book().events if isinstance(event, Decision)]
    assert (decision.type, decision.made_by, decision.cites[0].id) == ("gate", "rule", "@1")
    assert decision.text == "Routed to crux: your trigger 'title' is in it."
    assert rulebook.check(session.book(), session.verdicts.context()).ok


def test_contradicting_flags_in_a_file_are_refused() -> None:
    table = {"deliberation": {"question": "Build it"}, "gate": {"compete": True, "single": True}}
    with pytest.raises(DeliberationError, match="contradict"):
        resolve(checked(table), {}, moot="0.2.0")
