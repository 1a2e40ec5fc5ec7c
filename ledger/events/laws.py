"""Checks of single events that msgspec does not make: strings with a fixed form, and the laws of their kind.

Forms (hashes, roles, decimals, …) are published by the types, and from the types they are taken; a look-up among
strings already accepted costs a tenth of a regular expression. Laws are in the rows of `kinds.py`. Counts, non-empty
text and the shape of an artifact's body are waived for `by: import` (FORMAT 12), where a rule reports them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, Final, get_args, get_origin

import msgspec

from ledger.events.artifacts import BODIES
from ledger.events.claims import Artifact
from ledger.events.envelope import (
    CONTEXT_PATTERN,
    DECIMAL_PATTERN,
    HEX64_PATTERN,
    ROLE_PATTERN,
    STEP_PATTERN,
    Call,
    Envelope,
)
from ledger.events.ids import id_pattern
from ledger.events.kinds import KINDS, Event, Law, Length, Paired, Total, values_at
from ledger.plain_json import converted

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
        inner, *marks = get_args(type_)
        for meta in marks:
            if "pattern" in (meta.extra_json_schema or {}):
                yield path, form_of(meta.extra_json_schema["pattern"])
        yield from forms(inner, path)
    else:
        containers: dict[Any, str] = {tuple: "[]", dict: "{}"}
        below = path + containers.get(get_origin(type_), "")
        for inner in get_args(type_):
            yield from forms(inner, below)


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
    return f"{path} {text!r} is malformed"


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


Broken = Callable[[Any], "str | None"]
"""What is wrong with an event, in words; None when nothing is."""


def broken_law(event: Event) -> str | None:
    """Return the first law that `event` breaks, in words; None when it keeps all."""
    return laws_of(event.kind)(event)


@cache
def laws_of(kind: str) -> Broken:
    """Return `broken_law` for the events of one kind, optimized for the usual case."""
    pattern = id_pattern(kind)
    # Nobody asks for the groups, and they cost time.
    is_id = re.compile(re.sub(r"\((?!\?)", "(?:", pattern)).match if pattern else None
    laws = fused(KINDS[kind].laws)
    has_body = kind == "artifact"

    def broken(event: Any) -> str | None:
        identity = event.id
        if (identity is None or not is_id(identity)) if is_id else identity is not None:
            return f"id {identity!r} is not an id of a {kind}" if is_id else f"a {kind} has no id"
        if event.call is None:
            if event.saw:
                return "saw is empty if and only if call is null"
        elif not event.saw:
            return "saw is empty if and only if call is null"
        elif event.via is not None:
            return "an event with via has call null"
        # Imports may lack what their source never recorded. LAW002 reports it as a warning instead.
        if event.by == "import":
            return None
        for law in laws:
            problem = law(event)
            if problem:
                return problem
        return _body(event) if has_body else None

    return broken


def broken_waived_laws(event: Event) -> Iterator[tuple[Law, str]]:
    """Yield the laws waived for imports that `event` does not keep, each with what is wrong."""
    for law, broken in _waived(event.kind):
        problem = broken(event)
        if problem is not None:
            yield law, problem


@cache
def _waived(kind: str) -> tuple[tuple[Law, Broken], ...]:
    return tuple((law, check_of(law)) for law in KINDS[kind].laws)


def _body(event: Artifact) -> str | None:
    try:
        converted(event.body, BODIES[event.type])
    except msgspec.ValidationError as error:
        return f"body: {error}"
    return None


def check_of(law: Law) -> Broken:
    """Return a check of one law: a function that says what is wrong with an event, or None."""
    match law:
        case Paired():
            return _paired(law)
        case Total():
            return _total(law)
        case Length():
            return _length(law)


def fused(laws: Sequence[Law]) -> tuple[Broken, ...]:
    """Return fewer checks than laws, for speed: fields that only must not be empty are checked at once."""
    simple: dict[str, list[Length]] = {}
    others: list[Broken] = []
    for law in laws:
        if isinstance(law, Length) and law == Length(law.path, 1):
            simple.setdefault(law.path.rpartition("[].")[0], []).append(law)
        else:
            others.append(check_of(law))
    return (*(_filled(outer, some) for outer, some in simple.items()), *others)


def _filled(outer: str, laws: list[Length]) -> Broken:
    """Check several laws on fields of the event itself (`outer` is empty) or of each struct in the list `outer`."""
    names = [law.path.rpartition("[].")[2] for law in laws]
    values_of = attrgetter(*names)
    is_full: Callable[[Any], object] = values_of if len(names) == 1 else lambda part: all(values_of(part))
    list_of = attrgetter(outer) if outer else None
    one_by_one = [_length(law) for law in laws]

    def broken(event: Any) -> str | None:
        # One attrgetter call covers every field. Only when it finds an empty one does the slow loop name which.
        if all(map(is_full, list_of(event))) if list_of else is_full(event):
            return None
        return next((problem for law in one_by_one if (problem := law(event))), None)

    return broken


def _paired(law: Paired) -> Broken:
    def broken(event: Any) -> str | None:
        other = getattr(event, law.other)
        expected = other is not None if law.equals is None else other == law.equals
        if (getattr(event, law.field) is not None) == expected:
            return None
        return f"{law.field} must be {'set' if expected else 'null'} here"

    return broken


def _total(law: Total) -> Broken:
    outer, _, inner = law.path.rpartition("[].")
    list_of, points_of = attrgetter(outer) if outer else None, attrgetter(inner)

    def broken(event: Any) -> str | None:
        for part in (event,) if list_of is None else list_of(event):
            total = sum(points_of(part).values())
            if total != 100:
                return f"{law.path} sum to {total}, not to 100"
        return None

    return broken


def _length(law: Length) -> Broken:
    measured = _nested(law) if "[]" in law.path else _flat(law)
    if law.unless is not None:
        field, value = law.unless
        return lambda event: None if getattr(event, field) == value else measured(event)
    if law.when is not None:
        field, value = law.when
        return lambda event: measured(event) if getattr(event, field) == value else None
    return measured


def _flat(law: Length) -> Broken:
    value_of, least, most = attrgetter(law.path), law.at_least, law.at_most

    def broken(event: Any) -> str | None:
        value = value_of(event)
        if value is None or (least <= len(value) and (most is None or len(value) <= most)):
            return None
        return (
            f"{law.path} needs at least {least}"
            if len(value) < least
            else f"{law.path} allows at most {most}"
        )

    return broken


def _nested(law: Length) -> Broken:
    """Check a law over a field of each struct in a list."""
    outer, _, inner = law.path.partition("[].")
    list_of = attrgetter(outer)
    measured = _flat(Length(inner, law.at_least, law.at_most))

    def broken(event: Any) -> str | None:
        for part in list_of(event):
            problem = measured(part)
            if problem:
                return f"{outer}[].{problem}"
        return None

    return broken
