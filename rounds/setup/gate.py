"""The gate: which of the protocols a question deserves, in words that are true of it (AD-2, AD-9, JB's routing).

`--single` beats `--compete` beats triggers; both flags together are an error, not a guess. Without either the text is
read, in this order: what it names outright (several answers, several fields, an order, an attack, a position), what is
asked of a text, whether it is weighty, and then its form: an act that may harm, a choice between options, a question of
fact, a look-up, a chore, yes or no, a plan. Full deliberation is for what is weighty alone: two of the three signs that
it is dear to undo, that people disagree, that much is at stake. Reading words is a rule of thumb: what was read is
named, so that a person can disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ledger.events import Decision, Event
from ledger.events.decisions import Cite
from ledger.result import Result
from ledger.state.book import Book
from rounds.setup.deliberation import Deliberation
from rounds.setup.gate_cues import (
    CHOICE,
    CHORE,
    FACTS,
    HARM,
    LARGE,
    LOOK,
    LOOKED_AT,
    NO_CHOICE,
    OUTRIGHT,
    PLANS,
    RATCHET,
    SMALL,
    WEIGHT,
    YES_NO,
    Route,
)


class GateReason(Result, frozen=True):
    """One thing that counted: `points` towards several roles, negative against."""

    name: str
    points: int
    detail: str


class GateResult(Result, frozen=True):
    """The protocol that a question deserves, and why."""

    route: Route
    reasons: list[GateReason]


class GateRefused(ValueError):
    """Flags that contradict each other."""


class GateQuestion(NamedTuple):
    """What the gate reads."""

    text: str
    options: Sequence[str] = ()
    triggers: Sequence[str] = ()
    compete: bool = False
    single: bool = False


POINTS_OF_FORM: Final = 3
POINTS_OF_WEIGHT: Final = 2
SIGNS_OF_WEIGHT: Final = 2
"""From so many of the three signs on it is weighty."""
COMPARED_MAX: Final = 4
"""More options are put in order, not compared in pairs."""
SHOWN_CHARACTERS_MAX: Final = 60


_CHORE_WORDS_MAX: Final = 14


def gate(asked: GateQuestion) -> GateResult:
    """The route of a question. Raises `GateRefused` when it is told to be single and to compete."""
    if asked.single and asked.compete:
        raise GateRefused("single and compete contradict each other")
    if asked.single:
        return GateResult("single-pass", [GateReason("single", -POINTS_OF_FORM, "you asked for one seat")])
    insists = list(_insists(asked))
    weight = list(_weight(asked.text))
    route, form = _form(asked, weighty=len(weight) >= SIGNS_OF_WEIGHT)
    if insists and route == "single-pass":
        route = "jugalbandi"
    return GateResult(route, [*insists, form, *weight])


def _insists(asked: GateQuestion) -> Iterator[GateReason]:
    """What calls for several roles whatever the text says."""
    if asked.compete:
        yield GateReason("compete", POINTS_OF_FORM, "you asked for several roles")
    for trigger in asked.triggers:
        if trigger.casefold() in asked.text.casefold():
            yield GateReason("trigger", POINTS_OF_FORM, f"your trigger {trigger!r} is in it")


def _weight(text: str) -> Iterator[GateReason]:
    for name, says, words in WEIGHT:
        found = list(dict.fromkeys(_shown(one[0]).casefold() for one in words.finditer(text)))
        if found:
            yield GateReason(name, POINTS_OF_WEIGHT, f"{says}: {', '.join(map(repr, found[:4]))}")


def _form(asked: GateQuestion, *, weighty: bool) -> tuple[Route, GateReason]:
    """What kind of question it is, and the words that tell."""
    text = asked.text
    for cue in (*OUTRIGHT, RATCHET):
        found = cue.words.search(text)
        if found and not (cue.unless and cue.unless.search(text)):
            return cue.route, _reason(cue.name, cue.says, found)
    if weighty:
        return "structured", GateReason(
            "weighty", POINTS_OF_FORM, "at least two of: dear to undo, people disagree, much at stake"
        )
    if len(asked.options) > COMPARED_MAX:
        return "priority", GateReason(
            "options", POINTS_OF_FORM, f"{len(asked.options)} options are too many to compare in pairs"
        )
    if len(asked.options) > 1:
        return "comparative", GateReason(
            "options", POINTS_OF_FORM, f"{len(asked.options)} options are on the table"
        )
    return _by_words(text)


def _by_words(text: str) -> tuple[Route, GateReason]:
    """The form of a question that names none."""
    asks = YES_NO.search(text)
    if asks and (found := HARM.search(text)):
        return "tribunal", _reason("harm", "somebody could be harmed", found)
    if (found := FACTS.search(text)) and not LOOKED_AT.search(text):
        return "cross-examination", _reason(
            "facts", "a question of fact with more than one explanation", found
        )
    if (found := CHOICE.search(text)) and not NO_CHOICE.search(text):
        return "comparative", _reason("choice", "a choice between named options", found)
    if (found := LOOK.search(text)) and not LOOKED_AT.search(text):
        return "single-pass", _reason("look-up", "it asks to look, not to decide", found, -POINTS_OF_FORM)
    if (found := CHORE.search(text)) and _is_small(text):
        return "single-pass", _reason(
            "chore", "a small act, and nothing says that it is dear to undo", found, -POINTS_OF_FORM
        )
    if asks and not LOOKED_AT.search(text):
        return "debate", _reason("yes or no", "a question to be answered with yes or no", asks)
    found = PLANS.search(text) or CHORE.search(text)
    if found:
        return "jugalbandi", _reason("plan", "something is to be planned or made", found)
    if text.rstrip().endswith("?"):
        return "single-pass", GateReason(
            "nothing more",
            -POINTS_OF_FORM,
            "a question, and no word calls for a decision, a plan or an attack",
        )
    return "jugalbandi", GateReason(
        "task", POINTS_OF_FORM, "no question: something is to be done, and nothing says that it is small"
    )


def _is_small(text: str) -> bool:
    """Whether an act is small: few words, and about a small thing, or at least about no large one."""
    few = len(text.split()) <= _CHORE_WORDS_MAX
    return few and (bool(SMALL.search(text)) or not LARGE.search(text)) and not _weighs_anything(text)


def _weighs_anything(text: str) -> bool:
    return any(words.search(text) for _, _, words in WEIGHT)


def _reason(name: str, says: str, found: re.Match[str], points: int = POINTS_OF_FORM) -> GateReason:
    return GateReason(name, points, f"{says}: {_shown(found[0])!r}")


def _shown(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= SHOWN_CHARACTERS_MAX else f"{line[: SHOWN_CHARACTERS_MAX - 1]}…"


ROUTE, REASONS = "gate_route", "gate_reasons"
"""Keys of `run_opened.rules` under which the gate's result stands."""


def asked_of(deliberation: Deliberation) -> GateQuestion:
    """What the gate reads of a file."""
    subject, row = deliberation.deliberation, deliberation.gate
    return GateQuestion(
        text=subject.question,
        options=subject.options,
        triggers=row.triggers if row else (),
        compete=row.compete if row else False,
        single=row.single if row else False,
    )


def routed(deliberation: Deliberation) -> tuple[Deliberation, Mapping[str, str]]:
    """The deliberation with the protocol that the gate gives, and what the opening records of it.

    A file without a [gate] table is its own decision, and so is one that names its protocol, plans rounds or casts
    roles. Raises `GateRefused`.
    """
    subject = deliberation.deliberation
    planned = (subject.plan, deliberation.round, deliberation.predict, subject.no_stress, deliberation.cast)
    if deliberation.gate is None or "protocol" in subject.model_fields_set or any(planned):
        return deliberation, {}
    found = gate(asked_of(deliberation))
    chosen = subject.model_copy(update={"protocol": found.route})
    return deliberation.model_copy(update={"deliberation": chosen}), {
        ROUTE: found.route,
        REASONS: _in_words(found),
    }


def _in_words(found: GateResult) -> str:
    return "; ".join(f"{reason.name} {reason.points:+d} ({reason.detail})" for reason in found.reasons)


def gate_decision(book: Book, screening: int) -> tuple[Event, ...]:
    """The decision that the opening's route makes; it rests on the screening of the question at `screening`."""
    opened = book.state.opened
    if opened is None or ROUTE not in opened.rules:
        return ()
    return (
        Decision(
            id="D-0-1",
            round=0,
            phase="open",
            by="controller",
            text=f"Routed to {opened.rules[ROUTE]}: {opened.rules[REASONS]}.",
            type="gate",
            cites=(Cite(type="verification", id=f"@{screening}", relation="based-on"),),
            made_by="rule",
        ),
    )
