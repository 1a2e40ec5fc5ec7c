"""What forecasts, experiments and agendas fold to, and the laws of their lines."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ledger.events import (
    Agenda,
    Belief,
    ExperimentJudged,
    ExperimentPlanned,
)
from ledger.events.envelope import Evidence
from ledger.events.experiments import (
    ClaimMove,
    ExperimentLimits,
    NamedBlob,
    Predicate,
    RunCounts,
)
from ledger.events.run import Labelled
from ledger.events.verifications import StatusChange
from ledger.format.canonical import NotCanonical, seal
from ledger.state.fold import fold
from tests.ledger import samples

HERE: dict[str, Any] = {"round": 1, "phase": "B", "by": "critic"}


def belief(role: str, n: int = 1, round_: int = 1, **points: int) -> Belief:
    repeat = f"~{n}" if n > 1 else ""
    given = {name.replace("_", "-"): value for name, value in points.items()}
    return Belief(
        id=f"B-{round_}-{role}{repeat}",
        round=round_,
        phase="B",
        by=role,
        role=role,
        points=given,
        derived=n == 2 and round_ > 1,
    )


def plan(n: int = 1) -> ExperimentPlanned:
    zero = Predicate(of="exit", test="equals", value="0")
    return ExperimentPlanned(
        **HERE,
        id=f"E-1-{n}",
        claims=("C-1-1",),
        question="Does a torn line show?",
        files=(NamedBlob(name="torn.py", sha256="a" * 64),),
        argv=("python", "torn.py"),
        pass_if=(zero,),
        fail_if=(msgspec.structs.replace(zero, value="1"),),
        k=3,
        limits=ExperimentLimits(wall_seconds=9, cpu_seconds=9, memory_bytes=1 << 20, output_bytes=1 << 10),
        seed=7,
    )


def judged(verdict: Any, to: Any) -> ExperimentJudged:
    return ExperimentJudged(
        **HERE,
        of="E-1-1",
        counts=RunCounts(holds=3, fails=0, inconclusive=0, error=0),
        verdict=verdict,
        class_="reproduced",
        changes=(ClaimMove(claim_id="C-1-1", from_="pending", to=to),) if to else (),
    )


def line_of(event: Any) -> bytes:
    return seal([event], prev="0" * 64, seq=3, at=samples.AT).lines[0]


def test_a_status_change_brings_evidence_of_its_own() -> None:
    change = StatusChange(claim_id="C-1-1", from_="pending", to="tested_confirmed", bearing="supports")
    bare = msgspec.structs.replace(samples.verification(1), claim_status_changes=(change,))
    with pytest.raises(NotCanonical, match="evidence"):
        line_of(bare)
    own = msgspec.structs.replace(change, class_="argued", evidence=(Evidence(ref="A-1-critic"),))
    assert b'"class":"argued"' in line_of(msgspec.structs.replace(bare, claim_status_changes=(own,)))


def test_points_sum_to_100() -> None:
    with pytest.raises(NotCanonical, match="sum to 90"):
        line_of(belief("critic", O_1=60, none=30))


def test_beliefs_are_folded_with_the_latest_of_a_role() -> None:
    opened = samples.opening()
    cast = (*opened.cast, msgspec.structs.replace(opened.cast[0], role="critic"))
    state = fold(
        [
            msgspec.structs.replace(opened, cast=cast),
            belief("critic", O_1=60, none=40),
            belief("action", O_1=100),
            belief("critic", n=2, round_=2, O_1=80, none=20),
            belief("critic", n=3, round_=2, O_1=90, none=10),
            belief("critic", round_=2, O_1=60, none=40),
        ]
    )
    assert {role: facts.points["O-1"] for role, facts in state.beliefs_at(1).items()} == {
        "action": 100,
        "critic": 60,
    }
    assert {role: facts.id for role, facts in state.beliefs_at(2).items()} == {
        "action": "B-1-action",
        "critic": "B-2-critic~3",
    }


@pytest.mark.parametrize(
    ("verdict", "to", "status"),
    [
        ("holds", "tested_confirmed", "tested_confirmed"),
        ("fails", "tested_refuted", "tested_refuted"),
        ("flaky", "tested_unclear", "tested_unclear"),
        ("error", None, "pending"),
    ],
)
def test_an_experiment_moves_its_claims(verdict: Any, to: Any, status: str) -> None:
    state = fold([samples.opening(), samples.claim(1), plan(), judged(verdict, to)])
    assert state.claims["C-1-1"].status == status
    assert state.experiments["E-1-1"].verdict == verdict


def test_judged_again_the_later_one_counts_and_a_check_comes_before_both() -> None:
    change = StatusChange(
        claim_id="C-1-1",
        from_="pending",
        to="tested_unclear",
        bearing="inconclusive",
        class_="argued",
        evidence=(Evidence(ref="C-1-1"),),
    )
    check = msgspec.structs.replace(samples.verification(1), phase="B", claim_status_changes=(change,), seq=9)
    first = msgspec.structs.replace(judged("holds", "tested_confirmed"), seq=10)
    second = msgspec.structs.replace(judged("fails", "tested_refuted"), seq=11)
    state = fold([samples.opening(), samples.claim(1), plan(), first, second, check])
    assert [entry.to for entry in state.claims["C-1-1"].history] == [
        "tested_unclear",
        "tested_confirmed",
        "tested_refuted",
    ]


def test_the_agenda_makes_options_only_where_the_opening_has_none() -> None:
    agenda = Agenda(**HERE, options=(Labelled(id="O-1", text="one file"),))
    assert [one.id for one in fold([samples.opening(), agenda]).options] == ["O-1"]
    given = msgspec.structs.replace(samples.opening(), options=(Labelled(id="O-9", text="given"),))
    assert [one.id for one in fold([given, agenda]).options] == ["O-9"]
