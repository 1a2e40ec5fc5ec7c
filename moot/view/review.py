"""A review of documents: each finding with file and line, severity, and whether it was upheld.

The place is computed from what a finding cites: the quoted words are looked up in the document, and a line of a
diff is mapped to the line of its file. Seats are never asked for line numbers, so they cannot invent any.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from statistics import fmean
from textwrap import wrap
from typing import Any, Final

from ledger.events import Concern, Decision, Rating
from ledger.events.ids import parse_reference
from ledger.plain_text import counted, one_line
from ledger.result import Result
from ledger.state.amendments import Life
from ledger.state.book import Book, comparable
from moot.view.findings import annotated, escaped, sarif_log, sarif_result
from moot.view.outcome import Outcome
from moot.view.outcome_text import outcome_lines
from moot.view.reasons import severities
from moot.view.text import joined

BLOCKER: Final = 5
"""Severity of a finding that was raised as a blocker, which has none of its own."""
# The middle of the scale from 1 (a stretch) to 5 (genuine), AD-5.
STANDS_FROM: Final = 3
"""Minimum mean of its ratings, of 5, for a finding to be upheld; a finding without ratings is upheld."""
# SARIF knows three levels, and the scale of findings has five.
GRAVE, PLAIN = 4, 3
"""Minimum severities of an error and of a warning; below them a finding is a note."""
HUNK: Final = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class FileLines(Result, frozen=True):
    """Lines of a file, counted from 1; `changed`: the change touches one of them."""

    file: str
    line: int
    end_line: int
    changed: bool


class ReviewFinding(Result, frozen=True):
    """A finding of a review.

    `severity` and `score` (the mean of its ratings) are of 5, null where no reviewer gave one. Without a severity
    it was raised as a blocker, and counts as 5.
    """

    id: str
    by: str
    severity: int | None
    score: float | None
    stands: bool
    text: str
    risk: str | None
    fix: str | None
    quote: str | None
    places: list[FileLines]


class ChangeReview(Result, frozen=True):
    """`failing`: findings that stand and are as grave as `fail_on`; `verdict` is the judge's word."""

    run: str
    state: Life
    verdict: str | None
    fail_on: int | None
    failing: list[str]
    findings: list[ReviewFinding]
    outcome: Outcome


class ReviewedText:
    """A document by its lines; for a diff that moot computed, also the file and line of each."""

    def __init__(self, name: str, text: str, *, is_diff: bool) -> None:
        self.name, self.is_diff = name, is_diff
        self.lines = text.split("\n")

    @cached_property
    def _words(self) -> tuple[str, list[int]]:
        """Return all words with single spaces, and the offset at which each line begins."""
        starts, parts, at = list[int](), list[str](), 0
        for line in self.lines:
            # Blank lines add no words, yet they need an offset, or later line numbers would shift.
            starts.append(at)
            if words := comparable(line):
                parts.append(words)
                at += len(words) + 1
        return " ".join(parts), starts

    def lines_of(self, quote: str) -> tuple[int, int] | None:
        """Return the first and last line (from 1) of the quoted words; None where they are missing."""
        wanted = comparable(quote)
        text, starts = self._words
        at = text.find(wanted) if wanted else -1
        if at < 0:
            return None
        # A quote may cross lines and be wrapped differently, so search words, then map back to lines.
        return bisect_right(starts, at), bisect_right(starts, at + len(wanted) - 1)

    @cached_property
    def places(self) -> dict[int, tuple[str, int]]:
        """Map lines of the diff to file and line; a removed line maps to the place where it was."""
        places: dict[int, tuple[str, int]] = {}
        file, line, before, after = "", 0, 0, 0
        for number, text in enumerate(self.lines, 1):
            # Counting the lines of the hunk keeps an added line that begins with "++ " from looking
            # like a file header.
            if before > 0 or after > 0:
                mark = text[:1]
                # "\ No newline at end of file" is a remark of diff and no line of the file.
                if file and mark != "\\":
                    places[number] = (file, max(line, 1))
                before -= mark in ("-", " ", "")
                after -= mark in ("+", " ", "")
                line += mark in ("+", " ", "")
            elif text.startswith("+++ "):
                name = text[4:].rstrip("\t")
                # A deleted file has no lines to point to.
                file = name.removeprefix("b/") if name != "/dev/null" else ""
            elif hunk := HUNK.match(text):
                # A hunk header leaves the count out where it is 1.
                before, line, after = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        return places

    def changed(self) -> Iterator[tuple[str, int]]:
        """Yield file and line of every line that the diff adds or removes."""
        yield from (place for number, place in self.places.items() if self.lines[number - 1][0] in "+-")

    def place(self, first: int, last: int) -> tuple[str, int, int] | None:
        """Return file, first and last line; None for lines that belong to no file."""
        if not self.is_diff:
            return self.name, first, last
        within = [self.places[n] for n in range(first, last + 1) if n in self.places]
        # A quote may span two files of a diff; the finding then points to the first.
        lines = [line for file, line in within if file == within[0][0]]
        return (within[0][0], min(lines), max(lines)) if within else None


def review_of(run: str, book: Book, outcome: Outcome, fail_on: int | None = None) -> ChangeReview:
    """Return the findings of a run, upheld ones first, the gravest before the others."""
    documents = dict(_documents(book))
    # Only these lines can be blamed on the change under review.
    changed = {place for document in documents.values() if document.is_diff for place in document.changed()}
    ratings = severities(book)
    findings = [
        _finding(event, ratings.get(event.id, ()), documents, changed)
        for event in book.of(Concern)
        if event.type == "concern"
    ]
    findings.sort(key=lambda finding: (not finding.stands, -grave(finding)))
    failing = [
        finding.id
        for finding in findings
        if fail_on is not None and finding.stands and grave(finding) >= fail_on
    ]
    judged = [event for event in book.of(Decision) if event.type == "final" and event.made_by == "judge"]
    return ChangeReview(
        run=run,
        state=book.state.life,
        # The judge's decision starts with the verdict word of the scale.
        verdict=judged[-1].text.partition(":")[0] if judged else None,
        fail_on=fail_on,
        failing=failing,
        findings=findings,
        outcome=outcome,
    )


def _documents(book: Book) -> Iterator[tuple[str, ReviewedText]]:
    """Yield the documents that are here, by id."""
    for document in book.state.opening.context:
        content = book.blobs.read(document.sha256)
        if content is not None:
            yield (
                document.id,
                ReviewedText(
                    document.name, content.decode("utf-8", "replace"), is_diff=document.change is True
                ),
            )


def _finding(
    event: Concern,
    ratings: Sequence[Rating],
    documents: Mapping[str, ReviewedText],
    changed: set[tuple[str, int]],
) -> ReviewFinding:
    # Values may be words on other scales, and a hostile ledger may put one here.
    scores = [float(rating.value) for rating in ratings if isinstance(rating.value, int | float)]
    score = round(fmean(scores), 1) if scores else None
    places = list(dict.fromkeys(_places(event, documents)))
    return ReviewFinding.from_parts(
        event,
        score=score,
        stands=score is None or score >= STANDS_FROM,
        quote=next((evidence.quote for evidence in event.evidence if evidence.quote), None),
        places=[
            FileLines(file, first, last, any((file, line) in changed for line in range(first, last + 1)))
            for file, first, last in places
        ],
    )


def _places(event: Concern, documents: Mapping[str, ReviewedText]) -> Iterator[tuple[str, int, int]]:
    """Yield file, first and last line of what a finding cites."""
    for cited in event.evidence:
        reference = parse_reference(cited.ref)
        document = documents.get(reference.id)
        # The quote decides the place; lines in the reference are a fallback for citations without one.
        lines = (cited.quote and document and document.lines_of(cited.quote)) or reference.lines
        if document is not None and lines and (place := document.place(*lines)) is not None:
            yield place


def grave(finding: ReviewFinding) -> int:
    """Return the severity of a finding, of 5."""
    return BLOCKER if finding.severity is None else finding.severity


def where(finding: ReviewFinding) -> str:
    """Return the first place, `src/a.py:12`; empty where a finding is about no line."""
    return f"{finding.places[0].file}:{finding.places[0].line}" if finding.places else ""


def counts_text(review: ChangeReview) -> str:
    """Return `3 of 5 findings stand; 1 as grave as 4 of 5`."""
    standing = sum(finding.stands for finding in review.findings)
    text = f"{standing} of {counted(len(review.findings), 'finding')} stand"
    if review.fail_on is not None:
        text += f"; {len(review.failing)} as grave as {review.fail_on} of 5"
    return text


def review_text(review: ChangeReview, width: int) -> str:
    """Return the outcome block, then the findings with their places."""
    lines = [*outcome_lines(review.outcome, review.run, width), "", counts_text(review)]
    for finding in review.findings:
        mark = "✗" if finding.id in review.failing else "·" if finding.stands else " "
        severity = f"{finding.severity} of 5" if finding.severity else "blocker"
        score = "" if finding.score is None else f", judged {finding.score:g} of 5"
        lines.append(f"{mark} {finding.id:<8} {severity}{score}   {where(finding)}".rstrip())
        for text in (finding.text, *([f"fix: {finding.fix}"] if finding.fix else [])):
            lines += wrap(one_line(text), width, initial_indent="    ", subsequent_indent="    ")
    return joined(lines)


def level_of(severity: int) -> str:
    """Return the SARIF level of a severity."""
    if severity >= GRAVE:
        return "error"
    return "warning" if severity >= PLAIN else "note"


def review_sarif(review: ChangeReview, version: str) -> dict[str, Any]:
    """Return the upheld findings as a SARIF log. A finding about no line has no location."""
    results = [
        sarif_result(
            "review",
            level_of(grave(finding)),
            " ".join(filter(None, (one_line(finding.text), finding.risk and f"Risk: {one_line(finding.risk)}",
                                   finding.fix and f"Fix: {one_line(finding.fix)}"))),
            [(place.file, place.line, place.end_line) for place in finding.places],
            # The quote identifies a finding across runs, while its wording changes each time.
            f"{where(finding)} {finding.quote or finding.text}",
        )
        for finding in review.findings
        if finding.stands
    ]  # fmt: skip
    return sarif_log(version, {"review": "A finding of a review, as the judge upheld it."}, results)


def review_github(review: ChangeReview) -> str:
    """Return the upheld findings as GitHub annotations of the changed files."""
    names = {"error": "error", "warning": "warning", "note": "notice"}
    lines: list[str] = []
    for finding in review.findings:
        if finding.stands:
            place = finding.places[0] if finding.places else None
            at = f"file={annotated(place.file)},line={place.line},endLine={place.end_line}," if place else ""
            title = annotated(f"{finding.id}, {grave(finding)} of 5")
            message = escaped(one_line(f"{finding.text} Fix: {finding.fix}" if finding.fix else finding.text))
            lines.append(f"::{names[level_of(grave(finding))]} {at}title={title}::{message}")
    return joined(lines)
