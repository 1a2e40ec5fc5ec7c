"""What each named variant of a protocol means: shown wherever a person chooses one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    "positions": "whether each role seals what it expects of a check; off is said before every verdict",
    "rejudge": "so many verdicts of a round are given a second time with the order swapped, to see whether they repeat",
    "rounds": "2: the revised plan is challenged again",
    "dispositions": "three: a criticism may also be escalated to a person",
    "members": "how many do the same side by side",
    "judges": "how many judge, the order swapped from one to the next",
    "rubric": "what is scored from 1 to 10: logic30 weighs logic and evidence 30 % each, evidence40 evidence 40 %",
    "scale": "the words of the verdict",
    "criteria": "which criteria are weighed",
    "analysts": "how many analyses are made",
    "reviewers": "how many reviewers sit on the panel",
    "voting": "by which of two published rules the votes are counted",
}
"""Variant → what it chooses."""
