"""Prices: dated data with tiers. The cost of a model without a price is unknown (None), never zero."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Final

import msgspec

from ledger.plain_json import converted
from ledger.plain_toml import NotToml, toml_table
from ledger.store.disk import read_plain

INSTALLED: Final = Path(__file__).with_name("prices.toml")
FILE_BYTES_MAX: Final = 1 << 20
PRICE_MAX: Final = 1_000_000
"""Dollars per million tokens. The sum of a run's costs must fit the digits of the ledger."""
MILLION: Final = Decimal(1_000_000)
MICRO: Final = Decimal("0.000001")
CACHE_READ_SHARE: Final = Decimal("0.1")
CACHE_WRITE_SHARE: Final = Decimal("1.25")


class PricesError(ValueError):
    """Error in a price file; the message says where."""


class Tokens(msgspec.Struct, frozen=True):
    """Tokens of one attempt. `uncached`, `read` and `written` add up to the prompt."""

    uncached: int
    read: int
    written: int
    out: int

    @property
    def prompt(self) -> int:
        """Return the sum of all input tokens."""
        return self.uncached + self.read + self.written


class Tier(msgspec.Struct, frozen=True):
    """Prices in dollars per million tokens, for prompts up to a size (None: any).

    A row may leave out the cache prices; then they are shares of the input price.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write: Decimal | None = None
    prompt_tokens_max: int | None = None

    def __post_init__(self) -> None:
        for price in (self.input, self.output, self.cache_read, self.cache_write):
            if price is not None and not (price.is_finite() and 0 <= price <= PRICE_MAX):
                raise ValueError(f"{price} is no price")

    @property
    def read(self) -> Decimal:
        """Return the price of tokens that were read from the cache."""
        return self.input * CACHE_READ_SHARE if self.cache_read is None else self.cache_read

    @property
    def write(self) -> Decimal:
        """Return the price of tokens that were written to the cache."""
        return self.input * CACHE_WRITE_SHARE if self.cache_write is None else self.cache_write

    def holds(self, prompt_tokens: int) -> bool:
        """Return whether this tier prices a prompt of that size."""
        return self.prompt_tokens_max is None or prompt_tokens <= self.prompt_tokens_max

    def usd(self, tokens: Tokens) -> Decimal:
        """Return the cost of tokens in dollars, unrounded."""
        parts = (
            tokens.uncached * self.input,
            tokens.read * self.read,
            tokens.written * self.write,
            tokens.out * self.output,
        )
        return sum(parts, Decimal(0)) / MILLION


class Prices(msgspec.Struct, frozen=True):
    """Price list of a day (`dated`): model → tiers, the smallest prompt first."""

    dated: str
    models: dict[str, tuple[Tier, ...]]

    def usd(self, model: str, tokens: Tokens) -> str | None:
        """Return the cost in dollars with six decimals, as in the ledger; None for a model without a price."""
        tier = next((tier for tier in self.models.get(model, ()) if tier.holds(tokens.prompt)), None)
        # Half-even, so that rounding many small replies adds no bias to their sum.
        return None if tier is None else f"{tier.usd(tokens).quantize(MICRO, ROUND_HALF_EVEN):f}"

    def bound(self, model: str, prompt_tokens_max: int, tokens_out_max: int) -> Decimal | None:
        """Return the highest possible cost of an attempt, over all tiers it can reach and any use of the cache.

        None for a model without a price.
        """
        tiers = self.models.get(model, ())
        holds = [tier.holds(prompt_tokens_max) for tier in tiers]
        if True not in holds:
            return None
        # Any token may turn out to be a cache write, which costs more than plain input.
        most = max(
            max(tier.input, tier.write) * prompt_tokens_max + tier.output * tokens_out_max
            for tier in tiers[: holds.index(True) + 1]
        )
        # A bound must never be below the cost, so it is rounded up.
        return (most / MILLION).quantize(MICRO, ROUND_CEILING)


def prices_over(installed: Prices, own: Prices) -> Prices:
    """Return a price list in which the rows and the date of `own` take precedence."""
    return Prices(own.dated, {**installed.models, **own.models})


def read_prices(path: Path = INSTALLED) -> Prices:
    """Read a price file. Raises `PricesError` or `OSError`."""
    try:
        # The user names this file, so its size is bounded before it is parsed. A number is read through its text,
        # because a TOML float such as 0.1 is not exact in binary.
        return converted(toml_table(read_plain(path, FILE_BYTES_MAX).decode()), Prices)
    except (NotToml, UnicodeDecodeError) as error:
        raise PricesError(str(error)) from None
    except msgspec.ValidationError as error:
        raise PricesError(f"not a price list: {error}; see roles/seats/prices.toml") from None
