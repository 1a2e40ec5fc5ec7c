"""A run written down as one Markdown document, whatever its protocol."""

from __future__ import annotations

import moot
from ledger.store.failures import BlobMissing
from moot.api import Run
from rounds.protocols import is_watched


def markdown(ours: Run, *, full: bool = False) -> str:
    """The run as one Markdown document of three pages; `full` has its record, every event once."""
    from moot.view.hindsight import hindsight
    from moot.view.report import full_report, report
    from moot.view.story import tell

    story, name, watched = tell(ours.book), str(ours.path), is_watched(ours.state.opening)
    looked_back = hindsight(ours.book) if watched else None
    if full:
        return full_report(story, ours.book, ours.head, looked_back, run=name)
    try:
        read = moot.signals(ours) if watched else None
    except BlobMissing:
        read = None  # the report says so, and holds what the ledger holds
    return report(story, ours.book, ours.head, read, looked_back, watched=watched, run=name)
