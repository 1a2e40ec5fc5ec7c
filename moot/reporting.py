"""A run written down as one Markdown document, whatever its protocol."""

from __future__ import annotations

import moot
from moot.api import Run


def markdown(ours: Run) -> str:
    """The run as one Markdown document."""
    from moot.render.hindsight import hindsight
    from moot.render.report import report as written
    from moot.render.report import short_report
    from moot.render.telling import tell

    opened = ours.state.opened
    if opened is not None and opened.protocol != "structured":
        return short_report(tell(ours.book), ours.head, ours.book.events)
    return written(tell(ours.book), moot.signals(ours), ours.head, hindsight(ours.book))
