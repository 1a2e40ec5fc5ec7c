"""The page of one event of any kind: its sections and fields with addresses, and the events that name it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import msgspec

from ledger.events import Artifact, Claim, Decision, Event, Statement, Verification
from ledger.events.conditions import Conditions, conditions_of
from moot.view.claims import ClaimTold, tell_claim
from moot.view.events import EventWords, words_of
from moot.view.round import CheckTold, tell_check
from moot.web.followed import Followed

ENVELOPE: Final = frozenset(
    {"prev", "seq", "rest", "v", "at", "kind", "id", "round", "phase", "step", "by", "saw", "call", "via"}
)
BACK_MAX: Final = 60


@dataclass(frozen=True, slots=True)
class AnchoredPart:
    """A section or a field: its anchor, its title, and a JSON value."""

    anchor: str
    title: str
    value: Any


@dataclass(frozen=True, slots=True)
class EventPage:
    """The page. `back` are the events that name this one."""

    card: EventWords
    event: Event
    parts: tuple[AnchoredPart, ...]
    fields: Mapping[str, Any]
    check: CheckTold | None
    claim: ClaimTold | None
    back: tuple[EventWords, ...]
    back_more: int


def _in_words(event: Decision, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a decision, with its conditions under readable names."""
    plain = {key: value for key, value in fields.items() if key not in Conditions._fields}
    return plain | {key: value for key, value in conditions_of(event)._asdict().items() if value}


def event_page(run: Followed, event: Event) -> EventPage:
    """Return everything about an event."""
    book = run.book()
    parts = tuple(parts_of(event))
    fields: dict[str, Any] = msgspec.to_builtins(event)
    kept = {
        key: value for key, value in fields.items() if key not in ENVELOPE and value not in (None, [], {}, "")
    }
    if isinstance(event, Decision):
        kept = _in_words(event, kept)
    if parts:
        # Parts show these with their anchors; as fields they would appear a second time.
        kept = {key: value for key, value in kept.items() if key not in ("body", "sections", "findings")}
    # Events without an id cannot be cited, so no later event can name them.
    back = run.named_by(event.id) if event.id else []
    around = run.round_book(event.round)
    return EventPage(
        card=words_of(event, book),
        event=event,
        parts=parts,
        fields=kept,
        check=tell_check(around, event, run.sources.sections) if isinstance(event, Verification) else None,
        claim=tell_claim(book, event) if isinstance(event, Claim) else None,
        back=tuple(words_of(later, book) for later in back[:BACK_MAX]),
        back_more=max(0, len(back) - BACK_MAX),
    )


def parts_of(event: Event) -> Iterator[AnchoredPart]:
    """Yield the sections of a statement or an artifact, under the anchors by which evidence names them (FORMAT 3)."""
    match event:
        case Statement():
            count = 0
            for section in event.sections:
                yield AnchoredPart(section.name, section.name, None)
                # Paragraphs are counted over all sections of a statement, as evidence counts them.
                for paragraph in (text for text in section.text.split("\n\n") if text.strip()):
                    count += 1
                    yield AnchoredPart(f"p{count}", "", paragraph)
        case Artifact():
            yield from _body(event)
            for k, finding in enumerate(event.findings, 1):
                yield AnchoredPart(f"finding-{k}", f"finding {k}", finding.text)
        case _:
            return


def _body(event: Artifact) -> Iterator[AnchoredPart]:
    """Yield the body with the anchors of `ledger.state.anchors`; keys keep their names."""
    body = event.body
    match event.type:
        case "behavioral_trace_set":
            for i, trace in enumerate(_rows(body, "traces"), 1):
                yield AnchoredPart(f"trace-{i}", f"trace {i}", _without(trace, "steps"))
                for j, step in enumerate(_rows(trace, "steps"), 1):
                    yield AnchoredPart(f"trace-{i}-step-{j}", f"step {j}", step)
        case "identity_invariant_check":
            yield AnchoredPart("invariant", "invariant", _only(body, "invariant", "why_it_matters"))
            yield AnchoredPart("invariant-evidence", "evidence", body.get("evidence"))
            yield AnchoredPart("invariant-failure", "failure", _only(body, "failure_scenario", "mechanism"))
            yield AnchoredPart("verdict", "verdict", _only(body, "verdict", "condition", "confidence"))
        case "operator_walkthrough":
            yield AnchoredPart("goal", "goal", _only(body, "session_goal", "starting_context", "persona"))
            for j, step in enumerate(_rows(body, "steps"), 1):
                yield AnchoredPart(f"step-{j}", f"step {j}", step)
            for k, friction in enumerate(_rows(body, "friction"), 1):
                yield AnchoredPart(f"friction-{k}", f"friction {k}", friction)
            yield AnchoredPart("verdict", "verdict", body.get("verdict"))
        case "adversarial_test_case":
            yield AnchoredPart(
                "hypothesis", "hypothesis", _only(body, "target", "hypothesis", "why_this_target")
            )
            yield AnchoredPart("preconditions", "preconditions", body.get("preconditions"))
            for j, step in enumerate(_rows(body, "attack"), 1):
                yield AnchoredPart(f"attack-{j}", f"attack {j}", step)
            yield AnchoredPart("expected", "expected", body.get("expected"))
            yield AnchoredPart("verdict", "verdict", _only(body, "verdict", "verdict_reason", "confidence"))
            yield AnchoredPart("assumption", "assumption", body.get("assumption"))


def _rows(body: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = body.get(key)
    return cast("list[dict[str, Any]]", value) if isinstance(value, list) else []


def _without(body: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


def _only(body: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: body[key] for key in keys if body.get(key) is not None}
