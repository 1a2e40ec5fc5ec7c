"""Twenty-two public reports about comparable tools, each tried here: what happened there, and what is right.

The address stands in each docstring. Every test runs the real SDK against a local server, a real program, or the
command line as a process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from roles.seats.openai import OpenAISeat
from roles.seats.port import AttemptLost, Request, SeatFailed
from roles.seats.prices import read_prices
from roles.seats.registry import PROVIDERS
from tests.fake_api.faults import Fault, events, raw
from tests.fake_api.openai_rules import COMPATIBLE
from tests.fake_api.openai_server import FakeOpenAI
from tests.rounds.openings import begin, rows
from tests.seats.test_command import ask as ask_program
from tests.seats.test_odd_answers import (
    GOOD,
    USAGE,
    ask_anthropic,
    ask_openai,
    chunk,
    keys,
    last,
    refused_with,
    request_,
    until_answered,
)

__all__ = ["keys", "request_"]

COMMAND = (sys.executable, "-P", "-m", "moot")


def good(*_: object) -> str:
    return GOOD


def at(api: FakeOpenAI) -> OpenAISeat:
    return OpenAISeat("gpt-6.2-sol", api.row, prices=read_prices())


# ---------------------------------------------------------------- servers


def test_choices_that_are_null_lose_the_attempt_in_the_server_s_words(request_: Request) -> None:
    """github.com/langchain-ai/langchain/pull/35236: a TypeError about `choices` hid what the server had sent.

    Right: the attempt is lost, and its words are the server's.
    """
    body = {"choices": None, "message": "the engine is out of memory", "usage": USAGE}
    assert "the engine is out of memory" in refused_with(request_, raw(body)).detail


def test_an_answer_without_usage_is_kept_and_its_cost_unknown(request_: Request) -> None:
    """github.com/huggingface/smolagents/issues/1401: a stream without usage ended the agent.

    Right: the reply is whole; tokens and cost are unknown, not zero.
    """
    reply = ask_openai(request_, events(chunk(GOOD), chunk(finish="stop")))
    assert (reply.content, reply.tokens_in, reply.cost_usd) == (GOOD.encode(), None, None)


def test_usage_that_is_null_in_every_chunk_is_unknown(request_: Request) -> None:
    """github.com/ai-dynamo/dynamo/issues/1054: `usage: null` in each chunk broke clients that add it up.

    Right: null is no count; the one count at the end is taken.
    """
    reply = ask_openai(
        request_, events(chunk(GOOD, usage=None), chunk(finish="stop", usage=None), last(USAGE))
    )
    assert (reply.content, reply.tokens_in) == (GOOD.encode(), 900)


@pytest.mark.parametrize(
    "text",
    [
        "It uses `SSE`, as `requests` does.\n{good}",
        "```json\n{good}\n```",
        "```JSON\r\n{good}\r\n```\r\n",
        "```\n\n```\n{good}",
        "```bash\nmake test\n```\n\n```json\n{good}\n```",
        "```\nlet us weigh both {{first}}\n```\n{good}",
    ],
    ids=["prose", "in-a-fence", "upper-case", "empty-fence", "bash-first", "thoughts-in-a-fence"],
)
def test_backticks_in_and_around_a_reply_cost_it_nothing(request_: Request, text: str) -> None:
    """Four reports on fences: backticks inside a value, in the prose before it, and fences of other languages.

    github.com/langgenius/dify/issues/41958, github.com/vectorize-io/hindsight/issues/2542,
    github.com/NVIDIA-NeMo/labs-OO-Agents/pull/238, github.com/garrytan/gbrain/issues/2364: text between the first two
    fences was taken for the reply. Right: the one object that validates is the reply.
    """
    reply = json.loads(GOOD)
    reply["sections"][0]["text"] = "Use ```x``` and `print`: ```json {} ```"
    spelled = json.dumps(reply)
    answered = ask_openai(
        request_, text=text.replace("{{", "{").replace("}}", "}").replace("{good}", spelled)
    )
    assert json.loads(answered.content) == reply


def test_the_other_name_of_the_output_limit_is_tried_and_remembered(request_: Request) -> None:
    """github.com/anomalyco/opencode/issues/37964, github.com/microsoft/clarity-agent/issues/59: 400 for `max_tokens`.

    Right: one more request with the name that the message gives, and that name from then on.
    """
    error = {"message": "Unsupported parameter: 'max_tokens' is not supported with this model."
             " Use 'max_completion_tokens' instead.", "type": "invalid_request_error", "param": "max_tokens",
             "code": "unsupported_parameter"}  # fmt: skip

    def fault(_: int) -> Fault | None:
        return raw({"error": error}, code=400) if "max_tokens" in api.log[-1].body else None

    whole = {"model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": GOOD},
             "finish_reason": "stop"}], "usage": USAGE}  # fmt: skip

    def answers(n: int) -> Fault | None:
        return fault(n) or raw(whole)

    with FakeOpenAI(good, dialect=replace(COMPATIBLE, limit="max_completion_tokens"), fault=answers) as api:
        seat = at(api)
        assert until_answered(seat, request_).content == GOOD.encode()
        asked = len(api.log)
        assert until_answered(seat, request_).content == GOOD.encode()
        assert len(api.log) == asked + 1


def test_a_request_has_no_null_and_always_a_limit(request_: Request) -> None:
    """Three servers that take a field of null, or a missing limit, badly.

    github.com/LostRuins/koboldcpp/issues/643: `stop: null` crashed the server.
    github.com/vllm-project/vllm/issues/19862: `max_tokens: null` was an error 500.
    github.com/arbs-io/vscode-openai/issues/252: without a limit a server sent 16 tokens.
    Right: a field is sent with a value or not at all, and the limit is always sent.
    """
    with FakeOpenAI(good, dialect=COMPATIBLE) as api:
        until_answered(at(api), request_)
        (body,) = (asked.body for asked in api.log)
    assert None not in body.values()
    assert body.get("max_tokens") or body.get("max_completion_tokens")


@pytest.mark.parametrize(
    ("header", "low", "high"),
    [
        ("soon", None, None),
        ("-5", None, None),
        ("nan", None, None),
        ("7", 7.0, 7.0),
        ("a date", 1.0, 90.0),
    ],
    ids=["words", "negative", "nan", "seconds", "date"],
)
def test_a_wait_is_a_number_or_a_date_and_anything_else_is_none(
    request_: Request, header: str, low: float | None, high: float | None
) -> None:
    """github.com/earendil-works/pi/issues/9689: a malformed wait became no wait at all, and the server was hammered.

    github.com/duolahypercho/codex-router/pull/573: a date was read as a malformed number. Right: seconds and dates are
    kept; anything else leaves the usual growing wait.
    """
    if header == "a date":
        header = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    fault = Fault("status", 429, {"retry-after": header})
    lost = refused_with(request_, fault)
    assert lost.again
    if low is None or high is None:
        assert lost.wait_seconds is None
    else:
        assert lost.wait_seconds is not None
        assert low <= lost.wait_seconds <= high


def test_a_prompt_beyond_the_context_is_refused_once_with_the_size(request_: Request) -> None:
    """github.com/ollama/ollama/issues/17889: one server answers 400 and names its 4096, another cuts in silence.

    Right: the size is said, and the same prompt is not sent six times.
    """
    words = "input length 7900 exceeds the context length 4096"
    lost = refused_with(request_, raw({"error": {"message": words}}, code=400))
    assert "4096" in lost.detail
    assert not lost.again


def test_a_proxy_without_a_scheme_is_named(request_: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    """github.com/encode/httpx/issues/1082: with ALL_PROXY=127.0.0.1:7890 the error named neither proxy nor variable.

    Right: both are named, and not the server, which was never asked.
    """
    for name in (
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "NO_PROXY",
        "no_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALL_PROXY", "127.0.0.1:7890")
    seat = OpenAISeat("m", PROVIDERS["openai"].at("http://example.invalid/v1", {}), prices=read_prices())
    with pytest.raises(SeatFailed) as failed:
        until_answered(seat, request_)
    assert "through the proxy 127.0.0.1:7890" in failed.value.detail
    assert "ALL_PROXY" in failed.value.detail


def test_an_error_with_status_200_is_no_empty_reply(request_: Request) -> None:
    """github.com/UKGovernmentBEIS/inspect_ai/pull/3687: a 200 that is no completion raised a validation error.

    Right: the attempt is lost with the server's words, for both APIs.
    """
    for ask in (ask_openai, ask_anthropic):
        lost = refused_with(
            request_, raw({"object": "error", "message": "worker 3 is gone", "code": 50002}), ask
        )
        assert "worker 3 is gone" in lost.detail


# ---------------------------------------------------------------- programs


def test_a_program_out_of_time_is_answered_for_though_its_child_holds_the_pipe(tmp_path: Path) -> None:
    """github.com/dtzp555-max/ocp/issues/474: the killed program's child held stdout, and no answer was ever sent.

    Right: the attempt is lost at its time limit.
    """
    child = f"subprocess.Popen(['sh', '-c', 'sleep 20; touch {tmp_path}/late'], start_new_session=True)"
    with pytest.raises(AttemptLost):
        ask_program(tmp_path, f"import subprocess, time; {child}; time.sleep(60)", 1.0)
    assert not (tmp_path / "late").exists(), "the answer waited for the child"


def test_a_program_reads_its_input_to_the_end(tmp_path: Path) -> None:
    """github.com/ebibibi/ebi-agent-chat-relay/pull/162, github.com/alexknowshtml/smaug/issues/10: an open stdin hangs.

    Right: standard input is closed behind the prompt, so a program that reads it to its end goes on.
    """
    body = "import sys; read = sys.stdin.read(); assert sys.stdin.read() == ''; print('{}')"
    assert ask_program(tmp_path, body).content.strip() == b"{}"


def test_a_program_may_write_megabytes_to_stderr(tmp_path: Path) -> None:
    """github.com/openclaw/openclaw/pull/3304, github.com/tinyhumansai/openhuman/pull/2746: a full stderr pipe hangs.

    Right: stderr is read and cut.
    """
    body = "import sys; sys.stdin.read(); sys.stderr.write('x' * 9_000_000); print('{}')"
    assert ask_program(tmp_path, body).content.strip() == b"{}"


# ---------------------------------------------------------------- the command line


def moot(run: Path, *words: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run `moot WORDS` as a process."""
    environment = {**os.environ, **variables}
    return subprocess.run(
        [*COMMAND, *words],
        input=stdin,
        capture_output=True,
        env=environment,
        cwd=run.parent,
        check=False,
        timeout=60,
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    begin(tmp_path / "run", rows(1))
    return tmp_path / "run"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp932"])
def test_a_console_that_cannot_show_a_sign_shows_the_rest(run: Path, encoding: str) -> None:
    """github.com/Aider-AI/aider/issues/4279, github.com/agentrust-io/cmcp/issues/396: a sign ended the command.

    Right: what the encoding lacks is replaced, and the exit code stays.
    """
    shown = moot(run, "status", str(run), PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert shown.returncode == moot(run, "status", str(run)).returncode
    assert b"Traceback" not in shown.stderr
    assert b"answer" in shown.stdout


def test_bytes_that_are_no_text_are_refused_by_name(run: Path) -> None:
    """github.com/simonw/llm/issues/225: bytes that are not UTF-8 on standard input ended in a UnicodeDecodeError.

    Right: one line that says which byte it is, and the reply can be handed in again.
    """
    step = json.loads(moot(run, "next", str(run), "--json").stdout)["steps"][0]["step"]
    refused = moot(run, "submit", str(run), step, "-", stdin=b"caf\xe9 \xff\xfe\x00")
    assert refused.returncode == 1, "a reply that is refused, and can be handed in again"
    assert b"not UTF-8 at byte 3" in refused.stderr
    assert refused.stderr.count(b"\n") == 1


def test_a_reader_that_stops_early_is_no_error(run: Path) -> None:
    """github.com/Backblaze/B2_Command_Line_Tool/issues/1071: `| head` gave a traceback of a broken pipe.

    Right: nothing is said.
    """
    line = 'set -o pipefail; "$@" | head -c 1 >/dev/null'
    ended = subprocess.run(
        ["bash", "-c", line, "bash", *COMMAND, "log", str(run), "--json"],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert ended.stderr == b""


def test_a_file_with_windows_line_ends_has_the_lines_of_its_editor(tmp_path: Path) -> None:
    """github.com/coder/xum/pull/1567: carriage returns of a new file made extra lines and wrong numbers in a review.

    Right: a change is numbered like the file in an editor, and no carriage return is in the prompt.
    """
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.invalid", "-c", "core.autocrlf=false"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "a.py").write_bytes(b"one = 1\r\ntwo = 2\r\nthree = one / 0\r\n")
    for words in (["add", "a.py"], ["commit", "-q", "-m", "two"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True, capture_output=True)
    options = ("--protocol", "single-pass", "--context", "git:HEAD~1..HEAD", "--seats", "host")
    begun = moot(tmp_path / "runs", "run", "-q", "Is it right?", *options)
    assert begun.returncode == 4, begun.stderr
    text = moot(tmp_path / "runs", "next", "@last", "r1.plan.solo").stdout.decode()
    assert "\r" not in text
    assert "three = one / 0" in text
