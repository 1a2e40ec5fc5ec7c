"""R-21: every verb says the same in every form: one exit code, one JSON object with --json, nothing with --quiet."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from ledger.events import Amendment
from ledger.store.store import RunStore
from moot.cli import VERBS, Verb
from moot.cli.command import command_of
from tests.cli.conftest import Moot, Said
from tests.protocols.playing import begin as begin_short, play as play_short
from tests.rounds.openings import begin, play, rows

pytestmark = pytest.mark.slow

ROOT: Final = Path(__file__).resolve().parents[2]

REPLY: Final = '{"sections":[{"name":"main","text":"One stream."}],"responds_to":[],"options":[]}'
STUDY: Final = """
[study]
question = "Which is better?"
planned = "Whether both name the same storage."
baseline = "single"

[[item]]
id = "storage"
question = "Which storage?"
options = ["a file", "a database"]

[[arm]]
id = "single"
protocol = "single-pass"

[[arm]]
id = "debate"
protocol = "debate"
"""
FORMLESS: Final = {"serve"}
"""Verbs that print for one reader alone, or answer until they are ended."""

CALLS: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "demo": (("finished --speed 0", 0),),
    "new": (("plan.toml -q 'Which storage?'", 0), ("reply.json -q 'Which storage?'", 2)),
    "gate": (("'Which storage for our ledger?'", 0), ("", 0), ("tribunal", 0), ("tribunal --single", 2)),
    "run": (
        ("-q 'Which storage?' --seats host --out new", 4),
        ("--resume finished --seats host", 0),
        ("file.toml --seats host --dry-run", 0),
        ("--resume finished --dry-run", 2),
        ("-q 'Which storage?' --seats nobody --out new", 2),
    ),
    "review": (("finished", 0), ("opened", 4), ("git:a..b", 2)),
    "next": (("opened", 0), ("stopped --role verifier", 4)),
    "submit": (
        ("opened r1.B.action reply.json", 0),
        ("opened r1.B.action bad.json", 1),
        ("opened r9.B.action reply.json", 1),
    ),
    "answer": (("finished {question} Yes.", 0), ("finished N-99-1 Yes.", 1)),
    "override": (("finished {decision} No.", 0), ("finished D-99-1 No.", 1)),
    "ack": (("finished FM-1 'It was right.'", 1),),
    "note": (("finished 'A remark.'", 0),),
    "outcome": (
        ("finished", 0),
        ("finished held 'Nothing was lost.'", 0),
        ("finished accepted", 0),
        ("finished edited reply.json", 0),
        ("opened held 'Yes.'", 1),
        ("opened accepted", 1),
        ("finished edited", 2),
        ("finished accepted reply.json", 2),
        ("finished accepted --decision D-1-1", 2),
    ),
    "status": (
        ("finished", 0),
        ("nothing", 2),
        ("finished D-1-1", 0),
        ("finished @0", 0),
        ("finished C-99-1", 2),
    ),
    "list": (("one-sided", 0), ("one-sided --all", 0), ("nowhere", 2)),
    "log": (("finished", 0), ("finished D-1-1", 0)),
    "claims": (("finished", 0),),
    "decisions": (("finished", 0),),
    "why": (("finished D-1-1", 0), ("finished D-1-1 --all", 0), ("finished D-99-1", 2), ("finished", 2)),
    "signals": (("finished", 1), ("short", 2), ("--table table.json", 0), ("--table reply.json", 2)),
    "report": (
        ("finished", 0),
        ("finished --full", 0),
        ("finished --out report.md", 0),
        ("finished --html report.html", 0),
    ),
    "check": (("finished", 0), ("lawless", 1), ("lawless --format text", 1)),
    "verify": (("finished", 0), ("damaged", 3)),
    "seal": (
        ("finished --key keys/alice.key", 0),
        ("damaged --key keys/alice.key", 3),
        ("--new-key new-keys/bob.key", 0),
        ("--new-key bob", 0),
        ("--new-key keys/alice.key", 2),
        ("finished --new-key bob", 2),
        ("finished", 2),
        ("", 2),
    ),
    "rm": (("finished --yes", 0), ("damaged --yes", 0), ("opened", 2), ("finished", 2), ("keys --yes", 2)),
    "redact": (("finished r1.C.critic --reason 'It names a person.'", 2),),
    "replay": (("finished", 0), ("finished --re-execute", 0), ("lawless --re-execute", 1)),
    "diff": (("finished finished", 0), ("finished opened", 1)),
    "fork": (
        ("finished --round 2", 0),
        ("finished --round 99", 2),
        ("finished --stress --role critic --forks 1", 0),
        ("finished --stress --round 2", 2),
        ("finished --make", 2),
    ),
    "import": (
        ("skill exported --out imported", 0),
        ("skill broken --out imported", 1),
        ("nope file.toml --out imported", 2),
    ),
    "experiment": (
        ("show finished", 0),
        ("show finished E-1-1", 2),
        ("run finished", 2),
        ("try finished", 2),
    ),
    "export": (("finished elsewhere --to skill", 0), ("finished elsewhere --to nope", 2)),
    "study": (
        ("new asked -q 'Which is better?'", 2),
        ("new fresh -q 'Which is better?'", 0),
        ("run asked", 4),
        ("status asked", 4),
        ("report asked", 4),
        ("report nothing", 2),
        ("status asked fresh", 2),
        ("value finished", 0),
        ("value one-sided", 1),
        ("value one-sided --emit", 1),
    ),
    "mcp": (
        ("--install-skill", 0),
        ("--tokens finished", 0),
    ),
    "explain": (("FM-4", 0), ("", 0), ("qqqqqq", 2)),
    "doctor": (("", 0),),
}
"""Verb → calls with the exit code that FORMAT 13 gives them."""


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs and files of every kind that the calls name."""
    from moot.__main__ import main
    from moot.api import open_run

    made = tmp_path_factory.mktemp("every-verb")
    assert play(begin(made / "finished", rows(2, absent={2: "critic"}))).state == "finished"
    begin(made / "opened", rows(1))
    begin(made / "stopped", rows(1)).stop("human")
    play_short(begin_short(made / "short", "single-pass"))
    for n in range(5):
        play_short(begin_short(made / "one-sided" / f"run-{n}", "debate"))
    shutil.copytree(made / "finished", made / "damaged")
    with (made / "damaged" / "claims.jsonl").open("r+b") as file:
        file.seek(400)
        file.write(b"~")
    shutil.copytree(made / "finished", made / "lawless")
    with RunStore(made / "lawless").writer() as writer:
        late = Amendment(round=2, phase="close", by="controller", what="note", cause="human", reason="Late.")
        writer.commit([late], at="2026-01-02T00:00:00.000000Z")
    (made / "reply.json").write_text(REPLY)
    (made / "bad.json").write_text("{}")
    (made / "table.json").write_text('{"options":["O-1"],"forecasts":{"action":{"O-1":100}}}')
    (made / "asked").mkdir()
    (made / "asked" / "study.toml").write_text(STUDY)
    (made / "file.toml").write_text('[deliberation]\nquestion = "Which storage?"\n')
    assert main(["seal", "--new-key", str(made / "keys" / "alice.key"), "--quiet"]) == 0
    assert main(["export", str(made / "finished"), str(made / "exported"), "--to", "skill", "--quiet"]) == 0
    shutil.copytree(made / "exported", made / "broken")
    for path in (made / "broken").rglob("*.jsonl"):
        path.write_text(path.read_text() + "nonsense\n")
    state = open_run(made / "finished").state
    decision = list(state.decisions)[-1]
    (made / "names").write_text(json.dumps({"question": next(iter(state.concerns)), "decision": decision}))
    return made


def called(moot: Moot, place: Path, here: Path, verb: str, words: str, *form: str) -> Said:
    """A call in a fresh copy of the place."""
    shutil.copytree(place, here, dirs_exist_ok=True)
    names = json.loads((place / "names").read_text())
    return moot(verb, *shlex.split(words.format_map(names) if "{" in words else words), *form)


CASES = [(verb, words, code) for verb, calls in CALLS.items() for words, code in calls]


def test_every_verb_is_called() -> None:
    assert set(CALLS) == {verb.name for verb in VERBS} - FORMLESS


@pytest.mark.parametrize(("verb", "words", "code"), CASES)
def test_the_exit_code_is_the_same_in_every_form(
    moot: Moot, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, words: str, code: int
) -> None:
    """R-21: with --json one object and nothing else, with --quiet nothing but errors."""
    said: dict[str, Said] = {}
    for form in ("", "--json", "--quiet"):
        here = tmp_path / f"here{form}"
        here.mkdir()
        monkeypatch.chdir(here)
        if (form, words.endswith("--emit")) != ("--json", True):
            said[form] = called(moot, place, here, verb, words, *filter(None, [form]))
    assert {one.code for one in said.values()} == {code}, said
    if "--json" in said:
        assert isinstance(said["--json"].json, dict)
        assert said["--json"].out.count("\n") == 1
        assert said["--json"].err == ""
    assert said["--quiet"].out == ""
    assert "Traceback" not in said[""].err + said["--quiet"].err
    if code == 0:
        assert said[""].out.strip()
        assert said["--quiet"].err == ""


FIRST_CALLS = [(verb, *calls[0]) for verb, calls in CALLS.items()]


@pytest.mark.parametrize(
    ("verb", "words", "code", "form"),
    [
        # One function prints every object: it is asked of a few verbs here, of all in campaigns.
        pytest.param(*call, form, marks=pytest.mark.campaign if form and n % 4 else ())
        for n, call in enumerate(FIRST_CALLS)
        for form in ("", "--json")
    ],
)
def test_no_verb_fails_in_silence_when_stdout_is_full(
    place: Path, tmp_path: Path, verb: str, words: str, code: int, form: str
) -> None:
    """Exit code 3 and one line on stderr; what the verb did to the run is done."""
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    names = json.loads((place / "names").read_text())
    command = [
        sys.executable,
        "-m",
        "moot",
        verb,
        *shlex.split(words.format_map(names)),
        *filter(None, [form]),
    ]
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, check=False)
    said = ended.stderr.decode()
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith("moot: ")
    assert ended.returncode == 3 or (form == "" and ended.returncode == code != 0), said
    if ended.returncode == 3:
        assert "cannot write to standard output: no space left on device" in said


CONTRADICTIONS = (
    "study value one-sided --emit --json",
    "check finished --format github --json",
    "report finished --out a --html b",
    "replay finished --re-execute --to 3",
)


@pytest.mark.parametrize("words", CONTRADICTIONS)
def test_forms_that_exclude_each_other_are_refused(
    moot: Moot, place: Path, tmp_path: Path, words: str
) -> None:
    """R-21: nothing that was asked for is left out in silence."""
    verb, _, rest = words.partition(" ")
    said = called(moot, place, tmp_path, verb, rest)
    assert said.code == 2, said
    assert "--" in (said.err or said.out)


def test_findings_for_a_host_are_not_printed_when_nothing_is_to_be(
    moot: Moot, place: Path, tmp_path: Path
) -> None:
    """R-21: check --format github --quiet."""
    loud = called(moot, place, tmp_path, "check", "lawless --format github")
    assert (loud.code, "::error" in loud.out) == (1, True)
    assert called(moot, place, tmp_path, "check", "lawless --format github", "--quiet") == Said(1, "", "")


def test_a_rule_can_be_taken_back_to_nought(moot: Moot, place: Path, tmp_path: Path) -> None:
    """R-21: --rule wait=on over a file that says off."""
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    with Path("file.toml").open("a") as file:
        file.write('[rules]\nwait = "off"\n')
    for said, wait in (((), "off"), (("--rule", "wait=on"), "on")):
        run = moot("run", "file.toml", *said, "--seats", "host", "--json").json["run"]
        opened = json.loads(moot("log", run, "@0", "--json").out)["events"][0]
        assert opened["rules"]["wait"] == wait


@pytest.mark.parametrize("words", ["import nope file.toml --out a", "export finished a --to nope"])
def test_an_unknown_format_is_answered_once(moot: Moot, place: Path, tmp_path: Path, words: str) -> None:
    """R-21: the list of formats stood there twice."""
    verb, _, rest = words.partition(" ")
    said = called(moot, place, tmp_path, verb, rest)
    assert said.code == 2
    assert said.err.count("known are") == 1
    assert said.err.count("skill") == 1


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_example_in_the_help_names_what_there_is(verb: Verb) -> None:
    """R-21: its options are the verb's, and the runs that it names are there."""
    epilog = str(command_of(verb).epilog)
    known = {name for parameter in command_of(verb).params for name in parameter.opts}
    for call in re.split(r";\s*", epilog.removeprefix("Example: ")):
        words = shlex.split(call)
        assert {word for word in words if word.startswith("--")} <= known, words
        for word in words:
            if word.startswith("runs/examples/"):
                assert (ROOT / word / "head").is_file(), word


def test_show_without_an_id_is_status(moot: Moot, place: Path, tmp_path: Path) -> None:
    """Old: `moot show RUN` said that the run has no event of that name."""
    whole = called(moot, place, tmp_path, "show", "finished", "--json")
    assert whole.code == 0
    assert whole.json == moot("status", "finished", "--json").json
    assert moot("show", "finished", "D-1-1").out == moot("status", "finished", "D-1-1").out != ""
