"""The live page: who is asked now, and each part of the page with an id, so that what changed is sent alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from ledger.store.failures import LedgerError
from ledger.store.store import read_driver
from moot.app.speech import read_speech
from moot.view.events import event_lines
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
    """The steps that are open, each since the commit that opened it; none when the protocol is not known here."""
    opened = run.state.opened
    if opened is None or run.state.closing is not None:
        return {}
    try:
        protocol = protocol_of(opened)
        steps = open_steps(protocol, run.state)
        group = find_group(protocol, run.state, steps[0].id) if steps else None
    except (LedgerError, *UNLAWFUL):
        return {}
    since = _opened_at(run, {step.id for step in group.steps} if group else set())
    driven = read_driver(run.path) is not None
    speech = read_speech(run.path) if driven else None
    spoken = {one.step: one for one in speech.asked} if speech else {}
    asked: dict[str, LiveStep] = {}
    for step in steps:
        one = spoken.get(step.id)
        if one is not None:
            words = "" if step.name.act == "position" else readable(one.words)
            asked[step.id] = LiveStep(step.name, one.since, words)
        elif not spoken:
            asked[step.id] = LiveStep(step.name, since, waits=not driven)
    return asked


def readable(words: str) -> str:
    """The end of a reply, which is JSON, without what makes it JSON."""
    prose = _SYNTAX.sub("", _KEY.sub("", words)).replace("\\n", "\n").replace('\\"', '"')
    return prose.strip(" ,\n")


def _opened_at(run: Followed, siblings: set[str]) -> str:
    """The instant of the last event that none of the siblings wrote: it opened their group."""
    events = run.book().events
    return next((event.at for event in reversed(events) if event.step not in siblings), events[0].at)


def parts_of(run: Followed, links: SiteLinks) -> dict[str, Markup]:
    """Every part of the live page as the run stands now: id of an element → what stands in it."""
    state = run.state
    standing = standing_of(run)
    labels = tuple(one for one in labels_shown(run) if one.kind != "UNFINISHED" or standing == "stopped")
    page = round_page(run, state.round, asked_now(run)) if state.round in state.rounds else None
    scene = scene_of(run.book(), {}, None, sources=run.sources)
    made = parts(links)
    return {
        "live-labels": made.label_badges(labels),
        "live-verdict": made.verdict_line(standing, outcome_of(str(run.path), run.book()), scene),
        "live-earlier": made.earlier([line for line in round_lines(run) if line.n < state.round]),
        "live-head": made.round_head(page, standing),
        "live-panel": made.panel(scene),
        **_seats(page, made),
    }


def _seats(page: RoundPage | None, made: Any) -> dict[str, Markup]:
    if page is None:
        return {}
    columns = {f"live-seat-{n}": one for n, one in enumerate(page.columns)}
    columns |= {f"live-bench-{n}": one for n, one in enumerate(page.bench)}
    drawn = {name: made.column(one, newest_first=True) for name, one in columns.items()}
    return drawn | {"live-house": made.house(page.house)}


def lines_of(run: Followed, links: Links, after: int) -> list[tuple[int, str]]:
    """The lines of what came after event `after`, as a terminal would print them: (seq, HTML), at most the last 60."""
    rows: list[tuple[int, str]] = []
    made = parts(links)
    for event in run.book().events[max(0, after + 1, run.seq + 1 - LINES_MAX) :]:
        book = run.round_book(event.round) if event.phase != "close" else run.book()
        lines = list(event_lines(book, event))
        if lines:
            rows.append((event.seq, made.line(lines, event.seq)))
    return rows
