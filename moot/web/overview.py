"""Values of a run's pages: the heading of all, the first page, stop checks, seats, and one prompt block by block."""

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
from moot.view.seats import costs_of, seats_of
from moot.web.templating import paged
from roles.brief import BriefUnavailable, derive
from roles.prompt_set import PromptSetError, read_prompt_set
from roles.protocol import UNLAWFUL, find_step
from rounds.protocols import protocol_of

if TYPE_CHECKING:
    from validators.rulebook import CheckReport


from collections import Counter

from markupsafe import Markup

from detectors.course import Series, course
from detectors.observations import deliberation_rounds
from detectors.signals import exact_slope, slope_alarm
from ledger.events import Claim, Decision, DriftCheck, Ruling, Score, Standing, Verification
from ledger.events.run import Labelled
from ledger.state.decided import final_in_force, outcome
from ledger.store.lock import read_driver
from moot.view.annexes_judging import scores_of
from moot.view.claims import DecisionView, tell_decision
from moot.view.events import words_of
from moot.view.experiments import experiments_of
from moot.view.grounds import sources_of
from moot.view.labels import Label, calls_of, labels_of_run
from moot.view.seats import answered_by, one_family_warning
from moot.view.stop_checks import why_it_stopped
from moot.view.text import numbers
from moot.web.drawing import disagreement, small_bars
from moot.web.rounds import round_lines, round_shown
from moot.web.templating import Links
from rounds.protocols import is_watched

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
        "seats": seats_of(view.book),
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


def signals_page(view: RunView, links: Links) -> dict[str, Any]:
    """Return the signals of a run. `alarms` are those that were raised, each with what closed it."""
    book, state, now = view.book, view.book.state, view.signals
    tallies = deliberation_rounds(state)
    # A round without a role is an experiment on the group: its verdicts say nothing about the trend.
    calm = [(tally.round, tally.disagreement) for tally in tallies if not tally.stress]
    slope = float(exact_slope(calm)) if len(calm) > 1 else None
    # An alarm names the one that it closes by sequence number, since a failure mode may alarm more than once.
    closed = {alarm.closes: alarm for alarm in state.alarms if alarm.action == "closed"}
    return {
        "now": now,
        # A chart of a single round shows nothing that its number does not.
        "courses": [_drawn(series) for series in course(state)] if now and len(tallies) > 1 else [],
        "lacks_parameters": now is None and is_watched(state.opening),
        "looks": state.looks,
        "chart": disagreement(tallies, slope, links) if tallies else None,
        "slope": slope,
        "fading": slope_alarm(state) if tallies else None,
        "alarms": [(alarm, closed.get(alarm.seq)) for alarm in state.alarms if alarm.action == "raised"],
        "drift": book.of(DriftCheck),
        "options": [_option(book, option) for option in state.opening.options],
    }


def _drawn(series: Series) -> tuple[str, Markup, str]:
    """Return the name of a number, a small chart of it over the rounds, and the numbers, R1 first."""
    # Shares are drawn against 1, so that two charts compare; counts only against their own maximum.
    known = [value for value in series.values if value is not None]
    top = 1.0 if series.share else max(known, default=0.0)
    listed = numbers(series.values, series.share)
    return series.name, small_bars(series.values, top, f"{series.name} by round: {listed}"), listed


def _option(book: Book, option: Labelled) -> dict[str, Any]:
    """Return an option with its claims by status, verdicts by result, decisions, and what judges said."""
    claims = [event for event in book.of(Claim) if option.id in event.about]
    judged: list[Score | Standing] = [*book.of(Score), *book.of(Standing)]
    return {
        "option": option,
        "claims": Counter(book.state.claims[event.id].status for event in claims),
        "verdicts": Counter(event.result for event in book.of(Verification) if option.id in event.about),
        "decisions": [event.id for event in book.of(Decision) if option.id in event.about],
        "judged": [words_of(event, book) for event in judged if event.of == option.id],
    }


DECISIONS_SHOWN: Final = 8
SHORT_ROUNDS: Final = 3
SHORT_EVENTS: Final = 120


def heading(view: RunView) -> dict[str, Any]:
    """Return what every page of a run and its report show."""
    state = view.book.state
    return {
        "view": view,
        "book": view.book,
        "state": state,
        "opened": state.opening,
        "closing": state.closing,
        "labels": labels_shown(view),
        "standing": standing_of(view),
        "why": why_it_stopped(state),
        "seq": state.seq,
        "isolation": isolation_of(view),
    }


def standing_of(view: RunView) -> str:
    """Return `finished`, `stopped`, `imported`, `running` while a process drives it, else `waiting`."""
    state = view.book.state
    if state.finished:
        return "finished"
    if state.is_import:
        return "imported"
    if state.stopped_by is not None:
        return "stopped"
    # A driver holds a lock while it lives, so a crashed one counts as gone.
    return "running" if view.path is not None and read_driver(view.path) is not None else "waiting"


def labels_shown(view: RunView) -> tuple[Label, ...]:
    """Return the labels of a run, the gravest first; the last counts replies from seats that were not isolated."""
    labels, calls = labels_of_run(view.book), calls_of(view.book.events)
    if not calls.trusted:
        return labels
    text = (
        f"{calls.trusted} of {calls.all} replies came from seats that could have read more than their brief; "
        "the ledger proves what each brief contained, not what else was known"
    )
    return (*labels, Label("UNVERIFIED", text))


def isolation_of(view: RunView) -> str:
    """Return how far the seats were isolated, in words that claim no more than the ledger proves."""
    calls = calls_of(view.book.events)
    if not calls.all:
        return ""
    text = f"{calls.enforced} of {calls.all} replies came from seats that got the brief and nothing else (enforced)"
    if calls.trusted:
        text += f"; {calls.trusted} from seats that could have read more (trusted, unverified)"
    if calls.continued:
        text += f"; {calls.continued} in a continued context"
    return text + "."


def overview(view: RunView) -> dict[str, Any]:
    """Return what a run's first page shows besides its heading and its outcome."""
    book, state = view.book, view.book.state
    seats, opened = seats_of(book), state.opening
    question, _, more = opened.question.strip().partition("\n")
    final, rounds = final_in_force(state), sorted(state.rounds)
    # Without a final decision the latest round decision comes first: it is the closest to an answer.
    listed = outcome(state) if final else outcome(state)[::-1]
    # A short run is read on one page; a click for each of two rounds would only be in the way.
    is_short = 0 < len(rounds) <= SHORT_ROUNDS and state.seq <= SHORT_EVENTS
    return {
        "question": question,
        "more_question": more.strip(),
        "answered_by": answered_by(seats) if not state.is_import else "an import does not say",
        "one_family": one_family_warning(seats),
        "decided": [_decision(view, identity) for identity in listed[:DECISIONS_SHOWN]],
        "overturned": [
            _decision(view, identity)
            for identity, facts in state.decisions.items()
            if facts.type == "final" and facts.overturned_by is not None
        ],
        # Decisions that are shown without a final one must not look like the answer.
        "undecided": bool(listed) and not final,
        "hidden_decisions": max(0, len(listed) - DECISIONS_SHOWN),
        "rulings": [words_of(event, book) for event in book.of(Ruling)],
        "scores": scores_of(book),
        "rounds": round_lines(state),
        "shown_rounds": [round_shown(view, number) for number in rounds if is_short],
        "claims": Counter(claim.status for claim in state.claims.values()),
        "costs": costs_of(book),
        "experiments": experiments_of(view.path.name if view.path else view.name, book),
    }


def _decision(view: RunView, identity: str) -> DecisionView:
    event = view.book.by_id[identity]
    assert isinstance(event, Decision), "only decisions are decided"
    return tell_decision(view.book, event, sources_of(view.book).sections, 1)
