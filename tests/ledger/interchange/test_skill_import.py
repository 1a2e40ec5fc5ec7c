"""Importing a state directory: what becomes what, in which order, and what is refused (FORMAT 12).

Of `ledger/interchange/skill_events.py`, `ledger/interchange/skill_rows.py`, `ledger/interchange/skill_written.py`.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ledger.audit.verify import verify
from ledger.events import Claim, Decision, DriftCheck, Flip, Position, RoundOpened, RunOpened, Verification
from ledger.format.canonical import encode
from ledger.interchange.formats import UnknownFormat, import_run
from ledger.interchange.skill_import import NotAStateDirectory, Terms, read_skill
from ledger.store.commit import AlreadyARun
from ledger.store.store import RunStore
from tests.data import LABELLED
from tests.ledger.interchange.sources import (
    AT,
    SMALL,
    Row,
    Rows,
    directories,
    imported,
    lines,
    source,
)


def small(**changes: Any) -> dict[str, list[Row]]:
    """The small directory with keys of the first row of some files changed; "REMOVED" takes a key away."""
    rows: dict[str, list[Row]] = copy.deepcopy(dict(SMALL))
    for name, change in changes.items():
        row = rows[name][0]
        row.update(change)
        rows[name][0] = {key: value for key, value in row.items() if value != "REMOVED"}
    return rows


def test_what_becomes_what() -> None:
    book = imported(source(SMALL))
    opening = book.state.opened
    assert opening is not None
    assert (opening.by, opening.origin.type, opening.protocol) == ("import", "import", "structured")
    assert [(goal.id, goal.text) for goal in opening.goals] == [
        ("G-1", "survives a crash"),
        ("G-2", "one file is enough"),
    ]
    assert [row.round for row in opening.plan] == list(range(1, 14))
    assert (opening.plan[1].absent, opening.plan[1].drift) == ("critic", True)
    assert [member.role for member in opening.cast] == ["action", "guardian", "observer", "critic"]
    one, two = book.of(Claim)
    assert (one.anchor_ref, one.raised_at_artifact) == ("G-1", "artifacts/round_01/critic.md#finding-2")
    assert [(sighting.role, sighting.round) for sighting in one.sightings] == [("observer", 2)]
    assert (two.supersedes, book.state.claims["C-1-1"].status) == ("C-1-1", "superseded")
    check = book.of(Verification)[0]
    assert [evidence.ref for evidence in check.evidence_refs] == SMALL["verifications"][0]["evidence_refs"]
    assert [(change.to, change.bearing) for change in check.claim_status_changes] == [
        ("tested_confirmed", "supports")
    ]
    assert (check.check_id, check.confidence) == (1, 4)
    assert [decision.anchor_ref for decision in book.of(Decision)] == ["G-2"]
    assert [drift.id for drift in book.of(DriftCheck)] == ["H-2"]


def test_positions_and_flips_become_events_of_their_role() -> None:
    book = imported(source(SMALL))
    assert [(event.id, event.on, event.stance) for event in book.of(Position)] == [
        ("P-1-1-action", "V-1-1", "ROBUST"),
        ("P-1-1-observer", "V-1-1", "UNCLEAR"),
        ("P-1-1-critic", "V-1-1", "BROKEN"),
    ]
    assert [
        (event.id, event.of, event.from_, event.to, [one.ref for one in event.because])
        for event in book.of(Flip)
    ] == [
        ("F-1-1-action", "P-1-1-action", "ROBUST", "BROKEN", ["artifacts/round_01/critic.md#attack-2"]),
        ("F-1-1-observer", "P-1-1-observer", "UNCLEAR", "ROBUST", []),
    ]
    assert book.state.positions["P-1-1-critic"].role == "critic"
    assert book.state.flips["F-1-1-observer"].role == "observer"


def test_a_position_that_changed_without_an_entry_is_a_flip_without_evidence() -> None:
    book = imported(source(small(verifications={"flips": []})))
    assert [(event.id, event.to, event.because) for event in book.of(Flip)] == [
        ("F-1-1-action", "BROKEN", ()),
        ("F-1-1-observer", "ROBUST", ()),
    ]


def test_a_flip_of_nobody_is_named() -> None:
    rows = small(verifications={"positions_pre": {"action": "ROBUST"}, "positions_post": "REMOVED"})
    found = read_skill(source(rows))
    assert any("observer changes a position that was not taken" in note for note in found.notes)
    assert [event.id for event in found.events if isinstance(event, Flip)] == ["F-1-1-action"]


def test_order_inside_a_round_is_by_kind_and_number() -> None:
    book = imported(source(SMALL))
    assert [event.id or event.kind for event in book.events] == [
        "run_opened",
        "round_opened",
        "C-1-1",
        "P-1-1-action",
        "P-1-1-observer",
        "P-1-1-critic",
        "V-1-1",
        "F-1-1-action",
        "F-1-1-observer",
        "D-1-1",
        "round_opened",
        "C-2-1",
        "V-2-3",
        "H-2",
    ]
    assert {event.by for event in book.events} == {"import"}
    assert [event.rest for event in book.events] == list(reversed(range(len(book.events))))


@pytest.mark.slow  # many orders
@given(directories(), st.randoms(use_true_random=False))
def test_the_order_of_lines_changes_no_byte(rows: Rows, random: Random) -> None:
    doubled = {name: [*content, *_spoiled(content)] for name, content in rows.items()}
    shuffled = {name: random.sample(content, len(content)) for name, content in doubled.items()}
    one, other = read_skill(source(doubled)), read_skill(source(shuffled))
    assert not one.bad
    assert [encode(event) for event in one.events] == [encode(event) for event in other.events]
    assert (one.mapped, one.differences) == (other.mapped, other.differences)


def _spoiled(content: list[Row]) -> list[Row]:
    """Rows again with an id that is illegal, taken by other words, or of another round; and as an update row."""
    again = [row for row in content[:1] if "id" in row]
    return [
        *({**row, "id": f"odd {row['id']}"} for row in again),
        *({**row, "text": "other words", "notes": "other words"} for row in again),
        *({**row, "round": row["round"] + 1} for row in again),
        *({**row, "status": "tested_unclear"} for row in again if "status" in row),
    ]


def test_a_planned_stress_that_nobody_wrote_down_is_the_absence() -> None:
    rows = {"lead_history": [{"round": 4, "lead": "action", "is_stress": True, "absent_agent": "guardian"}]}
    (opened,) = imported(source(rows)).of(RoundOpened)
    assert (opened.absent, opened.planned_stress, opened.applicable) == ("guardian", "guardian", (1, 3))


def test_a_stress_round_that_was_planned_and_denied_has_nobody_absent() -> None:
    row = {"round": 5, "lead": "action", "is_stress": False, "absent_agent": None, "planned_stress": "critic"}
    (opened,) = imported(source({"lead_history": [row]})).of(RoundOpened)
    assert (opened.absent, opened.planned_stress) == (None, "critic")


def test_rounds_that_only_occur_elsewhere_are_opened_too() -> None:
    book = imported(source(small() | {"lead_history": []}))
    assert [(event.round, event.lead) for event in book.of(RoundOpened)] == [(1, None), (2, None)]


def test_rows_with_the_same_id_and_words_are_one_claim_and_its_updates() -> None:
    rows = small()
    rows["claims"].append({**rows["claims"][1], "status": "tested_unclear"})
    found = read_skill(source(rows))
    assert [event.id for event in found.events if isinstance(event, Claim)] == ["C-1-1", "C-2-1"]
    assert found.mapped == ()
    assert "claims.jsonl: 2 rows with id C-2-1 are one claim with updates" in found.notes
    assert [(one.id, one.stored, one.folded) for one in found.differences] == [
        ("C-2-1", "tested_unclear", "pending")
    ]


def test_an_id_that_cannot_stay_is_mapped_and_what_refers_to_it_follows() -> None:
    rows = small(claims={"id": "claim one"})
    rows["claims"][1]["supersedes"] = "claim one"
    rows["verifications"][0]["claims_affected"] = ["claim one"]
    rows["verifications"][0]["claim_status_changes"][0]["claim_id"] = "claim one"
    rows["decisions"][0]["cites"][0]["id"] = "claim one"
    rows["verifications"].append({**rows["verifications"][0], "notes": "again"})
    found = read_skill(source(rows))
    assert [(one.file, one.old, one.new) for one in found.mapped] == [
        ("claims.jsonl", "claim one", "C-1-1"),
        ("verifications.jsonl", "V-1-1", "V-1-5"),
    ]
    book = imported(source(rows))
    assert book.of(Claim)[1].supersedes == "C-1-1"
    assert book.of(Decision)[0].cites[0].id == "C-1-1"
    assert {event.claims_affected for event in book.of(Verification, 1)} == {("C-1-1",)}
    assert [event.id for event in book.of(Position) if event.on == "V-1-5"] == [
        "P-1-1-action~2",
        "P-1-1-observer~2",
        "P-1-1-critic~2",
    ]


def test_a_stored_status_that_the_verifications_do_not_give_is_reported_and_does_not_count() -> None:
    found = read_skill(source(small(claims={"status": "tested_refuted"})))
    assert [(one.id, one.stored, one.folded) for one in found.differences] == [
        ("C-1-1", "tested_refuted", "superseded")
    ]


def test_what_a_row_may_lack() -> None:
    rows = {
        "claims": [{"id": "C-1-1", "round": 1, "raised_by": "critic"}],
        "verifications": [{"id": "V-1-2", "round": 1, "result": "ROBUST", "evidence_refs": "one/file.md#x"}],
        "decisions": [{"id": "D-1-1", "round": 1, "made_by": "consensus"}],
    }
    book = imported(source(rows))
    check = book.of(Verification)[0]
    assert (check.check, check.check_id, check.notes) == ("guardian_vs_observer_walkthrough", 2, "")
    assert [evidence.ref for evidence in check.evidence_refs] == ["one/file.md#x"]
    assert (book.of(Claim)[0].text, book.of(Decision)[0].cites) == ("", ())


def test_a_key_that_is_not_taken_over_is_named() -> None:
    found = read_skill(source(small(claims={"mood": "sour"})))
    assert found.notes == ("claims.jsonl: mood is not taken over (1 row)",)


def test_documents_keep_their_path_in_natural_order() -> None:
    documents = {
        "rounds/round_10.md": b"ten",
        "rounds/round_2.md": b"two \xff",
        "artifacts/round_01/critic.md": b"",
    }
    book = imported(source(SMALL, documents))
    assert book.state.opened is not None
    context = book.state.opened.context
    assert [(one.id, one.name, one.bytes) for one in context] == [
        ("K-1", "artifacts/round_01/critic.md", 0),
        ("K-2", "rounds/round_2.md", 5),
        ("K-3", "rounds/round_10.md", 3),
    ]
    assert book.blobs.read(context[1].sha256) == b"two \xff"


def test_a_document_with_a_name_that_no_ledger_keeps_is_left_out_and_named() -> None:
    found = read_skill(
        source(SMALL, {"artifacts/\udcff.md": b"", f"artifacts/{'x' * 200}.md": b"", "rounds/r.md": b""})
    )
    opened = found.events[0]
    assert isinstance(opened, RunOpened)
    assert [document.name for document in opened.context] == ["rounds/r.md"]
    assert len(found.notes) == 2
    assert all("no ledger can keep this name" in note for note in found.notes)


def test_terms_say_what_the_source_does_not() -> None:
    terms = Terms(profile="gates", params="a" * 64)
    opened = imported(source(SMALL), terms).state.opened
    assert opened is not None
    assert (opened.stop.profile, opened.stop.params) == ("gates", "a" * 64)


CLAIM = SMALL["claims"][0]
BAD_LINES = {
    "not JSON": (b"{", "not one JSON object"),
    "a list": (b"[1]", "a JSON object is asked for"),
    "not UTF-8": (b'{"id": "\xff"}', "not UTF-8: byte 9 is 0xff"),
    "a byte order mark": (b"\xef\xbb\xbf" + lines([CLAIM]), "not one JSON object"),
    "NaN": (b'{"round": NaN}', "NaN is not JSON"),
    "infinity in disguise": (b'{"round": 1e999}', "a number is beyond every double"),
    "a key twice": (b'{"id": "C-1-1", "id": "C-1-2"}', "the field 'id' is given twice"),
    "too deep": (b"[" * 100_000, "nested too deeply"),
    "deep": (b'{"x": ' + b"[" * 12 + b"]" * 12 + b"}", "nested deeper than 12"),
    "huge": (b'{"x": "' + b"x" * 1_000_000 + b'"}', "longer than"),
    "a long number": (b'{"round": ' + b"1" * 5_000 + b"}", "a number has too many digits"),
    "a big number": (b'{"round": 9007199254740992}', "beyond 2^53-1"),
    "a control character": (b'{"id": "\\u0000"}', "U+0000"),
    "half a character": (b'{"id": "\\ud800"}', "U+D800"),
    "no id": (json.dumps({**CLAIM, "id": None}).encode(), "id: expected `str`, got `null`"),
    "no round": (b'{"id": "C-1-1", "raised_by": "critic"}', "missing required field `round`"),
    "a round in words": (json.dumps({**CLAIM, "round": "1"}).encode(), "round: expected `int`"),
    "a true round": (json.dumps({**CLAIM, "round": True}).encode(), "round: expected `int`"),
    "a negative round": (json.dumps({**CLAIM, "round": -1}).encode(), "round: expected `int` >= 0"),
    "an unknown role": (json.dumps({**CLAIM, "raised_by": "boss"}).encode(), "raised_by: invalid enum"),
    "an unknown status": (json.dumps({**CLAIM, "status": "done"}).encode(), "status: invalid enum"),
    "a long text": (json.dumps({**CLAIM, "text": "x" * 8_001}).encode(), "text: expected `str` of length"),
}


@pytest.mark.parametrize("name", BAD_LINES)
def test_a_bad_line_is_named_with_file_and_line(name: str) -> None:
    line, message = BAD_LINES[name]
    files = source(SMALL)
    files["claims.jsonl"] += b"\n" + line + b"\n"
    found = read_skill(files)
    assert found.events == ()
    assert [(one.file, one.line) for one in found.bad] == [("claims.jsonl", 4)]
    assert message in found.bad[0].message


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("verifications", {"result": "FINE"}),
        ("verifications", {"check": "vibes"}),
        ("verifications", {"check": "REMOVED", "id": "V-1-9"}),
        ("verifications", {"confidence": 6}),
        ("verifications", {"positions_pre": {"boss": "ROBUST"}}),
        ("verifications", {"claim_status_changes": [{"claim_id": "C-1-1", "to": "gone"}]}),
        ("verifications", {"evidence_refs": [1]}),
        ("decisions", {"made_by": "nobody"}),
        ("decisions", {"cites": ["C-1-1"]}),
        ("decisions", {"cites": [{"type": "claim", "id": "C-1-1", "relation": "vibes"}]}),
        ("lead_history", {"lead": "boss"}),
        ("lead_history", {"absent_agent": "boss"}),
        ("drift_checks", {"verdict": "OK"}),
        ("drift_checks", {"deviation_score": 9}),
    ],
)
def test_an_unknown_value_is_a_bad_line(file: str, change: Row) -> None:
    found = read_skill(source(small(**{file: change})))
    assert [(one.file, one.line) for one in found.bad] == [(f"{file}.jsonl", 1)]


def test_two_different_drift_checks_of_one_round_contradict() -> None:
    rows = small()
    rows["drift_checks"] += [dict(rows["drift_checks"][0]), {**rows["drift_checks"][0], "verdict": "FAIL"}]
    found = read_skill(source(rows))
    assert [(one.file, one.line) for one in found.bad] == [("drift_checks.jsonl", 3)]


def directory(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return root


def test_an_import_is_a_run_that_verifies(tmp_path: Path) -> None:
    src = directory(tmp_path / "src", source(SMALL, {"artifacts/round_01/critic.md": b"# attack"}))
    report = import_run("skill", src, tmp_path / "out", at=AT)
    assert report.ok
    assert report.head == RunStore(tmp_path / "out").head().hash
    assert verify(tmp_path / "out").ok
    assert report.counts["claim"] == 2
    assert report.counts["documents"] == 1
    assert report.model_dump() == json.loads(report.model_dump_json())


def test_a_bad_line_writes_nothing(tmp_path: Path) -> None:
    src = directory(tmp_path / "src", source(SMALL))
    (src / "decisions.jsonl").write_bytes(b"nonsense\n")
    report = import_run("skill", src, tmp_path / "out", at=AT)
    assert not report.ok
    assert [(bad.file, bad.line) for bad in report.bad_lines] == [("decisions.jsonl", 1)]
    assert not (tmp_path / "out").exists()


def test_the_published_layout_gives_the_same_bytes(tmp_path: Path) -> None:
    files = source(SMALL, {"artifacts/round_1/critic.md": b"x", "rounds/round_1.md": b"Drift check: PASS"})
    flat = directory(tmp_path / "flat", files)
    nested = directory(
        tmp_path / "nested",
        {(f"state/{name}" if name.endswith(".jsonl") else name): content for name, content in files.items()},
    )
    heads = {
        import_run("skill", src, tmp_path / f"out{n}", at=AT).head
        for n, src in enumerate((flat, nested, nested / "state"))
    }
    assert len(heads) == 1


def test_files_that_evidence_names_come_along_and_nothing_from_outside(tmp_path: Path) -> None:
    refs = [
        "notes/one.txt#L1",
        "../secret.txt#x",
        "/etc/hostname#x",
        "link.txt",
        "notes",
        "",
        "a\0b"[:1] + "#",
    ]
    rows = small(verifications={"evidence_refs": refs})
    src = directory(tmp_path / "src", source(rows, {"notes/one.txt": b"seen"}))
    (tmp_path / "secret.txt").write_bytes(b"secret")
    (src / "link.txt").symlink_to(tmp_path / "secret.txt")
    import_run("skill", src, tmp_path / "out", at=AT)
    opened = RunStore(tmp_path / "out").book().state.opened
    assert opened is not None
    assert [document.name for document in opened.context] == ["notes/one.txt"]


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    src = directory(tmp_path / "src", source(SMALL))
    with pytest.raises(NotAStateDirectory):
        import_run("skill", tmp_path, tmp_path / "out", at=AT)
    with pytest.raises(NotAStateDirectory):
        import_run("skill", tmp_path / "missing", tmp_path / "out", at=AT)
    with pytest.raises(UnknownFormat, match="known are skill"):
        import_run("xml", src, tmp_path / "out", at=AT)
    import_run("skill", src, tmp_path / "out", at=AT)
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()}
    with pytest.raises(AlreadyARun):
        import_run("skill", src, tmp_path / "out", at=AT)
    assert before == {path: path.read_bytes() for path in before}


def test_labelled_ledgers_import_without_a_remark() -> None:
    for path in LABELLED:
        found = read_skill({file.name: file.read_bytes() for file in path.iterdir()})
        assert (found.bad, found.mapped, found.differences, found.notes) == ((), (), (), ()), path.name


def test_a_copied_directory_gives_the_same_head(tmp_path: Path) -> None:
    src = directory(tmp_path / "src", source(SMALL))
    shutil.copytree(src, tmp_path / "another name")
    one = import_run("skill", src, tmp_path / "one", at=AT)
    other = import_run("skill", tmp_path / "another name", tmp_path / "other", at=AT)
    assert one.head == other.head
