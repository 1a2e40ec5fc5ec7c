"""A run that plays a tape is opened with the prompts of the recording, for every brief must be the same (FORMAT 7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import msgspec

from ledger.state.book import Book
from rounds.setup.opening import Opening

ASKED_BY: Final = ("prompts", "positions", "programs", "rivals", "validate", "frame")
"""Rules that choose what is asked and in which words."""


def on_tape(opening: Opening, tapes: Iterable[Book]) -> Opening:
    """The opening with the prompt set and the versions of format, protocol and brief of the one recording
    that is played.

    Recordings of another protocol, several with different prompts, and one whose prompts are lost change nothing.
    """
    found = {
        (one.prompt_set, one.protocol_version, one.brief_version): tape
        for tape in tapes
        if (one := tape.state.opened) is not None
    }
    if len(found) != 1:
        return opening
    ((prompts, protocol_version, brief_version), tape), *_ = found.items()
    recorded, blob = tape.state.opened, tape.blobs.read(prompts)
    if blob is None or recorded is None or recorded.protocol != opening.event.protocol:
        return opening
    rules = {rule: value for rule, value in opening.event.rules.items() if rule not in ASKED_BY}
    rules |= {rule: recorded.rules[rule] for rule in ASKED_BY if rule in recorded.rules}
    event = msgspec.structs.replace(
        opening.event,
        rules=rules,
        v=recorded.v,
        prompt_set=prompts,
        protocol_version=protocol_version,
        brief_version=brief_version,
        # Version 1 knows no profile of today.
        stop=opening.event.stop if recorded.v == opening.event.v else recorded.stop,
    )
    kept = {sha: content for sha, content in opening.blobs.items() if sha != opening.event.prompt_set}
    thresholds = tape.blobs.read(event.stop.params) if event.stop.params else None
    kept |= {} if thresholds is None else {event.stop.params: thresholds}
    return replace(opening, event=event, blobs={**kept, prompts: blob})
