"""R-15: grounded labels and DF-QuAD strengths over whole graphs, against slow oracles."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detectors.standing import df_quad, grounded, label_under, strengths
from tests.oracles.argumentation import label, strength

NAMES = tuple("abcdefgh")


@st.composite
def graphs(draw: st.DrawFn, *, cycles: bool) -> dict[str, tuple[str, ...]]:
    """Up to eight arguments; without cycles only later ones attack."""
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    return {
        name: tuple(draw(st.lists(st.sampled_from(later), unique=True, max_size=4))) if later else ()
        for position, name in enumerate(names)
        for later in [names if cycles else names[position + 1 :]]
    }


@settings(max_examples=400)
@given(graphs(cycles=True))
def test_labels_are_those_of_the_grounded_extension(attacks: dict[str, tuple[str, ...]]) -> None:
    found = grounded(attacks)
    assert found == {argument: label(argument, attacks) for argument in attacks}
    for argument, attackers in attacks.items():
        if argument not in attackers:
            assert found[argument] == label_under([found[by] for by in attackers])


@settings(max_examples=400)
@given(graphs(cycles=False), st.data())
def test_strengths_are_those_of_the_recursion(
    attacks: dict[str, tuple[str, ...]], data: st.DataObject
) -> None:
    bases = {argument: data.draw(st.floats(0, 1)) for argument in attacks}
    found = strengths(bases, attacks)
    for argument in attacks:
        assert found[argument] == pytest.approx(strength(argument, bases, attacks), abs=1e-9)


@settings(max_examples=200, deadline=None)
@given(graphs(cycles=True), st.data())
def test_strengths_on_cycles_solve_the_equations_with_the_weights_of_verifications(
    attacks: dict[str, tuple[str, ...]], data: st.DataObject
) -> None:
    """Every strength stays between 0 and its base, and outside and below cycles it solves its equation."""
    bases = {argument: data.draw(st.sampled_from((0.2, 0.6))) for argument in attacks}
    found = strengths(bases, attacks)
    assert all(0 <= found[argument] <= base for argument, base in bases.items())
    for argument, attackers in attacks.items():
        if not _reaches_cycle(argument, attacks):
            expected = df_quad(bases[argument], [found[by] for by in attackers], ())
            assert found[argument] == pytest.approx(expected, abs=1e-9)


def _reaches_cycle(argument: str, attacks: dict[str, tuple[str, ...]]) -> bool:
    def walk(one: str, path: tuple[str, ...]) -> bool:
        return one in path or any(walk(by, (*path, one)) for by in attacks[one])

    return walk(argument, ())


@pytest.mark.parametrize("base", [0.2, 0.6, 0.9, 1.0])
def test_two_that_attack_each_other_are_equal(base: float) -> None:
    """s = b·(1 − s): the one solution; at b = 1 the bounds never meet and the middle is the same number."""
    found = strengths({"a": base, "b": base}, {"a": ("b",), "b": ("a",)})
    assert found == {"a": pytest.approx(base / (1 + base)), "b": pytest.approx(base / (1 + base))}
    assert set(grounded({"a": ("b",), "b": ("a",)}).values()) == {"UNDEC"}


def test_a_cycle_of_three_is_equal_too() -> None:
    attacks = {"a": ("b",), "b": ("c",), "c": ("a",)}
    found = strengths(dict.fromkeys(attacks, 0.6), attacks)
    assert list(found.values()) == pytest.approx([0.375] * 3)


def test_a_long_chain_is_followed_to_its_end() -> None:
    names = [f"V-{n}" for n in range(300)]
    attacks = {name: (names[n + 1],) if n + 1 < len(names) else () for n, name in enumerate(names)}
    assert [grounded(attacks)[name] for name in names[-4:]] == ["OUT", "IN", "OUT", "IN"]
    assert grounded(attacks)["V-0"] == "OUT"
    assert math.isclose(strengths(dict.fromkeys(names, 0.6), attacks)["V-0"], 0.375)
