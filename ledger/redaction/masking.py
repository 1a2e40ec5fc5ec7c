"""Masking: keys, tokens and passwords are removed from a text before any of it is cut, kept or shown.

    stderr of a program   "… 401 for gw-Zx81hQ… (Authorization: Bearer eyJhb…)"   →   "… 401 for [key] ([key])"

Masked are every secret of this process's environment (the value of a variable whose name says key, token, secret,
password, …), however it is escaped, and anything with the shape of a common key. Masking comes before cutting: half of
a key matches no shape.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from ledger.redaction.words import Place, folded, placed_readings, readings

MASK: Final = "[key]"
SECRET_CHARACTERS_MIN: Final = 8
"""A shorter value is a switch or a number: taking it out would spoil words that have nothing to do with it."""
SPELLED_CHARACTERS_MAX: Final = 12
"""As which one character may be written: an escape in an escape."""
HELD_CHARACTERS_MAX: Final = 4_096
"""Of a stream, waiting for the end of a word."""

_SAYS_SECRET: Final = re.compile(
    r"(?:key|token|secret|cookie|headers?)s?(?=_|[0-9]|$)|passw|passphrase|passcode|(?:^|_)(?:pass|pat|pw|salt)$|(?<!^)(?<!old)pwd$"
    r"|credential|bearer|webhook|auth(?!or(?!i[sz]))|jwt|dsn$",
    re.IGNORECASE,
)
_SAYS_OTHERWISE: Final = re.compile(
    r"(?:^|_)(?:file|paths?|dir|home|sock|socket|store|name|id|type|helper|algorithm|provider|region|user|max|min|limit"
    r"|size|count|length|ttl|timeout|seconds|expiry|(?<!webhook_)url|uri|host|port|endpoint|version|mode|enabled)$",
    re.IGNORECASE,
)
_PAIR: Final = re.compile(r"(?:^|[;?&])\s*([A-Za-z0-9_ .-]{1,40}?)\s*=\s*([^;&#\s]+)")
"""A pair in a value of several: `Server=db;Password=hunter2secret`, `https://x/?api_key=…`."""
_SETTINGS: Final = frozenset(
    (
        *("anonymous", "development", "disabled", "enabled", "external"),
        *("optional", "password", "production", "required", "username"),
    )
)
"""Values that are words of every day, not secrets."""
_SHAPES: Final = re.compile(
    r"""
    \bsk-[A-Za-z0-9_-]{8,}                                                      # Anthropic, OpenAI
  | \b[spr]k_(?:live|test)_[A-Za-z0-9]{8,}                                      # Stripe
  | \b(?:gh[pousr]_|github_pat_|glpat-|hf_|xox[abeprs]-|npm_|pypi-|dop_v1_|gsk_|xai-|AIza|ya29\.)[A-Za-z0-9_.-]{12,}
  | \b(?:AKIA|ASIA)[A-Z0-9]{16}\b
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?              # JSON Web Tokens
  | (?i:\b(?:bearer|basic))\x20(?=[A-Za-z0-9._~+/-]*[0-9])[A-Za-z0-9._~+/-]{8,}=*
  | (?<=://)[^\s/@:"'\\]{1,200}:[^\s/@"'\\]{1,200}(?=@)                          # user:password in an address
  | PRIVATE\+KEY\+[A-Za-z0-9+/=._-]{8,}                                         # what `moot seal --new-key` writes
  | -----BEGIN\x20[A-Z0-9\x20]{0,40}PRIVATE\x20KEY-----.*?(?:-----END\x20[A-Z0-9\x20]{0,40}-----|\Z)
    """,
    re.VERBOSE | re.DOTALL,
)
_UNFINISHED: Final = re.compile(r"(?:(?i:bearer|basic)|-----BEGIN\b(?:(?!-----END).)*)\s*\Z", re.DOTALL)


def masked(text: str, *, also: tuple[str, ...] = ()) -> str:
    """Return `text` without secrets: those of the environment, what looks like a key, and `also`."""
    return _mask(frozenset(os.environ.items()), also)(text)


@lru_cache(maxsize=8)
def _mask(environment: frozenset[tuple[str, str]], also: tuple[str, ...]) -> Mask:
    # Every reply is masked several times, and the environment of a process hardly ever changes.
    return Mask((*secrets_of(dict(environment)), *also))


def excerpt(text: str, characters_max: int) -> str:
    """Return the beginning of `text`, masked before it is cut."""
    return masked(text)[:characters_max]


def secrets_of(environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the values in an environment that must stay secret."""
    for name, value in environment.items():
        if "://" in value and "@" in value:
            yield from _of_address(value)
        yield from (secret for key, secret in _PAIR.findall(value) if _SAYS_SECRET.search(key))
        if _SAYS_SECRET.search(name) and not _SAYS_OTHERWISE.search(name):
            yield value
            yield from _parts(value)


def _parts(value: str) -> Iterator[str]:
    """Yield the secrets in a value of several parts: headers, cookies, `name:secret` pairs."""
    for line in re.split(r"[\r\n;,]+", value):
        yield re.split(r"[:=]\s*", line, maxsplit=1)[-1]
        yield line.strip().rpartition(" ")[2]


def _of_address(value: str) -> Iterator[str]:
    try:
        password = urlsplit(value).password
    except ValueError:
        return
    if password:
        yield unquote(password)


class Mask:
    """Callable that removes secrets from texts."""

    def __init__(self, secrets: tuple[str, ...]) -> None:
        written = {spelling for secret in secrets for spelling in (folded(secret), secret.strip())}
        self._secrets = frozenset(
            secret
            for secret in written
            # A variable named like a secret may hold "production". Masking that word everywhere would destroy
            # the text.
            if len(secret) >= SECRET_CHARACTERS_MIN and secret.lower() not in _SETTINGS
        )

    def __call__(self, text: str) -> str:
        """Return `text` with `[key]` for every secret, and for a piece of one that a cut left at either end."""
        places = self._places(text)
        pieces: list[str] = []
        done = 0
        for begin, end in places:
            if begin >= done:
                pieces += (text[done:begin], MASK)
            done = max(done, end)
        return "".join((*pieces, text[done:]))

    def safe_cut(self, text: str) -> int:
        """Return how many characters at the beginning of a stream can be masked by themselves.

        They end with a word that lies outside every secret.
        """
        blank = max((len(secret) for secret in self._secrets if " " in secret), default=0)
        within = len(text) - blank * SPELLED_CHARACTERS_MAX
        cut = next((at for at in range(within, 0, -1) if text[at - 1].isspace()), 0)
        # A stream without white space would be held forever. Beyond the bound it is cut anyway, outside known
        # secrets.
        if within - cut > HELD_CHARACTERS_MAX:
            cut = within - HELD_CHARACTERS_MAX // 2
        for begin, end in reversed(self._places(text)):
            if begin < cut < end:
                cut = begin
        # `Bearer` or a PEM header at the cut announces a key that has not arrived yet.
        unfinished = _UNFINISHED.search(text[:cut])
        return unfinished.start() if unfinished else cut

    def _places(self, text: str) -> list[Place]:
        """Return the places of secrets in `text`, both as they are and as it escapes them."""
        places = set(self._matches(text))
        # Placing every character of every reading is slow, so it runs only when some reading holds a secret.
        if any(True for reading in readings(text) for _ in self._matches(reading)):
            for reading in placed_readings(text):
                places.update(reading.place(begin, end) for begin, end in self._matches(reading.text))
        return sorted(places)

    def _matches(self, text: str) -> Iterator[Place]:
        yield from (match.span() for match in _SHAPES.finditer(text) if match.end() > match.start())
        for secret in self._secrets:
            at = text.find(secret)
            while at >= 0:
                yield at, at + len(secret)
                # The search goes on one character later, because occurrences of a secret may overlap.
                at = text.find(secret, at + 1)
            yield from _cut_off(text, secret)


def _cut_off(text: str, secret: str) -> Iterator[Place]:
    """Yield a piece of a secret at the beginning or the end of a text that was cut elsewhere."""
    longest = min(len(text), len(secret) - 1)
    for length in range(longest, SECRET_CHARACTERS_MIN - 1, -1):
        # A program may print only the first bytes of a key, or a buffer may end inside it. Eight characters are
        # enough to mask.
        if text.endswith(secret[:length]):
            yield len(text) - length, len(text)
            break
    for length in range(longest, SECRET_CHARACTERS_MIN - 1, -1):
        if text.startswith(secret[-length:]):
            yield 0, length
            break


class MaskedStream:
    """Masked output of a text that arrives in pieces: what may be the beginning of a secret waits for its end.

    Whole words are passed on, so a key that spans two pieces is seen whole. `end` passes on the rest.
    """

    def __init__(self, pass_on: Callable[[str], object]) -> None:
        self._pass_on = pass_on
        self._mask = Mask(tuple(secrets_of(os.environ)))
        self._held = ""

    def __call__(self, piece: str) -> None:
        """Take a piece and pass on what can be masked by now."""
        self._held += piece
        if not any(map(str.isspace, piece)) and len(self._held) <= HELD_CHARACTERS_MAX:
            return
        cut = self._mask.safe_cut(self._held)
        if cut:
            self._say(self._held[:cut])
            self._held = self._held[cut:]

    def end(self) -> None:
        """Pass on the rest, after the last piece."""
        if self._held:
            self._say(self._held)
        self._held = ""

    def _say(self, text: str) -> None:
        self._pass_on(self._mask(text))
