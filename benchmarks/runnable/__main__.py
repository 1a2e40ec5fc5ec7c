"""Decide the questions again: `python -m benchmarks.runnable [NAME …] [--record] [--paper] [--scores]`.

python -m benchmarks.runnable                   run every truth, compare with output and key, print the table
python -m benchmarks.runnable q08-retry-policy  one question (any beginning of a name)
python -m benchmarks.runnable --record          write outputs.json anew
python -m benchmarks.runnable --paper           print all questions for readers who run nothing
python -m benchmarks.runnable --scores          what readers who ran nothing answered, against the keys
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

from benchmarks.runnable.questions import differences, keys, paper, questions, record, rerun
from benchmarks.runnable.scores import contested, scores


def decide(names: Sequence[str], again: bool) -> int:
    """Print a line for each question; return 1 when an output or a key differs."""
    known, missed = keys(), False
    print(f"{'question':24} {'key':4} {'found':5} {'seconds':>7}")
    for name in names:
        now = rerun(name)
        if again:
            record(name, now.output)
        wrong = differences(name, now, known)
        missed |= bool(wrong)
        verdict = "; ".join(wrong) or ("agrees (measured)" if name in known.measured else "agrees")
        print(f"{name:24} {known.answers[name]:4} {now.answer:5} {now.seconds:7.1f}  {verdict}", flush=True)
    spread = sorted(Counter(known.answers[name] for name in names).items())
    print(f"{len(names)} questions; keys: {', '.join(f'{option} × {n}' for option, n in spread)}")
    return int(missed)


def main(arguments: Sequence[str]) -> int:
    """Return 1 when an output or a key differs; exit with 2 for an unknown name."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runnable")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--paper", action="store_true")
    parser.add_argument("--scores", action="store_true")
    options = parser.parse_args(arguments)
    if options.paper:
        print(paper())
        return 0
    if options.scores:
        for score in scores(contested()):
            print(f"{score.reader:10} {score.right:2} of {score.of}   Brier {score.brier:.2f}")
        return 0
    known = [question.name for question in questions()]
    beginnings = tuple(options.names or [""])
    chosen = [name for name in known if name.startswith(beginnings)]
    if not chosen:
        parser.error(f"no question begins so: {', '.join(known)}")
    return decide(chosen, options.record)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
