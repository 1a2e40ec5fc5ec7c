"""The comparisons say what their lists and the recorded runs hold."""

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
ROW = re.compile(r"^\| `([a-z-]+)` \| (.+) \|$", re.M)


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text("utf-8")


def rows(text: str) -> dict[str, list[str]]:
    return {protocol: cells.split(" | ") for protocol, cells in ROW.findall(text)}


def items(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize(
    ("name", "council"), [("comparison", "council-ledger"), ("comparison-structured", "council-storage")]
)
def test_replies_and_words_are_those_of_the_runs(name: str, council: str) -> None:
    for protocol, (replies, words, *_) in rows(page(name)).items():
        book = RunStore(ROOT / "runs" / "examples" / {**RUNS, "council": council}[protocol]).book()
        texts = [book.blobs.read(event.call.reply) or b"" for event in book.events if event.call]
        assert (replies, words) == (str(len(texts)), f"{sum(len(text.split()) for text in texts):,}")


def test_the_counts_of_three_protocols_are_those_of_the_lists() -> None:
    text = page("comparison")
    for protocol, cells in rows(text).items():
        part = re.split(r"^## ", text.split(f"## {protocol}: what it named")[1], flags=re.M)[0]
        assumptions, weaknesses = part.split("Weaknesses and risks:")
        alone = [sum("(alone)" in item for item in items(each)) for each in (assumptions, weaknesses)]
        counts = [len(items(assumptions)), alone[0], len(items(weaknesses)), alone[1]]
        assert cells[2:] == [str(count) for count in counts], protocol


def test_the_counts_of_structured_and_its_council_are_those_of_the_lists() -> None:
    text = page("comparison-structured")
    found = {
        head: len(items(body)) for head, body in re.findall(r"^## (.+?)\n(.+?)(?=^## |\Z)", text, re.M | re.S)
    }
    for protocol, cells in rows(text).items():
        counts: list[str] = []
        for kind in ("Assumptions", "Weaknesses"):
            alone = found[f"{kind} named by `{protocol}` alone"]
            counts += [str(found[f"{kind} named by both"] + alone), str(alone)]
        assert cells[-4:] == counts, protocol


def test_the_readme_repeats_them() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for name in ("comparison", "comparison-structured"):
        for cells in rows(page(name)).values():
            assert cells[1] in readme
            assert (
                f"{cells[-4]} and {cells[-2]}" in readme
                or f"{cells[-4]} assumptions and {cells[-2]}" in readme
            )
