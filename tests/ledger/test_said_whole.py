"""R-28: nothing is concluded from a sum, from the first hundred, or from a line that was read over."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ledger.audit.problems import PROBLEMS_MAX
from ledger.audit.verify import problems_of, verify
from ledger.events import Amendment, Statement
from ledger.events.envelope import Section
from ledger.events.run import Change
from ledger.state.book import per_state, sections_of
from ledger.state.fold import step
from ledger.state.state import State
from ledger.store.blobs import BlobStore, blob_line
from ledger.store.failures import WriteFailed
from ledger.store.spending import Entry, Spending, SpendingUnreadable
from ledger.store.store import RunStore
from tests.blob_lines import lose, write_lines
from tests.rounds.openings import begin, play, rows


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with more blobs of replies than are ever told."""
    path = tmp_path_factory.mktemp("many") / "run"
    assert play(begin(path, rows(6))).state == "finished"
    return path


def _redacted(path: Path, count: int) -> list[str]:
    """Remove so many blobs of replies on purpose, and say so on the ledger; the names of the others."""
    run = RunStore(path)
    replies = list(dict.fromkeys(call.reply for event in run.events() if (call := event.call) is not None))
    change = tuple(Change(path=f"blobs/{one}", from_=one, to=None) for one in replies[:count])
    state = run.book().state
    said: dict[str, Any] = {"round": state.round, "phase": "close", "by": "human"}
    with run.writer() as writer:
        drafts = [
            Amendment(**said, what="redaction", change=change, cause="human", reason="They name people.")
        ]
        writer.commit(drafts, at="2026-01-02T00:00:00.000000Z")
        writer.redact(replies[:count])
    return replies[count:]


def test_what_comes_after_a_hundred_harmless_things_is_found(many: Path, tmp_path: Path) -> None:
    """R-28: a missing blob behind a hundred redacted ones passed as intact."""
    path = Path(shutil.copytree(many, tmp_path / "run"))
    left = _redacted(path, PROBLEMS_MAX + 5)
    assert verify(path).ok
    lose(path, left[-1])
    report = verify(path)
    assert report.damaged
    assert any("is missing" in problem.what for problem in report.problems)
    assert any(problem.what == "and 5 more of this kind" for problem in report.problems)
    run = RunStore(path)
    assert any(problem.is_damage for problem in problems_of(run))


def test_after_a_hundred_changed_blobs_the_others_are_counted(many: Path, tmp_path: Path) -> None:
    """R-28: the audit goes to the end, and says how much more there is."""
    path = Path(shutil.copytree(many, tmp_path / "run"))
    lines = [line for _, line in BlobStore(path).lines()]
    write_lines(path, (line[:75] + blob_line(b"other")[75:] for line in lines))
    report = verify(path)
    told = [problem.what for problem in report.problems]
    assert len([one for one in told if "has other bytes" in one]) == PROBLEMS_MAX
    assert any(one.endswith("more of this kind") for one in told)
    run = RunStore(path)
    assert len(problems_of(run)) == len(told)


# ---------------------------------------------------------------- what was spent


def entry(n: int) -> Entry:
    return Entry("reserve", n, "r1.B.action", 1, 10, 5)


def test_a_line_that_a_kill_cut_short_is_no_act(tmp_path: Path) -> None:
    spending = Spending(tmp_path)
    for n in range(1, 4):
        spending.note(entry(n))
    whole = spending.path.read_bytes()
    for size in range(len(whole) + 1):
        spending.path.write_bytes(whole[:size])
        spending.note(entry(9))  # the next driver goes on behind it
        assert [one.n for one in spending.entries()][-1] == 9
        assert len(list(spending.entries())) in (1, 2, 3, 4)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"[]",
        b"{}",
        b'{"act":"reserve","n":1,"step":"r1.B.action","calls":1,"tokens":10}',
        b'{"act":"reserve","n":1,"step":"r1.B.action","calls":"many","tokens":10,"micro_usd":5}',
        b'{"act":"reserve","n":1,"step":"r1.B.action","calls":-9,"tokens":10,"micro_usd":5}',
        b'{"act":"forget","n":1,"step":"r1.B.action","calls":1,"tokens":10,"micro_usd":5}',
        b'{"act":"reserve","n":1,"step":"r1.B.action","calls":1,"tokens":10,"micro_usd":5,"more":1}',
        b"\xff\xfe",
    ],
)
def test_a_line_that_is_no_act_is_said(line: bytes, tmp_path: Path) -> None:
    """R-28: read over, it would let a budget be spent twice."""
    spending = Spending(tmp_path)
    spending.note(entry(1))
    with spending.path.open("ab") as file:
        file.write(b"\n" + line)
    spending.note(entry(2))
    with pytest.raises(SpendingUnreadable, match=r"spending\.jsonl:3"):
        list(spending.entries())


def test_an_act_is_written_whole_though_the_system_takes_it_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-28: a write may take less than it was given."""
    real = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: real(descriptor, bytes(content[:7])))
    Spending(tmp_path).note(entry(1))
    assert [one.n for one in Spending(tmp_path).entries()] == [1]


def test_an_act_that_cannot_be_written_is_said_before_anything_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteFailed, match="No space left"):
        Spending(tmp_path).note(entry(1))


# ---------------------------------------------------------------- sections


def statement(*sections: tuple[str, str]) -> Statement:
    parts = tuple(Section(name=name, text=text) for name, text in sections)
    return Statement(
        round=1, phase="B", by="action", id="S-1-B-action", type="proposal", sections=parts, words=9
    )


def test_a_section_called_p1_is_not_hidden_by_the_first_paragraph() -> None:
    """R-28: what stands under an anchor is everything that is called so."""
    found = sections_of(statement(("main", "First.\n\nSecond."), ("p1", "The section.")))
    assert found["p1"] == ("The section.", "First.")
    assert found["p2"] == ("Second.",)
    assert found["p3"] == ("The section.",)
    assert found["main"] == ("First.\n\nSecond.",)


def test_nor_is_a_section_by_another_of_its_name() -> None:
    """R-28: a sibling, which an import may bring."""
    assert sections_of(statement(("main", "First."), ("main", "Second.")))["main"] == ("First.", "Second.")


def test_a_fact_about_a_state_is_derived_once_and_again_after_each_event(many: Path) -> None:
    derived: list[int] = []

    @per_state
    def first_gap(state: State) -> None:
        """None is a fact too."""
        derived.append(state.seq)

    one, other = State(), State()
    events = list(RunStore(many).events())[:40]
    for event in events:
        step(one, event)
        for _ in range(3):
            first_gap(one)
    assert derived == [event.seq for event in events]
    step(other, events[0])
    first_gap(other)
    first_gap(one)
    assert derived[len(events) :] == [0], "of another state, and of the one that stayed"
    unread = State()
    first_gap(unread)
    first_gap(unread)
    assert derived[-2:] == [-1, -1], "what has read no ledger may change under one number"
