"""The gate's cues: how those of the protocols are read and in which order, and the words that name stakes (AD-2, AD-9).

Each protocol names in its own file the kinds of questions that it takes, with the English words that reveal them
(`questions`). A question without a cue is a decision, whose protocol ends after four replies when it turns out to be
easy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from rounds.protocols import PROTOCOLS

_PARTS: Final = {
    # A request begins a sentence: "improve" in the middle of one tells nothing.
    "<begin>": (
        r"(?:^|[.!?:;]\s+|\n\s*)(?:(?:please|kindly|can you|could you|would you|help (?:me|us)(?: to)?"
        r"|(?:i|we) (?:want|need) to|i want you to|let us|let's)\s+)*"
    ),
    "<document>": (
        r"(?:rfc|adr|proposal|design(?: doc(?:ument)?)?|concept|draft|specification|spec|plan|policy|contract|budget"
        r"|tender|application|agreement|roadmap|pitch(?: deck)?|architecture|schedule|rota|decision|suggestion"
        r"|(?:change|pull|merge|feature) request)"
    ),
    "<text>": (
        r"(?:letters?|e-?mails?|mails?|messages?|abstract|speech|notice|announcements?|invitation|paragraphs?"
        r"|intro(?:duction)?|essay|texts?|wording|article|post|newsletter|press release|apology|bio|caption|chapter"
        r"|summary|thesis|report|reply|statement|sentences?|toast|slogan|tagline|description|opening|cv|resume|story"
        r"|section|page|guide|readme|docs|documentation|definitions?|headline|claim|obituary|poem|card|blurb"
        r"|release notes?|changelog (?:lines?|entry)|faq|tutorial|copy)"
    ),
    "<side>": r"(?:position|view|thesis|opinion|stance|belief|conviction|argument|claim|hypothesis|case)",
    "<the>": r"(?:this|that|the|our|my)(?: [\w-]+){0,3}?",
    "<rest>": r"[^.?!\n]{0,80}",
}
"""Placeholders of the patterns."""


# Specific requests come before wide ones: "rank these proposals" is an order and not a proposal.
PRECEDENCE: Final = (
    "devils-advocate",
    "priority",
    "adversarial",
    "comparative",
    "cross-examination",
    "ratchet",
    "single-pass",
    "jugalbandi",
    "crux",
)
"""Protocols that the gate can choose; the first with a cue in the question is chosen."""
ORDER, COMPARE, OTHERWISE = "order", "compare", "decision"
"""Kinds with a use of their own: for too many options, for two named options, for a question without a cue."""
SINGLE: Final = "single-pass"
"""The protocol of one reply without a check."""


class Kind(NamedTuple):
    """A kind of question of a protocol, with its patterns compiled."""

    name: str
    protocol: str
    means: str
    cues: re.Pattern[str]
    unless: re.Pattern[str]


@cache
def kinds() -> Mapping[str, Kind]:
    """Return the kinds of questions by name, in order of precedence."""
    # Made on first use: it imports the protocols and compiles their patterns, which most commands do not need.
    rows = [
        Kind(kind.name, name, kind.means, _words(*kind.cues), _words(*kind.unless))
        for name in PRECEDENCE
        for kind in PROTOCOLS[name].questions
    ]
    return {row.name: row for row in rows}


def _words(*patterns: str) -> re.Pattern[str]:
    # Placeholders are replaced before compiling: the regular expressions stay readable, and
    # one list serves many. Without a pattern it is one that matches nothing.
    text = "|".join(patterns) or "(?!)"
    for name, part in _PARTS.items():
        text = text.replace(name, part)
    return re.compile(text, re.IGNORECASE)


CHOICE: Final = _words(r"\w,? or (?!not\b|so\b|later\b|no\b|more\b|less\b)\w[^.!]*\?")
"""Two named options, for which `comparative` would fit too."""

STAKES: Final = _words(
    r"\b(?:production|prod|live (?:data\w*|systems?|sites?|servers?|tables?)|customers?|client data|user data|users"
    r"|delete (?:all|the data|our|every)|drop (?:the|it|this|all)|wipe|erase|purge|destroy|truncate|irrevers\w*"
    r"|undo(?:ne)?|permanent\w*|forever|for good|data ?bases?|backups?|los(?:e|es|ing|s)|outages?|downtime"
    r"|deploy\w*|roll-?back|migrat\w*|force-?push|main branch|git history|delete (?:\w+ )?rows|charge[sd]?)\b",
    r"\b(?:securit\w*|secure|vulnerab\w*|passwords?|secrets?|credentials?|tokens?|certificates?|encrypt\w*"
    r"|auth(?:entication|orization)?|log-?ins?|sudo|admin(?:istrator)?s?|validation"
    r"|(?:private|api|signing) keys?|firewall|permissions?|access rights)\b",
    r"\b(?:money|pay(?:s|ing|ment\w*|roll)?|salar\w*|budget\w*|invoices?|billing|tax(?:es)?|fees?|prices?|pension\w*"
    r"|insur\w*|loans?|mortgage|invest\w*)\b",
    r"\b(?:contracts?|legal\w*|law(?:s|suit|ful|yer)?|liab\w*|gdpr|privacy|complian\w*|regulat\w*|court|visa|deadline"
    r"|notice period|hir(?:e|ing)|fir(?:e|ing) (?:him|her|them|the|a)|dismiss\w*)\b",
    r"\b(?:patients?|dos(?:e|es|age|ages)|medic\w*|drugs?|allerg\w*|pregnan\w*|bab(?:y|ies)|child(?:ren)?|toddlers?"
    r"|symptoms?|safe(?:ty|ly)?|hazard\w*|toxic|poison\w*|chemicals?|voltage|mains|gas (?:leak|line|pipe|boiler)"
    r"|fever|pain|blood|vaccin\w*|surgery|emergenc\w*|fire (?:alarm|exit|extinguisher)|smoke|food|eat(?:en)?|mushrooms?"
    r"|ladders?|load-?bearing|brakes?|weapons?|explosive\w*|radiation|suicid\w*|injur\w*|danger\w*|lives)\b",
)
"""Words that show that a wrong answer costs something; one reply is not enough then."""
