"""Grammar: checks that the strings of an event with a fixed form (hashes, roles, decimals, …) have that form.

The types publish these forms, and from the types they are taken. They are checked here because a look-up among strings
already accepted costs a tenth of a regular expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec

from ledger.events.envelope import Call, Envelope
from ledger.events.kinds import KINDS, values_at
from ledger.events.values import CONTEXT_PATTERN, DECIMAL_PATTERN, HEX64_PATTERN, ROLE_PATTERN, STEP_PATTERN

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


@cache
def form_of(pattern: str) -> Form:
    """Return the form with this pattern."""
    return Form(pattern)


HASH: Final = form_of(HEX64_PATTERN)
ROLE: Final = form_of(ROLE_PATTERN)
STEP: Final = form_of(STEP_PATTERN)
DECIMAL: Final = form_of(DECIMAL_PATTERN)
IN_PREFIX: Final = frozenset({"prev", "at"})
"""Strings that are looked at in the bytes of the line (`canonical.py`)."""


def forms(type_: Any, path: str = "") -> Iterator[tuple[str, Form]]:
    """Yield path and form of every string below a type that has one; the paths are those of `values_at`."""
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        for name, inner in type_.__annotations__.items():
            yield from forms(inner, f"{path}.{name}".lstrip("."))
    elif get_origin(type_) is Annotated:
        for meta in type_.__metadata__:
            if "pattern" in (meta.extra_json_schema or {}):
                yield path, form_of(meta.extra_json_schema["pattern"])
        yield from forms(type_.__origin__, path)
    else:
        mark = {tuple: "[]", dict: "{}"}.get(get_origin(type_), "")
        for inner in get_args(type_):
            yield from forms(inner, path + mark)


ENVELOPE: Final = tuple((path, form) for path, form in forms(Envelope) if path not in IN_PREFIX)
"""Forms of the strings that every event has."""
_is_context: Final = re.compile(CONTEXT_PATTERN).search  # each is new: there is nothing to remember


@cache
def grammar(kind: str) -> Check:
    """Return a function that says what is wrong with the strings of an event of this kind, or None."""
    own = [_check(path, form) for path, form in forms(KINDS[kind].model)]
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

    def check(event: Any) -> str | None:
        for text in values_at(event, path):
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
