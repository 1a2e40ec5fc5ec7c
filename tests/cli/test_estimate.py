"""`moot run --dry-run`: replies, tokens and dollars before anything is run; what has no price is unknown."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from rounds.protocols.structured import STRUCTURED
from tests.cli.conftest import Moot

FILE = '[deliberation]\nquestion = "Which storage?"\nplan = "minimum-8"\n'
PRICES = """\
dated = "2030-01-01"
[models]
flat = [{ input = "1", output = "10", cache_read = "1", cache_write = "1" }]
"""


@pytest.fixture
def file(moot: Moot) -> Path:
    assert callable(moot)  # it goes to a directory of its own first
    path = Path("plan.toml")
    path.write_text(FILE)
    return path


def by_seat(found: Any) -> dict[str, Any]:
    return {one["seat"]: one for one in found["seats"]}


def test_replies_are_those_of_the_plan_by_role_and_phase(moot: Moot, file: Path) -> None:
    found = moot("run", "--dry-run", file, "--seats", "anthropic", "--json").json
    assert found["replies_at_most"] == 142 == sum(part["replies"] for part in found["parts"])
    assert {part["role"] for part in found["parts"] if part["phase"] == "H"} == {"verifier"}
    assert found["rounds"] == 8
    assert list(Path().iterdir()) == [file]


def test_dollars_are_tokens_times_prices(
    moot: Moot, file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prices = tmp_path / "prices" / "list.toml"
    prices.parent.mkdir()
    prices.write_text(PRICES)
    monkeypatch.setenv("MOOT_PRICES", str(prices))
    found = moot("run", "--dry-run", file, "--seats", "anthropic:flat", "--json").json
    for bound in ("low", "high"):
        expected = Decimal(found["tokens_in"][bound] + 10 * found["tokens_out"][bound]) / 1_000_000
        assert Decimal(found["usd"][bound]) == expected > 0
    assert found["tokens_in"]["low"] < found["tokens_in"]["high"]
    assert found["prices_dated"] == "2030-01-01"


def test_what_has_no_price_is_unknown_and_so_is_the_total(moot: Moot, file: Path) -> None:
    seats = ("--seats", "anthropic", "--seat", "critic=anthropic:nobody-knows", "--seat", "verifier=host")
    found = moot("run", "--dry-run", file, *seats, "--json").json
    costs = {seat: one["usd"] for seat, one in by_seat(found).items()}
    assert costs["anthropic"] is not None
    assert costs["anthropic:nobody-knows"] is costs["host"] is found["usd"] is None
    assert by_seat(found)["anthropic:nobody-knows"]["roles"] == ["critic"]
    assert found["tokens_in"]["low"] == sum(one["tokens_in"]["low"] for one in found["seats"])
    said = moot("run", "--dry-run", file, *seats)
    assert said.code == 0
    assert said.out.startswith("ESTIMATE of plan.toml")
    assert said.out.count("cost unknown") == 3
    assert STRUCTURED.sizes_from in " ".join(said.out.split())


def test_people_take_no_tokens(moot: Moot, file: Path) -> None:
    found = moot("run", "--dry-run", file, "--seats", "human", "--json").json
    assert found["tokens_in"] == found["tokens_out"] == {"low": 0, "high": 0}
    assert found["usd"] == {"low": "0.000000", "high": "0.000000"}


def test_documents_are_in_it(moot: Moot, file: Path) -> None:
    without = moot("run", "--dry-run", file, "--seats", "anthropic", "--json").json
    Path("facts.md").write_text("A fact.\n" * 1_000)
    file.write_text(FILE + '[[context]]\nname = "facts.md"\npath = "facts.md"\n')
    found = moot("run", "--dry-run", file, "--seats", "anthropic", "--json").json
    replies = found["replies_at_most"] - sum(
        part["replies"] for part in found["parts"] if part["phase"] == "H"
    )
    more = found["tokens_in"]["high"] - without["tokens_in"]["high"]
    assert more == replies * 8_000 // 4 * 2
    assert found["tokens_out"] == without["tokens_out"]


@pytest.mark.parametrize(
    ("seats", "what"),
    [
        (("--seats", "anthropic@huge"), "no seat 'anthropic@huge'"),
        (("--seats", "anthropic:m@huge"), "'anthropic:m@huge' cannot be read"),
        (("--seats", "host", "--seat", "critc=host"), "no role 'critc'"),
    ],
)
def test_bad_seats_are_refused_as_by_run(moot: Moot, file: Path, seats: tuple[str, ...], what: str) -> None:
    said = moot("run", "--dry-run", file, *seats)
    assert said.code == 2
    assert what in said.err
    assert said.out == ""


def test_a_model_of_this_machine_takes_tokens_and_costs_nothing(moot: Moot, file: Path) -> None:
    found = moot("run", "--dry-run", file, "--seats", "ollama:qwen3:8b", "--json").json
    assert found["tokens_in"]["high"] > found["tokens_in"]["low"] > 0
    assert found["usd"] == {"low": "0.000000", "high": "0.000000"}


def test_a_dry_run_of_a_question_opens_nothing_and_needs_no_seat(moot: Moot) -> None:
    """Old: `run -q` pointed to `moot estimate`, which took no question."""
    found = moot("run", "-q", "Which storage should the ledger use?", "--dry-run", "--json")
    assert found.code == 0, found.err
    assert found.json["protocol"] == "crux"
    assert found.json["replies_at_most"] > 1
    assert [one["seat"] for one in found.json["seats"]] == ["anthropic"]
    assert not list(Path().iterdir())


def test_the_low_price_is_that_of_the_fewest_replies(moot: Moot) -> None:
    """A-17: "0.21 to 1.89 dollars", while recorded runs of the same protocol cost $0.12 to $0.25."""
    Path("crux.toml").write_text(
        '[deliberation]\nquestion = "Which?"\nprotocol = "crux"\noptions = ["a", "b"]\n'
    )
    found = moot("run", "--dry-run", "crux.toml", "--seats", "anthropic", "--json").json
    assert found["replies_at_least"] == 4
    assert found["tokens_in"]["low"] == 4 * (9_000 // 4 // 2), "four replies, prompts half as long as assumed"
    assert Decimal(found["usd"]["low"]) < Decimal("0.12")
    assert Decimal(found["usd"]["high"]) > Decimal("0.25")
    for protocol in ("tribunal", "ratchet", "debate"):
        Path("short.toml").write_text(f'[deliberation]\nquestion = "Which?"\nprotocol = "{protocol}"\n')
        short = moot("run", "--dry-run", "short.toml", "--seats", "anthropic", "--json").json
        assert short["replies_at_least"] == short["replies_at_most"]


def test_a_plan_may_end_with_the_first_look_that_is_obeyed(moot: Moot, file: Path) -> None:
    found = moot("run", "--dry-run", file, "--seats", "anthropic", "--json").json
    assert found["replies_at_least"] < found["replies_at_most"] == 142
    assert (
        moot("run", "--dry-run", file, "--seats", "anthropic").out.splitlines()[1].endswith(" to 142 replies")
    )


def test_limits_that_were_set_are_in_the_estimate(moot: Moot) -> None:
    """A-17: "$2.53 to $31.22 … only --max-usd sets a limit", although --max-usd 1 was given."""
    call = ("run", "-q", "Which storage?", "--plan", "standard-13", "--seats", "anthropic", "--dry-run")
    assert "; only --max-usd sets a limit\n" in moot(*call).out
    capped = moot(*call, "--max-usd", "1", "--max-calls", "30", "--max-rounds", "1").out.splitlines()[0]
    assert capped.endswith(
        "13 rounds, never more than $1.00 (--max-usd), stops after 30 calls (--max-calls), "
        "stops after 1 round (--max-rounds)"
    )
    assert ", never more than $0.0001 (--max-usd)\n" in moot(*call, "--max-usd", "0.0001").out
    assert moot(*call, "--max-usd", "1", "--json").json["limits"] == {"usd": "1"}
