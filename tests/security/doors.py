"""Every door to a run: each verb of the command line, each page of the viewer, each tool for agent hosts."""

from __future__ import annotations

import contextlib
import io
import shutil
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ToolError,
    UnexpectedResourceError,
    UnexpectedToolError,
)
from starlette.testclient import TestClient

from ledger.store.failures import LedgerError
from moot.__main__ import main
from moot.app.session import Session
from moot.errors import BUG
from moot.mcp.server import build
from moot.web.guard import Address
from moot.web.run_index import RunIndex
from moot.web.server import PAGES, create_app
from roles.protocol import UNLAWFUL

RUN, OTHER, OUT = "RUN", "OTHER", "OUT"
"""Stand for the run's directory, for a good run's, and for a place that is free."""

READING: Final[tuple[tuple[str, ...], ...]] = (
    ("verify", RUN), ("check", RUN), ("check", RUN, "--json"), ("status", RUN), ("status", RUN, "--json"),
    ("log", RUN), ("log", RUN, "--json"), ("log", RUN, "D-1-1"), ("claims", RUN), ("claims", RUN, "--json"),
    ("decisions", RUN), ("decisions", RUN, "--json"), ("signals", RUN), ("signals", RUN, "--profile", "gates"),
    ("signals", RUN, "--profile", "published", "--json"), ("study", "value", RUN), ("study", "value", RUN, "--emit"),
    ("report", RUN),
    ("report", RUN, "--html", OUT), ("replay", RUN, "--no-live"), ("replay", RUN, "--re-execute"),
    ("diff", RUN, OTHER), ("diff", OTHER, RUN), ("fork", RUN, "--stress"),
    ("export", RUN, OUT, "--to", "skill"), ("outcome", RUN),
    ("review", RUN), ("review", RUN, "--format", "sarif"), ("check", RUN, "--format", "sarif"),
)  # fmt: skip
WRITING: Final[tuple[tuple[str, ...], ...]] = (
    ("fork", RUN, "--round", "1", "--out", OUT), ("redact", RUN, "--secret", "SECRET", "--out", OUT),
    ("next", RUN), ("next", RUN, "--json"), ("submit", RUN, "r1.draft.drafter", "REPLY"),
    ("submit", RUN, "STEP", "--give-up", "gone"), ("run", "--resume", RUN), ("answer", RUN, "N-1-1", "yes"),
    ("override", RUN, "D-1-1", "no"), ("ack", RUN, "FM-1", "seen"), ("note", RUN, "a remark"),
    ("outcome", RUN, "accepted"),
    ("outcome", RUN, "held", "seen"),
    ("check", RUN), ("status", RUN),
)  # fmt: skip
"""Called last, in this order, for they change the run."""


class Fault(Exception):
    """A door that a run broke."""


def call(arguments: tuple[str, ...]) -> tuple[int, str, str]:
    """The command line in this process: exit code, stdout, stderr. Raises `Fault` for exit 70 and for a traceback."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(arguments))
        if code == BUG:
            main([*arguments, "--debug"])  # with where it was raised
    if code == BUG or "Traceback" in err.getvalue():
        raise Fault(f"{' '.join(arguments)}: {err.getvalue()[-1_500:]}")
    return code, out.getvalue(), err.getvalue()


def told(error: BaseException) -> str:
    """An exception with where it was raised, on one line."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-3:]]
    return f"{type(error).__name__} {str(error)[:80]!r} at {' < '.join(reversed(places))}"


def filled(form: tuple[str, ...], run: Path, other: Path, folder: Path) -> tuple[str, ...]:
    """A command with its places filled in."""
    words = {
        RUN: run,
        OTHER: other,
        OUT: folder / "out",
        "REPLY": folder / "reply.json",
        "SECRET": folder / "secret.txt",
    }
    if "STEP" in form:
        words["STEP"] = Path(_open_step(run))
    return tuple(str(words.get(word, word)) for word in form)


def _open_step(run: Path) -> str:
    with contextlib.suppress(LedgerError, *UNLAWFUL):
        return (Session(run).open_ids or ["r1.draft.drafter"])[0]
    return "r1.draft.drafter"


def verbs(
    forms: Sequence[tuple[str, ...]], run: Path, other: Path, folder: Path
) -> Iterator[tuple[str, int] | Fault]:
    """Verbs on a run: (verb, exit code), or the fault. `folder` holds what they take and make."""
    out = folder / "out"
    for form in forms:
        shutil.rmtree(out, ignore_errors=True)
        if out.is_file():
            out.unlink()
        try:
            yield form[0], call(filled(form, run, other, folder))[0]
        except Fault as fault:
            yield fault


class Viewer:
    """The viewer in this process, over a folder of runs."""

    def __init__(self, runs: Path) -> None:
        self._client = TestClient(
            create_app(RunIndex(runs), Address("127.0.0.1", 80)),
            base_url="http://127.0.0.1",
            raise_server_exceptions=True,
        )

    def get(self, path: str) -> tuple[int, str]:
        """A page. Raises `Fault` where a browser would see 500."""
        try:
            answer = self._client.get(path)
        except Exception as error:
            raise Fault(f"GET {path.rpartition('/')[2]}: {told(error)}") from error
        if answer.status_code >= 500:
            raise Fault(f"GET {path}: {answer.status_code}")
        return answer.status_code, answer.text

    def pages(self, name: str, identities: Mapping[str, str]) -> Iterator[tuple[str, int] | Fault]:
        """Every page of a run: (address, status), or the fault."""
        for path, _ in PAGES:
            if "{name}" not in path:
                continue
            address = path.replace("{name}", name).replace("{number:int}", "1")
            for word, value in identities.items():
                address = address.replace(f"{{{word}}}", value)
            try:
                yield path, self.get(address)[0]
            except Fault as fault:
                yield fault


def tools(runs: Path, run: str, other: str, token: str) -> Iterator[tuple[str, str] | Fault]:
    """Every tool and resource about a run with the operator's token: (tool, answer), or the fault."""
    more: Mapping[str, Mapping[str, object]] = {
        "diff": {"a": run, "b": other},
        "submit": {"step": "r1.draft.drafter", "reply": "{}"},
        "give_up": {"step": "r1.draft.drafter", "reason": "gone"},
        "answer": {"concern": "N-1-1", "text": "yes"},
        "override": {"target": "D-1-1", "text": "no"},
        "ack": {"alarm": "FM-1", "text": "seen"},
        "note": {"text": "a remark"},
        "fork": {"round": 1},
    }

    async def asked() -> list[tuple[str, str] | Fault]:
        server, found = build(runs), list[tuple[str, str] | Fault]()
        for tool in await server.list_tools():
            if tool.name in ("new", "protocols", "gate"):
                continue
            arguments = {**more.get(tool.name, {}), "token": token}
            if tool.name != "diff":
                arguments["run"] = run
            try:
                await server.call_tool(tool.name, arguments)
                found.append((tool.name, "done"))
            except UnexpectedToolError as error:
                found.append(Fault(f"tool {tool.name}: {told(error.__cause__ or error)}"))
            except ToolError as error:
                found.append(_refused(f"tool {tool.name}", error))
        for name in ("report", "events", "briefs/r1.draft.drafter"):
            try:
                list(await server.read_resource(f"moot://runs/{run}/{name}"))
                found.append((name, "done"))
            except UnexpectedResourceError as error:
                found.append(Fault(f"resource {name}: {told(error.__cause__ or error)}"))
            except ResourceError as error:
                found.append(_refused(f"resource {name}", error))
        return found

    yield from anyio.run(asked)


def _refused(door: str, error: Exception) -> tuple[str, str] | Fault:
    if "fault of moot's" in str(error):
        return Fault(f"{door}: {told(error.__context__ or error)}")
    return door, str(error)
