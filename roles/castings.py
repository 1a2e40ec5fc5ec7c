"""Castings: a title and a charge for every role in a domain. The charters are the same in all domains.

The four domains are those for which structured deliberation was described: product and architecture, software review,
research method, launch. A deliberation file may replace any title or charge (`[cast.<role>] title, charge`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from roles.protocol import RoleDefinition


class CastPart(NamedTuple):
    """Title and charge of a role."""

    title: str
    charge: str


Casting = Mapping[str, CastPart]
"""Role → part."""

DEFAULT_CASTING: Final = "product"

CASTINGS: Final[Mapping[str, Casting]] = {
    "product": {
        "action": CastPart(
            "Engineer who builds it",
            "Show what the design does once it runs: which component holds which state, who writes it,"
            " and what happens between two writes.",
        ),
        "guardian": CastPart(
            "Keeper of the product's promise",
            "Name the promise to the people who rely on this that must survive every compromise, and hold"
            " the design to it.",
        ),
        "observer": CastPart(
            "End user on an ordinary day",
            "Sit down with what is specified and try to get a real piece of work done, with the skill and"
            " patience that such a person has.",
        ),
        "critic": CastPart(
            "Red team",
            "Find the cheapest realistic way to make the design break its word, and show it step by step.",
        ),
        "verifier": CastPart(
            "Independent examiner",
            "Try what was claimed against what was written, and say what the evidence shows.",
        ),
    },
    "software": {
        "action": CastPart(
            "Lead of the implementation",
            "Trace the change through the running system: calls, data, failures, deployment order, and"
            " the way back.",
        ),
        "guardian": CastPart(
            "Maintainer five years on",
            "Name the property that keeps this code changeable and correct, and see whether the change"
            " keeps it.",
        ),
        "observer": CastPart(
            "Developer who meets it for the first time",
            "Use the interface as documented to finish a task, and report where it misleads or leaves one"
            " alone.",
        ),
        "critic": CastPart(
            "Adversary of the happy path",
            "Construct the input, timing or load under which the change fails in production, and what"
            " would be seen.",
        ),
        "verifier": CastPart(
            "Independent reviewer",
            "Try each finding against code, text and trace, and say what is shown and what is opinion.",
        ),
    },
    "research": {
        "action": CastPart(
            "Experimentalist",
            "Lay out what is done to what, in which order, with which measurements, so that the run can"
            " be imagined sample by sample.",
        ),
        "guardian": CastPart(
            "Keeper of validity",
            "Name the condition under which the measurement means what the theory says it means, and test"
            " the design against it.",
        ),
        "observer": CastPart(
            "Replicator in another laboratory",
            "Try to carry the study out from its description alone, with ordinary equipment, and report"
            " where it stops.",
        ),
        "critic": CastPart(
            "Hunter of confounds",
            "Find the rival explanation that would give the same data, and the observation that would"
            " tell the two apart.",
        ),
        "verifier": CastPart(
            "Independent methodologist",
            "Weigh each objection against the stated method, and say whether it touches the conclusion.",
        ),
    },
    "launch": {
        "action": CastPart(
            "Owner of the release",
            "Trace the launch hour by hour: what is switched, who sees what, what is counted, how it is"
            " undone.",
        ),
        "guardian": CastPart(
            "Safety, brand and compliance",
            "Name the commitment that must not be broken on any channel or in any country, and hold the"
            " plan to it.",
        ),
        "observer": CastPart(
            "First-time user, and the support desk that answers",
            "Live through the first session and the first complaint with what has been prepared.",
        ),
        "critic": CastPart(
            "The story nobody wants to read",
            "Write the course of events that turns this launch into a bad headline, from causes that are"
            " already there.",
        ),
        "verifier": CastPart(
            "Independent auditor",
            "Compare the plan with the evidence for each of its assurances, and say which of them stand.",
        ),
    },
}


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})\b", re.IGNORECASE)


_ALONE: Final = {"release": "launch", "study": "research", "methods": "research", "code": "software"}
"""Words that suggest a casting only when they are the whole domain, because they are ambiguous otherwise."""
_OTHERWISE: Final = _words(
    r"(?:dress|building|fire|postal|zip|tax|penal|civil|criminal|labou?r|bar|qr|morse|genetic|moral|zoning) codes?"
    r"|codes? of (?:conduct|practice|ethics|law|honou?r)|study (?:rooms?|halls?|visas?|places?)"
)
"""Phrases that contain a word of a casting but mean something else."""
_WORDS_OF_DOMAIN: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "launch",
        _words(
            r"launch(?:es|ed|ing)?|roll-?outs?|go[- ]to[- ]market|campaigns?"
            r"|(?:product|software|app|game|press|beta|public|major) releases?"
            r"|release (?:plan(?:ning)?|dates?|management)"
        ),
    ),
    (
        "research",
        _words(
            r"research(?:es)?|methodolog(?:y|ies|ical)|experiment(?:s|al)?|studies|(?:user|field|pilot|case) study"
            r"|study (?:design|protocol)s?|clinical trials?|sciences?|scientific|statistics?|statistical"
        ),
    ),
    (
        "software",
        _words(
            r"software|code ?bases?|codes?|coding|programming|refactor(?:s|ed|ing|ings)?|apis?|sdks?|firmware"
            r"|back-?end|front-?end|(?:python|rust|java|javascript|open[- ]source) librar(?:y|ies)"
            r"|compilers?|devops|microservices?"
        ),
    ),
)
"""Casting → whole words of a domain that suggest it, tried in this order; otherwise the default is used."""


class UnknownCasting(ValueError):
    """Error for an unknown casting; the message names the installed ones."""


def cast_of(casting: str | None, domain: str | None) -> Casting:
    """Return the casting of a name; without a name, the one that the domain's words suggest, or the default.

    Raises `UnknownCasting` for a name that is not installed.
    """
    if casting is None:
        return CASTINGS[_suggested(domain or "")]
    chosen = CASTINGS.get(casting)
    if chosen is None:
        raise UnknownCasting(f"no casting {casting!r}; there are {', '.join(CASTINGS)}")
    return chosen


def own_casting(roles: Sequence[RoleDefinition]) -> Casting:
    """Return the casting of a protocol whose roles are the same in every domain."""
    return {role.id: CastPart(role.title or role.id.replace("_", " "), role.question) for role in roles}


def _suggested(domain: str) -> str:
    # "release" alone means a launch, but "release of a prisoner" does not.
    alone = _ALONE.get(domain.strip().casefold())
    if alone is not None:
        return alone
    # "Tax code" must not suggest software, so such phrases are removed first.
    rest = _OTHERWISE.sub(" ", domain)
    return next((name for name, words in _WORDS_OF_DOMAIN if words.search(rest)), DEFAULT_CASTING)
