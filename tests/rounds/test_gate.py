"""The gate: flags before triggers before words, reasons named, the route a decision on the ledger (AD-2, AD-9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.events import Decision
from rounds.deliberation import DeliberationError, checked
from rounds.gate import Asked, GateRefused, gate
from rounds.opening import resolve
from rounds.session import start
from rounds.verdicts import standard
from tests.rounds.openings import clock
from validators import rulebook


@pytest.mark.parametrize(
    ("text", "route"),
    [
        ("What does this function return?", "single-pass"),
        ("Why is the build slow?", "single-pass"),
        ("Explain how the hashes are chained.", "single-pass"),
        ("Build a login page", "jugalbandi"),
        ("Add real-time notifications to an existing REST API", "jugalbandi"),
        ("Rename the variable in at most 3 files, only in tests, without touching docs", "single-pass"),
        ("Design the data model for a multi-tenant SaaS app", "structured"),
        ("Migrate the billing database to a new schema with zero downtime", "structured"),
        (
            "By Friday 20:00 copy 3 TB within 2 days, on Monday delete the old bucket. Tear it apart.",
            "jugalbandi",
        ),
        ("What could go wrong with this plan?", "jugalbandi"),
        (
            "Move the rehearsal? Some want to stay in the hall and pay 17, some want the gym at 12.",
            "structured",
        ),
        ("How do I delete a branch?", "single-pass"),
        ("Should our nightly export become a stream?", "jugalbandi"),
        ("Which of three vendors do we take?", "jugalbandi"),
        ("Is the outage of Monday caused by the DNS change?", "single-pass"),
        ("Is there a dispute about tabs for good reason?", "single-pass"),
        (
            "Replace the phone queue by a form? Half of our patients are old, and two of the doctors disagree.",
            "structured",
        ),
    ],
)
def test_words(text: str, route: str) -> None:
    assert gate(Asked(text)).route == route


def test_flags_beat_triggers_and_words() -> None:
    heavy = "Migrate the billing database with zero downtime"
    assert gate(Asked(heavy, single=True, triggers=("billing",))).route == "single-pass"
    assert gate(Asked("What is this?", compete=True)).route == "jugalbandi"
    assert gate(Asked("What is this?", triggers=("THIS",))).route == "jugalbandi"
    with pytest.raises(GateRefused):
        gate(Asked(heavy, single=True, compete=True))


def test_every_reason_is_named() -> None:
    found = gate(Asked("Choose a payment provider", options=("a", "b"), triggers=("payment",)))
    assert [reason.name for reason in found.reasons] == ["trigger", "writes", "assumes", "stakes", "options"]
    assert all(reason.detail for reason in found.reasons)


def test_a_route_is_a_decision_of_the_run(tmp_path: Path) -> None:
    table = {"deliberation": {"question": "Build a login page"}, "gate": {"triggers": ["login"]}}
    opening = resolve(checked(table), {}, moot="0.1.0")
    session = start(
        tmp_path / "run",
        opening.event,
        blobs=opening.blobs,
        files={},
        verdicts=standard,
        clock=clock(),
        sync=False,
    )
    assert session.protocol.name == "jugalbandi"
    (decision,) = [event for event in session.book().events if isinstance(event, Decision)]
    assert (decision.type, decision.made_by, decision.cites[0].id) == ("gate", "rule", "@1")
    assert "trigger +3 (login)" in decision.text
    assert rulebook.check(session.book(), session.verdicts.context()).ok


def test_a_named_protocol_is_its_own_decision() -> None:
    table = {
        "deliberation": {"question": "Build a login page", "protocol": "debate"},
        "gate": {"compete": True},
    }
    opening = resolve(checked(table), {}, moot="0.1.0")
    assert opening.event.protocol == "debate"
    assert "gate_route" not in opening.event.rules


def test_contradicting_flags_in_a_file_are_refused() -> None:
    table = {"deliberation": {"question": "Build it"}, "gate": {"compete": True, "single": True}}
    with pytest.raises(DeliberationError, match="contradict"):
        resolve(checked(table), {}, moot="0.1.0")
