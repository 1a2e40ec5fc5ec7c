"""Prices: dated data with tiers. A model without a price costs "unknown" (None), never nothing."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, cast

from ledger.store.disk import read_plain

INSTALLED: Final = Path(__file__).with_name("prices.toml")
FILE_BYTES_MAX: Final = 1 << 20
MILLION: Final = Decimal(1_000_000)
MICRO: Final = Decimal("0.000001")
CACHE_READ_SHARE: Final = Decimal("0.1")
CACHE_WRITE_SHARE: Final = Decimal("1.25")


class PricesError(ValueError):
    """A price file that cannot be used; the message says where."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one attempt. `uncached`, `read` and `written` together are the prompt."""

    uncached: int
    read: int
    written: int
    out: int

    @property
    def prompt(self) -> int:
        """All input tokens."""
        return self.uncached + self.read + self.written


@dataclass(frozen=True, slots=True)
class Tier:
    """Dollars per million tokens, for prompts up to a size (None: any)."""

    prompt_tokens_max: int | None
    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal

    def holds(self, prompt_tokens: int) -> bool:
        """Whether a prompt of that size is priced by this tier."""
        return self.prompt_tokens_max is None or prompt_tokens <= self.prompt_tokens_max

    def usd(self, tokens: Tokens) -> Decimal:
        """What these tokens cost, unrounded."""
        parts = (
            tokens.uncached * self.input,
            tokens.read * self.cache_read,
            tokens.written * self.cache_write,
            tokens.out * self.output,
        )
        return sum(parts, Decimal(0)) / MILLION


@dataclass(frozen=True, slots=True)
class Prices:
    """`dated`: the day that the prices were read; model → its tiers, the smallest first."""

    dated: str
    models: Mapping[str, tuple[Tier, ...]]

    def usd(self, model: str, tokens: Tokens) -> str | None:
        """Dollars as a ledger holds them, with six digits; None for a model without a price."""
        tier = next((one for one in self.models.get(model, ()) if one.holds(tokens.prompt)), None)
        return None if tier is None else f"{tier.usd(tokens).quantize(MICRO, ROUND_HALF_EVEN):f}"

    def bound(self, model: str, prompt_tokens_max: int, tokens_out_max: int) -> Decimal | None:
        """The most that an attempt can cost, in whatever tier such a prompt can fall, whatever the cache takes."""
        tiers = _reached(self.models.get(model, ()), prompt_tokens_max)
        if not tiers:
            return None
        most = max(
            max(tier.input, tier.cache_write) * prompt_tokens_max + tier.output * tokens_out_max
            for tier in tiers
        )
        return (most / MILLION).quantize(MICRO, ROUND_CEILING)


def _reached(tiers: tuple[Tier, ...], prompt_tokens_max: int) -> tuple[Tier, ...]:
    """The tiers up to the first that holds the longest prompt."""
    holds = [tier.holds(prompt_tokens_max) for tier in tiers]
    return tiers[: holds.index(True) + 1] if True in holds else ()


def prices_over(installed: Prices, own: Prices) -> Prices:
    """A list with the rows of another in the place of its own; the day is that of the other."""
    return Prices(own.dated, {**installed.models, **own.models})


def read_prices(path: Path = INSTALLED) -> Prices:
    """The prices in a file. Raises `PricesError` or `OSError`."""
    try:
        table = tomllib.loads(read_plain(path, FILE_BYTES_MAX).decode())
        models = cast("dict[str, list[dict[str, Any]]]", table["models"])
        return Prices(str(table["dated"]), {name: tuple(map(_tier, rows)) for name, rows in models.items()})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PricesError(f"not TOML: {error}") from None
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
        cache_read=_price(row.get("cache_read", base * CACHE_READ_SHARE)),
        cache_write=_price(row.get("cache_write", base * CACHE_WRITE_SHARE)),
    )


def _price(said: Any) -> Decimal:
    price = Decimal(str(said))
    if not price.is_finite() or price < 0:
        raise InvalidOperation(f"{said} is no price")
    return price
