"""The pages say what the code is: generated tables, cited ids, links, commands, and recipes that are run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from ledger.events import KINDS
from ledger.format.canonical import Head
from ledger.redaction.removal import redact
from ledger.store.store import RunStore
from ledger.store.streams import head_bytes
from moot.cli import find_verb
from rounds.protocols import PROTOCOLS
from rounds.run.session import start
from rounds.run.verdicts import standard
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from tests.blob_lines import blobs_of, change, lose
from tests.pages.tables import PAGES, ROOT, blocks, renewed
from tests.rounds.openings import begin, clock, play, rows
from tests.rounds.scripted import Script

TEXT = {".py", ".md", ".toml", ".json", ".yml", ".cfg"}
SKIPPED = {"runs", "build", "dist"}
ID = r"(SD|JB|S4|AD|XS|FM|LIT)-(\d{1,3})"
CITED = re.compile(rf"(?<![\w-]){ID}(?![\w-])")
SPAN = re.compile(rf"(?<![\w-]){ID} … (?:(?:SD|JB|S4|AD|XS|FM|LIT)-)?(\d{{1,3}})(?![\w-])")
SECTION = re.compile(r"\b(FORMAT|DESIGN) (\d+)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?:^|\$ |bin/)moot ([a-z][a-z-]*)", re.MULTILINE)
FENCE = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
RECIPE = re.compile(r"<!-- recipe: (\w+) -->\n```\w+\n(.*?)```", re.DOTALL)


@cache
def texts() -> tuple[tuple[Path, str], ...]:
    """Every text of the repository: code, tests, pages, schemas."""
    return tuple((path, path.read_text("utf-8")) for path in sorted(_below(ROOT)) if path.suffix in TEXT)


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if name == ".github" or (name not in SKIPPED and not name.startswith("."))
        ]
        yield from (Path(place) / name for name in names)


def pages() -> list[Path]:
    """Every Markdown page that people read."""
    return [path for path, _ in texts() if path.suffix == ".md" and "prompts" not in path.parts]


# ---------------------------------------------------------------- generated parts


@pytest.mark.parametrize("name", PAGES)
def test_generated_tables_are_what_the_models_say(name: str) -> None:
    page = (ROOT / name).read_text("utf-8")
    assert page == renewed(page), "python -m tests.pages --write"


def test_the_format_has_a_table_for_every_kind() -> None:
    named = blocks((ROOT / "docs/format.md").read_text("utf-8"))
    assert sorted(name.removeprefix("kind ") for name in named if name.startswith("kind ")) == sorted(KINDS)
    assert {"envelope", "call", "types", "parts", "bodies", "ids", "lifecycle", "visibility"} <= set(named)


# ---------------------------------------------------------------- what is cited stands somewhere


def test_every_cited_rule_stands_in_the_sources() -> None:
    page = ROOT / "docs/sources.md"
    known = set(re.findall(r"^\| ([A-Z0-9]+-\d+) \|", page.read_text("utf-8"), re.MULTILINE))
    missing = {
        (identity, str(path.relative_to(ROOT)))
        for path, text in texts()
        if path != page
        for identity in cited(text)
        if identity not in known
    }
    assert not missing


def cited(text: str) -> set[str]:
    """Rule ids in a text; `SD-61 … SD-70` cites all ten."""
    found = {f"{match[1]}-{match[2]}" for match in CITED.finditer(text)}
    for match in SPAN.finditer(text):
        found |= {f"{match[1]}-{n}" for n in range(int(match[2]), int(match[3]) + 1)}
    return found


def test_a_span_of_ids_cites_each_of_them() -> None:
    assert cited("(SD-61 … SD-63, FM-1)") == {"SD-61", "SD-62", "SD-63", "FM-1"}
    assert cited("AD-20 … 22") == {"AD-20", "AD-21", "AD-22"}
    assert cited("MY-SD-4, SD-4-x") == set()


def test_every_cited_section_exists() -> None:
    numbered = {
        word: set(re.findall(r"^## (\d+)\. ", (ROOT / page).read_text("utf-8"), re.MULTILINE))
        for word, page in (("FORMAT", "docs/format.md"), ("DESIGN", "docs/architecture.md"))
    }
    missing = {
        (match[0], str(path.relative_to(ROOT)))
        for path, text in texts()
        for match in SECTION.finditer(text)
        if match[2] not in numbered[match[1]]
    }
    assert not missing


def test_every_link_leads_somewhere() -> None:
    missing = {
        (str(page.relative_to(ROOT)), target)
        for page in pages()
        for target in LINK.findall(FENCE.sub("", page.read_text("utf-8")))
        if "://" not in target and not target.startswith("#")
        if not (page.parent / target.partition("#")[0]).exists()
    }
    assert not missing


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md", "docs/protocols/structured.md"])
def test_every_path_that_a_page_names_exists(page: str) -> None:
    named = re.compile(r"(?:detectors|docs|ledger|moot|roles|rounds|schemas|tests|validators)/[\w./-]*")
    code = CODE.findall(FENCE.sub("", (ROOT / page).read_text("utf-8")))
    assert {path for path in code if named.fullmatch(path) and not (ROOT / path).exists()} == set()


def shown(page: str) -> set[str]:
    """Verbs of the commands in a page's code."""
    code = [*FENCE.findall(page), *CODE.findall(FENCE.sub("", page))]
    return {verb for part in code for verb in COMMAND.findall(part)}


def test_every_verb_that_a_page_shows_exists() -> None:
    # The two exempt pages say what went where; `moot help` is the list of verbs itself.
    read = [page for page in pages() if page.name not in ("upgrade.md", "CHANGELOG.md")]
    verbs = {verb: find_verb(verb) for page in read for verb in shown(page.read_text("utf-8")) - {"help"}}
    assert {name for name, verb in verbs.items() if verb is None} == set()
    files = {verb.path.replace(".", "/") + ".py" for verb in verbs.values() if verb is not None}
    assert {file for file in files if not (ROOT / file).exists()} == set()


def test_every_protocol_has_its_page() -> None:
    assert [name for name in PROTOCOLS if not (ROOT / f"docs/protocols/{name}.md").exists()] == []


def test_pages_speak_of_the_product_alone() -> None:
    place = re.compile(r"(?<![\w.])/(?:work|root|home|tmp|mnt|Users)/")
    assert [str(page) for page in pages() if place.search(page.read_text("utf-8"))] == []


# ---------------------------------------------------------------- numbers and recipes


@pytest.mark.parametrize(
    ("plan", "calls", "seed"),
    [("minimum-8", 142, 1), pytest.param("standard-13", 258, 3, marks=pytest.mark.slow)],
)
def test_a_plan_costs_the_calls_that_its_page_says(tmp_path: Path, plan: str, calls: int, seed: int) -> None:
    table = {
        "deliberation": {"question": "Which storage?", "options": ["one", "two"], "plan": plan, "seed": seed}
    }
    opening = resolve(checked(table), {}, moot="0.1.0")
    session = start(
        tmp_path / "run",
        opening.event,
        blobs=opening.blobs,
        verdicts=standard,
        clock=clock(),
        files={},
    )
    play(session, Script(seed=seed))
    state = session.book().state
    assert state.finished
    assert len(state.answered) == calls
    assert f"| `{plan}` | {calls} |" in (ROOT / "docs/protocols/structured.md").read_text("utf-8")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of two rounds."""
    path = tmp_path_factory.mktemp("recipes") / "run"
    play(begin(path, rows(2, absent={2: "critic"})))
    return path


def recipe(language: str, run: Path) -> subprocess.CompletedProcess[str]:
    """Run a recipe of docs/format.md inside a run directory."""
    code = dict(RECIPE.findall((ROOT / "docs/format.md").read_text("utf-8")))[language]
    program = {"shell": ["bash", "-c", code], "python": [sys.executable, "-I", "-c", code]}[language]
    return subprocess.run(program, cwd=run, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("language", ["shell", "python"])
def test_a_recipe_finds_a_run_intact(played: Path, language: str) -> None:
    found = recipe(language, played)
    assert (found.returncode, found.stdout, found.stderr) == (0, "intact\n", "")


DAMAGE = ("a byte", "a line less", "two lines swapped", "head", "a blob")


@pytest.mark.parametrize(("language", "damage"), list(product(["shell", "python"], DAMAGE)))
def test_a_recipe_finds_damage(played: Path, tmp_path: Path, language: str, damage: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(played, run)
    spoil(run, damage)
    found = recipe(language, run)
    assert found.returncode != 0
    assert "intact" not in found.stdout


@pytest.mark.slow
def test_a_recipe_tells_a_blob_that_was_redacted_from_one_that_is_lost(played: Path, tmp_path: Path) -> None:
    run = Path(shutil.copytree(played, tmp_path / "run"))
    replies = {event.step: event.call.reply for event in RunStore(run).events() if event.call is not None}
    redact(
        RunStore(run), ["K-1", replies["r1.C.critic"]], "a name stood there", at="2026-02-03T04:05:06.000007Z"
    )
    assert recipe("python", run).stdout == "intact\n"
    assert recipe("shell", run).stdout == "intact\n"
    reply = next(event.call.reply for event in RunStore(run).events() if event.call is not None)
    lose(run, reply)
    assert "is missing" in recipe("python", run).stderr


def spoil(run: Path, damage: str) -> None:
    """Damage a run in the way that is named."""
    stream = run / "verifications.jsonl"
    lines = stream.read_bytes().splitlines(keepends=True)
    match damage:
        case "a byte":
            lines[1] = lines[1].replace(b'"notes":"', b'"notes":"X', 1)
        case "a line less":
            del lines[1]
        case "two lines swapped":
            lines[:2] = lines[1], lines[0]
        case "head":
            (run / "head").write_bytes(head_bytes(Head(0, "0" * 64), (run / "blobs.jsonl").stat().st_size))
        case _:
            change(run, next(iter(blobs_of(run))), lambda content: content + b" ")
    stream.write_bytes(b"".join(lines))


# ---------------------------------------------------------------- the tour

TOUR = re.compile(r"<!-- tour -->\n```\n(.*?)```", re.DOTALL)


@pytest.mark.slow
def test_the_tour_goes_as_it_says(tmp_path: Path) -> None:
    parts = TOUR.findall((ROOT / "docs" / "start.md").read_text("utf-8"))
    moot = f'moot() {{ {shlex.quote(sys.executable)} -m moot "$@" || echo "exit $?"; }}\n'
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    said = [
        subprocess.run(
            ["bash", "-c", moot + part],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for part in parts
    ]
    opened, answered, looked = (one.stdout for one in said)
    assert [one.stderr for one in said] == [""] * 3
    assert re.findall(r"^exit \d$", opened, re.MULTILINE) == ["exit 4"]  # host seats: it waits
    assert "r1.B.action" in opened
    assert "S-1-B-action" in answered
    assert {f"r1.C.{role}" for role in ("guardian", "observer", "critic")} <= set(
        re.findall(r"r1\.C\.\w+", answered)
    )
    assert re.findall(r"^exit \d$", answered, re.MULTILINE) == []
    assert re.findall(r"^exit \d$", looked, re.MULTILINE) == ["exit 1"]  # signals: go on
    assert "GO ON: next round" in looked
    assert "Should our nightly export become a stream?" in looked


def test_the_first_change_goes_as_contributing_says(tmp_path: Path) -> None:
    page = (ROOT / ".github/CONTRIBUTING.md").read_text("utf-8")
    question = re.search(r'moot gate "(.+)"', page)
    file, word, behind = re.search(r"In `(.+)`, find .+ add `(.+)` behind `(.+)`\.", page).groups()  # type: ignore[union-attr]
    said = re.findall(r"first line (?:now )?says `([\w-]+)`", page)
    for package in ("moot", "rounds", "validators", "detectors", "roles", "ledger", "schemas"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    assert question
    chosen = [_first_word(tmp_path, question[1])]
    text = (tmp_path / file).read_text("utf-8")
    assert text.count(behind) == 1
    (tmp_path / file).write_text(text.replace(behind, behind + word), "utf-8")
    lint = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--config",
        str(ROOT / "pyproject.toml"),
        str(tmp_path / file),
    ]
    assert subprocess.run(lint, check=False).returncode == 0
    chosen.append(_first_word(tmp_path, question[1]))
    assert chosen == said
    assert chosen[0] != chosen[1]


def _first_word(place: Path, question: str) -> str:
    words = [sys.executable, "-m", "moot", "gate", question]
    environment = {**os.environ, "PYTHONPATH": str(place)}
    done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.partition(":")[0]
