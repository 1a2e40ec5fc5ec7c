"""A planted instruction is shown as somebody's words, and changes nothing but those words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson
import pytest

from roles.brief import Brief, repair
from roles.seats.port import Answer
from rounds.run.session import ReplyRefused
from tests.security.hostile_runs import Played, begun, briefs, played
from tests.security.injections import CORPUS, SHORT, Planting, alone, harmless

HASHES = {"prev", "brief", "reply", "sha256"}
"""Fields that hash words: they differ because the words do."""


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Played, Played]:
    base = tmp_path_factory.mktemp("injected")
    return played(base / "hostile", alone), played(base / "harmless", harmless)


@pytest.fixture(scope="module")
def shown(pair: tuple[Played, Played]) -> tuple[dict[str, Brief], dict[str, Brief]]:
    return briefs(pair[0]), briefs(pair[1])


def test_the_corpus_is_large_and_has_no_doubles() -> None:
    assert len(CORPUS) >= 60
    assert len(set(CORPUS)) == len({harmless(text) + text for text in CORPUS}) == len(CORPUS)
    assert all(len(harmless(text).encode()) == len(text.encode()) for text in CORPUS)
    assert all(len(text) <= SHORT for text in CORPUS)


def test_every_injection_was_planted_and_shown(
    pair: tuple[Played, Played], shown: tuple[dict[str, Brief], dict[str, Brief]]
) -> None:
    places = pair[0].script.places
    assert set(CORPUS) == set().union(*places.values())
    assert len(places) >= 40
    assert {
        "B.sections.text",
        "C.sections.text",
        "D.action.body.traces.steps.delta",
        "D.critic.proposed_claims.testable_as",
        "E.position.positions.reason",
        "E.check1.notes",
        "F.tensions.text",
        "F.claims.text",
        "G.decisions.text",
        "H.notes",
    } <= set(places)
    lines = {line.partition("| ")[2] for brief in shown[0].values() for line in brief.text.splitlines()}
    for text in CORPUS:
        assert all(line in lines for line in text.splitlines()), text


def test_outside_the_bars_no_byte_is_different(shown: tuple[dict[str, Brief], dict[str, Brief]]) -> None:
    """The strongest form of "behind a bar": heads, labels, templates and the number of lines are the harmless run's."""
    different = 0
    for step, brief in shown[0].items():
        ours, theirs = brief.text.splitlines(), shown[1][step].text.splitlines()
        assert len(ours) == len(theirs), step
        for line, double in zip(ours, theirs, strict=True):
            if line != double:
                different += 1
                label, bar, text = line.partition("| ")
                other, _, said = double.partition("| ")
                assert (label, bar) == (other, "| "), (step, line)
                assert shape_of(text) == shape_of(said), (step, line)
    assert different > 10_000


def test_schema_sight_and_blocks_are_the_same(shown: tuple[dict[str, Brief], dict[str, Brief]]) -> None:
    assert list(shown[0]) == list(shown[1])
    for step, brief in shown[0].items():
        double = shown[1][step]
        assert brief.schema_bytes == double.schema_bytes
        assert brief.saw == double.saw
        assert [block.name for block in brief.blocks] == [block.name for block in double.blocks]


def test_no_verdict_status_signal_or_seat_is_different(pair: tuple[Played, Played]) -> None:
    """Every field of every event but the words themselves and what hashes them."""
    hostile, double = (
        [without_lengths(msgspec.to_builtins(event)) for event in run.book.events] for run in pair
    )
    assert len(hostile) == len(double)
    for event, other in zip(hostile, double, strict=True):
        assert list(differences(event, other, "")) == []
    assert [facts.status for facts in pair[0].book.state.claims.values()] == [
        facts.status for facts in pair[1].book.state.claims.values()
    ]


def test_templates_expand_nothing_that_was_said(shown: tuple[dict[str, Brief], dict[str, Brief]]) -> None:
    said = "{{question}} {{round}} {{charter}} {{role}}"
    assert all(said in brief.text for step, brief in shown[0].items() if "question" in names(brief))
    assert not any("{{" in brief.text for brief in shown[1].values())


def test_a_repair_quotes_the_reply_and_what_is_wrong_with_it(
    shown: tuple[dict[str, Brief], dict[str, Brief]],
) -> None:
    brief = next(iter(shown[0].values()))
    hostile, double = ("\n".join(map(shape, CORPUS)) for shape in (alone, harmless))
    ours = repair(brief, hostile.encode(), (hostile,)).blocks[-1].text.splitlines()
    theirs = repair(brief, double.encode(), (double,)).blocks[-1].text.splitlines()
    assert len(ours) == len(theirs)
    for line, other in zip(ours, theirs, strict=True):
        assert line == other or (line.partition("| ")[:2] == other.partition("| ")[:2] and "| " in line)


def test_what_is_refused_stays_refused_whatever_is_planted(tmp_path: Any) -> None:
    """Wrong replies with planted words fail for the same reasons as with harmless ones, and nothing is written."""
    sessions = [begun(tmp_path / name, shape, 1) for name, shape in (("a", alone), ("b", harmless))]
    heads = [session.run.head() for session in sessions]
    for text in CORPUS:
        refusals = [
            refused(session, shape(text)) for session, shape in zip(sessions, (alone, harmless), strict=True)
        ]
        assert refusals[0] == refusals[1], text
        assert refusals[0]
    assert [session.run.head() for session in sessions] == heads


def refused(session: Any, text: str) -> list[int]:
    """How many errors each of the wrong replies to the first step gets."""
    step = session.pending()[0].step
    section = {"name": "main", "text": f"words {text}"}
    wrong: list[Any] = [
        {"sections": [section], "responds_to": [f"P-1-1-{n}" for n in range(3)], "options": []},
        {"sections": [section], "responds_to": [text], "options": [text]},
        {"sections": [section], "responds_to": [], "options": [], "approved_by": text},
        {"sections": [{**section, "name": f"# {text}"}], "responds_to": [], "options": []},
        {"verdict": text},
        text,
        [text],
    ]
    counts: list[int] = []
    for reply in wrong:
        with pytest.raises(ReplyRefused) as found:
            session.submit(step.id, orjson.dumps(reply), Answer("host", "trusted"))
        counts.append(len(found.value.errors))
    return counts


def names(brief: Brief) -> set[str]:
    return {block.name for block in brief.blocks}


def shape_of(text: str) -> str:
    return harmless(text)


def without_lengths(event: dict[str, Any]) -> dict[str, Any]:
    """The event without findings on the words themselves: their length, in a script without spaces, and their style."""
    findings = event.get("findings") or ()
    kept = [
        one
        for one in findings
        if not (isinstance(one, dict) and one.get("code", "").startswith(("WRD", "STY")))
    ]
    return {**event, "findings": kept} if findings else event


def differences(one: Any, other: Any, where: str) -> Iterator[str]:
    """Places where two values differ in more than planted words."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys()
        for key in one.keys() - HASHES - {"words"}:  # a script without spaces is counted by its characters
            yield from differences(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for n, (a, b) in enumerate(zip(one, other, strict=True)):
            yield from differences(a, b, f"{where}[{n}]")
    elif one != other and not (
        isinstance(one, str) and isinstance(other, str) and harmless(one) == harmless(other)
    ):
        yield f"{where}: {one!r} is not {other!r}"


def test_the_seat_plants_on_one_side_only() -> None:
    assert Planting(alone).shape("x # y") != Planting(harmless).shape("x # y")
