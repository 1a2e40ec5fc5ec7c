"""Runs for tests: openings, a clock that counts, and whole scripted deliberations."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections.abc import Sequence
from pathlib import Path

from detectors.parameters import SignalProfile, params_bytes, params_hash
from ledger.events import RunOpened
from ledger.events.run import (
    Budgets,
    CastMember,
    ContextDocument,
    Labelled,
    Origin,
    PlanRow,
    StopRule,
)
from roles.prompt_set import installed_prompt_set
from rounds.protocols import plans
from rounds.run.driver import Drive, DriveEnd
from rounds.run.session import Clock, RunSession, start
from rounds.run.verdicts import standard
from tests.rounds.scripted import Script, ScriptedSeat

ROLES = ("action", "guardian", "observer", "critic", "verifier")
DOCUMENT = b"one writer\nmany readers\nno lost line\n"


def clock() -> Clock:
    """Instants one microsecond apart."""
    ticks = itertools.count(1)
    return lambda: f"2026-01-01T00:00:00.{next(ticks):06d}Z"


def opening(
    plan: str | Sequence[PlanRow] = "minimum-8",
    *,
    budgets: Budgets | None = None,
    positions: str = "sealed",
    profile: SignalProfile = "published",
    params: bytes | None = None,
) -> tuple[RunOpened, dict[str, bytes]]:
    """An opening and its blobs; with `params` it has thresholds of its own."""
    if params is not None:
        profile = "gates"
    kept = {}
    if profile == "gates":
        thresholds = params or params_bytes(profile)
        kept = {hashlib.sha256(thresholds).hexdigest(): thresholds}
    rows = plans.PLANS[plan] if isinstance(plan, str) else tuple(plan)
    prompts = installed_prompt_set("structured")
    document = hashlib.sha256(DOCUMENT).hexdigest()
    event = RunOpened(
        round=0,
        phase="open",
        by="controller",
        protocol="structured",
        question="Which storage keeps every line?",
        goals=(Labelled(id="G-1", text="No line is lost"), Labelled(id="G-2", text="Easy to read")),
        options=(Labelled(id="O-1", text="three streams"), Labelled(id="O-2", text="one journal")),
        context=(ContextDocument(id="K-1", name="facts.md", sha256=document, bytes=len(DOCUMENT)),),
        cast=tuple(CastMember(role=role, title=role, charge=f"be {role}", seat="command") for role in ROLES),
        plan=rows,
        predict=plans.default_predictions([row.absent for row in rows if row.absent]),
        stop=StopRule(
            profile=profile,
            params=next(iter(kept), params_hash(profile)),
            check_every=3,
            not_before=plans.obeyed_from(plan if isinstance(plan, str) else "", rows),
        ),
        budgets=budgets or Budgets(),
        prompt_set=hashlib.sha256(prompts).hexdigest(),
        seed=0,
        rules={"positions": positions, "lengths": "short"},
        origin=Origin(type="new"),
        moot="0.1.0",
    )
    return event, {event.prompt_set: prompts, document: DOCUMENT, **kept}


def begin(
    path: Path,
    plan: str | Sequence[PlanRow] = "minimum-8",
    *,
    budgets: Budgets | None = None,
    positions: str = "sealed",
    profile: SignalProfile = "published",
    params: bytes | None = None,
) -> RunSession:
    """A session on a new run at `path`, without the cost of syncing."""
    event, blobs = opening(plan, budgets=budgets, positions=positions, profile=profile, params=params)
    return start(path, event, blobs=blobs, files={}, verdicts=standard, clock=clock())


def play(session: RunSession, script: Script | None = None) -> DriveEnd:
    """Drive a session to its end by script."""
    seat = ScriptedSeat(session, script or Script())
    return asyncio.run(Drive(session, dict.fromkeys(ROLES, seat), monotonic=lambda: 0.0).run())


def rows(
    count: int, *, absent: dict[int, str] | None = None, drift: Sequence[int] = ()
) -> tuple[PlanRow, ...]:
    """A short plan: `count` rounds, the last one followed by S."""
    found = [
        PlanRow(
            round=n,
            absent=(absent or {}).get(n),
            drift=n in drift,
            phases=(*plans.NORMAL, "H") if n in drift else plans.NORMAL,
        )
        for n in range(1, count + 1)
    ]
    return tuple(found)
