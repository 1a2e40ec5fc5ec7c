"""`moot run` killed at random instants: no answered step is asked again, a second driver is refused."""

from __future__ import annotations

import os
import random
import time
from functools import partial
from pathlib import Path
from typing import Final

from ledger.audit.verify import verify
from ledger.store.failures import DriverBusy
from ledger.store.lock import DriverLease, read_driver
from ledger.store.store import RunStore
from moot.__main__ import main
from roles.seats.port import Request, SeatReply
from roles.seats.tape import TapeSeat
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.campaign.acts import Say
from tests.campaign.forks import Child, start
from tests.campaign.slices import Counts, expect, folder
from tests.rounds.openings import begin, clock, play, rows
from tests.rounds.scripted import Script
from validators import rulebook

KILLS: Final = 25
"""A slice."""
SECONDS_MAX: Final = 0.6
PLAN: Final = rows(2, absent={2: "critic"})


def killed(index: int, slices: int) -> Counts:
    """Start `moot run --resume` on a tape, kill it, start it again, until there were enough kills; then to the end."""
    chance, counts = random.Random(f"{index} of {slices}"), Counts()
    with folder() as place:
        tape = place / "tape"
        play(begin(tape, PLAN), Script(seed=index))
        while counts["kills"] < KILLS:
            path = place / f"run-{counts['kills']}"
            begin(path, PLAN)
            while counts["kills"] < KILLS and not RunStore(path).book().state.finished:
                counts += _killed_once(path, tape, chance)
            _to_the_end(path, tape)
            counts["runs that ended whole"] += 1
    return counts


def _killed_once(path: Path, tape: Path, chance: random.Random) -> Counts:
    before = RunStore(path).book()
    child = _start(path, tape, chance.choice([0.0, 0.002, 0.01]))
    time.sleep(chance.uniform(0.01, SECONDS_MAX))
    counts = Counts({"second drivers refused": _second_driver_is_refused(path, child)})
    asked = set(child.kill().decode().split("\n")[:-1])
    counts["kills"] += 1
    printed = path.with_suffix(".said")
    said = printed.read_text("utf-8", "replace") if printed.exists() else ""
    printed.unlink(missing_ok=True)
    expect("Traceback" not in said, said)
    report = verify(path)
    expect(report.ok, f"{report.problems}")
    after = RunStore(path).book()
    expect(after.events[: len(before.events)] == before.events, "what stood is lost")
    expect(not asked & set(before.state.answered), f"asked again: {asked & set(before.state.answered)}")
    expect(read_driver(path) is None, "a dead driver is taken for a living one")
    counts["steps asked before a kill"] += len(asked)
    counts["steps answered before a kill"] += len(after.state.answered) - len(before.state.answered)
    return counts


def _second_driver_is_refused(path: Path, child: Child) -> bool:
    """Whether the child held the lease; then nobody else gets it."""
    try:
        with DriverLease(path):
            return False  # it had not begun to drive, or was done
    except DriverBusy as error:
        expect(str(child.pid) in error.what or "another process" in error.what, error.what)
        return True


def _start(path: Path, tape: Path, delay_seconds: float) -> Child:
    return start(partial(_run, path, tape, delay_seconds))


def _run(path: Path, tape: Path, delay_seconds: float, say: Say) -> None:
    """In a child: the verb as a person starts it. What it prints goes to a file beside the run; every step that its
    seats are asked for is said."""
    reply = TapeSeat.reply

    async def heard(seat: TapeSeat, request: Request) -> SeatReply:
        say(request.step.id)
        return await reply(seat, request)

    TapeSeat.reply = heard  # type: ignore[method-assign, assignment]  # the process ends with this call
    printed = os.open(path.with_suffix(".said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    for descriptor in (1, 2):
        os.dup2(printed, descriptor)
    os.environ["MOOT_TAPE_DELAY_SECONDS"] = str(delay_seconds)
    code = main(["run", "--resume", str(path), "--seats", f"tape:{tape}", "--no-live"])
    say(f"code {code}")


def _to_the_end(path: Path, tape: Path) -> None:
    said = _start(path, tape, 0.0).end()
    expect(
        said.endswith(b"code 0\n"),
        f"{said!r}: {path.with_suffix('.said').read_text('utf-8', 'replace')[-2_000:]}",
    )
    session = RunSession(RunStore(path), standard, clock())
    book = session.book()
    expect(book.state.finished and verify(path).ok, "the run ends whole")
    report = rulebook.check(book, session.verdicts.context())
    expect(report.ok, f"{report.findings}")
    recorded = RunStore(tape).book()
    expect(list(book.by_id) == list(recorded.by_id), "the same events as without kills")
    expect(set(book.state.answered) == set(recorded.state.answered), "every step was answered")
