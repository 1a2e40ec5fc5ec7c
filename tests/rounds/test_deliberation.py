"""The deliberation file: every key is checked, every error has line and fix, and the resolved file is one too.

Of `rounds/setup/toml_file.py`, `rounds/setup/opening.py`.
"""

from __future__ import annotations

import hashlib
import tomllib

import pytest
from hypothesis import given, strategies as st

from detectors.parameters import gate_parameters, params_hash, read_parameters
from ledger.format.canonical import decode, encode, seal
from roles.castings import CASTINGS
from rounds.protocols.plans import NORMAL, PLANS, PlanRefused, WrittenRow, phases_of, planned
from rounds.setup.deliberation import Deliberation, checked, parse, to_toml, toml_value
from rounds.setup.opening import Opening, resolve
from rounds.setup.size import replies_of
from rounds.setup.toml_file import DeliberationError

PLAIN = """\
[deliberation]
question = "Which storage for an append-only audit ledger?"
goals = ["No acknowledged record is ever lost", "Tampering is seen"]
options = ["Three streams", "One journal"]
plan = "minimum-8"
"""


def opening(text: str, documents: dict[str, bytes] | None = None, **settings: object) -> Opening:
    return resolve(parse(text.encode()), documents or {}, moot="0.1.0", **settings)  # type: ignore[arg-type]


def test_a_run_by_gates_keeps_the_thresholds_that_it_was_opened_with() -> None:
    made = opening('[deliberation]\nquestion = "Which storage?"\nprotocol = "structured"\n')
    assert hashlib.sha256(made.blobs[made.event.stop.params]).hexdigest() == params_hash("gates")
    assert read_parameters(made.blobs[made.event.stop.params]) == gate_parameters()
    text = opening('[deliberation]\nquestion = "Which storage?"\nprofile = "published"\n')
    assert (text.event.stop.profile, text.event.stop.params) == ("published", params_hash("published"))


def test_what_is_left_open_is_decided() -> None:
    event = opening('[deliberation]\nquestion = "Which storage?"\nprotocol = "structured"\n').event
    assert [goal.text for goal in event.goals] == ["Which storage?"]
    assert event.plan == PLANS["standard-13"]
    assert (event.stop.profile, event.stop.check_every, event.stop.not_before) == ("gates", 3, 13)
    assert [member.role for member in event.cast] == ["action", "guardian", "observer", "critic", "verifier"]
    assert {member.seat for member in event.cast} == {"host"}
    assert {one.role for one in event.predict} == {"action", "guardian", "observer", "critic"}
    assert event.rules == {
        "positions": "beliefs",
        "rivals": "spread",
        "lengths": "short",
        "wait": "on",
        "validate": "phase",
        "screening": "screening-2",
    }
    assert event.waived == ()


def test_the_opening_is_a_lawful_event() -> None:
    sealed = seal([opening(PLAIN).event], prev="0" * 64, seq=0, at="2026-01-01T00:00:00.000000Z")
    assert decode(sealed.lines[0]) == sealed.events[0]
    assert encode(sealed.events[0]) == sealed.lines[0]


FULL = (
    PLAIN
    + """
domain = "storage"
profile = "published"
check_every = 2
not_before = 7

[[round]]
n = 2
focus = "what a crash leaves"

[[round]]
n = 7
absent = "observer"
drift = true

[[predict]]
role = "critic"
code = "no_broken"
text = "nothing breaks"

[[context]]
name = "notes"
text = '''
first line
a "quoted" line
'''

[[context]]
name = "facts.md"
path = "docs/facts.md"

[cast.critic]
title = "Saboteur"
seat = "human"

[budget]
usd = 2.50
calls = 40

[gate]
triggers = ["architecture"]
"""
)


def test_everything_written_is_in_the_opening() -> None:
    event = opening(FULL, {"docs/facts.md": b"one\n"}).event
    assert event.plan[1].focus == "what a crash leaves"
    assert (event.plan[6].absent, event.plan[6].drift, event.plan[6].phases) == (
        "observer",
        True,
        (*NORMAL, "H"),
    )
    assert [(document.id, document.name, document.bytes) for document in event.context] == [
        ("K-1", "notes", 27),
        ("K-2", "facts.md", 4),
    ]
    critic = next(member for member in event.cast if member.role == "critic")
    assert (critic.title, critic.seat) == ("Saboteur", "human")
    assert critic.charge == CASTINGS["product"]["critic"].charge
    assert (event.budgets.usd, event.budgets.calls, event.budgets.tokens) == ("2.5", 40, None)
    predicted = {(one.role, one.code): one.text for one in event.predict}
    assert predicted["critic", "no_broken"] == "nothing breaks"
    assert ("observer", "no_goal_verdict") in predicted


@pytest.mark.parametrize("text", [PLAIN, FULL, PLAIN + "no_stress = true\npositions = 'off'\n"])
def test_the_resolved_file_is_accepted_again_and_opens_the_same_run(text: str) -> None:
    first = opening(text, {"docs/facts.md": b"one\n"})
    blobs = {f"blobs/{sha}": content for sha, content in first.blobs.items()}
    again = opening(first.toml, blobs)
    assert again.event == first.event
    assert again.toml == first.toml
    assert again.blobs == first.blobs


def test_what_is_waived_is_recorded_with_its_reason() -> None:
    event = opening(PLAIN + "no_stress = true\npositions = 'off'\n").event
    assert [waiver.what for waiver in event.waived] == ["stress", "positions"]
    assert all(waiver.why for waiver in event.waived)
    assert not any(row.absent for row in event.plan)
    assert event.predict == ()
    assert event.rules["positions"] == "off"


def test_a_seat_is_recorded_by_its_kind_and_never_with_a_path() -> None:
    first = opening(PLAIN, seats={"critic": "tape:/somewhere/else"})
    assert {member.role: member.seat for member in first.event.cast}["critic"] == "tape"
    assert "somewhere" not in first.toml


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "where", "what", "fix"),
    [
        (PLAIN.replace("goals", "gaols"), ":3", "unknown key 'gaols' in [deliberation]", "'goals'"),
        (PLAIN + "\n[budget]\ncals = 3\n", ":8", "unknown key 'cals' in [budget]", "'calls'"),
        (PLAIN + "\n[bugdet]\ncalls = 3\n", ":7", "unknown key 'bugdet'", "'budget'"),
        (PLAIN + "\n[[round]]\nn = 1\n\n[[round]]\nn = 2\nabsnt = 'critic'\n", ":12", "number 2", "'absent'"),
        (PLAIN + "\n[cast.critic]\ntitel = 'x'\n", ":8", "unknown key 'titel' in [cast.critic]", "'title'"),
        (PLAIN + "\n[rules]\npositons = 'off'\n", ":7", "no rule 'positons'", ""),
        (PLAIN.replace("minimum-8", "minimum"), ":5", "no plan 'minimum'", ""),
        (PLAIN.replace("question", "# question"), ":1", "has no 'question'", "question ="),
        (PLAIN.replace('"Which storage for an append-only audit ledger?"', '"  "'), ":2", "words", ""),
        (PLAIN + "check_every = 0\n", ":6", "check_every", ""),
        (PLAIN + "check_every = true\n", ":6", "check_every", ""),
        (PLAIN + "profile = 'txt'\n", ":6", "profile", ""),
        (PLAIN + "protocol = 'strutcured'\n", "", "no protocol 'strutcured'", "'structured'"),
        (PLAIN + "\n[cast.critc]\ntitle = 'x'\n", "", "no role 'critc'", "'critic'"),
        (PLAIN + "\n[cast.critic]\nseat = 'hst'\n", "", "no seat 'hst'", "'host'"),
        (
            PLAIN + "\n[[predict]]\nrole = 'judge'\ncode = 'no_broken'\ntext = 'x'\n",
            "",
            "'judge'",
            "did you mean",
        ),
        (PLAIN + "\n[[context]]\nname = 'x'\n", ":7", "either path or text", ""),
        (PLAIN + "\n[budget]\nusd = -1\n", ":8", "0 to 1,000,000,000,000", ""),
        (PLAIN + "\n[budget]\nusd = 'much'\n", ":8", "amount", ""),
        (PLAIN + "\n[[round]]\nn = 9\n", "", "no round 9", ""),
        (PLAIN + "\n[[round]]\nn = 3\nabsent = 'verifier'\n", "", "cannot be absent", ""),
        (PLAIN + "\n[[round]]\nn = 3\nphases = 'A-Q'\n", ":9", "no phases 'A-Q'", "A-G"),
        ("[deliberation\n", "", "not TOML", "fix that line"),
        ("title = 'x'\n", "", "no [deliberation] table", "[deliberation]"),
    ],
)
def test_an_error_says_what_where_and_how_to_mend_it(text: str, where: str, what: str, fix: str) -> None:
    with pytest.raises(DeliberationError) as caught:
        opening(text)
    error = caught.value
    assert what in error.what
    assert error.where.endswith(where)
    assert fix in f"{error.what} {error.fix}"
    assert error.fix
    assert "\n" not in f"{error.what}{error.where}{error.fix}"


@pytest.mark.parametrize("content", [b"\xff\xfe\xff", b"[deliberation]\nquestion = '\xe9'\n"])
def test_a_file_that_is_not_utf_8_is_refused(content: bytes) -> None:
    with pytest.raises(DeliberationError, match="not UTF-"):
        parse(content)


def test_a_document_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(DeliberationError, match=r"facts\.md.*not UTF-8"):
        opening(FULL, {"docs/facts.md": b"\xff"})


def test_an_unknown_casting_is_refused_by_name() -> None:
    with pytest.raises(DeliberationError, match=r"no casting 'prodct'"):
        opening(PLAIN, casting="prodct")


# ---------------------------------------------------------------- plans


@pytest.mark.parametrize(
    ("written", "phases"),
    [
        ("A-G", NORMAL),
        ("A-H", (*NORMAL, "H")),
        ("A-G, S", (*NORMAL, "S")),
        (["S", "A"], ("A", "S")),
        (["A-G", "H"], (*NORMAL, "H")),
    ],
)
def test_phases_are_a_span_or_a_list(written: object, phases: tuple[str, ...]) -> None:
    assert phases_of(written) == phases


@pytest.mark.parametrize("written", ["G-A", "A-", "", "Z", [1], "A-G-H"])
def test_what_names_no_phases_is_refused(written: object) -> None:
    with pytest.raises(ValueError, match="no phases"):
        phases_of(written)


def test_rows_alone_are_a_plan() -> None:
    plan = planned(
        None, [WrittenRow(2, absent="critic"), WrittenRow(1, drift=True), WrittenRow(3, phases=("A", "S"))]
    )
    assert [(row.round, row.absent, row.drift) for row in plan] == [
        (1, None, True),
        (2, "critic", False),
        (3, None, False),
    ]
    assert plan[0].phases == (*NORMAL, "H")
    assert plan[2].phases == ("A", "S")


@pytest.mark.parametrize(
    "rows",
    [
        [WrittenRow(1), WrittenRow(3)],
        [WrittenRow(1), WrittenRow(1)],
        [WrittenRow(2)],
        [WrittenRow(1, phases=("A", "B"))],
        [WrittenRow(1, phases=("H",))],
        [WrittenRow(1, phases=("A", "S")), WrittenRow(2)],
        [WrittenRow(1, phases=(*NORMAL, "S")), WrittenRow(2)],
        [WrittenRow(1), WrittenRow(2, phases=("A", "S"), absent="critic")],
        [WrittenRow(1, absent="nobody")],
    ],
)
def test_rows_that_make_no_plan_are_refused(rows: list[WrittenRow]) -> None:
    with pytest.raises(PlanRefused):
        planned(None, rows)


def test_a_row_that_drops_h_drops_the_drift_check() -> None:
    plan = planned("minimum-8", [WrittenRow(5, phases=NORMAL)])
    assert (plan[4].drift, plan[4].phases) == (False, NORMAL)


@pytest.mark.parametrize(("name", "replies"), [("standard-13", 258), ("minimum-8", 142), ("short-5", 84)])
def test_a_plan_is_sized_before_it_is_run(name: str, replies: int) -> None:
    table = {"deliberation": {"question": "Which?", "protocol": "structured", "plan": name}}
    assert replies_of(resolve(checked(table), {}, moot="0").event).total() == replies


# ---------------------------------------------------------------- TOML


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_comes_back_from_toml(text: str) -> None:
    assert tomllib.loads(f"x = {toml_value(text)}")["x"] == text


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(str.strip)


@given(words, st.lists(words, max_size=3), st.booleans(), st.none() | st.integers(1, 99))
def test_writing_a_deliberation_and_reading_it_gives_it_back(
    question: str, goals: list[str], no_stress: bool, not_before: int | None
) -> None:
    table: dict[str, object] = {"question": question, "goals": goals, "no_stress": no_stress}
    if not_before is not None:
        table["not_before"] = not_before
    deliberation: Deliberation = checked({"deliberation": table})
    assert parse(to_toml(deliberation).encode()) == deliberation


def test_equal_files_open_equal_runs() -> None:
    assert opening(FULL, {"docs/facts.md": b"one\n"}) == opening(FULL, {"docs/facts.md": b"one\n"})
