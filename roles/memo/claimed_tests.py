"""Detect sentences that claim that something was tested, run or measured."""

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
"""Pattern that claims a test → evidence classes of which the sentence must cite one."""
# A clause with one of these words denies a test, or asks for one, so it claims none.
_NOT_MADE: Final = re.compile(
    r"\b(no|not|never|without|nobody|none|untested|if|should|would|could|must|can|will)\b|n['’]t\b"
)


def claimed_test(text: str, cited: Collection[str]) -> str | None:
    """Return the words that claim a test which no cited class supports; None when there are none."""
    # A negation counts within its clause only: "We ran it; no error came" still claims a test.
    for clause in re.split(r"[.;:]", text.casefold()):
        for pattern, allowed in TESTS_CLAIMED:
            match = pattern.search(clause)
            if match and not _NOT_MADE.search(clause) and not allowed.intersection(cited):
                return match[0]
    return None
