"""A prompt that a server cut in silence is suspected by the count of its tokens; whole prompts never are."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Final

import pytest

from moot.view.trust import tokens_min
from tests.cli.conftest import Moot, moot
from tests.seats.test_registry import REPLY

__all__ = ["moot"]

ENGLISH: Final = "The gateway closes idle connections after one second, see the section above. "
CHINESE: Final = "服务器推送事件通过一个长连接把消息从服务器发送到浏览器。"
ARABIC: Final = "ترسل أحداث الخادم الرسائل من الخادم إلى المتصفح عبر اتصال واحد طويل الأمد. "
PROGRAM: Final = """
import json, sys
sys.stdin.read()
print(json.dumps({"seat": 1, "reply": json.loads(sys.argv[1]), "model": "m", "tokens_in": json.loads(sys.argv[2]),
                  "tokens_out": 90, "simulated": "fake"}))
"""


def trust(moot: Moot, place: Path, text: str, tokens: int | None) -> str:
    """The line on trust of a run with a document, whose server counted so many tokens. Scripted."""
    (place / "doc.md").write_text(text)
    (place / "program.py").write_text(PROGRAM)
    words = [sys.executable, str(place / "program.py"), json.dumps(REPLY), json.dumps(tokens)]
    seat = f"command:{shlex.join(words)}"
    ask = ("run", "-q", "Ready?", "--context", place / "doc.md", "--protocol", "single-pass", "--seats", seat)
    line: str = moot(*ask, "--out", place / "run", "--yes", "--json").json["outcome"]["trust"]
    return line


@pytest.mark.parametrize(
    ("text", "tokens"),
    [(ENGLISH * 600, 2_050), (ENGLISH * 600, 4_096), (CHINESE * 1_000, 4_096), (ARABIC * 800, 2_048)],
    ids=["english", "english-half", "chinese", "arabic"],
)
def test_a_cut_prompt_is_suspected(
    moot: Moot, tmp_path: Path, text: str, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")
    said = trust(moot, tmp_path, text, tokens)
    assert "1 of 1 prompt probably truncated by the server (r1.plan.solo" in said
    assert f"{tokens:,} tokens" in said
    assert "nothing else" not in said


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (ENGLISH * 600, 12_000),  # whole: 1.3 tokens per word
        (ENGLISH * 600, None),  # a server that counts nothing
        (ENGLISH * 600, 37),  # one that leaves out what it found in its cache
        (CHINESE * 1_000, 17_000),
        (ARABIC * 800, 14_000),  # 7 bytes per token
        ("| " + " " * 90 + "|\n" * 600, 3_000),
        ("x" * 60_000, 2_000),
    ],
    ids=["english", "uncounted", "uncached", "chinese", "arabic", "table", "one-word"],
)
def test_a_whole_prompt_is_not_suspected(
    moot: Moot, tmp_path: Path, text: str, tokens: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_OFFLINE_ALLOWS", "command")
    assert "truncated" not in trust(moot, tmp_path, text, tokens)


def test_the_bound_lies_below_every_tokenizer_that_was_measured() -> None:
    # Counted with o200k, cl100k, Llama 2, Llama 3 and Claude's published tokenizer: the fewest tokens of the five.
    zh = (
        "服务器推送事件通过一个长连接把消息从服务器发送到浏览器。与轮询相比，它减少了请求次数，"
        "也更容易通过代理服务器。如果客户端需要每秒发送多于一条消息，那么应当改用套接字。"
    )
    th = (
        "เหตุการณ์ที่เซิร์ฟเวอร์ส่งจะส่งข้อความจากเซิร์ฟเวอร์ไปยังเบราว์เซอร์"
        "ผ่านการเชื่อมต่อเดียวที่ยาวนาน พร็อกซีอาจปิดการเชื่อมต่อที่ไม่ได้ใช้งานหลังจากหกสิบวินาที "
    )
    vi = "Sự kiện do máy chủ gửi truyền tin nhắn từ máy chủ đến trình duyệt qua một kết nối duy nhất tồn tại lâu dài. "
    for text, fewest in (
        (zh * 40, 2_080),
        (th * 40, 2_640),
        (vi * 40, 1_084),
        (" a b c d e f g" * 300, 2_100),
    ):
        assert tokens_min(text) <= fewest
