"""Prices: tiers, shares, bounds, and a model that has none."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from roles.seats.prices import PricesError, Tokens, read_prices


def test_the_installed_list_is_dated_and_tiered() -> None:
    prices = read_prices()
    assert prices.dated >= "2026-11-01"
    assert prices.usd("claude-haiku-5-5", Tokens(100_000, 0, 0, 0)) == "0.010000"
    assert prices.usd("claude-haiku-5-5", Tokens(100_001, 0, 0, 0)) == "0.050000"
    assert prices.usd("claude-opus-5-5", Tokens(0, 1_000_000, 0, 0)) == "0.400000"
    assert prices.usd("claude-opus-5-5", Tokens(0, 0, 1_000_000, 1_000_000)) == "25.000000"
    assert prices.usd("nobody", Tokens(1, 1, 1, 1)) is None
    assert prices.bound("nobody", 1, 1) is None


@pytest.mark.parametrize("model", sorted(read_prices().models))
@pytest.mark.parametrize("tokens", [Tokens(9, 1, 90_000, 7), Tokens(150_000, 0, 0, 9), Tokens(0, 5, 5, 0)])
def test_nothing_costs_more_than_its_bound(model: str, tokens: Tokens) -> None:
    prices = read_prices()
    bound = prices.bound(model, tokens.prompt, tokens.out)
    cost = prices.usd(model, tokens)
    assert bound is not None
    assert cost is not None
    assert Decimal(cost) <= bound


@pytest.mark.parametrize(
    "text", ["", "dated = 1", 'dated = "x"\n[models]\na = [{input = "-1", output = "1"}]', "a = ["]
)
def test_a_bad_list_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(PricesError):
        read_prices(path)


@pytest.mark.parametrize("price", ["1e999999999", "1e28", "1000001", "NaN", "sNaN", "Infinity"])
@pytest.mark.parametrize("name", ["input", "output", "cache_read", "cache_write"])
def test_a_price_is_one_that_sums_can_be_made_of(tmp_path: Path, name: str, price: str) -> None:
    """A price of 28 digits ended the estimate with an overflow; the dearest allowed one has a bound and a cost."""
    path = tmp_path / "prices.toml"
    prices = {"input": "1", "output": "1", name: price}
    row = ", ".join(f'{name} = "{value}"' for name, value in prices.items())
    path.write_text(f'dated = "2026-11-01"\n[models]\na = [{{{row}}}]\n')
    with pytest.raises(PricesError, match="is no price"):
        read_prices(path)
    path.write_text(path.read_text().replace(price, "1_000_000"))
    read = read_prices(path)
    assert read.bound("a", 10**9, 10**9) is not None
    assert read.usd("a", Tokens(10**9, 10**9, 10**9, 10**9)) is not None
