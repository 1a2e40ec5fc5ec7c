"""Damaged replies, imports and deliberation files: taken or refused in words, never a crash, never without end."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from ledger.audit.verify import verify
from ledger.interchange.formats import import_run
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from roles.seats.port import Answer
from rounds.run.session import ReplyRefused
from rounds.setup.deliberation import parse
from rounds.setup.opening import resolve
from rounds.setup.toml_file import DeliberationError
from tests.effort import bounded
from tests.ledger.interchange.sources import AT, SMALL, source
from tests.rounds.openings import begin, rows
from tests.rounds.scripted import Script
from tests.security.mutations import damaged, damaged_bytes

TOML = b"""[deliberation]
question = "Which storage?"
goals = ["No line is lost"]
options = ["one", "two"]
profile = "published"
check_every = 3
[[round]]
n = 1
focus = "first"
[[round]]
n = 2
absent = "critic"
phases = ["A", "B", "C", "D", "E", "F", "G"]
[[predict]]
role = "critic"
code = "no_broken"
text = "nobody breaks anything"
[[context]]
name = "facts"
text = "one writer"
[cast.critic]
title = "Attacker"
charge = "break it"
[budget]
usd = "5"
calls = 100
"""


def replies(folder: Path, seeds: range) -> tuple[int, int]:
    """How many damaged replies were accepted and refused. A refused one writes nothing; every run stays intact."""
    accepted = refused = 0
    session, script, runs = begin(folder / "0", rows(1)), Script(), 0
    for seed in seeds:
        asked = session.pending()
        if not asked or session.book().state.finished:
            assert verify(session.run.path).ok
            runs += 1
            session = begin(folder / str(runs), rows(1))
            asked = session.pending()
        rng = random.Random(seed)
        one = rng.choice(asked)
        try:
            good = script.reply(session.book(), one.step, one.brief.saw)
        except KeyError:  # an accepted reply has no section of the name that the script wants to quote
            runs += 1
            session = begin(folder / str(runs), rows(1))
            one = session.pending()[0]
            good = script.reply(session.book(), one.step, one.brief.saw)
        head = session.run.head()
        with bounded(f"seed {seed}"):
            try:
                session.submit(one.step.id, damaged(rng, good), Answer("host", "trusted"))
                accepted += 1
                continue
            except ReplyRefused as problem:
                said = problem.errors
        refused += 1
        assert said, seed
        assert all(error.strip() for error in said), seed
        assert session.run.head() == head
        if rng.random() < 0.2:
            with suppress(ReplyRefused):  # an accepted reply may be too long for the script to quote
                session.submit(one.step.id, good, Answer("host", "trusted"))
    assert verify(session.run.path).ok
    return accepted, refused


def imports(folder: Path, seeds: range) -> tuple[int, int]:
    """How many damaged directories were taken and refused; a refused one leaves nothing, a taken one verifies."""
    taken = refused = 0
    for seed in seeds:
        rng, src, out = random.Random(seed), folder / f"src{seed}", folder / f"out{seed}"
        for name, content in source(SMALL, {"artifacts/one.md": b"# one\n"}).items():
            lines = content.split(b"\n")
            if name.endswith(".jsonl") and rng.random() < 0.3:
                n = rng.randrange(len(lines))
                lines[n] = damaged(rng, lines[n]) if lines[n] else damaged_bytes(rng, b" ")
            (src / name).parent.mkdir(parents=True, exist_ok=True)
            (src / name).write_bytes(b"\n".join(lines))
        report = None
        with (
            bounded(f"seed {seed}"),
            suppress(LedgerError),
        ):  # a refusal in words; any other exception fails the test
            report = import_run("skill", src, out, at=AT)
        if report is None:
            refused += 1
            assert not out.exists(), seed
            continue
        if report.ok:
            assert verify(out).ok
            assert RunStore(out).book().events
        else:
            assert report.bad_lines
            assert not out.exists()
        taken, refused = taken + report.ok, refused + (not report.ok)
    return taken, refused


def deliberations(seeds: range) -> tuple[int, int]:
    """How many damaged files can be run and how many are refused."""
    taken = refused = 0
    for seed in seeds:
        content = damaged_bytes(random.Random(seed), TOML)
        with bounded(f"seed {seed}"):
            try:
                resolve(parse(content), {}, moot="0.1.0")
                taken += 1
            except DeliberationError:
                refused += 1
    return taken, refused


def test_replies(tmp_path: Path) -> None:
    assert min(replies(tmp_path, range(300))) > 10


@pytest.mark.slow  # hundreds of damaged directories
def test_imports(tmp_path: Path) -> None:
    assert min(imports(tmp_path, range(150))) > 10


def test_deliberations() -> None:
    assert min(deliberations(range(800))) > 10
