"""`moot gate` and `moot run -q`: the same choice in the same words, and nothing above a dollar without a word."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

import moot as library
from moot.api import open_run
from moot.app.opening import estimated
from moot.app.seats import SeatChoice, make_seats
from moot.app.settings import RunOptions
from moot.errors import MootError
from moot.view.estimate import Estimate, limits_text
from moot.view.protocols import choice_of, choices_lines, gate_line
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Moot

DEAR = "Compare tape, disk, cloud and paper on cost and speed."


@pytest.mark.parametrize(
    "text",
    [
        "Should our team go on with its small internal wiki? " * 12,
        "Should we replace setup.cfg by pyproject.toml",
        "Makefile",
    ],
)
def test_a_question_is_never_taken_for_a_file(moot: Moot, tmp_path: Path, text: str) -> None:
    (tmp_path / "Makefile").write_text("all:\n")
    said = moot("gate", text, "--json")
    assert said.code == 0, said.err
    assert said.json["protocol"] in PROTOCOLS


@pytest.mark.parametrize("text", ["", "   \n"])
def test_nothing_is_no_question(moot: Moot, text: str) -> None:
    said = moot("gate", text)
    assert said.code == 2
    assert "no question" in said.err


def test_a_deliberation_file_is_read(moot: Moot, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "Plan the move to the new data center"\n')
    assert moot("gate", str(file), "--json").json["protocol"] == "jugalbandi"
    assert moot("gate", str(tmp_path / "none.toml")).code == 2


def test_it_says_replies_price_and_time_and_what_else_would_fit(moot: Moot) -> None:
    first, why, *_ = moot("gate", "PostgreSQL or SQLite for the wiki?").out.splitlines()
    assert first.startswith("crux: 4–")
    assert " replies, typically $0." in first
    assert " min (comparative: $0." in first
    assert ", single-pass: $0.0" in first
    assert why == "  decision: its words make no other kind likelier"
    told = moot("gate", "Prioritize the backlog").out
    assert told.startswith("priority: 2 replies, typically $0.03, ")
    assert "run it: moot run -q '…' --option '…' --option '…' --seats …" in told


@pytest.mark.parametrize(
    ("question", "protocol"),
    [
        ("Server-sent events or websockets for our notifications?", "crux"),
        ("Which architecture holds under ten times the load?", "crux"),
        ("Rewrite this letter so that it is kinder.", "ratchet"),
        ("What does exit code 137 mean?", "single-pass"),
        ("Compare Kafka and NATS on cost.", "comparative"),
    ],
)
def test_run_gives_a_question_what_gate_says(moot: Moot, question: str, protocol: str) -> None:
    """C-1, C-2: `gate` and `run -q` named different protocols for one question."""
    gated = moot("gate", question, "--json").json
    assert gated["protocol"] == gated["chosen"]["protocol"] == protocol
    said = moot("run", "-q", question, "--seats", "host", "--out", "run")
    assert said.code == 4, said.err
    assert said.out.startswith(protocol)
    assert said.out.splitlines()[0].count("replies") + said.out.splitlines()[0].count("1 reply") >= 1
    assert moot("status", "run", "--json").json["protocol"] == protocol
    (decision,) = [
        one for one in moot("decisions", "run", "--json").json["decisions"] if one["type"] == "gate"
    ]
    assert gated["reason"] in decision["text"]
    assert [option.text for option in open_run("run").state.opening.options] == gated["items"]


def test_a_named_protocol_is_not_gated(moot: Moot) -> None:
    ask = ("run", "-q", "Rewrite this letter.", "--seats", "host")
    assert moot(*ask, "--protocol", "crux", "--out", "named").out.startswith("named waits")
    assert not [
        one for one in moot("decisions", "named", "--json").json["decisions"] if one["type"] == "gate"
    ]
    assert moot(*ask, "--json", "--out", "quiet").json["state"] == "waiting"
    assert moot("status", "quiet", "--json").json["protocol"] == "ratchet"


def test_a_file_without_a_protocol_is_given_the_same(moot: Moot) -> None:
    Path("q.toml").write_text('[deliberation]\nquestion = "Rewrite this letter."\n')
    assert moot("run", "q.toml", "--seats", "host", "--out", "run").code == 4
    assert moot("status", "run", "--json").json["protocol"] == "ratchet"
    assert moot("new", "other.toml", "-q", "Rewrite this letter.").code == 0
    assert 'protocol = "ratchet"' in Path("other.toml").read_text()


def test_a_seat_for_a_role_calls_for_a_protocol_with_that_role(moot: Moot) -> None:
    ask = ("run", "-q", "What does exit code 137 mean?", "--seats", "host", "--seat", "guardian=human")
    assert moot(*ask, "--dry-run", "--json").json["protocol"] == "crux"


def test_nothing_to_order_is_said_with_a_way_out(moot: Moot) -> None:
    said = moot("run", "-q", "Prioritize the backlog.", "--seats", "host", "--out", "run")
    assert said.code == 2
    assert "name each with --option" in said.err
    assert not Path("run").exists()
    options = ("--option", "a", "--option", "b")
    assert moot("run", "-q", "Prioritize the backlog.", *options, "--seats", "host", "--out", "run").code == 4


class Person:
    """A person who is shown lines and answers questions, or is not there."""

    def __init__(self, answer: bool | None) -> None:
        self.answer = answer
        self.lines: list[str] = []
        self.questions: list[str] = []

    def choice(self, *, yes: bool = False) -> SeatChoice:
        """Return the choice of seats that this person makes."""
        agreed = None if self.answer is None else self.agreed
        return SeatChoice("anthropic", {}, agreed=agreed, tell=self.lines.append, yes=yes)

    def agreed(self, _: str, question: str) -> bool:
        """Answer a question."""
        self.questions.append(question)
        return bool(self.answer)


def begin(person: Person, question: str, *, cap: str | None = None, yes: bool = False) -> Estimate:
    """Take a question to where a run would begin, with priced seats."""
    choice = person.choice(yes=yes)
    table = {"deliberation": {"question": question}, "budget": {} if cap is None else {"usd": cap}}
    estimate = estimated(None, RunOptions(table), choice)
    seats = make_seats({"judge": "command:true"})
    choice.check_size(
        lambda: estimate,
        seats,
        lambda found: gate_line(choice_of(found, None, "anthropic"), [], limits=limits_text(found.limits)),
    )
    return estimate


@pytest.fixture
def a_seat_that_may_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")


@pytest.mark.usefixtures("a_seat_that_may_cost")
def test_above_a_dollar_a_person_is_asked_and_without_one_it_is_refused() -> None:
    person = Person(True)
    estimate = begin(person, DEAR)
    assert estimate.usd is not None
    assert Decimal(estimate.usd.high) > 1
    assert person.lines[0].startswith("comparative: 61 replies, typically $0.")
    assert person.questions == [f"comparative may cost up to ${Decimal(estimate.usd.high):.2f}. Begin?"]
    with pytest.raises(MootError, match="nothing was begun"):
        begin(Person(False), DEAR)
    with pytest.raises(MootError, match=r"may cost up to \$2\.\d\d, and nobody named it") as refused:
        begin(Person(None), DEAR)
    assert refused.value.fix == "add --protocol comparative, --max-usd AMOUNT or --yes"


@pytest.mark.usefixtures("a_seat_that_may_cost")
def test_a_cap_or_yes_is_the_persons_word() -> None:
    for person in (Person(None), Person(False)):
        begin(person, DEAR, cap="2")
        begin(person, DEAR, yes=True)
        begin(person, "Rewrite this letter.")
        assert person.questions == []


@pytest.mark.usefixtures("a_seat_that_may_cost")
def test_the_line_of_the_gate_names_the_cap() -> None:
    """A-17: a person was asked about $32, although $1 was the limit."""
    for cap in ("2", None):
        person = Person(True)
        begin(person, DEAR, cap=cap)
        assert (", never more than $2.00 (--max-usd), " in person.lines[0]) == (cap is not None)


@pytest.mark.parametrize(
    ("flags", "protocol"),
    [
        (("--single",), "single-pass"),
        ((), "crux"),
        (("--protocol", "debate"), "debate"),
    ],
)
def test_run_takes_single(moot: Moot, tmp_path: Path, flags: tuple[str, ...], protocol: str) -> None:
    """R-23: AD-2's flag, where a run begins; the route is a decision of the run."""
    out = tmp_path / "run"
    said = moot(
        "run", "-q", "Should we rewrite the service in Go?", "--seats", "host", "--out", str(out), *flags
    )
    assert said.code == 4, said.err
    assert moot("status", str(out), "--json").json["protocol"] == protocol
    gates = [one for one in moot("decisions", str(out), "--json").json["decisions"] if one["type"] == "gate"]
    assert len(gates) == (0 if protocol == "debate" else 1)


@pytest.mark.parametrize(
    "flags", [("--plan", "minimum-8"), ("--rule", "profile=published"), ("--rule", "stress=off")]
)
def test_what_is_said_of_rounds_means_the_structured_deliberation(
    moot: Moot, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    out = tmp_path / "run"
    assert moot("run", "-q", "Which?", "--seats", "host", "--out", str(out), *flags).code == 4
    assert moot("status", str(out), "--json").json["protocol"] == "structured"


def test_crux_takes_stakes_and_no_wait(moot: Moot, tmp_path: Path) -> None:
    out = tmp_path / "run"
    flags = ("--stakes", "high", "--no-wait")
    assert moot("run", "-q", "Which?", "--seats", "host", "--out", str(out), *flags).code == 4
    rules = open_run(out).state.opening.rules
    assert (rules["stakes"], rules["wait"]) == ("high", "off")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--single", "--protocol", "debate"), "protocol has settled it"),
        (("--single", "--plan", "minimum-8"), "plan has settled it"),
        (("--single", "--rule", "stress=off"), "no_stress has settled it"),
    ],
)
def test_what_is_settled_is_not_routed(
    moot: Moot, tmp_path: Path, flags: tuple[str, ...], words: str
) -> None:
    """R-23: a flag that would be passed over is refused."""
    said = moot("run", "-q", "Should we?", "--seats", "host", "--out", str(tmp_path / "run"), *flags)
    assert said.code == 2
    assert words in said.err
    assert not (tmp_path / "run").exists()


def test_more_options_than_the_chosen_protocol_takes_go_to_one_that_takes_them(
    moot: Moot, tmp_path: Path
) -> None:
    file, out = tmp_path / "plan.toml", tmp_path / "run"
    options = [f"vendor {n}" for n in range(1, 13)]
    file.write_text(
        f"[deliberation]\nquestion = 'Rank the vendors'\noptions = {options}\n[experiments]\nrun = 'ask'\n"
    )
    assert moot("run", str(file), "--seats", "host", "--out", str(out)).code == 4
    assert moot("status", str(out), "--json").json["protocol"] == "structured"


def test_a_flag_stands_over_the_files_gate(moot: Moot, tmp_path: Path) -> None:
    """R-23: AD-2: --single is always one seat, whatever the file says."""
    file = tmp_path / "plan.toml"
    file.write_text('[deliberation]\nquestion = "What is this?"\n[gate]\ncompete = true\n')
    out = tmp_path / "run"
    assert moot("run", str(file), "--single", "--seats", "host", "--out", str(out)).code == 4
    assert moot("status", str(out), "--json").json["protocol"] == "single-pass"
    assert moot("run", "--resume", str(out), "--single").code == 2


def test_every_protocol_is_named_with_its_replies_and_its_price(moot: Moot) -> None:
    found = moot("gate", "Which storage?", "--json").json
    assert {one["protocol"] for one in found["choices"]} == set(PROTOCOLS)
    counts = [one["replies"] for one in found["choices"]]
    assert counts == sorted(counts)
    by_plan = {one["plan"]: one for one in found["choices"] if one["protocol"] == "structured"}
    assert (by_plan["minimum-8"]["replies"], by_plan["standard-13"]["replies"]) == (142, 258)
    Path("plan.toml").write_text('[deliberation]\nquestion = "Which?"\nplan = "minimum-8"\n')
    estimate = moot("run", "--dry-run", "plan.toml", "--seats", "anthropic", "--json").json
    assert by_plan["minimum-8"]["usd"] == estimate["usd"]
    told = moot("gate", "Which storage?").out
    assert all(name in told for name in PROTOCOLS)
    assert max(map(len, told.splitlines())) <= 100


def test_a_new_file_is_shown_beside_what_else_there_is(moot: Moot) -> None:
    said = moot("new", "-q", "Which storage?", "--protocol", "tribunal")
    assert "deliberation.toml: tribunal, 3 rounds" in said.out
    assert "→ tribunal" in said.out
    assert "  structured minimum-8    142   $1." in said.out


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_table_keeps_to_the_width(width: int) -> None:
    found = library.gate("Which storage?")
    lines = list(choices_lines(found.choices, found.protocol, width))
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("question", ["What does exit code 137 mean?", "Should we keep the wiki?", DEAR])
def test_a_choice_is_priced_where_a_mix_answers(moot: Moot, question: str) -> None:
    """What else would fit was priced with the word `mix`, which is no seat: `run -q` failed with a KeyError."""
    said = moot("run", "-q", question, "--seats", "mix:host,host")
    assert (said.code, said.err) == (4, "")
    assert "repl" in said.out.partition("(")[2].partition(")")[0], said.out
