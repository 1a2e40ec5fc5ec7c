"""Whether all models of a run are of one family: what they share in blind spots, agreement cannot show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NAME = re.compile(r"[A-Za-z]+")


class Family(NamedTuple):
    """Who made the models, and the name that theirs begin with, such as `claude`."""

    provider: str
    name: str


def family_of(provider: str | None, model: str | None) -> Family | None:
    """The family of a model; None when it is not known who made it or what it is called."""
    name = _NAME.match((model or "").rpartition("/")[2])
    return Family(provider, name[0].lower()) if provider and name else None


class Answered(NamedTuple):
    """Who answered for a role at least once; a person's seat is `human`."""

    role: str
    seat: str
    provider: str | None
    model: str | None


def one_family(answered: Iterable[Answered]) -> str | None:
    """The warning, when models answered for two roles or more and all are known to be of one family."""
    models = {one for one in answered if one.seat != "human"}
    families = {family_of(one.provider, one.model) for one in models}
    if len(families) != 1 or len({one.role for one in models}) < 2:
        return None
    family = families.pop()
    if family is None:
        return None
    return f"all model seats are of one family ({family.provider} {family.name}): they may share blind spots"
