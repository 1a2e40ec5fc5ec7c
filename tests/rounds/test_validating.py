"""When the rules are asked: after each phase in new runs of `structured`, where an error holds the run up."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ledger.events import Decision, Validation
from ledger.events.envelope import Severity
from ledger.events.verifications import FINDINGS_MAX, ValidationFinding
from ledger.state.book import Book
from ledger.state.faults import Faults, finding_key
from ledger.state.fold import fold, step
from moot.view.status import status_text
from roles.protocol import Protocol
from roles.seats.port import Answer
from rounds.run.human_actions import acknowledge, override
from rounds.run.session import RunSession, start
from rounds.run.verdicts import Verdicts, standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.rounds.openings import clock, play
from tests.rounds.scripted import Script
from validators.finding import ReportedFinding
from validators.rulebook import CheckReport


class Complaint:
    """The rules, and one more that complains while it is told to."""

    def __init__(self) -> None:
        self.complains = False
        self.about = 1
        self.warnings = 0

    def __call__(self, protocol: Protocol) -> Verdicts:
        complaint = self

        class Complaining(Verdicts, frozen=True):
            def check(self, book: Book) -> CheckReport:
                report = super().check(book)
                wrong = ReportedFinding("ID001", "error", complaint.about, None, None, "complained about")
                minor = ReportedFinding("EVI001", "warning", 0, None, None, "worth a look")
                findings = [*[minor] * complaint.warnings, *report.findings]
                if complaint.complains:
                    findings.append(wrong)
                return msgspec.structs.replace(
                    report, ok=report.ok and not complaint.complains, findings=findings
                )

        return Complaining(protocol)


def begin(path: Path, verdicts: Complaint | None = None, **rules: str) -> RunSession:
    table = {
        "deliberation": {"question": "Which?", "goals": ["One"], "options": ["a", "b"], "plan": "short-5"},
        "rules": rules,
    }
    made = resolve(checked(table), {}, moot="0.1.0")
    return start(path, made.event, blobs=made.blobs, files={}, verdicts=verdicts or standard, clock=clock())


def validations(session: RunSession) -> list[str]:
    return [f"R{event.round} {event.after}" for event in session.book().of(Validation)]


def test_every_phase_of_a_round_is_validated_where_it_closes(tmp_path: Path) -> None:
    session = begin(tmp_path / "run")
    play(session, Script(seed=2))
    told = validations(session)
    assert told[:6] == [f"R1 {phase}" for phase in "BCDEFG"]
    assert [one for one in told if one.startswith("R3")] == [f"R3 {phase}" for phase in "BCDEFGH"]
    assert told[-1].endswith(" S")
    assert len(told) == len(set(told))
    for event in session.book().of(Validation):
        assert event.ok
        assert event.through == event.seq - 1


def test_round_asks_once_a_round_as_before(tmp_path: Path) -> None:
    session = begin(tmp_path / "run", validate="round")
    play(session, Script(seed=2))
    assert validations(session)[:3] == ["R1 G", "R2 G", "R3 H"]


@pytest.mark.parametrize("way", ["mended", "overridden", "acknowledged"])
def test_an_error_holds_the_run_up_until_it_is_mended_or_let_go(tmp_path: Path, way: str) -> None:
    complaint = Complaint()
    session = begin(tmp_path / "run", complaint)
    complaint.complains = True
    script = Script(seed=2)
    (first,) = session.pending()
    host = Answer(seat="host", isolation="trusted")
    session.submit(first.step.id, script.reply(session.book(), first.step, first.brief.saw), host)
    state = session.book().state
    (found,) = session.book().of(Validation)
    assert (found.after, found.ok, state.held_up) == ("B", False, (f"@{found.seq}",))
    assert session.pending() == ()
    said = status_text("run", state, None)
    assert f"by an error that the validation @{found.seq} found" in " ".join(said.split())
    assert "asked after R1 B: an error" in said
    if way == "mended":
        complaint.complains = False
        session.settle()
    else:
        let_go = override if way == "overridden" else acknowledge
        let_go(session, f"@{found.seq}", "It is known and harmless.")
    complaint.complains = False
    assert session.book().state.held_up == ()
    assert {one.step.task for one in session.pending()} == {"C"}
    end = play(session, script)
    assert session.book().state.finished, end


def test_an_error_that_was_let_go_holds_the_run_up_no_second_time(tmp_path: Path) -> None:
    complaint = Complaint()
    session = begin(tmp_path / "run", complaint)
    complaint.complains = True
    script = Script(seed=2)
    play(session, script)
    (first,) = session.book().of(Validation)
    assert session.book().state.held_up == (f"@{first.seq}",)
    override(session, f"@{first.seq}", "It is known and harmless.")
    end = play(session, script)
    assert end.state == "finished"
    again = [event for event in session.book().of(Validation) if not event.ok]
    assert len(again) > 6
    overrides = [event for event in session.book().of(Decision) if event.type == "override"]
    assert len(overrides) == 1


@pytest.mark.parametrize("warnings", [99, 100, 250])
def test_warnings_beyond_the_longest_list_hide_no_error_that_was_let_go(
    tmp_path: Path, warnings: int
) -> None:
    complaint = Complaint()
    session = begin(tmp_path / "run", complaint)
    complaint.complains, complaint.warnings = True, warnings
    script = Script(seed=2)
    play(session, script)
    (first,) = session.book().of(Validation)
    assert len(first.findings) == FINDINGS_MAX
    assert [entry.code for entry in first.findings if entry.severity == "error"] == ["ID001"]
    override(session, f"@{first.seq}", "It is known and harmless.")
    # Every later validation finds the error again, among as many warnings.
    assert play(session, script).state == "finished"


def test_a_list_that_is_cut_names_new_errors_first() -> None:
    def found(code: str, severity: Severity, *seqs: int) -> tuple[ValidationFinding, ...]:
        return tuple(ValidationFinding(code=code, severity=severity, seq=seq, message="m") for seq in seqs)

    known, new = found("ID001", "error", *range(10, 80)), found("LIF003", "error", 90, 91)
    minor = found("EVI001", "warning", *range(10, 60))
    faults = Faults(let_go=frozenset(finding_key(each) for each in known))
    assert faults.kept(minor + known + new) == new + (minor + known)[: FINDINGS_MAX - 2]
    assert faults.kept(minor + new) == minor + new


def test_another_error_holds_it_up_again(tmp_path: Path) -> None:
    complaint = Complaint()
    session = begin(tmp_path / "run", complaint)
    complaint.complains = True
    script = Script(seed=2)
    play(session, script)
    override(session, session.book().state.held_up[0], "It is known and harmless.")
    complaint.about = 2
    play(session, script)
    assert session.book().state.held_up


def test_an_error_of_imported_rounds_only_warns(tmp_path: Path) -> None:
    state = fold(begin(tmp_path / "run").book().events)
    finding = ValidationFinding(code="LIF003", severity="error", seq=4, message="moved without a bearing")
    found = Validation(
        round=1,
        phase="B",
        by="controller",
        after="B",
        rules="0" * 64,
        through=9,
        ok=False,
        findings=(finding,),
    )
    step(state, msgspec.structs.replace(found, seq=10))
    assert list(state.held_up) == ["@10"]
    state.faults.imported_before = 5
    step(state, msgspec.structs.replace(found, seq=11))
    assert list(state.held_up) == []
    own = msgspec.structs.replace(found, findings=(msgspec.structs.replace(finding, seq=6),))
    step(state, msgspec.structs.replace(own, seq=12))
    assert list(state.held_up) == ["@12"]
