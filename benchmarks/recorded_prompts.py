"""What the prompts of a recorded run would read from the prefix cache, with briefs of one version or another.

The recorded replies are a language model's, of real length; the calls are not made again. Time passes as in the run of
a fast model: a quarter of a minute from group to group, a second from sibling to sibling.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ledger.events import RunOpened
from ledger.state.book import Book, book
from ledger.store.store import RunStore
from roles.brief import BriefCache, derive
from roles.prompt_set import installed_prompt_set, read_prompt_set
from roles.protocol import Step
from roles.seats.prompt import system_of, user_of
from rounds.protocols.structured import STRUCTURED_1 as STRUCTURED
from tests.fake_api.cache import Cache

RECORDED: Final = Path(__file__).resolve().parents[1] / "runs" / "examples" / "storage-standard-13"
GROUP_SECONDS, SIBLING_SECONDS = 15.0, 1.0


class Sent(NamedTuple):
    """Input tokens of a run: all of them, those read from the cache, and round 11 against round 4."""

    tokens: int
    read: int
    growth: float


def sent(version: int, path: Path = RECORDED) -> Sent:
    """The prompts of the recorded run with briefs of that version."""
    ledger = _with_briefs_of(version, RunStore(path).book())
    steps = _steps(ledger)
    installed = read_prompt_set(installed_prompt_set("structured"))
    prompt_set = {key: value for key, value in installed.items() if key != "layout"}  # the version's own
    memo, cache = BriefCache(), Cache()
    now, group, read = 0.0, ("", 0), 0
    by_round: Counter[int] = Counter()
    for event in ledger.events:
        step = steps.get(event.step or "")
        if event.call is None or step is None:
            continue
        brief = derive(ledger, STRUCTURED, step, prompt_set, memo)
        body = {
            "model": "any",
            "system": system_of(brief),
            "messages": [{"role": "user", "content": user_of(brief)}],
        }
        now += SIBLING_SECONDS if (step.group, event.round) == group else GROUP_SECONDS
        group = (step.group, event.round)
        found = cache.account(body, now)
        cache.begun(found.writes, now)
        by_round[event.round] += found.uncached + found.read + found.written
        read += found.read
    return Sent(by_round.total(), read, by_round[11] / by_round[4])


def _with_briefs_of(version: int, ledger: Book) -> Book:
    opened = ledger.events[0]
    assert isinstance(opened, RunOpened), "a run begins with its opening"
    return book(
        [msgspec.structs.replace(opened, brief_version=version), *ledger.events[1:]], ledger.store.blobs
    )


def _steps(ledger: Book) -> dict[str, Step]:
    state = ledger.state
    groups = (group for round_ in sorted(state.rounds) for group in STRUCTURED.groups(state, round_))
    return {step.id: step for group in groups for step in group.steps}
