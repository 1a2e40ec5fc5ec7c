"""Errors that a validation found: which of them are new, and which a person let go.

A new error holds the run up until a person mends it or calls it harmless.
"""

from __future__ import annotations

import msgspec

from ledger.events.verifications import FINDINGS_MAX, ValidationFinding

FindingKey = tuple[str, int | None, str]
"""An error by its rule and event; one without an event by its words."""


def finding_key(finding: ValidationFinding) -> FindingKey:
    """Return what makes a finding the same one again."""
    return finding.code, finding.seq, "" if finding.seq is not None else finding.message


class Faults(msgspec.Struct):
    """Errors of the last validation, and those known to be harmless."""

    new: frozenset[FindingKey] = frozenset()
    """Errors that the last validation found and that no person let go before."""
    let_go: frozenset[FindingKey] = frozenset()
    """Errors that a person called harmless: they hold the run up no second time."""
    imported_before: int = 0
    """Events below this seq were written by another system, in a run that goes on with an import."""

    def is_new(self, finding: ValidationFinding) -> bool:
        """Return whether a finding holds the run up: an error that no person let go.

        Errors of imported rounds only warn: moot did not see them made.
        """
        is_imported = finding.seq is not None and finding.seq < self.imported_before
        return finding.severity == "error" and not is_imported and finding_key(finding) not in self.let_go

    def kept(self, findings: tuple[ValidationFinding, ...]) -> tuple[ValidationFinding, ...]:
        """Return the findings that a validation keeps: all, or as many as fit, new errors before the others."""
        if len(findings) <= FINDINGS_MAX:
            return findings
        # A new error beyond the end of the list could neither be read nor let go.
        return tuple(sorted(findings, key=lambda finding: not self.is_new(finding))[:FINDINGS_MAX])
