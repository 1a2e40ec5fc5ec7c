"""Version 2 of the format beside version 1: what each can say, in which one a run goes on, what new kinds fold to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest

from ledger.audit.verify import verify
from ledger.events import (
    Agenda,
    Belief,
    Decision,
    ExperimentJudged,
    ExperimentPlanned,
)
from ledger.events.claims import Effect
from ledger.events.conditions import conditions_of
from ledger.events.decisions import Dissent
from ledger.events.experiments import (
    ClaimMove,
    ExperimentLimits,
    NamedBlob,
    Predicate,
    RunCounts,
)
from ledger.events.run import Labelled
from ledger.events.values import Evidence
from ledger.events.verifications import StatusChange
from ledger.format.canonical import NotCanonical, decode, encode, unknown_fields
from ledger.format.chain import seal
from ledger.format.upcasting import CHANGED, NEW_KINDS, older_of
from ledger.state.fold import fold
from ledger.store.store import RunStore, create_run
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


def line_of(event: Any, version: Any) -> dict[str, Any]:
    return dict(orjson.loads(seal([event], prev="0" * 64, seq=0, at=samples.AT, v=version).lines[0]))


# Bytes.


@pytest.mark.parametrize(
    ("event", "added"),
    [
        (samples.claim(1), {"how", "moves", "places"}),
        (samples.decision(1), {"falsifiers", "requirements", "name"}),
        (samples.statement(), set[str]()),
    ],
)
def test_a_version_1_line_has_the_fields_of_version_1(event: Any, added: set[str]) -> None:
    one, two = line_of(event, 1), line_of(event, 2)
    assert two.keys() - one.keys() == added
    assert (one["v"], two["v"]) == (1, 2)
    for line in (orjson.dumps(one), orjson.dumps(two)):
        assert encode(decode(line)) == line
        assert unknown_fields(line, decode(line)) == ()


@pytest.mark.parametrize(("field", "protocol"), [("falsifiers", "structured"), ("requirements", "panel")])
def test_conditions_of_version_1_are_read_as_what_the_protocol_asked_for(field: str, protocol: str) -> None:
    opened = msgspec.structs.replace(samples.opening(), protocol=protocol)
    draft = msgspec.structs.replace(samples.decision(1), **{field: ("it rains",)})
    one = line_of(draft, 1)
    assert one["conditions"] == ["it rains"]
    assert list(one)[list(one).index("conditions") - 1] == "confidence"
    read = decode(orjson.dumps(one))
    assert isinstance(read, Decision)
    assert getattr(conditions_of(read, opened), field) == ("it rains",)
    assert sum(map(len, conditions_of(read, opened))) == 1
    assert encode(read) == orjson.dumps(one)
    two = line_of(draft, 2)
    assert "conditions" not in two
    assert getattr(conditions_of(decode(orjson.dumps(two)), None), field) == ("it rains",)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "event",
    [
        msgspec.structs.replace(samples.claim(1), how="execution"),
        msgspec.structs.replace(samples.claim(1), moves=(Effect(option="O-1", direction="for", points=20),)),
        msgspec.structs.replace(
            samples.decision(1), dissent=(Dissent(role="critic", ref="N-1-1", text="No."),)
        ),
        msgspec.structs.replace(samples.decision(1), name="Ada"),
        belief("critic", O_1=60, none=40),
        plan(),
    ],
)
def test_what_version_1_cannot_say_is_refused_before_it_is_written(event: Any) -> None:
    with pytest.raises(NotCanonical, match="version 1"):
        line_of(event, 1)
    assert line_of(event, 2)["v"] == 2


def test_a_line_of_one_version_is_no_line_of_the_other() -> None:
    one = orjson.dumps(line_of(samples.claim(1), 1))
    two = orjson.dumps(line_of(samples.claim(1), 2))
    with pytest.raises(NotCanonical, match="missing"):
        decode(one.replace(b'"v":1,', b'"v":2,'))
    assert unknown_fields(two.replace(b'"v":2,', b'"v":1,'), decode(two.replace(b'"v":2,', b'"v":1,'))) == (
        "how",
        "moves",
        "places",
    )
    new = orjson.dumps(line_of(belief("critic", O_1=100), 2))
    with pytest.raises(NotCanonical, match="kind is unknown"):
        decode(new.replace(b'"v":2,', b'"v":1,'))


def test_a_status_change_brings_evidence_of_its_own_in_version_2() -> None:
    change = StatusChange(claim_id="C-1-1", from_="pending", to="tested_confirmed", bearing="supports")
    bare = msgspec.structs.replace(samples.verification(1), claim_status_changes=(change,))
    assert line_of(bare, 1)["claim_status_changes"][0].keys() == {"claim_id", "from", "to", "bearing"}
    with pytest.raises(NotCanonical, match="evidence"):
        line_of(bare, 2)
    own = msgspec.structs.replace(change, class_="argued", evidence=(Evidence(ref="A-1-critic"),))
    single = msgspec.structs.replace(
        bare, claim_status_changes=(own,), evidence_refs=(Evidence(ref="A-1-critic"),)
    )
    assert line_of(single, 2)["claim_status_changes"][0]["class"] == "argued"


def test_points_sum_to_100() -> None:
    with pytest.raises(NotCanonical, match="sum to 90"):
        line_of(belief("critic", O_1=60, none=30), 2)


def test_the_table_names_fields_that_are_there_and_every_old_shape_is_a_part_of_the_new_one() -> None:
    for present, changed in CHANGED.items():
        names = present.__struct_fields__
        assert set(changed.added) | set(changed.types) | set(changed.parts) <= set(names)
        older = older_of(present)
        assert older is not None
        kept = [name for name in older.shape.__struct_fields__ if name not in changed.split]
        assert kept == [name for name in names if name not in changed.added]
    assert len(NEW_KINDS) == 7


# Runs.


@pytest.mark.parametrize("version", [1, 2])
def test_a_run_goes_on_in_the_version_that_it_began_in(tmp_path: Path, version: Any) -> None:
    opening = msgspec.structs.replace(samples.opening(), v=version)
    run = create_run(tmp_path / "run", opening, blobs=samples.BLOBS, at=samples.AT)
    with run.writer() as writer:
        made = writer.commit([samples.claim(1), samples.decision(1)], at=samples.AT)
    assert {event.v for event in made} == {version}
    again = RunStore(tmp_path / "run")
    assert again.events()[1:] == made
    assert {orjson.loads(line)["v"] for _, _, line in again.lines()} == {version}
    assert not verify(tmp_path / "run").damaged


# The fold.


def test_beliefs_are_folded_with_the_latest_of_a_role_and_redraws_apart() -> None:
    opened = msgspec.structs.replace(samples.opening(), v=2)
    cast = (*opened.cast, msgspec.structs.replace(opened.cast[0], role="critic"))
    state = fold(
        [
            msgspec.structs.replace(opened, cast=cast),
            belief("critic", O_1=60, none=40),
            belief("action", O_1=100),
            belief("action", n=2, O_1=10, none=90),
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
    assert state.redraw is not None
    assert state.redraw.points == {"O-1": 10, "none": 90}


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
