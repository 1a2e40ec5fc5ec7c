"""The pages of the short protocols agree with their tables."""

from __future__ import annotations

import pytest

from rounds import protocol_page
from rounds.protocols import PROTOCOLS


def test_pages_are_current() -> None:
    assert protocol_page.main(["--check"]) == 0


@pytest.mark.parametrize("name", protocol_page.written_pages())
def test_a_page_says_where_it_comes_from(name: str) -> None:
    text = (protocol_page.FOLDER / f"{name}.md").read_text("utf-8")
    assert "## Where it comes from, and what differs" in text.partition(protocol_page.END)[2]
    assert all(f"`{role.id}`" in text for role in PROTOCOLS[name].roles)
