"""Models of one family are warned of in `status`, `signals` and `report`; what is not known is not warned of."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from detectors.signals import signals
from ledger.events import Event
from ledger.format.canonical import Head
from ledger.state.book import Book, book
from ledger.state.fold import fold
from moot.documents import run_report
from moot.run_view import RunView
from moot.terminal.panel import whole_panel
from moot.view.labels import calls_of, caveats
from moot.view.seats import Answered, Family, family_of, one_family
from tests.render.sample import sample_book
from tests.render.screens import shown

HEAD = Head(43, "9" * 64)
WARNING = "all model seats are of one family (anthropic claude)"


def answered_by(provider: str | None, models: dict[str, str], other: str) -> Book:
    """The sample with other models: `models` by role, `other` for the rest."""

    def changed(event: Event) -> Event:
        if event.call is None:
            return event
        model = models.get(event.by, other)
        return replace(event, call=replace(event.call, provider=provider, model=model))

    recorded = sample_book()
    return book([changed(event) for event in recorded.events], recorded.blobs)


def said(recorded: Book) -> list[str]:
    """What status, signals and report say, each in one line."""
    state, calls = fold(recorded.events), calls_of(recorded.events)
    reading = signals(recorded, "published")
    texts = (
        "\n".join(caveats(state, calls)),
        shown(whole_panel(recorded, reading), 120),
        run_report(RunView(recorded), HEAD),
    )
    return [" ".join(text.split()) for text in texts]


def test_one_family_is_warned_of_everywhere() -> None:
    recorded = answered_by("anthropic", {"critic": "claude-opus-5-5"}, "claude-sonnet-5-5")
    assert [WARNING in text for text in said(recorded)] == [True, True, True]


@pytest.mark.parametrize(
    ("provider", "critic", "others"),
    [
        ("anthropic", "other-1", "claude-sonnet-5-5"),
        (None, "claude-sonnet-5-5", "claude-sonnet-5-5"),
        ("anthropic", "7", "7"),
    ],
)
def test_other_families_and_unknown_ones_are_not(provider: str | None, critic: str, others: str) -> None:
    recorded = answered_by(provider, {"critic": critic}, others)
    assert ["one family" in text for text in said(recorded)] == [False, False, False]


def test_a_family_is_its_maker_and_the_leading_name() -> None:
    assert family_of("anthropic", "claude-opus-5-5") == Family("anthropic", "claude")
    assert family_of("hub", "maker/Qwen2.5-7B") == Family("alibaba", "qwen"), "who serves it did not make it"
    assert family_of("hub", "maker/Nobody-7B") == Family("hub", "nobody")
    assert (
        family_of("openrouter", "openai/o4-mini")
        == family_of("openai", "gpt-6.2-sol")
        == Family("openai", "gpt")
    )
    assert family_of("fake", "gpt-6.2-sol") == Family("fake", "gpt")
    assert family_of(None, "claude-opus-5-5") is family_of("anthropic", None) is family_of("a", "5") is None


def test_people_are_of_no_family_and_one_model_agrees_with_nobody() -> None:
    action = Answered("action", "anthropic", "anthropic", "claude-opus-5-5")
    critic = Answered("critic", "anthropic", "anthropic", "claude-haiku-5-5")
    person = Answered("critic", "human", None, None)
    program = Answered("verifier", "command", None, None)
    assert one_family([action, critic, person]) is not None
    assert one_family([action, person]) is None
    assert one_family([action, critic, program]) is None
    assert one_family([]) is None
