"""S5: drift checks pass, or what failed was answered (SD-68)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from detectors.observations import Observations, is_import
from detectors.parameters import ScriptParameters, TextParameters
from detectors.report import Signal, reading
from ledger.events.run import ContextDocument
from ledger.state.state import DriftFacts

_ROUND_FILE: Final = re.compile(r"rounds/round_[^/]*\.md", re.DOTALL)
_ROUND_NUMBER: Final = re.compile(r"rounds/round_0*([0-9]+)[^/]*\.md", re.DOTALL)
_VERDICTS: Final = ("PASS", "FAIL", "PARTIAL")
"""In this order: a file with two verdicts has the first of these."""


class Drift(NamedTuple):
    """A verdict and where it stands."""

    verdict: str
    source: str


def drift_text(seen: Observations, _parameters: TextParameters) -> Signal:
    """Whether the last drift check passes and no FAIL is left unanswered (SD-68 [T]).

    A FAIL is answered by a later PASS that names it in `addresses`. Where every check passes there is nothing to
    answer.
    """
    checks = [seen.state.drift[number] for number in sorted(seen.state.drift)]
    passed = sum(check.verdict == "PASS" for check in checks)
    answered = _answered(checks)
    unanswered = [check.id for check in checks if check.verdict == "FAIL" and check.id not in answered]
    verdicts = ", ".join(f"{check.id} {check.verdict}" for check in checks) or "no drift check"
    return reading(
        "S5",
        bool(checks) and checks[-1].verdict == "PASS" and not unanswered,
        f"{verdicts}; unanswered: {', '.join(unanswered)}" if unanswered else verdicts,
        passed,
        len(checks),
        [check.id for check in reversed(checks)],
    )


def _answered(checks: list[DriftFacts]) -> set[str]:
    seen: set[str] = set()
    answered: set[str] = set()
    for check in checks:
        if check.verdict == "PASS" and check.addresses in seen:
            answered.add(check.addresses)
        seen.add(check.id)
    return answered


def drift_script(seen: Observations, _parameters: ScriptParameters) -> Signal:
    """Whether the verdicts say PASS throughout, or FAIL somewhere and PASS at the end (SD-68 [C]).

    The script reads the files `rounds/round_*.md` by their text, in the order of their names. An import that
    carries such files is read like that; every other ledger has drift checks as events, by round.
    """
    files = round_files(seen)
    found = _in_files(seen, files) if files else _in_events(seen)
    passed = sum(drift.verdict == "PASS" for drift in found)
    failed = any(drift.verdict == "FAIL" for drift in found)
    recovered = failed and found[-1].verdict == "PASS"
    kind = "round files" if files else "drift checks"
    verdicts = ", ".join(drift.verdict for drift in found) or "no verdict"
    return reading(
        "S5",
        bool(found) and (passed == len(found) or recovered),
        f"{kind}: {verdicts}",
        passed,
        len(found),
        [drift.source for drift in reversed(found)],
    )


def round_files(seen: Observations) -> tuple[ContextDocument, ...]:
    """The round files that an import carries, in the order of their names."""
    opened = seen.state.opened
    if opened is None or not is_import(seen.state):
        return ()
    named = [document for document in opened.context if _ROUND_FILE.fullmatch(document.name)]
    return tuple(sorted(named, key=lambda document: document.name))


def _is_written(document: ContextDocument, seen: Observations) -> bool:
    """Of a prefix, only the files of rounds that it has opened."""
    number = _ROUND_NUMBER.fullmatch(document.name)
    return seen.whole or (number is not None and int(number[1]) <= seen.state.round)


def _in_files(seen: Observations, files: tuple[ContextDocument, ...]) -> list[Drift]:
    found: list[Drift] = []
    for document in files:
        if not _is_written(document, seen):
            continue
        content = seen.blobs.read(document.sha256) if seen.blobs else None
        verdict = verdict_of(content.decode(errors="replace")) if content is not None else None
        if verdict is not None:
            found.append(Drift(verdict, document.id))
    return found


def verdict_of(text: str) -> str | None:
    """The verdict that the script finds in a round file, None for none (SD-69 lists what it misses)."""
    lower = text.lower()
    if "drift check" not in lower:
        return None
    for verdict in _VERDICTS:
        if any(f"{words}: {verdict.lower()}" in lower for words in ("drift check", "drift_check")):
            return verdict
    return None


def _in_events(seen: Observations) -> list[Drift]:
    drift = seen.state.drift
    return [Drift(drift[number].verdict, drift[number].id) for number in sorted(drift)]
