"""`moot serve` and `moot report --html` as commands: what they print, what they refuse, how they end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import schemas
from tests.cli.conftest import Moot, moot
from tests.web.viewer import ROOT, viewer

__all__ = ["moot"]


def serve(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "moot", "serve", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )


def test_it_says_where_it_listens_and_ctrl_c_is_a_good_end(runs: Path) -> None:
    with serve(runs, "--port", 0, "--json") as process:
        assert process.stdout is not None
        said = json.loads(process.stdout.readline())
        Draft202012Validator(schemas.load("output/serve")).validate(said)
        assert said["runs"] == str(runs)
        assert said["url"] == f"http://127.0.0.1:{said['port']}/"
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=20)
    assert process.returncode == 0
    assert complaints == ""


def test_without_a_port_the_next_free_one_is_taken_and_a_named_one_is_not_replaced(
    runs: Path, moot: Moot
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = moot("serve", runs, "--port", port, "--no-open")
    assert said.code == 2
    assert "cannot listen" in said.err
    assert "--port" in said.err


@pytest.mark.parametrize("where", ["nothing-here", "a-file"])
def test_a_directory_is_needed(moot: Moot, where: str) -> None:
    Path("a-file").write_text("x")
    said = moot("serve", where, "--json")
    assert said.code == 2
    assert said.json["error"]["code"] == "no_runs"


def test_the_report_is_written_as_html(runs: Path, moot: Moot) -> None:
    said = moot("report", runs / "scripted", "--html", "report.html", "--json")
    assert said.code == 0
    assert (said.json["format"], said.json["out"], said.json["text"]) == ("html", "report.html", None)
    document = Path("report.html").read_text("utf-8")
    assert document.startswith("<!doctype html>")
    assert said.json["head"] in document
    again = moot("report", runs / "scripted", "--html", "again.html")
    assert again.out == "written to again.html\n"
    assert Path("again.html").read_text("utf-8") == document


def test_html_or_markdown(runs: Path, moot: Moot) -> None:
    said = moot("report", runs / "scripted", "--html", "a.html", "--out", "a.md")
    assert said.code == 2
    assert not Path("a.html").exists()


@pytest.mark.slow
def test_one_run_can_be_served_by_itself_and_reading_changes_nothing(runs: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    with viewer(runs / "scripted") as serving:
        assert "/run/scripted" in serving.get("/").body
        for path in ("/run/scripted", "/run/scripted/live", "/run/scripted/check"):
            assert serving.get(path).status == 200
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before
