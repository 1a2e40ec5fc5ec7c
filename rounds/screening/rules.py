"""The rules "screening-2": orders in more than one wording, looked for in every reading of a text.

A pattern counts in full where it speaks to a reader, which shows in its place (the head of a sentence or clause),
from a word that belongs to the reader ("your instructions"), or from what it asks for. Words that manuals, standards
and contracts use as well count only in such company.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ledger.result import Result
from rounds.screening.readings import readings, revealed

VERSION: Final = "screening-2"
MENTION: Final = 15
"""Points of a suspicious word in an ordinary sentence; alone it does not even warn."""
SHOWN_CHARACTERS_MAX: Final = 120


class ScreeningMatch(Result, frozen=True):
    """One part of the score, and its place in the text."""

    kind: str
    points: int
    detail: str


class Pattern(NamedTuple):
    """A pattern: `commanded` speaks to a reader and counts `points`, `mentioned` counts `MENTION`."""

    kind: str
    points: int
    commanded: re.Pattern[str]
    mentioned: re.Pattern[str] | None = None
    near: re.Pattern[str] | None = None
    """In lower case: a word without which `commanded` cannot match, so that long documents are read near it alone."""
    respelled: bool = True
    """Also looked for in the other readings: false for what is made of signs."""


def compiled(text: str) -> re.Pattern[str]:
    """Compile a pattern that ignores case and works line by line."""
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def excerpt(match: str) -> str:
    """Return a match in ASCII and in one line."""
    # ASCII, because a match may hold invisible or right-to-left characters that would disturb a terminal.
    return ascii(" ".join(match.split()))[1:-1][:SHOWN_CHARACTERS_MAX]


_HEAD: Final = (
    r"(?:^[ \t]*|[.!?:;,\n\"'(\[>*-]\s*|\b(?:please|now|and|then|just|instead|first|must|should|to|will"
    r"|shall|can|kindly|"
    r"let'?s)\s+(?:also\s+|simply\s+|just\s+|now\s+)?)"
)
"""Places where a command begins: a sentence, a clause, or after an introducing word."""
_QUALIFIED: Final = (
    r"(?:(?:all|any|every|the|your|my|our|these|those|of|everything|what|previous|prior|earlier|above|preceding|"
    r"foregoing|former|system|original|initial|developer|safety|hidden|given|old)\s+){1,6}"
)
_BEFORE: Final = r"(?:previous|prior|earlier|above|preceding|foregoing|former|original|initial|system|old)"
_TOLD: Final = (
    r"(?:instructions?|prompts?|directives?|guidelines|rules|commands|context|messages?|orders|training"
    r"|programming)"
)
_GUIDANCE: Final = (
    r"(?:instructions?|prompts?|directives?|guidelines|rules|orders|programming|policies|training)"
)
_OURS: Final = r"(?:instructions?|directives?|(?:system|developer)\s+(?:prompt|message|instructions?))"
_GIVEN_YOU: Final = (
    r"(?:(?:that\s+)?(?:you\s+(?:were|have\s+been|had\s+been|got|received)|were\s+given\s+to\s+you)"
    r"|above|so\s+far)"
)
_DISOBEY: Final = (
    r"(?:(?:do\s+not|don'?t|never|must\s+not|need\s+not|no\s+longer|stop|cease\s+to|cease)\s+"
    r"(?:follow|obey|heed|listen\s+to|comply\s+with|adhere\s+to|abide\s+by|following|obeying|heeding|listening\s+to|"
    r"complying\s+with)|pay\s+no\s+(?:attention|heed)\s+to|take\s+no\s+notice\s+of|(?:act|go)\s+against|disobey|"
    r"set\s+aside|put\s+aside|cast\s+aside|leave\s+aside|throw\s+(?:out|away)|leave)"
)
_REMOVE: Final = r"(?:discard|drop|dismiss|abandon|erase|delete|void|cancel|revoke|wipe|clear|neglect)"
_MACHINE: Final = (
    r"(?:ai|a\.i\.|llm|gpt|chat\s?bot|bot|(?:large\s+)?language\s+model|(?:ai\s+)?model|(?:ai\s+)?assistant)"
)
_VERDICT: Final = r"(?:ACT|ROBUST|APPROVED?|PASS(?:ED)?|CONFIRMED|READY|UPHELD)"
_LIMITS: Final = (
    r"(?:restrictions?|limits?|limitations?|filters?|safeguards?|guardrails?|constraints?|policies|rules)"
)
_SAFEGUARD: Final = (
    r"(?:(?:safety|ethics|ethical|content|moderation)\s+(?:filters?|checks?|protocols?|rules?|measures?|guidelines|"
    r"warnings?|systems?|constraints?|policy|policies|training)|safeguards|guardrails)"
)

PATTERNS: Final[tuple[Pattern, ...]] = (
    Pattern(
        "injection: instructions are to be set aside",
        80,
        compiled(
            rf"{_HEAD}(?:ignore|disregard|forget|override|overlook|skip)\s+{_QUALIFIED}{_TOLD}\b"
            rf"|\b{_DISOBEY}\s+(?:(?:all|any|the|of|every)\s+)*your\s+(?:{_BEFORE}\s+)?{_GUIDANCE}\b"
            rf"|\b{_DISOBEY}\s+(?:(?:all|any|the|of|every|those|these)\s+)*{_BEFORE}\s+{_OURS}\b"
            rf"|\b{_DISOBEY}\s+(?:(?:all|any|the|of|every|those|these)\s+)*(?:system|developer)\s+(?:prompt"
            rf"|message)\b"
            rf"|\b{_DISOBEY}\s+(?:(?:all|any|the|of|every|those|these)\s+)*{_GUIDANCE}\s+{_GIVEN_YOU}\b"
            rf"|{_HEAD}{_REMOVE}\s+(?:(?:all|any|of)\s+)*your\s+(?:{_BEFORE}\s+)?{_GUIDANCE}\b"
            rf"|{_HEAD}{_REMOVE}\s+(?:(?:all|any|the|of|every|those|these)\s+)*{_BEFORE}\s+{_OURS}\b"
            rf"|\byour\s+(?:{_BEFORE}\s+)?{_GUIDANCE}\s+(?:are|is|were|have\s+been|has\s+been)\s+(?:now\s+"
            rf"|hereby\s+)?"
            r"(?:void|invalid|cancell?ed|revoked|lifted|obsolete|suspended|superseded|overridden|replaced"
            r"|withdrawn)\b"
            rf"|\b{_BEFORE}\s+{_GUIDANCE}\s+(?:are|have\s+been)\s+(?:now\s+)?hereby\s+"
            rf"|\b{_GUIDANCE}\s+above\s+(?:are|have\s+been)\s+(?:now\s+|hereby\s+)?(?:void|cancell?ed"
            rf"|revoked|withdrawn)\b"
            rf"|\bfrom\s+(?:now|here|this\s+point)\s+on(?:wards?)?,?\s+[^.\n]{{0,40}}{_GUIDANCE}\s+no\s+longer\s+"
            rf"|\b(?:instructions|directives|orders|rules)\s+(?:supersede|override|replace|overrule"
            rf"|take\s+precedence\s+over)\s+"
            rf"[^.\n]{{0,50}}(?:\byou\b|\byour\b|\bthe\s+system\b|\bsystem\s+prompt\b)"
            r"|\b(?:ignore|disregard|forget|override)(?:all|any|every|the|your|my|of|these|those)*"
            r"(?:previous|prior|earlier|above|preceding|system|original)+(?:instructions?|prompts?|rules?"
            r"|guidelines)\b"
        ),
        compiled(rf"\b(?:ignor\w*|disregard\w*|forget\w*)\s[^\n]{{0,60}}\b{_TOLD}\b"),
        near=re.compile(
            r"instruction|prompt|directive|guideline|rules|command|context|message|orders|training"
            r"|programming|policies"
        ),
    ),
    Pattern(
        "injection: what came before is to be forgotten",
        80,
        compiled(
            rf"{_HEAD}(?:(?:ignore|disregard)\s+(?:all|everything|anything)\s+(?:above|before|previous|prior)"
            r"|forget\s+(?:everything\s+(?:above|before|so\s+far|previous|you|prior)|what\s+you|the\s+above|previous|"
            r"all\s+previous))"
            r"|(?:^|[.!?\n\"'(]\s*|\b(?:please|now|just|instead)\s+)forget\s+(?:everything|all\s+(?:that|of|the))\b"
            r"|\b(?:ignore|disregard|forget|throw\s+(?:out|away)|set\s+aside|discard|pay\s+no\s+attention\s+to)\s+"
            r"(?:everything|anything|whatever|all|what)\s+(?:that\s+)?you\s+(?:were|have\s+been|had\s+been)\s+"
            r"(?:told|given|taught|asked)"
            r"|\bnever\s+mind\s+(?:the\s+above|everything\s+above|your\s+)"
            r"|\btreat\s+(?:the\s+|all\s+|every)[^.\n]{0,30}\b(?:above|before)\b[^.\n]{0,30}\bas"
            r"\s+(?:if|though)\s+it\s+"
            r"(?:did\s+not|didn'?t|never|had\s+never|were\s+not)"
            r"|\bwhat\s+you\s+(?:were|have\s+been)\s+told\s+(?:earlier|before|so\s+far|above)\s+(?:was|is)\b"
        ),
        compiled(r"\bforget\s+(?:everything|all)\b"),
        near=re.compile(r"ignore|disregard|forget|throw|set|discard|attention|never|treat|told"),
    ),
    Pattern(
        "injection: another identity is given",
        80,
        compiled(
            r"(?:^|[.!?\n]\s*|\bfrom\s+now\s+on,?\s+)you\s+are\s+now\s+(?!able|ready|done|required"
            r"|responsible|in\b|at\b|on\b|"
            r"logged|leaving|connected|finished|seeing|set|free\s+to|looking|entering|viewing|using|running|asked)"
            r"|(?:^|[.!?\n]\s*|\bnow\s+|\bplease\s+)(?:act\s+as\s+(?:if|though)\s+you|pretend"
            r"\s+(?:that\s+)?(?:you|to\s+be)"
            r"|role-?play\s+as)\b"
            rf"|{_HEAD}(?:take\s+on|assume|adopt|play|be|become|simulate|impersonate|behave\s+like|act\s+(?:as|like)|"
            rf"answer\s+(?:as|like)|respond\s+(?:as|like)|imagine\s+(?:that\s+)?you\s+are)\s+(?:the"
            rf"\s+(?:role|persona|part)\s+of\s+)?"
            rf"an?\s+[^.\n]{{0,40}}?\b(?:{_MACHINE}\b[^.\n]{{0,30}}\b(?:without|free|no|any\s+limits?|not\s+bound)\b"
            rf"|(?:unrestricted|unfiltered|uncensored|unlimited|unaligned|evil)\s+[^.\n]{{0,20}}{_MACHINE}\b)"
            rf"|{_HEAD}(?:take\s+on|assume|adopt)\s+the\s+(?:role|persona|identity|character)\s+of"
            rf"\s+an?\s+(?:reviewer|judge|"
            rf"critic|verifier|{_MACHINE})\b"
            r"|\byou\s+(?:will|shall|must|are\s+going\s+to)\s+(?:now\s+)?(?:play|act\s+as|take\s+on"
            r"|assume|adopt|become|"
            r"impersonate)\s+(?:an?|the)\s+(?:character|persona|role|ai|model|assistant)\b"
            r"|\bas\s+(?:though|if)\s+your\s+(?:safety\s+)?(?:training|rules|instructions|guidelines|programming)\b"
            r"|\byour\s+name\s+is\s+\w+\s+and\s+you\s+(?:have\s+no|do\s+not|obey|ignore|can\s+do)"
            r"|\bbe\s+DAN\b|\byou\s+(?:now\s+)?(?:answer|listen)\s+(?:only\s+)?to\s+me\s+(?:alone|only)\b"
        ),
        compiled(
            r"\byou\s+are\s+now\b|\bact\s+as\s+(?:if|though)\b|\bpretend\s+(?:you|to)\b|\brole-?play\s+as\b"
        ),
        near=re.compile(
            r"\b(?:role|persona|part|character|identity|pretend|dan)\b|as if|as though|you are now"
            r"|now you are|ai\b|a\.i\.|llm|gpt|bot\b|model|assistant|your name|to me"
        ),
    ),
    Pattern(
        "injection: a system message is imitated",
        80,
        compiled(
            r"^\s*(?:#+\s*)?(?:new\s+(?:instructions?|polic(?:y|ies))|system\s+(?:prompt|message"
            r"|override|instructions?|note))"
            r"\s*:(?![^\n]*\?\s*$)"
            r"|^\s*(?:#+\s*)system\s*:|^\s*system\s*:\s*(?:you|your|the\s+user\s+is|the\s+assistant"
            r"|ignore|approve|obey|always|"
            r"never|override|reply|answer|from\s+now)\b"
            r"|</?system>|\[/?(?:SYSTEM|INST)\]|<\|(?:im_start|im_end|system|assistant|user)\|>|<<SYS>>"
            r"|\b(?:begin|end|start)\s+(?:of\s+)?(?:the\s+)?system\s+(?:prompt|message|instructions?)\b"
            rf"|<!--\s*(?:to\s+(?:the\s+)?)?{_MACHINE}\s*:"
            r"|\bHuman:\s[^\n]{0,300}\bAssistant:\s"
            r"|\A\s*[\[{]+\s*\"role\"\s*:\s*\"(?:system|assistant|developer)\""
        ),
        compiled(r"\bnew\s+instructions?\s*:|\"role\"\s*:\s*\"system\""),
        near=re.compile(r"new|system|inst|im_|sys|<!--|human|role|\|>"),
    ),
    Pattern(
        "injection: it speaks to the model that reads it",
        60,
        compiled(
            rf"\b(?:note|notice|message|instructions?|attention|memo)\s+(?:to|for)\s+(?:the|any|all"
            rf"|every)?\s*{_MACHINE}s?\b"
            rf"|\bif\s+you\s+are\s+(?:an?\s+)?(?:ai|a\.i\.|llm|language\s+model|gpt|bot|artificial\s+intelligence)\b"
            r"|\battention,?\s+(?:large\s+)?(?:language\s+models?|ai|llm|assistant)\b"
            r"|^\s*(?:dear\s+)?(?:ai|llm)\s+(?:reviewers?|judges?|assistants?|models?|graders?)\s*[:,]"
            r"|^\s*assistant,\s+(?:from|please|ignore|you|do|answer|approve|say)\b"
        ),
        near=re.compile(r"\bai\b|a\.i\.|llm|gpt|bot|model|assistant|artificial"),
    ),
    Pattern(
        "injection: a mode without limits is called for",
        80,
        compiled(
            rf"(?:{_HEAD}(?:enable|enter|activate|switch\s+(?:in)?to|turn\s+on|start|go\s+into)|\byou"
            rf"\s+are\s+(?:now\s+)?in)\s+"
            r"(?:the\s+)?(?:sudo|developer|dev|god|jailbreak|dan|unrestricted|unfiltered|uncensored)\s+mode\b"
            r"(?!\s+(?:on|in)\s+(?:the|your|all)\s+(?:\w+\s+)?(?:devices?|phones?|tablets?|browser"
            r"|settings|options|menu)|\s+with\b)"
            r"|\bswitch\s+yourself\s+(?:in)?to\s+\w+\s+mode\b"
            r"|\b(?:debug|maintenance|admin|test|root)\s+mode\s+(?:is\s+)?(?:active|enabled"
            r"|on)\s*[:,;.]\s*(?:all\s+)?"
            r"(?:checks?|verification|safety|filters?|restrictions?|rules|policies)\s+(?:are|is)"
            r"\s+(?:off|suspended|disabled|lifted)"
            r"|\b(?:jailbreak\s+(?:yourself|mode|the\s+(?:model|assistant|ai))|do\s+anything\s+now)\b"
            r"|\b(?:sudo|jailbreak|dan)\s+mode\s+(?:on|enabled|activated)\b"
            rf"|\byou\s+(?:no\s+longer\s+have|now\s+have\s+no|have\s+no\s+more|are\s+free\s+of)"
            rf"\s+(?:any\s+|all\s+|your\s+)?{_LIMITS}\b"
            rf"|\byour\s+{_LIMITS}\s+(?:have\s+been|are|were)\s+(?:now\s+)?(?:lifted|removed|disabled"
            rf"|switched\s+off|off|gone)\b"
            r"|\bnothing\s+is\s+(?:forbidden|off[\s-]limits)\s+(?:to|for)\s+you\b"
        ),
        compiled(r"\b(?:sudo|developer)\s+mode\b|\bjailbreak\w*"),
        near=re.compile(
            r"mode|jailbreak|anything now|restriction|limit|filter|safeguard|guardrail|constraint"
            r"|policies|rules|nothing is"
        ),
    ),
    Pattern(
        "injection: the verdict is dictated",
        80,
        compiled(
            rf"{_HEAD}(?:reply|answer|respond|vote|output|say|return)\s+(?:only\s+)?(?:with\s+)?[\"'`]?"
            rf"{_VERDICT}\b[\"'`]?\s*(?:only|regardless|whatever|no\s+matter|and\s+nothing)"
            rf"|\b(?:whatever|regardless\s+of|irrespective\s+of|no\s+matter)\b[^.\n]{{0,60}},\s*(?:you"
            rf"\s+(?:must\s+)?)?"
            rf"(?:return|vote|answer|say|output|reply|report|conclude|write|choose)\s+(?:with"
            rf"\s+)?[\"'`]?(?:{_VERDICT}|yes)\b"
            rf"|\byour\s+(?:verdict|answer|reply|vote|decision|rating|assessment|conclusion)\s+(?:must"
            rf"|has\s+to|shall|is\s+to|will)"
            rf"\s+be\s+[\"'`]?(?:{_VERDICT}|yes|positive|favou?rable)\b"
            r"|\bmark\s+(?:every|each|all)\s+(?:the\s+|of\s+the\s+)?(?:claims?|findings?|concerns?"
            r"|challenges?|checks?)\s+as\s+"
            r"(?:confirmed|robust|passed|resolved|addressed|upheld)\b"
            rf"|\bthe\s+only\s+(?:acceptable|valid|correct|permitted|allowed|possible)\s+(?:answer"
            rf"|verdict|reply|vote|output)\s+is\s+"
            rf"[\"'`]?(?:{_VERDICT}|yes)\b"
            r"|\b(?:reviewers?|judges?|verifiers?|you)\s+(?:must|have\s+to|has\s+to|shall|are\s+to)"
            r"\s+(?:conclude|find|agree|"
            r"decide|rule)\s+that\s+(?:this|the|our)\s+[^.\n]{0,30}\b(?:is|are)\s+(?:ready|approved"
            r"|sound|robust|fine|good|correct)\b"
            r"|\b(?:you|the\s+judge)\s+(?:must|have\s+to|has\s+to|shall)\s+(?:side\s+with|rule\s+for"
            r"|vote\s+for|decide\s+for)\b"
            r"|\b(?:give|award|assign)\s+(?:this|the|our|my)\s+(?:proposal|paper|plan|document|option"
            r"|text|draft|submission)\s+"
            r"(?:the\s+)?(?:highest|best|top|maximum|full|a\s+perfect)\s+(?:possible\s+)?(?:score|rating"
            r"|marks?|grade)"
            r"|\b(?:score|rate)\s+(?:option\s+)?O-\d+\s+(?:with\s+|at\s+|as\s+)?(?:5|five|10|the\s+highest)\b"
            r"|\brate\s+(?:this|the|our|my)\s+(?:proposal|paper|plan|document|submission)\s+(?:as"
            r"\s+)?(?:excellent|outstanding|the\s+best)"
            r"|\b(?:do\s+not|don'?t|never)\s+(?:report|raise|mention|name|list)\s+any\s+(?:problems?"
            r"|concerns?|issues?|flaws?|weaknesses|"
            r"objections?|faults?)\b"
        ),
        near=re.compile(
            r"\bact\b|robust|approve|\bpass|confirmed|\bready|upheld|\byes\b|positive|favo|resolved"
            r"|addressed|sound\b|\bfine\b|\bgood\b|correct|side with|rule for|vote for|decide for|score"
            r"|\brate|\bmarks?\b|\bgrade|concern|problem|issue|flaw|weakness|objection|fault"
        ),
    ),
    Pattern(
        "injection: the hidden prompt is asked for",
        60,
        compiled(
            rf"{_HEAD}(?:reveal|print|repeat|show|output|leak|disclose|copy|recite|quote|display|dump"
            rf"|tell|give|write|share|"
            r"spell\s+out)\s+(?:out\s+)?(?:me\s+|us\s+)?(?:all\s+|the\s+|your\s+|of\s+|text\s+|full\s+"
            r"|whole\s+|exact\s+|entire\s+)*"
            r"(?:(?:system|hidden|secret)\s+(?:prompt|instructions?|message)|initial\s+(?:prompt|instructions?))"
            rf"|{_HEAD}(?:reveal|print|repeat|show|output|leak|disclose|copy|recite|quote|display|dump"
            rf"|tell\s+(?:me|us))\s+"
            r"(?:out\s+)?your\s+(?:\w+\s+)?(?:instructions|prompt|guidelines|directives)\b"
            r"|\brepeat\s+the\s+(?:words|text|sentences|lines)\s+above\s+(?:starting|beginning|from)\b"
            r"|\bwhat\s+were\s+you\s+told\s+before\s+(?:this|the|our)\b"
        ),
        compiled(r"\bsystem\s+prompt\b"),
        near=re.compile(r"prompt|instruction|message|guideline|directive|above|told"),
    ),
    Pattern(
        "suspicious: a safeguard is to be switched off",
        60,
        compiled(
            rf"{_HEAD}(?:bypass|override|disable|ignore|circumvent|turn\s+off|switch\s+off|suspend|skip"
            rf"|lift|deactivate)\s+"
            rf"(?:(?:all|your|any|every|the)\s+)*{_SAFEGUARD}(?=\W|$)"
            rf"|{_HEAD}(?:bypass|override|disable|ignore|circumvent)\s+(?:(?:all|your|any|every|the)\s+)*"
            r"(?:safety|ethics)\s*(?:[.!,;]|$)"
            rf"|{_HEAD}(?:bypass|disable|override)\s+(?:all\s+|your\s+|every\s+)+(?:security|filters?"
            rf"|checks?|restrictions?)"
            rf"|\bturn\s+your\s+{_SAFEGUARD}\s+off\b"
            r"|\bwithout\s+(?:any\s+)?(?:safety|ethics|ethical)\s+(?:checks?|checking|filters?|limits?|rules?)"
            rf"|\bwithout\s+(?:applying|using|following|regard\s+to)\s+(?:your|any)\s+{_SAFEGUARD}"
        ),
        compiled(
            r"\b(?:bypass|override|disable|without|ignore)\w*\s+(?:\w+\s+)?(?:safety|security|ethics"
            r"|filters?|checks?|"
            r"checking|warnings?)\b"
        ),
        near=re.compile(r"safe|ethic|content|moderation|guardrail|security|filter|check|restriction"),
    ),
    Pattern(
        "sql: a statement is smuggled in",
        60,
        compiled(
            r"['\"]\s*(?:OR|AND)\s+['\"]?\w+['\"]?\s*=\s*['\"]?\w+"
            r"|['\")0-9]\s*;\s*(?:DROP|DELETE|TRUNCATE|ALTER|INSERT|UPDATE)\s+|;\s*DROP\s+TABLE\b"
            r"|['\")0-9]\s*UNION\s+(?:ALL\s+)?SELECT\b|['\"]\s*;?\s*--\s*$"
        ),
        compiled(r"\bUNION\s+SELECT\b|\bDROP\s+TABLE\b|--\s*\Z|['\"]\s+OR\s+['\"]"),
        near=re.compile(r"'|\"|drop|union|--|;"),
        respelled=False,
    ),
)
"""Patterns in order. Each kind counts once, by its weightiest sign in any reading."""

_REPEATED: Final = re.compile(r"([^\W_])\1{20,}")
"""Repeated letters and digits; a line of dashes is a ruler."""
_CJK: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LATIN: Final = re.compile(r"[A-Za-z]{4,}")
_SYMBOLS_SHARE: Final = 0.3
WINDOW: Final = 400
"""Characters on each side of a required word; no pattern reaches further."""
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufefc]")
_OVERRIDES: Final = re.compile("[\u202d\u202e]")
_DIRECTIONS: Final = re.compile("[\u200e\u200f\u061c\u202a-\u202c\u2066-\u2069]")
_INVISIBLE: Final = (
    "[\u034f\u115f\u1160\u180b-\u180e\u200b-\u200d\u2060-\u2064"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
_IN_LATIN: Final = re.compile(f"(?<=[A-Za-z]){_INVISIBLE}|{_INVISIBLE}(?=[A-Za-z])")
"""Joiners and selectors have a use in other scripts and in emoji; beside a Latin letter they only hide."""
_HIDDEN_TEXT_LETTERS: Final = 4


def issues(text: str) -> Iterator[ScreeningMatch]:
    """Yield the findings in a text, by its words and by its characters."""
    yield from _patterns(readings(text))
    yield from _hidden(text)
    yield from _characters(text)


def _patterns(read: tuple[str, ...]) -> Iterator[ScreeningMatch]:
    lowered = tuple(text.lower() for text in read)
    for pattern in PATTERNS:
        if issue := _commanded(pattern, lowered):
            yield issue
        # A mention is looked for only in the text as written: the other readings would turn
        # ordinary text into mentions.
        elif pattern.mentioned and (match := pattern.mentioned.search(lowered[0])):
            yield ScreeningMatch(f"mentioned, not commanded: {pattern.kind}", MENTION, excerpt(match[0]))


def _commanded(pattern: Pattern, read: tuple[str, ...]) -> ScreeningMatch | None:
    for n, text in enumerate(read if pattern.respelled else read[:1]):
        for begin, end in _windows(pattern, text):
            # The search starts at the window but sees what comes before it, so anchors such as
            # ^ keep their meaning.
            if match := pattern.commanded.search(text, begin, end):
                return ScreeningMatch(
                    pattern.kind, pattern.points, f"{'spelt otherwise: ' * (n > 0)}{excerpt(match[0])}"
                )
    return None


def _windows(pattern: Pattern, text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text in which a pattern can match."""
    if pattern.near is None:
        yield (0, len(text))
        return
    begin = end = 0
    for match in pattern.near.finditer(text):
        # Overlapping windows are merged: reading the same part twice would be slow on a text
        # full of such words.
        if match.start() - WINDOW > end:
            if end:
                yield (begin, end)
            begin = max(0, match.start() - WINDOW)
        end = min(len(text), match.end() + WINDOW)
    if end:
        yield (begin, end)


def _hidden(text: str) -> Iterator[ScreeningMatch]:
    """Yield invisible characters where they serve no script."""
    # A byte order mark at the very beginning is left by editors and hides nothing.
    hidden = [*_OVERRIDES.findall(text), *_IN_LATIN.findall(text.removeprefix("\ufeff"))]
    # Marks of direction belong to Hebrew and Arabic text; anywhere else they only reorder what is seen.
    if not _RIGHT_TO_LEFT.search(text):
        hidden += _DIRECTIONS.findall(text)
    if hidden:
        yield ScreeningMatch("hidden characters", 40, f"{len(hidden)}, the first U+{ord(hidden[0]):04X}")
    for letters in revealed(text):
        if sum(char.isalpha() for char in letters) >= _HIDDEN_TEXT_LETTERS:
            yield ScreeningMatch("hidden text", 60, excerpt(letters))
            return


def _characters(text: str) -> Iterator[ScreeningMatch]:
    symbols = sum(not (char.isalnum() or char.isspace()) for char in text)
    # A short text such as a formula would exceed the share with a handful of signs.
    if len(text) >= 20 and symbols / len(text) > _SYMBOLS_SHARE:
        yield ScreeningMatch(
            "symbols", 20, f"{symbols} of {len(text)} characters are neither letters nor digits"
        )
    repeated = _REPEATED.search(text)
    if repeated:
        yield ScreeningMatch("repetition", 40, f"{repeated[1]!r} {len(repeated[0])} times in a row")
    if "\0" in text:
        yield ScreeningMatch("NUL", 90, "a NUL character")
    if _CJK.search(text) and _LATIN.search(text):
        yield ScreeningMatch("mixed scripts", 5, "CJK and Latin letters")
