"""The computed checks of a memo: one that passes whole, and for each check what passes and what does not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from ledger.events.answers import MemoSentence
from roles.memo.checks import (
    SENTENCES,
    CitedText,
    MemoAnswer,
    MemoContext,
    MemoProblem,
    class_of_sentence,
    memo_problems,
    words_of,
)
from roles.memo.terms import WORDS, likelihood_of
from roles.outcome_status import OutcomeStatus
from tests.effort import bounded

CONTEXT = MemoContext(
    status=OutcomeStatus.DECIDED,
    question="Should the audit log of our 8 servers use SQLite or plain files?",
    goals=("It survives a power failure.",),
    options=("SQLite 3 with its write-ahead log", "plain files"),
    documents=("Writes come in bursts of 1,200 a second. An INSERT takes 4 ms.",),
    cited={
        "E-2-1": CitedText(("250 of 250 records were there after the cut",), "experiment", "reproduced"),
        "E-2-2": CitedText(("12 lost",), "experiment"),
        "K-1#L1": CitedText(("Writes come in bursts of 1,200 a second.",), "document"),
        "C-1-1": CitedText(("Batches of 100 writes keep up.",), "claim", "calculated"),
        "C-1-2": CitedText(("People can read files.",), "claim", "argued"),
        "C-1-3": CitedText(("Nobody has tested it.",), "claim"),
        "B-2-critic": CitedText(("O-1: 70",), "belief"),
    },
    values=(Fraction("71.25"), Fraction(60), Fraction(80), Fraction(20)),
    likelihood=likelihood_of(Fraction("71.25")),
)


def sentence(field: str = "why", text: str = "It works.", *refs: str, **more: Any) -> MemoSentence:
    return MemoSentence(field=field, text=text, refs=refs, **more)  # type: ignore[arg-type]


ANSWER = sentence(
    "answer", "Use SQLite with its write-ahead log; it is likely (55–80 %) the right one.", "E-2-1"
)
TO_DO = sentence("do_now", "Cut the power of a test server, as the test did.", "E-2-1")
WHOLE = (
    ANSWER,
    TO_DO,
    sentence("why", "All 250 records were there after the power was cut.", "E-2-1"),
    sentence(
        "why",
        "Bursts of 1200 writes a second fit.",
        "C-1-1",
        "K-1#L1",
        quote="bursts of  1,200 a second",
    ),
    sentence("changes_our_mind", "A record that is lost on your own disks.", judgment=True),
    sentence("requirements", "The servers keep their clocks in step.", "C-1-2"),
    sentence("not_settled", "Whether people will want to read the log by hand.", "C-1-2"),
    sentence("assumed", "The 8 servers do not share a disk.", "C-1-1"),
)


def codes(*sentences: MemoSentence, **changes: Any) -> list[tuple[int | None, str]]:
    context = msgspec.structs.replace(CONTEXT, **changes)
    return [(one.sentence, one.code) for one in memo_problems(sentences, context)]


def alone(one: MemoSentence, **changes: Any) -> list[str]:
    """The codes of one sentence behind an answer and something to do."""
    return [code for number, code in codes(ANSWER, TO_DO, one, **changes) if number == 3]


def test_a_memo_that_passes_whole():
    assert memo_problems(WHOLE, CONTEXT) == ()


def test_a_problem_says_where_and_how_to_mend_it():
    (found,) = memo_problems((ANSWER, TO_DO, sentence("why")), CONTEXT)
    assert found == MemoProblem(
        3, "ref_missing", "why needs a ref: cite what it rests on, or leave the sentence out"
    )
    assert str(found) == "sentence 3: why needs a ref: cite what it rests on, or leave the sentence out"
    assert str(MemoProblem(None, "too_long", "x")) == "the memo: x"


# ---------------------------------------------------------------- refs and judgments


def test_answer_and_why_cite_even_as_judgments():
    assert alone(sentence("why", judgment=True)) == ["ref_missing"]
    assert (1, "ref_missing") in codes(sentence("answer", judgment=True), TO_DO)
    assert alone(sentence("why", "It works.", "C-1-2", judgment=True)) == []


@pytest.mark.parametrize("field", sorted(SENTENCES.keys() - {"why"}))
def test_other_sentences_cite_or_judge(field):
    assert alone(sentence(field)) == ["ref_missing"]
    assert alone(sentence(field, judgment=True)) == []
    assert alone(sentence(field, "It works.", "C-1-2")) == []


def test_a_ref_resolves():
    assert alone(sentence("why", "It works.", "C-9-9")) == ["ref_unknown"]


def test_four_judgments_and_no_more():
    four = [sentence("assumed", judgment=True)] * 4
    assert codes(ANSWER, TO_DO, *four) == []
    assert codes(ANSWER, TO_DO, *four, sentence("not_settled", judgment=True)) == [
        (None, "too_many_judgments")
    ]


@pytest.mark.parametrize("text", ["In 30 days.", "In thirty days.", "On 8 servers.", "With 71 points."])
def test_a_judgment_holds_no_number(text):
    assert alone(sentence("assumed", text, judgment=True)) == ["number_in_judgment"]


def test_small_numbers_in_words_are_words():
    assert alone(sentence("assumed", "One or two of twelve.", judgment=True)) == []


# ---------------------------------------------------------------- languages

MEMOS = {
    "Chinese": ("日志应该写一个文件吗？", "如果每天写入超过5000次，会成为瓶颈。", "一个文件快87倍(这是 说明)。"),
    "Japanese": ("ログは一つのファイルに書くべきか？", "一日に5,000回以上書くと遅くなる。", "ファイル一つは87倍速い。"),
    "Korean": ("로그를 파일 하나에 써야 할까요?", "하루에 5000번 넘게 쓰면 느려진다.", "파일 하나가 87배 빠르다."),
    "Arabic": ("هل نكتب السجل في ملف واحد؟", "أكثر من ٥٬٠٠٠ مرة في اليوم بطيء.", "ملف واحد أسرع ٨٧ مرة."),
    "Hindi": ("क्या हम लॉग एक फ़ाइल में लिखें?", "दिन में 5,000 बार लिखना धीमा है।", "एक फ़ाइल ८७ गुना तेज़ है।"),
    "Thai": ("ควรเขียนล็อกในไฟล์เดียวหรือไม่", "เขียนเกิน5000ครั้งต่อวันจะช้า", "ไฟล์เดียวเร็วกว่า87เท่า"),
    "German": ("Schreiben wir eine Datei?", "Ab 5.000 Einträgen wird es langsam.", "Eine Datei ist 87fach schneller."),
    "numerals": ("日志写一个文件吗？", "超过五千次就慢。", "快八十七倍。"),
}  # fmt: skip


@pytest.mark.parametrize("language", MEMOS)
def test_a_number_is_read_in_every_language(language):
    question, honest, invented = MEMOS[language]
    cited = {"C-1-1": CitedText(("More than 5,000 writes a day are slow.",), "claim", "calculated")}
    for text, wanted in ((honest, []), (invented, ["number_not_there"])):
        assert (
            alone(sentence("why", text, "C-1-1"), cited={**CONTEXT.cited, **cited}, question=question)
            == wanted
        )
    assert alone(sentence("assumed", honest, judgment=True), question=question) == ["number_in_judgment"]


def test_an_option_is_recognized_without_spaces():
    answer = MemoAnswer("O-1", None, "O-1", {"O-1": "一个文件", "O-2": "三个文件"})
    for text, wanted in (("写一个文件。", []), ("写三个文件。", ["other_option"])):
        said = sentence("answer", text, "E-2-1")
        assert [code for number, code in codes(said, TO_DO, answer=answer) if number == 1] == wanted


def test_a_sentence_in_chinese_has_a_length():
    assert alone(sentence("why", "字" * 60 + "。", "C-1-2")) == []
    assert alone(sentence("why", "字" * 61 + "。", "C-1-2")) == ["too_long"]


def test_a_rounded_number_is_accepted_and_a_wrong_one_is_not():
    cited = {"E-2-1": CitedText(("mean 0.5719, 11987 calls",), "experiment", "reproduced")}
    for text in ("The share is 57 %.", "The mean is 0.57.", "It took about 12,000 calls."):
        assert alone(sentence("why", text, "E-2-1"), cited=cited) == []
    for text in ("The share is 58 %.", "The mean is 0.58.", "It took 12,000 calls."):
        assert alone(sentence("why", text, "E-2-1"), cited=cited) == ["number_not_there"]


# ---------------------------------------------------------------- quotes and numbers


def test_a_quote_stands_where_it_says():
    quote = "bursts of 1,200 a second"
    assert alone(sentence("why", "It fits.", "C-1-1", "K-1#L1", quote=quote)) == []
    assert alone(sentence("why", "It fits.", "C-1-1", quote=quote)) == ["quote_not_there"]
    assert alone(sentence("why", "It fits.", "K-1#L1", quote="bursts of 1200 a second")) == [
        "quote_not_there"
    ]
    assert alone(sentence("why", "It fits.", "K-1#L1", quote=" ")) == ["quote_not_there"]
    assert alone(sentence("assumed", "It fits.", judgment=True, quote=quote)) == ["quote_not_there"]


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("All 250 were there.", ["E-2-1"]),
        ("Two hundred fifty were there.", ["E-2-1"]),
        ("It takes 1,200 or 1 200 or 1200.0 a second.", ["K-1#L1"]),
        ("A hundred writes.", ["C-1-1"]),
        ("The 8 servers keep SQLite 3.", ["C-1-2"]),
        ("The pool gives it 71.25, 71.3 or 71 points.", ["C-1-2"]),
        ("The roles give it 60 to 80 %.", ["C-1-2"]),
        ("It has 70 points.", ["B-2-critic"]),
        ("It lost 12 and 250.", ["E-2-2", "E-2-1"]),
    ],
)
def test_numbers_that_stand_somewhere(text, refs):
    assert alone(sentence("why", text, *refs)) == []


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("All 251 were there.", ["E-2-1"]),
        ("All 250 were there.", ["C-1-1"]),
        ("It takes 4 ms.", ["K-1#L1"]),
        ("It takes 1 second.", ["K-1#L1"]),
        ("The pool gives it 72 points.", ["C-1-2"]),
        ("Thirteen were there.", ["E-2-1"]),
        ("It has 70 points.", ["C-1-2"]),
        ("It is 250000.", ["E-2-1"]),
    ],
)
def test_numbers_that_stand_nowhere(text, refs):
    assert alone(sentence("why", text, *refs)) == ["number_not_there"]


@given(
    st.integers(13, 10**12),
    st.sampled_from(["{:,}", "{}", "{} %", "{:,}ms"]),
    st.sampled_from(["{:,}", "{}.00", "{} rows"]),
)
def test_a_number_stands_however_it_is_written(number: int, said: str, cited: str):
    there = {"K-1": CitedText((cited.format(number),), "document")}
    context = msgspec.structs.replace(
        CONTEXT, cited=there, values=(), likelihood=None, question="", options=()
    )
    right = memo_problems(
        (sentence("answer", said.format(number), "K-1"), sentence("do_now", judgment=True)), context
    )
    wrong = memo_problems((sentence("answer", said.format(number + 1), "K-1"),), context)
    assert right == ()
    assert "number_not_there" in {one.code for one in wrong}


# ---------------------------------------------------------------- classes


def test_the_class_of_a_sentence_is_the_best_of_its_refs():
    def class_of(*refs: str, quote: str | None = None) -> str:
        return class_of_sentence(sentence("why", "It works.", *refs, quote=quote), CONTEXT.cited)

    assert class_of("C-1-2", "E-2-1", "C-1-1") == "reproduced"
    assert class_of("C-1-2", "C-1-1") == "calculated"
    assert class_of("K-1#L1") == "said"
    assert class_of("K-1#L1", quote="Writes come") == "quoted"
    assert class_of("K-1#L1", quote="Writes go") == "said"
    assert (
        class_of("E-2-2")
        == class_of("C-1-3")
        == class_of("B-2-critic")
        == class_of("C-9-9")
        == class_of()
        == "said"
    )


def test_words_for_a_class_are_earned():
    assert alone(sentence("why", "It was reproduced.", "E-2-1")) == []
    assert alone(sentence("why", "It was reproduced.", "C-1-1")) == ["class_too_strong"]
    assert alone(sentence("why", "It was calculated.", "C-1-1")) == []
    assert alone(sentence("why", "It was calculated.", "C-1-2")) == ["class_too_strong"]
    asked = "Can the bug be reproduced?"
    assert alone(sentence("why", "It was reproduced.", "C-1-1"), question=asked) == []


# ---------------------------------------------------------------- likelihood


def in_answer(text: str, **changes: Any) -> list[str]:
    return [code for n, code in codes(sentence("answer", text, "E-2-1"), TO_DO, **changes) if n == 1]


def test_the_answer_has_the_word_of_the_pool_with_its_range():
    assert in_answer("SQLite is likely (55–80 %) right.") == []
    assert in_answer("SQLite is Likely (55-80%) right.") == []
    assert in_answer("SQLite.") == []
    assert in_answer("SQLite is likely right.") == ["likelihood"]
    assert in_answer("SQLite is very likely (80–95 %) right.") == ["number_not_there", "likelihood"]
    assert in_answer("SQLite is likely (60–80 %) right.") == ["likelihood"]
    assert in_answer("SQLite is more likely to work.") == []
    assert in_answer("SQLite is likely right.", likelihood=None) == ["likelihood"]


def test_elsewhere_a_word_with_a_range_has_its_own():
    def said(text: str) -> list[str]:
        return alone(sentence("why", text, "E-2-1"), values=(Fraction(5), Fraction(20), Fraction(45)))

    assert said("A crash is unlikely.") == []
    assert said("A crash is unlikely (20–45 %).") == []
    assert said("A crash is unlikely (5–20 %).") == ["likelihood"]
    assert said("A crash is very unlikely (5–20 %).") == []


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("right", WORDS)
def test_each_word_is_read_whole(word, right):
    assert in_answer(f"It is {word} so.", likelihood=right).count("likelihood") == (word != right)


# ---------------------------------------------------------------- status and basis


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        (OutcomeStatus.DECIDED, True),
        (OutcomeStatus.YOUR_CALL, False),
        (OutcomeStatus.RUN_THIS_FIRST, False),
        (OutcomeStatus.ILL_POSED, False),
    ],
)
def test_who_decides_has_something_to_do(status, wanted):
    assert codes(ANSWER, status=status) == ([(None, "nothing_to_do")] if wanted else [])
    assert codes(ANSWER, TO_DO, status=status) == []


# ---------------------------------------------------------------- lengths


def test_a_sentence_has_thirty_words():
    assert alone(sentence("why", "word " * 30, "E-2-1")) == []
    assert alone(sentence("why", "word " * 31, "E-2-1")) == ["too_long"]
    assert alone(sentence("why", "w" * 1_001, "E-2-1")) == ["too_long"]
    assert words_of("One – two, three: 4 …") == 4


def test_twenty_words_on_average():
    def memo(words: int) -> list[tuple[int | None, str]]:
        text = "word " * words
        return codes(sentence("answer", text, "E-2-1"), sentence("do_now", text, "E-2-1"))

    assert memo(20) == []
    assert memo(21) == [(None, "too_long")]


def test_three_hundred_and_fifty_words():
    answers = [sentence("answer", "word " * 20, "E-2-1")] * 17
    assert codes(*answers, sentence("do_now", "word " * 10, "E-2-1")) == []
    assert codes(*answers, sentence("do_now", "word " * 11, "E-2-1")) == [(None, "too_long")]


@pytest.mark.parametrize(("field", "at_most"), sorted(SENTENCES.items()))
def test_each_field_has_its_number(field, at_most):
    def memo(count: int) -> list[tuple[int | None, str]]:
        others = (ANSWER,) if field == "do_now" else (ANSWER, TO_DO)
        return codes(*others, *[sentence(field, "It works.", "E-2-1")] * count)

    assert memo(at_most) == []
    assert memo(at_most + 1) == [(None, "too_many")]


def test_there_is_an_answer():
    assert codes(TO_DO) == [(None, "answer_missing")]
    assert codes(status="your_weighing") == [(None, "answer_missing")]


# ---------------------------------------------------------------- terms


def test_no_ids_and_no_unexplained_terms():
    assert alone(sentence("why", "See C-1-1 for it.", "C-1-1")) == ["id_in_text"]
    assert alone(sentence("why", "The WAL grows and the WAL shrinks.", "C-1-1")) == ["term"]
    assert alone(sentence("why", "Its write-ahead log (WAL) grows.", "C-1-1")) == []
    assert alone(sentence("why", "An INSERT is quick.", "C-1-1")) == []
    assert alone(sentence("why", "The crux is open.", "C-1-1")) == ["term"]


# ---------------------------------------------------------------- whatever is handed in


@given(
    st.lists(
        st.builds(
            MemoSentence,
            field=st.sampled_from(["answer", *SENTENCES]),
            text=st.text(min_size=1, max_size=200),
            refs=st.lists(st.sampled_from([*CONTEXT.cited, "C-9-9", "x"]), max_size=3).map(tuple),
            quote=st.none() | st.text(max_size=20),
            judgment=st.booleans(),
        ),
        max_size=8,
    )
)
def test_every_problem_names_a_sentence_and_says_a_line(sentences: list[MemoSentence]):
    for found in memo_problems(sentences, CONTEXT):
        assert found.sentence is None or 1 <= found.sentence <= len(sentences)
        assert found.text
        assert "\n" not in str(found)
        assert len(str(found)) < 400


@pytest.mark.parametrize(
    "part", ["9", "1,000", "likely (", "(", "WAL (", "very ", "C-1-1 ", "two hundred ", "\u00a0", "."]
)
def test_a_hostile_memo_is_read_at_once(part):
    text = (part * 8_000)[:8_000]
    cited = {"K-1": CitedText((part * 20_000,), "document")}
    sentences = [
        sentence("why", text, "K-1", quote=text),
        sentence("why", text[:1_000], "K-1", quote=text),
    ] * 5
    with bounded(part):
        memo_problems(sentences, msgspec.structs.replace(CONTEXT, cited=cited))
