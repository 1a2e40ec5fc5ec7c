"""Ids of imported rows: kept when legal and unique, otherwise mapped; never by file order (FORMAT 3, FORMAT 12)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, Protocol, TypeVar

from ledger.events.ids import ID_PATTERNS, number_of, round_of
from ledger.interchange.report import MappedId


class Numberable(Protocol):
    """A row with an id and a round."""

    @property
    def id(self) -> str: ...
    @property
    def round(self) -> int: ...


LETTERS: Final = {"claim": "C", "verification": "V", "decision": "D", "concern": "N"}
"""Kind → what stands before the first dash of its ids."""

N = TypeVar("N", bound=Numberable)
Keyed = tuple[str, N]
"""A row behind its content in a fixed form."""


@dataclass(frozen=True, slots=True)
class Numbered(Generic[N]):
    """Rows with their ids in the order (round, number), and what became of ids that could not stay."""

    rows: tuple[tuple[str, N], ...]
    aliases: dict[str, str]
    mapped: tuple[MappedId, ...]

    def rounds(self) -> frozenset[int]:
        """The rounds that the rows name."""
        return frozenset(row.round for _, row in self.rows)

    def now(self, identity: str) -> str:
        """What a reference to `identity` means now."""
        return self.aliases.get(identity, identity)


@dataclass(slots=True)
class _Taken:
    """Which numbers a round has given out."""

    numbers: dict[int, set[int]] = field(default_factory=lambda: defaultdict[int, set[int]](set))

    def next(self, round_: int, wanted: int, floor: int) -> int:
        """`wanted` when it is free, else the first number behind all others and behind `floor`."""
        taken = self.numbers[round_]
        n = wanted if wanted and wanted not in taken else max([floor, *taken]) + 1
        taken.add(n)
        return n


def number_rows(
    file: str,
    kind: str,
    rows: Iterable[Keyed[N]],
    *,
    wanted: Callable[[N], int] = lambda _: 0,
    floor: int = 0,
) -> Numbered[N]:
    """Give every row an id of `kind`; one whose id cannot stay gets the number `wanted`, else one above `floor`."""
    pattern: Final = re.compile(ID_PATTERNS[kind] or "")
    waiting: list[tuple[N, str]] = []
    kept: dict[str, N] = {}
    taken = _Taken()
    for _, row in sorted(rows, key=lambda keyed: (keyed[1].round, keyed[1].id, keyed[0])):
        why = _why_not(pattern, row, kept)
        if why is None:
            kept[row.id] = row
            taken.numbers[row.round].add(number_of(row.id))
        else:
            waiting.append((row, why))
    numbered = list(kept.items())
    mapped: list[MappedId] = []
    aliases: dict[str, str] = {}
    for row, why in waiting:
        new = f"{LETTERS[kind]}-{row.round}-{taken.next(row.round, wanted(row), floor)}"
        mapped.append(MappedId(file=file, old=row.id, new=new, why=why))
        numbered.append((new, row))
        if row.id not in kept:
            aliases.setdefault(row.id, new)
    numbered.sort(key=lambda pair: (pair[1].round, number_of(pair[0])))
    return Numbered(tuple(numbered), aliases, tuple(mapped))


def _why_not(pattern: re.Pattern[str], row: N, kept: dict[str, N]) -> str | None:
    if not pattern.search(row.id):
        return "not a legal id"
    if round_of(row.id) != row.round:
        return f"its round is {row.round}"
    if row.id in kept:
        return "the id is taken by another row"
    return None


def unique(base: str, used: dict[str, int]) -> str:
    """`base`, or `base~2`, `base~3`, … when it was given out before (positions and flips)."""
    used[base] = used.get(base, 0) + 1
    return base if used[base] == 1 else f"{base}~{used[base]}"


def together(rows: Sequence[Keyed[N]]) -> dict[tuple[str, int], list[Keyed[N]]]:
    """Rows by (id, round), each list in the order of their content."""
    groups: dict[tuple[str, int], list[Keyed[N]]] = {}
    for keyed in sorted(rows, key=lambda keyed: keyed[0]):
        groups.setdefault((keyed[1].id, keyed[1].round), []).append(keyed)
    return groups
