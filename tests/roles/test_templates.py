"""Templates put in what they are given, once, and refuse what they do not understand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ledger.store.blobs import hash_of
from roles.prompt_set import (
    PromptSetError,
    TemplateError,
    Values,
    encode_prompt_set,
    installed_prompt_set,
    names,
    prompt_set_hash,
    read_prompt_set,
    render,
    template,
)
from roles.protocol import Column
from rounds.protocols.structured import STRUCTURED
from tests.roles.runs import installed, run, step_of, steps_of_run

CASES: list[tuple[str, Values, str]] = [
    ("", {}, ""),
    ("plain { braces } stay", {}, "plain { braces } stay"),
    ("a {{name}} b {{n}}", {"name": "x", "n": 0}, "a x b 0"),
    ("{{#rows}}- {{a}}\n{{/rows}}end", {"rows": [{"a": "1"}, {"a": "2"}]}, "- 1\n- 2\nend"),
    ("{{#rows}}{{a}}{{b}}{{/rows}}", {"rows": [{"a": "1"}], "a": "outer", "b": "!"}, "1!"),
    ("{{#rows}}never{{/rows}}", {"rows": []}, ""),
    ("{{#xs}}{{#ys}}{{x}}{{y}} {{/ys}}{{/xs}}", {"xs": [{"x": 1}, {"x": 2}], "ys": [{"y": "a"}]}, "1a 2a "),
]
REFUSED: list[tuple[str, Values]] = [
    ("{{name}}", {}),
    ("{{rows}}", {"rows": []}),
    ("{{#rows}}x", {"rows": []}),
    ("x{{/rows}}", {"rows": []}),
    ("{{#name}}x{{/name}}", {"name": "text"}),
    ("{{ name }}", {"name": "x"}),
    ("{{!comment}}", {}),
    ("{{Name}}", {"Name": "x"}),
    ("}}", {}),
]


@pytest.mark.parametrize(("text", "values", "expected"), CASES)
def test_a_template_renders(text: str, values: Values, expected: str) -> None:
    assert render(text, values) == expected


@pytest.mark.parametrize(("text", "values"), REFUSED)
def test_a_template_that_says_something_else_is_refused(text: str, values: Values) -> None:
    with pytest.raises(TemplateError):
        render(text, values)


@given(st.text())
def test_what_is_put_in_is_not_read_again(text: str) -> None:
    assert render("<{{a}}>{{#r}}<{{b}}>{{/r}}", {"a": text, "r": [{"b": text}]}) == f"<{text}><{text}>"


def test_names_of_a_template() -> None:
    assert names("{{a}}{{#b}}{{c}}{{/b}}") == {"a", "b", "c"}


def test_the_installed_set_is_canonical_and_named_by_its_bytes() -> None:
    blob = installed_prompt_set("structured")
    found = read_prompt_set(blob)
    assert encode_prompt_set(found["name"], found["templates"], found["layout"]) == blob
    assert prompt_set_hash(found) == hash_of(blob)
    assert list(found) == ["set", "name", "templates", "layout"]
    assert list(found["templates"]) == sorted(found["templates"])


OTHERS = (Column.RECORD, Column.BEFORE)
"""Columns of other protocols."""


def test_the_installed_set_has_every_template_that_the_protocol_asks_for() -> None:
    templates = set(installed()["templates"])
    tasks = {f"tasks/{step_of(run(), step).task}" for step in steps_of_run()}
    charters = {role.charter for role in STRUCTURED.roles}
    blocks = {f"blocks/{column.value}" for column in Column if column not in OTHERS} | {
        f"blocks/{name}" for name in ("frame", "role", "task", "repair", "left", "moved", "late")
    }
    tasks.add("tasks/E.belief")
    amendments = {path for path in templates if path.startswith("amendments/")}
    words = {f"words/{name}" for name in ("falsifiers", "requirements")}
    assert tasks | charters | blocks | amendments | words == templates
    assert "amendments/harden_critic" in amendments


@pytest.mark.parametrize("path", sorted(installed()["templates"]))
def test_prompts_are_plain_text_without_traces_of_a_machine(path: str) -> None:
    text = template(installed(), path)
    assert text.strip()
    assert not [word for word in ("/home/", "/usr/", "http", "TO" + "DO", "\t", "  \n", "\r") if word in text]


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"[]",
        b'{"set":2,"name":"x","templates":{}}',
        b'{"set":1,"templates":{}}',
        b'{"set":1,"name":"x","templates":{"a":1}}',
    ],
)
def test_bytes_that_are_no_prompt_set(blob: bytes) -> None:
    with pytest.raises(PromptSetError):
        read_prompt_set(blob)


def test_a_missing_template_is_named() -> None:
    with pytest.raises(PromptSetError, match="tasks/Z"):
        template(installed(), "tasks/Z")
