"""Open questions to a person: what the run waits for first, then the newest; the same question asked again is one.

An older question belongs to a newer one where the newer text asks nearly all that the older asks, so that whoever
answers what is shown has answered both. What asks for more, or for another number or name, is a question of its own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

from ledger.events import Concern
from ledger.plain_text import counted, one_line, sentences
from ledger.result import Result
from ledger.state.book import Book
from moot.view.held_up import is_held_by_an_error
from moot.view.memo import has_beliefs, order_for, unsettled, worth_told
from rounds.protocols import awaited_of, experiments_awaited

SHOWN: Final = 5
ASKED_AGAIN: Final = (3, 4)
"""The share of an older question's words that a newer one must have: three in four."""
WORDS_MIN: Final = 3
LETTERS_MIN: Final = 4
_WORD: Final = re.compile(r"\w+(?:[.,/-]\w+)*")
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
"""Scripts without spaces between words: pairs of their characters are compared."""
_NAME: Final = re.compile(r"[^\W\d_]+\d+")
"""A name with a number: `R1`. A question often says "them" of what the sentence before it names."""
_REFERENCE: Final = re.compile(r"\b[A-Z]{1,2}-\d+(?:-\w+)*(?:#[\w-]+)?")
_ASKS: Final = ("?", "？", "؟")


class Asking(Result, frozen=True):
    """A question to a person, merged from `ids`, with the command that answers it."""

    text: str
    ids: list[str]
    command: str


class _Question(NamedTuple):
    text: str
    words: frozenset[str]
    ids: list[str]
    is_open: bool


def asked_of_you(run: str, book: Book) -> list[Asking]:
    """What a run asks of a person, at most five; `run` is how commands name it."""
    named = shlex.quote(run)
    if book.state.held_up:
        place = book.state.held_up[0]
        command = f"moot override {named} {place} 'why it is harmless'"
        text = "The screening of what was asked holds the run up."
        if is_held_by_an_error(book.state):
            text = f"An error that the validation {place} found holds the run up: mend it (moot check {named}), or say"
            text += " why it is harmless."
        return [Asking(text=text, ids=[place], command=command)]
    if due := experiments_awaited(book.state):
        verb = "waits" if len(due) == 1 else "wait"
        text = f"{counted(len(due), 'program')} that the seats planned {verb} to be run here, in a sandbox."
        return [Asking(text=text, ids=list(due), command=f"moot experiment run {named}")]
    questions = _questions(book)
    shown = questions if len(questions) <= SHOWN else questions[: SHOWN - 1]
    found = [_asking(run, book, one) for one in shown]
    rest = [identity for one in questions[len(shown) :] for identity in one.ids]
    if rest:
        command = f"moot log {named} --kind concern"
        found.append(Asking(text=f"{len(rest)} older questions.", ids=rest, command=command))
    return found


def _asking(run: str, book: Book, one: _Question) -> Asking:
    """A question with the command that answers it: a result, where seats planned a program that settles it."""
    claims = [claim for claim in book.state.concerns[one.ids[0]].between if claim in book.state.claims]
    if not claims or not has_beliefs(book):
        command = f"moot answer {shlex.quote(run)} {one.ids[0]} 'TEXT'"
        return Asking(text=one.text, ids=one.ids, command=command)
    command = f"moot answer {shlex.quote(run)} {one.ids[0]} --holds|--fails 'TEXT'"
    values = {crux.claim: crux.best for crux in unsettled(book)}
    worth = "".join(f" ({worth_told(values[claim])})" for claim in claims if claim in values)
    order = order_for(run, book, claims[0])
    program = f" Program: `{order.runs}`, run it here with `{order.here}`." if order else ""
    return Asking(text=f"{one.text}{worth}{program}", ids=one.ids, command=command)


def _questions(book: Book) -> list[_Question]:
    """Open questions, merged: those that are waited for each alone and first, then the newest first.

    What is answered takes with it what had asked the same before.
    """
    awaited = awaited_of(book.state)
    first, groups = list[_Question](), list[_Question]()
    for identity, text in _asked(book):
        is_open, words = identity not in book.state.resolved, _words(text)
        if identity in awaited:
            first.append(_Question(one_line(text), words, [identity], is_open))
            continue
        group = next((one for one in (*first, *groups) if _asks_all_of(one.words, words)), None)
        if group is None:
            groups.append(_Question(one_line(text), words, [identity], is_open))
        elif is_open:
            group.ids.append(identity)
    first.reverse()
    return [*first, *(one for one in groups if one.is_open)]


def _asked(book: Book) -> Iterator[tuple[str, str]]:
    """Questions to a person with their words, the newest first."""
    for event in reversed(book.of(Concern)):
        if event.for_human and event.id:
            yield event.id, event.text


def covers(newer: str, older: str) -> bool:
    """Whether a newer question asks nearly all that an older one asks, with all its numbers and names."""
    return _asks_all_of(_words(newer), _words(older))


def _asks_all_of(newer: frozenset[str], older: frozenset[str]) -> bool:
    common = len(newer & older)
    part, whole = ASKED_AGAIN
    numbers = (word for word in older if any(letter.isdigit() for letter in word))
    if len(older) < WORDS_MIN:
        return newer == older
    return common * whole >= len(older) * part and newer.issuperset(numbers)


def _words(text: str) -> frozenset[str]:
    """The words of what is asked, in whatever script, with the numbered names of the sentences around it."""
    asking = [one for one in sentences(text) if one.rstrip("\"'”’»)").endswith(_ASKS)]
    named = (word for word in _WORD.findall(_REFERENCE.sub(" ", text)) if _NAME.fullmatch(word))
    return frozenset(
        one for word in (*_WORD.findall(" ".join(asking) or text), *named) for one in _parts(word)
    )


def _parts(word: str) -> Iterator[str]:
    folded = word.casefold()
    for run in _UNSPACED.findall(folded):
        yield from (run[n : n + 2] for n in range(max(1, len(run) - 1)))
    is_long = len(folded) >= LETTERS_MIN or any(letter.isdigit() for letter in folded)
    if is_long and not _UNSPACED.search(folded):
        yield folded
