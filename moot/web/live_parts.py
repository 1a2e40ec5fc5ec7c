"""The live page in parts, each with an id: what changed is sent alone, and the page puts it where the old one was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

from ledger.store.store import read_driver
from moot.view.event_log import event_lines
from moot.view.scene import scene_of
from moot.web.followed import Followed
from moot.web.links import Links
from moot.web.run_index import standing_of
from moot.web.shown_labels import labels_shown
from moot.web.speech import Heard
from moot.web.templating import render
from moot.web.views.stage import Stage, stage_of

LINES_MAX: Final = 60

Parts = Mapping[str, Markup]
"""Id of an element → what stands in it."""


def parts_of(run: Followed, links: Links, asked: Mapping[str, Heard]) -> dict[str, Markup]:
    """Every part of the live page as the run stands now."""
    state = run.state
    scene = scene_of(run.book(), {}, None, sources=run.sources)
    standing = standing_of(state, driven=read_driver(run.path) is not None)
    labels = tuple(
        label for label in labels_shown(run) if label.kind != "UNFINISHED" or standing == "stopped"
    )
    stage = stage_of(run, state.round, asked) if state.round in state.rounds else None
    shown = {"scene": scene, "stage": stage, "links": links, "standing": standing}
    parts = {
        "live-labels": render("part_labels.html", labels=labels),
        "live-head": render("part_head.html", **shown),
        "live-panel": render("part_panel.html", **shown),
    }
    return {name: Markup(html) for name, html in {**parts, **_seats(stage, links)}.items()}


def _seats(stage: Stage | None, links: Links) -> dict[str, str]:
    if stage is None:
        return {}
    columns = {f"live-seat-{n}": one for n, one in enumerate(stage.columns)}
    columns |= {f"live-bench-{n}": one for n, one in enumerate(stage.bench)}
    drawn = {
        name: render("part_column.html", column=one, stage=stage, links=links)
        for name, one in columns.items()
    }
    return drawn | {"live-house": render("part_house.html", acts=stage.house, links=links)}


def lines_of(run: Followed, links: Links, after: int) -> list[tuple[int, str]]:
    """The lines of what came after event `after`, as a terminal would print them: (seq, HTML), at most the last 60."""
    events = run.book().events[max(0, after + 1, run.seq + 1 - LINES_MAX) :]
    found: list[tuple[int, str]] = []
    for event in events:
        book = run.round_book(event.round) if event.phase != "close" else run.book()
        lines = list(event_lines(book, event))
        if lines:
            found.append((event.seq, render("part_line.html", lines=lines, seq=event.seq, links=links)))
    return found
