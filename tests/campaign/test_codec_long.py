"""The codec laws on many more documents of every kind."""

from __future__ import annotations

import pytest

from tests.properties.test_codec import EVERY_KIND, look_at


@pytest.mark.campaign
@EVERY_KIND
def test_lines_events_and_schema_agree_on_many_documents(kind: str) -> None:
    look_at(kind, examples=500)
