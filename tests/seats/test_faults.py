"""Runs with random faults: each ends complete, degraded with its quorum stated, or stopped so that it can go on.

A slice runs by default, 500 runs of each API with `-m campaign`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from ledger.events.run import Budgets
from ledger.state.fold import fold
from moot.view.labels import calls_of, caveats
from roles.seats.port import Seat
from rounds.run.budget import Reservations
from rounds.run.outcome import quorum_of
from rounds.run.session import RunSession
from tests.fake_api.faults import Fault, status
from tests.rounds.openings import ROLES
from tests.rounds.scripted import Script
from tests.seats.driven import SERVICES, Service, deliberate, opened, resumed, sound
from tests.slowly import mostly_slow

PASSING = (
    status(408),
    status(429),
    status(429, retry_after="1"),
    status(429, retry_after="3600"),
    status(500),
    status(529),
    Fault("drop"),
    Fault("cut"),
    Fault("stream_error"),
    Fault("half_line"),
    Fault("refusal"),
    Fault("max_tokens"),
    Fault("malformed"),
    Fault("schema"),
    Fault("empty"),
)
"""Faults after which the same seat may answer."""
LASTING = (status(401), status(402), status(403), status(404), status(413), Fault("huge"))


def _faults(chance: random.Random) -> Callable[[int], Fault | None]:
    """What happens to the nth request: mostly nothing, often a passing fault, seldom a lasting one."""
    passing, lasting = chance.choice([0.05, 0.2, 0.5, 0.9]), chance.choice([0.0, 0.0, 0.01, 0.05])

    def fault(_: int) -> Fault | None:
        if chance.random() < lasting:
            return chance.choice(LASTING)
        return chance.choice(PASSING) if chance.random() < passing else None

    return fault


def _budgets(chance: random.Random) -> Budgets:
    kind = chance.choice(["none", "usd", "tokens", "calls"])
    return Budgets(
        usd=f"{chance.uniform(0.3, 3):.2f}" if kind == "usd" else None,
        tokens=chance.randint(50_000, 500_000) if kind == "tokens" else None,
        calls=chance.randint(1, 40) if kind == "calls" else None,
    )


def _bounded(session: RunSession, budgets: Budgets) -> Callable[[Reservations], None]:
    """Asserts at every reservation that spent and reserved are within the budgets."""

    def look(reservations: Reservations) -> None:
        spend, unrecorded = session.book().state.spend, reservations.unrecorded
        assert min(unrecorded.calls, unrecorded.tokens, unrecorded.micro_usd) >= 0
        if budgets.calls is not None:
            assert spend.calls + unrecorded.calls <= budgets.calls
        if budgets.tokens is not None:
            assert spend.tokens_in + spend.tokens_out + unrecorded.tokens <= budgets.tokens
        if budgets.usd is not None:
            assert spend.micro_usd + unrecorded.micro_usd <= int(Decimal(budgets.usd) * 1_000_000)

    return look


def _a_seat_each(make: Callable[[], Seat]) -> dict[str, Seat]:
    return {role: make() for role in ROLES}


def _run(path: Path, seed: int, service: Service) -> str:
    """One run; how it ended."""
    chance = random.Random(seed)
    budgets = _budgets(chance)
    session = opened(path, budgets=budgets)
    outcome, _ = deliberate(
        session,
        service,
        script=Script(seed=seed),
        seats=_a_seat_each if chance.random() < 0.5 else None,
        on_reserve=_bounded(session, budgets),
        fault=_faults(chance),
    )
    sound(path)
    book = resumed(path).book()
    state, calls = fold(book.events), calls_of(book.events)
    if outcome.state == "finished":
        assert state.finished
        if not state.given_up:
            return "complete"
        kind = quorum_of(state).kind
        assert kind in ("degraded", "unanswered")
        assert any(line.startswith(kind.upper()) for line in caveats(state, calls))
        return kind
    assert outcome.state in ("stopped", "failed")
    assert state.closing is not None
    assert outcome.reason == state.closing.reason
    assert not state.finished, "it can go on"
    return f"stopped {outcome.reason}"


@pytest.mark.parametrize(("runs", "kinds"), [(4, 2), pytest.param(12, 3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("service", mostly_slow(SERVICES, quick=1), ids=lambda service: service.kind)
def test_every_fault_is_survived(tmp_path: Path, service: Service, runs: int, kinds: int) -> None:
    ends = Counter(_run(tmp_path / f"run-{seed}", seed, service) for seed in range(runs))
    assert len(ends) >= kinds, ends


@pytest.mark.campaign
@pytest.mark.parametrize("service", SERVICES, ids=lambda service: service.kind)
@pytest.mark.parametrize("block", range(50))
def test_five_hundred_runs_with_faults(tmp_path: Path, service: Service, block: int) -> None:
    for seed in range(1_000 + 10 * block, 1_010 + 10 * block):
        _run(tmp_path / f"run-{seed}", seed, service)
