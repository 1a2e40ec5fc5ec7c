"""A kind, a verb and a provider are rows: what a new one touches, and that ids are made and taken apart in one file."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, Literal, cast, get_args

import msgspec
import pytest

import moot.__main__
import moot.cli
from ledger.events import KINDS, Event
from ledger.events.envelope import Identified
from ledger.events.ids import LABELS, event_id, id_pattern, kind_of
from ledger.events.kinds import EventKind, filled
from ledger.format.canonical import NotCanonical, decode, encode
from ledger.format.schema import event_schema
from moot.app.seat_specs import read_spec
from moot.app.seats import make_seats
from moot.cli import HELP, VERBS, Verb
from moot.errors import GOOD
from roles.seats.registry import PROVIDERS, Provider, Wanted
from tests.architecture.rooms import nodes
from tests.architecture.test_house import sources

LETTERS = "|".join([*sorted({row.letter for row in KINDS.values() if row.id}), *LABELS.values()])
IDS = {"ledger/events/ids.py", "ledger/events/kinds.py"}


def test_every_kind_has_a_row_and_says_whether_it_has_an_id() -> None:
    assert {row.model for row in KINDS.values()} == set(get_args(Event))
    for kind, row in KINDS.items():
        assert {field.name: field.default for field in msgspec.structs.fields(row.model)}["kind"] == kind
        assert issubclass(row.model, Identified) == bool(row.id)


def test_a_letter_belongs_to_one_kind() -> None:
    letters = [*(row.letter for row in KINDS.values() if row.id), *LABELS.values()]
    assert len(letters) == len(set(letters))


@pytest.mark.parametrize("kind", [kind for kind, row in KINDS.items() if row.is_counted])
def test_an_id_says_its_kind(kind: str) -> None:
    assert kind_of(event_id(kind, 3, 4)) == kind


class Sample(Identified, frozen=True, kw_only=True):
    """A kind that this test adds."""

    kind: Literal["sample"] = "sample"
    text: str


def test_a_row_is_all_that_bytes_ids_laws_and_schema_need(monkeypatch: pytest.MonkeyPatch) -> None:
    row: Any = EventKind(model=cast("Any", Sample), stream="claims", id="ZZ-{round}-{n}", laws=filled("text"))
    for module in ("events.ids", "events.laws", "format.canonical", "format.schema"):
        monkeypatch.setattr(f"ledger.{module}.KINDS", {**KINDS, "sample": row})
    event: Any = Sample(id=event_id("sample", 1, 2), round=1, phase="D", by="critic", text="x", at=AT)
    line = encode(event)
    assert decode(line) == event
    assert event_schema("sample")["properties"]["id"]["pattern"] == id_pattern("sample")
    with pytest.raises(NotCanonical, match="is not an id of a sample"):
        decode(line.replace(b"ZZ-1-2", b"C-1-2"))
    with pytest.raises(NotCanonical, match="needs at least 1"):
        decode(line.replace(b'"text":"x"', b'"text":""'))


AT = "2026-01-02T03:04:05.000006Z"
MODELS = {row.model.__name__ for row in KINDS.values()}


def names_in(node: ast.AST) -> set[str]:
    """The models that a piece of code names."""
    return {
        name
        for each in ast.walk(node)
        if (
            name := each.id
            if isinstance(each, ast.Name)
            else each.attr
            if isinstance(each, ast.Attribute)
            else ""
        )
        in MODELS
    }


def ends_in_error(match: ast.Match) -> bool:
    """Whether a match must name every kind that its subject can be: the type check refuses it otherwise."""
    last = match.cases[-1]
    wild = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    return wild and any(isinstance(node, ast.Name) and node.id == "assert_never" for node in ast.walk(last))


def test_a_new_kind_touches_at_most_four_files() -> None:
    """Its model, its row, and where the type check asks for it: in tables and matches of kinds without a rest."""
    forced = {"ledger/events/kinds.py"}
    for path, text in sources().items():
        for node in nodes(text):
            is_table = (
                isinstance(node, ast.Dict | ast.Tuple | ast.Set | ast.List) and len(names_in(node)) > 20
            )
            if is_table or (isinstance(node, ast.Match) and ends_in_error(node) and names_in(node)):
                forced.add(path)
    assert len({*forced, "its model"}) <= 4, forced


# ---------------------------------------------------------------- ids

MADE = re.compile(rf"(?:^|[^\w-])(?:{LETTERS})-(?:[0-9]+-(?:\w+-)*)?$")
"""The beginning of an id before a placeholder: `C-`, `S-1-B-`."""
TAKEN_APART = re.compile(rf"(?:{LETTERS})-")
PATTERN = re.compile(rf"\[A-Z\](?:\{{1,2\}})?-|(?:^|\\b|\()(?:{LETTERS})-(?:\\d|\[)")


def ids_made(source: str) -> Iterator[str]:
    """What makes or takes apart ids in a file: pieces of format strings, prefixes, regular expressions."""
    for node in nodes(source):
        if isinstance(node, ast.JoinedStr):
            for piece, after in zip(node.values, node.values[1:], strict=False):
                is_text = isinstance(piece, ast.Constant) and isinstance(after, ast.FormattedValue)
                if is_text and MADE.search(str(piece.value)):  # type: ignore[attr-defined]
                    yield ast.unparse(node)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "startswith"
        ):
            if any(TAKEN_APART.fullmatch(word) for word in texts_in(node)):
                yield ast.unparse(node)
        elif isinstance(node, ast.keyword) and node.arg == "id":
            yield from (word for word in texts_in(node) if TAKEN_APART.match(word))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("re."):
            yield from (word for word in texts_in(node) if PATTERN.search(word))


def texts_in(node: ast.AST) -> list[str]:
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]


def test_ids_are_made_and_parsed_in_one_file() -> None:
    made = {path: [*ids_made(text)] for path, text in sources().items() if path not in IDS}
    assert {path: pieces for path, pieces in made.items() if pieces} == {}


def test_nobody_asks_whether_an_event_has_its_id() -> None:
    """An event has an id by its kind: `ref` names one of any kind."""
    asked = re.compile(r"\b(?:event|claim|decision|draft|check)\.id or [\"']{2}|assert \w+\.id\b")
    assert [path for path, text in sources().items() if asked.search(text)] == []


# ---------------------------------------------------------------- the opening

BEFORE_THE_DOOR = {
    "ledger/state/fold.py": "makes the state",
    "ledger/state/state.py": "makes the state",
    "ledger/store/failures.py": "the door",
    "moot/api.py": "checks lines that may be no run",
    "moot/cli/integrity.py": "prints what a check says of lines that may be no run",
    "moot/view/story.py": "tells nothing of an empty book",
    "moot/terminal/live.py": "waits for the opening",
    "roles/brief/context.py": "refuses a brief of a run that was never opened",
}


def test_behind_the_door_a_run_has_its_opening() -> None:
    """Rules and detectors judge any lines; everything else reads `state.opening`."""
    asks = re.compile(r"\bstate\.opened\b")
    paths = {path for path, text in sources().items() if asks.search(text)}
    assert {path for path in paths if not path.startswith(("validators/", "detectors/"))} <= set(
        BEFORE_THE_DOOR
    )


# ---------------------------------------------------------------- verbs and providers


def first_texts(node: ast.AST) -> set[str]:
    """The texts of a table, or those that its rows begin with."""
    entries = [*getattr(node, "elts", []), *getattr(node, "keys", [])]
    begins = [
        entry.args[0]
        if isinstance(entry, ast.Call) and entry.args
        else entry.elts[0]
        if isinstance(entry, ast.Tuple) and entry.elts
        else entry
        for entry in entries
    ]
    return {
        begin.value for begin in begins if isinstance(begin, ast.Constant) and isinstance(begin.value, str)
    }


def files_that_list(names: set[str]) -> set[str]:
    """The files with a table of most of these names, which another one would have to join."""
    return {
        path
        for path, text in sources().items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Dict | ast.Tuple | ast.Set | ast.List)
        and 2 * len(first_texts(node) & names) > len(names)
    }


def test_a_new_verb_touches_its_row_its_function_and_the_schema_of_its_output() -> None:
    # Tools for agent hosts are a choice of their own (moot/mcp/rights.py): a verb need not be one.
    forced = files_that_list({verb.name for verb in VERBS}) - {"moot/mcp/rights.py"}
    assert forced == {"moot/cli/__init__.py", "moot/output_schemas.py"}


def test_a_verb_is_called_and_listed_by_its_row(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def sample(word: str = "nothing") -> int:
        """Say a word."""
        print(f"it says {word}")
        return GOOD

    module: Any = ModuleType("moot.cli.sample")
    module.sample = sample
    row = Verb("sample", HELP, "say a word")
    monkeypatch.setitem(sys.modules, row.path, module)
    monkeypatch.setitem(moot.cli.BY_NAME, "sample", row)
    monkeypatch.setattr(moot.__main__, "VERBS", (*VERBS, row))
    assert moot.__main__.main(["sample", "--word", "yes"]) == GOOD
    assert capsys.readouterr().out == "it says yes\n"
    moot.__main__.main(["help", "--all"])
    assert "say a word" in capsys.readouterr().out


class SampleSeat:
    """A seat of a provider that this test adds."""

    kind = "openai"


def seat_of(wanted: Wanted) -> Any:
    """Make the seat, as the module of an adapter does."""
    seat = SampleSeat()
    seat.declared = f"sample:{wanted.rest}"  # type: ignore[attr-defined]
    return seat


def test_a_provider_is_a_row_and_an_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert files_that_list(set(PROVIDERS)) == set(), (
        "the rows are in one table, and no other names most of them"
    )
    row = Provider(name="sample", help="a sample", runs="api", seat="openai", adapter=__name__)
    monkeypatch.delenv("MOOT_OFFLINE", raising=False)
    monkeypatch.setitem(PROVIDERS, "sample", row)
    assert read_spec("sample:m")[:2] == (row, "m")
    (seat,) = make_seats({"solo": "sample:m"}).values()
    assert isinstance(seat, SampleSeat)
