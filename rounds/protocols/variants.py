"""Named variants of protocols: the values of each, and its meaning wherever a person chooses one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MEANINGS: Final[Mapping[str, str]] = {
    "positions": "what each role seals before the checks: what it would answer now, or what it expects of each check",
    "rivals": "spread tells each role which option its claim of a round is about, those tested least first",
    "validate": "when the rules are asked; after each phase an error holds the run up until it is mended or overridden",
    "lengths": "how long texts may be; published asks for the lengths of the source, about twice as long",
    "rounds": "2: the revised plan is challenged again",
    "memo": "whether a role writes the answer for people; off gives the leader",
    "stakes": "what a wrong answer costs: high tests more and never stops after one answer, low tests less",
    "wait": "whether the run waits for a person's answer; off ends with the question open",
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
"""Meaning of each variant, as shown to people."""

RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "positions": ("beliefs", "sealed", "off"),
    "rivals": ("spread", "free"),
    "validate": ("phase", "round"),
    "lengths": ("short", "published"),
    "rounds": ("1", "2"),
    "memo": ("on", "off"),
    "stakes": ("low", "normal", "high"),
    "wait": ("on", "off"),
    "dispositions": ("two", "three"),
    "judges": ("1", "2", "3", "4", "5"),
    "rubric": ("logic30", "evidence40"),
    "voting": ("documented", "shipped"),
    "scale": ("approve_reject", "green_amber_red", "ready_fixes_rethink"),
    "analysts": ("2", "3", "4", "5"),
    "criteria": ("architecture", "vendor", "tool", "strategy"),
    "members": ("3", "5", "9", "17", "33", "65"),
    "reviewers": ("2", "3", "4", "5"),
}
"""Named variants that `[rules]` can choose, each with all values that some protocol has."""
