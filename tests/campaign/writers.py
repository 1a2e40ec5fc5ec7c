"""Two to eight writers at once: everything acknowledged is there once, and exactly one reply wins a step."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from ledger.audit.verify import verify
from ledger.state.book import Book
from ledger.store.store import RunStore, create_run
from roles.seats.port import Answer
from rounds.run.session import PendingStep, RunSession, StepRefused
from rounds.run.verdicts import standard
from tests.campaign.forks import start
from tests.campaign.slices import Counts, expect, folder
from tests.ledger import samples
from tests.rounds.openings import begin, clock, rows
from tests.rounds.scripted import Script

ROUNDS: Final = 100
"""A slice."""
ROUNDS_OF_A_RUN: Final = 10

Say = Callable[[str], None]


def commits(index: int, slices: int) -> Counts:
    """Rounds of writers that commit to one run, in the store."""
    chance, counts = random.Random(f"{index} of {slices}"), Counts()
    with folder() as place:
        for number in range(ROUNDS // ROUNDS_OF_A_RUN):
            path = place / str(number)
            create_run(path, samples.opening(), blobs=samples.OPENED, at=samples.AT)
            names: list[str] = []
            for turn in range(ROUNDS_OF_A_RUN):
                names += _round(path, chance, turn)
                counts["rounds"] += 1
            _nothing_lost_or_twice(path, names)
            counts["commits"] += len(names)
    return counts


def _round(path: Path, chance: random.Random, turn: int) -> list[str]:
    """The ids that 2–8 writers said were committed; all start at one instant."""
    count = chance.randint(2, 8)
    starting_at = time.monotonic() + 0.002 + 0.0005 * count
    children = []
    for who in range(count):
        many, size = chance.randint(1, 3), chance.randint(1, 4)
        children.append(start(partial(_write, path, f"{turn}{who}", many, size, starting_at)))
    said = [child.end().split() for child in children]
    expect(all(said), "a writer was told nothing")
    return [name.decode() for some in said for name in some]


def _write(path: Path, who: str, many: int, size: int, starting_at: float, say: Say) -> None:
    run = RunStore(path)
    time.sleep(max(0.0, starting_at - time.monotonic()))
    for number in range(many):
        with run.writer(wait_seconds=30.0) as writer:
            first = int(f"1{who}{number}0")
            events = writer.commit(samples.mixed(size, first), at=samples.AT)
        say(str(events[0].id))
        expect(
            [event.seq for event in events] == list(range(events[0].seq, events[0].seq + size)),
            "a commit is whole",
        )


def _nothing_lost_or_twice(path: Path, names: list[str]) -> None:
    report = verify(path)
    expect(report.ok and not report.problems, f"after concurrent writers: {report.problems}")
    found = [event.id for event in RunStore(path).events()]
    for name in names:
        expect(found.count(name) == 1, f"{name} is there {found.count(name)} times")
    expect(len(names) == len(set(names)), "two writers were told of the same commit")


def steps(index: int, slices: int) -> Counts:
    """Rounds in which 2–8 processes hand in different replies to the same open steps of a deliberation."""
    chance, counts = random.Random(f"{index} of {slices}"), Counts()
    with folder() as place:
        while counts["rounds"] < ROUNDS:
            path = place / str(counts["rounds"])
            session = begin(path, rows(1))
            while session.pending() and counts["rounds"] < ROUNDS:
                counts += _race(path, session, chance)
                session = RunSession(RunStore(path), standard, clock())
            expect(verify(path).ok, "intact after races")
    return counts


def _race(path: Path, session: RunSession, chance: random.Random) -> Counts:
    """Each step is answered by exactly one of those who tried; the losers are told so, or had said the same."""
    asked = session.pending()
    tried = [chance.choice(asked) for _ in range(chance.randint(2, 8))]
    same = chance.random() < 0.3
    replies = [_reply(session, one, 1 if same else number) for number, one in enumerate(tried)]
    before = session.book()
    starting_at = time.monotonic() + 0.004 + 0.001 * len(tried)
    children = [
        start(partial(_hand_in, path, one.step.id, reply, starting_at))
        for one, reply in zip(tried, replies, strict=True)
    ]
    said = [child.end().decode().strip() for child in children]
    counts = Counts({"rounds": 1})
    for name in {one.step.id for one in tried}:
        results = [result for one, result in zip(tried, said, strict=True) if one.step.id == name]
        lost = "already" if same else "refused"
        expect(sorted(results) == sorted(["won", *[lost] * (len(results) - 1)]), f"{name}: {results}")
        counts["steps won by exactly one"] += 1
        counts["losers told so"] += len(results) - 1
    _nothing_twice(RunStore(path).book(), before)
    return counts


def _reply(session: RunSession, one: PendingStep, seed: int) -> bytes:
    """A lawful reply, and another one for every seed whatever the script says."""
    return Script(seed=seed).reply(session.book(), one.step, one.brief.saw) + b" " * seed


def _nothing_twice(now: Book, before: Book) -> None:
    expect(now.events[: len(before.events)] == before.events, "nothing that stood was lost")
    replies = [event.step for event in now.events if event.call is not None]
    expect(len(replies) == len(set(replies)), "a step was answered twice")


def _hand_in(path: Path, name: str, content: bytes, starting_at: float, say: Say) -> None:
    session = RunSession(RunStore(path), standard, clock())
    time.sleep(max(0.0, starting_at - time.monotonic()))
    try:
        submitted = session.submit(name, content, Answer("host", "trusted"))
    except StepRefused:
        say("refused")
        return
    say("already" if submitted.already else "won")
