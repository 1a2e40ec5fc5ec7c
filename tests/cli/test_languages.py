"""Questions, replies and memos in languages other than English, from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Moot, Said

FRAME: dict[str, Any] = {"ill_posed": False, "why": None, "missing": [], "double": [], "two_readings": []}
REASONS = ["崩溃之后只有一个未完成的结尾需要检查。", "每次提交只需要一次同步。"]
LIMIT = "如果每天写入超过5000次，一个文件会成为瓶颈。"
ANSWER = {
    "answer": None,
    "forecast": [{"option": "O-1", "points": 95}, {"option": "O-2", "points": 5}],
    "reasons": REASONS,
    "could_be_wrong": [LIMIT],
    "cruxes": [],
}


def sentence(field: str, text: str, *refs: str) -> dict[str, Any]:
    return {"field": field, "text": text, "refs": refs, "quote": None, "judgment": not refs}


def memo(text: str, ref: str) -> dict[str, Any]:
    sentences = [
        sentence("answer", "写一个文件。", "S-1-B-action#reason-1"),
        sentence("do_now", "先写好提交的规则。"),
        sentence("why", text, ref),
    ]
    return {"answers": "O-1", "why_not_leader": None, "sentences": sentences}


def submit(moot: Moot, step: str, reply: object) -> Said:
    Path("reply.json").write_text(json.dumps(reply, ensure_ascii=False), "utf-8")
    return moot("submit", "run", step, "reply.json")


@pytest.fixture
def at_memo(moot: Moot) -> str:
    """A crux in Chinese, answered by a script up to its memo; the step of the memo."""
    options = ("--option", "一个文件", "--option", "三个文件")
    moot("run", "-q", "日志应该写一个文件还是三个文件？", *options, "--seats", "host", "--out", "run")
    for _ in range(8):
        step = moot("next", "run", "--json").json["steps"][0]
        kind = step["schema"]["$ref"].rsplit("/")[-1]
        if kind == "MemoReply":
            return str(step["step"])
        assert submit(moot, step["step"], FRAME if kind == "FrameReply" else ANSWER).code == 0
    raise AssertionError("no memo is asked for")


def test_a_number_of_a_chinese_memo_stands_in_what_it_cites(moot: Moot, at_memo: str) -> None:
    accepted = submit(moot, at_memo, memo(LIMIT, "S-1-B-action#defeater-1"))
    assert accepted.code == 0, accepted.err


def test_an_invented_number_of_a_chinese_memo_is_refused(moot: Moot, at_memo: str) -> None:
    refused = submit(moot, at_memo, memo("测试显示一个文件快87倍(这是 说明)。", "S-1-B-action#reason-2"))
    assert refused.code == 1
    assert "87 is not in what it cites" in refused.err


def test_a_limit_of_words_holds_in_chinese_and_says_how_it_is_counted(moot: Moot) -> None:
    moot(
        "run",
        "-q",
        "一个还是三个？",
        "--option",
        "一个",
        "--option",
        "三个",
        "--seats",
        "host",
        "--out",
        "run",
    )
    submit(moot, "r1.A.verifier", FRAME)
    step = moot("next", "run", "--json").json["steps"][0]["step"]
    refused = submit(moot, step, ANSWER | {"reasons": ["字" * 51]})
    assert refused.code == 1
    assert "reasons[0]: 26 words, 25 at most (two characters are a word)" in refused.err
    assert submit(moot, step, ANSWER | {"reasons": ["字" * 50]}).code == 0


@pytest.mark.parametrize("text", ["写一个文件就够了，因为每次提交只需要一次同步。" * 6, "ไฟล์เดียวก็พอ" * 20])
def test_the_words_of_a_reply_are_counted(moot: Moot, text: str) -> None:
    moot("run", "-q", "日志写一个文件吗？", "--protocol", "single-pass", "--seats", "host", "--out", "run")
    criticism = {
        "text": text[:60], "disposition": "rejected", "reason": text[:60], "revision": None,
        "question": None,
    }  # fmt: skip
    criticisms = [criticism | {"claim": claim} for claim in ("一", "二", "三")]
    reply = {
        "plan": text, "assumptions": [{"text": text[:40], "unrequested": True}],
        "criticisms": criticisms,
        "decision": text[:40], "revised": text[:60], "confidence": 3, "falsifiers": [text[:40]], "requirements": [],
    }  # fmt: skip
    said = submit(moot, "r1.plan.solo", reply)
    assert said.code == 0, said.err
    claims = [json.loads(line) for line in Path("run/claims.jsonl").read_bytes().splitlines()]
    assert max(event.get("words", 0) for event in claims) > 50


@pytest.mark.parametrize(
    "question",
    [
        "我们应该删除所有客户的生产数据吗？",
        "本番データを削除しますか？",
        "운영 데이터를 삭제할까요?",
        "هل نحذف بيانات العملاء؟",
        "क्या हम डेटा हटाएँ?",
        "Sollen wir die Daten löschen?",
    ],
)
def test_the_gate_says_which_language_its_cues_know(moot: Moot, question: str) -> None:
    said = moot("gate", question)
    assert said.out.startswith("crux:")
    assert "the cues know English, and this question is in another language" in said.out
