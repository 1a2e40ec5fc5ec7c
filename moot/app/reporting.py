"""A run written down as one Markdown document, whatever its protocol."""

from __future__ import annotations

import moot
from ledger.store.failures import BlobMissing
from moot.api import Run
from rounds.protocols import is_watched


def markdown(ours: Run) -> str:
    """The run as one Markdown document."""
    from moot.view.hindsight import hindsight
    from moot.view.report import report as written
    from moot.view.report import short_report
    from moot.view.story import tell

    opened = ours.state.opened
    if opened is not None and not is_watched(opened):
        return short_report(tell(ours.book), ours.head, ours.book)
    try:
        read = moot.signals(ours)
    except BlobMissing:
        read = None  # the report says so, and holds what the ledger holds
    return written(tell(ours.book), read, ours.head, hindsight(ours.book))
