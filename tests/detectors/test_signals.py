"""The report: its shape, its prefixes, what counts as a round, and what it must never depend on.

Of `detectors/observations.py`.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given, settings

from detectors.parameters import PROFILES, params_bytes, params_hash, published_parameters
from detectors.report import EVIDENCE_MAX
from detectors.signals import UnknownProfile, signals, signals_of_state
from ledger.events import Event, Fallback, RoundOpened, RunOpened, Validation
from ledger.events.decisions import SignalReading
from ledger.events.envelope import DECIMAL_PATTERN, Call, Context, Quorum
from ledger.events.run import PlanRow
from ledger.state.book import book
from ledger.state.fold import fold
from moot.view.stop_checks import because
from tests.detectors.generated import rows as generated_rows
from tests.detectors.ledgers import NO_HASH, Blobs, built, ends, run_opened, verification
from tests.detectors.made import a_change, a_claim, a_verification, disagreement, first_tests, leads, report
from tests.oracles.rows import Rows

PHASES = ("A", "B", "C", "D", "E", "F", "G")
CALL = Call(
    seat="tape",
    provider=None,
    model=None,
    context=Context(mode=None, id=None),
    isolation="enforced",
    prompt_set=NO_HASH,
    brief=NO_HASH,
    reply=NO_HASH,
    attempts=(),
    tokens_in=None,
    tokens_cached=None,
    tokens_cache_write=None,
    tokens_out=None,
    cost_usd=None,
    latency_ms=None,
    stop_reason=None,
    simulated="fake",
)


def live(*drafts: Event) -> tuple[Event, ...]:
    """A run of our own: its opening and `drafts`, numbered."""
    events = (run_opened(origin="new"), *drafts)
    return tuple(msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events))


def round_opened(number: int, lead: str = "action", absent: str | None = None) -> Event:
    return RoundOpened(
        round=number, phase="A", by="controller", lead=lead, focus="f", absent=absent, plan_row=0
    )


def check(number: int, n: int, result: str, name: str | None = None) -> Event:
    row = {**a_verification(number, n, result), "check": name} if name else a_verification(number, n, result)
    return msgspec.structs.replace(verification(row), by="verifier")


def validation(number: int) -> Event:
    return Validation(round=number, phase="G", by="controller", after="G", through=1, ok=True, rules=NO_HASH)


def whole_round(number: int, results: str, **opening: str) -> list[Event]:
    words = {"B": "BROKEN", "R": "ROBUST"}
    checks = [check(number, n, words[letter]) for n, letter in enumerate(results, start=1)]
    return [round_opened(number, **opening), *checks, validation(number)]


def test_an_empty_ledger_satisfies_nothing_and_says_continue():
    found = signals(book((), Blobs()), "published")
    assert found.model_dump() == {
        "run": "",
        "profile": "published",
        "at": -1,
        "round": 0,
        "verdict": "go_on",
        "headline": "",
        "waits_for": [],
        "satisfied": 0,
        "of": 6,
        "stop": False,
        "advice": "continue",
        "quorum": {"declared": 0, "actual": 0},
        "ready": False,
        "gates": [],
        "signals": [signal.model_dump() for signal in found.signals],
        "alarms": [],
    }
    assert [list(signal.model_dump()) for signal in found.signals] == [
        ["id", "name", "satisfied", "value", "threshold", "detail", "evidence"]
    ] * 6


def test_a_report_dumps_what_its_json_holds():
    found = report(disagreement([4, 3, 2, 1, 0, 0]), "published")
    assert found.alarms
    assert found.model_dump() == json.loads(found.model_dump_json())
    state = built(Rows()).state
    assert signals_of_state(state, "published", run="2026-01-01-storage").run == "2026-01-01-storage"


def healthy() -> Rows:
    """Six of six."""
    rows = first_tests([4, 4, 4, 1, 1, 1, 0, 0])
    for number in range(1, 9):
        rows.verifications += [a_verification(number, n, "UNCLEAR") for n in (2, 3)]
    rows.lead_history = leads(
        {
            **{n: (role, None) for n, role in enumerate(("action", "guardian", "observer", "critic"), 1)},
            **{n: ("guardian", role) for n, role in enumerate(("critic", "action", "observer"), 5)},
            8: ("guardian", None),
        }
    )
    rows.drift_checks = [{"round": 5, "verdict": "PASS"}]
    return rows


def without(number: int) -> Rows:
    """`healthy` with signals S1 … S`number` broken."""
    rows = healthy()
    if number >= 1:
        rows.verifications[7]["claim_status_changes"] = [a_change(f"C-1-{n}") for n in range(1, 9)]
        rows.verifications[0]["claim_status_changes"] = []
    if number >= 2:
        late = [row for row in rows.verifications if row["round"] >= 3 and row["result"] == "UNCLEAR"]
        rows.verifications = [row for row in rows.verifications if row not in late]
    if number >= 3:
        rows.lead_history[3]["lead"] = "action"
    if number >= 4:
        rows.lead_history = rows.lead_history[:4]
    if number >= 5:
        rows.drift_checks = [{"round": 5, "verdict": "FAIL"}]
    if number >= 6:
        rows.claims += [a_claim(2, n) for n in range(1, 40)]
    return rows


def test_sd_60_the_count_gives_the_advice():
    reports = [report(without(number), "published") for number in range(7)]
    assert [found.satisfied for found in reports] == [6, 5, 4, 3, 2, 1, 0]
    assert [found.advice for found in reports] == ["strong_stop", "wrap_up", "borderline", *["continue"] * 4]
    assert [found.stop for found in reports] == [found.ready for found in reports] == [True] * 3 + [False] * 4


def test_an_unknown_profile_is_refused():
    with pytest.raises(UnknownProfile, match="guesswork"):
        signals(built(Rows()), "guesswork")


@pytest.mark.slow
@settings(max_examples=40)
@given(generated_rows())
def test_a_prefix_reads_like_the_ledger_that_stopped_there(rows):
    made = built(rows)
    for at in {0, len(made.events) // 2, *ends(made).values()}:
        for profile in PROFILES:
            cut = signals_of_state(fold(made.events[: at + 1]), profile, made.blobs)
            found = signals(made, profile, at)
            assert found == cut
            if at == made.events[-1].seq:
                assert found == signals(made, profile) == signals(made, profile, at + 10)


@settings(max_examples=40)
@given(generated_rows())
def test_every_reading_can_be_recorded(rows):
    made = built(rows)
    known = {event.id for event in made.events} | {f"@{event.seq}" for event in made.events}
    known |= {document.id for document in made.of(RunOpened)[0].context}
    for profile in PROFILES:
        for signal in signals(made, profile).signals:
            assert len(signal.evidence) <= EVIDENCE_MAX
            assert set(signal.evidence) <= known
            for number in (signal.value, signal.threshold):
                assert number is None or re.match(DECIMAL_PATTERN, number)
                assert number is None or len(number.partition(".")[2]) <= 6
            msgspec.convert(
                {
                    name: value
                    for name, value in signal.model_dump().items()
                    if name not in ("name", "detail")
                },
                SignalReading,
            )


def test_evidence_is_the_latest_and_bounded():
    found = report(disagreement([60, 60, 60]), "published").signals[1]
    assert len(found.evidence) == EVIDENCE_MAX
    assert found.evidence[0] == "V-3-2"


def test_a_half_checked_round_of_a_live_run_is_no_round_of_the_text_yet():
    past = [event for number in (1, 2, 3) for event in whole_round(number, "BB")]
    running = [round_opened(4, lead="critic"), check(4, 1, "ROBUST")]
    state = fold(live(*past, *running))
    assert signals_of_state(state, "published").signals[1].value == "0"
    assert "critic" in signals_of_state(state, "published").signals[2].detail
    done = fold(live(*past, *running, validation(4)))
    assert signals_of_state(done, "published").signals[1].value == "-0.6"
    assert "critic" not in signals_of_state(done, "published").signals[2].detail


def test_a_live_stress_round_counts_for_the_text_when_it_is_over():
    running = [round_opened(1, absent="critic")]
    for state, absent in (
        (fold(live(*running)), "0"),
        (fold(live(*running, check(1, 1, "ROBUST"), validation(1))), "1"),
    ):
        assert signals_of_state(state, "published").signals[3].value == absent


def test_the_synthesis_is_no_round_of_the_text():
    rows = first_tests([4, 4, 4, 1, 1, 1, 0])
    before = report(rows, "published")
    rows.claims += [a_claim(7, n) for n in range(1, 13)]
    moves = [a_change(f"C-7-{n}") for n in range(1, 13)]
    rows.verifications += [
        {**a_verification(7, n + 4, "UNCLEAR", move), "check": "synthesis_resolution"}
        for n, move in enumerate(moves[:6], start=1)
    ] + [
        {**a_verification(8, n + 4, "UNCLEAR", move), "check": "synthesis_resolution"}
        for n, move in enumerate(moves[6:], start=1)
    ]
    rows.lead_history += leads({8: ("critic", None)})
    after = report(rows, "published")
    assert after.signals[0] == before.signals[0]
    assert after.signals[0].satisfied
    assert after.signals[1] == before.signals[1]
    assert after.signals[5].value == "0.444444"  # what only the closing settled was never tested


def test_a_repeated_judgement_is_no_new_disagreement_for_the_text():
    rows = disagreement([1, 1, 1])
    rows.verifications.append({**a_verification(3, 9, "BROKEN"), "repeats": "V-3-2"})
    assert report(rows, "published").signals[1].value == "0"


@pytest.mark.parametrize(("roles", "needed"), [(("action", "critic"), "1"), (tuple("abcde"), "4")])
def test_n_is_the_cast_without_the_verifier(roles, needed):
    rows = Rows(roles=roles, lead_history=leads({n: (role, None) for n, role in enumerate(roles, start=1)}))
    found = report(rows, "published")
    assert found.signals[2].satisfied
    assert found.signals[3].threshold == needed
    assert not report(rows.upto(len(roles) - 1), "published").signals[2].satisfied


def test_the_quorum_counts_steps_that_seats_really_answered():
    answered = [
        msgspec.structs.replace(check(1, n, "ROBUST"), step=f"r1.E.check{n}.verifier", call=CALL)
        for n in (1, 2, 3)
    ]
    failed = Fallback(
        round=1,
        phase="E",
        by="controller",
        role="verifier",
        step_failed="r1.E.check4.verifier",
        reason="timeout",
        detail="no reply in 60 s",
        instead="skipped",
        quorum=Quorum(declared=4, actual=3),
    )
    found = signals_of_state(fold(live(round_opened(1), *answered, failed)), "published")
    assert (found.quorum.declared, found.quorum.actual) == (4, 3)
    assert report(disagreement([1, 2]), "published").quorum.model_dump() == {"declared": 0, "actual": 0}


def test_parameters_are_named_by_the_hash_of_their_file():
    for profile in PROFILES:
        content = params_bytes(profile)
        assert params_hash(profile) == sha256(content).hexdigest()
    assert published_parameters().roles_were_stressed.or_role == "critic"


def test_a_plan_that_is_over_with_few_signals_is_overrun():
    """FM-8 (SD-85): the planned rounds were held, and at most three signals hold."""
    opened = run_opened(origin="new")
    plan = tuple(PlanRow(round=number, phases=PHASES) for number in (1, 2))
    held = [event for number in (1, 2) for event in whole_round(number, "BB")]
    for rows, alarmed in ((plan, ["FM-8"]), ((*plan, PlanRow(round=3, phases=PHASES)), [])):
        events = (msgspec.structs.replace(opened, plan=rows), *held)
        state = fold(msgspec.structs.replace(event, seq=seq) for seq, event in enumerate(events))
        assert [alarm.id for alarm in signals_of_state(state, "published").alarms] == alarmed


def test_a_fall_that_the_text_lets_pass_is_not_called_persistence():
    """R-18: S2 "persists" held at slope −0.35: the published exception, and it is said to be one (SD-63)."""
    falling = report(disagreement([4, 4, 3, 2, 1, 1, 0, 0]), "published")
    signal = falling.signals[1]
    assert signal.satisfied
    assert float(signal.value or 0) < -0.35
    assert signal.name == "Disagreement fades with discovery"
    assert "it falls" in signal.detail
    assert "SD-63" in signal.detail
    steady = report(disagreement([2, 2, 2, 2, 2, 2]), "published").signals[1]
    assert (steady.satisfied, steady.name) == (True, "Disagreement persists")


def test_a_stop_with_an_open_alarm_says_the_alarm_first():
    """R-18: `published` said stop while its own FM-1 alarm was open, and only that."""
    found = report(disagreement([3, 3, 2, 1, 0, 0, 0, 0]), "published")
    assert [alarm.id for alarm in found.alarms if alarm.is_open] == ["FM-1"]
    stopping = msgspec.structs.replace(found, stop=True)
    assert because(stopping).startswith("roles give in (FM-1): alarmed and unanswered. Says stop because ")
    calm = report(healthy(), "published")
    assert calm.stop
    assert because(calm).startswith("Says stop because ")
