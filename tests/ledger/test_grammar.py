"""Grammar: every string with a form is known by its path, and each is held to it."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from msgspec import inspect

from ledger.events import KINDS
from ledger.events.laws import ENVELOPE, IN_PREFIX, forms, grammar
from tests.ledger import samples


def forms_in(type_: inspect.Type, path: str) -> Iterator[tuple[str, str]]:
    """Path and pattern of every string with a form below a type."""
    match type_:
        case inspect.Metadata(extra_json_schema=extra):
            if extra and "pattern" in extra:
                yield path, extra["pattern"]
        case inspect.UnionType(types=types):
            for one in types:
                yield from forms_in(one, path)
        case inspect.VarTupleType(item_type=item):
            yield from forms_in(item, f"{path}[]")
        case inspect.DictType(value_type=value):
            yield from forms_in(value, f"{path}{{}}")
        case inspect.StructType(fields=fields):
            for field in fields:
                yield from forms_in(field.type, f"{path}.{field.name}".lstrip("."))
        case _:
            pass


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_string_that_has_a_form_in_the_published_types_is_checked(kind: str) -> None:
    published = {
        (path, pattern)
        for path, pattern in forms_in(inspect.type_info(KINDS[kind].model), "")
        if path not in IN_PREFIX
    }
    assert published == {(path, form.pattern) for path, form in (*ENVELOPE, *forms(KINDS[kind].model))}


SOUND = samples.statement()
CALL = SOUND.call
assert CALL is not None
BROKEN_CALLS = [
    {"prompt_set": "F" * 64},
    {"brief": "0" * 63 + "\n"},
    {"reply": " " * 64},
    {"reply": "g" + "0" * 63},
    {"reply": "٠" * 64},
    {"cost_usd": "1.0000000001"},
    {"cost_usd": "-0"},
    {"context": msgspec.structs.replace(CALL.context, id="c0")},
    {"context": msgspec.structs.replace(CALL.context, id="c1\n")},
    {"context": msgspec.structs.replace(CALL.context, id="c١")},
]


@pytest.mark.parametrize("change", BROKEN_CALLS)
def test_a_string_without_its_form_is_named(change: dict[str, object]) -> None:
    check = grammar("statement")
    assert CALL is not None
    assert check(SOUND) is None
    broken = msgspec.structs.replace(SOUND, call=msgspec.structs.replace(CALL, **change))
    problem = check(broken)
    assert problem is not None
    assert problem.startswith(f"call.{next(iter(change))}")
    assert check(SOUND) is None


@pytest.mark.parametrize(
    ("field", "value"), [("by", "Critic"), ("by", "critic\n"), ("step", "r1.D"), ("step", "")]
)
def test_a_part_of_the_envelope_without_its_form_is_named(field: str, value: str) -> None:
    problem = grammar("claim")(msgspec.structs.replace(samples.claim(1), **{field: value}))
    assert problem is not None
    assert problem.startswith(field)


def test_what_is_remembered_is_bounded_and_right() -> None:
    check = grammar("claim")
    for n in range(10_000):
        assert check(msgspec.structs.replace(samples.claim(1), step=f"r{n}.D.critic")) is None
        assert check(msgspec.structs.replace(samples.claim(1), step=f"r{n}.D.Critic")) is not None
