"""Ids, step ids and references: their grammar (FORMAT 3, FORMAT 4). No other file makes or takes apart an id.

C-3-4              the fourth claim of round 3
P-3-1-critic       the critic's position on check 1 of round 3
O-2, G-1, K-1      the second option, the first goal, the first document: they count over the whole run
r3.E.check1.verifier
A-3-critic#attack-2, K-1#L10-L20
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final, Literal, NamedTuple

from ledger.events.kinds import KINDS

_ROLE = r"[a-z][a-z0-9_]{0,31}"
_N = r"[1-9][0-9]*"
_ROUND = r"(0|[1-9][0-9]{0,3})"
_PARTS: Final = {
    "round": _ROUND,
    "n": _N,
    "phase": r"[A-Za-z][A-Za-z0-9_]{0,23}",
    "act": r"(-[a-z][a-z0-9_]{0,31})?",
    "role": _ROLE,
    "repeat": r"(~([2-9]|[1-9][0-9]+))?",
}
"""Part of an id's form → the pattern of its text."""

Label = Literal["goal", "option", "document"]
LABELS: Final[Mapping[str, str]] = {"goal": "G", "option": "O", "document": "K"}
"""What the opening or the agenda labels → its letter."""
_KIND_OF: Final = {row.letter: kind for kind, row in KINDS.items() if row.id} | {
    letter: label for label, letter in LABELS.items()
}
MENTION: Final = r"[A-Z]{1,2}-[0-9]+(?:-[A-Za-z0-9_]+)*"
"""Pattern of what looks like an id in a text, without `~` and what follows."""
OPTION_MENTION: Final = rf"{LABELS['option']}-[0-9]+"
DECISION_MENTION: Final = rf"{KINDS['decision'].letter}-[0-9]+-[0-9]+"
ARTIFACT_MENTION: Final = rf"{KINDS['artifact'].letter}-[0-9]+-[a-z][a-z0-9_]*"

_STEP: Final = re.compile(
    rf"r(?P<round>0|[1-9][0-9]{{0,3}})\.(?P<phase>[A-Za-z][A-Za-z0-9_]{{0,23}})"
    rf"(?:\.(?P<act>[a-z][a-z0-9_]{{0,31}}))?\.(?P<role>{_ROLE})(?:~(?P<repeat>[2-9]|[1-9][0-9]+))?"
)
_DOCUMENT_LINES: Final = re.compile(r"(K-[1-9][0-9]*)#L([1-9][0-9]*)(?:-L([1-9][0-9]*))?")


@cache
def id_pattern(kind: str) -> str | None:
    """Return the pattern of the ids of a kind; None for a kind without ids."""
    form = KINDS[kind].id
    return f"^{form.format_map(_PARTS)}$(?!\\n)" if form else None


def event_id(kind: str, round_: int, *parts: object, repeat: int = 1) -> str:
    """Return the id of an event from the parts of its kind's form; parts that are None are left out."""
    named = "".join(f"-{part}" for part in parts if part is not None)
    return f"{KINDS[kind].letter}-{round_}{named}{_again(repeat)}"


def label_id(what: Label, n: int) -> str:
    """Return the label of a goal, an option or a document."""
    return f"{LABELS[what]}-{n}"


def kind_of(identity: str) -> str:
    """Return the kind of event, or the label, that an id names by its letter; empty for another text."""
    letter, dash, _ = identity.partition("-")
    return _KIND_OF.get(letter, "") if dash else ""


def cite_type(identity: str) -> str:
    """Return what the cite of a decision calls the thing that an id names."""
    kind = kind_of(identity)
    return (KINDS[kind].cited_as if kind in KINDS else "") or kind


def is_id(text: str) -> bool:
    """Return whether `text` is the id of an event, or the label of a goal, an option or a document."""
    kind = kind_of(text)
    pattern = rf"^[GOK]-{_N}$" if kind in LABELS else id_pattern(kind) if kind else None
    return pattern is not None and re.search(pattern, text) is not None


def is_event_name(text: str) -> bool:
    """Return whether `text` can name what a run holds: an id or a label, perhaps with a part (`#…`), or @SEQ."""
    name = text.partition("#")[0]
    return re.fullmatch(r"@(0|[1-9][0-9]*)", name) is not None or is_id(name)


def _again(repeat: int) -> str:
    return f"~{repeat}" if repeat > 1 else ""


class StepName(NamedTuple):
    """Parts of a step id; `act` and `repeat` are None and 1 when absent."""

    round: int
    phase: str
    act: str | None
    role: str
    repeat: int = 1

    def __str__(self) -> str:
        act = f".{self.act}" if self.act else ""
        return f"r{self.round}.{self.phase}{act}.{self.role}{_again(self.repeat)}"


def parse_step(text: str) -> StepName | None:
    """Return the parts of a step id, or None when it is not one."""
    match = _STEP.fullmatch(text)
    if match is None:
        return None
    return StepName(
        int(match["round"]), match["phase"], match["act"], match["role"], int(match["repeat"] or 1)
    )


class Reference(NamedTuple):
    """Parts of `<id>#<section>`; lines are 1-based and inclusive, only for context documents."""

    id: str
    section: str | None = None
    lines: tuple[int, int] | None = None


def parse_reference(text: str) -> Reference:
    """Split a reference. Whether it resolves depends on the ledger."""
    match = _DOCUMENT_LINES.fullmatch(text)
    if match:
        first = int(match[2])
        return Reference(match[1], None, (first, int(match[3] or first)))
    identity, _, section = text.partition("#")
    return Reference(identity, section or None)


@lru_cache(4_096)
def round_of(identity: str) -> int | None:
    """Return the round number inside an id (`C-3-4` → 3), None for ids without one."""
    parts = identity.split("-")
    # Goals, options and documents count over the whole run, so their number is not a round.
    is_label = kind_of(identity) in LABELS
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() and not is_label else None


def number_of(identity: str) -> int:
    """Return the n of a numbered id (`C-3-4` → 4); 0 when it has none."""
    parts = identity.split("-")
    return int(parts[2]) if len(parts) > 2 and parts[2].isdigit() else 0


def repeat_of(identity: str) -> int:
    """Return the number after `~` of an id (`B-2-critic~3` → 3); 1 when it has none."""
    _, _, repeat = identity.partition("~")
    return int(repeat) if repeat.isdigit() else 1


def role_of(identity: str) -> str:
    """Return the role at the end of an id (`P-3-1-critic~2` → critic); for positions and flips."""
    return identity.rpartition("-")[2].partition("~")[0]
