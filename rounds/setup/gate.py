"""The gate: which protocol a question is given to where none is named (AD-2, AD-9).

Flags come first: `single` is one reply, `compete` several roles, both together an error. Then the question's words
decide: each cue in them has a weight for every kind of question (`gate_cues.py`), and the likeliest kind's protocol is
chosen; a decision, where no other kind is likelier. No model is asked. One reply is never chosen where words name
stakes, nor where `compete` or a trigger of the person asks for more.

At the opening the screenings come before any role is asked, then the gate's decision (S4-22, S4-29). The rule
`screening` names the version of their rules; screenings by another version are taken as given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from ledger.events import Decision, Event, Screening
from ledger.events.decisions import Cite
from ledger.events.ids import event_id
from ledger.events.verifications import ScreeningIssue
from ledger.language.words import is_english, word_count
from ledger.plain_json import converted
from ledger.result import Result
from ledger.state.book import Book, strings
from ledger.store.blobs import hash_of
from roles.protocol import Protocol
from rounds import screening
from rounds.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from rounds.screening import DOCUMENT_MAX, IMPORT_MAX, QUESTION_MAX, RULES_VERSION
from rounds.setup.deliberation import Deliberation, GateRow
from rounds.setup.gate_cues import CHOICE, cues_of, evidence, scores, stakes_in


def screenings_due(book: Book) -> tuple[Event, ...]:
    """Return one screening of the question, one of goals and options, one per document; nothing when they exist."""
    opened = book.state.opening
    if opened.rules.get("screening") != RULES_VERSION or book.state.screened:
        return ()
    screenings: list[Event] = [screened("question", opened.question.encode(), QUESTION_MAX)]
    # Without goals the question is the goal, and one text must not be scored twice.
    beside = [entry.text for entry in (*opened.goals, *opened.options) if entry.text != opened.question]
    if beside:
        screenings.append(screened("question", "\n".join(beside).encode(), DOCUMENT_MAX))
    for document in opened.context:
        # A blob that was redacted is screened as empty, which cannot hold the run up again.
        content = book.blobs.read(document.sha256) or b""
        screenings.append(screened("context", content, DOCUMENT_MAX))
    return (*screenings, *gate_decision(book))


def import_screened(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return one screening of all texts of an import; no role is asked in an import, so it holds nothing up."""
    # Strings without a space are ids, hashes and enum values, and are skipped.
    texts = [text for event in events for text in strings(msgspec.to_builtins(event)) if " " in text]
    return (screened("import", "\n".join(texts).encode(), IMPORT_MAX, by="import"),)


def screened(of: Any, content: bytes, length_max: int, by: str = "controller") -> Screening:
    """Return the event of one screening."""
    result = screening.screen(content.decode("utf-8", "replace"), length_max)
    return Screening(
        round=0,
        phase="open",
        by=by,
        of=of,
        sha256=hash_of(content),
        score=result.score,
        action=result.action,
        issues=converted(result.issues, tuple[ScreeningIssue, ...], from_attributes=True),
        rules=RULES_VERSION,
    )


ROUTE, REASONS = "gate_route", "gate_reasons"
"""Keys of `run_opened.rules` that keep the gate's choice."""
BEGIN, END = 500, 300
"""Characters at both ends of a text that are searched for cues: a quotation in between asks nothing."""
# Compatibility normalization turns full-width marks into ASCII; these scripts have marks of their own.
QUESTION_MARKS: Final = str.maketrans(dict.fromkeys("؟՞፧⁇⸮", "?"))
NAMED_CUES: Final = 3
"""Cues that the reason names."""
ORDER, COMPARE, OTHERWISE = "order", "compare", "decision"
"""Kinds with a use of their own: for too many options, for two named options, where no other kind is likelier."""
SINGLE: Final = "single-pass"
"""The protocol of one reply without a check."""


class Kind(NamedTuple):
    """A kind of question of a protocol."""

    name: str
    protocol: str
    means: str


@cache
def kinds() -> Mapping[str, Kind]:
    """Return the kinds of questions by name."""
    # Made on first use: it imports the protocols, which most commands do not need.
    rows = [Kind(kind.name, name, kind.means) for name, row in PROTOCOLS.items() for kind in row.questions]
    return {row.name: row for row in rows}


class GateRefused(ValueError):
    """Flags that contradict each other."""


class GateQuestion(NamedTuple):
    """Input of the gate. `options`: how many options the person named beside the text."""

    text: str
    options: int = 0
    triggers: Sequence[str] = ()
    compete: bool = False
    single: bool = False


class GateChoice(Result, frozen=True):
    """The protocol for a question, the kind of question it is, and why.

    `items` are the options that the text names and the protocol needs; `also` are other protocols that would fit.
    """

    kind: str
    protocol: str
    reason: str
    stakes: list[str]
    items: list[str]
    also: list[str]


def gate(question: GateQuestion) -> GateChoice:
    """Return the protocol for a question. Raises `GateRefused` for `single` with `compete`."""
    if question.single and question.compete:
        raise GateRefused("single and compete contradict each other")
    if question.single:
        return GateChoice("single", SINGLE, "you asked for one reply", [], [], [])
    # Normalized first: full-width letters and marks, as typed with Asian keyboards, must match the cues.
    text = unicodedata.normalize("NFKC", question.text).translate(QUESTION_MARKS)
    # Stakes are looked for in the whole text, although cues count only at its ends: missing one costs more.
    stakes = stakes_in(text)
    if not is_english(text):
        reason = "the cues know English, and this question is in another language"
        return _choice(kinds()[OTHERWISE], reason, text, question, stakes, ())
    # The two ends are read apart: joined, a pair of words across the gap would be one that nobody wrote.
    cues = cues_of(text) if len(text) <= BEGIN + END else cues_of(text[:BEGIN]) | cues_of(text[-END:])
    likely = scores(cues)
    likelier = sorted(
        (kind for kind in kinds().values() if likely[kind.name] > likely[OTHERWISE]),
        key=lambda kind: -likely[kind.name],
    )
    several = stakes or question.compete or _trigger(question)
    kept = [kind for kind in likelier if not (several and kind.protocol == SINGLE)]
    # Where one reply is too few, the next likeliest kind is seldom right: it may even want options to put in order.
    if not kept or kept[0] != likelier[0]:
        return _choice(
            kinds()[OTHERWISE], _why_otherwise(question, likelier, stakes), text, question, stakes, ()
        )
    reason = f"{kept[0].means}: {listed_cues(cues, kept[0].name)}"
    return _choice(kept[0], reason, text, question, stakes, kept[1:2])


def listed_cues(cues: set[str], kind: str) -> str:
    """Return the cues that speak most for a kind against a decision, as a person reads them."""
    named: list[str] = []
    for cue in evidence(cues, kind, OTHERWISE):
        words = cue.strip("^[]")
        if not any(words in other or other in words for other in named):
            named.append(words)
    return ", ".join(repr(cue) for cue in named[:NAMED_CUES])


def _why_otherwise(question: GateQuestion, likelier: Sequence[Kind], stakes: Sequence[str]) -> str:
    if likelier and question.compete:
        return "you asked for several roles"
    if likelier and (trigger := _trigger(question)):
        return f"your trigger {trigger!r} is in it"
    if likelier:
        return (
            f"{likelier[0].means}, but a wrong answer may cost something: {', '.join(map(repr, stakes[:3]))}"
        )
    return "its words make no other kind likelier"


def _choice(
    kind: Kind, reason: str, text: str, question: GateQuestion, stakes: list[str], others: Sequence[Kind]
) -> GateChoice:
    protocol = kind.protocol
    most = PROTOCOLS[protocol].options_wanted[1]
    # More options than a protocol takes can still be put in order.
    if question.options > most:
        reason = f"{question.options} options are more than {protocol} takes"
        kind = kinds()[ORDER]
        protocol = kind.protocol
    items: list[str] = []
    if question.options < PROTOCOLS[protocol].options_wanted[0]:
        items = compared_items(text) if kind.name == COMPARE else listed_items(text)
    # The stakes of a question that the cues cannot read are unknown, so it is never small.
    is_small = not stakes and not question.compete and not _trigger(question) and is_english(text)
    beside = [other.protocol for other in others]
    if kind.name != OTHERWISE:
        beside.append(kinds()[OTHERWISE].protocol)
    else:
        beside += [kinds()[COMPARE].protocol] if CHOICE.search(text) else []
        beside += [SINGLE] if is_small else []
    also = [name for name in dict.fromkeys(beside) if name != protocol]
    return GateChoice(kind.name, protocol, reason, stakes, items, also)


def _trigger(question: GateQuestion) -> str:
    """Return the first of the person's own words that is in the question, or nothing."""
    # Case is ignored, but no word boundary is asked for: a person's trigger may be half a word on purpose.
    text = question.text.casefold()
    return next((trigger for trigger in question.triggers if trigger.casefold() in text), "")


def question_of(deliberation: Deliberation) -> GateQuestion:
    """Return what the gate reads of a deliberation."""
    subject, row = deliberation.deliberation, deliberation.gate or GateRow()
    return GateQuestion(subject.question, len(subject.options), row.triggers, row.compete, row.single)


def routed(deliberation: Deliberation) -> tuple[Deliberation, GateChoice | None]:
    """Return the deliberation with its protocol, and the gate's choice where it made one.

    A protocol that is named stands. Where none is, the gate's choice must take everything else that was said: rounds
    belong to `structured`, a variant or a role to the protocols that have it. Raises `GateRefused`.
    """
    subject = deliberation.deliberation
    if subject.protocol is not None:
        return deliberation, None
    choice = gate(question_of(deliberation))
    if choice.kind != "single" and (unfit := _unfit(PROTOCOLS[choice.protocol], deliberation)):
        # Nothing that the gate would choose takes these keys, so the default protocol does,
        # without a recorded choice.
        other = kinds()[OTHERWISE]
        if _unfit(PROTOCOLS[other.protocol], deliberation):
            return _with(deliberation, DEFAULT_PROTOCOL, subject.options), None
        reason = f"{choice.protocol} takes no {unfit}"
        choice = GateChoice(other.name, other.protocol, reason, choice.stakes, [], [])
    return _with(deliberation, choice.protocol, subject.options or tuple(choice.items)), choice


def _with(deliberation: Deliberation, protocol: str, options: tuple[str, ...]) -> Deliberation:
    subject = deliberation.deliberation.model_copy(update={"protocol": protocol, "options": options})
    return deliberation.model_copy(update={"deliberation": subject})


def _unfit(protocol: Protocol, deliberation: Deliberation) -> str:
    """Return what a deliberation says that a protocol does not take, or nothing."""
    subject = deliberation.deliberation
    _, most = protocol.options_wanted
    if len(subject.options) > most:
        return f"more than {most} options"
    rounds: Mapping[str, object] = {
        "plan": subject.plan,
        "rounds of a plan": deliberation.round,
        "predictions": deliberation.predict,
        "stress tests": subject.no_stress,
        "sealed positions": subject.positions,
        "stop checks": subject.profile or subject.check_every or subject.not_before,
    }
    if not protocol.watched and (named := next((what for what, value in rounds.items() if value), "")):
        return named
    if role := next((role for role in deliberation.cast if role not in protocol.role_ids()), ""):
        return f"role {role!r}"
    if rule := next((rule for rule in deliberation.rules if rule not in protocol.variants), ""):
        return f"rule {rule!r}"
    # A request for experiments that is `off` is no request.
    asks = deliberation.experiments is not None and deliberation.experiments.run != "off"
    return "experiments" if asks and not protocol.raises_claims else ""


def gate_decision(book: Book) -> tuple[Event, ...]:
    """Return the decision that the gate made; it rests on the screening of the question."""
    opened = book.state.opening
    if ROUTE not in opened.rules:
        return ()
    return (
        Decision(
            id=event_id("decision", 0, 1),
            round=0,
            phase="open",
            by="controller",
            text=f"Routed to {opened.rules[ROUTE]}: {opened.rules[REASONS]}.",
            type="gate",
            # The screening of the question is always event 1.
            cites=(Cite(type="verification", id="@1", relation="based-on"),),
            made_by="rule",
        ),
    )


# ---------------------------------------------------------------- items that a question names itself

ITEM_WORDS_MAX: Final = 14
SIDE_WORDS_MAX: Final = 5
ITEMS_MAX: Final = 64

_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+(.+?)\s*$", re.MULTILINE)
_LISTED: Final = re.compile(r":\s+([^:.?!\n]+(?:\.(?=\w)[^:.?!\n]*)*)")
_COMPARED: Final = re.compile(
    r"\b(?:compare|contrast|evaluate|weigh|between|pros and cons of|comparison of)\s+(.+?)"
    r"(?=\s+(?:on|for|by|in|as|regarding|given|when|if|considering|with (?:regard|respect)|against (?:these|the|our))\b"
    r"|[.?!:;\n]|$)",
    re.IGNORECASE,
)
_VERSUS: Final = re.compile(
    r"(?:^|[.:;?!\n]\s*)([^.:;?!,\n]{1,60}?(?:,?\s+(?:vs\.?|versus)\s+[^.:;?!,\n]{1,60}?)+)"
    r"(?=\s+(?:for|in|on|when|if|as|with)\b|[.:;?!,\n]|$)",
    re.IGNORECASE,
)
_AND: Final = re.compile(
    r"\s*(?:,|;|\bor\b|\band\b|\bvs\.?(?=\s)|\bversus\b|\bagainst\b|\bwith\b|\bto\b)\s*", re.IGNORECASE
)
_COMMA: Final = re.compile(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+(?=[^,]*$)", re.IGNORECASE)
_SEMICOLON: Final = re.compile(r"\s*;\s*(?:(?:and|or)\s+)?", re.IGNORECASE)


def listed_items(text: str) -> list[str]:
    """Return the items of a list in the text: its bullets, or what follows a colon, separated by commas."""
    bullets = _BULLET.findall(text)
    # A single bullet does not make a list.
    if len(bullets) > 1:
        return _clean(bullets, ITEM_WORDS_MAX)
    for after in _LISTED.findall(text):
        items = _clean((_SEMICOLON if ";" in after else _COMMA).split(after), ITEM_WORDS_MAX)
        if len(items) > 1:
            return items
    return []


def compared_items(text: str) -> list[str]:
    """Return the two to four options that a comparison names; none when it is not plain what they are."""
    # An explicit comparison is more reliable than "A vs B", which also occurs in titles.
    for pattern in (_COMPARED, _VERSUS):
        match = pattern.search(text)
        items = [] if match is None else _clean(_AND.split(match[1]), SIDE_WORDS_MAX)
        # More than four parts usually means that the sentence was split at words that belong to an option.
        if 2 <= len(items) <= 4:
            return items
    listed = listed_items(text)
    return listed if 2 <= len(listed) <= 4 else []


def _clean(parts: Sequence[str], words_max: int) -> list[str]:
    """Return the distinct parts; none at all when one of them is too long to be the name of an item."""
    items = list(dict.fromkeys(part.strip(" \t.,;'\"“”") for part in parts))
    items = [item for item in items if item]
    # One part that is a whole sentence shows that this was no list, so none of the parts is trusted.
    return items[:ITEMS_MAX] if all(word_count(item) <= words_max for item in items) else []
