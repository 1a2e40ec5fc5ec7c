"""S5: drift checks pass, or what failed was answered (SD-68)."""

from __future__ import annotations

from detectors.observations import Observations
from detectors.parameters import PublishedParameters
from detectors.report import Signal, reading
from ledger.state.state import DriftFacts


def drift_checks_pass(seen: Observations, _parameters: PublishedParameters) -> Signal:
    """Report whether the last drift check passes and every FAIL was answered (SD-68 [T]).

    A FAIL is answered by a later PASS that names it in `addresses`. Where every check passes, no answer is needed.
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
        # Only an earlier check can be answered, so a PASS that names a later one answers nothing.
        if check.verdict == "PASS" and check.addresses in seen:
            answered.add(check.addresses)
        seen.add(check.id)
    return answered
