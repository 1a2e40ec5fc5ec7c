"""Grammar: checks that the strings of an event with a fixed form (hashes, roles, decimals, …) have that form.

The types publish these forms. They are checked here because a look-up among strings already accepted costs a tenth of
a
regular expression. A test proves that the table below names every string that has a form in the types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Any, Final

from ledger.events import Call, Envelope
from ledger.events.values import (
    AT_PATTERN,
    CONTEXT_PATTERN,
    DECIMAL_PATTERN,
    HEX64_PATTERN,
    ROLE_PATTERN,
    STEP_PATTERN,
)

Check = Callable[[Any], "str | None"]
"""What is wrong with an event, in words; None when nothing is."""

REMEMBERED_MAX: Final = 4_096


class Form:
    """Form of strings, with a cache of strings that have it."""

    __slots__ = ("_match", "known", "pattern")

    def __init__(self, pattern: str) -> None:
        self.pattern: Final = pattern
        self._match = re.compile(pattern).search
        self.known: set[str] = set()

    def fits(self, text: str) -> bool:
        """Return whether `text` has this form."""
        if text in self.known:
            return True
        if not self._match(text):
            return False
        # A ledger chooses these strings, so the cache is bounded. Clearing it costs less than keeping an order
        # of use.
        if len(self.known) >= REMEMBERED_MAX:
            self.known.clear()
        self.known.add(text)
        return True


HASH: Final = Form(HEX64_PATTERN)
ROLE: Final = Form(ROLE_PATTERN)
STEP: Final = Form(STEP_PATTERN)
DECIMAL: Final = Form(DECIMAL_PATTERN)
CONTEXT: Final = Form(CONTEXT_PATTERN)
INSTANT: Final = Form(AT_PATTERN)

FORMS: Final[dict[str, tuple[tuple[str, Form], ...]]] = {
    "artifact": (("role", ROLE),),
    "claim": (("raised_by", ROLE), ("sightings[].role", ROLE)),
    "concern": (("sightings[]", ROLE),),
    "belief": (("role", ROLE),),
    "experiment_planned": (
        ("files[].sha256", HASH),
        ("inputs[].sha256", HASH),
        ("pass_if[].tolerance", DECIMAL),
        ("fail_if[].tolerance", DECIMAL),
        ("controls[].files[].sha256", HASH),
    ),
    "experiment_run": (
        ("stdout.sha256", HASH),
        ("stdout.kept", HASH),
        ("stderr.sha256", HASH),
        ("stderr.kept", HASH),
        ("outputs[].sha256", HASH),
        ("started_at", INSTANT),
    ),
    "screening": (("sha256", HASH),),
    "validation": (("rules", HASH),),
    "run_opened": (
        ("context[].sha256", HASH),
        ("cast[].role", ROLE),
        ("plan[].absent", ROLE),
        ("predict[].role", ROLE),
        ("stop.params", HASH),
        ("budgets.usd", DECIMAL),
        ("prompt_set", HASH),
        ("origin.head", HASH),
    ),
    "round_opened": (
        ("lead", ROLE),
        ("absent", ROLE),
        ("planned_stress", ROLE),
        ("findings[].role", ROLE),
    ),
    "decision": (("dissent[].role", ROLE), ("output", HASH)),
    "score": (("total", DECIMAL), ("claimed_total", DECIMAL)),
    "signals": (
        ("params", HASH),
        ("signals[].value", DECIMAL),
        ("signals[].threshold", DECIMAL),
        ("pool{}", DECIMAL),
        ("values[].evsi", DECIMAL),
    ),
    "alarm": (("params", HASH),),
    "fallback": (("role", ROLE),),
}
"""Kind → strings beyond the envelope that have a form. Those that are null need none."""

ENVELOPE: Final = (
    ("step", STEP),
    ("by", ROLE),
    ("call.context.id", CONTEXT),
    ("call.prompt_set", HASH),
    ("call.brief", HASH),
    ("call.reply", HASH),
    ("call.attempts[].brief", HASH),
    ("call.attempts[].reply", HASH),
    ("call.attempts[].cost_usd", DECIMAL),
    ("call.cost_usd", DECIMAL),
)
"""The same of the envelope; `prev` and `at` are looked at in the bytes of the line (`canonical.py`)."""


_is_context: Final = re.compile(CONTEXT_PATTERN).search  # each is new: there is nothing to remember


@cache
def grammar(kind: str) -> Check:
    """Return a function that says what is wrong with the strings of an event of this kind, or None."""
    own = [_check(path, form) for path, form in FORMS.get(kind, ())]
    every = [_check(path, form) for path, form in ENVELOPE] + own

    def check(event: Envelope) -> str | None:
        # The quick test covers the whole envelope at once. Only a suspicious event is checked field by field,
        # which names the field.
        for check_form in own if _is_usual(event) else every:
            problem = check_form(event)
            if problem:
                return problem
        return None

    return check


def _check(path: str, form: Form) -> Check:
    if path.isidentifier():
        value_of, fits = attrgetter(path), form.fits
        return lambda event: None if (text := value_of(event)) is None or fits(text) else _wrong(path, text)
    outer, is_listed, inner = path.partition("[].")
    if is_listed and outer.isidentifier() and inner.isidentifier():
        return _check_each(path, outer, inner, form)
    names = path.split(".")

    def check(event: Any) -> str | None:
        for text in _values(event, names):
            if not form.fits(text):
                return _wrong(path, text)
        return None

    return check


def _check_each(path: str, outer: str, inner: str, form: Form) -> Check:
    """Return a check for a field of each struct in a list, the usual case and often an empty list."""
    list_of, value_of, fits = attrgetter(outer), attrgetter(inner), form.fits

    def check(event: Any) -> str | None:
        for part in list_of(event) or ():
            text = value_of(part)
            if text is not None and not fits(text):
                return _wrong(path, text)
        return None

    return check


def _wrong(path: str, text: str) -> str:
    return f"{path} {text!r} has not its form"


def _values(value: Any, names: list[str]) -> Iterator[str]:
    """Yield the strings at a path of names. `[]` marks a list and `{}` an object; null ends the path."""
    if not names:
        yield value
        return
    part = getattr(value, names[0].rstrip("[]{}"))
    if part is None:
        return
    for element in part.values() if names[0].endswith("{}") else part if names[0].endswith("[]") else (part,):
        yield from _values(element, names[1:])


def _is_usual(event: Envelope) -> bool:
    """Return whether the envelope's strings certainly have their forms. On False they are checked one by one."""
    step, call = event.step, event.call
    if event.by not in ROLE.known and not ROLE.fits(event.by):
        return False
    if step is not None and step not in STEP.known and not STEP.fits(step):
        return False
    return call is None or _is_usual_call(call)


def _is_usual_call(call: Call) -> bool:
    """Return whether a call's strings certainly have their forms."""
    context, cost = call.context.id, call.cost_usd
    if context is not None and not _is_context(context):
        return False
    if cost is not None and cost not in DECIMAL.known and not DECIMAL.fits(cost):
        return False
    # The types fix each hash at 64 characters, so one conversion of their concatenation proves all of them.
    hashes = call.prompt_set + call.brief + call.reply
    for attempt in call.attempts:
        hashes += attempt.brief if attempt.reply is None else attempt.brief + attempt.reply
        if attempt.cost_usd != cost and attempt.cost_usd is not None and not DECIMAL.fits(attempt.cost_usd):
            return False
    try:
        return bytes.fromhex(hashes).hex() == hashes
    except ValueError:
        return False
