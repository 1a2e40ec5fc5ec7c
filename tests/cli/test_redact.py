"""Redaction: a recorded removal differs from a loss, and a copy without a secret says that it is one.

Of `ledger/redaction/redacted_copy.py`, `ledger/redaction/removal.py`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import orjson
import pytest

from ledger.audit.verify import verify
from ledger.format.canonical import Head, decode, encode, line_hash
from ledger.redaction.redacted_copy import redacted_copy
from ledger.redaction.removal import NAMED_MAX, CannotRedact, in_words, redact
from ledger.redaction.words import INSTEAD
from ledger.state.amendments import record_of_original
from ledger.store.blobs import blob_line, hash_of
from ledger.store.store import RunStore
from tests.blob_lines import blobs_of, lose
from tests.campaign.tampering import written
from tests.cli.conftest import Moot, content, finished, moot, opened
from tests.ledger.interchange.sources import SMALL, source
from tests.protocols.playing import played
from tests.rounds.openings import DOCUMENT
from tests.security.strange_runs import Donors, read, written as chained

__all__ = ["finished", "moot", "opened"]

AT = "2026-02-03T04:05:06.000007Z"
SECRET = "hunter2"


@pytest.fixture
def ended(finished: Path, tmp_path: Path) -> Path:
    """A finished run of its own."""
    return Path(shutil.copytree(finished, tmp_path / "ended"))


@pytest.fixture
def leaky(moot: Moot, opened: Path, tmp_path: Path) -> Path:
    """An open run with the secret in a reply, in the brief that quotes it, and in a person's note."""
    reply = {
        "sections": [{"name": "main", "text": f"The password is {SECRET}, twice {SECRET}."}],
        "responds_to": [],
        "options": [],
    }
    (tmp_path / "reply.json").write_text(json.dumps(reply))
    assert moot("submit", opened, "r1.B.action", "reply.json").code == 0
    assert moot("note", opened, f"Somebody wrote {SECRET} there.").code == 0
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    return opened


def reply_of(run: Path, step: str) -> str:
    """The hash of the reply to a step."""
    return next(
        event.call.reply for event in RunStore(run).events() if event.step == step and event.call is not None
    )


def test_a_blob_is_removed_on_the_record(moot: Moot, ended: Path) -> None:
    """F-1: the document goes with every block that shows it; a reply named by its hash goes alone, and that is said."""
    blobs = blobs_of(ended).keys()
    size = (ended / "blobs.jsonl").stat().st_size
    reply = reply_of(ended, "r1.C.critic")
    said = moot("redact", ended, "K-1", reply, "--reason", "names a customer", "--json").json
    assert len(said["blobs"]) > 2
    assert reply in said["blobs"]
    assert not any(b"many readers" in one for one in content(ended).values())
    assert any(place.startswith("@") for place in said["left"])
    assert blobs_of(ended).keys() == blobs - set(said["blobs"])
    assert (ended / "blobs.jsonl").stat().st_size == size
    last = RunStore(ended).events()[-1]
    assert (last.kind, last.by, said["events"]) == ("amendment", "human", [f"@{last.seq}"])
    verified = moot("verify", ended)
    assert verified.code == 0
    assert f"the document K-1 was redacted by event {last.seq}" in verified.out
    assert "missing" not in verified.out
    checked = moot("check", ended, "--json")
    assert checked.code == 0, [one for one in checked.json["findings"] if one["severity"] == "error"]
    for verb in ("status", "claims", "decisions", "log", "report"):
        assert moot(verb, ended).code == 0, verb


def test_places_are_named_up_to_a_number_and_then_counted() -> None:
    named = tuple(f"@{seq}" for seq in range(NAMED_MAX))
    assert in_words(named) == ", ".join(named)
    assert in_words((*named, "blobs/048a", "report.html")) == f"{', '.join(named)} and 2 more places"


def test_a_blob_that_is_gone_without_a_record_is_damage(moot: Moot, ended: Path) -> None:
    run = RunStore(ended)
    redact(run, ["K-1"], "named", at=AT)
    lose(ended, run.blobs.names()[0])
    said = moot("verify", ended)
    assert said.code == 3
    assert "is missing" in said.out
    assert "was redacted" in said.out


def test_a_redaction_that_was_interrupted_is_said_and_done_again(moot: Moot, ended: Path) -> None:
    run = RunStore(ended)
    before = (ended / "blobs.jsonl").read_bytes()
    redact(run, ["K-1"], "named", at=AT)
    sha256 = hash_of(DOCUMENT)
    (ended / "blobs.jsonl").write_bytes(before)
    said = moot("verify", ended)
    assert said.code == 0
    assert "its bytes are still there: run `moot redact` again" in said.out
    count = len(run.events())
    assert moot("redact", ended, sha256[:10], "--reason", "again").code == 0
    assert run.blobs.read(sha256) is None
    assert len(RunStore(ended).events()) == count


def test_what_a_run_still_needs_is_not_removed(moot: Moot, leaky: Path) -> None:
    before = content(leaky)
    opening = RunStore(leaky).book().state.opened
    assert opening is not None
    for name in ("K-1", "r1.B.action", opening.prompt_set):
        said = moot("redact", leaky, name, "--reason", "x")
        assert said.code == 2
        assert "still needed" in said.err
    for name in ("K-9", "../head", "r9.B.action", "0" * 64, "deadbeef"):
        assert moot("redact", leaky, name, "--reason", "x").code == 2
    assert moot("redact", leaky, "K-1").code == 2
    assert moot("redact", leaky, "--reason", "x").code == 2
    assert content(leaky) == before


def test_a_copy_holds_the_secret_nowhere_and_says_what_it_is(moot: Moot, leaky: Path, tmp_path: Path) -> None:
    before = content(leaky)
    head = RunStore(leaky).head()
    said = moot(
        "redact", leaky, "--secret", "secret", "--out", "copy", "--reason", "a password", "--json"
    ).json
    assert content(leaky) == before
    copy = content(tmp_path / "copy")
    assert not any(SECRET.encode() in one for one in copy.values())
    assert any(INSTEAD.encode() in one for one in copy.values())
    opening = RunStore(tmp_path / "copy").events()[0]
    assert opening.kind == "run_opened"
    origin = opening.origin
    assert (origin.type, origin.of, origin.head, origin.seq) == ("redaction", "opened", head.hash, head.seq)
    assert all(place in opening.waived[-1].why for place in (*said["changed"], "a password"))
    assert moot("verify", "copy").code == 0
    told = moot("status", "copy").out
    assert "REDACTED" in told or "WAIVED the original words" in told


def test_every_line_of_a_copy_that_is_not_named_is_proven_to_be_the_original(
    leaky: Path, tmp_path: Path
) -> None:
    redacted_copy(RunStore(leaky), tmp_path / "copy", SECRET, "why", name="opened", at=AT)
    run = RunStore(tmp_path / "copy")
    assert verify(run.path).ok
    events = run.events()
    changed = {int(one.path[1:].split(".")[0]) for one in events[-1].change if one.path[0] == "@"}  # type: ignore[union-attr]
    for seq in range(len(events) - 1):
        line = [line for _, _, line in RunStore(leaky).lines()][seq]
        if seq not in changed:
            assert orjson.loads(line) | {"prev": ""} == orjson.loads(
                [line for _, _, line in run.lines()][seq]
            ) | {"prev": ""}
    for seq in range(1, len(events) - 1):
        damaged = list(events)
        damaged[seq] = _at(events[seq])
        written(run.path, damaged)
        report = verify(run.path)
        assert report.damaged, f"event {seq} was changed and nobody saw it"
        assert any(one.seq == seq for one in report.problems)


def _at(event):
    import msgspec

    return msgspec.structs.replace(event, at="2026-01-01T00:00:00.999999Z")


def test_a_checkpoint_of_the_original_is_told_for_what_it_is(moot: Moot, leaky: Path, tmp_path: Path) -> None:
    assert moot("seal", "--new-key", "keys/alice.key").code == 0
    assert moot("seal", leaky, "--key", "keys/alice.key", "--out", "old.note").code == 0
    middle = [line_hash(line) for _, _, line in RunStore(leaky).lines()][2]
    assert moot("redact", leaky, "--secret", "secret", "--out", "copy", "--reason", "why").code == 0
    said = moot(
        "verify", "copy", "--checkpoint", "old.note", "--key", "keys/alice.pub", "--checkpoint", f"2:{middle}"
    )
    assert said.code == 1
    assert said.out.count("it is that of the original, and this is the redacted copy") == 2
    assert "changed in it: @0, " in said.out
    other = moot("verify", "copy", "--checkpoint", f"2:{'0' * 64}", "--json").json
    assert [(one["holds"], one["original"]) for one in other["checkpoints"]] == [(False, False)]
    assert verify(tmp_path / "copy", [RunStore(tmp_path / "copy").head()]).ok


@pytest.mark.parametrize(
    "record", [b"null", b"[]", b"1", b'{"lines":7}', b'{"lines":[null]}', b"[" * 100_000, b"\xff", b""]
)
def test_a_copy_with_any_record_of_its_original_is_verified(
    moot: Moot, leaky: Path, tmp_path: Path, record: bytes
) -> None:
    """A copy that was rewritten whole with `null` in place of the record ended `verify` with exit 70."""
    redacted_copy(RunStore(leaky), tmp_path / "copy", SECRET, "why", name="opened", at=AT)
    run = RunStore(tmp_path / "copy")
    events = run.events()
    (old,) = [name for event in events if (name := record_of_original(event)) is not None]
    with (run.path / "blobs.jsonl").open("ab") as file:
        file.write(blob_line(record))
    texts = [encode(event).decode().replace(old, hash_of(record)) for event in events]
    written(run.path, [decode(text.encode()) for text in texts])
    for words in (("verify", "copy"), ("check", "copy"), ("status", "copy")):
        assert moot(*words).code in (0, 1, 3), words
    assert "does not say what was changed" in moot("verify", "copy").out


def test_a_copy_goes_on_where_the_original_would(moot: Moot, leaky: Path, tmp_path: Path) -> None:
    assert moot("redact", leaky, "--secret", "secret", "--out", "copy", "--reason", "why").code == 0
    old, new = (moot("next", run, "--json").json for run in (leaky, tmp_path / "copy"))
    assert [one["step"] for one in new["steps"]] == [one["step"] for one in old["steps"]]
    assert SECRET in str(old)
    assert SECRET not in str(new)
    assert moot("submit", "copy", new["steps"][0]["step"], "--give-up", "nobody is there").code == 0
    assert moot("verify", "copy").code == 0


@pytest.mark.parametrize(
    ("secret", "why"),
    [("abc", "at least"), ("not there at all", "no line"), ("critic", "cannot be without it")],
)
def test_a_secret_that_cannot_be_removed_writes_nothing(
    leaky: Path, tmp_path: Path, secret: str, why: str
) -> None:
    with pytest.raises(CannotRedact, match=why):
        redacted_copy(RunStore(leaky), tmp_path / "copy", secret, "a reason", name="opened", at=AT)
    assert not (tmp_path / "copy").exists()


def test_an_import_is_redacted_at_its_source(moot: Moot, tmp_path: Path) -> None:
    for name, data in source(SMALL).items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_bytes(data)
    assert moot("import", "skill", "src", "--out", "imported").code == 0
    with pytest.raises(CannotRedact, match="imported"):
        redacted_copy(RunStore(tmp_path / "imported"), tmp_path / "copy", "claim", "why", name="x", at=AT)


def test_what_is_needed_again_and_gone_is_said(moot: Moot, ended: Path) -> None:
    opening = RunStore(ended).book().state.opened
    assert opening is not None
    assert moot("redact", ended, reply_of(ended, "r1.C.critic"), "--reason", "x").code == 0
    said = moot("replay", ended, "--re-execute")
    assert said.code == 1
    assert "r1.C.critic has no reply blob" in said.out
    for name in ("K-1", opening.prompt_set):
        assert moot("redact", ended, name, "--reason", "x").code == 0
        said = moot("replay", ended, "--re-execute")
        assert said.code == 2
        assert "is not among the blobs" in said.err
        assert said.err.count("\n") == 1
    assert moot("check", ended).code == 0
    assert verify(ended, [Head(0, line_hash(next(line for _, _, line in RunStore(ended).lines())))]).ok


def test_a_step_whose_words_stand_in_the_ledger_is_refused(moot: Moot, ended: Path, tmp_path: Path) -> None:
    """F-17: the words of a reply stand in the events that were made of it, and only a copy can be without them."""
    before = content(ended)
    said = moot("redact", ended, "r1.C.critic", "--reason", "x")
    own = next(event.seq for event in RunStore(ended).events() if event.step == "r1.C.critic")
    assert said.code == 2
    assert f"@{own}" in said.err
    assert "--out DIR" in said.err
    assert content(ended) == before
    text = " ".join(RunStore(ended).events()[own].sections[0].text.split())  # type: ignore[union-attr]
    assert moot("redact", ended, "r1.C.critic", "--out", "copy", "--reason", "x").code == 0
    assert verify(tmp_path / "copy").ok
    assert not any(text.encode() in one for one in content(tmp_path / "copy").values())
    assert any(text.encode() in one for one in before.values())


def test_a_file_that_holds_the_words_is_named(moot: Moot, ended: Path) -> None:
    """F-2: a report that lies in the run's directory is a place where the words stand."""
    (ended / "report.html").write_text("<p>many&#32;re&#x61;ders</p>")
    said = moot("redact", ended, "K-1", "--reason", "x")
    assert said.code == 2
    assert "report.html" in said.err
    (ended / "report.html").unlink()
    (ended / "notes.tmp").write_bytes(DOCUMENT)
    assert "notes.tmp" in moot("redact", ended, "K-1", "--reason", "x").err
    (ended / "notes.tmp").unlink()
    assert moot("redact", ended, "K-1", "--reason", "x").code == 0


def test_a_name_made_of_the_words_is_not_told(moot: Moot, leaky: Path, tmp_path: Path) -> None:
    """A run is named after its question: where that holds the words, the copy does not say of which run it is one."""
    named = leaky.rename(tmp_path / "the-password-is-hunter2")
    (tmp_path / "secret").write_text("Password is: Hunter2")
    assert moot("note", named, "Password is: Hunter2").code == 0
    assert moot("redact", named, "--secret", "secret", "--out", "copy", "--reason", "x").code == 0
    opening = RunStore(tmp_path / "copy").events()[0]
    assert opening.kind == "run_opened"
    assert opening.origin.of == INSTEAD


def test_a_copy_without_a_step_still_keeps_the_rules(moot: Moot, ended: Path, tmp_path: Path) -> None:
    """F-17: what was replaced are words: references to sections of an artifact still lead there."""
    for step in ("r1.D.critic", "r1.D.action"):
        copy = tmp_path / step
        assert moot("redact", ended, step, "--out", copy, "--reason", "x").code == 0
        checked = moot("check", copy, "--json")
        assert checked.code == 0, [one for one in checked.json["findings"] if one["severity"] == "error"]


@pytest.fixture
def screened(tmp_path: Path) -> Path:
    """A finished run whose question and document were screened."""
    return Path(shutil.copytree(played("panel"), tmp_path / "screened"))


@pytest.mark.parametrize("said", ["copy", "in place"])
def test_a_screening_of_redacted_words_is_no_broken_rule(
    said: str, moot: Moot, screened: Path, tmp_path: Path
) -> None:
    """F-1, F-2: what was screened and then redacted cannot be screened again, which is a warning."""
    opened = RunStore(screened).book().state.opened
    assert opened is not None
    (tmp_path / "words").write_text(opened.question)
    named = (
        ("--secret", tmp_path / "words", "--out", tmp_path / "copy")
        if said == "copy"
        else (opened.context[0].sha256,)
    )
    assert moot("redact", screened, *named, "--reason", "x").code == 0
    checked = moot("check", tmp_path / "copy" if said == "copy" else screened, "--json")
    findings = [one for one in checked.json["findings"] if one["code"] == "SCR001"]
    assert [one["severity"] for one in findings] == ["warning"]
    assert "redacted" in findings[0]["message"]
    assert checked.code == 0, [one for one in checked.json["findings"] if one["severity"] == "error"]


def test_a_screening_that_differs_is_a_broken_rule_where_nothing_was_redacted(
    moot: Moot, screened: Path, tmp_path: Path
) -> None:
    """F-1: the redaction of the question excuses the screening of the question, and no other."""
    lines = [orjson.loads(line) for _, _, line in RunStore(screened).lines()]
    screening = next(line for line in lines if line["kind"] == "screening" and line["of"] == "context")
    screening["sha256"] = "0" * 64
    assert chained(
        [{**line, "_was": line["seq"]} for line in lines], tmp_path / "other", Donors((read(screened),))
    )
    opened = RunStore(screened).book().state.opened
    assert opened is not None
    (tmp_path / "words").write_text(opened.question)
    redacted = moot(
        "redact", tmp_path / "other", "--secret", tmp_path / "words", "--out", tmp_path / "c", "--reason", "x"
    )
    assert redacted.code == 0
    checked = moot("check", tmp_path / "c", "--json")
    found = [(one["code"], one["severity"]) for one in checked.json["findings"] if one["code"] == "SCR001"]
    assert sorted(found) == [("SCR001", "error"), ("SCR001", "warning")]


def test_every_line_of_words_of_ones_own_is_looked_for(moot: Moot, leaky: Path, tmp_path: Path) -> None:
    """F-2: short lines among several go wherever they stand, and one below four characters is said to stay."""
    assert moot("note", leaky, "in Paris7 it was").code == 0
    (tmp_path / "secret").write_text(f"Max Muster\n{SECRET}\nParis7\n-\n")
    said = moot("redact", leaky, "--secret", tmp_path / "secret", "--out", tmp_path / "copy", "--reason", "x")
    assert said.code == 0
    assert "not looked for by themselves: 1 line," in said.out
    assert not any(
        word in one for one in content(tmp_path / "copy").values() for word in (b"Paris7", b"hunter2")
    )


def test_a_series_that_was_run_beside_the_run_goes_with_the_words(
    moot: Moot, ended: Path, tmp_path: Path
) -> None:
    """What a program wrote of a document stands in checks/ as well; a series without the words stays."""
    (ended / "checks").mkdir()
    line = next(one for one in DOCUMENT.decode().splitlines() if "many readers" in one)
    (ended / "checks" / "E-2-1.1.json").write_text(json.dumps({"wrote": {"a": f"{line}\n"}}))
    (ended / "checks" / "E-2-1.2.json").write_text(json.dumps({"wrote": {"a": "nothing of it"}}))
    assert moot("redact", ended, "K-1", "--reason", "names a customer", "--out", "copy").code == 0
    assert not (
        tmp_path / "copy" / "checks"
    ).exists()  # a copy has what the ledger names, and nothing beside it
    assert (ended / "checks" / "E-2-1.1.json").exists()
    assert moot("redact", ended, "K-1", "--reason", "names a customer").code == 0
    assert [one.name for one in (ended / "checks").iterdir()] == ["E-2-1.2.json"]
    assert not any(b"many readers" in one for one in content(ended).values())
    assert moot("verify", ended).code == 0
