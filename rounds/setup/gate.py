"""The gate: which of the protocols a question deserves, in words that are true of it (AD-2, AD-9, JB's routing).

`--single` beats `--compete` beats triggers; both flags together are an error, not a guess. Without either the text is
read, in this order: what it names outright (several answers, several fields, an order, an attack, a position), what is
asked of a text, whether it is weighty, and then its form: an act that may harm, a choice between options, a question of
fact, a look-up, a chore, yes or no, a plan. Full deliberation is for what is weighty alone: two of the three signs that
it is dear to undo, that people disagree, that much is at stake. Reading words is a rule of thumb: what was read is
named, so that a person can disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple

from ledger.result import Result

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


class GateReason(Result, frozen=True):
    """One thing that counted: `points` towards several roles, negative against."""

    name: str
    points: int
    detail: str


class GateResult(Result, frozen=True):
    """The protocol that a question deserves, and why."""

    route: Route
    reasons: list[GateReason]


class GateRefused(ValueError):
    """Flags that contradict each other."""


class Asked(NamedTuple):
    """What the gate reads."""

    text: str
    options: Sequence[str] = ()
    triggers: Sequence[str] = ()
    compete: bool = False
    single: bool = False


class Cue(NamedTuple):
    """Words that tell a form: what they mean, and where it goes. `unless`: words that tell otherwise."""

    route: Route
    name: str
    says: str
    words: re.Pattern[str]
    unless: re.Pattern[str] | None = None


POINTS_OF_FORM: Final = 3
POINTS_OF_WEIGHT: Final = 2
SIGNS_OF_WEIGHT: Final = 2
"""From so many of the three signs on it is weighty."""
COMPARED_MAX: Final = 4
"""More options are put in order, not compared in pairs."""
SHOWN_CHARACTERS_MAX: Final = 60


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

_RATCHET: Final = Cue(
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

_HARM: Final = _re(
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
_FACTS: Final = _re(
    r"^\s*why (?:did|is|are|was|were|do|does|have|has)\b|\bwhat (?:caused|explains|is the (?:reason|cause))\b"
    r"|\bis it true\b|\bcaused by\b|\b(?:find out|establish|determine) (?:whether|why|who|what)\b|\bwitness"
    r"|\b(?:how|where) did\b|\bwhat (?:made|makes|broke|led to)\b|\bdue to\b|\b(?:responsible|to blame) for\b"
    r"|\b(?:artefact|artifact|result|consequence|effect) of\b.*\?|^\s*(?:was|were|did)\b"
    r"|^\s*does\b.{0,80}\b(?:really|actually)\b|\bwho (?:broke|did|caused|leaked|stole)\b"
)
_CHOICE: Final = _re(
    r"\bvs\.?(?= )|\bversus\b|\bcompare\b.{1,60}\b(?:and|with|to)\b|\b(?:choose|decide|pick) between\b"
    r"|\bevaluate\b.{1,60}\bagainst\b|\boption [ab1]\s*[:)]|\bwhich (?:one )?of (?:the |these |our )?(?:two"
    r"|three|four)\b"
    r"|\bchoice (?:is )?between\b|\b[\w.+#-]+, (?:[\w.+#-]+, )*[\w.+#-]+,? or \w+"
    r"|^(?!.*\bwhether or not\b)[^.!]{2,120}\bor\b[^.!]{2,120}\?"
)
_NO_CHOICE: Final = _re(r"\b(?:yes or no|or (?:so|not|later|more|less|two))\b")
_LOOK: Final = _re(
    r"^\s*(?:please\s+)?(?:what|which|who|when|where|explain|describe|list|show|summari[sz]e|find|count"
    r"|translate|convert|"
    r"look up|tell me|how (?:do i|does|do|did|has|have|many|much|long|often))\b"
)
_LOOKED_AT: Final = _re(r"^\s*(?:how (?:do|should|can) (?:we|our|they)|what should|what do we)\b")
_YES_NO: Final = _re(
    r"^\s*(?:should|shall|ought|is|are|do|does|can|could|may|must|would|will)\b.{2,}"
    r"|\b(?:should|shall) (?:we|i|they|the|our|my)\b.{2,}\?|\byes or no\b"
)
_PLANS: Final = _re(
    r"^\s*(?:please\s+|let us\s+|we (?:need|want|must)\s+)?(?:to\s+)?(?:an? )?(?:build|design|plan"
    r"|organi[sz]e|set up|migrate|"
    r"implement|develop|create|introduce|roll out|refactor|restructure|automate|integrate|launch|restore"
    r"|establish|prepare)\b"
    r"|\b(?:plan|programme|program|process|schedule|system|strategy|roadmap|concept)\b|^\s*how (?:do|should"
    r"|can) (?:we|i|they)\b"
    r"|\bfrom\b.{1,40}\bto\b.{1,40}\?"
)
_CHORE: Final = _re(
    r"^\s*(?:please\s+)?(?:add|delete|remove|rename|fix|bump|update|change|move|correct|replace|sort|format"
    r"|swap|pin|disable|enable|hide|resize|water|increase|decrease|"
    r"set (?!up\b)|turn|insert|append|reorder|write an? (?:docstring|comment|unit test|test|log)|print|copy"
    r"|mark|clean up|undo|revert|merge)\b"
)
_SMALL: Final = _re(
    r"\b(?:variable|typos?|endpoint|columns?|keys?|unit tests?|tests?|colou?r|button|docstring|comments?"
    r"|lines?|whitespace|"
    r"files?|fields?|links?|header|footer|version|year|date|imports?|log|flag|label|icon|rows?|lunch|name"
    r"|url|link|import|"
    r"constant|parameter|function|method|parser|readme|sign-?up sheet|heading|title|spelling|branch|setting"
    r"|entry|seat)\b"
)
_LARGE: Final = _re(
    r"\b(?:system|api|schema|databases?|architecture|platform|authentication|notifications|pipeline|module|offline|"
    r"multi-?tenant|infrastructure|service|process|production|office|company|organisation|department)\b"
)
_CHORE_WORDS_MAX: Final = 14


def gate(asked: Asked) -> GateResult:
    """The route of a question. Raises `GateRefused` when it is told to be single and to compete."""
    if asked.single and asked.compete:
        raise GateRefused("single and compete contradict each other")
    if asked.single:
        return GateResult("single-pass", [GateReason("single", -POINTS_OF_FORM, "you asked for one seat")])
    insists = list(_insists(asked))
    weight = list(_weight(asked.text))
    route, form = _form(asked, weighty=len(weight) >= SIGNS_OF_WEIGHT)
    if insists and route == "single-pass":
        route = "jugalbandi"
    return GateResult(route, [*insists, form, *weight])


def _insists(asked: Asked) -> Iterator[GateReason]:
    """What calls for several roles whatever the text says."""
    if asked.compete:
        yield GateReason("compete", POINTS_OF_FORM, "you asked for several roles")
    for trigger in asked.triggers:
        if trigger.casefold() in asked.text.casefold():
            yield GateReason("trigger", POINTS_OF_FORM, f"your trigger {trigger!r} is in it")


def _weight(text: str) -> Iterator[GateReason]:
    for name, says, words in WEIGHT:
        found = list(dict.fromkeys(_shown(one[0]).casefold() for one in words.finditer(text)))
        if found:
            yield GateReason(name, POINTS_OF_WEIGHT, f"{says}: {', '.join(map(repr, found[:4]))}")


def _form(asked: Asked, *, weighty: bool) -> tuple[Route, GateReason]:
    """What kind of question it is, and the words that tell."""
    text = asked.text
    for cue in (*OUTRIGHT, _RATCHET):
        found = cue.words.search(text)
        if found and not (cue.unless and cue.unless.search(text)):
            return cue.route, _reason(cue.name, cue.says, found)
    if weighty:
        return "structured", GateReason(
            "weighty", POINTS_OF_FORM, "at least two of: dear to undo, people disagree, much at stake"
        )
    if len(asked.options) > COMPARED_MAX:
        return "priority", GateReason(
            "options", POINTS_OF_FORM, f"{len(asked.options)} options are too many to compare in pairs"
        )
    if len(asked.options) > 1:
        return "comparative", GateReason(
            "options", POINTS_OF_FORM, f"{len(asked.options)} options are on the table"
        )
    return _by_words(text)


def _by_words(text: str) -> tuple[Route, GateReason]:
    """The form of a question that names none."""
    asks = _YES_NO.search(text)
    if asks and (found := _HARM.search(text)):
        return "tribunal", _reason("harm", "somebody could be harmed", found)
    if (found := _FACTS.search(text)) and not _LOOKED_AT.search(text):
        return "cross-examination", _reason(
            "facts", "a question of fact with more than one explanation", found
        )
    if (found := _CHOICE.search(text)) and not _NO_CHOICE.search(text):
        return "comparative", _reason("choice", "a choice between named options", found)
    if (found := _LOOK.search(text)) and not _LOOKED_AT.search(text):
        return "single-pass", _reason("look-up", "it asks to look, not to decide", found, -POINTS_OF_FORM)
    if (found := _CHORE.search(text)) and _is_small(text):
        return "single-pass", _reason(
            "chore", "a small act, and nothing says that it is dear to undo", found, -POINTS_OF_FORM
        )
    if asks and not _LOOKED_AT.search(text):
        return "debate", _reason("yes or no", "a question to be answered with yes or no", asks)
    found = _PLANS.search(text) or _CHORE.search(text)
    if found:
        return "jugalbandi", _reason("plan", "something is to be planned or made", found)
    if text.rstrip().endswith("?"):
        return "single-pass", GateReason(
            "nothing more",
            -POINTS_OF_FORM,
            "a question, and no word calls for a decision, a plan or an attack",
        )
    return "jugalbandi", GateReason(
        "task", POINTS_OF_FORM, "no question: something is to be done, and nothing says that it is small"
    )


def _is_small(text: str) -> bool:
    """Whether an act is small: few words, and about a small thing, or at least about no large one."""
    few = len(text.split()) <= _CHORE_WORDS_MAX
    return few and (bool(_SMALL.search(text)) or not _LARGE.search(text)) and not _weighs_anything(text)


def _weighs_anything(text: str) -> bool:
    return any(words.search(text) for _, _, words in WEIGHT)


def _reason(name: str, says: str, found: re.Match[str], points: int = POINTS_OF_FORM) -> GateReason:
    return GateReason(name, points, f"{says}: {_shown(found[0])!r}")


def _shown(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= SHOWN_CHARACTERS_MAX else f"{line[: SHOWN_CHARACTERS_MAX - 1]}…"
