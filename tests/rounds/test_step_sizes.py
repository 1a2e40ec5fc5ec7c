"""The table of step sizes: every kind of step of a long run has a size, and a run asks no more than its plan."""

from __future__ import annotations

from collections import Counter, defaultdict

import orjson
import pytest

from ledger.events.ids import parse_step
from ledger.store.store import RunStore
from rounds.protocols.plans import PLANS
from rounds.protocols.structured import SIZES
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from rounds.setup.size import PlannedReply, replies_of
from tests.long_run import long_run


def kind_of(step: str) -> str:
    name = parse_step(step)
    assert name is not None
    act = (name.act or "").rstrip("0123456789")
    return f"{name.phase}.{act}" if act else name.phase


def test_every_kind_of_step_has_a_size_that_says_whether_documents_come_with_it() -> None:
    book = RunStore(long_run()).book()
    documents: dict[str, set[bool]] = defaultdict(set)
    for event in book.events:
        if event.step and event.call:
            manifest = book.blobs.read(event.call.brief)
            assert manifest is not None
            blocks = [block["name"] for block in orjson.loads(manifest)["blocks"]]
            documents[kind_of(event.step)].add(any(name.startswith("K-") for name in blocks))
    assert set(documents) == set(SIZES) - {"E.position"}
    assert documents == {kind: {SIZES[kind].documents} for kind in documents}


def test_what_a_run_asks_is_at_most_what_its_plan_asks_for() -> None:
    book = RunStore(long_run()).book()
    planned = replies_of(book.state.opening)
    steps = {event.step: event.by for event in book.events if event.step and event.call}
    for asked in {PlannedReply(role, kind_of(step)) for step, role in steps.items()}:
        given = sum(PlannedReply(role, kind_of(step)) == asked for step, role in steps.items())
        assert given <= planned[asked], asked


def replies_with(plan: str, positions: str) -> Counter[PlannedReply]:
    subject = {"question": "Which?", "protocol": "structured", "plan": plan}
    table = {"deliberation": subject, "rules": {"positions": positions}}
    return replies_of(resolve(checked(table), {}, moot="0").event)


@pytest.mark.parametrize("name", PLANS)
def test_every_kind_of_step_that_a_plan_asks_for_has_a_size(name: str) -> None:
    asked, published, without = (replies_with(name, positions) for positions in ("beliefs", "sealed", "off"))
    assert {one.kind for one in asked} == set(SIZES) - {"E.position"}
    assert {one.kind for one in published} == set(SIZES) - {"E.belief"}
    assert {one.phase for one in asked} == set("BCDEFGHS")
    sealed = sum(replies for one, replies in asked.items() if one.kind == "E.belief")
    assert asked.total() == published.total()
    assert without.total() == asked.total() - sealed
