"""The live page: the open steps, and the page in parts with ids, so that only changed parts are sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from ledger.store.failures import LedgerError
from ledger.store.store import read_driver
from moot.app.speech import read_speech
from moot.view.event_lines import event_lines
from moot.view.outcome import outcome_of
from moot.view.scene import scene_of
from moot.web.followed import Followed, labels_shown, standing_of
from moot.web.links import Links, SiteLinks
from moot.web.templating import parts
from moot.web.views.rounds import LiveStep, RoundPage, round_lines, round_page
from roles.protocol import UNLAWFUL, find_group, open_steps
from rounds.protocols import protocol_of

LINES_MAX: Final = 60
_KEY: Final = re.compile(r'"[a-z_]{1,40}"\s*:\s*')
_SYNTAX: Final = re.compile(r'[{}\[\]]|(?<!\\)"')


def asked_now(run: Followed) -> Mapping[str, LiveStep]:
    """Return the open steps, each with its start time; empty when the protocol is unknown to this version."""
    if run.state.closing is not None:
        return {}
    try:
        protocol = protocol_of(run.state.opening)
        steps = open_steps(protocol, run.state)
        group = find_group(protocol, run.state, steps[0].id) if steps else None
    except (LedgerError, *UNLAWFUL):
        return {}
    since = _opened_at(run, {step.id for step in group.steps} if group else set())
    # A driver that was killed leaves its `speech` file behind, which would show steps as being answered.
    driven = read_driver(run.path) is not None
    speech = read_speech(run.path) if driven else None
    spoken = {entry.step: entry for entry in speech.asked} if speech else {}
    asked: dict[str, LiveStep] = {}
    for step in steps:
        heard = spoken.get(step.id)
        if heard is not None:
            # `speech` leaves positions out already; an older driver or another program may not.
            words = "" if step.name.act == "position" else readable(heard.words)
            asked[step.id] = LiveStep(step.name, heard.since, words)
        elif not spoken:
            asked[step.id] = LiveStep(step.name, since, waits=not driven)
    return asked


def readable(words: str) -> str:
    """Return the end of a reply, which is JSON, without its JSON syntax."""
    # Not parsed: a reply that is still arriving is not valid JSON yet.
    prose = _SYNTAX.sub("", _KEY.sub("", words)).replace("\\n", "\n").replace('\\"', '"')
    return prose.strip(" ,\n")


def _opened_at(run: Followed, siblings: set[str]) -> str:
    """Return the time of the last event that none of the siblings wrote: it opened their group."""
    events = run.book().events
    return next((event.at for event in reversed(events) if event.step not in siblings), events[0].at)


def parts_of(run: Followed, links: SiteLinks) -> dict[str, Markup]:
    """Return the content of every part of the live page, by the id of its element."""
    state = run.state
    standing = standing_of(run)
    labels = tuple(
        label for label in labels_shown(run) if label.kind != "UNFINISHED" or standing == "stopped"
    )
    page = round_page(run, state.round, asked_now(run)) if state.round in state.rounds else None
    scene = scene_of(run.book(), {}, None, sources=run.sources)
    macros = parts(links)
    return {
        "live-labels": macros.label_badges(labels),
        "live-verdict": macros.verdict_line(standing, outcome_of(str(run.path), run.book()), scene),
        "live-earlier": macros.earlier([line for line in round_lines(run) if line.n < state.round]),
        "live-head": macros.round_head(page, standing),
        "live-panel": macros.panel(scene),
        **_seats(page, macros),
    }


def _seats(page: RoundPage | None, macros: Any) -> dict[str, Markup]:
    if page is None:
        return {}
    columns = {f"live-seat-{n}": column for n, column in enumerate(page.columns)}
    columns |= {f"live-bench-{n}": column for n, column in enumerate(page.bench)}
    drawn = {name: macros.column(column, newest_first=True) for name, column in columns.items()}
    return drawn | {"live-house": macros.house(page.house)}


def lines_of(run: Followed, links: Links, after: int) -> list[tuple[int, str]]:
    """Return the last 60 lines at most after event `after`, as a terminal would print them: (seq, HTML)."""
    rows: list[tuple[int, str]] = []
    macros = parts(links)
    # Lines older than the last 60 would be scrolled away at once.
    for event in run.book().events[max(0, after + 1, run.seq + 1 - LINES_MAX) :]:
        book = run.round_book(event.round) if event.phase != "close" else run.book()
        lines = list(event_lines(book, event))
        if lines:
            rows.append((event.seq, macros.line(lines, event.seq)))
    return rows
