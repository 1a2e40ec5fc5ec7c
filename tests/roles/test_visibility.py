"""What a brief shows: exactly the columns of its row in FORMAT 5, for every kind of step."""

from __future__ import annotations

import pytest

from tests.roles.factory import word, words_in
from tests.roles.runs import brief_of, group_of, run, steps_of_run

AUTHORS = ("action", "guardian", "observer", "critic")
PRESENT = ("action", "guardian", "critic")
Q = ("question", "G-1", "G-2", "O-1", "K-1")
GOALS = ("G-1", "G-2")
"""All that a drift check sees of the question."""

OF_D1 = ("C-1-1", "C-1-2", "C-1-3", "C-1-4", "C-1-5")
ART1 = tuple(f"A-1-{role}" for role in AUTHORS)
TALK1 = ("S-1-B-action", *(f"S-1-C-{role}" for role in AUTHORS[1:]))
POS1 = tuple(f"P-1-{n}-{role}" for n in (1, 2, 3) for role in AUTHORS)
V1 = ("V-1-1", "V-1-2", "V-1-3", "V-1-4")
SEEN1 = (*Q, "focus-1", *TALK1, *ART1, *OF_D1, *V1)
ALL1 = (*SEEN1, *POS1)

PLACE1 = ("S-1-C-observer",)
"""Where C-1-4 points."""
PLACE2 = ("A-1-guardian",)
"""Where C-1-6 points."""
UNANSWERED1 = ("H-1", "N-1-2")

OLD2 = ("C-1-2", "C-1-3", "C-1-5", "C-1-6")
OF_D2 = ("C-2-1", "C-2-2")
ART2 = tuple(f"A-2-{role}" for role in PRESENT)
TALK2 = ("S-2-B-guardian", "S-2-C-action", "S-2-C-critic")
POS2 = tuple(f"P-2-{n}-{role}" for n in (1, 4) for role in PRESENT)
V2 = ("V-2-1", "V-2-2", "V-2-3", "V-2-4")
FRONT2 = (*Q, "focus-2", "D-1-1", *OLD2)
SEEN2 = (*Q, "focus-2", "D-1-1", *TALK2, *ART2, *OF_D2, *V2)
ALL2 = (*SEEN2, *OLD2, *POS2)
EVERY = (*OF_D1, "C-1-6", *OF_D2)

SHOWN: dict[str, tuple[str, ...]] = {
    "r1.B.action": (*Q, "focus-1"),
    **{f"r1.C.{role}": (*Q, "focus-1", "S-1-B-action") for role in AUTHORS[1:]},
    **{f"r1.D.{role}": (*Q, "focus-1", *TALK1) for role in AUTHORS},
    **{f"r1.E.position.{role}": (*Q, "focus-1", *ART1, *OF_D1) for role in AUTHORS},
    "r1.E.check1.verifier": (*Q, "A-1-action", "A-1-critic", *OF_D1, *PLACE1),
    "r1.E.check2.verifier": (*Q, "A-1-guardian", "A-1-observer", *OF_D1, *PLACE1),
    "r1.E.check3.verifier": (*Q, "A-1-observer", "A-1-critic", *OF_D1, *PLACE1, "V-1-1", "V-1-2"),
    **{f"r1.F.{role}": SEEN1 for role in AUTHORS},
    "r1.G.action": (*ALL1, "F-1-1-action", "N-1-1", "C-1-6", "dissent-1"),
    "r1.H.verifier": (*GOALS, "D-1-1"),
    "r2.B.guardian": (*FRONT2, "N-1-1", *UNANSWERED1),
    **{f"r2.C.{role}": (*Q, "focus-2", "D-1-1", "S-2-B-guardian") for role in ("action", "critic")},
    **{f"r2.D.{role}": (*FRONT2, *TALK2) for role in PRESENT},
    **{
        f"r2.E.position.{role}": (*Q, "focus-2", "D-1-1", "C-1-5", "C-1-6", *ART2, *OF_D2) for role in PRESENT
    },
    "r2.E.check1.verifier": (*Q, *OLD2, "A-2-action", "A-2-critic", *OF_D2, *PLACE2),
    "r2.E.check4.verifier": (*Q, *OLD2, "D-1-1", *ART2, *OF_D2, *PLACE2),
    **{f"r2.F.{role}": SEEN2 for role in PRESENT},
    "r2.G.guardian": (*ALL2, "N-2-1", "dissent-2"),
    "r2.H.verifier": (*GOALS, "D-2-1"),
    "r2.S.resolve.verifier": (
        *(*Q, "C-1-6", "C-2-1", "V-2-4"),
        *("A-1-observer", "A-2-action", "A-2-critic", *PLACE2),
    ),
    **{f"r2.S.review.{role}": (*Q, "D-2-1", *EVERY, "V-2-1", "N-1-1") for role in AUTHORS},
    "r2.S.close.guardian": (
        *(*Q, "D-2-1", *EVERY, "V-2-1", "N-1-1", "A-2-action"),
        *(f"S-2-S-review-{role}" for role in AUTHORS),
    ),
}

NEVER = (
    *(
        "predict",
        "signature-2",
        "waiver",
        "screening",
        "alarm",
        "reason",
        "note",
        "finding",
        "plan-1",
        "domain",
    ),
    *("provider", "model", "stop_reason", "N-2-2", "H-2", "S-1-G-action", "S-1-F-critic"),
)
NUMBERS = (
    "987654",
    "876543",
    "76.54",
    "765432",
    "543210",
    "654321",
    "0.123",
    "12.34",
    "e-value",
    "simulated",
)


def test_the_table_names_every_step_of_the_run() -> None:
    assert set(SHOWN) == set(steps_of_run())


@pytest.mark.parametrize("step", SHOWN)
def test_a_brief_shows_its_columns_and_nothing_else(step: str) -> None:
    role = step.rsplit(".", 1)[1]
    own = {word(f"title-{role}"), word(f"charge-{role}")}
    against = {word(f"dissent-{n}") for n in (1, 2) if f"D-{n}-1" in SHOWN[step]}
    assert words_in(brief_of(run(), step).text) == own | against | {word(name) for name in SHOWN[step]}


def test_every_canary_that_must_never_show_is_really_on_the_ledger() -> None:
    written = " ".join(str(event) for event in run().events)
    assert {word(name) for name in NEVER} <= words_in(written)
    shown = {name for names in SHOWN.values() for name in names}
    assert not shown.intersection(NEVER)


@pytest.mark.parametrize("step", SHOWN)
def test_numbers_of_calls_budgets_signals_and_alarms_never_show(step: str) -> None:
    text = brief_of(run(), step).text
    assert [number for number in NUMBERS if number in text] == []


@pytest.mark.parametrize("step", SHOWN)
def test_saw_is_what_the_brief_quotes(step: str) -> None:
    brief, events = brief_of(run(), step), run().events
    assert brief.saw == tuple(sorted(set(brief.saw)))
    assert brief.saw[-1] < run().state.answered[step]
    named = {event.id for seq in brief.saw if (event := events[seq]).id is not None}
    records = {name for name in SHOWN[step] if name[:2] not in ("G-", "O-", "K-") and name[0].isupper()}
    statuses = {made for name in named for made in _made(str(name))}
    failed = {"H-1"} if step == "r2.H.verifier" else set()
    objections = {f"S-{n}-F-critic" for n in (1, 2) if f"dissent-{n}" in SHOWN[step]}
    assert named == records | {made for made in statuses if _before(made, step)} | failed | objections
    kinds = {event.kind for seq in brief.saw if (event := events[seq]).id is None}
    assert kinds <= {"run_opened", "round_opened", "amendment"}
    assert brief.saw[0] == 0


def _made(claim: str) -> set[str]:
    """What made the status of a claim in the end."""
    facts = run().state.claims.get(claim)
    return {entry.by for entry in facts.history} if facts else set()


def _before(made: str, step: str) -> bool:
    """Whether a maker of a status was on the ledger when the step's group opened."""
    siblings = group_of(run(), step).steps
    return run().by_id[made].seq < min(run().state.answered[sibling.id] for sibling in siblings)


@pytest.mark.parametrize(
    "step", [step for step in SHOWN if ".S." in step or step.endswith((".F.critic", ".H.verifier"))]
)
def test_the_absent_role_left_nothing_of_its_round(step: str) -> None:
    text = brief_of(run(), step).text
    assert not [name for name in ("A-2-observer", "S-2-C-observer", "P-2-1-observer") if name in text]


def test_plan_says_who_is_absent_and_the_verifier_learns_no_more() -> None:
    assert "absent this round: observer" in brief_of(run(), "r2.E.check1.verifier").text
    assert "lead:" not in brief_of(run(), "r2.E.check1.verifier").text
    assert "lead: guardian" in brief_of(run(), "r2.C.critic").text


def test_a_charter_amendment_reaches_its_role_alone() -> None:
    rule = str(brief_of(run(), "r2.C.critic").text.split("# Rules added during this run\n")[1].split("\n")[1])
    assert rule.startswith("Until further notice the critic attacks one specific thing")
    for step in ("r1.D.critic", "r2.D.action", "r2.E.position.critic", "r2.E.check1.verifier"):
        assert "Until further notice" not in brief_of(run(), step).text


def test_a_status_stands_with_what_made_it() -> None:
    text = brief_of(run(), "r2.B.guardian").text
    assert "C-1-2 · claim by guardian, round 1 · tested_confirmed: V-1-2 (ROBUST, supports)" in text
    closing = brief_of(run(), "r2.S.close.guardian").text
    assert "· superseded: V-1-1 (BROKEN, contradicts), replaced by C-2-1" in closing
    assert "· tested_confirmed: V-1-3 (UNCLEAR, inconclusive), V-2-4 (ROBUST, supports)" in closing


def test_a_failed_drift_check_can_be_answered_by_the_next_one() -> None:
    assert "`addresses`: null." in brief_of(run(), "r1.H.verifier").text
    assert "not answered yet: H-1." in brief_of(run(), "r2.H.verifier").text
