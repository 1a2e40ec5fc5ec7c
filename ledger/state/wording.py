"""Words of events: judgments made from words alone, and summaries of what is shown as one clause.

The judgments are fallible, and marked "by text" wherever they count.
"""

from __future__ import annotations

import re
from typing import Final, assert_never

from ledger.events import (
    Agenda,
    Belief,
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Frame,
    Memo,
)
from ledger.plain_text import counted

_EVASIONS: Final = re.compile(
    r"\b(?:more|further|additional)\s+(?:research|study|studies|work|investigation|analysis|discussion|thought|data)\b"
    r"|\bto be (?:determined|decided|defined|seen|discussed)\b|\btb[dc]\b|\bremains? (?:to be seen|unclear|open)\b"
    r"|\bneeds? (?:to be )?(?:investigat|discuss|evaluat|think|clarif)\w*|\bhard to (?:say|tell|test)\b"
    r"|\b(?:cannot|can't|not) be tested\b|\buntestable\b|\bit depends\b|\bsome(?:how|thing) (?:works|better|happens)\b",
    re.IGNORECASE,
)
_STEMS: Final = (
    "more", "further", "add", "to be", "tbd", "tbc", "rema", "need", "hard to", "be tested", "untest", "depends", "some"
)  # fmt: skip
"""Every evasion contains one of these. Looking for them first is ten times as fast, and every claim is checked."""
_WORDS_AT_LEAST: Final = 4


def names_no_outcome(testable_as: str) -> bool:
    """Return whether a test names no observable outcome: too few words, or words that put it off (SD-82)."""
    if len(testable_as.split(None, _WORDS_AT_LEAST)) < _WORDS_AT_LEAST:
        return True
    folded = testable_as.casefold()
    for stem in _STEMS:
        if stem in folded:
            return _EVASIONS.search(testable_as) is not None
    return False


_ASKS: Final = re.compile(
    r"\bha(?:s|ve) been (?:run|executed|measured)\b"
    r"|\b(?:until|before)\b[^.;]{0,80}\bha(?:s|ve) (?:run|printed)\b"
    r"|\b(?:is|are) (?:run|executed) before\b"
    r"|\bfirst (?:to be )?run\b|\bnext act is the run\b|\bdecided by running\b",
    re.IGNORECASE,
)


def asks_for_run(decision: str) -> bool:
    """Return whether a decision waits for something to be run, which no reading can replace."""
    return _ASKS.search(decision) is not None


_WORD: Final = re.compile(r"[^\W_]{4,}")
_EMPTY_WORDS: Final = (
    "about after again already also been before both could does each from have into more most much must only other "
    "over said same says shall should some such than that their them then there these they this those under until very "
    "were what when where whether which while whose will with would your"
)
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())


def matter_of(question: str) -> frozenset[str]:
    """Return the words of at least four letters that say what a question is about."""
    return frozenset(_WORD.findall(question.casefold())) - _EMPTY


Deliberated = Belief | Frame | Agenda | Memo | ExperimentPlanned | ExperimentRun | ExperimentJudged


def clause(event: Deliberated) -> tuple[str, str]:
    """Return the name of an event and its summary."""
    match event:
        case Belief():
            points = ", ".join(f"{option} {points}%" for option, points in event.points.items())
            return ("updated forecast" if event.derived else "forecast"), f"{event.role}: {points}"
        case Frame():
            return "frame", (event.why or "ill-posed") if event.ill_posed else "well-posed"
        case Agenda():
            new_options = f", {counted(len(event.options), 'option')} made" if event.options else ""
            return "agenda", (", ".join(event.cruxes) or "no crux") + new_options
        case Memo():
            answer = " ".join(sentence.text for sentence in event.sentences if sentence.field == "answer")
            return "memo", f"{event.answers}: {answer}" if event.answers else answer
        case ExperimentPlanned():
            return "experiment", f"{event.question} ({', '.join(event.claims)}, {event.k} times)"
        case ExperimentRun():
            control = f", control that {event.control.replace('_', ' ')}" if event.control else ""
            ended = "ended at a limit" if event.signal is None else f"signal {event.signal}"
            ended = ended if event.exit is None else f"exit {event.exit}"
            return "run", f"{event.of} number {event.n}{control}: {ended} after {event.ms} ms"
        case ExperimentJudged():
            moved = "".join(f", {change.claim_id} {change.to}" for change in event.changes)
            class_note = f" ({event.class_})" if event.class_ else ""
            return "judged", f"{event.of} {event.verdict}{class_note}{moved}"
        case _:
            # A new kind begins here: the log and the transcript leave to this function what they show no other way.
            assert_never(event)
