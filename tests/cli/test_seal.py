"""Keys and seals: a rollback and a rewritten ledger show, the secret never does."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ledger.audit.seal import NoteRefused, open_note, read_verifier, sign, signer
from ledger.format.canonical import encode, line_hash
from ledger.store.store import RunStore
from moot.__main__ import main
from rounds.run.human_actions import note as add_note
from rounds.run.session import RunSession
from rounds.run.verdicts import standard
from tests.rounds.openings import begin, clock, play, rows
from tests.rounds.scripted import Script


@pytest.fixture
def sealed(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A run, its seal, and the public key."""
    play(begin(tmp_path / "run", rows(1)))
    assert main(["seal", "--new-key", str(tmp_path / "keys" / "alice.key"), "--quiet"]) == 0
    key, note = tmp_path / "keys" / "alice.key", tmp_path / "note.txt"
    assert main(["seal", str(tmp_path / "run"), "--key", str(key), "--out", str(note), "--quiet"]) == 0
    return tmp_path / "run", note, tmp_path / "keys" / "alice.pub"


def _verify(run: Path, note: Path, public: Path) -> int:
    return main(["verify", str(run), "--checkpoint", str(note), "--key", str(public), "--quiet"])


def test_a_ledger_that_went_on_extends_its_seal(sealed: tuple[Path, Path, Path]) -> None:
    run, note, public = sealed
    assert _verify(run, note, public) == 0
    add_note(RunSession(RunStore(run), standard, clock()), "a remark after the seal")
    assert _verify(run, note, public) == 0


def test_a_rewritten_ledger_shows(sealed: tuple[Path, Path, Path]) -> None:
    run, note, public = sealed
    shutil.rmtree(run)
    play(begin(run, rows(1)), Script(seed=9))
    assert main(["verify", str(run), "--quiet"]) == 0
    assert _verify(run, note, public) == 1


def test_a_rollback_shows(sealed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    run, note, public = sealed
    shutil.rmtree(run)
    session = begin(run, rows(1))
    asked = session.pending()[0]
    reply = Script().reply(session.book(), asked.step, asked.brief.saw)
    (tmp_path / "reply.json").write_bytes(reply)
    assert main(["submit", str(run), asked.step.id, str(tmp_path / "reply.json"), "--quiet"]) == 0
    assert _verify(run, note, public) == 1


def test_the_note_can_be_checked_without_moot(sealed: tuple[Path, Path, Path]) -> None:
    run, note, public = sealed
    text, _, signature = note.read_text("utf-8").rpartition("\n\n")
    origin, size, root = text.split("\n")
    streams = (run / f"{name}.jsonl" for name in ("claims", "verifications", "decisions"))
    lines = [line for stream in streams for line in stream.read_bytes().splitlines()]
    lines.sort(key=lambda line: int(json.loads(line)["seq"]))
    assert len(lines) == int(size)
    assert base64.b64decode(root) == hashlib.sha256(lines[-1]).digest()
    assert origin == f"moot/{hashlib.sha256(lines[0]).hexdigest()[:32]}"
    name, _, key = public.read_text("utf-8").strip().split("+", 2)
    dash, signer_name, raw = signature.strip().split(" ")
    assert (dash, signer_name) == ("—", name)
    public_key = Ed25519PublicKey.from_public_bytes(base64.b64decode(key)[1:])
    public_key.verify(base64.b64decode(raw)[4:], f"{text}\n".encode())  # raises when it does not fit


def test_a_note_that_was_changed_is_refused(
    sealed: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    run, note, public = sealed
    text = note.read_text("utf-8")
    size = text.split("\n")[1]
    note.write_text(text.replace(f"\n{size}\n", f"\n{int(size) - 1}\n"), "utf-8")
    assert _verify(run, note, public) == 2
    assert "does not fit" in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["key", "note"])
def test_what_is_missing_is_said(
    sealed: tuple[Path, Path, Path], missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run, note, _ = sealed
    words = ["verify", str(run), "--checkpoint", str(note)]
    if missing == "note":
        words[-1] = "nowhere.txt"
    assert main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_secret_is_its_owner_s_and_is_never_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["seal", "--new-key", str(tmp_path / "bob.key")]) == 0
    secret = (tmp_path / "bob.key").read_text("utf-8").strip()
    said = capsys.readouterr()
    kind, word, name, number, material = secret.split("+", 4)  # base64 has a + of its own
    assert (kind, word, name) == ("PRIVATE", "KEY", "bob")
    assert number
    assert len(material) > 40
    assert material not in said.out + said.err
    assert stat.S_IMODE((tmp_path / "bob.key").stat().st_mode) == 0o600
    assert main(["seal", "--new-key", str(tmp_path / "bob.key")]) == 2
    assert (tmp_path / "bob.key").read_text("utf-8").strip() == secret
    (tmp_path / "bob.key").chmod(0o644)
    play(begin(tmp_path / "run", rows(1)))
    assert main(["seal", str(tmp_path / "run"), "--key", str(tmp_path / "bob.key")]) == 2
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_a_damaged_run_is_not_sealed(sealed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    run, _, _ = sealed
    stream = run / "claims.jsonl"
    stream.write_bytes(stream.read_bytes().replace(b"journal", b"JOURNAL", 1))
    assert main(["seal", str(run), "--key", str(tmp_path / "keys" / "alice.key")]) == 3


def test_notes_round_trip_and_unknown_signatures_are_passed_over() -> None:
    alice, eve = signer("alice", bytes(range(32))), signer("eve", bytes(range(1, 33)))
    both = sign("a\nb\n", alice) + sign("a\nb\n", eve).rpartition("\n\n")[2]
    assert open_note(both, (alice.verifier,)) == ("a\nb\n", ("alice",))
    assert read_verifier(str(alice.verifier)) == alice.verifier
    assert "seed" not in repr(alice)
    for bad in ("", "a\nb\n", sign("a\n", eve), both.replace("— alice ", "- alice ")):
        with pytest.raises(NoteRefused):
            open_note(bad, (alice.verifier,))


def test_origin_names_the_opening(sealed: tuple[Path, Path, Path]) -> None:
    run, note, _ = sealed
    first = RunStore(run).events()[0]
    assert note.read_text("utf-8").startswith(f"moot/{line_hash(encode(first))[:32]}\n")
