"""Castings name every role in every domain."""

from __future__ import annotations

import pytest

from roles.castings import CASTINGS, DEFAULT_CASTING, UnknownCasting, cast_of
from rounds.protocols.structured import STRUCTURED


@pytest.mark.parametrize("name", CASTINGS)
def test_a_casting_fills_every_role_with_words_of_its_own(name: str) -> None:
    casting = CASTINGS[name]
    assert tuple(casting) == STRUCTURED.role_ids()
    titles = {part.title for part in casting.values()}
    assert len(titles) == len(casting)
    assert all(part.charge.endswith(".") and len(part.charge) < 300 for part in casting.values())


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("software review", "software"),
        ("Product / architecture", "product"),
        ("research method", "research"),
        ("our launch in May", "launch"),
        ("gardening", DEFAULT_CASTING),
        (None, DEFAULT_CASTING),
    ],
)
def test_the_domain_suggests_a_casting(domain: str | None, expected: str) -> None:
    assert cast_of(None, domain) == CASTINGS[expected]


def test_a_name_stands_over_the_domain_and_must_exist() -> None:
    assert cast_of("launch", "software review") == CASTINGS["launch"]
    with pytest.raises(UnknownCasting, match="product, software, research, launch"):
        cast_of("opera", None)
