"""Ids, step ids and references: their grammar (FORMAT 3, FORMAT 4).

C-3-4              the fourth claim of round 3
P-3-1-critic       the critic's position on check 1 of round 3
r3.E.check1.verifier
A-3-critic#attack-2, K-1#L10-L20
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

_ROLE = r"[a-z][a-z0-9_]{0,31}"
_N = r"[1-9][0-9]*"
_ROUND = r"(0|[1-9][0-9]{0,3})"
_REPEAT = r"(~([2-9]|[1-9][0-9]+))?"
_END = r"$(?!\n)"

_NUMBERED = rf"-{_ROUND}-{_N}{_END}"

ID_PATTERNS: Final[dict[str, str | None]] = {
    "statement": rf"^S-{_ROUND}-[A-Za-z][A-Za-z0-9_]{{0,23}}(-[a-z][a-z0-9_]{{0,31}})?-{_ROLE}{_REPEAT}{_END}",
    "artifact": rf"^A-{_ROUND}-{_ROLE}{_REPEAT}{_END}",
    "claim": "^C" + _NUMBERED,
    "concern": "^N" + _NUMBERED,
    "assumption": "^Q" + _NUMBERED,
    "argument": "^R" + _NUMBERED,
    "challenge": "^X" + _NUMBERED,
    "response": "^Y" + _NUMBERED,
    "decision": "^D" + _NUMBERED,
    "position": rf"^P-{_ROUND}-{_N}-{_ROLE}{_REPEAT}{_END}",
    "flip": rf"^F-{_ROUND}-{_N}-{_ROLE}{_REPEAT}{_END}",
    "verification": "^V" + _NUMBERED,
    "drift_check": rf"^H-{_ROUND}{_REPEAT}{_END}",
    "belief": rf"^B-{_ROUND}-{_ROLE}{_REPEAT}{_END}",
    "experiment_planned": "^E" + _NUMBERED,
    "memo": rf"^M-{_ROUND}{_REPEAT}{_END}",
    "vote": rf"^VO-{_ROUND}-{_N}-{_ROLE}{_END}",
}
"""Kind → pattern of its id. Kinds that are absent here have no id."""

_STEP: Final = re.compile(
    rf"r(?P<round>0|[1-9][0-9]{{0,3}})\.(?P<phase>[A-Za-z][A-Za-z0-9_]{{0,23}})"
    rf"(?:\.(?P<act>[a-z][a-z0-9_]{{0,31}}))?\.(?P<role>{_ROLE})(?:~(?P<repeat>[2-9]|[1-9][0-9]+))?"
)
_DOCUMENT_LINES: Final = re.compile(r"(K-[1-9][0-9]*)#L([1-9][0-9]*)(?:-L([1-9][0-9]*))?")


def is_event_name(text: str) -> bool:
    """Return whether `text` can name an event: an id of any kind, perhaps with a part (`#…`), or @SEQ."""
    name = text.partition("#")[0]
    if re.fullmatch(r"@(0|[1-9][0-9]*)", name):
        return True
    return any(pattern is not None and re.search(pattern, name) for pattern in ID_PATTERNS.values())


class StepName(NamedTuple):
    """Parts of a step id; `act` and `repeat` are None and 1 when absent."""

    round: int
    phase: str
    act: str | None
    role: str
    repeat: int = 1

    def __str__(self) -> str:
        act = f".{self.act}" if self.act else ""
        repeat = f"~{self.repeat}" if self.repeat > 1 else ""
        return f"r{self.round}.{self.phase}{act}.{self.role}{repeat}"


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
    return (
        # Goals, options and documents count over the whole run, so their number is not a round.
        int(parts[1]) if len(parts) > 1 and parts[1].isdigit() and parts[0] not in ("G", "O", "K") else None
    )


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
