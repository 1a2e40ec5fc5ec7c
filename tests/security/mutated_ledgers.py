"""Strange ledgers at every door: nothing ends with exit 70, shows a traceback, or spoils a page of another run."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from moot.mcp.rights import rights_in
from tests.protocols import playing
from tests.security.doors import READING, WRITING, Fault, Viewer, call, tools, verbs
from tests.security.strange_runs import donors, strange

GOOD: Final = "good"
CHECKED: Final = frozenset({0, 1, 2})
"""Exit codes of `check`: fine, broken rules, or a protocol that this moot does not have."""
SHARES: Final = 7
"""A ledger tries a share of the doors, by its seed; `check` and the pages of all runs are tried by each."""


class Trial:
    """A folder of runs with one good run, into which strange ones are put, one after the other."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._runs = folder, folder / "runs"
        self._donors = donors(folder / "donors")
        shutil.copytree(playing.played("ratchet"), self._runs / GOOD)
        (folder / "reply.json").write_text("{}")
        (folder / "secret.txt").write_text("ledger")
        self._viewer = Viewer(self._runs)
        self._good = self._viewer.get(f"/run/{GOOD}")
        self.token = rights_in(self._runs).token("strange", "operator")

    def ledger(self, seed: int) -> tuple[str, Counter[str], list[str]]:
        """Try the ledger of a seed: what was done to which run, what was counted, and every fault."""
        run = self._runs / "strange"
        shutil.rmtree(run, ignore_errors=True)
        said = strange(seed, self._donors, run)
        counts, faults = Counter({"ledgers": 1}), list[str]()
        for found in (*self._always(run), *self._share(run, seed % SHARES)):
            if isinstance(found, Fault):
                faults.append(f"seed {seed} ({said}): {found}")
            else:
                counts["calls"] += 1
                counts[found[0]] += 1
        for other in self._runs.iterdir():  # forks of it
            if other.name.startswith("strange."):
                shutil.rmtree(other)
        return said, counts, faults

    def _always(self, run: Path) -> Iterator[tuple[str, int] | Fault]:
        try:
            code, out, _ = call(("check", str(run)))
            if code not in CHECKED:
                yield Fault(f"check: exit {code}: {out[-300:]}")
            yield f"check: exit {code}", code
            for page in ("/", "/compare", f"/compare?a={GOOD}&b=strange"):
                status, html = self._viewer.get(page)
                if "?" not in page and (status != 200 or GOOD not in html):
                    yield Fault(f"{page}: {status}, without the good run")
                if page == "/" and "strange" not in html:
                    yield Fault("/ leaves the strange run out")
                yield "pages of all runs", status
            if self._viewer.get(f"/run/{GOOD}") != self._good:
                yield Fault("the good run's page is another one now")
        except Fault as fault:
            yield fault

    def _share(self, run: Path, share: int) -> Iterator[tuple[str, int] | Fault]:
        good = self._runs / GOOD
        if share == 0:
            yield from (one if isinstance(one, Fault) else ("calls over MCP", 0)
                        for one in tools(self._runs, "strange", GOOD, self.token))  # fmt: skip
        elif share == 1:
            names = {"step": "r1.draft.drafter", "identity": "@1"}
            yield from (one if isinstance(one, Fault) else ("pages of the run", one[1])
                        for one in self._viewer.pages("strange", names))  # fmt: skip
        elif share == 2:
            yield from _verbs(verbs(WRITING, run, good, self._folder))
        else:
            yield from _verbs(verbs(READING[share - 3 :: SHARES - 3], run, good, self._folder))


def _verbs(found: Iterator[tuple[str, int] | Fault]) -> Iterator[tuple[str, int] | Fault]:
    for one in found:
        yield one if isinstance(one, Fault) else ("verbs", one[1])


def tried(folder: Path, seeds: range) -> tuple[Counter[str], list[str]]:
    """The strange ledgers of some seeds: counts and faults."""
    trial, counts, faults = Trial(folder), Counter[str](), list[str]()
    for seed in seeds:
        _, more, broken = trial.ledger(seed)
        counts += more
        faults += broken
    return counts, faults
