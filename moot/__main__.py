"""Entry point of the command line: find the verb, run it, and turn every error into one line and an exit code.

A verb's file is imported when it is used, and typer only for a verb, so that `moot --help` is fast.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Sequence

from moot.cli import VERBS, Verb, find_verb
from moot.errors import BUG, DAMAGED, USAGE, MootError, explain, usage
from moot.terminal.streams import complain, err, out, refused_output, show_any_text, take_over_streams

EVERYWHERE = ("--json", "--quiet")
"""Options of the verbs that may also precede the verb."""
DEBUG = "--debug"
"""Shows a traceback in addition to the line; allowed anywhere."""


os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Searching all installed distributions for plugins takes a tenth of the start-up, and moot uses none."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `moot` with `arguments` (default: the process's own) and return the exit code."""
    if arguments is not None:
        return _main(list(arguments))
    gc.set_threshold(100_000, 50, 100)  # events are trees, not rings: little of what a verb makes is garbage
    take_over_streams()
    try:
        code = _main(sys.argv[1:])
        return code if (refused := refused_output()) is None else _not_shown(refused)
    finally:
        gc.freeze()  # what is left dies with the process, and need not be searched for rings first


def _main(arguments: list[str]) -> int:
    show_any_text()
    try:
        return _dispatch([word for word in arguments if word != DEBUG])
    except BaseException as error:  # the outermost place: every failure becomes one line  # noqa: BLE001
        return _failed(error, arguments)


def _dispatch(arguments: list[str]) -> int:
    if "_MOOT_COMPLETE" in os.environ:  # the shell asks what can be completed
        from moot.cli.command import complete

        return complete()
    if arguments and arguments[0] in ("--install-completion", "--show-completion"):
        from moot.cli.command import set_up

        return set_up(arguments[0], arguments[1:])
    # `moot --json status` and `moot status --json` mean the same, so these move after the verb.
    ahead: list[str] = []
    while arguments and arguments[0] in EVERYWHERE:
        ahead.append(arguments.pop(0))
    if not arguments or arguments[0] in ("--help", "-h", "help"):
        return _help([*arguments[1:], *ahead])
    if arguments[0] in ("--version", "-V", "version"):
        from moot import version

        out(f"moot {version()}\n")
        return 0
    # The table is searched without importing a verb, so that a typo is answered at once.
    verb = find_verb(arguments[0])
    if verb is None:
        raise _unknown(arguments[0])
    return _run(verb, [*arguments[1:], *ahead])


def _run(verb: Verb, arguments: list[str]) -> int:
    from moot.cli.command import run_verb

    return run_verb(verb, arguments)


def _help(rest: list[str]) -> int:
    words = [word for word in rest if word not in EVERYWHERE]
    if words and words[0] != "--all":
        verb = find_verb(words[0])
        if verb is None:
            raise _unknown(words[0])
        return _run(verb, ["--help"])
    whole = bool(words)
    if "--json" in rest:
        import json

        verbs = [
            {"verb": verb.name, "job": verb.group, "does": verb.does} for verb in VERBS if whole or verb.first
        ]
        out(json.dumps({"verbs": verbs}) + "\n")
        return 0
    out(all_verbs() if whole else overview())
    return 0


USAGE_LINES = """\
usage: moot VERB [ARGUMENTS] [--json] [--quiet] [--debug]

Ask a panel of language models a question, and get a decision that you can check and replay.
RUN is a directory, an id under ./runs, or @last.
"""


def overview() -> str:
    """Return what `moot --help` prints: the verbs that matter most, and where the others are."""
    return f"""{USAGE_LINES}
{_rows([verb for verb in VERBS if verb.first])}

Example: moot run -q 'Which storage for our audit ledger?' --seats anthropic
More:    moot help --all lists every verb, moot VERB --help one, moot explain WORD what a word means
"""


def all_verbs() -> str:
    """Return what `moot help --all` prints: every verb, job by job."""
    jobs = dict.fromkeys(verb.group for verb in VERBS)
    blocks = [f"{job}\n{_rows([verb for verb in VERBS if verb.group == job])}" for job in jobs]
    more = (
        "More:    moot VERB --help; moot --install-completion completes verbs, options and runs in your shell"
    )
    return "\n\n".join([USAGE_LINES.rstrip(), *blocks, more]) + "\n"


def _rows(verbs: Sequence[Verb]) -> str:
    width = max(len(verb.name) for verb in VERBS)
    return "\n".join(f"  {verb.name:<{width}}  {verb.does}" for verb in verbs)


def _unknown(word: str) -> MootError:
    from difflib import get_close_matches

    from moot.cli import moved

    # A verb of an older version gets its new name, because scripts and notes still use it.
    if word in moved.VERBS:
        return usage(f"`{word}` is now `{moved.VERBS[word]}`", "`moot help --all` lists every verb")
    names = [verb.name for verb in VERBS]
    near = get_close_matches(word.lower(), names, 1, 0.5)
    fix = f"did you mean `moot {near[0]}`?" if near else "see `moot help --all`"
    kind = "option" if word.startswith("-") else "verb"
    return usage(f"no {kind} {word!r}", fix)


def _failed(error: BaseException, arguments: Sequence[str]) -> int:
    # typer and shell completion end a process this way on purpose.
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else USAGE
    # Only on request: a traceback tells a user nothing that they could fix.
    if DEBUG in arguments:
        import traceback

        from ledger.redaction.masking import masked

        # A traceback may quote a request with its key.
        err(masked("".join(traceback.format_exception(error))))
    known = _known(error, arguments)
    if known is None:
        fix = "this is a fault of moot's: run it again with --debug and report what it prints"
        known = MootError("bug", f"{type(error).__name__}: {error}", "", fix, BUG)
    complain(known, as_json="--json" in arguments)
    return known.exit_code


def _not_shown(refused: OSError) -> int:
    """Report that stdout did not take everything. The verb has done its work, and the ledger holds what it wrote."""
    reason = "it is closed" if refused.errno == errno.EBADF else (refused.strerror or str(refused)).lower()
    what = f"cannot write to standard output: {reason}"
    fix = "what the verb wrote to the run is kept: make room or send the output elsewhere, then look with `moot status`"
    complain(MootError("output_failed", what, "stdout", fix, DAMAGED), as_json=False)
    return DAMAGED


def _known(error: BaseException, arguments: Sequence[str]) -> MootError | None:
    known = explain(error)
    if known is not None:
        return known
    from moot.app.unlawful_runs import explain_with, runs_in

    return explain_with(error, runs_in(arguments))


if __name__ == "__main__":
    sys.exit(main())
