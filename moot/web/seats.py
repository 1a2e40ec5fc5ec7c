"""Prompts of the roles: how the replies' prompts were checked, and one prompt block by block."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

import moot
from ledger.events import Call, Event
from ledger.plain_json import NotJson, decoded
from ledger.state.book import Book
from ledger.store.failures import LedgerError
from moot.run_view import RunView
from moot.view.seats import costs_of, seats_told
from moot.web.templating import paged
from roles.brief import BriefUnavailable, derive
from roles.prompt_set import PromptSetError, read_prompt_set
from roles.protocol import UNLAWFUL, find_step
from rounds.protocols import protocol_of

if TYPE_CHECKING:
    from validators.rulebook import CheckReport

PAGE: Final = 200
RULES_EVENTS_MAX: Final = 3_000
"""Events beyond which the rules take long, and run only on request."""
BRIEF_RULE: Final = "BRF001"
UNAVAILABLE: Final = "BRIEF-UNAVAILABLE"
_CHECKING: Final = threading.Lock()


def checked(view: RunView, *, anyway: bool = False) -> CheckReport | None:
    """Return every rule that the ledger breaks, as `moot check` does, computed once per head.

    None when the run is so long that the rules only run on request.
    """
    if view.path is None or (len(view.book.events) > RULES_EVENTS_MAX and not anyway):
        return None
    # One at a time: visitors of the same run would otherwise all ask the same rules.
    with _CHECKING:
        facts = view.book.facts
        if "rules" not in facts:
            facts["rules"] = moot.check(view.path)
        report: CheckReport = facts["rules"]
        return report


def seats_page(view: RunView, *, role: str = "", page: int = 1, size: int = PAGE) -> dict[str, Any]:
    """Return seats and costs, and a page of replies, each with why its prompt cannot be reproduced, if so."""
    wanted = [event for event in view.book.events if event.call is not None and role in ("", event.by)]
    page, pages, rows = paged(wanted, page, size)
    judged, breaches = briefs_judged(view)
    return {
        "seats": seats_told(view.book),
        "costs": costs_of(view.book),
        "replies": [(event, breaches.get(event.seq)) for event in rows],
        "judged": judged,
        "all_derived": judged == ALL_DERIVED,
        "page": page,
        "pages": pages,
        "found": len(wanted),
        "role": role,
    }


ALL_DERIVED: Final = "every brief was derived again from the ledger and has the recorded hash"


def briefs_judged(view: RunView) -> tuple[str, Mapping[int, str]]:
    """Return how the prompts were checked, in words, and the failed ones by sequence number of the reply."""
    if view.book.state.is_import:
        return "an import has no briefs", {}
    # The rulebook derives every prompt already, so its findings are used instead of deriving them again.
    report = checked(view)
    if report is None:
        return f"not judged: with {len(view.book.events)} events the rules are run on the check page", {}
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
    return ALL_DERIVED, {}


class NamedBlock(msgspec.Struct, frozen=True):
    """A block that a prompt lists."""

    name: str
    sha256: str


class BlockList(msgspec.Struct, frozen=True):
    """What is read of a prompt's blob."""

    blocks: tuple[NamedBlock, ...]


def brief_page(book: Book, event: Event, call: Call) -> dict[str, Any]:
    """Return the prompt of a reply. `derived` says whether it was reproduced; None when that is unknown."""
    manifest = book.blobs.read(call.brief)
    try:
        named = None if manifest is None else decoded(manifest, BlockList).blocks
    # The hash may name any blob in a ledger that was written by hand.
    except NotJson:
        named = None
    derived, why = _derived(book, event, call)
    blocks = [(block, book.blobs.read(block.sha256)) for block in named or ()]
    texts = [(block, None if text is None else text.decode("utf-8", "replace")) for block, text in blocks]
    return {"event": event, "blocks": texts, "kept": named is not None, "derived": derived, "why": why}


def _derived(book: Book, event: Event, call: Call) -> tuple[bool | None, str]:
    """Derive the prompt again from the ledger as it was, with the prompt set of the run."""
    if event.step is None:
        return None, "it belongs to no step"
    opening = book.state.opening
    try:
        protocol = protocol_of(opening)
        # A prompt may cite only what was on the ledger when it was asked, so later events must be out of reach.
        before = book.first(event.seq)
        step, blob = find_step(protocol, before.state, event.step), book.blobs.read(opening.prompt_set)
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
