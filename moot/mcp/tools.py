"""Registration of tools over the runs of one directory, and the two ends of a call: a result, or one line to act on.

Results come in pages, because agent hosts cut or refuse what is longer than 20,000 to 25,000 tokens.
"""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce, wraps
from inspect import Parameter
from itertools import islice
from operator import getitem
from pathlib import Path
from typing import Any, Final, cast

import orjson
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field, create_model

from ledger.result import Result
from moot.app.runs import RUN_NAME
from moot.app.session import Session
from moot.app.unlawful_runs import explain_with
from moot.errors import usage
from moot.mcp.rights import Rights
from moot.output_schemas import model_of

RESULT_BYTES_MAX: Final = 36_000
"""A result goes over the wire twice, as text and as structure: together 72,000 bytes, at most 20,000 tokens."""
TEXT_CHARACTERS_MAX: Final = (4_000, 1_000, 200)
ROWS_MAX: Final = 40

PARTS: Final[Mapping[str, tuple[tuple[str, ...], ...] | None]] = {
    "protocols": (("protocols",),),
    "next": (("steps",),),
    "claims": (("claims",),),
    "decisions": (("decisions",),),
    "check": (("findings",),),
    "signals": (),
    "forecasts": (),
    "diff": (("texts", "a"), ("texts", "b")),
    "report": (("text",),),
    "log": (("events",),),
    "show": None,
    "why": (("nodes",),),
}
"""Tool → the lists, tables or texts of its result of which `limit` and `after` count the entries or characters.

None: the tool has no such arguments, and only long texts are cut.
"""


class NextPage(BaseModel):
    """What a result leaves out, and how to get it."""

    what: str
    after: int | None = Field(description="Call again with this `after`; null: this is the last page.")
    fix: str


def page(tool: str, result: dict[str, Any], limit: int | None, after: int) -> dict[str, Any]:
    """Return the entries of a result that follow the first `after`: `limit` of them, and no more than fit.

    `left_out` says what is missing, and is null when the result is complete. Raises `MootError` for a page beyond the
    end.
    """
    if after < 0 or (limit is not None and limit < 1):
        raise usage("`after` is 0 or more, `limit` 1 or more", "leave them out for the first page", tool)
    parts = PARTS[tool] or ()
    unit = "characters" if tool == "report" else "entries"
    # A result may have two lists, as `diff` has: the longer one decides how many pages there are.
    total = max((len(reduce(getitem, part, result)) for part in parts), default=0)
    # The first page of an empty result exists, any later one does not.
    if after and after >= total:
        raise usage(f"this result has {total} {unit}", "begin again with `after` 0", "after")
    most = max(1, min(limit or total, total - after))
    # Entries differ in size, so the largest number that fits is searched by halving.
    fitting = bisect_right(
        range(1, most + 1), RESULT_BYTES_MAX, key=lambda count: size_of(_cut(result, parts, after, count))
    )
    end = after + max(1, fitting)
    cut, what, fixes = _cut(result, parts, after, end - after), list[str](), dict[str, None]()
    more = end if end < total else None
    if after or more is not None:
        what.append(f"{unit} {after + 1} to {min(end, total)} of {total}")
        fixes["this is the last page" if more is None else f"call `{tool}` again with `after` {end}"] = None
    # A seat needs its brief as it is: `next` has cut it already, to where the caller wanted it.
    for characters in TEXT_CHARACTERS_MAX if tool != "next" else ():
        if size_of(cut) <= RESULT_BYTES_MAX:
            break
        cut = _shortened(cut, characters)
        what.append(f"texts after {characters} characters, lists after {ROWS_MAX} rows")
        if more is None:
            fixes.clear()
        fixes[
            "read the whole of it with `moot log RUN ID` on the command line, or in the page of the run"
        ] = None
    left_out = NextPage(what="; ".join(what), after=more, fix="; ".join(fixes)) if what else None
    return {**cut, "left_out": None if left_out is None else left_out.model_dump()}


def size_of(result: object) -> int:
    """Return the bytes of a result as JSON."""
    return len(orjson.dumps(result))


def _cut(
    result: dict[str, Any], parts: tuple[tuple[str, ...], ...], after: int, count: int
) -> dict[str, Any]:
    for part in parts:
        result = _replaced(result, part, _window(reduce(getitem, part, result), after, after + count))
    return result


def _replaced(result: dict[str, Any], part: tuple[str, ...], value: object) -> dict[str, Any]:
    key, *rest = part
    return {**result, key: _replaced(result[key], tuple(rest), value) if rest else value}


def _window(value: Any, start: int, end: int) -> object:
    if isinstance(value, dict):
        return dict(islice(cast("dict[str, Any]", value).items(), start, end))
    return value[start:end]


def _shortened(value: Any, characters: int) -> Any:
    """Return the value with long texts and lists cut."""
    if isinstance(value, str):
        return value if len(value) <= characters else f"{value[:characters]} …"
    if isinstance(value, list):
        return [_shortened(entry, characters) for entry in cast("list[Any]", value)[:ROWS_MAX]]
    if isinstance(value, dict):
        return {key: _shortened(entry, characters) for key, entry in cast("dict[str, Any]", value).items()}
    return value


WINDOW: Final = (
    Parameter("limit", Parameter.KEYWORD_ONLY, default=None, annotation=int | None),
    Parameter("after", Parameter.KEYWORD_ONLY, default=0, annotation=int),
)
"""Arguments of every tool whose result comes in pages."""


@dataclass(frozen=True, slots=True)
class Tools:
    """A server, the runs below one directory that its tools are about, and the rights to them."""

    server: MCPServer[Any]
    runs: Path
    rights: Rights

    def tool(self, result: type[Result]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that registers a function, whose `result` is published as that of a verb.

        The function returns the result and raises errors that an agent can act on. A result that may be long comes in
        pages, which `limit` and `after` choose. An `async` function waits first, and answers with `answered` itself.
        """

        def register(act: Callable[..., Any]) -> Callable[..., Any]:
            name, model = act.__name__, model_of(result)
            if name in PARTS:
                # The published schema forbids unknown keys, so a page's `left_out` has to be declared.
                model = create_model(model.__name__, __base__=model, left_out=(NextPage | None, None))
            # The SDK publishes the return annotation as the tool's output schema.
            signature = inspect.signature(act, eval_str=True).replace(return_annotation=model)

            @wraps(act)
            def answer(**arguments: Any) -> CallToolResult:
                window = {key: arguments.pop(key) for key in ("limit", "after") if key in arguments}
                runs = [arguments[key] for key in ("run", "a", "b") if key in arguments]
                return self.answered(name, lambda: act(**arguments), runs, **window)

            call: Any = act if inspect.iscoroutinefunction(act) else answer
            if call is answer and PARTS.get(name) is not None:
                signature = signature.replace(parameters=[*signature.parameters.values(), *WINDOW])
            call.__signature__ = signature
            self.server.add_tool(call, description=act.__doc__, structured_output=True)
            return act

        return register

    def answered(
        self,
        name: str,
        act: Callable[[], Result],
        runs: Iterable[str],
        limit: int | None = None,
        after: int = 0,
    ) -> CallToolResult:
        """Return the result of a call about `runs`, as structure and as compact text. Raises `ToolError`."""
        with self.refusing(*runs):
            structure = act().model_dump()
            if name in PARTS:
                structure = page(name, structure, limit, after)
        # Older clients read only the text, so the structure is sent there too.
        text = orjson.dumps(structure).decode()
        return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structure)

    @contextmanager
    def refusing(self, *names: str, into: type[Exception] = ToolError) -> Generator[None]:
        """Turn every error about the runs of those names into one line that an agent can act on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001
            known = explain_with(error, [self.runs / name for name in names])
            # An agent cannot use a traceback, and one might quote what a seat must not see.
            fault = f"{type(error).__name__}: this is a fault of moot's: tell the operator what was called"
            raise into(known.line.removeprefix("moot: ") if known else fault) from None

    def session(self, run: str) -> Session:
        """Return a run by its name below the directory; a name cannot lead elsewhere."""
        # A name with a slash or dots could lead to a run outside of the directory, whose tokens another secret makes.
        if not RUN_NAME.fullmatch(run) or not (self.runs / run / "head").is_file():
            there = ", ".join(self.names()[:8]) or "none"
            raise usage(f"no run {run[:80]!r}", f"runs there: {there}; open one with `new`", "run")
        return Session(self.runs / run)

    def opened(self, door: str, run: str, token: str | None) -> Session:
        """Return a run for a call of `door` that `token` allows. Raises `NotAllowed`."""
        session = self.session(run)
        self.rights.check(door, session.inner, token)
        return session

    def names(self) -> list[str]:
        """Return the names of the runs."""
        return sorted(path.parent.name for path in self.runs.glob("*/head"))
