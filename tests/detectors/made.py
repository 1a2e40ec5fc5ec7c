"""Rows made of numbers: so many verdicts, so many claims tested, in these rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from detectors.parameters import SignalProfile
from detectors.report import Signal, SignalReport
from detectors.signals import signals
from tests.detectors.ledgers import built
from tests.oracles.rows import Row, Rows


def verdicts(of_rounds: Mapping[int, str]) -> Rows:
    """Round → its verdicts in letters: B(ROKEN), U(NCLEAR), R(OBUST), N(OT_APPLICABLE)."""
    words = {"B": "BROKEN", "U": "UNCLEAR", "R": "ROBUST", "N": "NOT_APPLICABLE"}
    return Rows(
        lead_history=leads(dict.fromkeys(of_rounds, ("action", None))),
        verifications=[
            a_verification(number, n, words[letter])
            for number, letters in of_rounds.items()
            for n, letter in enumerate(letters, start=1)
        ],
    )


def disagreement(counts: Iterable[int] | Mapping[int, int]) -> Rows:
    """Rounds with so many BROKEN verdicts each, and one ROBUST."""
    of_rounds = counts if isinstance(counts, Mapping) else dict(enumerate(counts, start=1))
    return verdicts({number: "R" + "B" * found for number, found in of_rounds.items()})


def first_tests(counts: Iterable[int] | Mapping[int, int]) -> Rows:
    """Rounds in which so many claims are tested for the first time."""
    of_rounds = counts if isinstance(counts, Mapping) else dict(enumerate(counts, start=1))
    made = verdicts(dict.fromkeys(of_rounds, "R"))
    numbers = count(1)
    for row in made.verifications:
        for _ in range(of_rounds[row["round"]]):
            claim = a_claim(1, next(numbers))
            made.claims.append(claim)
            row["claim_status_changes"].append(a_change(claim["id"]))
    return made


def leads(of_rounds: Mapping[int, tuple[str | None, str | None]]) -> list[Row]:
    """Round → (lead, absent role)."""
    return [
        {"round": number, "lead": lead, "is_stress": absent is not None, "absent_agent": absent}
        for number, (lead, absent) in of_rounds.items()
    ]


def a_claim(number: int, n: int) -> Row:
    return {
        "id": f"C-{number}-{n}",
        "round": number,
        "raised_by": "action",
        "text": "It holds.",
        "testable_as": "A run shows it.",
    }


def a_verification(number: int, n: int, result: str = "ROBUST", *changes: Row) -> Row:
    return {
        "id": f"V-{number}-{n}",
        "round": number,
        "result": result,
        "claim_status_changes": list(changes),
    }


def a_change(claim: str, from_: str = "pending", to: str = "tested_confirmed") -> Row:
    return {"claim_id": claim, "from": from_, "to": to}


def report(rows: Rows, profile: SignalProfile, at: int | None = None) -> SignalReport:
    """The report on an import of `rows`."""
    return signals(built(rows), profile, at)


def signal(rows: Rows, profile: SignalProfile, number: int, at: int | None = None) -> Signal:
    """Signal S`number` of it."""
    return report(rows, profile, at).signals[number - 1]
