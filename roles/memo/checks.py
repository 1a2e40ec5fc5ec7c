"""Check the sentences of a memo, in the same way at `submit` and in `moot check`.

    option       the memo answers with an existing option, and gives a reason if that is not the leader
    answer       every sentence has words, and no sentence of `answer` names another option instead
    refs         every sentence of `answer` and `why` cites something; others cite or are judgments, four at most
    quotes       a quote occurs at one of the sentence's refs
    numbers      a number occurs in the cited texts, in the question or among the computed values
    class        no word for a test is stronger than the cited evidence; no test is claimed that was not made
    likelihood   word and range match the group forecast
    status       `decided` says what to do now; a strong basis was reproduced
    lengths      words per sentence, on average and in total; sentences per field
    terms        no ids; a term that the opening does not use is explained in the same sentence

This module reads no ledger: the caller resolves references and computes values.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple

import msgspec

from ledger.events.answers import MemoSentence
from ledger.events.envelope import EvidenceClass
from ledger.events.ids import kind_of
from ledger.language.numbers import numerals, values_in
from ledger.language.numerals import Numeral
from ledger.language.words import tokens, word_count
from ledger.plain_text import shortened
from ledger.state.book import contains_quote
from roles.evidence import exceeds, strongest
from roles.memo.terms import WORDS, Likelihood, Term, claimed_test, unexplained, vocabulary, without_ids
from roles.outcome_status import OutcomeStatus

WORDS_OF_SENTENCE: Final = 30
WORDS_ON_AVERAGE: Final = 20
WORDS_OF_MEMO: Final = 350
JUDGMENTS: Final = 4
CHARACTERS_READ: Final = 1_000
"""Longest sentence that is checked in full; a longer one is only reported as too long."""
NAMED: Final = 40
"""Characters of a quoted ref or term in a problem."""
SENTENCES: Final[Mapping[str, int]] = {
    "do_now": 3,
    "why": 3,
    "changes_our_mind": 3,
    "requirements": 3,
    "not_settled": 3,
    "assumed": 4,
}
"""Field → most sentences; the answer is only limited by the words of the whole memo."""
CITING: Final = frozenset({"answer", "why"})
"""Fields in which every sentence needs a ref."""
CLASS_WORDS: Final[Mapping[str, EvidenceClass]] = {
    "reproduced": "reproduced",
    "calculated": "calculated",
}
"""Word → the evidence class it claims, unless the question uses the word too."""

Code = Literal[
    "option_unknown",
    "not_the_leader",
    "says_nothing",
    "other_option",
    "test_not_made",
    "answer_missing",
    "ref_missing",
    "ref_unknown",
    "too_many_judgments",
    "number_in_judgment",
    "quote_not_there",
    "number_not_there",
    "class_too_strong",
    "likelihood",
    "nothing_to_do",
    "too_long",
    "too_many",
    "id_in_text",
    "term",
]


class CitedText(NamedTuple):
    """Texts at a ref. `class_`: evidence class of an experiment's verdict, or of the last verdict on a claim.

    `written_by`: labels of the last texts, which a program wrote, such as "repetition 2 wrote".
    """

    texts: tuple[str, ...]
    kind: Literal["experiment", "document", "claim", "belief", "other"] = "other"
    class_: EvidenceClass | None = None
    written_by: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return one label per text, empty for texts that no program wrote."""
        return (*("",) * (len(self.texts) - len(self.written_by)), *self.written_by)


class MemoAnswer(NamedTuple):
    """Option that a memo answers with, and leader of the group forecast. `options`: id → text, with `none`."""

    option: str
    why_not_leader: str | None
    leader: str | None
    options: Mapping[str, str]


class MemoContext(msgspec.Struct, frozen=True, kw_only=True):
    """Facts that a memo is checked against.

    `cited`: ref → its texts; a ref that does not resolve is absent. `values`: computed numbers that may be stated:
    group forecast, ranges over roles, values of tests, counts. `likelihood`: follows from the group forecast, None
    without forecasts.
    """

    status: OutcomeStatus
    question: str
    goals: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    cited: Mapping[str, CitedText]
    values: tuple[Fraction, ...] = ()
    likelihood: Likelihood | None = None
    answer: MemoAnswer | None = None

    @property
    def opening_texts(self) -> tuple[str, ...]:
        """Return the texts of the opening, without its documents."""
        return (self.question, *self.goals, *self.options)


class MemoProblem(NamedTuple):
    """Problem of a sentence, counted from 1, or of the whole memo without `sentence`."""

    sentence: int | None
    code: Code
    text: str

    def __str__(self) -> str:
        return f"sentence {self.sentence}: {self.text}" if self.sentence else f"the memo: {self.text}"


def memo_problems(sentences: Sequence[MemoSentence], context: MemoContext) -> tuple[MemoProblem, ...]:
    """Return all problems, sentence by sentence, and then those of the whole memo."""
    problems: list[MemoProblem] = []
    for number, sentence in enumerate(sentences, 1):
        # The patterns below are slow on very long sentences, which are refused anyway.
        checks = _CHECKS if len(sentence.text) <= CHARACTERS_READ else (_length,)
        for check in checks:
            problems += [MemoProblem(number, code, text) for code, text in check(sentence, context)]
    problems += [MemoProblem(None, code, text) for code, text in _whole(sentences, context)]
    return tuple(problems)


def class_of_sentence(sentence: MemoSentence, cited: Mapping[str, CitedText]) -> EvidenceClass:
    """Return the strongest class among the refs of a sentence."""
    known = (cited[ref] for ref in sentence.refs if ref in cited)
    return strongest(class_of_cited(text, sentence.quote) for text in known)


def class_of_cited(cited: CitedText, quote: str | None) -> EvidenceClass:
    """Return the class of one ref: a document counts if it is quoted, a claim by its last test."""
    if cited.kind == "document":
        return "quoted" if quote is not None and contains_quote(cited.texts, quote) else "said"
    return (cited.class_ or "said") if cited.kind in ("experiment", "claim") else "said"


# ---------------------------------------------------------------- one sentence

_Problems = Iterator[tuple[Code, str]]


def _refs(sentence: MemoSentence, context: MemoContext) -> _Problems:
    for ref in sentence.refs:
        if ref not in context.cited:
            why = (
                "is an option or a goal, and shows nothing; cite a reason, a claim, a line or a belief"
                if kind_of(ref) in ("option", "goal")
                else "is nothing that you were shown; cite what you were shown"
            )
            yield "ref_unknown", f"{shortened(ref, NAMED)} {why}"
    if sentence.refs:
        return
    if sentence.field in CITING:
        yield "ref_missing", f"{sentence.field} needs a ref: cite what it rests on, or leave the sentence out"
    elif not sentence.judgment:
        yield "ref_missing", "it has no ref: cite what it rests on, or mark it as a judgment"


def _quote(sentence: MemoSentence, context: MemoContext) -> _Problems:
    if sentence.quote is None:
        return
    if not any(
        contains_quote(context.cited[ref].texts, sentence.quote)
        for ref in sentence.refs
        if ref in context.cited
    ):
        yield (
            "quote_not_there",
            "the quote stands at none of its refs: copy it word for word, or leave it out",
        )


def _numbers(sentence: MemoSentence, context: MemoContext) -> _Problems:
    # The digits of an id such as C-1-2 are not numbers of the argument.
    stated = tuple(numerals(without_ids(sentence.text)))
    if sentence.judgment:
        if stated:
            yield (
                "number_in_judgment",
                f"a judgment holds no number: cite where {_list(stated)} stands, or say it without",
            )
        return
    cited = (text for ref in sentence.refs if ref in context.cited for text in context.cited[ref].texts)
    there = frozenset[str]().union(*(values_in(text) for text in (*cited, *context.opening_texts)))
    # A likelihood word is always written with its range, so the bounds may be stated.
    bounds = (context.likelihood.low, context.likelihood.high) if context.likelihood else ()
    values = (*context.values, *(Fraction(bound) for bound in bounds))
    # The prompt shows points as whole numbers, so a memo may repeat 0 for 0.4.
    there |= {str(round(value)) for value in values}
    missing = [
        numeral
        for numeral in stated
        if not numeral.is_among(there) and not any(numeral.rounds(value) for value in values)
    ]
    if missing:
        yield (
            "number_not_there",
            f"{_list(missing)} is not in what it cites, was not computed, and rounds no such number correctly:"
            " cite where it stands, round it correctly, or say it without",
        )


def _class(sentence: MemoSentence, context: MemoContext) -> _Problems:
    allowed = class_of_sentence(sentence, context.cited)
    words = vocabulary((sentence.text,)) & CLASS_WORDS.keys()
    for word in sorted(words - vocabulary((*context.opening_texts, *context.documents))):
        if exceeds(CLASS_WORDS[word], allowed):
            yield (
                "class_too_strong",
                f"it says {word}, and what it cites is {allowed}: cite what was {word}, or say it otherwise",
            )


def _likelihood(sentence: MemoSentence, context: MemoContext) -> _Problems:
    """Check that a likelihood word with a range matches the table, and in the answer the group forecast."""
    for match in _LIKELIHOOD.finditer(sentence.text.casefold()):
        stated = next(row for row in WORDS if row.word == " ".join(match["word"].split()))
        low, high = match["low"], match["high"]
        in_answer, right = sentence.field == "answer", context.likelihood
        # "More likely than" compares and states no probability. Outside of the answer, "likely" may be plain English.
        if match["than"] or (low is None and not in_answer):
            continue
        if in_answer and right is None:
            yield "likelihood", f"there are no beliefs to read {stated.word!r} from: leave it out"
        elif in_answer and right is not None and stated != right:
            yield "likelihood", f"the pool says {right}, not {stated.word!r}: write it so, or leave it out"
        elif low is None or (int(low), int(high)) != (stated.low, stated.high):
            yield "likelihood", f"{stated.word!r} stands with its range: write {stated}"


# Typographic spaces are common before a percent sign, and models copy them.
_BLANK: Final = "[ \u00a0\u202f]"
_LIKELIHOOD: Final = re.compile(
    rf"(?P<than>\b(?:more|less|most|least|as|equally){_BLANK})?"
    # Longest words first, or "very likely" would match as "likely".
    rf"\b(?P<word>{'|'.join(sorted((row.word.replace(' ', _BLANK) for row in WORDS), key=len, reverse=True))})\b"
    rf"(?:{_BLANK}?\((?P<low>[0-9]{{1,3}}){_BLANK}?[-–]{_BLANK}?(?P<high>[0-9]{{1,3}}){_BLANK}?%\))?"
)


def _length(sentence: MemoSentence, _: MemoContext) -> _Problems:
    count = words_of(sentence.text)
    if count > WORDS_OF_SENTENCE or len(sentence.text) > CHARACTERS_READ:
        yield "too_long", f"{count} words, {WORDS_OF_SENTENCE} at most: cut it, or make it two sentences"


def _terms(sentence: MemoSentence, context: MemoContext) -> _Problems:
    known = vocabulary((*context.opening_texts, *context.documents))
    # A term is named once, at its first place.
    first: dict[str, Term] = {}
    for term in unexplained(sentence.text, known):
        first.setdefault(term.text, term)
    for term in first.values():
        word = shortened(term.text, NAMED)
        if term.kind == "id":
            yield "id_in_text", f"{word} is an id: put it into refs, and say here what it is"
        elif term.kind == "insider":
            yield "term", f"nobody outside knows the word {word}: say it in plain words"
        else:
            yield (
                "term",
                f"{word} stands in neither the question nor the documents: explain it in"
                " parentheses behind it, or use a plain word",
            )


def _content(sentence: MemoSentence, context: MemoContext) -> _Problems:
    """Check that a sentence has words, and that one of `answer` does not name another option instead."""
    if not words_of(sentence.text):
        yield "says_nothing", "it has no words: say something, or leave it out"
    if sentence.field != "answer" or context.answer is None:
        return
    # Texts of options count as whole words, whatever stands between the words.
    text = f" {' '.join(tokens(sentence.text))} "
    labels = {option: " ".join(tokens(label)) for option, label in context.answer.options.items()}
    # A sentence may compare options, so naming another one is fine if the answered one is named as well.
    named = [option for option, label in labels.items() if label and f" {label} " in text]
    chosen = context.answer.option
    if chosen in named:
        label = f"{re.escape(labels[chosen])} "
        if not re.search(label, re.sub(_RULED_OUT + label, " ", text)):
            yield (
                "other_option",
                f"the memo answers with {chosen}, and this sentence rules it out: say what to use",
            )
    elif named:
        others = ", ".join(
            f"{option} ({shortened(context.answer.options[option], NAMED)})" for option in named
        )
        yield (
            "other_option",
            f"the memo answers with {chosen}, and this sentence names {others}: name the option that it answers with",
        )


# Words that reject an option right after them: "not use", "avoid the", "instead of".
_RULED_OUT: Final = (
    r"\b(?:not|never|\w+n(?:['’]| )?t|avoid|against|instead of|rather than)(?: \S+)?(?: (?:the|a|with|to))? "
)


def _test(sentence: MemoSentence, context: MemoContext) -> _Problems:
    """Check that a sentence that claims a test cites one."""
    classes = (
        class_of_cited(context.cited[ref], sentence.quote) for ref in sentence.refs if ref in context.cited
    )
    if (words := claimed_test(sentence.text, frozenset(classes))) is not None:
        yield (
            "test_not_made",
            f"it says {shortened(words, NAMED)!r}, and cites no test that was made: cite the claim that was"
            " tested, or say it otherwise",
        )


_CHECKS: Final[tuple[Callable[[MemoSentence, MemoContext], _Problems], ...]] = (
    _content,
    _test,
    _refs,
    _quote,
    _numbers,
    _class,
    _likelihood,
    _length,
    _terms,
)


# ---------------------------------------------------------------- the whole memo


def _whole(sentences: Sequence[MemoSentence], context: MemoContext) -> _Problems:
    if context.answer is not None:
        yield from _option(context.answer)
    fields = Counter[str](sentence.field for sentence in sentences)
    if context.answer is not None and (others := _described(sentences, context.answer)):
        yield (
            "other_option",
            f"the memo answers with {context.answer.option}, and its answer has only words of {', '.join(others)}: name"
            " the option that it answers with",
        )
    if not fields["answer"]:
        yield "answer_missing", "it has no answer: write the first sentence as `answer`"
    for field, at_most in SENTENCES.items():
        if fields[field] > at_most:
            yield (
                "too_many",
                f"{fields[field]} sentences of {field}, {at_most} at most: keep the most important",
            )
    yield from _words(sentences)
    judgments = sum(sentence.judgment for sentence in sentences)
    if judgments > JUDGMENTS:
        yield (
            "too_many_judgments",
            f"{judgments} judgments, {JUDGMENTS} at most: cite evidence, or leave some out",
        )
    if context.status is OutcomeStatus.DECIDED and not fields["do_now"]:
        yield "nothing_to_do", "the status is decided, so say what to do now: add a sentence of do_now"


def _option(answer: MemoAnswer) -> _Problems:
    if answer.option not in answer.options:
        known = ", ".join(answer.options)
        yield "option_unknown", f"answers: {shortened(answer.option, NAMED)} is no option; use {known}"
        return
    reason = (answer.why_not_leader or "").strip()
    if answer.option == answer.leader and reason:
        yield "not_the_leader", f"why_not_leader: {answer.leader} is the leader; give null"
    if answer.option != answer.leader and not words_of(reason):
        yield (
            "not_the_leader",
            f"why_not_leader: the leader is {answer.leader}; say why the memo answers with {answer.option} instead",
        )


def _described(sentences: Sequence[MemoSentence], answer: MemoAnswer) -> list[str]:
    """Return the options whose own words the answer uses, if it uses no word of the option that it answers with."""
    used = set(tokens(" ".join(sentence.text for sentence in sentences if sentence.field == "answer")))
    words = {option: set(tokens(label)) for option, label in answer.options.items() if option != "none"}
    counts = Counter(word for label in words.values() for word in label)
    # A short word such as "the" is of no option, even where only one of them has it.
    own = {
        option: {word for word in label if counts[word] == 1 and (len(word) > 3 or word.isdigit())}
        for option, label in words.items()
    }
    if words.get(answer.option, used) & used:
        return []
    return [option for option, label in own.items() if label & used]


def _words(sentences: Sequence[MemoSentence]) -> _Problems:
    counts = [words_of(sentence.text) for sentence in sentences]
    total = sum(counts)
    if total > WORDS_OF_MEMO:
        yield "too_long", f"{total} words, {WORDS_OF_MEMO} at most: leave out what matters least"
    if total > WORDS_ON_AVERAGE * len(counts):
        average = total / len(counts)
        yield (
            "too_long",
            f"{average:.1f} words a sentence on average, {WORDS_ON_AVERAGE} at most: shorten the longest",
        )


def words_of(text: str) -> int:
    """Return the number of words that hold a letter or a digit."""
    return word_count(" ".join(word for word in text.split() if any(map(str.isalnum, word))))


def _list(numbers: Sequence[Numeral]) -> str:
    return ", ".join(dict.fromkeys(shortened(number.written, NAMED) for number in numbers[:5]))
