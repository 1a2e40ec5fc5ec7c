"""What repetitions come to, against an oracle of its own; and plans that could not decide anything."""

from __future__ import annotations

import hashlib
import itertools
import json
from itertools import product
from typing import Any, Final

import pytest
from hypothesis import given, strategies as st

from ledger.events.experiments import (
    ExperimentControl,
    ExperimentEnvironment,
    ExperimentLimits,
    ExperimentPlanned,
    ExperimentRun,
    KeptOutput,
    NamedBlob,
    Predicate,
)
from ledger.state.experiments import judge, plan_problems, verdict_of

BLOBS: Final[dict[str, bytes]] = {}
EXIT_0: Final = Predicate(of="exit", test="equals", value="0")
EXIT_1: Final = Predicate(of="exit", test="equals", value="1")


def blob(content: bytes) -> str:
    name = hashlib.sha256(content).hexdigest()
    BLOBS[name] = content
    return name


def file(content: bytes) -> NamedBlob:
    return NamedBlob(name="program.py", sha256=blob(content))


def plan(
    passes: tuple[Predicate, ...] = (EXIT_0,),
    fails: tuple[Predicate, ...] = (EXIT_1,),
    k: int = 3,
    **more: Any,
) -> ExperimentPlanned:
    controls = (
        ExperimentControl(must="fail", files=(file(b"broken"),), argv=("python3", "program.py")),
        ExperimentControl(must="hold", files=(file(b"sound"),), argv=("python3", "program.py")),
    )
    fields: dict[str, Any] = {
        "id": "E-2-1", "by": "action", "round": 2, "phase": "D", "step": "r2.D.action",
        "claims": ("C-1-1",), "question": "Does it hold?",
        "files": (file(b"subject"),), "argv": ("python3", "program.py"),
        "pass_if": passes, "fail_if": fails, "controls": controls, "k": k, "seed": 1,
        "limits": ExperimentLimits(wall_seconds=9, cpu_seconds=9, memory_bytes=9, output_bytes=9),
    }  # fmt: skip
    return ExperimentPlanned(**(fields | more))


def run(
    n: int = 1,
    exit: int | None = 0,
    out: bytes = b"",
    control: Any = None,
    signal: int | None = None,
    more: int = 0,
) -> ExperimentRun:
    wrote = KeptOutput(sha256=blob(out), bytes=len(out) + more, kept=blob(out))
    nothing = KeptOutput(sha256=blob(b""), bytes=0, kept=blob(b""))
    return ExperimentRun(
        id=None, by="controller", round=2, phase="E", of="E-2-1", n=n, control=control, exit=exit, signal=signal,
        environment=ExperimentEnvironment(
            interpreter="3.11", platform="linux", sandbox="bubblewrap", sandbox_version="0.8", self_test=True
        ),
        stdout=wrote, stderr=nothing, started_at="2026-01-01T00:00:00.000Z", ms=1,
    )  # fmt: skip


CONTROLS: Final = (run(exit=1, control="must_fail"), run(exit=0, control="must_hold"))


@pytest.mark.parametrize("ends", tuple(itertools.product([0, 1, 2, None], repeat=3)))
def test_repetitions_come_to_what_the_rules_say(ends: tuple[int | None, ...]) -> None:
    """The rule in words: any error is an error, all alike is that, anything else is flaky; never a majority."""
    counts, verdict, strength = judge(
        plan(), [*CONTROLS, *(run(n, end) for n, end in enumerate(ends, 1))], BLOBS.__getitem__
    )
    words = [{0: "holds", 1: "fails", 2: "inconclusive", None: "error"}[end] for end in ends]
    wanted = "error" if "error" in words else words[0] if len(set(words)) == 1 else "flaky"
    assert verdict == wanted
    assert strength == ("reproduced" if wanted in ("holds", "fails") else None)
    assert (counts.holds, counts.fails) == (words.count("holds"), words.count("fails"))


@pytest.mark.parametrize(("k", "strength"), [(1, "ran"), (2, "ran"), (3, "reproduced"), (5, "reproduced")])
def test_once_is_ran_and_three_times_is_reproduced(k: int, strength: str) -> None:
    runs = [*CONTROLS, *(run(n) for n in range(1, k + 1))]
    assert judge(plan(k=k), runs, BLOBS.__getitem__)[1:] == ("holds", strength)
    assert judge(plan(k=k), runs[:-1], BLOBS.__getitem__)[1] == "error"  # a repetition is missing


@pytest.mark.parametrize(
    "controls",
    [
        (),
        (run(exit=1, control="must_fail"),),
        (run(exit=0, control="must_fail"), run(exit=0, control="must_hold")),
        (run(exit=1, control="must_fail"), run(exit=1, control="must_hold")),
        (run(exit=2, control="must_fail"), run(exit=0, control="must_hold")),
        (run(exit=None, control="must_fail"), run(exit=0, control="must_hold")),
    ],
)
def test_a_control_that_does_not_do_what_it_must_makes_an_error(controls: tuple[ExperimentRun, ...]) -> None:
    """A test that always fails refutes nothing, and one that always passes confirms nothing."""
    assert judge(plan(), [*controls, run(1), run(2), run(3)], BLOBS.__getitem__)[1:] == ("error", None)


def test_a_limit_is_an_error_and_a_signal_is_no_exit_code() -> None:
    assert verdict_of(plan(), run(exit=None), BLOBS.__getitem__) == "error"
    assert verdict_of(plan(), run(exit=None, signal=11), BLOBS.__getitem__) == "inconclusive"


@pytest.mark.parametrize("number", [9, 24, 25])
def test_what_a_program_wrote_before_a_limit_ended_it_says_nothing(number: int) -> None:
    made = plan((asks("equals", "PASS"),), (asks("equals", "FAIL"),))
    assert verdict_of(made, run(out=b"PASS"), BLOBS.__getitem__) == "holds"
    assert verdict_of(made, run(exit=None, signal=11, out=b"PASS"), BLOBS.__getitem__) == "holds"
    assert verdict_of(made, run(exit=None, signal=number, out=b"PASS"), BLOBS.__getitem__) == "error"


def reads(predicate: Predicate, out: bytes, more: int = 0) -> str:
    """What a plan says whose pass_if is the predicate, and whose fail_if is never so."""
    never = Predicate(of="exit", test="equals", value="77")
    return verdict_of(plan((predicate,), (never,)), run(out=out, more=more), BLOBS.__getitem__)


def asks(
    test: Any, value: str, *, of: Any = "stdout", pointer: str | None = None, tolerance: str | None = None
) -> Predicate:
    return Predicate(of=of, test=test, value=value, pointer=pointer, tolerance=tolerance)


JSON: Final = json.dumps({"a/b": [1, {"~x": 2.5}], "ok": True, "none": None, "word": "yes"}).encode()


@pytest.mark.parametrize(
    ("predicate", "out", "wanted"),
    [
        (asks("equals", "42"), b"42\n", "holds"),
        (asks("equals", "42.0"), b"42\n", "holds"),
        (asks("equals", "yes"), b"yes\n", "holds"),
        (asks("equals", "yes"), b"Yes\n", "inconclusive"),
        (asks("matches", r"^lost: 0$"), b"x\nlost: 0\ny\n", "holds"),
        (asks("matches", r"^lost: 0$"), b"lost: 01", "inconclusive"),
        (asks("at_least", "10"), b"10", "holds"),
        (asks("at_least", "10"), b"9.999", "inconclusive"),
        (asks("at_most", "10"), b"ten", "inconclusive"),
        (asks("near", "3.14", tolerance="0.01"), b"3.15", "holds"),
        (asks("near", "3.14", tolerance="0.01"), b"3.1501", "inconclusive"),
        (asks("equals", "1", of="json", pointer="/a~1b/0"), JSON, "holds"),
        (asks("at_least", "2.5", of="json", pointer="/a~1b/1/~0x"), JSON, "holds"),
        (asks("equals", "true", of="json", pointer="/ok"), JSON, "holds"),
        (asks("equals", "null", of="json", pointer="/none"), JSON, "holds"),
        (asks("matches", "^y", of="json", pointer="/word"), JSON, "holds"),
        (asks("equals", "1", of="json", pointer="/nowhere"), JSON, "inconclusive"),
        (asks("equals", "1", of="json", pointer="/a~1b/9"), JSON, "inconclusive"),
        (asks("equals", "1", of="json", pointer="/a~1b/-1"), JSON, "inconclusive"),
        (asks("equals", "1", of="json", pointer="/ok"), b"no json", "inconclusive"),
        (asks("equals", "NaN"), b"NaN", "holds"),  # a word like any other, and no number
        (asks("at_least", "1"), b"Infinity", "inconclusive"),
    ],
)
def test_a_predicate_reads_what_was_written(predicate: Predicate, out: bytes, wanted: str) -> None:
    assert reads(predicate, out) == wanted


def test_what_was_not_kept_whole_decides_nothing() -> None:
    assert reads(asks("matches", "lost"), b"lost", more=1) == "inconclusive"
    assert reads(asks("equals", "0", of="exit"), b"lost", more=1) == "holds"


def test_a_hostile_pattern_ends() -> None:
    assert reads(asks("matches", r"^(a+)+$"), b"a" * 50_000 + b"b") == "inconclusive"


@given(st.text(max_size=20), st.text(max_size=40))
def test_any_pattern_and_any_text_are_judged(pattern: str, out: str) -> None:
    assert reads(asks("matches", pattern), out.encode()) in {"holds", "inconclusive"}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (plan((asks("matches", ".*"),)), "can never be false"),
        (plan((asks("matches", "("),)), "no pattern of RE2"),
        (plan((asks("at_least", "many"),)), "is no number"),
        (plan((asks("near", "3"),)), "tolerance"),
        (plan((asks("equals", "3", pointer="/a"),)), "JSON pointer"),
        (plan((asks("equals", "3", of="json"),)), "JSON pointer"),
        (plan((asks("matches", "3", of="exit"),)), "compared, not matched"),
        (plan((EXIT_0,), (EXIT_0,)), "can hold together"),
        (plan(controls=()), "give two"),
        (plan(controls=(plan().controls[0],) * 2), "give two"),
        (plan(files=(file(b"broken"),)), "is the experiment itself"),
    ],
)
def test_a_plan_that_could_decide_nothing_is_told(made: ExperimentPlanned, said: str) -> None:
    assert any(said in problem for problem in plan_problems(made)), list(plan_problems(made))


def test_a_plan_that_can_decide_has_no_problem() -> None:
    assert list(plan_problems(plan())) == []


FEW: Final = st.integers(-2, 4)
PREDICATES: Final = st.one_of(
    st.builds(
        lambda test, value: asks(test, str(value), of="exit"), st.sampled_from(["equals", "at_most"]), FEW
    ),
    st.builds(
        lambda test, value: asks(test, str(value)), st.sampled_from(["equals", "at_least", "at_most"]), FEW
    ),
    st.builds(lambda value, near: asks("near", str(value), tolerance=str(near)), FEW, st.integers(0, 2)),
    st.builds(lambda value: asks("matches", f"^{value}"), st.sampled_from(["1", "x", "-"])),
)
SOME: Final = st.lists(PREDICATES, min_size=1, max_size=3)
ENDS: Final = st.tuples(st.integers(0, 3), st.sampled_from(["1", "0", "-1", "3\n", "x", "", "x\n1"]))


def oracle(predicate: Predicate, exit_: int, out: str) -> bool | None:
    """What a predicate says, restated with the numbers of Python alone."""
    text = out.strip()
    number = exit_ if predicate.of == "exit" else int(text) if text.lstrip("-").isdigit() else None
    if predicate.test == "matches":
        return any(line.startswith(predicate.value[1:]) for line in out.rstrip("\n").split("\n"))
    if predicate.test == "equals" and number is None:
        return out.rstrip("\n") == predicate.value
    if number is None:
        return None
    value = int(predicate.value)
    match predicate.test:
        case "equals":
            return number == value
        case "at_least":
            return number >= value
        case "at_most":
            return number <= value
        case _:
            return abs(number - value) <= int(predicate.tolerance or "0")


def all_of(said: list[bool | None]) -> bool | None:
    return False if False in said else None if None in said else True


@given(SOME, SOME, st.lists(ENDS, min_size=1, max_size=5))
def test_verdicts_are_those_of_an_oracle(
    passes: list[Predicate], fails: list[Predicate], ends: list[tuple[int, str]]
) -> None:
    words: list[str] = []
    for exit_, out in ends:
        holds = all_of([oracle(one, exit_, out) for one in passes])
        fails_ = all_of([oracle(one, exit_, out) for one in fails])
        decided = {(True, False): "holds", (False, True): "fails"}
        words.append(decided.get((holds, fails_), "inconclusive"))  # type: ignore[arg-type]  # None is neither
    made = plan(tuple(passes), tuple(fails), k=len(ends))
    runs = [run(n, exit_, out.encode()) for n, (exit_, out) in enumerate(ends, 1)]
    assert [verdict_of(made, one, BLOBS.__getitem__) for one in runs] == words
    counts, verdict, _ = judge(made, [*CONTROLS, *runs], BLOBS.__getitem__)
    assert (counts.holds, counts.fails, counts.inconclusive) == tuple(
        map(words.count, ("holds", "fails", "inconclusive"))
    )
    controls_do = [verdict_of(made, one, BLOBS.__getitem__) for one in CONTROLS] == ["fails", "holds"]
    expected = words[0] if len(set(words)) == 1 else "flaky"
    assert verdict == (expected if controls_do else "error")


NUMBERS: Final = (
    "1e999999999999", "-1e999999999999", "1e-999999999999", "0e999999999999", "1e1000000", "Infinity", "-inf", "NaN",
    "sNaN", "NaN123", "1e400", "9" * 60_000, "0." + "0" * 50_000 + "1", "1_000", "\u0661\u0662", "1e", "{}", "",
)  # fmt: skip
"""What a program may print where a number is expected."""


@pytest.mark.parametrize("test", ["near", "at_least", "at_most", "equals"])
@pytest.mark.parametrize("of", ["stdout", "json"])
def test_every_number_can_be_compared_with_every_other(of: Any, test: Any) -> None:
    """Both sides come from outside, and arithmetic on some of them overflows."""
    pointer = "/x" if of == "json" else None
    values = [*(number for number in NUMBERS if len(number) <= 400), "3.14"]
    for value, tolerance in product(values, ("0.5", "9" * 600, "-1") if test == "near" else (None,)):
        wanted = Predicate(of=of, test=test, value=value, pointer=pointer, tolerance=tolerance)
        tested = plan((wanted,), (EXIT_1,))
        for number in NUMBERS:
            out = number if of == "stdout" else f'{{"x": {number}}}'
            assert verdict_of(tested, run(out=out.encode()), BLOBS.__getitem__) in ("holds", "inconclusive")
        assert all(isinstance(problem, str) for problem in plan_problems(tested))
