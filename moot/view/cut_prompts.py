"""Prompts that a server probably cut: it counted fewer tokens than the prompt can be.

Ollama and servers like it drop what does not fit into their context, and say nothing. Only the count of tokens tells.
What a token is differs by model, so the bound is one that holds for all: a word between spaces is at least one token,
and so are four characters of a script that puts no spaces between words.

Measured with five tokenizers (o200k, cl100k, Llama 2, Llama 3, Claude) on recorded prompts and on texts in 11
languages, code, logs and tables: prompts take 1.39 to 2.62 tokens per word, nothing takes less than 1.00. Chinese,
Japanese, Korean and Thai take 0.42 or more per character. A bound in bytes would not do: English prompts have 2.8 to
4.3 bytes per token, Arabic, Russian, Hindi and Thai up to 8.1, a padded table 9.2. So in English a cut of less than a
third stays unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ledger.plain_text import counted
from ledger.state.book import Book
from ledger.store.blobs import named_by_brief

TOKENS_MIN: Final = 1_000
"""A smaller count is no whole prompt: some servers only count tokens that were not in their cache."""
UNSPACED_CHARACTERS_PER_TOKEN: Final = 4
# Thai to Tibetan, Myanmar, Khmer; Chinese, Japanese, and Korean, which has spaces but is written as densely.
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]"
)


class CutPrompt(NamedTuple):
    """An attempt whose server counted fewer tokens than its prompt has at least."""

    step: str
    tokens: int
    tokens_min: int


def cut_prompts(book: Book) -> list[CutPrompt]:
    """Return the attempts whose prompt was probably cut, in the order of the ledger."""
    counts: dict[str, int] = {}

    # Prompts are large and shared by repair attempts, so each is read and counted once.
    def least(sha256: str) -> int:
        if sha256 not in counts:
            # A missing blob counts as 0 tokens, so a redacted prompt never raises the suspicion.
            counts[sha256] = tokens_min((book.blobs.read(sha256) or b"").decode("utf-8", "replace"))
        return counts[sha256]

    return [
        CutPrompt(step, tokens, prompt)
        for step, brief, tokens in _counted(book)
        if tokens
        # The server receives the blocks of the brief and the reply schema, which are blobs of their own.
        < (prompt := sum(least(named.sha256) for named in named_by_brief(book.blobs.read(brief) or b"")))
    ]


def _counted(book: Book) -> Iterator[tuple[str, str, int]]:
    """Yield step, brief and tokens of every attempt whose server counted a whole prompt."""
    for event in book.events:
        for attempt in event.call.attempts if event.call is not None else ():
            if attempt.tokens_in is not None and attempt.tokens_in >= TOKENS_MIN:
                yield event.step or "", attempt.brief, attempt.tokens_in


def tokens_min(text: str) -> int:
    """Return a number of tokens that no model falls below for a text."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // UNSPACED_CHARACTERS_PER_TOKEN


def cut_told(cut: list[CutPrompt], prompts: int) -> str:
    """Return the suspicion in words; empty without one."""
    if not cut:
        return ""
    first, steps = cut[0], len({prompt.step for prompt in cut})
    return (
        f"{steps} of {counted(prompts, 'prompt')} probably truncated by the server ({first.step}: it counted"
        f" {first.tokens:,} tokens of at least {first.tokens_min:,}): set its context length, see docs/seats.md"
    )
