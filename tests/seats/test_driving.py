"""The driver with a seat that costs money: budgets, retries, degradation, staggering."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from ledger.events import Fallback
from ledger.events.run import Budgets
from ledger.store.spending import Spending
from roles.seats.port import Bound, Metered, Request, Seat
from rounds.run.budget import Reservations
from rounds.run.session import PendingStep, RunSession
from tests.fake_api.faults import Fault, status
from tests.rounds.openings import ROLES, rows
from tests.rounds.scripted import Script, ScriptedSeat
from tests.seats.driven import SERVICES, Service, deliberate, opened, resumed, sound
from tests.slowly import mostly_slow


@pytest.fixture(params=mostly_slow(SERVICES, quick=1), ids=lambda service: service.kind)
def service(request: pytest.FixtureRequest) -> Service:
    """Each API in turn: the driver does the same with both, so that one is quick."""
    found: Service = request.param
    return found


def test_a_run_by_the_fake_ends_and_says_that_it_was_one(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "run")
    outcome, api = deliberate(session, service)
    book = session.book()
    calls = [event.call for event in book.events if event.call]
    assert outcome.state == "finished"
    assert {(call.seat, call.provider, call.simulated) for call in calls} == {(service.kind, "fake", "fake")}
    assert sum(call.tokens_cached or 0 for call in calls) > 0
    assert len(api.log) == len(calls) == book.state.spend.calls
    assert book.state.spend.unpriced == 0
    sound(tmp_path / "run")


def test_lost_attempts_are_made_again_and_recorded(service: Service, tmp_path: Path) -> None:
    faults = {
        1: status(429, retry_after="3600"),
        2: Fault("stream_error"),
        3: status(529),
        4: Fault("malformed"),
    }
    session = opened(tmp_path / "run")
    outcome, _ = deliberate(session, service, fault=faults.get)
    call = next(event.call for event in session.book().events if event.call)
    assert outcome.state == "finished"
    assert [attempt.error is None for attempt in call.attempts] == [False, False, False, False, True]
    assert [attempt.reply is None for attempt in call.attempts] == [True, True, True, False, False]
    assert call.attempts[3].cost_usd
    assert call.attempts[1].cost_usd is None
    assert call.cost_usd is None, "a part of it is unknown"
    sound(tmp_path / "run")


def test_a_wrong_key_stops_the_run_and_leaves_every_step_open(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "run")
    outcome, api = deliberate(session, service, fault=lambda _: status(401))
    assert (outcome.state, outcome.reason, len(api.log)) == ("failed", "seats_failed", 1)
    assert service.key_variable in outcome.detail
    assert not session.book().state.given_up
    again, _ = deliberate(resumed(tmp_path / "run"), service)
    assert again.state == "finished"
    sound(tmp_path / "run")


def test_when_one_seat_is_gone_the_others_go_on(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "run")
    scripted = ScriptedSeat(session, Script())

    def mixed(make: Callable[[], Seat]) -> dict[str, Seat]:
        return {**dict.fromkeys(ROLES, scripted), "critic": make()}

    outcome, api = deliberate(session, service, seats=mixed, fault=lambda _: status(403))
    lost = [event for event in session.book().events if isinstance(event, Fallback)]
    assert outcome.state == "finished"
    assert {event.role for event in lost} == {"critic"}
    assert len(api.log) == 1, "a seat that is gone is not asked again"
    state = session.book().state
    assert state.quorum.actual == state.quorum.declared - len(lost)
    sound(tmp_path / "run")


def test_a_lost_verifier_leaves_verdicts_unclear(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "run")
    scripted = ScriptedSeat(session, Script())

    def mixed(make: Callable[[], Seat]) -> dict[str, Seat]:
        return {**dict.fromkeys(ROLES, scripted), "verifier": make()}

    outcome, _ = deliberate(session, service, seats=mixed, fault=lambda _: Fault("refusal"))
    assert outcome.state == "finished"
    assert {facts.result for facts in session.book().state.checks.values()} <= {"UNCLEAR", "NOT_APPLICABLE"}
    sound(tmp_path / "run")


def spent(session: RunSession, reservations: Reservations) -> tuple[int, int, int]:
    """Calls, tokens and millionths of dollars: spent and reserved."""
    spend, unrecorded = session.book().state.spend, reservations.unrecorded
    return (
        spend.calls + unrecorded.calls,
        spend.tokens_in + spend.tokens_out + unrecorded.tokens,
        spend.micro_usd + unrecorded.micro_usd,
    )


BUDGETS = [
    ("budget_calls", Budgets(calls=9), 0),
    ("budget_tokens", Budgets(tokens=90_000), 1),
    ("budget_usd", Budgets(usd="0.40"), 2),
]


@pytest.mark.parametrize(("reason", "budgets", "place"), BUDGETS, ids=[reason for reason, _, _ in BUDGETS])
def test_a_budget_is_never_exceeded_and_stops_resumably(
    service: Service, tmp_path: Path, reason: str, budgets: Budgets, place: int
) -> None:
    session = opened(tmp_path / "run", budgets=budgets)
    limit = (budgets.calls, budgets.tokens, int(Decimal(budgets.usd or 0) * 1_000_000))[place]
    assert limit
    most: list[int] = []
    outcome, _ = deliberate(
        session, service, on_reserve=lambda reservations: most.append(spent(session, reservations)[place])
    )
    assert (outcome.state, outcome.reason) == ("stopped", reason)
    assert 0 < max(most) <= limit
    assert session.book().state.answered, "there was room for something"
    sound(tmp_path / "run")
    before = len(session.book().state.answered)
    again, api = deliberate(resumed(tmp_path / "run"), service)
    assert (again.state, again.reason) == ("stopped", reason)
    assert len(resumed(tmp_path / "run").book().state.answered) - before <= 1, "what is left is little"
    assert len(api.log) <= 1


def test_what_a_kill_left_unsettled_stays_reserved(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "run", budgets=Budgets(usd="0.40"))
    spending = Spending(tmp_path / "run")
    reservations = Reservations((), spending.note)
    asked = session.pending()[0]
    bound = _bound(service, asked)
    reservations.reserve(asked.step.id, bound)
    spending.path.write_bytes(spending.path.read_bytes() + b'\n{"act":"reser')
    after = Reservations(spending.entries())
    assert after.unrecorded == reservations.unrecorded
    assert after.unrecorded.micro_usd == int((bound.usd or Decimal(0)) * 1_000_000)
    assert after.reserve(asked.step.id, bound) == 2


def _bound(service: Service, asked: PendingStep) -> Bound:
    with service.fake(lambda *_: "") as api:
        seat = service.seat(api)
    assert isinstance(seat, Metered)
    return seat.bound(Request(asked.step, asked.brief))


def _slow(first: float, last: float) -> Callable[[int, dict[str, object]], tuple[float, float]]:
    return lambda *_: (first, last)


def test_siblings_follow_at_the_first_byte_of_the_one_ahead(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "staggered")
    _, api = deliberate(session, service, latency=_slow(0.05, 0.3))
    reads = [one.usage["cache_read_input_tokens"] for one in api.log]
    session = opened(tmp_path / "together")
    _, together = deliberate(session, service, latency=_slow(0.05, 0.3), driving={"staggered": False})
    plain = [one.usage["cache_read_input_tokens"] for one in together.log]
    assert sum(reads) > 1.2 * sum(plain)
    assert api.in_flight_max >= 3


def test_calls_at_once_are_bounded(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "run")
    _, api = deliberate(session, service, latency=_slow(0.01, 0.03), driving={"calls_at_once": 2})
    assert api.in_flight_max <= 2


def test_rows_of_a_plan_are_asked_in_order(service: Service, tmp_path: Path) -> None:
    session = opened(tmp_path / "run", rows(2, absent={2: "critic"}))
    outcome, _ = deliberate(session, service)
    assert outcome.state == "finished"
    sound(tmp_path / "run")
