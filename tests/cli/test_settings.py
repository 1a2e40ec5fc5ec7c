"""One declaration of a setting feeds the file, the command line, its help, `--rule`, and agent hosts."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer

from moot.app.settings import RunOptions, keyed, settings
from moot.cli.settings import setting_parameters, wanted
from rounds.setup.deliberation import FORM, HOW, UNDER_RULE, Subject, option
from tests.cli.conftest import Moot

ROOT = Path(__file__).resolve().parents[2]
BUDGET = ("usd", "tokens", "calls", "minutes", "rounds")


class Paced(Subject):
    """`[deliberation]` of a moot with two more settings: this row is all that is added."""

    tempo: Annotated[Literal["slow", "fast"] | None, option("--tempo", "WORD", "How fast.", HOW)] = None
    patience: Annotated[int, UNDER_RULE] = 0


@pytest.fixture
def paced(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(FORM.tables, "deliberation", Paced)
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.mark.usefixtures("paced")
def test_a_new_setting_is_one_row() -> None:
    options = {parameter.name: parameter for parameter in setting_parameters()}
    assert "How fast." in repr(vars(options["tempo"].annotation.__metadata__[0]))
    assert "patience" not in options
    table = wanted({"tempo": "slow"}, rules=["patience=3"]).over({"deliberation": {"tempo": "fast"}})
    assert table["deliberation"] == {"tempo": "slow", "patience": 3}
    with pytest.raises(typer.BadParameter, match="--tempo is slow or fast, not 'brisk'"):
        wanted({"tempo": "brisk"})

    @keyed
    def new(question: str, **settings: Any) -> None: ...

    assert {"question", "tempo", "patience"} <= set(signature(new).parameters)


def test_a_setting_is_named_where_it_is_declared_and_where_it_is_used() -> None:
    """It was named in up to seven files before there was one declaration."""
    doors = [
        *(ROOT / "moot" / "cli").glob("*.py"),
        *(ROOT / "moot" / "mcp").glob("*.py"),
        ROOT / "moot/api.py",
    ]
    texts = {path.name: path.read_text("utf-8") for path in [*doors, ROOT / "moot/app/settings.py"]}
    for name in ("check_every", "max_tokens", "max_calls", "max_minutes", "profile="):
        assert [path for path, text in texts.items() if f"{name}:" in text] == [], name


def test_options_that_are_left_out_leave_the_file_as_it_is() -> None:
    assert wanted({"question": None, "goal": [], "plan": None}) == RunOptions()
    limits = wanted({f"max_{name}": 3 for name in BUDGET}).over({"budget": {"usd": 9, "calls": 9}})
    assert limits["budget"] == dict.fromkeys(BUDGET, 3)


def test_a_switch_under_rule_is_said_by_what_there_is() -> None:
    assert wanted({}, rules=["stress=off"]).of("deliberation") == {"no_stress": True}
    assert wanted({}, rules=["stress=on"]).of("deliberation") == {"no_stress": False}
    with pytest.raises(typer.BadParameter, match="say stress=on or stress=off"):
        wanted({}, rules=["stress=no"])


def test_a_number_may_be_the_least_of_its_setting_and_not_one_below_it(moot: Moot) -> None:
    for least in ("check_every=1", "seed=0"):
        name, _, value = least.partition("=")
        assert wanted({}, rules=[least]).of("deliberation") == {name: int(value)}
    with pytest.raises(typer.BadParameter, match="check_every=0: give a whole number from 1"):
        wanted({}, rules=["check_every=0"])
    refused = moot("run", "-q", "This or that?", "--max-calls", "0")
    assert refused.code == 2
    assert "greater than or equal to 1" in refused.err


@pytest.mark.parametrize(
    "text",
    ["deliberation = 3\n", "cast = []\n", "rules = 1\n", "context = 3\n", "budget = false\n", "gate = 'x'\n"],
)
def test_a_file_with_a_value_for_a_table_is_refused_by_its_key(moot: Moot, tmp_path: Path, text: str) -> None:
    file = tmp_path / "odd.toml"
    file.write_text(text, "utf-8")
    options = ("--rule", "wait=off", "--max-usd", "1", "--seat", "critic=host", "--context", str(tmp_path))
    refused = moot("run", str(file), "-q", "This or that?", *options)
    assert refused.code == 2
    assert text.split()[0] in refused.err
