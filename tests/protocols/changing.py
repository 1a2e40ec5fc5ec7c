"""Scripted runs with some replies changed, for tests that want a certain verdict; scripted, and labeled so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from ledger.state.book import Book
from roles.protocol import Step
from roles.seats.port import Answer
from rounds.run.session import RunSession
from tests.protocols.playing import begin
from tests.protocols.scripts import reply

Change = Callable[[Step, dict[str, Any]], None]
"""Changes a lawful reply of a step in place."""


def unchanged(step: Step, made: dict[str, Any]) -> None:
    """Leave the reply as the script has it."""
    del step, made


def changed_run(
    path: Path,
    protocol: str,
    change: Change = unchanged,
    *,
    rules: Mapping[str, str] | None = None,
    options: int = 3,
    lose: frozenset[str] = frozenset(),
    until: Callable[[Book], bool] | None = None,
) -> RunSession:
    """Play a run by script, every reply changed by `change`; steps in `lose` are given up. Nobody answers questions.

    `until` stops playing as soon as it holds.
    """
    session = begin(path, protocol, dict(rules or {}), options=options)
    while (asked := session.pending()) and not (until is not None and until(session.book())):
        step = asked[0].step
        if step.id in lose:
            session.give_up(step.id, "given_up", "lost in a test")
            continue
        made: dict[str, Any] = orjson.loads(reply(session.book(), step, asked[0].brief.saw))
        change(step, made)
        answer = Answer(
            seat="command", isolation="trusted", provider="scripted", model="scripted", simulated="fake"
        )
        session.submit(step.id, orjson.dumps(made), answer)
    return session
