"""A run opened for work, as the verbs need it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ledger.events import Event
from ledger.state.book import commit_end
from ledger.store.store import RunStore
from moot.app.clock import now
from moot.app.locate import find_run
from roles.protocol import open_steps
from rounds.run.session import RunSession
from rounds.run.verdicts import standard


def open_session(said: str) -> RunSession:
    """The session of a RUN argument."""
    return session_at(find_run(said))


def session_at(path: Path) -> RunSession:
    """The session of a run directory. Raises `LedgerError` when it is none or is damaged."""
    return RunSession(RunStore(path), standard, now)


def names(events: Iterable[Event]) -> list[str]:
    """How events are cited: by id, or `@seq` when their kind has none."""
    return [event.id or f"@{event.seq}" for event in events]


def open_now(session: RunSession) -> list[str]:
    """Ids of the steps that can run now."""
    return [step.id for step in open_steps(session.protocol, session.book().state)]


def first_result(session: RunSession, step: str) -> tuple[Event, ...]:
    """What an answered step's reply wrote when it was accepted: its commit, and what the controller added at once."""
    events = session.book().events
    first = session.book().state.answered[step]
    end = commit_end(events, first)
    while (
        end < len(events)
        and events[end].by == "controller"
        and events[end].kind not in ("fallback", "run_closed")
    ):
        end = commit_end(events, end)
    return events[first:end]
