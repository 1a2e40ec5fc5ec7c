"""Which families of models agreed: by beliefs and by votes, where several took part and each is known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from ledger.events import Event
from ledger.state.book import Book, book
from moot.view.agreement import choices, families_text
from moot.view.trust import trust_text
from tests.protocols.crux_seats import World, begin, play
from tests.protocols.playing import begin as begin_short, play as play_short

CLAUDE, GPT, SERVED_GPT, QWEN = "claude-opus-5-5", "gpt-6.2-sol", "openai/gpt-6-luna", "qwen3:8b"
MODELS = {
    CLAUDE: "anthropic",
    GPT: "openai",
    SERVED_GPT: "openrouter",
    QWEN: "ollama",
}


def by(recorded: Book, models: Mapping[str, str | None]) -> Book:
    """The same run, answered by these models: model by role."""

    def changed(event: Event) -> Event:
        model = models.get(event.by)
        if event.call is None:
            return event
        return replace(event, call=replace(event.call, provider=MODELS.get(model or ""), model=model))

    return book([changed(event) for event in recorded.events], recorded.blobs)


@pytest.fixture(scope="module")
def believed(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """A run of crux in which one role puts another option first."""
    session = begin(tmp_path_factory.mktemp("crux") / "run")
    play(session, World(first={"action": 80, "guardian": 70, "observer": 90, "critic": 20}))
    return session.book()


def test_families_that_differ_say_which_option_each_puts_first(believed: Book) -> None:
    assert choices(believed)["critic"] == "O-2"
    models = {
        "action": CLAUDE,
        "guardian": CLAUDE,
        "observer": GPT,
        "critic": QWEN,
    }
    told = families_text(by(believed, models))
    assert (
        told
        == "families differ: claude put O-1 (2 seats) first, gpt put O-1 (1 seat) first, qwen put O-2 (1 seat) first"
    )
    mixed = families_text(by(believed, {**models, "observer": QWEN}))
    assert (
        mixed
        == "families differ: claude put O-1 (2 seats) first, qwen put O-1 (1 seat) and O-2 (1 seat) first"
    )
    assert "families differ" in trust_text(by(believed, models))


@pytest.mark.parametrize(
    "models",
    [
        dict.fromkeys(("action", "guardian", "observer", "critic"), CLAUDE),
        {"action": GPT, "guardian": SERVED_GPT},
        {},
    ],
    ids=["one", "one by two servers", "none is named"],
)
def test_one_family_agrees_with_nobody(believed: Book, models: dict[str, str | None]) -> None:
    everybody = {
        role: next(iter(models.values()), None) for role in ("action", "guardian", "observer", "critic")
    }
    assert families_text(by(believed, {**everybody, **models})) == ""


def test_what_is_not_named_is_said_to_be_so(believed: Book) -> None:
    told = families_text(by(believed, {"action": CLAUDE, "observer": CLAUDE}))
    assert told.startswith(
        "families differ: an unnamed family put O-1 (1 seat) and O-2 (1 seat) first, claude"
    )


def test_votes_are_counted_by_family(tmp_path: Path) -> None:
    session = begin_short(tmp_path / "run", "tribunal")
    play_short(session)
    recorded = session.book()
    votes = choices(recorded)
    assert len(votes) == 3
    models = dict(zip(votes, (CLAUDE, GPT, GPT), strict=True))
    told = families_text(by(recorded, models))
    assert told == f"families agree: claude (1) and gpt (2) all chose {next(iter(set(votes.values())))}"
