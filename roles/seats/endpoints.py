"""Where the `openai` seat asks: one row an address, with what is known of the server behind it.

    openai[:MODEL]       api.openai.com, or the compatible server that OPENAI_BASE_URL names
    openai:MODEL@URL     a compatible server, named with the seat
    ollama:MODEL         Ollama, here or at OLLAMA_HOST
    openrouter:MODEL     OpenRouter

A key goes to the address that it was made for and to no other: OPENAI_API_KEY never reaches Ollama, OpenRouter or a URL
that was named with a seat.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from roles.seats.api import TOKENS_OUT_MAX
from roles.seats.manner import Form, Limit

MODEL: Final = "gpt-6.2-sol"
"""What sits at api.openai.com when no model is named."""
OFFICIAL: Final = "https://api.openai.com/v1"
OLLAMA: Final = "http://127.0.0.1:11434/v1"
OPENROUTER: Final = "https://openrouter.ai/api/v1"
SMALL_TOKENS_OUT_MAX: Final = 8_192
"""Of one reply of a server of open models, whose contexts are smaller; prompt and reply have to fit in together."""
NO_KEY: Final = "not-needed"
"""What is sent in place of a key to a server that asks for none; the SDK will not send nothing."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address that speaks the Chat Completions API, and how."""

    name: str
    """The provider, as the ledger has it: `openai`, `ollama`, `openrouter`, or `compatible` for any other."""
    url: str
    key_variable: str | None
    needs_key: bool
    forms: tuple[Form, ...]
    limit: Limit
    tokens_out_max: int = SMALL_TOKENS_OUT_MAX
    is_free: bool = False
    """Whether a reply costs nothing: the model runs on somebody's own machine."""
    says_usd: bool = False
    """Whether the service itself says what a reply cost."""
    no_model: str = "no such model or address: check the model's name and the address"

    @property
    def is_official(self) -> bool:
        """Whether this is OpenAI's own service, which takes what other servers may not know."""
        return self.name == "openai"

    @property
    def key(self) -> str:
        """The key for this address, from the environment; empty when there is none."""
        return os.environ.get(self.key_variable, "").strip() if self.key_variable else ""

    @property
    def stays_here(self) -> bool:
        """Whether the address is this machine."""
        return urlsplit(self.url).hostname in LOOPBACK


def openai_endpoint(environment: Mapping[str, str], url: str | None = None) -> Endpoint:
    """Where `openai` asks: the URL that was named with it, else OPENAI_BASE_URL, else OpenAI."""
    said = url or environment.get("OPENAI_BASE_URL") or OFFICIAL
    if urlsplit(said).hostname == urlsplit(OFFICIAL).hostname:
        return Endpoint(
            "openai",
            said,
            "OPENAI_API_KEY",
            needs_key=True,
            forms=("envelope", "json_object", "text"),
            limit="max_completion_tokens",
            tokens_out_max=TOKENS_OUT_MAX,
            no_model="no such model or address: check the model's name and OPENAI_BASE_URL",
        )
    return Endpoint(
        "compatible",
        said,
        "OPENAI_COMPATIBLE_API_KEY" if url else "OPENAI_API_KEY",
        needs_key=False,
        forms=("step", "json_object", "text"),
        limit="max_tokens",
        no_model="no such model or address: check the model's name, and the address, which mostly ends in /v1",
    )


def ollama_endpoint(environment: Mapping[str, str], model: str) -> Endpoint:
    """Where `ollama` asks: here, or at OLLAMA_HOST as Ollama itself reads it. A model of its cloud is not free."""
    return Endpoint(
        "ollama",
        ollama_url(environment.get("OLLAMA_HOST", "")),
        None,
        needs_key=False,
        forms=("step", "json_object", "text"),
        limit="max_tokens",
        is_free=not is_of_cloud(model),
        no_model=f"no such model there: ollama pull {model}",
    )


def openrouter_endpoint() -> Endpoint:
    """Where `openrouter` asks."""
    return Endpoint(
        "openrouter",
        OPENROUTER,
        "OPENROUTER_API_KEY",
        needs_key=True,
        forms=("envelope", "json_object", "text"),
        limit="max_tokens",
        tokens_out_max=TOKENS_OUT_MAX,
        says_usd=True,
        no_model="no such model there: https://openrouter.ai/models lists them, as MAKER/MODEL",
    )


def is_of_cloud(model: str) -> bool:
    """Whether a model that Ollama names runs in its cloud: `gpt-oss:120b-cloud`, `glm-4.6:cloud`."""
    return model.endswith(("-cloud", ":cloud"))


def ollama_url(host: str) -> str:
    """OLLAMA_HOST as an address: `http://`, port 11434 and this machine stand in for what it leaves out."""
    if not host:
        return OLLAMA
    parts = urlsplit(host if "://" in host else f"http://{host}")
    name = parts.hostname or "127.0.0.1"
    name = (
        "127.0.0.1" if name == "0.0.0.0" else name
    )  # where it listens is everywhere; where it is asked is here
    port = parts.port or (443 if parts.scheme == "https" else 80 if "://" in host else 11434)
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}:{port}{parts.path.rstrip('/')}/v1"
