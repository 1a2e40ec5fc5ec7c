"""TOML of a stranger is parsed in bounded time, and refused in words."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from detectors.parameters import read_parameters
from ledger.plain_toml import NotToml, toml_table
from ledger.redaction.removal import without_words
from ledger.redaction.words import Sought
from moot.terminal.reply_form import NotFilledIn, reply_of
from roles.seats.prices import PricesError, read_prices
from tests.effort import bounded
from tests.security.hostile_bytes import HOSTILE_TOML
from tests.slowly import mostly_slow

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("schemas", "ledger", "roles", "detectors", "validators", "rounds", "moot")
SECONDS = 3.0
REFUSED = (
    "deep",
    "deep tables",
    "a dotted key",
    "a dotted header",
    "10000 digits",
    "a key twice",
    "many dotted keys",
)


def test_every_file_in_toml_goes_through_one_parser() -> None:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    texts = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}
    assert {name for name, text in texts.items() if "import tomllib" in text} == {"ledger/plain_toml.py"}
    assert not {name for name, text in texts.items() if "msgspec.toml" in text}


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_toml_is_refused_in_words_and_at_once(name: str, tmp_path: Path) -> None:
    """A price list with 100,000 names joined by dots took half a minute, a nested one ended with exit 70."""
    content = HOSTILE_TOML[name]
    (tmp_path / "prices.toml").write_bytes(content)
    with bounded(name, SECONDS):
        with pytest.raises(NotToml):
            toml_table(content.decode())
        with pytest.raises(ValueError, match=r"TOML|dots|deeply|characters"):
            read_parameters(content)
        with pytest.raises(PricesError):
            read_prices(tmp_path / "prices.toml")
        with pytest.raises(NotFilledIn):
            reply_of({"type": "object", "properties": {}}, content.decode())
        sought = Sought()
        sought.add("the secret words")
        assert without_words(content, sought) is None


def test_a_large_file_of_a_run_costs_a_redaction_no_memory() -> None:
    """A file of 16 MB, the most that is read, took 5 GB to be searched for the words."""
    sought = Sought()
    sought.add("the secret words")
    tracemalloc.start()
    try:
        assert without_words(b'x = "the secret words"\n' * 40_000, sought) is None
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", mostly_slow(["e\u0301 \u00e9\n", "the secret words\n", "and others \\u00e9 \\n\n"], quick=1)
)
def test_a_large_text_with_the_words_costs_little_memory(line: str) -> None:
    """The place of each character took 320 bytes, so that one text of 1 MB took more than all that moot may use."""
    sought = Sought()
    sought.add("the secret words")
    text = line * (100_000 // len(line)) + "the secret words"
    tracemalloc.start()
    try:
        assert sought.without(text).endswith("[redacted] [redacted] [redacted]")
        # Letters with accents are taken apart first, which is a second copy.
        assert tracemalloc.get_traced_memory()[1] < (50 if text.isascii() else 80) * len(text)
    finally:
        tracemalloc.stop()
