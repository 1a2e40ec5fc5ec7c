"""The page of comparisons counts what the recorded runs hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ledger.store.store import RunStore

ROOT = Path(__file__).parents[2]
RUNS = {
    "single-pass": "single-pass-ledger",
    "jugalbandi": "jugalbandi-ledger",
    "structured": "storage-minimum-8",
}
PAGE = (ROOT / "docs" / "comparison.md").read_text("utf-8")
ROW = re.compile(r"^\| `([a-z-]+)` \| (.+) \|$", re.M)


def rows(text: str) -> dict[str, list[str]]:
    return {protocol: cells.split(" | ") for protocol, cells in ROW.findall(text)}


@pytest.mark.parametrize(("part", "council"), [(1, "council-ledger"), (2, "council-storage")])
def test_replies_and_words_are_those_of_the_runs(part: int, council: str) -> None:
    text = PAGE.split("\n## ")[part]
    assert len(rows(text)) >= 2
    for protocol, (replies, words, *_) in rows(text).items():
        book = RunStore(ROOT / "runs" / "examples" / {**RUNS, "council": council}[protocol]).book()
        texts = [book.blobs.read(event.call.reply) or b"" for event in book.events if event.call]
        assert (replies, words) == (str(len(texts)), f"{sum(len(text.split()) for text in texts):,}")
