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


ORDINARY = (
    *("capital budgeting", "rapid response teams", "town planning", "a public library", "therapy in groups"),
    *(
        "performance reviews",
        "dress code",
        "the building code",
        "code of conduct",
        "postal codes",
        "apiculture",
    ),
    *(
        "releasing prisoners early",
        "payment methods",
        "the Methodist church",
        "a study room",
        "student housing",
    ),
    *(
        "interior design",
        "irrigation systems",
        "storage",
        "capital punishment",
        "tapioca",
        "work-study places",
    ),
    *("the tax code", "literature review", "a school's timetable", "household budget", "encoded messages"),
    *(
        "steering wheel recall",
        "decoding",
        "unlaunched",
        "landscape architecture",
        "escape rooms",
        "hospital",
    ),
)


@pytest.mark.parametrize("domain", ORDINARY)
def test_a_part_of_a_word_casts_nobody(domain: str) -> None:
    """R-19: "capital budgeting" has "api" in it, and got the roles of a software review."""
    assert cast_of(None, domain) == CASTINGS[DEFAULT_CASTING], domain


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        *(
            (one, "software")
            for one in ("API design", "two APIs", "Refactoring", "a Python library", "back-end")
        ),
        *((one, "software") for one in ("code review", "the code base", "CODE", "microservices", "firmware")),
        *((one, "research") for one in ("user research", "research methods", "a clinical trial", "STUDY")),
        *((one, "research") for one in ("statistics", "an experiment", "field studies", "science")),
        *((one, "launch") for one in ("product launch", "a staged roll-out", "press release", "Release")),
        *((one, "launch") for one in ("go-to-market", "election campaign", "software release planning")),
    ],
)
def test_a_whole_word_casts(domain: str, expected: str) -> None:
    """R-19: and what is meant is still found, in the plural and in capitals."""
    assert cast_of(None, domain) == CASTINGS[expected], domain
