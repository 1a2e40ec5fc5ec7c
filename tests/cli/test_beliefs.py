"""`moot signals` of a crux run or a table: forecasts for people at any width and for machines by a schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import schemas
from moot.view.beliefs import beliefs_text, letters_of
from tests.cli.conftest import Moot
from tests.detectors.beliefs.tables import beliefs, random_table
from tests.protocols.playing import begin, play, submit

SCHEMA = json.loads((schemas.DIRECTORY / "output" / "signals-crux.json").read_text())
RUN = Path(__file__).resolve().parents[2] / "runs" / "examples" / "storage-minimum-8"
NUMBERS = {"q": 70, "if_true": {"O-1": 85, "O-2": 15}, "if_false": {"O-1": 25, "O-2": 75}}
EVERYBODY = dict.fromkeys(("action", "guardian", "observer", "critic"), NUMBERS)
TABLE = {
    "options": ["O-1", "O-2"],
    "experiments": True,
    "rounds": [
        {
            "roles": {
                "action": {"O-1": 70, "O-2": 30},
                "guardian": {"O-1": 70, "O-2": 30},
                "observer": {"O-1": 55, "O-2": 40, "none": 5},
                "critic": {"O-1": 20, "O-2": 80},
            },
            "redraw": {"action": {"O-1": 64, "O-2": 36}},
            "cruxes": [{"claim": "C-1-1", "how": "execution", "given": {"action": NUMBERS}}],
        },
        {
            "roles": {"critic": {"O-1": 45, "O-2": 55}},
            "cruxes": [
                {
                    "claim": "C-1-1",
                    "how": "execution",
                    "given": EVERYBODY,
                    "result": "holds",
                    "class": "reproduced",
                }
            ],
        },
    ],
    "unseen": {"lists": 4, "sightings": [["action"], ["critic"], ["action", "critic"]]},
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.json"
    path.write_text(json.dumps(TABLE))
    return path


def test_json_is_the_shape_that_is_published(moot: Moot, table: Path) -> None:
    said = moot("signals", "--table", table, "--json")
    assert said.code == 0
    jsonschema.validate(said.json, SCHEMA)
    assert list(said.json) == ["run", "options", "rounds", "without", "unseen", "words"]
    first, last = said.json["rounds"]
    assert first["pool"] == {"O-1": 53.75, "O-2": 45.0, "none": 1.25}
    assert first["cruxes"][0]["evsi"] == {"reproduced": 11.8, "argued": 0.0}
    assert (first["noise"], first["movement"], first["stop"]["crux"]) == (6.0, None, "C-1-1")
    assert last["derived"] == ["action", "guardian", "observer"]
    assert last["cruxes"][0]["class"] == "reproduced"
    assert said.json["unseen"]["jackknife"] == 4.5


@pytest.mark.parametrize("seed", range(25))
def test_every_table_fits_the_schema(seed: int) -> None:
    jsonschema.validate(json.loads(beliefs(random_table(seed)).model_dump_json()), SCHEMA)


def test_people_see_pool_seats_cruxes_and_the_reason(moot: Moot, table: Path) -> None:
    said = moot("signals", "--table", table).out
    assert "* the pool, a action, g guardian, o observer, c critic" in " ".join(said.split())
    assert "starting values, not measurements" in " ".join(said.split())
    assert "Go on: C-1-1 is worth 11.80 points" in " ".join(said.split())
    assert "fails" not in said
    row = next(line for line in said.splitlines() if line.startswith("round 1"))
    assert row.endswith(" 53.75   20–70")
    assert row.index("c") < row.index("*") < row.index("2")  # two seats in one place
    assert "at least 1.50 (jackknife), 0.38 (Chao2) more" in " ".join(said.split())


@pytest.mark.parametrize("width", [0, 60, 79, 80, 120, 200, 10_000])
def test_nothing_is_wider_than_the_terminal(width: int) -> None:
    for seed in range(12):
        text = beliefs_text(beliefs(random_table(seed)), width)
        assert max(map(len, text.splitlines())) <= min(max(width, 60), 200)


def test_a_wide_terminal_gets_a_wide_plot() -> None:
    narrow, wide = (beliefs_text(beliefs(TABLE), width).splitlines() for width in (60, 200))
    assert max(map(len, narrow)) <= 60
    assert max(line.count(".") for line in wide) > 150


def test_every_role_has_a_letter_of_its_own() -> None:
    roles = ["action", "actor", "acme", "zoe", "Zoe", "ärger", "99"]
    named = TABLE | {"rounds": [{"roles": {role: {"O-1": 100} for role in roles}}]}
    letters = letters_of(beliefs(named).rounds)
    assert list(letters) == roles
    assert len(set(letters.values())) == len(roles)


def test_a_hostile_table_moves_no_cursor_and_stays_in_its_columns(moot: Moot, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    option, role = "O\x1b[31m" + "x" * 300, "r\x1b[2J" + "y" * 300
    path.write_text(json.dumps({"options": [option], "rounds": [{"roles": {role: {option: 100}}}]}))
    said = moot("signals", "--table", path)
    assert said.code == 0
    assert "\x1b" not in said.out


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--table", "nowhere.json"), "no such file"),
        ((RUN, "--table", "nowhere.json"), "in place of a run"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(moot: Moot, words: tuple[object, ...], what: str) -> None:
    said = moot("signals", *words)
    assert said.code == 2
    assert what in said.err
    assert said.err.count("\n") == 1


def test_a_wrong_table_says_where(moot: Moot, table: Path) -> None:
    table.write_text(json.dumps(TABLE | {"options": ["O-1"]}))
    said = moot("signals", "--table", table)
    assert said.code == 2
    assert "rounds[0].roles.action: 'O-2' is no option" in said.err


def test_a_run_shows_what_its_closed_rounds_came_to(moot: Moot, tmp_path: Path) -> None:
    session = begin(tmp_path / "run", "crux")
    submit(session, session.asked()[0])
    early = moot("signals", tmp_path / "run")
    assert (early.code, early.err) == (1, "")
    assert "No round is closed yet" in early.out
    book = play(session)
    said = moot("signals", tmp_path / "run", "--json")
    jsonschema.validate(said.json, SCHEMA)
    assert said.json["run"] == str(tmp_path / "run")
    rounds = said.json["rounds"]
    assert [one["round"] for one in rounds] == sorted(book.state.rounds)
    for look, one in zip(book.state.looks, rounds, strict=True):
        assert look.reason == one["stop"]["reason"]
        assert {option: float(value) for option, value in look.pool.items()} == one["pool"]
    assert rounds[-1]["cruxes"][0]["class"] == "quoted"
    assert said.json["unseen"]["lists"] == 4
    told = moot("signals", tmp_path / "run").out
    assert "round 2" in told
    flat = " ".join(told.split())
    for option in book.state.options:
        assert f"{option.id} {option.text}" in flat
    crux = rounds[-1]["cruxes"][0]["claim"]
    assert said.json["words"][crux] == next(one.text for one in book.events if one.id == crux)
    assert said.json["words"][crux] in flat
    assert moot("signals", tmp_path / "run", "--profile", "text").code == 2
    report = moot("report", tmp_path / "run").out
    assert "## Beliefs and cruxes" in report
    assert "| C-1-1 | document |" in report
