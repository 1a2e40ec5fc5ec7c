"""Damaged files of every format at the command line, and damaged messages at the MCP server."""

from __future__ import annotations

from typing import Final

from tests.campaign.slices import Counts, expect, folder
from tests.security import mutated_files, mutated_messages

FILES: Final = 190
MESSAGES: Final = 10
PROCESSES_EVERY: Final = 10
"""One round of all formats in so many starts a process for each call."""
FIRST: Final = 100_000


def mutated(index: int, slices: int) -> Counts:
    """Read the files and messages of this slice's seeds; no call may crash, hang, or take much memory."""
    first = FIRST + index * (FILES + MESSAGES)
    with folder() as place:
        read, faults = mutated_files.tried(
            place / "files", range(first, first + FILES), processes_every=PROCESSES_EVERY
        )
        (place / "runs").mkdir()
        seeds = range(first + FILES, first + FILES + MESSAGES)
        answered, more = mutated_messages.tried(place / "runs", seeds)
    expect(not faults + more, "\n".join([f"slice {index} of {slices}", *faults, *more]))
    return Counts(read + answered)
