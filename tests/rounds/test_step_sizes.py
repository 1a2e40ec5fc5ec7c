"""The table of step sizes: within a factor of two of the medians of the example that it names."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import median

import orjson
import pytest

from ledger.events.ids import parse_step
from ledger.state.book import Book
from ledger.store.store import RunStore
from rounds.protocols.plans import PLANS
from rounds.setup.size import SIZES, SOURCE, PlannedReply, asked_at_most

EXAMPLE = Path(__file__).resolve().parents[2] / "runs" / "examples" / SOURCE.split()[-1]


def kind_of(step: str) -> str:
    name = parse_step(step)
    assert name is not None
    act = (name.act or "").rstrip("0123456789")
    return f"{name.phase}.{act}" if act else name.phase


def content(book: Book, sha256: str) -> bytes:
    found = book.blobs.read(sha256)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def recorded() -> dict[str, list[tuple[int, int, bool]]]:
    """Kind of step → brief bytes with schema and without documents, words of the reply, documents there."""
    book = RunStore(EXAMPLE).book()
    calls = {event.step: event.call for event in book.events if event.step and event.call}
    found: dict[str, list[tuple[int, int, bool]]] = defaultdict(list)
    for step, call in calls.items():
        manifest = orjson.loads(content(book, call.brief))
        blocks = [(one["name"], len(content(book, one["sha256"]))) for one in manifest["blocks"]]
        own = sum(size for name, size in blocks if not name.startswith("K-"))
        size = own + len(content(book, manifest["schema"]))
        documents = any(name.startswith("K-") for name, _ in blocks)
        found[kind_of(step)].append((size, len(content(book, call.reply).split()), documents))
    return found


def test_every_phase_of_deliberation_was_recorded(recorded: dict[str, list[tuple[int, int, bool]]]) -> None:
    assert {kind for kind, size in SIZES.items() if size.measured} <= set(recorded)
    assert set(recorded) <= set(SIZES)


@pytest.mark.parametrize("kind", [kind for kind, size in SIZES.items() if size.measured])
def test_the_table_is_within_a_factor_of_two(
    recorded: dict[str, list[tuple[int, int, bool]]], kind: str
) -> None:
    sizes, words, documents = zip(*recorded[kind], strict=True)
    assert 0.5 <= SIZES[kind].brief_bytes / median(sizes) <= 2
    assert 0.5 <= SIZES[kind].reply_words / median(words) <= 2
    assert set(documents) == {SIZES[kind].documents}


def test_what_was_asked_in_the_example_is_at_most_what_its_plan_asks_for() -> None:
    book = RunStore(EXAMPLE).book()
    assert book.state.opened is not None
    planned = asked_at_most(book.state.opened.plan, positions="sealed")
    steps = {event.step: event.by for event in book.events if event.step and event.call}
    for asked in {PlannedReply(role, kind_of(step)) for step, role in steps.items()}:
        given = sum(PlannedReply(role, kind_of(step)) == asked for step, role in steps.items())
        assert given <= planned[asked], asked


@pytest.mark.parametrize("name", PLANS)
def test_every_kind_of_step_that_a_plan_asks_for_has_a_size(name: str) -> None:
    asked = asked_at_most(PLANS[name]())
    published = asked_at_most(PLANS[name](), positions="sealed")
    assert {one.kind for one in asked} == set(SIZES) - {"E.position"}
    assert {one.kind for one in published} == set(SIZES) - {"E.belief"}
    assert {one.phase for one in asked} == set("BCDEFGHS")
    sealed = sum(replies for one, replies in asked.items() if one.kind == "E.belief")
    assert asked.total() == published.total()
    assert asked_at_most(PLANS[name](), positions="off").total() == asked.total() - sealed
