"""Sections: the closed set of anchors inside an artifact or a statement, and quotes in them (FORMAT 3).

A quote matches after collapsing white space, inside one string value of its section.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from ledger.events import Artifact, Event, ExperimentRun, Memo, RunOpened, Statement
from ledger.events.ids import Reference, kind_of
from ledger.state.book import Blobs, Book

Sections = Mapping[str, tuple[str, ...]]


def sections_of(event: Event) -> Sections:
    """Return anchor → the string values of that section; empty for kinds without sections."""
    match event:
        case Artifact():
            return dict(_artifact_sections(event))
        case Statement():
            return _statement_sections(event)
        case Memo():
            return {f"s{k}": (sentence.text,) for k, sentence in enumerate(event.sentences, 1)}
        case _:
            return {}


def _statement_sections(event: Statement) -> Sections:
    """Return sections by name, then by paragraph. Equal anchors share one entry with the texts of both."""
    sections: dict[str, list[str]] = {}
    for section in event.sections:
        sections.setdefault(section.name, []).append(section.text)
    paragraphs = [part for section in event.sections for part in section.text.split("\n\n") if part.strip()]
    for n, text in enumerate(paragraphs, 1):
        sections.setdefault(f"p{n}", []).append(text)
    return {name: tuple(texts) for name, texts in sections.items()}


def _artifact_sections(event: Artifact) -> Iterator[tuple[str, tuple[str, ...]]]:
    body = event.body
    match event.type:
        case "behavioral_trace_set":
            for i, trace in enumerate(_list(body, "traces"), 1):
                yield f"trace-{i}", strings({key: trace[key] for key in trace if key != "steps"})
                for j, step in enumerate(_list(trace, "steps"), 1):
                    yield f"trace-{i}-step-{j}", strings(step)
        case "identity_invariant_check":
            yield "invariant", strings([body.get("invariant"), body.get("why_it_matters")])
            yield "invariant-evidence", strings(body.get("evidence"))
            yield "invariant-failure", strings([body.get("failure_scenario"), body.get("mechanism")])
            yield "verdict", strings([body.get("verdict"), body.get("condition")])
        case "operator_walkthrough":
            yield (
                "goal",
                strings([body.get("session_goal"), body.get("starting_context"), body.get("persona")]),
            )
            for j, step in enumerate(_list(body, "steps"), 1):
                yield f"step-{j}", strings(step)
            for k, friction in enumerate(_list(body, "friction"), 1):
                yield f"friction-{k}", strings(friction)
            yield "verdict", strings(body.get("verdict"))
        case "adversarial_test_case":
            yield "hypothesis", strings([body.get("hypothesis"), body.get("why_this_target")])
            yield "preconditions", strings(body.get("preconditions"))
            for j, step in enumerate(_list(body, "attack"), 1):
                yield f"attack-{j}", strings(step)
            yield "expected", strings(body.get("expected"))
            yield "verdict", strings([body.get("verdict"), body.get("verdict_reason")])
            yield "assumption", strings(body.get("assumption"))
    for k, finding in enumerate(event.findings, 1):
        yield f"finding-{k}", (finding.text,)


def _list(body: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    value = body.get(key)
    return cast("list[dict[str, Any]]", value) if isinstance(value, list) else []


def strings(value: Any) -> tuple[str, ...]:
    """Return every string inside a JSON value, in order."""
    collected: list[str] = []
    # An explicit stack: JSON may be nested deeper than Python can call.
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            collected.append(part)
        elif isinstance(part, dict):
            waiting += reversed(cast("dict[str, Any]", part).values())
        elif isinstance(part, list | tuple):
            waiting += reversed(cast("list[Any]", part))
    return tuple(collected)


def passages(
    reference: Reference,
    by_id: Mapping[str, Event],
    opened: RunOpened,
    blobs: Blobs,
    sections: Callable[[Event], Sections] = sections_of,
) -> tuple[str, ...] | None:
    """Return the string values that a reference points at; None when it does not resolve.

    A context document without lines is the whole document; an event without section is all of its strings. `sections`
    is for a caller that asks for many and caches.
    """
    if kind_of(reference.id) == "document":
        return _document(reference, opened, blobs)
    event = by_id.get(reference.id)
    if event is None:
        return None
    if reference.section is None:
        return _own_strings(event)
    return sections(event).get(reference.section)


def _own_strings(event: Event) -> tuple[str, ...]:
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(event)
    envelope = {"prev", "at", "kind", "id", "phase", "step", "by", "saw", "call", "via"}
    return strings({key: value for key, value in fields.items() if key not in envelope})


def _document(reference: Reference, opened: RunOpened, blobs: Blobs) -> tuple[str, ...] | None:
    document = next((entry for entry in opened.context if entry.id == reference.id), None)
    content = blobs.read(document.sha256) if document else None
    if content is None or reference.section is not None:
        return None
    lines = content.decode("utf-8", "replace").split("\n")
    if reference.lines is None:
        return ("\n".join(lines),)
    first, last = reference.lines
    if not 1 <= first <= last <= len(lines):
        return None
    return ("\n".join(lines[first - 1 : last]),)


def written(book: Book, experiment: str, before: int | None = None) -> tuple[str | None, ...]:
    """Return what each run of an experiment wrote, stdout and stderr, before seq `before`; None for removed output."""
    return tuple(
        None if kept is None else kept.decode("utf-8", "replace")
        for run in book.of(ExperimentRun)
        if run.of == experiment and (before is None or run.seq < before)
        for kept in (book.blobs.read(run.stdout.kept), book.blobs.read(run.stderr.kept))
    )


_ALIKE: Final = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        "\u2026": "...",
        **dict.fromkeys("\u00ad\u200b\u2060\ufeff", ""),
    }
)
"""Marks that models replace by similar ones when they quote; the difference does not matter."""


def contains_quote(values: tuple[str, ...], quote: str) -> bool:
    """Return whether `quote` occurs in one of `values`. White space, Unicode forms and kinds of marks do not matter."""
    wanted = comparable(quote)
    return bool(wanted) and any(wanted in comparable(value) for value in values)


def comparable(text: str) -> str:
    """Return the form in which a quote and its source are compared: NFC, one kind of each mark, single spaces."""
    plain = text if text.isascii() else unicodedata.normalize("NFC", text).translate(_ALIKE)
    return " ".join(plain.split())
