"""F-7: a ledger that is lawful line by line and no run is refused in words, listed, and named by `check`."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")

from ledger.audit.verify import verify
from ledger.state.book import book
from ledger.store.store import RunStore
from moot.app.unlawful_runs import explain_with
from rounds.run.verdicts import standard
from tests.cli.conftest import Moot, moot
from tests.protocols.playing import played
from tests.rounds.openings import begin, rows
from tests.security.doors import READING, WRITING, Fault, Viewer, filled, tools
from tests.security.mutated_ledgers import GOOD, tried
from tests.security.strange_runs import ROOT, Donors, Source, read, written
from tests.slowly import mostly_slow
from validators import rulebook
from validators.finding import Breach
from validators.rule import rule

__all__ = ["moot"]

Change = Callable[[list[dict[str, Any]]], object]


def opening(lines: list[dict[str, Any]]) -> dict[str, Any]:
    assert lines[0]["kind"] == "run_opened"
    return lines[0]


def without(kind: str) -> Change:
    def changed(lines: list[dict[str, Any]]) -> None:
        lines[:] = [line for line in lines if line["kind"] != kind]

    return changed


CASES: dict[str, tuple[Change, str]] = {
    "no opening": (without("run_opened"), "ORD001"),
    "a late opening": (lambda lines: lines.append(lines.pop(0)), "ORD001"),
    "no round": (without("round_opened"), "ORD003"),
    "an unknown rule": (lambda lines: opening(lines)["rules"].update(judges="banana"), "ORD001"),
    "a rule that is a number": (lambda lines: opening(lines)["rules"].update(judges=3), "ORD001"),
    "another cast": (lambda lines: opening(lines)["cast"].pop(), "ORD001"),
    "no cast": (lambda lines: opening(lines).update(cast=[]), "ORD001"),
    "no plan": (lambda lines: opening(lines).update(plan=[]), "ORD002"),
    "other phases": (lambda lines: opening(lines)["plan"][0].update(phases=["Z"]), "ORD001"),
    "another protocol": (lambda lines: opening(lines).update(protocol="tribunal"), "ORD001"),
    "a row beyond the plan": (
        lambda lines: [line.update(plan_row=9) for line in lines if line["kind"] == "round_opened"],
        "ORD002",
    ),
    "a round that nobody opened": (lambda lines: [line.update(round=7) for line in lines[9:]], "ORD003"),
}


@pytest.fixture(scope="module")
def debate(tmp_path_factory: pytest.TempPathFactory) -> Source:
    folder = tmp_path_factory.mktemp("runs") / "debate"
    shutil.copytree(played("debate"), folder)
    return read(folder)


def made(source: Source, change: Change, path: Path) -> Path:
    """The run with a change, chained anew."""
    lines = source.copied()
    change(lines)
    for line in lines:
        if line.get("id") and "round" in line and line["round"] == 7:
            line["id"] = line["id"].replace("-1-", "-7-", 1)
            line["step"] = None if line["step"] is None else line["step"].replace("r1.", "r7.")
    assert written(lines, path, Donors((source,)))
    return path


@pytest.mark.parametrize("case", mostly_slow(list(CASES), quick=5))
def test_a_strange_run_is_listed_and_named(case: str, debate: Source, moot: Moot, tmp_path: Path) -> None:
    """F-7: exit 1 of `check` with the rule, exit 2 of the others, one line; the list and other runs as ever."""
    change, code = CASES[case]
    runs = tmp_path / "runs"
    run = made(debate, change, runs / "strange")
    shutil.copytree(played("ratchet"), runs / GOOD)
    assert verify(run).ok
    checked = moot("check", run)
    assert checked.code == 1
    assert code in checked.out
    assert moot("verify", run).code == 0
    assert moot("log", run, "--json").code == 0
    for verb in ("next", "status", "report", "replay"):
        said = moot(verb, run)
        if verb != "next" and said.code == 0:
            continue  # what does not need the protocol can be read
        assert (said.code, said.err.count("\n")) == (2, 1), (verb, said)
        assert code in said.err
        assert "moot check" in said.err
    (tmp_path / "secret.txt").write_text("x")
    (tmp_path / "reply.json").write_text("{}")
    for form in (*READING, *WRITING):
        before = (run / "decisions.jsonl").read_bytes()
        words = filled(form, run, runs / GOOD, tmp_path)
        assert moot(*words).code != 70, words
        assert (run / "decisions.jsonl").read_bytes() == before, words
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        (tmp_path / "out").unlink(missing_ok=True)
    viewer = Viewer(runs)
    status, listed = viewer.get("/")
    assert status == 200
    assert "unreadable" in listed
    assert code in listed
    assert viewer.get("/compare")[0] == viewer.get(f"/run/{GOOD}")[0] == 200
    assert viewer.get("/run/strange")[0] in (200, 409)  # what can be shown of it is shown
    assert viewer.get(f"/compare?a={GOOD}&b=strange")[0] in (200, 409)


@pytest.mark.parametrize(("rule", "code"), [("judges", "ORD004"), ("rubric", "ORD001")])
def test_a_rule_that_is_missing_is_named(
    rule: str, code: str, debate: Source, moot: Moot, tmp_path: Path
) -> None:
    """F-7: an absent key is lawful as such; where the protocol cannot do without, that is said."""
    run = made(debate, lambda lines: opening(lines)["rules"].pop(rule), tmp_path / "strange")
    said = moot("check", run)
    assert said.code == 1
    assert code in said.out
    assert moot("replay", run, "--re-execute").code != 70
    viewer = Viewer(tmp_path)
    assert viewer.get("/")[0] == 200
    assert not [
        one for one in viewer.pages("strange", {"step": "x", "identity": "@1"}) if isinstance(one, Fault)
    ]


def test_a_reply_that_lost_an_event_is_blamed_on_the_run(
    moot: Moot, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """F-7: what no look at the opening shows: the arithmetic of a protocol finds less than its rules promise."""
    folder = tmp_path_factory.mktemp("runs") / "priority"
    shutil.copytree(played("priority"), folder)
    source = read(folder)
    ratings = [n for n, line in enumerate(source.lines) if line["kind"] == "rating"]

    def drop(lines: list[dict[str, Any]]) -> None:
        lines[:] = [line for n, line in enumerate(lines) if n not in ratings[:2] and n <= ratings[-1]]

    run = made(source, drop, tmp_path / "runs" / "strange")
    assert moot("check", run).code == 1
    said = moot("next", run)
    assert (said.code, said.err.count("\n")) == (2, 1), said
    assert "moot check" in said.err
    assert not [found for found in tools(run.parent, "strange", "strange", "x") if isinstance(found, Fault)]


def test_briefs_that_cannot_be_derived_are_said_in_words(moot: Moot, tmp_path: Path) -> None:
    """F-7: a blob that holds no prompts breaks no rule; `next` refuses in one line."""
    begin(tmp_path / "donor", rows(2))
    source = read(tmp_path / "donor")
    lines = source.copied()
    opening(lines)["prompt_set"] = opening(lines)["context"][0]["sha256"]
    run = tmp_path / "runs" / "strange"
    assert written(lines, run, Donors((source,)))
    assert moot("check", run).code in (0, 1)
    for verb in ("next", "status", "report", "replay"):
        said = moot(verb, run)
        assert said.code in (0, 2), (verb, said)
        if verb == "next":
            assert (said.code, said.err.count("\n")) == (2, 1), said
    assert Viewer(run.parent).get("/run/strange")[0] in (200, 409)
    assert not [one for one in tools(run.parent, "strange", "strange", "x") if isinstance(one, Fault)]


def test_a_fault_of_our_own_stays_one(tmp_path: Path) -> None:
    """F-7: a good run takes no blame; exit 70 keeps its meaning."""
    shutil.copytree(played("ratchet"), tmp_path / GOOD)
    assert explain_with(KeyError("x"), [tmp_path / GOOD]) is None
    assert explain_with(ZeroDivisionError("x"), [tmp_path / GOOD]) is None


def test_a_rule_that_crashes_on_a_good_ledger_is_a_fault() -> None:
    """F-7: a rule gives up only where others found the ledger broken, and is then named as not judged."""
    run = RunStore(played("ratchet"))
    sound, opened = run.book(), run.book().state.opened
    assert opened is not None

    def crash(_: object) -> Any:
        raise KeyError("x")

    def found(_: object) -> Any:
        yield Breach(0, "broken")

    crashing = rule("TST001", "error", source="none")(crash)
    breaking = rule("TST002", "error", source="none")(found)
    from rounds.protocols import protocol_of

    context = standard(protocol_of(opened)).context()
    with pytest.raises(KeyError):
        rulebook.judged(sound, context, rules=(crashing,))
    index = rulebook.judged(sound, context, rules=(crashing, breaking))
    assert index.unjudged == ["TST001"]
    assert book(sound.events, run.blobs).state.seq == sound.state.seq


@pytest.mark.parametrize("case", mostly_slow(["no opening", "no round", "an unknown rule"], quick=1))
def test_a_process_of_its_own_says_the_same(case: str, debate: Source, tmp_path: Path) -> None:
    """F-7: exit code and one line, as a shell sees them."""
    run = made(debate, CASES[case][0], tmp_path / "strange")
    for verb, wanted in (("verify", 0), ("check", 1), ("next", 2)):
        command = [sys.executable, "-P", "-m", "moot", verb, str(run)]
        said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)
        assert said.returncode == wanted, said
        assert "Traceback" not in said.stderr
        assert said.stderr.count("\n") == (1 if wanted == 2 else 0), said


@pytest.mark.slow
def test_strange_ledgers_at_every_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-7: a slice of the campaign: no exit 70, no traceback, no page of another run affected."""
    monkeypatch.chdir(tmp_path)
    counts, faults = tried(tmp_path, range(60))
    assert not faults, "\n".join(faults[:5])
    assert counts["ledgers"] == 60
    assert counts["calls"] > 480
    assert counts["check: exit 1"] > 42


@pytest.mark.campaign
def test_five_thousand_strange_ledgers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-7: the same with 5,000 seeds."""
    monkeypatch.chdir(tmp_path)
    counts, faults = tried(tmp_path, range(1_000, 6_000))
    assert not faults, "\n".join(faults[:20])
    assert counts["ledgers"] == 5_000
