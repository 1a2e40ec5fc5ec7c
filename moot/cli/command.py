"""Commands from verbs, the parameters that several verbs share, and completion in a shell.

Typer reads the function's parameters, and usage errors are turned into moot's own. `moot --install-completion` and
`--show-completion` are typer's own, over the lazily loaded verbs.

A verb returns a `VerbResult`, which is printed here: as JSON, in words, or not at all. A verb that prints by itself
returns an exit code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, wraps
from importlib import import_module
from inspect import Parameter, getdoc, signature
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, get_args

import typer
from typer.completion import (  # type: ignore[attr-defined]
    get_completion_script,  # pyright: ignore[reportPrivateImportUsage]
    install,  # pyright: ignore[reportPrivateImportUsage]
)
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from moot.cli import VERBS, Verb, find_verb
from moot.errors import GOOD, NO, MootError, refuse, usage
from moot.terminal.streams import err, out, out_json, show

if TYPE_CHECKING:
    from ledger.result import Result

Completed = Callable[[str], list[str]]


def run_names(incomplete: str) -> list[str]:
    """Return completions of a run's name: @last, and ids."""
    from moot.app.runs import LAST, runs_under
    from moot.environment import read_settings

    runs = read_settings().runs
    return among(lambda: (LAST, *(str(path.relative_to(runs)) for path in runs_under(runs))))(incomplete)


def among(names: Callable[[], Iterable[str]]) -> Completed:
    """Return a completion over names that are looked up when it is asked for."""
    # The names are looked up only while completing: imports at start-up would slow every verb down.
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def protocol_names() -> Iterable[str]:
    """Return the names of the protocols."""
    from rounds.protocols import PROTOCOLS

    return PROTOCOLS


OUTPUT: Final = "Output"
"""Panel of the help for options that only concern what is printed, and for those without a panel, such as --help."""

RUN_HELP: Final = "A run's directory, an id under ./runs, or @last."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP, autocompletion=run_names)]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="One JSON object for machines (schemas/output/).", rich_help_panel=OUTPUT),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="Print nothing but errors; the exit code tells.", rich_help_panel=OUTPUT),
]

NoPagerOption = Annotated[
    bool, typer.Option("--no-pager", help="Print all of it at once, also when it is longer than the screen.")
]
ByOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who you are, on the record. Default: git's user.name.")
]


def confirmation(*, silent: bool) -> Callable[[str, str], bool] | None:
    """Return what puts a question to the person before a run starts; None where no person is at the keyboard."""
    # Both ends must be a terminal: an answer from a pipe is no consent, and a question into a file is not seen.
    if silent or not sys.stdin.isatty() or not sys.stderr.isatty():
        return None

    def agreed(text: str, question: str) -> bool:
        err(text)
        return typer.confirm(question, default=False, err=True)

    return agreed


RunOrIdArgument = Annotated[
    str,
    typer.Argument(
        metavar="RUN|ID",
        help=f"{RUN_HELP} An ID alone means that of the last run.",
        autocompletion=run_names,
    ),
]
ID_HELP: Final = "An id of the run, such as D-2-1, or @SEQ."


def split_names(run: str, identity: str | None) -> tuple[str, str | None]:
    """Return run and id; an id alone belongs to the last run."""
    from ledger.events.ids import is_event_name
    from moot.app.runs import LAST

    return (LAST, run) if identity is None and is_event_name(run) else (run, identity)


TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What you say.")]

INTERRUPTED = 130
"""Exit code that typer returns after Ctrl-C."""


class VerbResult(NamedTuple):
    """What a verb prints and returns: `result` for --json, `text` for people, and the exit code."""

    result: Result
    text: Callable[[], str]
    """Called only to print: wording a long run takes time, and a script does not read it."""
    code: int = GOOD
    write: Callable[[str], object] = show
    insists: bool = False
    """With --quiet the text goes to stderr: it is what the call was made to find."""


def run_verb(verb: Verb, arguments: list[str]) -> int:
    """Run a verb and return its exit code. Raises what the verb raises, and `MootError` for a wrong call."""
    try:
        code = command_of(verb).main(
            args=_with_bare_options(verb, arguments), prog_name=f"moot {verb.name}", standalone_mode=False
        )
    except typer.TyperException as error:
        raise _usage_error(error, verb) from None
    except typer.Abort:
        # One way for both forms of Ctrl-C, so that `__main__` can end every verb alike.
        raise KeyboardInterrupt from None
    # typer swallows Ctrl-C and returns 130; the caller decides what an interrupted verb means.
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return int(code or 0)


def command_of(verb: Verb) -> Any:
    """Return the command of a verb. Its help is the function's docstring, whose last line is an example."""
    return _declared(verb, getattr(import_module(verb.path), verb.function))


@cache
def _declared(verb: Verb, function: Callable[..., VerbResult | int]) -> Any:
    # typer takes longer to read a function's parameters than most verbs to run. A process that calls verbs again and
    # again, as the tests do, declares each once.
    explained, _, example = (getdoc(function) or "").rpartition("\n\n")
    # rich's markup and tracebacks are off: help text contains brackets, and errors are moot's own.
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
    declare = app.command(verb.name, cls=_Command, help=explained, epilog=example, context_settings=settings)
    declare(_with_output(function))
    return get_command(app)


def _with_output(function: Callable[..., VerbResult | int]) -> Callable[..., int]:
    """Return a verb's function with --json and --quiet, which prints the answer and returns the exit code."""
    declared = signature(function, eval_str=True)
    every = {"json": JsonOption, "quiet": QuietOption}
    # A verb that needs to know them, for example to ask nothing, declares them itself.
    added = [name for name in every if name not in declared.parameters]
    parameters: list[Parameter] = []
    settings: list[str] = []
    for parameter in declared.parameters.values():
        # `settings` stands for an option of every setting that a deliberation file has; its annotation lists them.
        if parameter.name == "settings":
            _, options_of = get_args(parameter.annotation)
            parameters += (options := list(options_of()))
            settings = [option.name for option in options]
        else:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY))

    @wraps(function)
    def answered(*, json: bool, quiet: bool, **arguments: Any) -> int:
        own = {"json": json, "quiet": quiet}
        arguments |= {name: own[name] for name in own if name not in added}
        if settings:
            arguments["settings"] = {name: arguments.pop(name) for name in settings}
        answer = function(**arguments)
        if isinstance(answer, int):
            return answer
        if json:
            out_json(answer.result)
        elif not quiet:
            answer.write(answer.text())
        elif answer.insists:
            err(answer.text())
        return answer.code

    parameters += [
        Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=every[name]) for name in added
    ]
    answered.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    return answered


class _Command(TyperCommand):
    """A command that delays typer's conversion of values, which imports pydantic, until a value needs it.

    Importing pydantic only to pass a string through would take as long as most verbs. Where another version of typer
    has no such conversion, nothing is changed, and the verb is only slower.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)
        for parameter in params:
            converted: Callable[[], Any] | None = getattr(parameter, "get_runtime_param", None)
            if converted is not None and not isinstance(getattr(converted, "__self__", None), _Late):
                parameter.get_runtime_param = _Late(parameter, converted).itself
        return params

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options: in panels where most of them belong to one, else in one list."""
        params = self.get_params(ctx)
        options = [parameter for parameter in params if parameter.param_type_name == "option"]
        # Panels help only if most options belong to one; a few stragglers go under "Output".
        has_panels = 2 * sum(bool(_panel(option)) for option in options) > len(options)
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in params:
            record = parameter.get_help_record(ctx)
            if record is not None:
                kind = (_panel(parameter) or OUTPUT) if has_panels else "Options"
                panels.setdefault(kind if parameter in options else "Arguments", []).append(record)
        for name in _in_order(panels) if has_panels else panels:
            with formatter.section(name):
                formatter.write_dl(panels[name])


def _in_order(panels: Iterable[str]) -> list[str]:
    from rounds.setup.deliberation import PANELS

    return sorted(panels, key=lambda name: ("Arguments", *PANELS, OUTPUT).index(name))


def _panel(parameter: Any) -> str | None:
    return getattr(parameter, "rich_help_panel", None)


class _Late:
    """Lazy conversion of a parameter: typer's own is only made when there is a value to convert."""

    def __init__(self, parameter: Any, converted: Callable[[], Any]) -> None:
        self._converted = converted
        # An option that was not given is an empty tuple if it can be repeated, as typer itself has it.
        self._nothing: tuple[()] | None = () if parameter.multiple or parameter.nargs == -1 else None
        self._is_word = parameter.type_descriptor.annotation is str

    def itself(self) -> _Late:
        return self

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None:
            return self._nothing
        return value if self._is_word else self._converted().coerce(value, param=param, ctx=ctx)


def _with_bare_options(verb: Verb, arguments: list[str]) -> list[str]:
    """Add the default value to options that may be given without one (`BARE` in the verb's file)."""
    bare: Mapping[str, str] = getattr(import_module(verb.path), "BARE", {})
    complete: list[str] = []
    # An option at the end of the line, or in front of another option, has no value of its own.
    for word, following in zip(arguments, [*arguments[1:], ""], strict=False):
        complete.append(word)
        if word in bare and (not following or following.startswith("-")):
            complete.append(bare[word])
    return complete


def _usage_error(error: typer.TyperException, verb: Verb) -> MootError:
    # pydantic's own prefix says nothing to a person.
    message = re.sub(r"\s+", " ", error.format_message()).replace("Value error, ", "").strip().rstrip(".")
    # typer has no error code, so its message has to be read; other words only cost the hint.
    unknown = re.match(r"No such option: (--[\w-]+)", message)
    from moot.cli import moved  # most calls name no option that moved

    if unknown and (instead := moved.OPTIONS.get(unknown[1])) and verb.name in moved.SETTING_VERBS:
        return usage(f"{unknown[1]} is gone", f"use {instead}", f"moot {verb.name}")
    possible = re.search(r"\(Possible options: (.*)\)", message)
    if possible:
        message = message[: possible.start()].strip()
        return usage(_lower(message), f"did you mean {possible[1]}?", f"moot {verb.name}")
    return usage(_lower(message), f"see `moot {verb.name} --help`", f"moot {verb.name}")


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


# ---------------------------------------------------------------- completion in a shell

SHELLS: Final = ("bash", "zsh", "fish", "powershell", "pwsh")
VARIABLE: Final = "_MOOT_COMPLETE"
"""Set by the installed script when it asks for completions."""


def set_up(option: str, rest: Sequence[str]) -> int:
    """Install or print the completion script of a shell; without a name, of the running shell."""
    if not rest:
        return complete([option])
    shell = rest[0]
    # Checked here, so that the error lists the shells.
    refuse(
        shell not in SHELLS or len(rest) > 1,
        f"no completion for {' '.join(rest)!r}",
        f"shells are {', '.join(SHELLS)}",
        option,
    )
    if option == "--show-completion":
        out(f"{get_completion_script(prog_name='moot', complete_var=VARIABLE, shell=shell)}\n")
        return GOOD
    _, path = install(shell=shell, prog_name="moot", complete_var=VARIABLE)
    out(f"completion for {shell} installed in {path}; it works in the next terminal\n")
    return GOOD


def complete(arguments: Sequence[str] = ()) -> int:
    """Let typer act on its own options, or answer the completion that the environment asks for."""
    # Built only here: verbs are run one by one, and a group of all would import every file.
    app = typer.Typer(cls=VerbGroup)
    app.callback()(_nothing)
    try:
        get_command(app).main(
            args=list(arguments), prog_name="moot", complete_var=VARIABLE, standalone_mode=False
        )
    except SystemExit as end:  # typer ends a completion this way
        return GOOD if end.code in (None, 0) else NO
    except typer.TyperException:
        fix = f"name it: {', '.join(SHELLS)}"
        raise usage("the shell that runs moot is not known", fix, " ".join(arguments)) from None
    return GOOD


class VerbGroup(TyperGroup):
    """All verbs as one command. A verb's file is imported only to complete what follows the verb."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of all verbs."""
        return [verb.name for verb in VERBS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return a command that has the verb's name and help alone."""
        verb = find_verb(cmd_name)
        # A bare command with the verb's help completes the name itself; its options are only needed once it is
        # chosen.
        return verb and TyperCommand(verb.name, help=verb.does)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ARG002
        """Return the verb that the first word names, with its options, and the words after it."""
        verb = find_verb(args[0])
        return args[0], verb and command_of(verb), args[1:]


def _nothing() -> None:
    """Do nothing: only verbs act."""
