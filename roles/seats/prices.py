"""Prices: dated data with tiers. The cost of a model without a price is unknown (None), never zero."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, cast

from ledger.plain_toml import NotToml, toml_table
from ledger.store.disk import read_plain

INSTALLED: Final = Path(__file__).with_name("prices.toml")
FILE_BYTES_MAX: Final = 1 << 20
MILLION: Final = Decimal(1_000_000)
MICRO: Final = Decimal("0.000001")
CACHE_READ_SHARE: Final = Decimal("0.1")
CACHE_WRITE_SHARE: Final = Decimal("1.25")


class PricesError(ValueError):
    """Error in a price file; the message says where."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of one attempt. `uncached`, `read` and `written` add up to the prompt."""

    uncached: int
    read: int
    written: int
    out: int

    @property
    def prompt(self) -> int:
        """Return the sum of all input tokens."""
        return self.uncached + self.read + self.written


@dataclass(frozen=True, slots=True)
class Tier:
    """Prices in dollars per million tokens, for prompts up to a size (None: any)."""

    prompt_tokens_max: int | None
    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal

    def holds(self, prompt_tokens: int) -> bool:
        """Return whether this tier prices a prompt of that size."""
        return self.prompt_tokens_max is None or prompt_tokens <= self.prompt_tokens_max

    def usd(self, tokens: Tokens) -> Decimal:
        """Return the cost of tokens in dollars, unrounded."""
        parts = (
            tokens.uncached * self.input,
            tokens.read * self.cache_read,
            tokens.written * self.cache_write,
            tokens.out * self.output,
        )
        return sum(parts, Decimal(0)) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """Price list of a day (`dated`): model → tiers, the smallest prompt first."""

    dated: str
    models: Mapping[str, tuple[Tier, ...]]

    def usd(self, model: str, tokens: Tokens) -> str | None:
        """Return the cost in dollars with six decimals, as in the ledger; None for a model without a price."""
        tier = next((tier for tier in self.models.get(model, ()) if tier.holds(tokens.prompt)), None)
        # Half-even, so that rounding many small replies adds no bias to their sum.
        return None if tier is None else f"{tier.usd(tokens).quantize(MICRO, ROUND_HALF_EVEN):f}"

    def bound(self, model: str, prompt_tokens_max: int, tokens_out_max: int) -> Decimal | None:
        """Return the highest possible cost of an attempt, over all tiers it can reach and any use of the cache.

        None for a model without a price."""
        tiers = _reached(self.models.get(model, ()), prompt_tokens_max)
        if not tiers:
            return None
        # Any token may turn out to be a cache write, which costs more than plain input.
        most = max(
            max(tier.input, tier.cache_write) * prompt_tokens_max + tier.output * tokens_out_max
            for tier in tiers
        )
        # A bound must never be below the cost, so it is rounded up.
        return (most / MILLION).quantize(MICRO, ROUND_CEILING)


def _reached(tiers: tuple[Tier, ...], prompt_tokens_max: int) -> tuple[Tier, ...]:
    """Return the tiers up to the first that fits the longest prompt; nothing when none does."""
    holds = [tier.holds(prompt_tokens_max) for tier in tiers]
    return tiers[: holds.index(True) + 1] if True in holds else ()


def prices_over(installed: Prices, own: Prices) -> Prices:
    """Return a price list in which the rows and the date of `own` take precedence."""
    return Prices(own.dated, {**installed.models, **own.models})


def read_prices(path: Path = INSTALLED) -> Prices:
    """Read a price file. Raises `PricesError` or `OSError`."""
    try:
        # The user names this file, so its size is bounded before it is parsed.
        table = toml_table(read_plain(path, FILE_BYTES_MAX).decode())
        models = cast("dict[str, list[dict[str, Any]]]", table["models"])
        return Prices(str(table["dated"]), {name: tuple(map(_tier, rows)) for name, rows in models.items()})
    except (NotToml, UnicodeDecodeError) as error:
        raise PricesError(str(error)) from None
    except (KeyError, TypeError, AttributeError, InvalidOperation) as error:
        raise PricesError(
            f"not a price list: {type(error).__name__} {error}; see roles/seats/prices.toml"
        ) from None


def _tier(row: Mapping[str, Any]) -> Tier:
    base = _price(row["input"])
    return Tier(
        prompt_tokens_max=row.get("prompt_tokens_max"),
        input=base,
        output=_price(row["output"]),
        # A row may leave out the cache prices; then they are shares of the input price.
        cache_read=_price(row.get("cache_read", base * CACHE_READ_SHARE)),
        cache_write=_price(row.get("cache_write", base * CACHE_WRITE_SHARE)),
    )


def _price(value: Any) -> Decimal:
    # Through `str`, because a TOML float such as 0.1 is not exact in binary.
    price = Decimal(str(value))
    if not price.is_finite() or price < 0:
        raise InvalidOperation(f"{value} is no price")
    return price
