"""Options of a request, and the simpler request to send after a server refuses one of them.

Capabilities are learned: the first request uses everything that the API documents. When a server refuses an option, the
next request leaves it out, and so do all later ones of the run.

    response_format, output_config   the next plainer form: schema, any JSON object, plain text
    the limit's name                 max_completion_tokens or max_tokens, then the other
    the limit's size                 the size that the server names, otherwise half
    stream_options                   without it, so tokens and cost of the reply are unknown
    the system message               its text moves to the start of the user's message
    cache_control                    without marks for the cache
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Form = Literal["envelope", "step", "json_object", "text"]
"""Format of the reply, from the one most often refused to the one that always works: a JSON schema (one small envelope
for all steps, or the step's own), any JSON object, plain text. Every reply is validated, whatever the format."""
Limit = Literal["max_completion_tokens", "max_tokens"]

TOKENS_OUT_MIN: Final = 512
"""Smallest limit that leaves room for a reply."""
REFUSES: Final = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses by which servers reject a field; 500 comes from chat templates that raise an error."""
# Servers have no common codes for these refusals, so the words of the known ones are matched.
_OF_FORM: Final = re.compile(
    r"response_format|output_config|output_format|json_schema|json_object|schema|grammar|structured",
    re.IGNORECASE,
)
_OF_SYSTEM: Final = re.compile(
    r"\bsystem['\"`]? ?(?:role|message|prompt|instruction)|role[^.]{0,40}\bsystem\b|roles? must alternate"
    r"|(?:unsupported|unknown|invalid|unexpected)[^.]{0,30}\bsystem\b|developer instruction|must start with a user",
    re.IGNORECASE,
)
_OF_SIZE: Final = re.compile(
    r"context[ _](?:length|window|size)|max(?:_completion|_new|_output)?_tokens|(?:completion|output|new|total) tokens"
    r"|maximum (?:number of )?tokens|too many tokens",
    re.IGNORECASE,
)
_CONTEXT: Final = re.compile(
    r"context[ _](?:length|window|size)[^0-9]{0,40}([0-9][0-9,_]{2,})", re.IGNORECASE
)
_PROMPT: Final = re.compile(
    r"([0-9][0-9,_]*)[^0-9,.;]{0,24}(?:in|from|of) (?:the |your )?(?:messages|prompt|input)"
    r"|(?:prompt|input|messages)[^0-9.;]{0,40}?([0-9][0-9,_]*)[^0-9]{0,10}tokens",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[0-9][0-9,_]*")


class Manner(NamedTuple):
    """Options of a request to a server."""

    forms: tuple[Form, ...]
    """Format of the reply, followed by the simpler ones to fall back to."""
    tokens_out_max: int
    limits: tuple[Limit, ...] = ("max_tokens", "max_completion_tokens")
    """Name of the limit's field, followed by the alternative where the API has two."""
    asks_usage: bool = True
    has_system: bool = True
    marks_cache: bool = True

    @property
    def form(self) -> Form:
        """Return the requested format of the reply."""
        return self.forms[0]

    @property
    def limit(self) -> Limit:
        """Return the name of the field that limits the reply."""
        return self.limits[0]


def without_refused(manner: Manner, words: str) -> tuple[Manner, str] | None:
    """Return the options without the one that a refusal names, and the change in words.

    Return None when it names none that can be left out.
    """
    smaller = _smaller(manner.tokens_out_max, words)
    # Each row: whether the refusal names an option, the options without it, the consequence, and the option. The size
    # comes before the name of its field, because a refusal of the size names the field as well.
    rows: tuple[tuple[object, Manner, str, object], ...] = (
        (
            manner.asks_usage and "stream_options" in words,
            manner._replace(asks_usage=False),
            "no count of tokens",
            "stream_options",
        ),
        (
            manner.marks_cache and "cache_control" in words,
            manner._replace(marks_cache=False),
            "no marks for the cache",
            "cache_control",
        ),
        (
            manner.has_system and _OF_SYSTEM.search(words),
            manner._replace(has_system=False),
            "no system message",
            "one",
        ),
        (
            smaller,
            manner._replace(tokens_out_max=smaller or 0),
            f"at most {smaller} tokens",
            manner.tokens_out_max,
        ),
        (
            manner.limits[1:] and manner.limit in words,
            manner._replace(limits=manner.limits[1:]),
            "".join(manner.limits[1:2]),
            manner.limit,
        ),
        (
            manner.forms[1:] and _OF_FORM.search(words),
            manner._replace(forms=manner.forms[1:]),
            f"replies as {''.join(manner.forms[1:2])}",
            f"the form {manner.form}",
        ),
    )
    for refuses, plainer, consequence, option in rows:
        if refuses:
            return plainer, f"{consequence} from now on, since the server does not take {option}"
    return None


def _smaller(requested: int, words: str) -> int | None:
    """Return a smaller limit if a refusal says that `requested` tokens are too many, else None."""
    numbers = [_number(text) for text in _NUMBER.findall(words)]
    if not numbers or not _OF_SIZE.search(words):
        return None
    context = _CONTEXT.search(words)
    if context is not None:
        size, prompt = _number(context[1]), _PROMPT.search(words)
        # A sixteenth of the context is left for the text that the server's template adds to the messages.
        # A refusal that does not give the size of the prompt leaves only a guess: half of the context.
        room = size - size // 16 - (_number(prompt[1] or prompt[2]) if prompt is not None else size // 2)
        # If the numbers do not add up, halving still ends after a few refusals.
        limit = min(room, requested // 2) if room >= requested else room
    else:
        limit = max(
            (number for number in numbers if TOKENS_OUT_MIN <= number < requested), default=requested // 2
        )
    return limit if TOKENS_OUT_MIN <= limit < requested else None


def _number(text: str) -> int:
    # Twelve digits are more than any context; a hostile server may send thousands.
    return int(re.sub(r"[^0-9]", "", text)[:12] or 0)
