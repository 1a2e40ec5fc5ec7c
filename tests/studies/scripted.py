"""Studies for tests: written as a person writes them, answered by script through host seats, and played from tape."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from ledger.store.store import RunStore
from moot.app.session import Session
from moot.studies.conduct import StudyState, conduct, standing_of
from moot.studies.definition import Study, read_study
from moot.studies.playing import JobEnd, Task, play
from moot.studies.units import last_of, units_of
from rounds.setup.deliberation import toml_value
from tests.protocols.scripts import reply
from tests.rounds.openings import DOCUMENT

INSTANT: Final = "2026-01-02T03:04:05.000000Z"
SEEDLESS: Final = ("single-pass", "devils-advocate", "adversarial", "ratchet", "council")
"""Protocols in which no seed chooses anything: a recording fits every repetition."""


class Here:
    """An engine without processes: jobs are played in this one, in the order in which they are given."""

    capacity = 1

    def __init__(self) -> None:
        self._open: list[Task] = []

    def submit(self, task: Task) -> None:
        """Begin a job."""
        self._open.append(task)

    def next_done(self) -> tuple[JobEnd, bytes]:
        """Play the first of them."""
        return play(self._open.pop(0))

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held."""


def written(
    folder: Path, arms: str, items: Iterable[str] = ("one", "two"), more: str = "", options: int = 3
) -> Study:
    """A study in a folder, with a document for every item."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = ", ".join(f'"option {n}"' for n in range(1, options + 1))
    rows = "".join(
        f'[[item]]\nid = "{item}"\nquestion = "Which storage keeps every line of {item}?"\n'
        f'goals = ["No line is lost"]\noptions = [{listed}]\n'
        f"context = [{{ name = 'facts.md', text = {toml_value(DOCUMENT.decode())} }}]\n\n"
        for item in items
    )
    head = f'[study]\nquestion = "Do they differ?"\nbaseline = "single"\n{more}\n'
    (folder / "study.toml").write_text(f"{head}\n{rows}{arms}", encoding="utf-8")
    return read_study(str(folder))


def arm(name: str, protocol: str, more: str = "") -> str:
    """A row for an arm."""
    return f'[[arm]]\nid = "{name}"\nprotocol = "{protocol}"\n{more}\n\n'


def conducted(
    study: Study, tell: Callable[..., object] = lambda *_: None, limit: int | None = None
) -> StudyState:
    """Play what is open, in this process."""
    with Here() as engine:
        return conduct(study, engine, tell, limit=limit)


def filled(study: Study) -> StudyState:
    """Answer a study with host seats by script until every run came out."""
    while True:
        found = conducted(study)
        asked = False
        for job in found.jobs:
            if job.name in found.begun or found.path(job.name).is_dir():
                asked = answered(Session(found.path(job.name))) or asked
        if not asked:
            return standing_of(study)


def answered(session: Session) -> bool:
    """Hand in scripted replies until nothing is open; whether any was asked."""
    run, asked = session.inner, False
    while open_now := run.pending():
        for one in open_now:
            content = reply(run.book(), one.step, one.brief.saw)
            session.submit(one.step.id, content)
            asked = True
    return asked


def taped(folder: Path, items: Iterable[str], more: str, arms: int = len(SEEDLESS)) -> Study:
    """A study whose first `arms` arms are played from recordings: answered by script, once, in a study of its own."""
    items = tuple(items)
    names = dict(zip(SEEDLESS, ("single", "devil", "adversarial", "ratchet", "council"), strict=True))
    names = dict(list(names.items())[:arms])
    plain = "".join(arm(name, protocol) for protocol, name in names.items())
    first = filled(written(folder / "first", plain, items))
    for unit in units_of(first.study):
        run = first.path(last_of(first.study, unit))
        shutil.copytree(run, folder / "tapes" / unit.arm / unit.item)
    played = "".join(
        arm(name, protocol, f'seats = "tape:{folder}/tapes/{name}/{{item}}"')
        for protocol, name in names.items()
    )
    return written(folder / "study", played, items, f'instant = "{INSTANT}"\n{more}')


def heads(found: StudyState) -> dict[str, bytes]:
    """The head of every run."""
    return {job.name: (found.path(job.name) / "head").read_bytes() for job in found.jobs}


def replies(found: StudyState) -> dict[str, dict[str | None, str]]:
    """The reply of every step of every run, by its hash; the same for a run that was stopped and went on."""
    return {
        job.name: {
            event.step: event.call.reply for event in RunStore(found.path(job.name)).events() if event.call
        }
        for job in found.jobs
    }
