"""`moot fork`: the shared bytes, what differs from there on, and that every other verb takes a fork like any run."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from ledger.events import RoundOpened, RunOpened
from ledger.state.book import Book
from ledger.store.store import RunStore
from tests.cli.conftest import Moot
from tests.validators.factory import findings
from validators.ledger_index import RuleContext

STREAMS = ("claims", "verifications", "decisions")


def _lines(run: Path) -> list[bytes]:
    return [line for _, _, line in RunStore(run).lines()]


def _forked(moot: Moot, parent: Path, out: Path, *arguments: object) -> dict[str, object]:
    said = moot("fork", parent, "--out", out, "--json", *arguments)
    assert said.code == 0, said.err
    return dict(said.json)


@pytest.mark.parametrize("round_", [1, 2, 3])
def test_what_is_shared_is_the_same_to_the_byte(
    moot: Moot, finished: Path, tmp_path: Path, round_: int
) -> None:
    fork = tmp_path / "fork"
    made = _forked(moot, finished, fork, "--round", round_)
    shared = int(str(made["seq"])) + 1
    ours, theirs = _lines(fork), _lines(finished)
    assert ours[:shared] == theirs[:shared]
    assert hashlib.sha256(ours[shared - 1]).hexdigest() == made["head"]
    for stream in STREAMS:
        parent_bytes = (finished / f"{stream}.jsonl").read_bytes()
        kept = sum(name == stream for name, _, _ in list(RunStore(finished).lines())[:shared])
        prefix = b"".join(line + b"\n" for line in parent_bytes.splitlines()[:kept])
        assert (fork / f"{stream}.jsonl").read_bytes().startswith(prefix)


def test_a_fork_says_where_it_comes_from_and_what_differs(moot: Moot, finished: Path, tmp_path: Path) -> None:
    fork = tmp_path / "fork"
    made = _forked(moot, finished, fork, "--round", 3, "--without", "guardian", "--seat", "critic=human")
    events = RunStore(fork).events()
    opening, first = events[-2:]
    assert isinstance(opening, RunOpened)
    assert (opening.origin.type, opening.origin.of) == ("fork", finished.name)
    assert (
        (opening.origin.seq, opening.origin.head)
        == (made["seq"], made["head"])
        == (opening.seq - 1, opening.prev)
    )
    assert {member.role: member.seat for member in opening.cast}["critic"] == "human"
    assert isinstance(first, RoundOpened)
    assert (first.round, first.absent, first.planned_stress) == (3, "guardian", "guardian")
    assert {entry.code for entry in first.predicted_signature or ()} >= {"no_invariant"}
    assert first.applicable == (1, 3, 4)
    assert made["waiting"] == [f"r3.B.{first.lead}"]


def test_an_unchanged_fork_played_from_its_parent_comes_out_the_same(
    moot: Moot, finished: Path, tmp_path: Path
) -> None:
    fork = tmp_path / "fork"
    tape = f"tape:{finished}"
    _forked(moot, finished, fork, "--round", 2, "--seats", tape)
    assert moot("run", "--resume", fork, "--seats", tape, "--quiet").code == 0
    assert moot("verify", fork).code == 0
    assert moot("check", fork).code == 0
    assert moot("replay", fork, "--re-execute").code == 0
    parted = moot("diff", finished, fork, "--json").json
    assert parted["first_divergence"] == next(
        e.seq for e in RunStore(finished).events() if e.kind == "round_opened" and e.round == 2
    )
    assert parted["claims"]["only_a"] == parted["claims"]["only_b"] == parted["claims"]["changed"] == []
    again = _forked(moot, fork, tmp_path / "again", "--round", 3)
    assert moot("verify", tmp_path / "again").code == 0
    assert RunStore(tmp_path / "again").events()[-2].origin.of == "fork"  # type: ignore[union-attr]  # an opening
    assert again["round"] == 3


def problems_of(book: Book) -> str:
    return "\n".join(finding.message for finding in findings(book, RuleContext()))


def test_a_damaged_claim_to_be_a_fork_is_found(moot: Moot, finished: Path, tmp_path: Path) -> None:
    fork = tmp_path / "fork"
    _forked(moot, finished, fork, "--round", 2)
    book = RunStore(fork).book()
    opening = book.events[-2]
    assert isinstance(opening, RunOpened)
    assert "opened a second time" not in problems_of(book)
    elsewhere = msgspec.structs.replace(opening, prev="1" * 64)
    assert "opened a second time" in problems_of(
        msgspec.structs.replace(book, events=(*book.events[:-2], elsewhere))
    )


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--round", 9), "never opened"),
        (("--round", 3, "--without", "nobody"), "nobody"),
        (("--round", 2, "--without", "verifier"), "verifier"),
        (("--round", 2, "--seat", "nobody=host"), "nobody"),
        (("--round", 2, "--through", 3), "--through"),
        (("--round", 3, "--without", "critic", "--through", 2), "absent"),
    ],
)
def test_what_cannot_be_forked_is_refused_and_nothing_written(
    moot: Moot, finished: Path, tmp_path: Path, arguments: tuple[object, ...], word: str
) -> None:
    said = moot("fork", finished, "--out", tmp_path / "fork", *arguments)
    assert said.code == 2
    assert word in said.err
    assert not (tmp_path / "fork").exists()


def test_a_fork_goes_beside_its_parent_and_overwrites_nothing(moot: Moot, opened: Path) -> None:
    first = moot("fork", opened, "--round", 1, "--json").json["run"]
    second = moot("fork", opened, "--round", 1, "--json").json["run"]
    assert Path(first).name == "opened.r1-again"
    assert Path(second).name == "opened.r1-again-2"
    assert Path(first).parent == opened.parent
