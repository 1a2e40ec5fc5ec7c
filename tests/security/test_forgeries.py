"""Runs that were rewritten whole, with a chain that fits: what contradicts the rules is found, a kept head shows all.

.github/SECURITY.md lists what a forger can change unseen. Each row of `UNSEEN` is one of those, so that the list is
true.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest

from ledger.audit.verify import verify
from ledger.format.canonical import decode
from ledger.store.store import RunStore
from tests.campaign.tampering import written
from tests.cli.conftest import Moot, moot
from tests.protocols.crux_seats import begin as begin_crux, contested, play
from tests.rounds.openings import begin, play as play_structured, rows

__all__ = ["moot"]

Line = dict[str, Any]
Lines = list[Line]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two finished runs, of `structured` and of `crux`."""
    folder = tmp_path_factory.mktemp("forged")
    play_structured(begin(folder / "structured", rows(3, absent={2: "critic"}, drift=[3])))
    play(begin_crux(folder / "crux"), contested("calculation", "document"))
    return {path.name: path for path in folder.iterdir()}


def first(lines: Lines, kind: str) -> Line:
    """Return the first line of a kind."""
    return next(line for line in lines if line["kind"] == kind)


def call(lines: Lines) -> Line:
    """Return the call of the third reply."""
    calls: Lines = [line["call"] for line in lines if line.get("call")]
    return calls[2]


def attempt(lines: Lines, **values: Any) -> None:
    """Change figures of a reply, in its sum and in its only attempt."""
    call(lines).update(values)
    last = call(lines)["attempts"][-1]
    last.update({name: value for name, value in values.items() if name in last})


def moved_nothing(lines: Lines) -> None:
    """Take the moves of claims out of a check that made some."""
    next(line for line in lines if line["kind"] == "verification" and line["claim_status_changes"])[
        "claim_status_changes"
    ] = []


UNSEEN: dict[str, tuple[str, Callable[[Lines], object]]] = {
    "tokens": ("structured", lambda lines: attempt(lines, tokens_in=7, tokens_out=9)),
    "price": ("structured", lambda lines: attempt(lines, cost_usd="0.01")),
    "latency": ("structured", lambda lines: attempt(lines, latency_ms=123)),
    "model": ("structured", lambda lines: call(lines).update(model="another")),
    "provider": ("structured", lambda lines: call(lines).update(provider="another")),
    "stop reason": ("structured", lambda lines: attempt(lines, stop_reason="end_turn")),
    "the time of the last event": (
        "structured",
        lambda lines: lines[-1].update(at="2031-01-02T03:04:05.000006Z"),
    ),
}
SEEN: dict[str, tuple[str, Callable[[Lines], object]]] = {
    "a claim's text": ("structured", lambda lines: first(lines, "claim").update(text="Another text.")),
    "a move of a claim": ("structured", moved_nothing),
    "the round's signals": ("structured", lambda lines: first(lines, "signals").update(stop=True)),
    "a prompt": ("structured", lambda lines: attempt(lines, brief="0" * 64)),
    "a reply": ("structured", lambda lines: attempt(lines, reply="0" * 64)),
    "a forecast": ("crux", lambda lines: first(lines, "belief")["points"].update({"O-1": 100, "O-2": 0})),
    "what a role saw": (
        "structured",
        lambda lines: next(line for line in lines if len(line["saw"]) > 1)["saw"].pop(),
    ),
    "who said it": ("structured", lambda lines: first(lines, "claim").update(by="observer")),
    "time that runs backwards": (
        "structured",
        lambda lines: lines[5].update(at="2001-01-02T03:04:05.000006Z"),
    ),
}


def forged(runs: dict[str, Path], name: str, change: Callable[[Lines], object], place: Path) -> Path:
    """Return a copy of a run with a change, and a chain that fits."""
    run = Path(shutil.copytree(runs[name], place / "forged"))
    lines = [orjson.loads(line) for _, _, line in RunStore(run).lines()]
    before = deepcopy(lines)
    change(lines)
    assert lines != before
    written(run, [decode(orjson.dumps(line)) for line in lines])
    return run


@pytest.mark.parametrize("what", UNSEEN)
def test_what_the_security_page_says_cannot_be_seen(
    moot: Moot, runs: dict[str, Path], tmp_path: Path, what: str
) -> None:
    name, change = UNSEEN[what]
    run = forged(runs, name, change, tmp_path)
    before, after = (moot("check", path, "--json").json for path in (runs[name], run))
    assert after["findings"] == before["findings"]
    assert verify(run).ok
    assert verify(run, [RunStore(runs[name]).head()]).exit_code == 1, (
        "a head that was kept elsewhere shows it"
    )


@pytest.mark.parametrize("what", SEEN)
def test_what_is_computed_is_found(moot: Moot, runs: dict[str, Path], tmp_path: Path, what: str) -> None:
    name, change = SEEN[what]
    run = forged(runs, name, change, tmp_path)
    before, after = (moot("check", path, "--json").json for path in (runs[name], run))
    assert verify(run).damaged or after["findings"] != before["findings"]
