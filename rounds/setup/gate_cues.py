"""The gate's table: kinds of questions, the protocol of each, and the English words that reveal a kind (AD-2, AD-9).

A cue is strong: the words ask for that kind outright. A question without one is a decision, whose protocol ends after
four replies when the question turns out to be easy. A wrong cue sends a question to a worse protocol, so a doubtful one
does not belong here.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

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
"""Placeholders of the patterns below."""


class Kind(NamedTuple):
    """One kind of question. `unless` are words that outweigh its cues."""

    name: str
    protocol: str
    means: str
    cues: re.Pattern[str]
    unless: re.Pattern[str] | None = None


def _words(*patterns: str) -> re.Pattern[str]:
    # Placeholders are replaced before compiling: the regular expressions stay readable, and
    # one list serves many.
    text = "|".join(patterns)
    for name, part in _PARTS.items():
        text = text.replace(name, part)
    return re.compile(text, re.IGNORECASE)


POSITION: Final = Kind(
    "position",
    "devils-advocate",
    "a position to attack",
    _words(
        r"\bdevil'?s[ -]advocate\b",
        r"\bsteel-?man\b",
        r"\bchange (?:my|our) mind\b",
        r"\b(?:prove|show) (?:me|us) wrong\b",
        r"\bwhere (?:am i|are we) wrong\b",
        r"\brefute (?:me|us|it|this|that)\b",
        r"\bconvince (?:me|us)\b",
        r"\bargue (?:against|the opposite|the other side)\b",
        r"\bcounter-?arguments?\b",
        r"\b(?:strongest|best) (?:objections?|case|arguments?) (?:to|against)\b",
        r"\b(?:holes in|attack|challenge|contradict|test|dismantle|rebut) <the> <side>\b",
        r"\b(?:said|speaks?|case) against (?:it|this|that|<the> <side>)\b",
        r"<begin>(?:my|our) <side>\b(?: is| was|:| that)",
        r"\b(?:i|we) (?:firmly |strongly )?(?:believe|hold|think|maintain|claim|(?:am|are) (?:convinced|sure))\b"
        r"[^?]{0,240}?[.!;:]\s+(?:now )?(?:try to )?(?:attack|challenge|refute|contradict|rebut|poke holes|tear)\b",
        r"\bwhat (?:would|could|might) (?:a|the|my|our) (?:\w+ )?(?:opponent|critic|s[ck]eptic)s? (?:say|answer)\b",
        r"(?:^|[.:]\s+)tear this apart:",
        r"<begin>(?:challenge|attack|refute|rebut|dispute|contradict) (?:this|that|it|the following)\b",
        r"\b(?:tell|explain to) (?:me|us) why (?:i am|i'm|we are|we're|this is|that is) wrong\b",
        r"\bwhy (?:am i|are we) wrong\b",
    ),
)
ORDER: Final = Kind(
    "order",
    "priority",
    "a list to put in order",
    _words(
        r"<begin>(?:rank|prioriti[sz]e|triage|sequence)\b",
        r"<begin>order (?:these|the following)\b",
        r"<begin>(?:order|sort) (?:these|the following|them|my|our|the)\b<rest>"
        r"\b(?:by (?:importance|urgency|value|priority|impact|effort|risk)"
        r"|items|tasks|tickets|to-?dos|bugs|requests|ideas|risks|errands|chores|issues)\b",
        r"\b(?:put|bring|get|arrange)\b<rest>\b(?:in|into)(?: \w+)? (?:order|sequence)\b",
        r"\bin (?:which|what) order (?:should|do|shall|would|must|to)\b",
        r"\b(?:best|right|choose the|set the|propose an?|suggest an?) order\b",
        r"\b(?:make|give|need) (?:me |us )?an? ranking\b",
        r"\b(?:which|what)\b<rest>\b(?:do|should|shall|must) (?:we|i) \w+(?: \w+)? first\b",
        r"\bwhich ones? (?:(?:go(?:es)?|comes?) )?first\b",
        r"\b(?:what|which)\b<rest> (?:go|goes|comes?) (?:\w+ ){0,5}first\b",
        r"\b(?:which|what)\b<rest>\b(?:matters?|counts?|hurts?) (?:the )?most\b",
        r"\bmost urgently\b",
        r"\bwhat goes to the top\b",
        r"\bpriority (?:order|list)\b",
    ),
    _words(
        r"\b(?:alphabet\w*|isort|chronological\w*|numerical order|sort order|out of order|by (?:name|date|id))\b"
    ),
)
PROPOSAL: Final = Kind(
    "proposal",
    "adversarial",
    "a proposal to approve or reject",
    _words(
        r"\b(?:approve|accept|reject|sign|sign off on|vote on|ratify)\b <the> <document>\b",
        r"\bshould we (?:approve|accept|sign|ratify) (?:it|this|that)\b",
        r"\b(?:accept|approve),? (?:it )?(?:revise|as it is|with changes|reject|amend|return|or (?:reject|return))\b",
        r"\bready (?:to be |for )(?:approved|approval|merged?|signed|signature|published|publication|sign-?off)\b",
        r"<begin>(?:review|check|assess|vet|scrutini[sz]e|critici[sz]e|critique|stress-?test) <the> <document>\b",
        r"\breview of (?:a|<the>) <document>\b",
        r"\bverdict on <the> <document>\b",
        r"\b<document>\b.{0,80}\b(?:any good|good enough|watertight|as it (?:is|stands))\b",
        r"\b(?:is|are) <the> (?:<document>|idea) (?:flawed|sound|viable|convincing)\b",
        r"\bwhat (?:could|can|might|will) go wrong with <the> <document>\b",
        r"\b(?:tear|pick) <the> <document> apart\b",
        r"[.!?]\s+(?:now )?(?:tear|pick) it apart\b",
        r"\b(?:holes|weaknesses|flaws|gaps|faults|problems?) (?:in|of|with) <the> <document>\b",
        r"\bpre-?mortem\b",
        r"\bred-?team\b",
        r"(?:^|\n)\s*(?:rfc|proposal|proposed|change request|adr)\b[^:\n]{0,30}:",
        r"\bwhat speaks against (?:accepting|approving|merging|adopting|signing)\b",
        r"\b(?:weak (?:points?|spots?)|weaknesses|flaws|holes|gaps)\b[^.?!]{0,60}\bbefore (?:we|i|it)\b",
        r"<begin>(?:i|we) (?:propose|suggest|intend|plan|want) (?:that|to)\b[^?]{0,300}?[.;]\s+(?:now )?(?:find|name"
        r"|list|show|look for|tell)\b[^.?!]{0,40}\b(?:weak\w*|flaws?|holes|gaps|problems?|wrong|against)\b",
    ),
)
COMPARE: Final = Kind(
    "compare",
    "comparative",
    "named options to compare on criteria",
    _words(
        r"<begin>(?:compare|contrast|evaluate|weigh|score)\b<rest>\b(?:and|with|to|against|versus|vs)\b",
        r"\w[\w+#-]*\s+(?:vs\.?|versus)\s+\w",
        r"\bpros and cons of\b<rest>\b(?:and|versus|vs|against|compared)\b",
        r"\btrade-?offs? between\b",
        r"\bcomparison (?:of|between)\b<rest>\b(?:and|with|to)\b",
        r"\b(?:against|on|by) (?:these|the following|our|five|four|three) criteria\b",
        r"\bscorecard\b",
        r"\bdecision matrix\b",
    ),
)
FACT: Final = Kind(
    "fact",
    "cross-examination",
    "a question of fact to check in sources",
    _words(
        r"\bis it (?:really |actually )?(?:true|correct|a fact|accurate) that\b",
        r"\b(?:check|verify|establish|confirm|find out|determine)\b<rest>\b(?:claims?|statement|figures?|numbers?)\b"
        r"<rest>\b(?:holds?|is|are|true|correct|stands?|right|supported?|accurate)\b",
        r"\bfact-?check\b",
        r"\b(?:is|are) there (?:any |good |solid )?(?:evidence|proof) (?:that|for|of)\b",
        r"\bwhat (?:does|do) the (?:evidence|literature|research|sources|data) (?:say|show|suggest)\b",
        r"\bdo(?:es)? (?:the |these |those |any )?(?:\w+ )?"
        r"(?:sources?|studies|study|papers?|evidence|benchmarks?|trials?|data|records|numbers|figures) "
        r"(?:in this table |really |actually )?(?:show|support|prove|confirm|back)\b",
        r"\b(?:conflicting|contradictory|different) (?:reports?|claims?|sources?|accounts?|figures|stories|numbers)\b",
        r"\b(?:sources?|reports?|pages|documents|witness\w*|studies|papers) (?:disagree|contradict|differ|conflict)\b",
        r"<begin>do(?:es)?\b<rest>\b(?:really|actually)\b[^.?!]*\?",
        r"<begin>(?:verify|check|confirm|fact-check|examine) (?:the|this|that)"
        r" (?:statement|claim|assertion|figure|number)\b",
        r"\bwhich (?:of (?:them|these|the) )?(?:figures?|numbers?|claims?|statements?|sources?|pages?) (?:is|are)"
        r" (?:right|correct|true|wrong|accurate)\b",
    ),
)
TEXT: Final = Kind(
    "text",
    "ratchet",
    "a text to write or improve",
    _words(
        r"<begin>(?:polish|proofread|copy-?edit|reword|rephrase|tighten|shorten|simplify|clarify)\b(?: and \w+)?"
        r"(?:[:,]| (?:[\w'-]+ ){0,6}?<text>\b)",
        r"<begin>(?:improve|edit|revise|rewrite|reformulate|cut|condense)\b (?:[\w'-]+ ){0,6}?<text>\b",
        r"<begin>(?:make|give) (?:this|these|the|my|our) (?:[\w'-]+ ){0,3}?<text>\b",
        r"<begin>(?:write|draft|compose) (?:me |us )?(?:an?|the|our|my) (?:[\w'-]+ ){0,3}?<text>\b",
        r"\b(?:too wordy|sounds (?:rude|hollow|clumsy|stiff))\b",
        r"\b(?:better|clearer|kinder|shorter|friendlier) (?:wording|phrasing|formulation)\b",
    ),
    _words(
        r"\b(?:docstring|commit message|unit tests?|code comment)\b",
        r"\b(?:migration|project|test|rollout) plan\b",
    ),
)
# A single reply is not checked, so these two tables name their objects: "convert" alone may be a year's work.
CHORE: Final = Kind(
    "chore",
    "single-pass",
    "a small chore",
    _words(
        r"<begin>(?:fix|correct)\b[^?!]{0,80}\b(?:typos?|spelling|misspel\w+|whitespace|indentation|punctuation|commas?"
        r"|capitali[sz]ation|headings?|labels?|captions?|docstrings?|formatting)\b",
        r"<begin>(?:bump|set|pin|add|update|replace|change|swap|sort|put|move|insert|append|write|raise|lower"
        r"|increase|decrease|hide|make|use|reformat|remove|delete|rename)\b[^?!]{0,80}"
        r"\b(?:typos?|spelling|misspel\w+|whitespace|docstrings?|comments?|changelog|readme|imports?|isort"
        r"|headings?|labels?|footer|header|log (?:level|line)|unit tests?|copyright year|file ?names?|parameter name"
        r"|config key|icon|semicolons?|indentation|quotes?|colou?rs?|buttons?|pictures?|captions?|full stops?|commas?"
        r"|badges?|spaces|tabs|trailing|sign-?up sheet|help text|menu entry|placeholder|unused \w+)\b",
        r"<begin>(?:set|bump|pin|raise|lower|increase|decrease|change)\b[^?!]{0,80}\b(?:versions?|time-?outs?|links?)\b",
        r"<begin>rename (?:`|\w+_\w|the (?:[\w-]+ )?(?:file|function|class|method|column|field|flag|folder|module))",
        r"<begin>(?:run|apply) (?:the )?(?:codespell|black|ruff|isort|prettier|eslint|gofmt|formatter|linter|spell)",
        r"<begin>(?:translate|convert|transcribe|alphabeti[sz]e|reformat) (?:this|these|the|my) (?:\w+ ){0,2}?"
        r"(?:lists?|tables?|text|notes?|notice|sentences?|words?|lines?|paragraphs?|message|image|dates?|units?|names?)\b",
        r"<begin>(?:summari[sz]e|sum up)\b",
        r"<begin>(?:turn|convert|transform|reformat) (?:this|these|the)\b[^?!]{0,80}\b(?:in)?to\b[^?!]{0,40}"
        r"\b(?:json|yaml|toml|csv|tsv|markdown|table|bullet points?|html|xml)\b",
        r"<begin>(?:add|set|make|use) `[^`]+`[^?!]{0,80}\b(?:default|flag|option|parser|import)\b",
    ),
    _words(r"\?\s*$", r"\b(?:should|would|could|whether|why|how)\b"),
)
LOOK_UP: Final = Kind(
    "look-up",
    "single-pass",
    "a fact to look up",
    _words(
        r"^\s*where (?:does|do)\b<rest>\b(?:keep|store|put|save|write|log|look for|live|define|document)s?\b",
        r"^\s*where (?:is|are)\b<rest>"
        r"\b(?:stored|kept|saved|written|defined|documented|located|installed|configured)\b",
        r"^\s*where can i find\b",
        r"^\s*who (?:wrote|maintains|invented|created|is the (?:author|maintainer|editor))\b",
        r"^\s*when (?:was|were|did)\b<rest>\b(?:released?|published|founded|introduced?|added|removed|written|born"
        r"|start|begin|end|deprecated?)\b",
        r"^\s*when does\b<rest>\b(?:open|close|start|begin|end|expire|take place)\b",
        r"^\s*how (?:many|much|long|often) [\w-]+(?: [\w-]+)? ?(?:does|do|did|is|are|has|have|was|wait)?\b",
        r"^\s*how (?:do|can) i (?:list|show|see|print|open|close|find|undo|check|read|convert|format|exit|quit|copy"
        r"|rename|rebase|clone|get the|pass|quote|escape|enable|disable|turn (?:on|off)|comment out)\b",
        r"^\s*(?:(?:on|in|at|to|for|by|under|from|since|with) )?(?:which|what)"
        r"(?: (?:tcp|udp|default|minimum|maximum|latest|current|exact|first|last))*"
        r" (?:command|flag|option|switch|port|version|file|folder|directory|path|environment variable|url|license|year"
        r"|date|day|room|header|(?:status|exit) code|release|syntax)\b",
        r"^\s*(?:which|what) (?:\w+ )?(?:variable|setting|function|method|key|option) (?:tells?|shows?|turns?|prints?"
        r"|sets?|lists?|controls?|enables?|disables?|returns?|holds?|contains?|does|do)\b",
        r"^\s*what (?:is|are|was|were) the (?:[\w'-]+ ){0,3}?(?:name|default|value|timeout|ports?|version|path|urls?"
        r"|meaning|syntax|command|flag|switch|limit|size|date|number|license|room|address|capital|abbreviation"
        r"|definition|unit|keys?|shortcut|extension)\b",
        r"^\s*what does (?:\S+ ){1,6}?(?:mean|stand for|return|print|default to|do\?)",
        r"\bwhat does (?:that|this|it|the) (?:\w+ ){0,2}(?:mean|stand for)\b",
        r"^\s*does any(?:one|body) know (?:the|which|what|where|when|who)\b",
        r"^\s*(?:which|what) \w+(?: \w+)? (?:does|do) (?:the|our|its) (?:[\w-]+ )?(?:guide|manual|docs|documentation"
        r"|spec\w*|file|readme|api|page|standard)\b",
        r"^\s*(?:list|show me|tell me|look up|define|explain|describe|give me)"
        r" (?:the|an?|all|what|how|which|where|when)\b",
    ),
    _words(
        r"\b(?:should|would|could|shall|ought|will|better|best|right|safest|ideal|optimal|acceptable|reasonable|good"
        r"|recommend\w*|suitable|fits?|need(?:ed)?|needs|worth|why|more|less|enough|too|we|cost|makes? sense|pays? off"
        r"|responsible|to blame|allowed|to do|expect|our|my|may|takes?|hold|carry|weight|kept|stable)\b",
        r"\b(?:delet\w*|remov\w*|overwrit\w*|free (?:up )?space)\b",
        r"\b(?:risks?|reasons?|pros|cons|ways|arguments?|options|ideas|alternatives|steps|strategy|plan|schedule"
        r"|proposal|design|draft|approach|architecture|bottleneck|roadmap|bugs?|causes?)\b",
    ),
)
TASK: Final = Kind(
    "task",
    "jugalbandi",
    "a task to plan",
    _words(
        r"<begin>(?:plan|design|build|implement|develop|organi[sz]e|set up|roll out|migrate|outline (?:what|how|the)"
        r"|break down|map out|lay out|work out how|figure out how to|refactor|restructure|rework|redesign|move|port"
        r"|convert|upgrade|replace|add|introduce|create|integrate|automate|harden|launch|prepare|digiti[sz]e"
        r"|containeri[sz]e|consolidate|extend|split|switch|turn|phase out|retire)\b(?![^.!?\n]*\?)",
        r"<begin>write (?:an?|the|our) (?:[\w'-]+ ){0,3}?(?:importer|exporter|parser|library|tool|service|script|client"
        r"|server|bot|app|application|migration|module|driver|plugin|generator|test suite|program)\b",
        r"<begin>(?:write|draft|prepare|make|create|draw up|put together|propose|give (?:me|us)|sketch|(?:i|we) need)"
        r" (?:(?:an?|the|our|us|me) )?(?:[\w'-]+ ){0,3}?(?:plan|schedule|roadmap|timetable|runbook|curriculum|checklist"
        r"|programme|program|playbook)\b",
        r"\bgive (?:me |us )?(?:the |all )?(?:tasks|steps|milestones|work packages)\b",
    ),
    # A plan that people dispute is a decision first.
    _words(
        r"\b(?:yes or no|disagree\w*|divided|at odds|cannot agree|(?:is|are) split|no (?:going|way) back"
        r"|cannot be undone|should we)\b"
    ),
)
# Specific requests come before wide ones: "rank these proposals" is an order and not a proposal.
KINDS: Final = (POSITION, ORDER, PROPOSAL, COMPARE, FACT, TEXT, CHORE, LOOK_UP, TASK)
"""Kinds in order of precedence: the first kind with a cue is chosen."""

OTHERWISE: Final = Kind(
    "decision", "crux", "everything else: a decision, or a cause to find", _words(r"(?!)")
)
"""The kind of a question without a cue."""
SINGLE: Final = "single-pass"
"""One reply without a check."""
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
