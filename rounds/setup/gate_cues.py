"""The words by which the gate reads a question: what it names outright, what is weighty, and its form (AD-2, AD-9)."""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

Route = Literal[
    "single-pass",
    "jugalbandi",
    "structured",
    "council",
    "debate",
    "adversarial",
    "devils-advocate",
    "comparative",
    "cross-examination",
    "ratchet",
    "panel",
    "priority",
    "tribunal",
]


class Cue(NamedTuple):
    """Words that tell a form: what they mean, and where it goes. `unless`: words that tell otherwise."""

    route: Route
    name: str
    says: str
    words: re.Pattern[str]
    unless: re.Pattern[str] | None = None


def _re(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.DOTALL)


_DOCUMENT: Final = (
    r"(?:rfc|adr|documents?|proposal|tender|contract|budget|application|concept|policy|paper|draft|design"
    r"|specification|"
    r"protocol|report|offer|agreement|architecture|migration plan|launch plan|plans?|attachment|attached"
    r"|pull request|change request|roadmap|pitch|memo)"
)
_TEXT: Final = (
    r"(?:letters?|e-?mails?|abstract|speech|notice|announcement|invitation|paragraphs?|introduction|essay"
    r"|text|wording|"
    r"message|article|blog post|newsletter|press release|apology|obituary|poem|bio|caption|chapter|summary"
    r"|thesis|report|card|reply|statement|sentence|toast|eulogy|"
    r"slogan|description|opening|cv|resume|story|manuscript)"
)
_ASKS: Final = (
    r"^\s*(?:should|shall|may|can|could|must|ought|is it|do we|would it|is there|are we|"
    r"(?:[^.?!]{0,80}[?.!]\s+)?should)\b"
)

OUTRIGHT: Final[tuple[Cue, ...]] = (
    Cue(
        "council",
        "several answers",
        "several answers of the same kind are wanted, side by side",
        _re(
            r"\bside by side\b|\bindependent(?:ly)?\b.{0,40}\b(?:plans?|answers?|proposals?|drafts|solutions|how)\b"
            r"|\b(?:separate|several|independent) (?:answers|plans|drafts|solutions)\b|\bunjoined\b|\bdo not merge\b"
            r"|\b(?:two|three|four|five|several|some) (?:alternative|different|independent) (?:outlines?"
            r"|drafts?|plans?|"
            r"answers?|runs?|versions?|solutions?|proposals?|designs?|approaches)\b|\beach on its own\b"
            r"|\blet a council\b|\bhow much do (?:the )?answers vary\b|\bseveral times\b"
        ),
    ),
    Cue(
        "panel",
        "several fields",
        "several fields or reviewers are to look at it",
        _re(
            r"\b(?:review )?panel\b|\bby (?:several|two|three|four|five) (?:\w+ )?(?:specialists|experts"
            r"|reviewers|departments|"
            r"people)\b|\bseveral (?:specialists|experts|reviewers|departments|fields"
            r"|teams)\b.{0,60}\b(?:approve|review|sign|"
            r"look|check)|\bpeer review\b|\bexperts?\b.{0,20}\breview"
            r"|\breview(?:ed)?\b.{0,60}\bby\b.{0,60},.{0,60}\band\b"
            r"|\breview\b.{0,80}\b(?:view|views|perspectives?|viewpoints?|angles?) of\b"
            r"|\breview\b.{0,80}\band an? \w+ (?:perspective|view|angle)\b|\bfrom a \w+, a\b"
            r"|\bdifferent (?:backgrounds|disciplines|departments)\b"
            r"|\b(?:cross-functional|interdisciplinary|multi-?disciplinary)\b"
            r"|\b\w+s, \w+s,? and \w+s? (?:to|should|must|have to|need to|shall) (?:comment|review|look"
            r"|check|assess|sign|approve)"
            r"|\b\w+, \w+(?:,| and| or) .{0,40}\b(?:have to|must|need to|should) (?:sign|approve)"
        ),
    ),
    Cue(
        "priority",
        "an order",
        "a list is to be put in order",
        _re(
            r"\b(?:priorit(?:i[sz]e|y list)|triage|rank|rank order)\b|\bput\b.{0,60}\bin(?:to)? order\b"
            r"|\bin what order\b"
            r"|\border (?:these|the|my|our)\b|\bsort (?:my|the|these|our)\b.{0,40}\b(?:items|list|tasks"
            r"|to-?dos|requests)"
            r"|\b(?:do|look at|tackle|fix|address|start with|read)\b.{0,20}\bfirst\b|\bwhich ones? first\b"
            r"|\bmost (?:urgent|important)\b"
            r"|\b(?:matter|count|hurt|help)s? most\b|\branking\b|\b(?:choose|find|set|make|propose) (?:the"
            r"|an?) (?:order|sequence)\b"
            r"|^\s*(?:sequence|order|sort) |\bshould (?:go|come|be done|be fixed)\b.{0,40}\bfirst\b"
            r"|\bwhat (?:comes|goes) first\b"
        ),
    ),
    Cue(
        "devils-advocate",
        "a position",
        "a position is to be held against attack",
        _re(
            r"\bdevil'?s advocate\b|\b(?:i|we) (?:firmly )?(?:believe|hold|think|maintain|am convinced"
            r"|are convinced)\b.{0,160}"
            r"(?:\bchallenge\b|\bpoke holes\b|\bwrong\b|\bchange my mind\b|\battack\b|\bcounter"
            r"|\bagainst (?:it|that|this)\b)"
            r"|\b(?:refute|contradict) (?:me|this|that|it)\b|\bconvince me\b|\b(?:speaks|be said"
            r"|said) against (?:it|this|my|that)\b"
            r"|\bcounter-?arguments? (?:to|against)\b"
            r"|\b(?:my|our) (?:position|thesis|view|opinion|conviction|stance|belief|claim|hypothesis)\b"
            r"|\bsteel-?man\b|\bchange my mind\b"
            r"|\btest (?:this|my|the) argument\b|\bwhere am i wrong\b|\bargue against my\b"
        ),
    ),
    Cue(
        "adversarial",
        "an attack",
        "somebody's own proposal is to be attacked or approved",
        _re(
            r"\b(?:tear|pick)\b.{0,40}\bapart\b|\bpoke holes\b|\bpre-?mortem\b|\bred-?team\b"
            r"|\bstress-?test (?:it|this|the|our|my)\b"
            r"|\bwhat (?:could|can|might|will) go wrong\b|\b(?:weaknesses|flaws|gaps|faults) (?:of|in)\b"
            rf"|\b(?:attack|challenge|criticise|criticize) (?:it|this|the|our|my)\b"
            rf"|\bapprove\b.{{0,30}}\b{_DOCUMENT}\b"
            rf"|\b{_DOCUMENT}\b.{{0,60}}\b(?:ready|fit) (?:to be|for) (?:approved|approval|signed|publication)\b"
            rf"|\b(?:review|check|assess|go over)\b (?:the |this |our |my |an? )?(?:\w+ ){{0,2}}{_DOCUMENT}\b"
            rf"|\bsign\b (?:the |this |our )?{_DOCUMENT}\b|\bsign off on\b|\bholes in\b"
            rf"|\b{_DOCUMENT}\b.{{0,30}}\b(?:any good|as it (?:is|stands)|good enough|sound|watertight"
            rf"|viable|convincing)\b"
            rf"|\b(?:criticise|criticize|critique|scrutinise|scrutinize)\b.{{0,20}}\b(?:{_DOCUMENT}|strategy)\b"
        ),
    ),
)
"""What is asked for by name: read before anything else."""

RATCHET: Final = Cue(
    "ratchet",
    "a text",
    "a text is to be written or made better",
    _re(
        r"\b(?:improve|polish|tighten|edit|revise|rewrite|rephrase|reword|shorten|proofread|write|draft"
        r"|compose|make|give)\b"
        rf".{{0,60}}\b{_TEXT}\b|\b{_TEXT}\b.{{0,80}}\b(?:improve|polish|tighten|rewrite|rephrase|shorten"
        rf"|better|clearer)\b"
        r"|\bwordy\b"
    ),
    _re(
        r"\b(?:plan|schedule|docstring|unit test|script|function|code|parser|process|summar|should|shall|ranking)"
    ),
)

WEIGHT: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = (
    (
        "undo",
        "dear to undo",
        _re(
            r"\b(?:irreversible|cannot be (?:undone|changed|reversed|taken back)|no (?:way|going"
            r"|turning) back|cannot (?:come|go) back|"
            r"(?:would|will) be final|once and for all|for good(?! reason)|for ever|forever|"
            r"permanent(?:ly)?|for the next (?:ten|twenty|\d\d) years|decommission|acquired|dissolve"
            r"|(?:be|is|are) sold|sell (?:the|its|our|their)\b|shut down (?:the|our)|close (?:its"
            r"|the) \w+ (?:ward|school|site|plant)"
            r"|(?:delete|drop|wipe|erase|purge|remove|clean up|truncate|destroy) (?:\w+ ){0,4}(?:databases?|buckets?"
            r"|backups?|records|accounts?|users|customers|orders|invoices|volumes?|archives?)"
            r"|(?:delete|wipe|erase|purge|destroy) (?:\w+ ){0,3}(?:data|tables?|logs|history|repositor(?:y|ies)))\b"
        ),
    ),
    (
        "disagreement",
        "people disagree",
        _re(
            r"\b(?:disagree\w*|divided|at odds|dispute[sd]?|cannot agree|(?:do|does|did) not agree|(?:is"
            r"|are) split|furious"
            r"|object(?:s|ed)?(?=[,.;:]| to\b)|half of .{0,40}\b(?:is|are) against|(?:is|are|was"
            r"|were) against (?:it|this|the))\b"
            r"|\bhalf of\b.{0,40}\bwants?\b|\bsome\b.{0,60}\bwants?\b.{1,200}\b(?:some|others)\b"
        ),
    ),
    (
        "stakes",
        "much is at stake",
        _re(
            r"\b(?:lives|patients?|hospital|maternity|medical|medicine|safety|security|compliance|gdpr"
            r"|privacy|regulator\w*|legal|"
            r"law|court|customers?(?:'| )data|customer (?:data|database)|data loss|loses? data|encryption"
            r"|payment|billing|"
            r"jobs|pension|waterworks|power plant|schools?|clinic|members|citizens|founders?|million"
            r"|bankrupt\w*|independence)\b"
        ),
    ),
)
"""Sign → in words → what tells it."""

HARM: Final = _re(
    r"\b(?:drugs?|dos(?:e|es|age|ages)|medication|chemicals?|weapons?|poison\w*|contaminated|toxic|children"
    r"|minors?|kids|"
    r"\d\d?-year-olds?|patients?|medical data|health data|names of|personal data|location of|track|spy|surveil\w*|"
    r"without (?:asking|consent|an? inspection|a fence|a helmet|protection|supervision)|interlock"
    r"|fire alarm|smoke detector|"
    r"safety|danger\w*|harm\w*|hurt|injur\w*|suicid\w*|get around|bypass|circumvent|discriminat\w*"
    r"|warning about|unprotected|private (?:messages|data|life|photos)|"
    r"pick a lock|break into|explosives?|hack(?:ing)?|crowds?|on (?:ourselves|humans|people|animals)"
    r"|addict\w*|gambl\w*|radiation)\b"
)
FACTS: Final = _re(
    r"^\s*why (?:did|is|are|was|were|do|does|have|has)\b|\bwhat (?:caused|explains|is the (?:reason|cause))\b"
    r"|\bis it true\b|\bcaused by\b|\b(?:find out|establish|determine) (?:whether|why|who|what)\b|\bwitness"
    r"|\b(?:how|where) did\b|\bwhat (?:made|makes|broke|led to)\b|\bdue to\b|\b(?:responsible|to blame) for\b"
    r"|\b(?:artefact|artifact|result|consequence|effect) of\b.*\?|^\s*(?:was|were|did)\b"
    r"|^\s*does\b.{0,80}\b(?:really|actually)\b|\bwho (?:broke|did|caused|leaked|stole)\b"
)
CHOICE: Final = _re(
    r"\bvs\.?(?= )|\bversus\b|\bcompare\b.{1,60}\b(?:and|with|to)\b|\b(?:choose|decide|pick) between\b"
    r"|\bevaluate\b.{1,60}\bagainst\b|\boption [ab1]\s*[:)]|\bwhich (?:one )?of (?:the |these |our )?(?:two"
    r"|three|four)\b"
    r"|\bchoice (?:is )?between\b|\b[\w.+#-]+, (?:[\w.+#-]+, )*[\w.+#-]+,? or \w+"
    r"|^(?!.*\bwhether or not\b)[^.!]{2,120}\bor\b[^.!]{2,120}\?"
)
NO_CHOICE: Final = _re(r"\b(?:yes or no|or (?:so|not|later|more|less|two))\b")
LOOK: Final = _re(
    r"^\s*(?:please\s+)?(?:what|which|who|when|where|explain|describe|list|show|summari[sz]e|find|count"
    r"|translate|convert|"
    r"look up|tell me|how (?:do i|does|do|did|has|have|many|much|long|often))\b"
)
LOOKED_AT: Final = _re(r"^\s*(?:how (?:do|should|can) (?:we|our|they)|what should|what do we)\b")
YES_NO: Final = _re(
    r"^\s*(?:should|shall|ought|is|are|do|does|can|could|may|must|would|will)\b.{2,}"
    r"|\b(?:should|shall) (?:we|i|they|the|our|my)\b.{2,}\?|\byes or no\b"
)
PLANS: Final = _re(
    r"^\s*(?:please\s+|let us\s+|we (?:need|want|must)\s+)?(?:to\s+)?(?:an? )?(?:build|design|plan"
    r"|organi[sz]e|set up|migrate|"
    r"implement|develop|create|introduce|roll out|refactor|restructure|automate|integrate|launch|restore"
    r"|establish|prepare)\b"
    r"|\b(?:plan|programme|program|process|schedule|system|strategy|roadmap|concept)\b|^\s*how (?:do|should"
    r"|can) (?:we|i|they)\b"
    r"|\bfrom\b.{1,40}\bto\b.{1,40}\?"
)
CHORE: Final = _re(
    r"^\s*(?:please\s+)?(?:add|delete|remove|rename|fix|bump|update|change|move|correct|replace|sort|format"
    r"|swap|pin|disable|enable|hide|resize|water|increase|decrease|"
    r"set (?!up\b)|turn|insert|append|reorder|write an? (?:docstring|comment|unit test|test|log)|print|copy"
    r"|mark|clean up|undo|revert|merge)\b"
)
SMALL: Final = _re(
    r"\b(?:variable|typos?|endpoint|columns?|keys?|unit tests?|tests?|colou?r|button|docstring|comments?"
    r"|lines?|whitespace|"
    r"files?|fields?|links?|header|footer|version|year|date|imports?|log|flag|label|icon|rows?|lunch|name"
    r"|url|link|import|"
    r"constant|parameter|function|method|parser|readme|sign-?up sheet|heading|title|spelling|branch|setting"
    r"|entry|seat)\b"
)
LARGE: Final = _re(
    r"\b(?:system|api|schema|databases?|architecture|platform|authentication|notifications|pipeline|module|offline|"
    r"multi-?tenant|infrastructure|service|process|production|office|company|organisation|department)\b"
)
