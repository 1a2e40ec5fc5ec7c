"""A run as a state directory: rows, artifacts, documents and round files under the paths that refs name (SD-3).

An imported run goes back out with the keys it came with, its refs and documents verbatim. Headings are the anchors that
refs name. Words are escaped (`markdown.py`) and cannot pass for a drift verdict, which the published script looks for
anywhere in a round file (SD-68). Pure functions: paths and bytes, which `formats.py` writes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec

from ledger.events import (
    Artifact,
    Claim,
    Concern,
    Decision,
    DriftCheck,
    ExperimentJudged,
    ExperimentPlanned,
    RoundOpened,
    Statement,
    Verification,
)
from ledger.interchange import markdown
from ledger.interchange.report import Exported
from ledger.interchange.skill_written import Places, WrittenRows, jsonl
from ledger.plain_text import counted
from ledger.state.book import Book, sections_of
from ledger.state.wording import clause

_DRIFT: Final = re.compile(r"(drift[ _]check)(\**):", re.IGNORECASE)


def quoted(text: str) -> str:
    """Return `text` as a block quote that holds no drift verdict."""
    return _without_verdict(markdown.quoted(text))


def inline(text: str) -> str:
    """Return `text` on one line, without a drift verdict."""
    return _without_verdict(markdown.inline(text))


def _without_verdict(text: str) -> str:
    # A backslash before the colon is invisible when rendered and breaks the published script's pattern.
    return _DRIFT.sub(r"\1\2\\:", text)


def document(title: str, parts: Iterable[tuple[str, str]]) -> bytes:
    """Return a Markdown file: a title, then headings with their text."""
    blocks = [f"# {title}"]
    for heading, text in parts:
        blocks += [f"## {heading}", text] if text else [f"## {heading}"]
    return ("\n\n".join(blocks) + "\n").encode()


def artifact_file(event: Artifact) -> bytes:
    """Return an artifact as a file; the headings are the anchors that refs name."""
    parts = [
        (inline(name), "\n\n".join(quoted(text) for text in texts))
        for name, texts in sections_of(event).items()
    ]
    return document(f"{inline(event.id)}: {event.type} of {inline(event.role)}, round {event.round}", parts)


def statement_file(event: Statement) -> bytes:
    """Return a statement as a file; the headings are its sections."""
    parts = [(inline(section.name), quoted(section.text)) for section in event.sections]
    head = f"{inline(event.id)}: {event.type} by {inline(event.by)}, round {event.round}"
    return document(head, parts)


def round_file(book: Book, round_: int, place: Callable[[str, str], str]) -> bytes:
    """Return the file of one round; `place` turns a ref into a path. A drift verdict is on a line of its own."""
    opened = book.state.rounds.get(round_)
    lead = f" led by {inline(opened.lead)}" if opened and opened.lead else ""
    away = f", without {inline(opened.absent)}" if opened and opened.absent else ""
    parts = [
        *_claims(book, round_),
        *_verifications(book, round_, place),
        *_experiments(book, round_),
        *_concerns(book, round_),
    ]
    parts += [*_decisions(book, round_), *_drift(book, round_)]
    return document(f"Round {round_}{lead}{away}", parts)


def _claims(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for claim in book.of(Claim, round_):
        status = book.state.claims[claim.id].status
        testable = f"Testable as:\n\n{quoted(claim.testable_as)}"
        yield (
            f"{inline(claim.id)}-text",
            f"Claim of {inline(claim.raised_by)}, {inline(status)}.\n\n{quoted(claim.text)}\n\n{testable}",
        )


def _verifications(book: Book, round_: int, place: Callable[[str, str], str]) -> Iterator[tuple[str, str]]:
    for check in book.of(Verification, round_):
        refs = "".join(f"\n- {inline(place(evidence.ref, check.by))}" for evidence in check.evidence_refs)
        moved = "".join(
            f"\n- {inline(change.claim_id)} becomes {inline(change.to)}"
            for change in check.claim_status_changes
        )
        body = f"{inline(check.check)}: {check.result}.\n\n{quoted(check.notes)}"
        yield (
            f"{inline(check.id)}-text",
            body + (f"\n\nEvidence:\n{refs}" if refs else "") + (moved and f"\n{moved}"),
        )


def _experiments(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for plan in book.of(ExperimentPlanned, round_):
        results = (clause(judged)[1] for judged in book.of(ExperimentJudged) if judged.of == plan.id)
        yield f"{inline(plan.id)}-text", "\n\n".join(quoted(text) for text in (clause(plan)[1], *results))


def _concerns(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for concern in book.of(Concern, round_):
        yield f"{inline(concern.id)}-text", f"{concern.type.capitalize()}.\n\n{quoted(concern.text)}"


def _decisions(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for decision in book.of(Decision, round_):
        identity = decision.id
        cites = "".join(f"\n- {cite.relation} {inline(cite.id)}" for cite in decision.cites)
        ended = book.state.decisions[identity].overturned_by
        maker = f"Made by {decision.made_by}{f'; overturned by {inline(ended)}' if ended else ''}."
        yield f"{inline(identity)}-text", f"{maker}\n\n{quoted(decision.text)}\n{cites}"


def _drift(book: Book, round_: int) -> Iterator[tuple[str, str]]:
    for drift in book.of(DriftCheck, round_):
        verdict = f"Drift check: {drift.verdict}\n\nDeviation {drift.deviation_score} of 5."
        yield f"{inline(drift.id)}-text", f"{verdict}\n\n{quoted(drift.notes)}"


def export_skill(book: Book, *, layout: Literal["flat", "state"] = "flat") -> Exported:
    """Return the state directory of a run.

    `flat` puts the rows beside the documents. `state` puts them under `state/`, where the published scripts expect
    them:
    these look refs up from the parent.
    """
    opened = book.state.opening
    rows = WrittenRows(book, opened)
    prefix = "state/" if layout == "state" else ""
    files = {
        f"{prefix}claims.jsonl": jsonl(rows.claims()),
        f"{prefix}verifications.jsonl": jsonl(rows.verifications()),
        f"{prefix}decisions.jsonl": jsonl(rows.decisions()),
        f"{prefix}lead_history.jsonl": jsonl(rows.leads()),
        f"{prefix}drift_checks.jsonl": jsonl(rows.drift_checks()),
    }
    if concerns := jsonl(rows.concerns()):
        files[f"{prefix}concerns.jsonl"] = concerns
    if not rows.imported or "run" in rows.keys or opened.question:
        row = {
            "question": opened.question,
            "domain": opened.domain,
            "goals": [goal.text for goal in opened.goals],
            "plan": opened.plan,
        }
        files[f"{prefix}run.json"] = msgspec.json.encode(row) + b"\n"
    documents, missing = _documents(book, rows.places)
    left_out = (f"left out: {counted(count, noun)}" for noun, count in sorted(rows.left_out.items()))
    return Exported(_generated(book, rows.places) | documents | files, (*missing, *left_out))


def _documents(book: Book, places: Places) -> tuple[dict[str, bytes], list[str]]:
    """Return context documents at their paths, and notes on those whose bytes are gone."""
    files: dict[str, bytes] = {}
    missing: list[str] = []
    for entry in book.state.opening.context:
        content = book.blobs.read(entry.sha256)
        if content is None:
            missing.append(f"{entry.id} ({entry.name}): its bytes are not in the run")
        else:
            files[places.documents[entry.id]] = content
    return files, missing


def _generated(book: Book, places: Places) -> dict[str, bytes]:
    """Return the run's own artifacts, statements and rounds as Markdown files."""
    own = [event for event in book.events if event.by != "import"]
    files: dict[str, bytes] = {}
    for event in own:
        if isinstance(event, Artifact):
            files[places.of(event)] = artifact_file(event)
        elif isinstance(event, Statement):
            files[places.of(event)] = statement_file(event)
    for round_ in sorted({event.round for event in own if isinstance(event, RoundOpened)}):
        files[places.round_file(round_)] = round_file(book, round_, places.ref)
    return files
