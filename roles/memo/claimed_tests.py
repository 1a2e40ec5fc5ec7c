"""Claimed tests: sentences that say something was tested, run or measured."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from ledger.events.values import EvidenceClass

TESTS_CLAIMED: Final[tuple[tuple[re.Pattern[str], frozenset[EvidenceClass]], ...]] = (
    (
        re.compile(
            r"\b(tests?|programs?|experiments?|scripts?|benchmarks?|simulations?)\b[^.;]{0,60}?"
            r"\b((was|were|has been|have been) (run|executed|tried)|ran|held|passed|failed|showed|shows|confirmed)\b"
            r"|\b(we|i) (ran|executed|benchmarked|simulated)\b|\b(ran|running) it\b|\bwhen (run|executed)\b"
        ),
        frozenset({"reproduced", "ran", "measured"}),
    ),
    (
        re.compile(
            r"\b(we|i) measured\b|\b(was|were|has been|have been) measured\b|\bmeasurements? (show|confirm)"
        ),
        frozenset({"measured", "reproduced", "ran"}),
    ),
)
"""Words that claim a test was made, and the classes of which one must be cited."""
_NOT_MADE: Final = re.compile(
    r"\b(no|not|never|without|nobody|none|untested|if|should|would|could|must|can|will)\b|n['’]t\b"
)
"""Words by which a sentence says that there was no test, or that one is still to be made."""


def claimed_test(text: str, cited: Collection[str]) -> str | None:
    """Return the words by which a sentence claims a test that nothing it cites shows; None when there are none."""
    for clause in re.split(r"[.;:]", text.casefold()):
        for pattern, allowed in TESTS_CLAIMED:
            match = pattern.search(clause)
            if match and not _NOT_MADE.search(clause) and not allowed.intersection(cited):
                return match[0]
    return None
