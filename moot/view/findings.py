"""Findings of `check`, `verify`, `import` and `export`, for people and for code hosts (annotations, SARIF 2.1.0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from ledger.plain_text import counted
from moot.view.text import joined, listed

if TYPE_CHECKING:
    from ledger.audit.verify import CheckpointModel, VerifyReport
    from ledger.interchange.report import ExportReport, ImportReport
    from validators.finding import ReportedFinding
    from validators.rulebook import CheckReport


SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0-rtm.5.json"
MARKS = {"error": "✗ error  ", "warning": "! warning"}


def check_text(report: CheckReport, caveats: Sequence[str]) -> str:
    """Return findings by severity, then rules that were not applicable, then the verdict."""
    # Errors first, then by place; findings about the whole run have no seq and lead their group.
    ordered = sorted(
        report.findings,
        key=lambda finding: (finding.severity != "error", finding.seq if finding.seq is not None else -1),
    )
    lines = [*caveats, *(_finding(finding) for finding in ordered)]
    for reason in dict.fromkeys(rule.reason for rule in report.not_applicable):
        codes = [rule.code for rule in report.not_applicable if rule.reason == reason]
        lines.append(f"not applicable ({reason}): {', '.join(codes)}")
    # Other rules or thresholds gave these verdicts, so they cannot be recomputed here.
    if report.as_given:
        lines.append(f"taken as given: {counted(report.as_given, 'verdict')} of other rules or thresholds")
    errors = sum(finding.severity == "error" for finding in report.findings)
    warnings = len(report.findings) - errors
    verdict = "✓ ok" if report.ok else "✗ not ok"
    lines.append(f"{verdict}: {counted(errors, 'error')}, {counted(warnings, 'warning')} in {report.run}")
    return joined(lines)


def github_text(report: CheckReport) -> str:
    """Return findings as GitHub annotations of the ledger's files."""
    lines: list[str] = []
    for finding in report.findings:
        # A path may hold a comma or a colon, which would end the property of the annotation early.
        file = f"file={annotated(report.run)}/{finding.stream}.jsonl," if finding.stream else ""
        line = f"line={finding.line}," if finding.stream and finding.line else ""
        lines.append(
            f"::{finding.severity} {file}{line}title={annotated(finding.code)}::{escaped(finding.message)}"
        )
    return joined(lines)


def check_sarif(report: CheckReport, version: str) -> dict[str, Any]:
    """Return broken rules of a ledger as a SARIF log."""
    rules = {finding.code: f"Rule {finding.code}: see docs/rules.md." for finding in report.findings}
    results = [
        sarif_result(
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
    return sarif_log(version, rules, results)


def sarif_log(version: str, rules: Mapping[str, str], results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a SARIF log of results; `rules` maps each rule to its description."""
    driver = {
        "name": "moot",
        "semanticVersion": version,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()],
    }
    # Python counts code points; SARIF's default is UTF-16 units.
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": list(results)}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def sarif_result(
    rule: str, level: str, text: str, places: Sequence[tuple[str, int, int]], identity: str
) -> dict[str, Any]:
    """Return a result for a SARIF log; `places` are file, first and last line."""
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


def verify_text(report: VerifyReport) -> str:
    """Return the verdict, then problems, quarantine and checkpoints."""
    verdict = (
        # An intact run that is not the one of the checkpoint is a different alarm than damage.
        "✗ DAMAGED" if report.damaged else "✓ intact" if report.ok else "✗ not the run of that checkpoint"
    )
    head = f", head @{report.head.seq} {report.head.hash}" if report.head else ", no head"
    lines = [f"{verdict}: {report.run}, {counted(report.events, 'event')}{head}"]
    for problem in report.problems:
        place = (
            f"{problem.stream}.jsonl:{problem.line}"
            if problem.stream and problem.line
            else problem.stream or ""
        )
        where = " ".join(
            part for part in (f"@{problem.seq}" if problem.seq is not None else "", place) if part
        )
        lines.append(f"  {where}: {problem.what}" if where else f"  {problem.what}")
    lines += [f"  set aside by recovery: quarantine/{name}" for name in report.quarantined]
    lines += [
        f"  checkpoint @{checkpoint.seq} {checkpoint.hash}: {_held(checkpoint)}"
        for checkpoint in report.checkpoints
    ]
    return joined(lines)


def _held(checkpoint: CheckpointModel) -> str:
    # Redaction rewrites the chain, so the checkpoint of the original cannot match the copy.
    why = "; it is that of the original, and this is the redacted copy" if checkpoint.original else ""
    return "holds" if checkpoint.holds else f"does not hold{why}"


def _finding(finding: ReportedFinding) -> str:
    place = f"{finding.stream}.jsonl:{finding.line}" if finding.stream and finding.line else ""
    where = f"@{finding.seq}" if finding.seq is not None else ""
    return f"{MARKS[finding.severity]} {finding.code:<8} {where:<6} {place:<24} {finding.message}"


SHOWN = 20


def import_text(report: ImportReport) -> str:
    """Return what `moot import` prints."""
    lines: list[str] = []
    for bad in report.bad_lines:
        place = f"{bad.file}:{bad.line}" if bad.line else bad.file
        lines.append(f"bad line {place}: {bad.message}")
    # An import writes nothing unless every line is good, so no partial run can be mistaken for a whole one.
    if not report.ok:
        count = len(report.bad_lines)
        lines.append(
            f"nothing was written: fix {'this line' if count == 1 else f'these {count} lines'} and import again"
        )
        return joined(lines)
    counts = listed([f"{number} {kind}" for kind, number in report.counts.items() if number])
    lines.append(f"{report.run}: {counts}")
    lines += [
        f"  id {mapped.old} in {mapped.file} is {mapped.new} here: {mapped.why}"
        for mapped in report.mapped_ids[:SHOWN]
    ]
    lines += [
        f"  {difference.id} was stored as {difference.stored}; its verifications lead to {difference.folded}"
        # Older systems stored statuses; moot derives them from verifications (SD-57).
        for difference in report.status_differences[:SHOWN]
    ]
    lines += [f"  {note}" for note in report.notes[:SHOWN]]
    hidden = sum(
        max(0, len(part) - SHOWN) for part in (report.mapped_ids, report.status_differences, report.notes)
    )
    if hidden:
        lines.append(f"  and {hidden} more: see --json")
    return joined(lines)


def export_text(report: ExportReport) -> str:
    """Return what `moot export` prints."""
    lines = [f"{report.directory}: {counted(len(report.files), 'file')} in {report.format}"]
    return joined([*lines, *(f"  {note}" for note in report.notes)])
