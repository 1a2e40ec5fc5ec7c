"""Opening of a run that plays a tape: it takes the prompts of the recording, so that all briefs match (FORMAT 7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import msgspec

from ledger.state.book import Book
from rounds.setup.opening import Opening

ASKED_BY: Final = ("lengths", "positions", "rivals", "validate")
"""Rules that choose the steps and their wording."""


def on_tape(opening: Opening, tapes: Iterable[Book]) -> Opening:
    """Return the opening with the prompt set of the one recording that is played.

    Recordings of another protocol, several with different prompts, and one whose prompts are lost change nothing.
    """
    recordings = {tape.state.opening.prompt_set: tape for tape in tapes}
    # With two prompt sets there is no single right one, and the seats report the first brief that differs.
    if len(recordings) != 1:
        return opening
    ((prompts, tape),) = recordings.items()
    recorded, blob = tape.state.opening, tape.blobs.read(prompts)
    if blob is None or recorded.protocol != opening.event.protocol:
        return opening
    rules = {rule: value for rule, value in opening.event.rules.items() if rule not in ASKED_BY}
    rules |= {rule: recorded.rules[rule] for rule in ASKED_BY if rule in recorded.rules}
    event = msgspec.structs.replace(opening.event, rules=rules, prompt_set=prompts)
    # The installed prompts are dropped: a run holds the blobs that its events name, and no others.
    kept = {sha: content for sha, content in opening.blobs.items() if sha != opening.event.prompt_set}
    return replace(opening, event=event, blobs={**kept, prompts: blob})
