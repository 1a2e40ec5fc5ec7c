"""Which installed distributions own a top-level import name."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path

OURS = ("detectors", "ledger", "moot", "roles", "rounds", "schemas", "validators")


def owners(name: str, path: Sequence[Path] | None = None) -> set[str]:
    """Names of the distributions that install `name`, in `path` (default: wherever this Python looks)."""
    if path is None:
        return _installed().get(name, set())
    found = distributions(path=[str(folder) for folder in path])
    return {distribution.name for distribution in found if name in _top_level_names(distribution)}


@cache
def _installed() -> dict[str, set[str]]:
    """Return the distributions of this Python by the names that they own, read once: their lists are long."""
    owned: dict[str, set[str]] = {}
    for distribution in distributions():
        for name in _top_level_names(distribution):
            owned.setdefault(name, set()).add(distribution.name)
    return owned


def _top_level_names(distribution: Distribution) -> Iterator[str]:
    # top_level.txt is older than wheels and optional; the list of files is what an import would find.
    yield from (distribution.read_text("top_level.txt") or "").split()
    # A large distribution lists ten thousand files, and `Distribution.files` makes an object of each.
    record = distribution.read_text("RECORD")
    paths = map(str, distribution.files or ()) if record is None else record.splitlines()
    for path in {"/".join(path.partition(",")[0].split("/")[:2]) for path in paths}:
        first, slash, _ = path.partition("/")
        if slash or first.endswith((".py", ".so", ".pyd")):
            yield first.partition(".")[0]
