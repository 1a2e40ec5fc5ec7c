"""The published schemas: complete, well-formed, and what the types and laws say."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import schemas
from ledger.events import KINDS
from ledger.events.artifacts import BODIES
from ledger.format import schema
from tests.pages.tables import parts_of


def test_there_is_one_published_schema_a_kind() -> None:
    names = {path.name for path in (schemas.DIRECTORY / "events").iterdir()}
    assert names == {f"{kind}.json" for kind in KINDS}


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_published_schema_is_valid_names_its_kind_and_lists_the_fields_in_their_order(kind: str) -> None:
    published = schemas.load(f"events/{kind}")
    Draft202012Validator.check_schema(published)
    order = [
        "prev",
        "seq",
        "rest",
        "v",
        "at",
        "kind",
        "id",
        "round",
        "phase",
        "step",
        "by",
        "saw",
        "call",
        "via",
    ]
    assert published["properties"]["kind"] == {"const": kind}
    assert list(published["properties"])[:14] == order
    assert published["required"] == list(published["properties"])


def test_the_published_schemas_are_what_the_types_say() -> None:
    assert schema.main(["--check"]) == 0


def test_a_difference_is_named_and_writing_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(schemas, "DIRECTORY", tmp_path)
    assert schema.main(["--check"]) == 1
    assert schema.main(["--write"]) == 0
    assert schema.main(["--check"]) == 0
    path = tmp_path / "events" / "claim.json"
    path.write_bytes(path.read_bytes().replace(b"claim", b"clam", 1))
    capsys.readouterr()
    assert schema.main(["--check"]) == 1
    assert "schemas/events/claim.json" in capsys.readouterr().err


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_field_says_where_it_is_declared_what_it_means(kind: str) -> None:
    published = schemas.load(f"events/{kind}")
    for version in (published["then"], published["else"]) if "if" in published else (published,):
        silent = [
            name
            for name, field in version["properties"].items()
            if "description" not in field and name not in ("kind", "id", "v", "body", "conditions")
        ]
        assert silent == []
    parts = {name: part for name, part in published["$defs"].items() if not name.startswith("anything")}
    bodies = {type_.__name__ for body in BODIES.values() for type_ in (body, *parts_of(body))}
    for name, part in parts.items():
        silent = [field for field, said in part["properties"].items() if "description" not in said]
        assert silent == [] or name.rpartition("-")[0] in bodies, name
