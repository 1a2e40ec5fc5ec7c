"""Whole runs by the seats of both APIs against their fakes, for tests and benchmarks."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ledger.audit.verify import verify
from ledger.events.run import Budgets, PlanRow
from ledger.store.spending import Spending
from ledger.store.store import RunStore
from roles.seats.anthropic import AnthropicSeat
from roles.seats.openai import OpenAISeat
from roles.seats.port import Bound, Seat
from roles.seats.prices import read_prices
from roles.seats.registry import PROVIDERS
from rounds.run.budget import Reservations
from rounds.run.driver import Drive, DriveEnd
from rounds.run.retries import RetryPolicy
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.fake_api import openai_rules
from tests.fake_api.openai_server import FakeOpenAI
from tests.fake_api.rules import KEY
from tests.fake_api.scripted import answering
from tests.fake_api.server import FakeApi
from tests.rounds.openings import ROLES, begin, clock, rows
from tests.rounds.scripted import Script
from validators import rulebook

QUICK = RetryPolicy(wait_seconds_first=0.001, wait_seconds_max=0.01)


@dataclass(frozen=True, slots=True)
class Service:
    """An API as tests use it: its fake, and a seat that asks it."""

    kind: str
    fake: Callable[..., FakeApi]
    seat: Callable[[FakeApi], Seat]
    key: str
    key_variable: str


def anthropic_seat(model: str = "claude-sonnet-5-5", **options: Any) -> AnthropicSeat:
    """A seat of the Messages API."""
    return AnthropicSeat(model, PROVIDERS["anthropic"], prices=read_prices(), **options)


def _openai(api: FakeApi) -> Seat:
    assert isinstance(api, FakeOpenAI)
    return OpenAISeat("gpt-6.2-sol", api.row, prices=read_prices())


ANTHROPIC = Service("anthropic", FakeApi, lambda _: anthropic_seat(), KEY, "ANTHROPIC_API_KEY")
OPENAI = Service("openai", FakeOpenAI, _openai, openai_rules.KEY, "OPENAI_API_KEY")
SERVICES = (ANTHROPIC, OPENAI)


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """The process's environment with these values in it."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def opened(
    path: Path,
    plan: str | Sequence[PlanRow] | None = None,
    budgets: Budgets | None = None,
) -> RunSession:
    """A new run of one round, unless a plan is given."""
    return begin(path, plan or rows(1), budgets=budgets)


def resumed(path: Path) -> RunSession:
    """A run that goes on."""
    return RunSession(RunStore(path), standard, clock())


class Watched(Reservations):
    """Reservations that show themselves after each reservation."""

    on_reserve: Callable[[Reservations], None] | None = None

    def reserve(self, step: str, bound: Bound) -> int:
        number = super().reserve(step, bound)
        if self.on_reserve:
            self.on_reserve(self)
        return number


def deliberate(
    session: RunSession,
    service: Service = ANTHROPIC,
    *,
    script: Script | None = None,
    seats: Callable[[Callable[[], Seat]], Mapping[str, Seat]] | None = None,
    on_reserve: Callable[[Reservations], None] | None = None,
    driving: Mapping[str, Any] | None = None,
    **api: Any,
) -> tuple[DriveEnd, FakeApi]:
    """Drive a session to where it ends; every seat is the fake's, unless `seats` makes others with what makes those."""
    path = session.run.path
    spending = Spending(path)

    async def driven(fake: FakeApi) -> DriveEnd:
        made = seats(lambda: service.seat(fake)) if seats else dict.fromkeys(ROLES, service.seat(fake))
        reservations = Watched(spending.entries(), spending.note)
        reservations.on_reserve = on_reserve
        options = {"retry": QUICK, **(driving or {})}
        return await Drive(session, made, monotonic=lambda: 0.0, reservations=reservations, **options).run()

    with service.fake(answering(path, script), **api) as fake, environment(fake.environment):
        return asyncio.run(driven(fake)), fake


def sound(path: Path) -> None:
    """The ledger is intact and keeps every rule, and no file of the run holds the key."""
    report = verify(path)
    assert report.ok, report.problems
    session = resumed(path)
    checked = rulebook.check(session.book(), session.verdicts.context())
    errors = [finding for finding in checked.findings if finding.severity == "error"]
    assert not errors, errors
    for file in path.rglob("*"):
        content = file.read_bytes() if file.is_file() else b""
        assert not any(service.key.encode() in content for service in SERVICES), file
