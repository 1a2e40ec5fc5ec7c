"""Masking: no secret of the environment and nothing that looks like a key is left in a text, however it is written."""

from __future__ import annotations

import json
import random
from urllib.parse import quote

import pytest

from ledger.redaction.masking import MASK, Mask, MaskedStream, excerpt, masked, secrets_of
from ledger.redaction.words import placed_readings, readings

GATEWAY = 'gw/Zx81hQ+77Lm"n0p=='


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Secrets as people have them."""
    monkeypatch.setenv("GATEWAY_TOKEN", GATEWAY)
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Gateway-Key: hdr-0123456789\nX-Other: second-secret-77")
    monkeypatch.setenv("DATABASE_URL", "postgres://moot:p%40ssw0rd-long@db/x")
    monkeypatch.setenv("VAULT_PASSPHRASE", "correct horse battery staple")


def spelled(text: str, rng: random.Random) -> str:
    """`text` in one of the ways in which JSON and addresses write it."""
    ways = (
        lambda one: one,
        lambda one: f"\\u{ord(one):04x}",
        lambda one: f"\\u{ord(one):04X}",
        lambda one: f"\\\\u{ord(one):04x}",
        lambda one: json.dumps(one)[1:-1],
        lambda one: json.dumps(json.dumps(one))[2:-2][1:-1] or one,
        lambda one: "\\/" if one == "/" else one,
        lambda one: quote(one, safe=""),
        lambda one: f"&#{ord(one)};",
    )
    return "".join(rng.choice(ways)(one) for one in text)


@pytest.mark.parametrize(
    "secret",
    [
        GATEWAY,
        "hdr-0123456789",
        "second-secret-77",
        "p@ssw0rd-long",
        "correct horse battery staple",
        "sk-ant-api03-abcdefgh_IJKL",
        "ghp_0123456789abcdefghij",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
    ],
)
def test_a_secret_is_masked_however_it_is_written(secret: str) -> None:
    """F-12: keys that come back in escapes are keys."""
    rng = random.Random(secret)
    for _ in range(60):
        said = f"before {spelled(secret, rng)} behind"
        assert masked(said) == f"before {MASK} behind", said


def test_what_is_no_secret_stays() -> None:
    """A mask that eats words would make false what is shown."""
    for text in (
        "a basic understanding of tokens, keys and the bearer of news",
        "https://example.org/a:b/c@d, C:\\new\\table, 100%25 \\u0041",
        "development",
    ):
        assert masked(text) == text
    assert not list(
        secrets_of(
            {
                "TOKENIZERS_PARALLELISM": "false-or-so",
                "KEYCLOAK_MODE": "standalone",
                "SSH_AUTH_SOCK": "/tmp/ssh-agent.sock",
                "PWD": "/home/somebody/work",
                "AUTHOR": "Somebody Else",
                "API_KEY_FILE": "/run/secrets/api",
            }
        )
    )


def test_the_mask_comes_before_the_cut() -> None:
    """F-3: half of a key is a key that no shape fits."""
    for at in range(60):
        said = excerpt("x" * at + " " + GATEWAY + " sk-ant-abcdefghijklmnop", 40)
        assert not any(GATEWAY[n : n + 6] in said for n in range(len(GATEWAY) - 6)), said
    for length in range(8, len(GATEWAY)):
        assert masked("tail: " + GATEWAY[:length]) == f"tail: {MASK}"
        assert masked(GATEWAY[-length:] + " is the end") == f"{MASK} is the end"


def test_a_secret_that_the_pieces_of_a_stream_cut_is_masked() -> None:
    """F-12: a key cut by stream deltas never stands in what is passed on."""
    rng = random.Random(12)
    known = (GATEWAY, "correct horse battery staple", "sk-ant-api03-abcdefgh_IJKL", "Bearer 0123abcd4567")
    for _ in range(100):
        secret = rng.choice(known)
        told = f"one two {spelled(secret, rng) if ' ' not in secret else secret} three. " * rng.randint(1, 3)
        heard: list[str] = []
        stream = MaskedStream(heard.append)
        looked_at = 0
        while told:
            length = rng.randint(1, 9)
            stream(told[:length])
            told = told[length:]
            assert not any(secret[:6] in said for one in heard[looked_at:] for said in readings(one)), heard
            looked_at = len(heard)
        stream.end()
        said = "".join(heard)
        assert said.count(MASK) == said.count("three"), said
        assert secret not in said


def test_a_stream_without_blanks_is_passed_on_and_ended() -> None:
    """What is held is bounded."""
    heard: list[str] = []
    stream = MaskedStream(heard.append)
    for _ in range(400):
        stream("x" * 100)
    assert sum(map(len, heard)) > 20_000
    stream.end()
    assert "".join(heard) == "x" * 40_000


def test_placed_readings_are_the_readings_and_say_where() -> None:
    """Two ways to read a text, one of them with places."""
    rng = random.Random(3)
    alphabet = 'aé\u0301\u0323 \n\\nu0061/"%41&amp;;\ufb01\u200b\ud7a3'
    for _ in range(3_000):
        text = "".join(rng.choice(alphabet) for _ in range(rng.randint(0, 25)))
        placed = list(placed_readings(text))
        assert [reading.text for reading in placed] == list(readings(text))
        for reading in placed:
            assert len(reading.begins) == len(reading.ends) == len(reading.text)
            places = zip(reading.begins, reading.ends, strict=True)
            assert all(0 <= begin < end <= len(text) for begin, end in places)


def test_a_short_value_is_no_secret() -> None:
    """Taking out `true` or `8080` would spoil everything."""
    assert Mask(("true", "8080", "", "  "))("it is true on 8080") == "it is true on 8080"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("DB_PASS", "opaque-value-77", "opaque-value-77"),
        ("GITHUB_PAT", "opaque-value-77", "opaque-value-77"),
        (
            "SLACK_WEBHOOK_URL",
            "https://hooks.example/services/T0/B0/x7Kq",
            "https://hooks.example/services/T0/B0/x7Kq",
        ),
        ("STORE", "Server=db;Database=ordinary;Password=opaque-value-77;", "opaque-value-77"),
        ("ENDPOINT", "https://x.example/v1?mode=ordinary&api_key=opaque-value-77", "opaque-value-77"),
    ],
)
def test_secrets_go_by_other_names(
    name: str, value: str, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F-3: short words for a password, and a secret among the parts of a value; the other parts stay words."""
    monkeypatch.setenv(name, value)
    assert secret not in masked(f"refused {secret} for good")
    assert masked("an ordinary database") == "an ordinary database"


@pytest.mark.parametrize(
    ("name", "value"),
    [("SSH_ASKPASS", "/usr/bin/askpass"), ("BYPASS", "everything"), ("PATHS", "a=ordinary;b=words")],
)
def test_ordinary_values_are_no_secrets(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F-3: what only looks like such a name."""
    monkeypatch.setenv(name, value)
    assert masked(f"see {value} there") == f"see {value} there"
