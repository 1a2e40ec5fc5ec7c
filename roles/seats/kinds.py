"""Kinds of seat as people write them, and the families of models behind them.

word         as the ledger calls it     needs
anthropic    anthropic                  extra anthropic
openai       openai                     extra openai; so do ollama and openrouter
claude       command                    the program; so do codex, gemini and llm
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from ledger.events.envelope import SeatKind

KINDS: Final[Mapping[str, SeatKind]] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "ollama": "openai",
    "openrouter": "openai",
    "claude": "command",
    "codex": "command",
    "gemini": "command",
    "llm": "command",
    "command": "command",
    "host": "host",
    "human": "human",
    "tape": "tape",
}
MIX: Final = "mix"
"""What begins a specification of several: `mix:anthropic,openai`."""
OF_MANY_FAMILIES: Final = ("openai", "ollama", "openrouter", "llm")
"""Kinds whose family shows in the name of the model alone."""
OF_ONE_FAMILY: Final[Mapping[str, str]] = {
    "anthropic": "claude",
    "claude": "claude",
    "codex": "gpt",
    "gemini": "gemini",
}
MAKERS: Final[Mapping[str, str]] = {
    "claude": "anthropic",
    "gpt": "openai",
    "o": "openai",
    "chatgpt": "openai",
    "codex": "openai",
    "gemini": "google",
    "gemma": "google",
    "llama": "meta",
    "qwen": "alibaba",
    "qwq": "alibaba",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "mixtral": "mistral",
    "ministral": "mistral",
    "magistral": "mistral",
    "grok": "xai",
    "phi": "microsoft",
    "glm": "zhipu",
    "kimi": "moonshot",
}
"""Who made the models whose names begin so; whoever serves them did not make them another family."""
_SIBLINGS: Final[Mapping[str, str]] = {"o": "gpt", "chatgpt": "gpt", "codex": "gpt"}
_NAME: Final = re.compile(r"[A-Za-z]+")


def family_name(model: str | None) -> str | None:
    """The letters that a model's name begins with, behind its maker's: `qwen` of `ollama:qwen3:8b`, `claude` of
    `anthropic/claude-opus-5-5`."""
    name = _NAME.match((model or "").rpartition("/")[2])
    found = name[0].lower() if name else None
    return _SIBLINGS.get(found, found) if found else None


def declared_of(spec: str) -> str:
    """What an opening says of a seat: its kind, and the family of its model where the kind does not tell."""
    kind, _, rest = spec.partition(":")
    family = family_name(rest.partition("@")[0]) if kind in OF_MANY_FAMILIES else None
    return f"{kind}:{family}" if family else kind


def family_of_declared(declared: str) -> str:
    """The family of a seat by what an opening says of it; empty where that names none, as for commands and people."""
    kind, _, family = declared.partition(":")
    return OF_ONE_FAMILY.get(kind) or family or ("gpt" if kind == "openai" else "")
