"""Paths from outside go nowhere they should not: tried with real files, links and pipes."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ledger.interchange.skill_import import NotAStateDirectory, read_directory
from ledger.store.store import RunStore
from tests.cli.conftest import Moot, content, finished, moot, opened
from tests.ledger.interchange.sources import SMALL, source

__all__ = ["finished", "moot", "opened"]

SECRET = b"the secret of somebody else\n"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside every directory that a test works in."""
    path = tmp_path / "elsewhere" / "secret.md"
    path.parent.mkdir()
    path.write_bytes(SECRET)
    return path


def written(folder: Path, path: str) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "d.toml"
    file.write_text(f"[deliberation]\nquestion = 'x'\n[[context]]\nname = 'd'\npath = '{path}'\n", "utf-8")
    return file


@pytest.mark.parametrize("way", ["absolute", "above", "link", "linked directory"])
def test_a_deliberation_file_names_no_document_outside_its_directory(
    moot: Moot, tmp_path: Path, secret: Path, way: str
) -> None:
    box = tmp_path / "box"
    box.mkdir()
    (box / "link.md").symlink_to(secret)
    (box / "folder").symlink_to(secret.parent)
    path = {
        "absolute": str(secret),
        "above": "../elsewhere/secret.md",
        "link": "link.md",
        "linked directory": "folder/secret.md",
    }[way]
    said = moot("run", written(box, path), "--seats", "host", "--out", "out")
    assert said.code == 2
    assert "outside the file's directory" in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_document_beside_the_file_or_said_by_the_person_is_read(
    moot: Moot, tmp_path: Path, secret: Path
) -> None:
    box = tmp_path / "box"
    box.mkdir()
    (box / "inside.md").write_bytes(b"inside\n")
    assert moot("run", written(box, "inside.md"), "--seats", "host", "--out", "a").code == 4
    assert moot("run", box / "d.toml", "--seats", "host", "--out", "b", "--context", secret).code == 4
    opened = RunStore(tmp_path / "b").book().state.opened
    assert opened is not None
    assert [document.name for document in opened.context] == ["d", "secret.md"]


def test_what_new_writes_is_run_as_it_is(moot: Moot, tmp_path: Path, secret: Path) -> None:
    (tmp_path / "box").mkdir()
    assert moot("new", "box/d.toml", "-q", "x", "--context", secret).code == 0
    assert moot("run", "box/d.toml", "--seats", "host", "--out", "out").code == 4
    run = RunStore(tmp_path / "out")
    opened = run.book().state.opened
    assert opened is not None
    assert [run.blobs.read(document.sha256) for document in opened.context] == [SECRET]


def test_a_document_without_an_end_is_refused(moot: Moot, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(b"x" * ((1 << 22) + 1))
    for path, why in (
        ("/dev/zero", "plain file"),
        ("pipe", "plain file"),
        ("folder", "nothing in folder"),
        ("large", "more than"),
    ):
        said = moot("run", "-q", "x", "--seats", "host", "--out", "out", "--context", path)
        assert (said.code, why in said.err) == (2, True), said
    assert not (tmp_path / "out").exists()


def imported_from(folder: Path) -> Path:
    for name, data in source(SMALL, {"artifacts/one.md": b"# one\n"}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_an_import_follows_no_link_out_of_its_directory(tmp_path: Path, secret: Path) -> None:
    folder = imported_from(tmp_path / "src")
    (folder / "artifacts" / "two.md").symlink_to(secret)
    (folder / "rounds").symlink_to(secret.parent)
    os.mkfifo(folder / "artifacts" / "pipe")
    files = read_directory(folder)
    assert SECRET not in files.values()
    assert "artifacts/one.md" in files
    assert not {"artifacts/two.md", "rounds/secret.md", "artifacts/pipe"} & set(files)


def test_rows_that_are_a_link_to_elsewhere_are_refused(moot: Moot, tmp_path: Path) -> None:
    folder = imported_from(tmp_path / "src")
    shutil.move(folder / "claims.jsonl", tmp_path / "theirs.jsonl")
    (folder / "claims.jsonl").symlink_to(tmp_path / "theirs.jsonl")
    with pytest.raises(NotAStateDirectory, match="leads outside"):
        read_directory(folder)
    assert moot("import", "skill", folder, "--out", "out").code == 2
    assert not (tmp_path / "out").exists()


def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    folder = imported_from(tmp_path / "src")
    (folder / "artifacts" / "two.md").symlink_to("one.md")
    assert read_directory(folder)["artifacts/two.md"] == b"# one\n"


@pytest.mark.parametrize(
    "name", ["../x", "../../etc", "/etc", "/etc/passwd", "", "..", "a\0b", "x" * 5_000, "\x1b[2J"]
)
def test_a_name_that_is_no_run_is_one_line(moot: Moot, name: str) -> None:
    for verb in ("status", "verify", "claims", "report"):
        said = moot(verb, name)
        assert said.code == 2, said
        assert said.out == ""
        assert said.err.count("\n") == 1
        assert said.err[:-1].isprintable()


def test_an_export_writes_into_an_empty_directory_only(
    moot: Moot, tmp_path: Path, secret: Path, finished: Path
) -> None:
    before = content(finished)
    for target in (finished, secret.parent, secret):
        assert moot("export", finished, target, "--to", "skill").code == 2
    (tmp_path / "dangling").symlink_to(tmp_path / "elsewhere" / "secret.md")
    assert moot("export", finished, "dangling", "--to", "skill").code == 2
    assert moot("export", finished, "out", "--to", "skill").code == 0
    assert secret.read_bytes() == SECRET
    assert content(finished) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dangling", "elsewhere", "out"]


def linked(run: Path, name: str, target: Path) -> None:
    """A link in the place of a file or directory of a run, as somebody may send it."""
    place = run / name
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    place.symlink_to(target)


WRITTEN = (
    "head",
    "blobs.jsonl.tmp",
    "lock",
    "driver",
    "claims.jsonl",
    "opening.tmp",
    "spent",
    "blobs.jsonl",
    "quarantine",
    "checkpoints",
)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_run_that_holds_links_makes_nobody_write_elsewhere(
    moot: Moot, tmp_path: Path, secret: Path, opened: Path, name: str
) -> None:
    moot("seal", "--new-key", "keys/alice.key")
    target = secret.parent if name in ("quarantine", "checkpoints") else secret
    linked(opened, name, target)
    if name == "quarantine":
        with (opened / "claims.jsonl").open("ab") as file:
            file.write(b"torn")
    reply = tmp_path / "reply.json"
    reply.write_text('{"sections":[{"name":"main","text":"Hello."}],"responds_to":[],"options":[]}')
    for call in (
        ("note", opened, "hello"),
        ("submit", opened, "r1.B.action", reply),
        ("run", "--resume", opened, "--seats", "host", "--no-live"),
        ("redact", opened, "0" * 64, "--reason", "x"),
        ("seal", opened, "--key", "keys/alice.key"),
    ):
        said = moot(*call)
        assert "fault of moot's" not in said.err
        assert said.err.count("\n") <= 1
    assert secret.read_bytes() == SECRET
    assert list(secret.parent.iterdir()) == [secret]


@pytest.mark.parametrize("name", ["head", "claims.jsonl", "driver", "blobs.jsonl"])
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero"])
def test_a_run_that_holds_pipes_and_devices_keeps_nobody_waiting(
    moot: Moot, finished: Path, tmp_path: Path, name: str, kind: str
) -> None:
    run = Path(shutil.copytree(finished, tmp_path / "sent"))
    place = run / name
    place.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(kind)
    for verb in ("verify", "status", "log", "check"):
        said = moot(verb, run)
        assert said.code in (0, 1, 2, 3), said
        assert "fault of moot's" not in said.err
    assert moot("note", run, "hello").code in (0, 2, 3)


STUDY = """[study]
question = 'q'
baseline = 'a'
[[item]]
id = 'i'
{}
[[arm]]
id = 'a'
protocol = 'single-pass'
"""
LOOPS = {
    "a document of a file": ("run", "loops.toml", "--seats", "host", "--out", "out"),
    "a document": ("run", "-q", "A or B?", "--protocol", "crux", "--seats", "host", "--context", "loop"),
    "a run": ("run", "-q", "A or B?", "--protocol", "crux", "--seats", "host", "--out", "loop"),
    "above a run": ("run", "-q", "A or B?", "--protocol", "crux", "--seats", "host", "--out", "loop/run"),
    "a document of a draft": ("new", "new.toml", "-q", "A or B?", "--context", "loop"),
    "an item": ("study", "status", "study"),
    "the run of a study": ("study", "run", "filled"),
}


@pytest.mark.parametrize("door", LOOPS)
def test_a_loop_of_links_is_refused_in_words(moot: Moot, tmp_path: Path, door: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    written(tmp_path, "loop").rename(tmp_path / "loops.toml")
    for name, item, link in (("study", "file = 'loop'", "loop"), ("filled", "question = 'A or B?'", "runs")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.toml").write_text(STUDY.format(item))
        (tmp_path / name / link).symlink_to(link)
    said = moot(*LOOPS[door])
    assert said.code in (2, 3), said.err
    assert said.err.splitlines()[-1].startswith("moot: ")
    assert "fault of moot's" not in said.err
    assert not (tmp_path / "out").exists()


def test_a_study_writes_no_run_into_a_directory_outside_of_it(moot: Moot, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "study").mkdir()
    (tmp_path / "study/study.toml").write_text(STUDY.format("question = 'A or B?'"))
    assert moot("study", "run", "study", "--workers", "1").code == 4
    (run,) = (tmp_path / "study/runs").glob("r*")
    shutil.rmtree(run)
    run.symlink_to(tmp_path / "elsewhere")
    moot("study", "run", "study", "--workers", "1")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    shutil.rmtree(tmp_path / "study/ends")
    run.unlink()
    run.parent.rename(tmp_path / "moved")
    run.parent.symlink_to(tmp_path / "elsewhere")
    said = moot("study", "run", "study", "--workers", "1")
    assert said.code == 3
    assert "leads elsewhere by a symbolic link" in said.err
    assert "choose another place" in said.err
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("usd", ["-0", "1e9999999", "1e400", "nan", "-1", "1e-400"])
def test_an_odd_amount_opens_a_run_or_is_refused_in_words(moot: Moot, usd: str) -> None:
    said = moot(
        "run", "-q", "A or B?", "--protocol", "crux", "--seats", "host", "--out", "r", "--max-usd", usd
    )
    assert said.code == (4 if usd == "-0" else 2), said.err
    if usd == "-0":
        assert moot("verify", "r").code == 0


def test_more_workers_than_a_machine_has_are_refused_in_words(moot: Moot) -> None:
    said = moot("study", "run", "study", "--workers", str(10**30))
    assert said.code == 2
    assert "--workers" in said.err
