"""Texts: how long they are, how many there are in a round, and whether they commit themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from ledger.events import Artifact, Claim, Decision, RoundOpened, RunClosed, Statement, Verification
from ledger.language.words import sentence_count, word_count
from ledger.state.anchors import strings
from roles.outsiders import claims_with_ids
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule

HEDGES: Final = re.compile(
    r"\b(might|maybe|perhaps|possibly|presumably|arguably|somewhat|probably|it seems|seems to|appears to|kind of"
    r"|sort of|could be argued|more or less)\b",
    re.IGNORECASE,
)


def words_of_artifact(event: Artifact) -> int:
    """Count the words of an artifact: every string of its body and of its findings (SD-4)."""
    return sum(map(word_count, (*strings(event.body), *(finding.text for finding in event.findings))))


def words_of_statement(event: Statement) -> int:
    """Count the words of a statement's sections."""
    return sum(word_count(section.text) for section in event.sections)


def hedges(text: str) -> Iterator[str]:
    """Yield the hedging words of a text, lower case."""
    return (match[0].lower() for match in HEDGES.finditer(text))


WORDS_MAX: Final = 600
MINUTES_MAX: Final = 30


@rule("WRD001", "warning", source="SD-4")
def artifact_is_short(index: LedgerIndex) -> Iterator[Breach]:
    """An artifact has at most 600 words and takes at most 30 minutes.

    Habitual overrun means that the schema has become too heavy to be read by those who should attack it.
    """
    for event in index.events:
        if not isinstance(event, Artifact):
            continue
        # The recorded count is used. WRD003 checks that it is right, so the texts are counted once.
        if event.words > WORDS_MAX:
            yield Breach(event.seq, f"{event.id} has {event.words} words; the budget is {WORDS_MAX}")
        if event.minutes is not None and event.minutes > MINUTES_MAX:
            yield Breach(event.seq, f"{event.id} took {event.minutes} minutes; the budget is {MINUTES_MAX}")


BUDGETS_WORDS: Final[Mapping[str, Mapping[str, tuple[int, int]]]] = {
    "structured": {"proposal": (0, 500), "supplement": (0, 250)},
    "debate": {"closing": (100, 200)},
}
"""Protocol → type of statement → fewest and most words."""
PUBLISHED_WORDS: Final[Mapping[str, tuple[int, int]]] = {"proposal": (600, 800), "supplement": (200, 400)}
"""The same of `structured` under the rule `lengths = published`, and of its imports."""


@rule("WRD002", "warning", source="SD-18, XS-6", version=4)
def statement_keeps_its_length(index: LedgerIndex) -> Iterator[Breach]:
    """A proposal has at most 500 words and a supplement at most 250, a closing of a debate 100 to 200.

    In a longer text the weak point is never read. The published lengths ask for 600 to 800 words of a proposal and
    200
    to 400 of a supplement, so that there is something to attack.
    """
    opened = index.opened
    if opened is None:
        return
    # Imports were written under the published lengths, and judging them by others would be unfair.
    is_published = opened.rules.get("lengths") == "published" or opened.origin.type == "import"
    budgets = (
        PUBLISHED_WORDS
        if opened.protocol == "structured" and is_published
        else BUDGETS_WORDS.get(opened.protocol, {})
    )
    for event in index.events:
        if isinstance(event, Statement) and event.type in budgets:
            least, most = budgets[event.type]
            if not least <= event.words <= most:
                wanted = f"{least} to {most}" if least else f"at most {most}"
                yield Breach(event.seq, f"{event.id} has {event.words} words; a {event.type} has {wanted}")


@rule("WRD003", "error", source="FORMAT 2 (`words`: counted by us)", applies_to_imports=False)
def words_are_counted(index: LedgerIndex) -> Iterator[Breach]:
    """The recorded number of words is the number of words.

    Length budgets are judged by it, and a seat does not count its own.
    """
    for event in index.events:
        match event:
            case Statement():
                words = words_of_statement(event)
            case Artifact():
                words = words_of_artifact(event)
            case _:
                continue
        if event.words != words:
            yield Breach(event.seq, f"{event.id} has {words} words, not {event.words}")


SENTENCES_MAX: Final = 3


@rule("WRD004", "warning", source="SD-37, SD-42")
def text_keeps_its_sentences(index: LedgerIndex) -> Iterator[Breach]:
    """A claim and the notes of a verification have one to three sentences.

    A claim of many sentences is several claims, and one verdict cannot test them all.
    """
    for event in index.events:
        match event:
            case Claim():
                text, what = event.text, "the claim"
            case Verification():
                text, what = event.notes, "the notes"
            case _:
                continue
        if sentence_count(text) > SENTENCES_MAX:
            yield Breach(
                event.seq,
                f"{event.id}: {what} run to {sentence_count(text)} sentences; {SENTENCES_MAX} are enough",
            )


CLAIMS: Final = (5, 7)
DECISIONS: Final = (1, 3)
LESS_UNDER_STRESS: Final = 2


@rule("VOL001", "warning", source="SD-48, SD-82")
def round_keeps_its_volume(index: LedgerIndex) -> Iterator[Breach]:
    """A round raises 5 to 7 claims and takes 1 to 3 decisions.

    Far more is noise that goes untested; far fewer is silence. Reported when the next round opens or the run ends. A
    stress round, one role short, may raise fewer.
    """
    if not index.watched:
        return
    opened: RoundOpened | None = None
    claims = decisions = artifacts = 0
    for event in index.events:
        match event:
            case RoundOpened() | RunClosed(state="finished"):
                # a round of synthesis alone has no artifacts and is left out
                if opened is not None and (artifacts or index.is_imported(opened.seq)):
                    yield from _norms(event.seq, opened, claims, decisions)
                opened = event if isinstance(event, RoundOpened) else None
                claims = decisions = artifacts = 0
            case Claim():
                claims += 1
            case Decision(type="round"):
                decisions += 1
            case Artifact():
                artifacts += 1
            case _:
                pass


def _norms(seq: int, opened: RoundOpened, claims: int, decisions: int) -> Iterator[Breach]:
    # One of four roles is absent, so fewer claims are expected by design.
    least = CLAIMS[0] - (LESS_UNDER_STRESS if opened.absent else 0)
    for count, fewest, most, what in (
        (claims, least, CLAIMS[1], "claims"),
        (decisions, *DECISIONS, "decisions"),
    ):
        if not fewest <= count <= most:
            yield Breach(seq, f"round {opened.round} has {count} {what}; {fewest} to {most} are usual")


@rule("STY001", "warning", source="SD-42, AD-4, AD-14")
def claim_is_plain(index: LedgerIndex) -> Iterator[Breach]:
    """A claim commits itself; it does not hedge.

    A claim that something "might perhaps" be the case cannot be refuted.
    """
    for event in index.events:
        if isinstance(event, Claim):
            hedging = dict.fromkeys(hedges(event.text))
            if hedging:
                yield Breach(event.seq, f"{event.id} hedges: {', '.join(hedging)}")


@rule("STY012", "warning", source="FORMAT 2 (`claim.places`)")
def claim_is_readable_outside(index: LedgerIndex) -> Iterator[Breach]:
    """The words of a claim name no ids of the run; what it is about is listed in `places`.

    Outside the run, "the mechanism of S-2-B-action#p3" means nothing.
    """
    opened = index.opened
    if opened is None:
        return
    # Ids from the question itself are readable outside, when the asker used them.
    labelled = (*opened.goals, *opened.options)
    asked = {*(entry.id for entry in labelled), *(document.id for document in opened.context)}
    for event in index.events:
        if isinstance(event, Claim):
            seq = event.seq
            known = partial(_is_known, index, asked, seq)
            for name, ids in claims_with_ids(event, known):
                yield Breach(seq, f"{name} names {', '.join(ids)} in its words; refs belong into `places`")


def _is_known(index: LedgerIndex, asked: set[str], than: int, identity: str) -> bool:
    return identity in asked or index.earlier(identity, than) is not None
