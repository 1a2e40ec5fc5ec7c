"""Formats: a ledger of an older one is read for ever, one of a newer one is refused in words, and nothing is written.

The two runs under `versions/` are frozen: whatever this moot writes, it must go on reading the first and refusing the
second.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import orjson
import pytest

from ledger.audit.verify import verify
from ledger.format.canonical import NotCanonical, decode, unknown_fields
from ledger.format.upcasting import upcast, version_of_older
from ledger.store.store import NewerFormat, RunStore
from tests.cli.conftest import Moot, content, moot
from tests.ledger import samples

__all__ = ["moot"]

VERSIONS = Path(__file__).with_name("versions")
HEAD_OF_FORMAT_0 = "1abe964dd1b06e16179dbdebdacb2bef48e59fb025dc8879823608978d11d105"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    return Path(shutil.copytree(VERSIONS / "format-0", tmp_path / "old"))


@pytest.fixture
def new(tmp_path: Path) -> Path:
    return Path(shutil.copytree(VERSIONS / "format-2", tmp_path / "new"))


def test_an_older_ledger_is_read_as_what_it_would_be_today(old: Path) -> None:
    run = RunStore(old)
    assert run.head().hash == HEAD_OF_FORMAT_0
    events = run.events()
    assert [event.seq for event in events] == list(range(9))
    assert {event.v for event in events} == {1}
    expected = [samples.opening(), samples.statement(), *samples.mixed(7, 2)]
    for event, made in zip(events, expected, strict=True):
        links = {"prev": "", "seq": 0, "rest": 0, "at": ""}
        assert orjson.loads(_line(event)) | links == orjson.loads(_line(made)) | links
    report = verify(old)
    assert (report.ok, report.events, report.problems) == (True, 9, [])
    assert not any(unknown_fields(line, decode(line)) for _, _, line in run.lines())


def _line(event: object) -> bytes:
    from ledger.format.canonical import encode

    return encode(event)  # type: ignore[arg-type]


def test_every_verb_reads_it_and_it_goes_on_in_the_present_format(moot: Moot, old: Path) -> None:
    for verb in ("status", "claims", "decisions", "log", "verify", "report", "signals"):
        said = moot(verb, old)
        assert said.code in (0, 1), said
        assert said.out
    before = content(old)
    with RunStore(old).writer() as writer:
        writer.commit([samples.claim(1)], at=samples.AT)
    after = content(old)
    assert all(after[name].startswith(before[name]) for name in before if name.endswith(".jsonl"))
    assert b'"v":1,' in after["claims.jsonl"]
    report = verify(old)
    assert (report.ok, report.events) == (True, 10)
    assert moot("keygen", "a", "--out", "keys").code == 0
    assert moot("seal", old, "--key", "keys/a.key", "--out", "note").code == 0
    assert moot("verify", old, "--checkpoint", "note", "--key", "keys/a.pub").code == 0


def test_what_was_never_format_0_is_damage(old: Path) -> None:
    path = old / "claims.jsonl"
    lines = path.read_bytes().split(b"\n")
    claim = next(line for line in lines if b'"kind":"claim"' in line)
    assert decode(claim).kind == "claim"
    for changed in (
        claim.replace(b'"test":', b'"testable_as":', 1).replace(b'"call":null,', b'"call":null,"via":null,'),
        claim.replace(b'"test":', b'"tested":', 1),
        claim.replace(b'"v":0,', b'"v":0 ,', 1),
        claim.replace(b'"v":0,', b'"v":00,', 1),
        claim.replace(b'"v":0,', b'"v":1,', 1),
    ):
        with pytest.raises(NotCanonical):
            decode(changed)
    for place in range(0, path.stat().st_size, 5):
        damaged = bytearray(b"\n".join(lines))
        damaged[place] ^= 4
        path.write_bytes(damaged)
        assert verify(old).damaged, place


def test_an_upcast_line_is_a_line_of_the_present_format() -> None:
    for path in (VERSIONS / "format-0").glob("*.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            assert version_of_older(line) == 0
            risen = upcast(line, 0)
            assert version_of_older(risen) is None
            assert orjson.dumps(orjson.loads(risen)) == risen
            assert decode(risen) == decode(line)


def test_a_newer_ledger_is_refused_with_the_version_that_it_needs(moot: Moot, new: Path) -> None:
    before = content(new)
    with pytest.raises(NewerFormat) as caught:
        RunStore(new).events()
    assert caught.value.exit_code == 2
    for verb in (
        "status",
        "claims",
        "decisions",
        "log",
        "verify",
        "check",
        "signals",
        "report",
        "replay",
        "next",
    ):
        said = moot(verb, new)
        assert said.code == 2, said
        assert said.out == ""
        assert "format version 2" in said.err
        assert said.err.count("\n") == 1
    assert moot("note", new, "a remark").code == 2
    assert moot("redact", new, "K-1", "--reason", "x").code == 2
    assert content(new) == before
