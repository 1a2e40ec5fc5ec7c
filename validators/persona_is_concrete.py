"""STY003, warning: the operator of a walkthrough is somebody: a name, a role, a level of skill that can be checked.

"A typical user" gets through everything. Source: SD-12, SD-13.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from validators.reading.bodies import artifacts, part, text
from validators.reading.docket import Docket
from validators.reading.rule import Breach, Rule

GENERIC: Final = re.compile(
    r"^(the |an? )?((typical|average|generic|regular|normal|any|some|standard) )?"
    r"(user|operator|person|developer|engineer|customer|end user|somebody|someone|persona|n/?a|none|tbd)$",
    re.IGNORECASE,
)
VAGUE: Final = re.compile(
    r"^(average|medium|normal|typical|basic|some|standard|n/?a|none|tbd|skilled|mixed)\.?$", re.IGNORECASE
)


def check(docket: Docket) -> Iterator[Breach]:
    """Personas that could be anybody."""
    for event in artifacts(docket, "operator_walkthrough"):
        persona = part(event, "persona")
        if GENERIC.match(text(persona, "name").strip()):
            yield Breach(event.seq, f"{event.id}: {text(persona, 'name')!r} is nobody in particular")
        if VAGUE.match(text(persona, "skill").strip()):
            yield Breach(
                event.seq,
                f"{event.id}: the skill {text(persona, 'skill')!r} says nothing that could be checked",
            )


RULE: Final = Rule(
    code="STY003",
    name="persona_is_concrete",
    severity="warning",
    summary="The operator of a walkthrough is somebody: a name, a role, a checkable level of skill.",
    check=check,
)
