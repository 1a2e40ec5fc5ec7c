"""The pages of the short protocols agree with their tables.

Of `tests/pages/protocols.py`.
"""

from __future__ import annotations

import pytest

from roles.schema import reply_schema
from rounds.protocols import PROTOCOLS
from rounds.setup.size import played
from tests.pages import protocols


def test_pages_are_current() -> None:
    assert protocols.main(["--check"]) == 0


@pytest.mark.parametrize("name", protocols.written_pages())
def test_a_page_says_where_it_comes_from(name: str) -> None:
    text = (protocols.FOLDER / f"{name}.md").read_text("utf-8")
    assert "## Where it comes from, and what differs" in text.partition(protocols.END)[2]
    assert all(f"`{role.id}`" in text for role in PROTOCOLS[name].roles)


@pytest.mark.parametrize("name", protocols.written_pages())
def test_a_step_is_asked_for_its_own_shape(name: str) -> None:
    """Two protocols may call a shape by the same name; the schema in the brief is that of the protocol."""
    protocol = PROTOCOLS[name]
    for state, groups in played(protocol, protocols.widest_opening(protocol)):
        for group in groups:
            for step in group.steps:
                kind = protocol.reply_type(state, step)
                schema = reply_schema(kind)
                shape = schema["$defs"][schema["$ref"].rpartition("/")[2]]
                assert list(shape["properties"]) == list(kind.__struct_fields__)
