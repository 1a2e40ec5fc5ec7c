"""Fuzzed replies, import directories and deliberation files: taken or refused in words, at once, in bounded memory."""

from __future__ import annotations

import resource
from typing import Final

from tests.campaign.slices import Counts, expect, folder
from tests.security.test_fuzz import deliberations, imports, replies

REPLIES: Final = 480
IMPORTS: Final = 160
DELIBERATIONS: Final = 400
FIRST: Final = 1_000
KIBIBYTES_MAX: Final = 256 * 1024
"""How much a slice may add to the memory of its process."""


def fuzzed(index: int, slices: int) -> Counts:
    """The functions of the short test on seeds of this slice; they fail at a traceback, a wait or a write."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with folder() as place:
        accepted, refused = replies(place / "replies", _seeds(index, REPLIES))
        taken, left = imports(place, _seeds(index, IMPORTS))
    begun, broken = deliberations(_seeds(index, DELIBERATIONS))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    expect(grown < KIBIBYTES_MAX, f"{grown} KiB of memory more in slice {index} of {slices}")
    return Counts(
        {"inputs": accepted + refused + taken + left + begun + broken}
        | {"replies accepted": accepted, "replies refused": refused}
        | {"import directories taken": taken, "import directories refused": left}
        | {"deliberation files taken": begun, "deliberation files refused": broken}
    )


def _seeds(index: int, count: int) -> range:
    return range(FIRST + index * count, FIRST + (index + 1) * count)
