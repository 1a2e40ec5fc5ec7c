"""The command line's entry: find the verb, run it, and turn whatever goes wrong into one line and an exit code.

A verb's file is imported when it is used, and typer only for a verb, so that `moot --help` costs nothing.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from moot.cli import VERBS, Verb, find_verb
from moot.errors import BUG, USAGE, MootError, explain, usage
from moot.terminal.streams import complain, err, out, show_any_text

EVERYWHERE = ("--json", "--quiet")
"""Switches of the verbs that may stand before the verb too."""
DEBUG = "--debug"
"""Shows a traceback beside the line; may stand anywhere."""


os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Looking through every installed distribution for plugins costs a tenth of the start-up, and moot wants none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moot` with `arguments` (default: the process's own); the exit code."""
    if arguments is not None:
        return _main(list(arguments))
    gc.set_threshold(100_000, 50, 100)  # events are trees, not rings: little of what a verb makes is garbage
    try:
        return _main(sys.argv[1:])
    finally:
        if (
            "duckdb" not in sys.modules
        ):  # which counts at the exit what it has not been given back, and complains
            gc.freeze()  # what is left dies with the process, and need not be searched for rings first


def _main(said: list[str]) -> int:
    show_any_text()
    try:
        return _dispatch([word for word in said if word != DEBUG])
    except BaseException as error:  # the outermost place: every failure becomes one line  # noqa: BLE001
        return _failed(error, said)


def _dispatch(said: list[str]) -> int:
    if "_MOOT_COMPLETE" in os.environ:  # the shell asks what can be completed
        from moot.cli.completion import complete

        return complete()
    if said and said[0] in ("--install-completion", "--show-completion"):
        from moot.cli.completion import set_up

        return set_up(said[0], said[1:])
    ahead: list[str] = []
    while said and said[0] in EVERYWHERE:
        ahead.append(said.pop(0))
    if not said or said[0] in ("--help", "-h", "help"):
        return _help(said[1:])
    if said[0] in ("--version", "-V", "version"):
        from moot import version

        out(f"moot {version()}\n")
        return 0
    verb = find_verb(said[0])
    if verb is None:
        raise _unknown(said[0])
    return _run(verb, [*said[1:], *ahead])


def _run(verb: Verb, arguments: list[str]) -> int:
    from moot.cli.command import run_verb

    return run_verb(verb, arguments)


def _help(rest: list[str]) -> int:
    if rest and rest[0] not in EVERYWHERE:
        verb = find_verb(rest[0])
        if verb is None:
            raise _unknown(rest[0])
        return _run(verb, ["--help"])
    out(overview())
    return 0


def overview() -> str:
    """What `moot --help` says."""
    lines = [
        "usage: moot VERB [ARGUMENTS] [--json] [--quiet] [--debug]",
        "",
        "Structured deliberations between role-playing agents, kept in a ledger that can be replayed,",
        "checked and diffed. RUN is a directory, an id under ./runs, or @last.",
    ]
    for group in dict.fromkeys(verb.group for verb in VERBS):
        lines += ["", group]
        lines += [f"  {verb.name:<11} {verb.does}" for verb in VERBS if verb.group == group]
    lines += [
        "",
        "Example: moot run -q 'Which storage for our audit ledger?' --plan minimum-8 --seats host",
        "More:    moot VERB --help",
    ]
    return "\n".join(lines) + "\n"


def _unknown(word: str) -> MootError:
    from difflib import get_close_matches

    from moot.cli import moved

    if word in moved.VERBS:
        return usage(f"`moot {word}` is gone", f"use `{moved.VERBS[word]}`")
    names = [verb.name for verb in VERBS]
    near = get_close_matches(word.lower(), names, 1, 0.5)
    fix = f"did you mean `moot {near[0]}`?" if near else "see `moot --help`"
    kind = "option" if word.startswith("-") else "verb"
    return usage(f"no {kind} {word!r}", fix)


def _failed(error: BaseException, said: Sequence[str]) -> int:
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else USAGE
    if DEBUG in said:
        import traceback

        from ledger.redaction.masking import masked

        err(masked("".join(traceback.format_exception(error))))
    known = _known(error, said)
    if known is None:
        fix = "this is a fault of moot's: run it again with --debug and report what it prints"
        known = MootError("bug", f"{type(error).__name__}: {error}", "", fix, BUG)
    complain(known, as_json="--json" in said)
    return known.exit_code


def _known(error: BaseException, said: Sequence[str]) -> MootError | None:
    known = explain(error)
    if known is not None:
        return known
    from moot.app.unlawful_runs import explain_with, runs_in

    return explain_with(error, runs_in(said))


if __name__ == "__main__":
    sys.exit(main())
