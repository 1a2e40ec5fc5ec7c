"""REF002, error, published rule 2: the evidence of a verification points at something that is there.

At a section of an earlier event or at lines of a context document; in an import at a file that came with it, where a
missing one is a warning. Closes the holes that sections were never looked up, that `#x` pointed at the folder, and
that inapplicable checks could point anywhere. Source: SD-49 (2), SD-50, FORMAT 2 (`Ref`), FORMAT 12.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Verification
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule


def check(docket: Docket) -> Iterator[Breach]:
    """Evidence that does not resolve."""
    files = (
        frozenset(_bare(entry.name) for entry in docket.opened.context) if docket.opened else frozenset[str]()
    )
    for event in docket.events:
        if not isinstance(event, Verification):
            continue
        refs = dict.fromkeys(evidence.ref for evidence in event.evidence_refs)
        lost = [ref for ref in refs if docket.passages(ref, event.seq) is None]
        if event.by != "import" and lost:
            what = "no section of an earlier event and no document's lines"
            yield Breach(event.seq, f"{event.id}: {', '.join(map(repr, lost))}: {what}")
        missing = [repr(ref) for ref in lost if _bare(ref.partition("#")[0]) not in files]
        if event.by == "import" and missing:
            yield Breach(
                event.seq, f"{event.id}: no file came with this import for {', '.join(missing)}", "warning"
            )


def _bare(path: str) -> str:
    return path.strip().removeprefix("./")


RULE: Final = Rule(
    code="REF002",
    name="evidence_resolves",
    severity="error",
    summary="The evidence of a verification points at a section or at lines that are there.",
    check=check,
    published=2,
)
