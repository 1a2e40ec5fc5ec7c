"""The recorded examples: whole, lawful, executed again to the same head, and free of anybody's machine.

An example that is still being recorded is read like the others, but what only a finished run can show is skipped.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

import moot
from ledger.audit.verify import verify
from ledger.store.store import RunStore
from rounds.run.reexecution import re_execute
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.recorded import recorded
from tests.rounds.openings import clock

MACHINE = re.compile(
    rb"(?<![\w.])/(?:home|root|Users|tmp|var/(?:folders|tmp)|opt|work|mnt|usr|srv)/[\w.-]"
    rb"|[A-Za-z]:\\\\(?:Users|Windows)|\blocalhost\b|\b(?:\d{1,3}\.){3}\d{1,3}\b|@[\w-]+\.(?:com|org|net|io)\b"
)
"""Absolute paths of a machine, host names, addresses; not places that every Linux has, such as /etc/machine-id."""


def _session(path: Path) -> RunSession:
    return RunSession(RunStore(path), standard, clock())


@pytest.mark.parametrize("path", recorded())
def test_it_is_intact_and_lawful(path: Path) -> None:
    report = verify(path)
    assert report.ok, report.problems
    found = moot.check(path)
    assert found.ok, [finding for finding in found.findings if finding.severity == "error"]


@pytest.mark.parametrize("path", recorded())
def test_it_is_executed_again_to_the_same_head(path: Path) -> None:
    session = _session(path)
    again = re_execute(session.book(), session.protocol, session.controller)
    assert again.divergences == ()
    assert again.identical


@pytest.mark.parametrize("path", recorded())
def test_it_names_no_machine(path: Path) -> None:
    for file in path.rglob("*"):
        if file.is_file() and file.name not in ("lock", "driver"):
            hits = MACHINE.findall(file.read_bytes())
            assert not hits, (file.relative_to(path), hits)


@pytest.mark.parametrize("path", recorded())
def test_every_reply_came_through_a_host_seat_and_contexts_were_kept_apart(path: Path) -> None:
    roles: dict[str, set[str]] = defaultdict(set)
    for event in _session(path).book().events:
        if event.call is not None:
            assert event.call.seat == "host"
            assert event.call.simulated is None
            assert event.call.context.id
            roles[event.call.context.id].add(event.by)
    assert all(len(served) == 1 for served in roles.values()), roles


@pytest.mark.parametrize("path", recorded())
def test_a_finished_one_shows_what_a_deliberation_is_for(path: Path) -> None:
    book = _session(path).book()
    if not book.state.finished:
        pytest.skip(f"{path.name} is still being recorded: round {book.state.round}")
    assert book.state.opened is not None
    decided = {facts.type for facts in book.state.decisions.values()}
    assert decided == ({"round"} if book.state.opened.protocol == "council" else decided | {"final"})
    assert not book.state.given_up
