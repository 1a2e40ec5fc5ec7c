"""Seeded damage to bytes and to values: the same seed gives the same bytes."""

from __future__ import annotations

import json
import random
from copy import deepcopy
from typing import Any, Final

ATOMS: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    2**53,
    10**30,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    " ",
    "\u202e",
    "\u2028",
    "\ud800",
    "\x00",
    "\x1b[31m",
    "x" * 20_000,
    "C-1-1",
    "../../etc/passwd",
    "G-1",
    "{{question}}",
    [],
    {},
    [[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]],
    {"a": {"b": {"c": {}}}},
)
TOKENS: Final = (
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b",",
    b":",
    b"\n",
    b"\xff",
    b"\0",
    b"NaN",
    b"1e999",
    b"\\ud800",
    b"=",
    b".",
)


def damaged_bytes(rng: random.Random, content: bytes) -> bytes:
    """A few cuts, flips, doublings and insertions."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(changed) + 1)
        end = min(len(changed), place + rng.randint(1, 40))
        match rng.randrange(5):
            case 0:
                del changed[place:end]
            case 1:
                changed[place:place] = rng.choice(TOKENS) * rng.choice((1, 1, 2, 5_000))
            case 2:
                changed[place:place] = changed[place:end]
            case 3 if place < len(changed):
                changed[place] ^= 1 << rng.randrange(8)
            case _:
                changed[place:end] = rng.choice(TOKENS)
    return bytes(changed)


def damaged_value(rng: random.Random, value: Any) -> Any:
    """The value with one place replaced, dropped, doubled or renamed."""
    places = list(_places(value))
    if not places:
        return deepcopy(rng.choice(ATOMS))
    container, key = rng.choice(places)
    match rng.randrange(4):
        case 0:
            del container[key]
        case 1 if isinstance(container, dict):
            container[f"{key}{rng.choice(('', '_', '2'))}"] = container.pop(key)
        case 1 | 2 if isinstance(container, list):
            container.insert(key, deepcopy(container[key]))
        case _:
            container[key] = deepcopy(rng.choice(ATOMS))  # or the next damage would change the atom
    return value


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Bytes of JSON, damaged as bytes or as a value."""
    if rng.random() < 0.4:
        return damaged_bytes(rng, content)
    value = json.loads(content)
    for _ in range(rng.randint(1, 3)):
        value = damaged_value(rng, value)
    return json.dumps(value).encode("utf-8", "surrogatepass")
