"""A run of a short protocol as people see it: status, decisions, log, report, exports; no signals, and it says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledger.interchange.markdown import inline
from rounds.protocols import PROTOCOLS
from tests.cli.conftest import Moot
from tests.protocols.playing import begin, play

VERBS = ("status", "log", "claims", "decisions", "check", "verify", "report", "replay")


@pytest.mark.parametrize("name", sorted(PROTOCOLS.keys() - {"structured"}))
def test_every_verb_tells_it(name: str, moot: Moot, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    book = play(begin(tmp_path / "run", name))
    for verb in VERBS:
        extra = ("--re-execute",) if verb == "replay" else ()
        said = moot(verb, run, *extra)
        assert said.code == 0, (verb, said)
        assert moot(verb, run, *extra, "--json").code == 0
    report = moot("report", run, "--full").out
    for event in book.events:
        if event.kind in ("challenge", "argument", "statement", "response"):
            assert inline(str(event.id)) in report
    assert moot("signals", run).code == (0 if name == "crux" else 2)
    assert moot("report", run, "--html", str(tmp_path / "page.html"), "--quiet").code == 0
    assert "<script" not in (tmp_path / "page.html").read_text("utf-8")


def test_one_event_is_shown_whole(moot: Moot, finished: Path) -> None:
    said = moot("log", finished, "V-1-1")
    assert said.code == 0
    assert '"kind": "verification"' in said.out
    assert moot("log", finished, "@0", "--json").json["events"][0]["kind"] == "run_opened"
    assert moot("log", finished, "V-99-1").code == 2
