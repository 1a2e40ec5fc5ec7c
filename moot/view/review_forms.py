"""Forms of a review and of the findings of `check`: terminal text, a comment, SARIF 2.1.0 for code hosts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from ledger.interchange.markdown import inline
from ledger.plain_text import one_line
from moot.view.outcome_text import outcome_lines, outcome_markdown
from moot.view.review import ChangeReview, ReviewFinding, counts_told, grave, where
from moot.view.text import WIDTH, joined

if TYPE_CHECKING:
    from validators.rulebook import CheckReport

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0-rtm.5.json"
# SARIF knows three levels, and the scale of findings has five.
GRAVE, PLAIN = 4, 3
"""Minimum severities of an error and of a warning; below them a finding is a note."""


def review_text(review: ChangeReview, width: int = WIDTH) -> str:
    """Return the outcome block, then the findings with their places."""
    lines = [*outcome_lines(review.outcome, review.run, width), "", counts_told(review)]
    for finding in review.findings:
        mark = "✗" if finding.id in review.failing else "·" if finding.stands else " "
        severity = f"{finding.severity} of 5" if finding.severity else "blocker"
        score = "" if finding.score is None else f", judged {finding.score:g} of 5"
        lines.append(f"{mark} {finding.id:<8} {severity}{score}   {where(finding)}".rstrip())
        for text in (finding.text, *([f"fix: {finding.fix}"] if finding.fix else [])):
            lines += textwrap.wrap(one_line(text), width, initial_indent="    ", subsequent_indent="    ")
    return joined(lines)


def review_markdown(review: ChangeReview) -> str:
    """Return a comment: the outcome, a table of upheld findings, and the others in a collapsed section."""
    lines = [*outcome_markdown(review.outcome, review.run), "", f"**{counts_told(review)}**", ""]
    lines += _table([finding for finding in review.findings if finding.stands])
    others = [finding for finding in review.findings if not finding.stands]
    if others:
        lines += [
            "",
            # Code hosts fold this, so refuted findings stay available without taking space.
            "<details><summary>What the judge did not uphold</summary>",
            "",
            *_table(others),
            "",
            "</details>",
        ]
    return joined(lines)


def _table(findings: Sequence[ReviewFinding]) -> Iterator[str]:
    if not findings:
        yield "Nothing stands."
        return
    yield "| where | severity | finding | fix |"
    yield "| --- | ---: | --- | --- |"
    for finding in findings:
        cells = (
            where(finding),
            str(finding.severity or "–"),
            f"{one_line(finding.text)} ({finding.id})",
            one_line(finding.fix or ""),
        )
        # A pipe in a finding would end the cell of the Markdown table.
        yield f"| {' | '.join(inline(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def level_of(severity: int) -> str:
    """Return the SARIF level of a severity."""
    if severity >= GRAVE:
        return "error"
    return "warning" if severity >= PLAIN else "note"


def review_sarif(review: ChangeReview, version: str) -> dict[str, Any]:
    """Return the upheld findings as a SARIF log. A finding about no line has no location."""
    results = [
        _result(
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
    return _log(version, {"review": "A finding of a review, as the judge upheld it."}, results)


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


def check_sarif(report: CheckReport, version: str) -> dict[str, Any]:
    """Return broken rules of a ledger as a SARIF log."""
    rules = {finding.code: f"Rule {finding.code}: see docs/rules.md." for finding in report.findings}
    results = [
        _result(
            finding.code,
            finding.severity,
            finding.message,
            [(f"{report.run}/{finding.stream}.jsonl", finding.line, finding.line)]
            if finding.stream and finding.line
            else [],
            f"{finding.code} {finding.seq} {finding.message}",
        )
        for finding in report.findings
    ]
    return _log(version, rules, results)


def _log(version: str, rules: Mapping[str, str], results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    driver = {
        "name": "moot",
        "semanticVersion": version,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()],
    }
    # Python counts code points; SARIF's default is UTF-16 units.
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(results)}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(
    rule: str, level: str, text: str, places: Sequence[tuple[str, int, int]], identity: str
) -> dict[str, Any]:
    return {
        "ruleId": rule,
        "level": level,
        "message": {"text": text},
        "locations": [
            {
                "physicalLocation": {
                    # SARIF asks for a URI, so spaces and non-ASCII characters are percent-encoded.
                    "artifactLocation": {"uri": quote(file)},
                    "region": {"startLine": first, "endLine": last},
                }
            }
            for file, first, last in places
        ],
        # Code hosts match findings of two runs by this fingerprint.
        "partialFingerprints": {"moot/v1": sha256(identity.encode()).hexdigest()[:32]},
    }


def annotated(value: str) -> str:
    """Return a value escaped for a property of an annotation."""
    # Colons and commas separate properties in a workflow command of GitHub.
    return escaped(value).replace(":", "%3A").replace(",", "%2C")


def escaped(message: str) -> str:
    """Return a message escaped for an annotation, which ends at the line."""
    # Percent comes first, or the escapes of the line ends would be escaped again.
    return message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
