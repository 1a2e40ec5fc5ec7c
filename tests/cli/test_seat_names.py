"""Seats by name: how a mix goes over the roles, what is refused, what stays on the machine, whose prices hold.

Of `moot/app/seat_specs.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.app.seat_specs import choose, mixed, model_of, read_spec
from moot.app.seats import make_seats, prices_in_force, unknown_costs
from moot.errors import MootError
from roles.seats.openai import OpenAISeat
from roles.seats.registry import PROVIDERS, declared_of
from tests.cli.conftest import Moot
from tests.cli.test_errors import one_line

ROLES = ("action", "guardian", "observer", "critic", "verifier")


def test_a_mix_goes_over_the_roles_that_have_no_seat_of_their_own() -> None:
    mix = "mix:anthropic, openai,ollama:qwen3:8b"
    assert choose(ROLES, mix, {}, {}) == {
        "action": "anthropic",
        "guardian": "openai",
        "observer": "ollama:qwen3:8b",
        "critic": "anthropic",
        "verifier": "openai",
    }
    assert choose(ROLES, mix, {"action": "human"}, {"critic": "host"}) == {
        "action": "human",
        "guardian": "anthropic",
        "observer": "openai",
        "critic": "ollama:qwen3:8b",
        "verifier": "anthropic",
    }
    assert mixed("host") == ("host",)


@pytest.mark.parametrize(
    ("seats", "said"),
    [
        ("mix:", "a mix needs seats"),
        ("mix:anthropic,command:cat", "takes no command"),
        ("mix:anthropic,nobody", "no seat 'nobody'"),
        ("mix:host,mix:human", "a mix is for all roles"),
        ("ollama", "write ollama:MODEL"),
        ("openrouter:", "write openrouter:MAKER/MODEL"),
        ("ollama:qwen3@high", "cannot be read"),
        ("openai:@somewhat", "cannot be read"),
        ("anthropic:m@http://here/v1", "cannot be read"),
        ("openai:m@http://a@b", "cannot be read"),
        ("opneai", "did you mean 'openai'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(moot: Moot, seats: str, said: str) -> None:
    assert said in one_line(moot("run", "-q", "Should we keep the wiki?", "--seats", seats), 2)
    assert not Path("runs").exists()


def test_every_kind_is_a_word_that_run_lists(moot: Moot) -> None:
    said = moot("run", "-q", "What?").err
    assert all(kind in said for kind in PROVIDERS)


def test_a_model_is_read_with_its_address() -> None:
    assert read_spec("openai:qwen3:8b@http://127.0.0.1:8000/v1") == (
        PROVIDERS["openai"],
        "qwen3:8b",
        "http://127.0.0.1:8000/v1",
    )
    assert model_of("ollama:qwen3:8b") == "qwen3:8b"
    assert model_of("openrouter:anthropic/claude-opus-5-5") == "anthropic/claude-opus-5-5"
    assert model_of("openai") == "gpt-6.2-sol"
    assert model_of("claude") is None


def test_an_opening_says_kind_and_family_and_never_an_address() -> None:
    declared = {
        "anthropic:claude-opus-5-5": "anthropic",
        "openai": "openai",
        "openai:gpt-6-luna": "openai:gpt",
        "openai:qwen3@http://10.0.0.7/v1": "openai:qwen",
        "ollama:qwen3:8b": "ollama:qwen",
        "openrouter:anthropic/claude-opus-5-5": "openrouter:claude",
        "command:sh secret": "command",
        "claude:opus": "claude",
        "host": "host",
    }
    assert {spec: declared_of(spec) for spec in declared} == declared
    assert all(declared_of(said) == said for said in declared.values())


@pytest.mark.parametrize(
    "seats",
    ["openai", "ollama:qwen3", "openrouter:a/b", "claude", "mix:host,openai", "openai:m@http://far/v1"],
)
def test_offline_refuses_what_could_leave_the_machine(
    moot: Moot, seats: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_OFFLINE", "1")
    assert "offline" in one_line(moot("run", "-q", "Should we keep the wiki?", "--seats", seats), 2)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("spec", "stays"),
    [
        ("ollama:qwen3", True),
        ("ollama:qwen3:480b-cloud", False),
        ("openai:m@http://127.0.0.1:8000/v1", True),
        ("openrouter:a/b", False),
        ("openai", False),
    ],
)
def test_a_server_on_this_machine_is_allowed_when_the_person_says_so(
    monkeypatch: pytest.MonkeyPatch, spec: str, stays: bool
) -> None:
    monkeypatch.setenv("MOOT_OFFLINE", "1")
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "loopback")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    if stays:
        assert isinstance(make_seats({"critic": spec})["critic"], OpenAISeat)
    else:
        with pytest.raises(MootError, match="offline"):
            make_seats({"critic": spec})


def test_an_address_that_a_file_names_needs_the_person_s_word(moot: Moot, tmp_path: Path) -> None:
    file = tmp_path / "sent.toml"
    seat = 'seat = "openai:m@http://elsewhere.example/v1"'
    file.write_text(f'[deliberation]\nquestion = "Which?"\nprotocol = "council"\n[cast.solo]\n{seat}\n')
    said = one_line(moot("run", file, "--out", "run"), 2)
    assert "or a model to send prompts to: openai:m@http://elsewhere.example/v1" in said
    assert "--allow-commands" in said
    assert not Path("run").exists()


def test_a_compatible_server_is_not_given_a_model_that_it_does_not_have(
    moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "loopback")
    assert "openai:MODEL" in one_line(moot("run", "-q", "What?", "--seats", "openai"), 2)


OWN = """
dated = "2030-01-01"
[models]
mine-1 = [{ input = "1", output = "2" }]
gpt-6-luna = [{ input = "9", output = "9" }]
"""


def test_prices_of_ones_own_stand_over_the_installed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("MOOT_PRICES", raising=False)
    installed = prices_in_force()
    assert "mine-1" not in installed.models
    own = tmp_path / "config" / "moot" / "prices.toml"
    own.parent.mkdir(parents=True)
    own.write_text(OWN)
    found = prices_in_force()
    assert found.models.keys() == installed.models.keys() | {"mine-1"}
    assert found.models["gpt-6-luna"] != installed.models["gpt-6-luna"]
    other = tmp_path / "other.toml"
    other.write_text(OWN.replace("mine-1", "other-1"))
    monkeypatch.setenv("MOOT_PRICES", str(other))
    assert "mine-1" not in prices_in_force().models
    assert "other-1" in prices_in_force().models


def test_a_price_makes_a_budget_of_dollars_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-nobody-00")
    monkeypatch.delenv("MOOT_OFFLINE", raising=False)
    file = tmp_path / "prices.toml"
    file.write_text(OWN)
    assert unknown_costs(make_seats({"critic": "openai:mine-1"})) == ("critic",)
    monkeypatch.setenv("MOOT_PRICES", str(file))
    assert unknown_costs(make_seats({"critic": "openai:mine-1"})) == ()
    assert unknown_costs(make_seats({"critic": "ollama:qwen3"})) == ()
    assert unknown_costs(make_seats({"critic": "claude"})) == ("critic",)


def test_a_dry_run_takes_the_list_that_is_named(
    moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, prices = tmp_path / "plan.toml", tmp_path / "prices.toml"
    plan.write_text('[deliberation]\nquestion = "Which?"\nprotocol = "council"\n')
    prices.write_text(OWN)
    assert moot("run", "--dry-run", plan, "--seats", "openai:mine-1", "--json").json["usd"] is None
    monkeypatch.setenv("MOOT_PRICES", str(prices))
    found = moot("run", "--dry-run", plan, "--seats", "openai:mine-1", "--json").json
    assert float(found["usd"]["high"]) > 0
    free = moot("run", "--dry-run", plan, "--seats", "ollama:qwen3", "--json").json
    assert free["usd"] == {"low": "0.000000", "high": "0.000000"}
