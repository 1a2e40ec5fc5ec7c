"""Who plays which part: of an import by the sections that checks cite in a role's artifacts, not by the role's name.

An import may call its roles what it likes, also by each other's names. An attack is the adversary's all the same, an
invariant the guardian's, a trace the one's who acts and a step the walking observer's (SD-6, SD-10, SD-12, SD-14).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

from detectors.observations import ROLES, is_import
from ledger.state import State

_ARTIFACT: Final = re.compile(r"(?:^|/)([a-z][a-z0-9_]*)\.md#([a-z]+)")
_PART_OF_SECTION: Final = {
    "trace": "action",
    "invariant": "guardian",
    "step": "observer",
    "friction": "observer",
    "attack": "critic",
}


def parts(state: State) -> Mapping[str, str]:
    """Role → its part (`action`, `guardian`, `observer`, `critic`); by name where the sections do not tell all four."""
    by_name = {role: role for role in ROLES}
    if not is_import(state):
        return by_name
    seen: dict[str, Counter[str]] = {}
    for check in state.checks.values():
        for ref in check.refs:
            found = _ARTIFACT.search(ref)
            part = _PART_OF_SECTION.get(found[2]) if found else None
            if found and part:
                seen.setdefault(found[1], Counter())[part] += 1
    told = {role: counted.most_common(1)[0][0] for role, counted in seen.items() if role in by_name}
    return told if set(told.values()) == set(ROLES) else by_name
