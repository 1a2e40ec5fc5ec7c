"""A file system that forgets: from a recorded trace of writes and syncs, every state that a power failure may leave.

What a sync of a file or directory covered is there. Of the rest each write may be there, not there, cut off or filled
with zeros, in part or whole, and each new name in a directory may be there or not, in any combination: no order is
promised among things that were not synced. A sync that failed proves nothing, and neither does the next one.

Bytes that are overwritten inside one sector are an exception: the disk has the old or the new ones (`Node.is_atomic`).
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from tests.campaign.calls import Real, refused

SECTOR_BYTES: Final = 512
STATES_OF_AN_INSTANT_MAX: Final = 4_000
Variant = tuple[str, int]
"""What became of a write: `all`, `none`, `zeros`, or `cut`, `zeros after`, `zeros before` a byte."""


@dataclass(slots=True)
class Write:
    """Bytes written at an offset of a file."""

    offset: int
    content: bytes


@dataclass(slots=True)
class Cut:
    """A file cut to a size."""

    size: int


@dataclass(slots=True)
class Names:
    """Names of a directory that change at one stroke: to a node, or to nothing."""

    changes: tuple[tuple[str, Node | None], ...]


Change = Write | Cut | Names


@dataclass(slots=True, eq=False)
class Node:
    """A file or directory: what is durable, and what was done since, each `free`, `lost` or `kept`."""

    is_directory: bool
    content: bytes = b""
    names: dict[str, Node] = field(default_factory=dict)
    live: dict[str, Node] = field(default_factory=dict)
    pending: list[tuple[Change, Literal["free", "lost", "kept"]]] = field(default_factory=list)

    def sync(self) -> None:
        """Everything that was not lost before is durable now."""
        self.pending = [(one, "lost" if state == "lost" else "kept") for one, state in self.pending]
        if all(state == "kept" for _, state in self.pending):
            for one, _ in self.pending:
                self.content, self.names = applied(self.content, self.names, one, ("all", 0))
            self.pending = []

    def sync_failed(self) -> None:
        """The kernel holds as clean the bytes that the disk never got; a size is the journal's, and synced later."""
        self.pending = [
            (one, "lost" if state == "free" and isinstance(one, Write) else state)
            for one, state in self.pending
        ]

    def is_atomic(self, change: Change) -> bool:
        """Whether a change overwrites durable bytes inside one sector, which a disk writes whole or not at all."""
        if not isinstance(change, Write):
            return False
        end = change.offset + len(change.content)
        return end <= len(self.content) and change.offset // SECTOR_BYTES == (end - 1) // SECTOR_BYTES

    def nodes(self) -> Iterator[Node]:
        """This one and whatever is or may be below it."""
        yield self
        below = {id(one): one for one in (*self.names.values(), *self.live.values())}
        for change, _ in self.pending:
            if isinstance(change, Names):
                below |= {id(one): one for _, one in change.changes if one is not None}
        for one in below.values():
            yield from one.nodes()


def applied(
    content: bytes, names: dict[str, Node], change: Change, variant: Variant
) -> tuple[bytes, dict[str, Node]]:
    """A node after a change that came through in some way."""
    how, at = variant
    if how == "none":
        return content, names
    match change:
        case Cut(size):
            return content[:size].ljust(size, b"\0"), names
        case Names(changes):
            after = dict(names)
            for name, node in changes:
                after.pop(name, None)
                if node is not None:
                    after[name] = node
            return content, after
        case Write(offset, whole):
            zeros = bytes(len(whole))
            new = {
                "all": whole,
                "zeros": zeros,
                "cut": whole[:at],
                "zeros after": whole[:at] + zeros[at:],
                "zeros before": zeros[:at] + whole[at:],
            }[how]
            return content[:offset].ljust(offset, b"\0") + new + content[offset + len(new) :], names


def variants(node: Node, change: Change, rng: random.Random, cuts: int) -> list[Variant]:
    """What may become of a change; a write is torn at every sector and at some other bytes."""
    ways: list[Variant] = [("none", 0), ("all", 0)]
    if isinstance(change, Write) and not node.is_atomic(change):
        size = len(change.content)
        sectors = {at - change.offset % SECTOR_BYTES for at in range(SECTOR_BYTES, size, SECTOR_BYTES)}
        places = {at for at in sectors if 0 < at < size}
        places |= {rng.randrange(1, size) for _ in range(cuts)} if size > 1 else set()
        ways.append(("zeros", 0))
        ways += [(how, at) for at in sorted(places) for how in ("cut", "zeros after", "zeros before")]
    return ways


class Recorder:
    """Sees the calls on files below `base`, and keeps what a power failure could make of them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = loaded(base)
        self.fail_sync_at = -1
        self._syncs = 0
        self._open: dict[int, tuple[Node, bool, int]] = {}

    def see(self, name: str, real: Real, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """For `Watched`: the real call, and what it means for the disk."""
        if name in ("fsync", "fdatasync"):
            return self._sync(name, real, arguments[0])
        before = (
            self._node(arguments[0]) if name in ("open", "mkdir", "unlink", "rename", "replace") else None
        )
        result = real(*arguments, **named)
        match name:
            case "open" if isinstance(result, int):
                self._opened(result, before, *arguments)
            case "open":
                assert "r" in str(arguments[1:] or "r"), "the store writes through descriptors"
            case "write":
                self._written(arguments[0], bytes(arguments[1])[:result])
            case "lseek" if arguments[0] in self._open:
                node, appends, _ = self._open[arguments[0]]
                self._open[arguments[0]] = node, appends, arguments[1]
            case "ftruncate" if arguments[0] in self._open:
                self._open[arguments[0]][0].pending.append((Cut(arguments[1]), "free"))
            case "mkdir":
                self._named(arguments[0], Node(is_directory=True))
            case "unlink":
                self._named(arguments[0], None)
            case "rename" | "replace":
                self._renamed(*arguments)
            case "close":
                self._open.pop(arguments[0], None)
        return result

    def _sync(self, name: str, real: Real, descriptor: int) -> None:
        known = self._open.get(descriptor)
        if known is not None:
            self._syncs += 1
            if self._syncs - 1 == self.fail_sync_at and not known[0].is_directory:
                known[0].sync_failed()
                raise refused(5, name)
            known[0].sync()
        real(descriptor)

    def _opened(self, descriptor: int, node: Node | None, path: Any, flags: int, *_: Any) -> None:
        self._open.pop(descriptor, None)  # a file object may have closed what had this number before
        if not self._is_inside(path):
            return
        if node is None:
            node = Node(is_directory=False)
            self._named(path, node)
        elif flags & os.O_TRUNC:
            node.pending.append((Cut(0), "free"))
        self._open[descriptor] = node, bool(flags & os.O_APPEND), 0

    def _written(self, descriptor: int, content: bytes) -> None:
        if descriptor not in self._open:
            return
        node, appends, offset = self._open[descriptor]
        offset = os.fstat(descriptor).st_size - len(content) if appends else offset
        node.pending.append((Write(offset, content), "free"))
        self._open[descriptor] = node, appends, offset + len(content)

    def _named(self, path: Any, node: Node | None) -> None:
        if not self._is_inside(path):
            return
        directory, name = self._node(Path(path).parent), Path(path).name
        assert directory is not None, "a name is given in a directory"
        directory.pending.append((Names(((name, node),)), "free"))
        directory.live.pop(name, None)
        if node is not None:
            directory.live[name] = node

    def _renamed(self, source: Any, target: Any) -> None:
        directory, node = self._node(Path(source).parent), self._node(source)
        assert directory is not None, "what is renamed was there"
        assert Path(source).parent == Path(target).parent, "the store renames inside a directory"
        changes = ((Path(source).name, None), (Path(target).name, node))
        directory.pending.append((Names(changes), "free"))
        _, directory.live = applied(b"", directory.live, Names(changes), ("all", 0))

    def _is_inside(self, path: Any) -> bool:
        return not isinstance(path, int) and Path(path).is_relative_to(self.base)

    def _node(self, path: Any) -> Node | None:
        if not self._is_inside(path):
            return None
        node: Node | None = self.root
        for part in Path(path).relative_to(self.base).parts:
            node = node.live.get(part) if node is not None else None
        return node


def loaded(path: Path) -> Node:
    """What is at `path`, durable."""
    if path.is_file():
        return Node(is_directory=False, content=path.read_bytes())
    below = {one.name: loaded(one) for one in path.iterdir()}
    return Node(is_directory=True, names=below, live=dict(below))


Files = dict[str, bytes | None]
"""A state on disk: path → bytes, None for a directory."""


def states(root: Node, rng: random.Random, cuts: int) -> Iterator[Files]:
    """What may be on the disk when the power fails now: every combination, or so many of them when there are more."""
    nodes = list({id(one): one for one in root.nodes()}.values())
    open_ones = [
        (node, place, variants(node, change, rng, cuts))
        for node in nodes
        for place, (change, state) in enumerate(node.pending)
        if state != "kept"
    ]
    ways = [some for _, _, some in open_ones]
    if math.prod(len(some) for some in ways) <= STATES_OF_AN_INSTANT_MAX:
        chosen: Iterator[tuple[Variant, ...]] = itertools.product(*ways)
    else:
        drawn = (tuple(rng.choice(some) for some in ways) for _ in range(STATES_OF_AN_INSTANT_MAX))
        plain = itertools.product(*(some[:2] for some in ways))
        chosen = itertools.chain(itertools.islice(plain, STATES_OF_AN_INSTANT_MAX), drawn)
    for combination in chosen:
        choice = {
            (id(node), place): how for (node, place, _), how in zip(open_ones, combination, strict=True)
        }
        files: Files = {}
        _collect(root, "", choice, files)
        yield files


def _collect(node: Node, path: str, choice: dict[tuple[int, int], Variant], files: Files) -> None:
    content, names = node.content, node.names
    for place, (change, _) in enumerate(node.pending):
        content, names = applied(content, names, change, choice.get((id(node), place), ("all", 0)))
    if not node.is_directory:
        files[path] = content
        return
    files[path] = None
    for name, below in names.items():
        _collect(below, f"{path}/{name}", choice, files)
