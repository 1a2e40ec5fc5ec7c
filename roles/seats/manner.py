"""How a request is put to a server, and what is left out once the server has refused it.

Capabilities are learned: the first request asks for all that its API documents. When a server refuses a part, the
next request leaves that part out, and so do all later ones of the run.

    response_format, output_config   the next plainer form: schema, any JSON object, plain text
    the limit's name                 max_completion_tokens or max_tokens, then the other
    the limit's size                 what the server says it can do, otherwise half of it
    stream_options                   then without: tokens and cost of the reply are unknown
    the system message               then its text begins the user's message
    cache_control                    then without marks for the cache
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Form = Literal["envelope", "step", "json_object", "text"]
"""How a reply is asked for, from what a server may refuse to what none can: a JSON schema (one small envelope for all
steps, or the step's own), any JSON object, plain text. Each reply is validated all the same."""
Limit = Literal["max_completion_tokens", "max_tokens"]

TOKENS_OUT_MIN: Final = 512
"""Less than this holds no reply."""
REFUSES: Final = frozenset({400, 404, 415, 422, 500, 501})
"""Statuses by which servers say that they do not take a field; 500 comes from chat templates that raise."""
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
    """What a request asks of a server."""

    forms: tuple[Form, ...]
    """The form that is asked for, and the plainer ones after it."""
    tokens_out_max: int
    limits: tuple[Limit, ...] = ("max_tokens", "max_completion_tokens")
    """The name of the limit, and the other one where the API knows two."""
    asks_usage: bool = True
    has_system: bool = True
    marks_cache: bool = True

    @property
    def form(self) -> Form:
        """How the reply is asked for."""
        return self.forms[0]

    @property
    def limit(self) -> Limit:
        """The field that bounds the reply."""
        return self.limits[0]


class Plainer(NamedTuple):
    """The manner of the next request, and what changed in words."""

    manner: Manner
    words: str


def without_refused(manner: Manner, words: str) -> Plainer | None:
    """Return the manner without what a refusal speaks of; None when it speaks of nothing that can be left out."""
    if manner.asks_usage and "stream_options" in words:
        plainer = manner._replace(asks_usage=False)
        return Plainer(
            plainer, "no count of tokens from now on, since the server does not take stream_options"
        )
    if manner.marks_cache and "cache_control" in words:
        plainer = manner._replace(marks_cache=False)
        return Plainer(
            plainer, "no marks for the cache from now on, since the server does not take cache_control"
        )
    if manner.has_system and _OF_SYSTEM.search(words):
        plainer = manner._replace(has_system=False)
        return Plainer(plainer, "no system message from now on, since the server does not take one")
    if (smaller := _smaller(manner.tokens_out_max, words)) is not None:
        plainer = manner._replace(tokens_out_max=smaller)
        return Plainer(
            plainer,
            f"at most {smaller} tokens from now on, since the server does not take {manner.tokens_out_max}",
        )
    if manner.limit in words and len(manner.limits) > 1:
        plainer = manner._replace(limits=manner.limits[1:])
        return Plainer(plainer, f"{plainer.limit} from now on, since the server does not take {manner.limit}")
    if len(manner.forms) > 1 and _OF_FORM.search(words):
        plainer = manner._replace(forms=manner.forms[1:])
        told = f"replies as {plainer.form} from now on, since the server does not take the form {manner.form}"
        return Plainer(plainer, told)
    return None


def _smaller(asked: int, words: str) -> int | None:
    """Return a smaller limit when a refusal says that `asked` tokens are too many; None when it does not."""
    numbers = [_number(text) for text in _NUMBER.findall(words)]
    if not numbers or not _OF_SIZE.search(words):
        return None
    context = _CONTEXT.search(words)
    if context is not None:
        size, prompt = _number(context[1]), _PROMPT.search(words)
        # A sixteenth is left for what the server's template adds to the messages.
        room = size - size // 16 - (_number(prompt[1] or prompt[2]) if prompt is not None else size // 2)
        limit = min(room, asked // 2) if room >= asked else room
    else:
        limit = max((number for number in numbers if TOKENS_OUT_MIN <= number < asked), default=asked // 2)
    return limit if TOKENS_OUT_MIN <= limit < asked else None


def _number(text: str) -> int:
    return int(re.sub(r"[^0-9]", "", text)[:12] or 0)
