"""An earlier decision as a document of a new run: `--from RUN` or `--from RUN:D-4-1`."""

from __future__ import annotations

import re
from typing import Final

from ledger.events import Decision
from ledger.events.ids import DECISION_MENTION
from ledger.plain_text import one_line
from moot.app.run import Run
from moot.app.runs import find_run
from moot.documents import decision_record
from moot.errors import usage
from moot.run_view import RunView

DECISION: Final = re.compile(rf"(.+):({DECISION_MENTION})")


def earlier_decision(reference: str) -> dict[str, str]:
    """Return a row of `[[context]]`: the decision record, which begins with its source.

    Raises `MootError` when the run or the decision does not exist, or nothing was decided.
    """
    # The pattern takes the last `:D-…`, so a run's path may contain colons of its own.
    named = DECISION.fullmatch(reference)
    run = Run(find_run(named[1] if named else reference))
    book, name = run.book, run.path.resolve().name
    only = named[2] if named else None
    if only is not None and not isinstance(book.by_id.get(only), Decision):
        known = ", ".join(book.state.decisions) or "none"
        raise usage(f"no decision {only!r} in that run", f"decisions there: {known}", "--from")
    if not book.state.decisions:
        raise usage("nothing was decided in that run", "finish it first: `moot status`", "--from")
    # The decision record names run and head, so the new run records exactly what it started from.
    text = decision_record(RunView(book, name), run.head, only)
    if only is not None:
        decision = book.by_id[only]
        assert isinstance(decision, Decision)
        text += f"\n## Where this starts\n\n{only}: {one_line(decision.text)}\n"
    return {"name": f"decision-of-{name}.md", "text": text}
