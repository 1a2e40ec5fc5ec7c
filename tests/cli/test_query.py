"""`moot query`: the numbers of the Python API, read again only where a head changed, and nothing but the tables."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("duckdb")

from ledger.events import Belief
from moot.api import open_run
from tests.cli.conftest import Moot

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "runs" / "examples"
SHORT = ("crux-storage-1", "debate-services", "tribunal-medicines", "crux-fire-1")


@pytest.fixture
def runs(moot: Moot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four recorded runs in ./runs, and a cache of their own."""
    assert callable(moot)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in SHORT:
        shutil.copytree(EXAMPLES / name, tmp_path / "runs" / name)
    return tmp_path / "runs"


def asked(moot: Moot, sql: str, *words: object) -> list[list[Any]]:
    said = moot("query", sql, "--json", *words)
    assert said.code == 0, said
    rows: list[list[Any]] = said.json["rows"]
    return rows


@pytest.mark.usefixtures("runs")
def test_the_tables_have_the_numbers_of_the_python_api(moot: Moot) -> None:
    for name in SHORT:
        run = open_run(EXAMPLES / name)
        book, where = run.book, f"WHERE run = '{name}'"
        assert asked(moot, f"SELECT count(*), max(seq) FROM events {where}") == [
            [len(book.events), run.head.seq]
        ]
        kinds = Counter(event.kind for event in book.events)
        assert dict(asked(moot, f"SELECT kind, count(*) FROM events {where} GROUP BY ALL")) == dict(kinds)
        statuses = Counter(claim.status for claim in run.claims)
        assert dict(asked(moot, f"SELECT status, count(*) FROM claims {where} GROUP BY ALL")) == dict(
            statuses
        )
        in_force = {one.id for one in run.decisions if one.overturned_by is None}
        assert {row[0] for row in asked(moot, f"SELECT id FROM decisions {where} AND in_force")} <= in_force
        spend = run.state.spend
        ((replies, came, out, answer, status),) = asked(
            moot, f"SELECT replies, tokens_in, tokens_out, answer, status FROM runs {where}"
        )
        assert (replies, came, out) == (spend.calls, spend.tokens_in, spend.tokens_out)
        assert (answer.split(), status) == (run.outcome.answer.split(), run.outcome.status)
        assert asked(moot, f"SELECT count(*) FROM calls {where}") == [[spend.calls]]
    crux = open_run(EXAMPLES / "crux-storage-1").book
    given = {
        (event.id, option): points for event in crux.of(Belief) for option, points in event.points.items()
    }
    rows = asked(moot, "SELECT id, option, points FROM beliefs WHERE run = 'crux-storage-1'")
    assert {(identity, option): points for identity, option, points in rows} == given
    judged = open_run(EXAMPLES / "tribunal-medicines").book
    verdicts = sum(event.kind == "verification" for event in judged.events)
    assert asked(moot, "SELECT count(*) FROM verdicts WHERE run = 'tribunal-medicines'") == [[verdicts]]


def test_a_run_is_read_again_only_when_its_head_has_changed(runs: Path) -> None:
    from moot.app.corpus_index import Corpus
    from moot.app.session import Session

    with Corpus(runs) as corpus:
        first = corpus.refresh()
        assert (first.runs, first.read, first.gone) == (4, 4, 0)
        assert corpus.refresh().read == 0
        Session(runs / "crux-fire-1").note("A remark.")
        shutil.rmtree(runs / "debate-services")
        again = corpus.refresh()
        assert (again.runs, again.read, again.gone) == (3, 1, 1)
        found = corpus.ask("SELECT run, max(seq) FROM events GROUP BY ALL ORDER BY ALL").rows
        assert [row[0] for row in found] == sorted(set(SHORT) - {"debate-services"})
        assert dict(found)["crux-fire-1"] == open_run(runs / "crux-fire-1").head.seq
    with Corpus(runs / "crux-fire-1") as one:
        assert (one.refresh().runs, one.ask("SELECT DISTINCT run FROM claims").rows) == (1, [["crux-fire-1"]])


def test_a_damaged_run_is_left_out_and_named(moot: Moot, runs: Path) -> None:
    stream = runs / "debate-services" / "claims.jsonl"
    stream.write_bytes(stream.read_bytes().replace(b'"seq":1', b'"seq":7', 1))
    said = moot("query", "SELECT count(*) FROM runs", "--json")
    assert said.json["rows"] == [[3]]
    assert "1 could not be read and are left out: debate-services" in said.err


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('runs/*/claims.jsonl')",
        "COPY runs TO 'out.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "EXPORT DATABASE 'out'",
        "DELETE FROM runs",
        "CREATE TABLE x AS SELECT 1",
        "DROP TABLE runs",
        "SELECT nothing FROM runs",
        "SELEC 1",
    ],
)
def test_a_question_reads_the_tables_and_nothing_else(moot: Moot, tmp_path: Path, sql: str) -> None:
    asked(moot, "SELECT 1")
    before = {path for path in tmp_path.rglob("*") if "cache" not in path.parts}
    said = moot("query", sql)
    assert said.code == 2, said
    assert "Traceback" not in said.err
    assert {path for path in tmp_path.rglob("*") if "cache" not in path.parts} == before
    assert asked(moot, "SELECT count(*) FROM runs") == [[4]]


@pytest.mark.usefixtures("runs")
def test_every_form_of_an_answer(moot: Moot) -> None:
    sql = "SELECT run, usd, replies, question FROM runs ORDER BY run"
    table = moot("query", sql).out.splitlines()
    assert table[0].split() == ["run", "usd", "replies", "question"]
    assert table[-1] == "4 rows"
    assert "–" in table[2], "an unknown price is no nought"
    text = moot("query", sql, "--csv").out
    assert len(text.splitlines()) == 5
    assert text.startswith("run,usd,replies,question\ncrux-fire-1,")
    said = moot("query")
    assert "claims(run, id, round, raised_by, status," in said.out
    assert moot("query", "--json").code == 2
    assert moot("query", "SELECT 1", "--csv", "--json").code == 2
    assert moot("query", "SELECT 1", "--runs", "nowhere").code == 2


@pytest.mark.usefixtures("runs")
def test_the_tables_go_out_as_parquet(moot: Moot) -> None:
    import duckdb

    assert moot("query", "--parquet", "it's out").code == 0
    with duckdb.connect() as other:
        rows = other.execute("SELECT count(*) FROM read_parquet($1)", ["it's out/events.parquet"]).fetchall()
    assert [list(row) for row in rows] == asked(moot, "SELECT count(*) FROM events")


def test_the_questions_of_the_page_are_answered(moot: Moot, runs: Path) -> None:
    shutil.copytree(EXAMPLES / "storage-minimum-8", runs / "structured")
    page = (ROOT / "docs" / "query.md").read_text("utf-8")
    questions = re.findall(r'^moot query "(.+)"$', page, re.MULTILINE)
    assert len(questions) == 6
    for sql in questions:
        assert asked(moot, sql) or "usd IS NOT NULL" in sql, sql
    told = json.dumps(asked(moot, questions[3]))
    assert all(role in told for role in ("action", "critic")), "who raised claims"
