"""A run as one HTML file that can be mailed: no script, no address outside, the same story as the viewer's pages.

Each thing is told once and linked from wherever it is named: a decision leads to the claims that it cites, a claim to
the checks that moved it, a check to the sentences that it quotes.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import quote

from markupsafe import Markup

from moot.view.round import CheckTold
from moot.view.story import Story, tell
from moot.web.followed import Followed
from moot.web.judged import briefs_of
from moot.web.links import ReportLinks
from moot.web.templating import render
from moot.web.views import claims as claim_views
from moot.web.views import seats as seat_views
from moot.web.views.overview import overview
from moot.web.views.report_sources import SourceShown, decisive_references, references_of, sources_shown
from moot.web.views.signals import signals_page
from moot.web.views.stage import stage_of

ALL: Final = 1_000_000
BRIEFS_SHOWN: Final = 2_000
BYTES_MAX: Final = 1_350_000
"""What a mail takes without complaint, with room for what the encoding of mail adds."""


def report_html(run: Followed) -> str:
    """The document; of a very long run only the sources that decisions rest on are in it."""
    story = tell(run.book())
    document = _document(run, story, references_of(story))
    if len(document.encode()) > BYTES_MAX:
        document = _document(run, story, decisive_references(story))
    return document


def _document(run: Followed, story: Story, references: tuple[str, ...]) -> str:
    checks = tuple(check for told in story.rounds for check in told.checks)
    sources = sources_shown(run, references)
    links = ReportLinks(_anchors(story, checks, sources))
    verdict, breaches = briefs_of(run)
    return render(
        "report.html",
        policy=policy(),
        style=style(),
        links=links,
        page=overview(run),
        story=story,
        checks=checks,
        claims=claim_views.claims(run, links, size=ALL, named=False),
        stages=tuple(stage_of(run, told.n) for told in story.rounds),
        signals=signals_page(run, links),
        seats=seat_views.seats_page(run, verdict, breaches, size=BRIEFS_SHOWN),
        sources=sources,
        head=(run.seq, run.head_hash),
        opened=run.state.opened,
    )


def _anchors(story: Story, checks: tuple[CheckTold, ...], sources: tuple[SourceShown, ...]) -> dict[str, str]:
    """Everything that has a place in the document."""
    ids = [claim.id for claim in story.claims]
    ids += [check.id for check in checks]
    ids += [decision.id for decision in story.decisions]
    ids += [concern.id for concern in story.concerns]
    anchors = {identity: quote(identity) for identity in ids}
    for source in sources:
        anchors[source.id] = quote(source.id)
        anchors |= source.anchors
    return anchors | {f"round-{told.n}": f"round-{told.n}" for told in story.rounds}


@cache
def style() -> Markup:
    """The viewer's own style sheet, with what only a document on paper needs."""
    folder = files("moot.web").joinpath("static")
    return Markup(
        folder.joinpath("style.css").read_text("utf-8") + folder.joinpath("report.css").read_text("utf-8")
    )


@cache
def policy() -> str:
    """What a browser allows the document: its own style, by its hash, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
