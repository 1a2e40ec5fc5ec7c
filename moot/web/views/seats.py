"""Prompts and costs of the roles: seats, prompts block by block, isolation, cost by role and phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from ledger.events import Call, Event
from ledger.store.failures import LedgerError
from moot.view.costs import RunCosts, costs_of
from moot.view.seats import SeatTold, seats_told
from moot.web.followed import Followed, isolation_of
from moot.web.templating import paged
from roles.brief import BriefUnavailable, derive
from roles.prompt_set import PromptSetError, read_prompt_set
from roles.protocol import UNLAWFUL, find_step
from rounds.protocols import protocol_of

PAGE: Final = 200
BRIEF_RULE: Final = "BRF001"
UNAVAILABLE: Final = "BRIEF-UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class ReplyLine:
    """A reply with its prompt; `breach` says why the prompt cannot be reproduced, None if it can or was not checked."""

    event: Event
    call: Call
    breach: str | None

    @property
    def step(self) -> str:
        """Return its step, or its event when it answers no step."""
        return self.event.step or f"@{self.event.seq}"

    @property
    def filled(self) -> str:
        """Return the names of seat, provider and model."""
        return " ".join(part for part in (self.call.seat, self.call.provider, self.call.model) if part)

    @property
    def tokens(self) -> int | None:
        """Return input and output tokens together; None when neither is known."""
        known = [count for count in (self.call.tokens_in, self.call.tokens_out) if count is not None]
        return sum(known) if known else None

    @property
    def repairs(self) -> int:
        """Return how often the step was asked again."""
        return max(0, len(self.call.attempts) - 1)


@dataclass(frozen=True, slots=True)
class SeatsPage:
    """The page; `judged` says how the prompts were checked."""

    seats: tuple[SeatTold, ...]
    isolation: str
    costs: RunCosts
    replies: tuple[ReplyLine, ...]
    judged: str
    page: int
    pages: int
    found: int
    role: str


class BlockShown(msgspec.Struct, frozen=True):
    """A block of a prompt; a missing blob leaves it without `text`."""

    name: str
    sha256: str
    text: str | None = None


class BlocksNamed(msgspec.Struct, frozen=True):
    """The blocks of a prompt."""

    blocks: tuple[BlockShown, ...]


@dataclass(frozen=True, slots=True)
class BriefPage:
    """The page. `derived` is True when the prompt was reproduced with the recorded hash, None when that is unknown."""

    event: Event
    blocks: tuple[BlockShown, ...]
    kept: bool
    derived: bool | None
    why: str


def seats_page(run: Followed, *, role: str = "", page: int = 1, size: int = PAGE) -> SeatsPage:
    """Return seats and prompts."""
    replies = [(event, event.call) for event in run.book().events if event.call is not None]
    wanted = [(event, call) for event, call in replies if role in ("", event.by)]
    page, pages, rows = paged(wanted, page, size)
    judged, breaches = briefs_judged(run)
    return SeatsPage(
        seats=seats_told(run.book()),
        isolation=isolation_of(run),
        costs=costs_of(run.book()),
        replies=tuple(ReplyLine(event, call, breaches.get(event.seq)) for event, call in rows),
        judged=judged,
        page=page,
        pages=pages,
        found=len(wanted),
        role=role,
    )


def briefs_judged(run: Followed) -> tuple[str, Mapping[int, str]]:
    """Return how the prompts were checked, in words, and the failed ones by sequence number of the reply."""
    if run.opened.origin.type == "import":
        return "an import has no briefs", {}
    # The rulebook derives every prompt already, so its findings are used instead of deriving them again.
    report = run.checked()
    if report is None:
        return f"not judged: with {run.seq + 1} events the rules are run on the check page", {}
    # Without the prompt set no prompt can be derived: that is neither a pass nor a breach.
    unavailable = [finding for finding in report.findings if finding.code == UNAVAILABLE]
    if unavailable:
        return f"UNVERIFIED: {unavailable[0].message}", {}
    breaches = {
        finding.seq: finding.message
        for finding in report.findings
        if finding.code == BRIEF_RULE and finding.seq is not None
    }
    if breaches:
        return f"{len(breaches)} briefs do NOT come out again with the recorded hash", breaches
    return "every brief was derived again from the ledger and has the recorded hash", {}


def brief_page(run: Followed, step: str) -> BriefPage | None:
    """Return the prompt of an answered step, or None."""
    seq = run.state.answered.get(step)
    if seq is None:
        return None
    event = run.book().events[seq]
    assert event.call is not None, "an answered step has a call"
    named = _named_by(run, event.call.brief)
    derived, why = _derived(run, event, event.call)
    blocks = tuple(BlockShown(block.name, block.sha256, _text(run, block.sha256)) for block in named or ())
    return BriefPage(event, blocks, named is not None, derived, why)


def _named_by(run: Followed, sha256: str) -> tuple[BlockShown, ...] | None:
    """Return the blocks of a prompt; None when its blob is missing or not a prompt."""
    content = run.blobs.read(sha256)
    try:
        return None if content is None else msgspec.json.decode(content, type=BlocksNamed).blocks
    # The hash may name any blob in a ledger that was written by hand.
    except msgspec.MsgspecError:
        return None


def _text(run: Followed, sha256: str) -> str | None:
    content = run.blobs.read(sha256)
    return None if content is None else content.decode("utf-8", "replace")


def _derived(run: Followed, event: Event, call: Call) -> tuple[bool | None, str]:
    """Derive the prompt again from the ledger as it was, with the prompt set of the run."""
    if event.step is None:
        return None, "it belongs to no step"
    try:
        protocol = protocol_of(run.opened)
        # A prompt may cite only what was on the ledger when it was asked, so later events must be out of reach.
        before = run.book().first(event.seq)
        step = find_step(protocol, before.state, event.step)
        blob = run.blobs.read(run.opened.prompt_set)
        if step is None or blob is None:
            return None, "the step or the prompt set of the run is not there"
        brief = derive(before, protocol, step, read_prompt_set(blob))
    except (BriefUnavailable, PromptSetError, LedgerError) as error:
        return None, str(error)
    except UNLAWFUL:
        return None, "the ledger breaks rules that a brief is derived by"
    if brief.sha256 != call.brief:
        return False, f"it comes out as {brief.sha256}"
    # Equal words are not enough: `saw` also has to list exactly the events that the prompt quotes.
    return brief.saw == event.saw, "" if brief.saw == event.saw else "`saw` names other events than it quotes"
