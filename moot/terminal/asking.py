"""Replies of the person at this terminal: a form in $EDITOR if it is set, else lines of stdin.

A form that is left unchanged is not an answer: the step stays open, no more steps are asked, and the run can go on
later. A refused reply is asked again, with the draft and what is wrong with it.
"""

from __future__ import annotations

import asyncio
import io
import os
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ledger.store.disk import read_plain
from moot.environment import read_settings
from moot.terminal.reply_form import NotFilledIn, form, reply_of
from moot.terminal.streams import err
from roles.seats.port import Request, SeatWaits

END: Final = "."
GIVE_UP: Final = "/give-up"
RULE: Final = "─" * 78
_READ_BYTES: Final = 65_536
_DRAFT_BYTES_MAX: Final = 8_000_000
"""Limit for a reply in any form, with the prompt below it."""


class Person:
    """The person at this terminal, who answers one step at a time until they leave."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._lines = _Lines()
        self._drafts: dict[str, str] = {}
        """Last draft of each step, as the editor left it."""
        self._left = False

    async def ask(self, request: Request) -> bytes | None:
        """Show the prompt and take the reply; None when the person gives the step up.

        Raises `SeatWaits` once the person has left: the step stays open, and the run can go on later.
        """
        # Several roles may be this person: their steps open at once, and the terminal can show only one.
        async with self._turn:
            if self._left:
                raise SeatWaits(request.step.id)
            editor = read_settings().editor
            if editor is not None and sys.stdin.isatty():
                reply = await self._edited(request, editor)
            else:
                reply = await self._typed(request)
            if reply is None:
                # A person who leaves one step is not asked about the others that are open.
                self._left = True
                err(f"{request.step.id} stays open; `moot run --resume RUN` asks again.\n")
                raise SeatWaits(request.step.id)
            return None if reply == GIVE_UP.encode() else reply

    async def _typed(self, request: Request) -> bytes | None:
        """Read lines up to one that holds only END; a lone GIVE_UP needs no END. Return None at the end of stdin."""
        step, brief, empty = request.step.id, request.brief, form(request.brief.schema)
        # On a second attempt the prompt is still on the screen; only the refusal, its last block, is new.
        text = brief.text if request.attempt == 1 else brief.blocks[-1].text
        err(f"\n{RULE}\n{step}\n{RULE}\n{text.rstrip()}\n\n")
        err(f"Write the reply as one JSON object, or as this form, filled in:\n\n{empty}\n")
        err(f"End with a line that holds only {END!r}; {GIVE_UP} gives the step up.\n")
        while True:
            lines: list[str] = []
            # An empty line is part of a reply, so a line of its own ends it.
            while (line := await self._lines.next()) and line.strip() != END:
                lines.append(line)
                if line.strip() == GIVE_UP:
                    return GIVE_UP.encode()
            try:
                reply = reply_of(brief.schema, "".join(lines))
            except NotFilledIn as error:
                err(f"That cannot be read: {error}. Write it once more.\n")
                reply = None
            else:
                if reply is None and line:
                    err(f"Nothing was written. Write it, or leave with Ctrl-D: {step} then stays open.\n")
            if reply is not None or not line:
                return reply

    async def _edited(self, request: Request, editor: str) -> bytes | None:
        """Return the reply as it was left in the editor; None when it was left unchanged."""
        step, schema = request.step.id, request.brief.schema
        # The last block of a repeated prompt holds the reasons of the refusal.
        trouble = request.brief.blocks[-1].text if request.attempt > 1 else ""
        while True:
            before = self._drafts.get(step) or form(schema)
            after = await _in_editor(editor, step, _page(request, before, trouble))
            # Compared without comments, so that a moved or deleted line of help does not count as an answer.
            if after is None or _without_comments(after) == _without_comments(before):
                return None
            self._drafts[step] = after
            if _without_comments(after).strip() == GIVE_UP:
                return GIVE_UP.encode()
            try:
                return reply_of(schema, after)
            except NotFilledIn as error:
                trouble = f"This cannot be read: {error}."


_OURS: Final = "#|"
"""Begins the lines that are written anew each time."""


def _page(request: Request, draft: str, trouble: str) -> str:
    """Return the text that the editor opens: what was wrong, what to do, the form, the prompt."""
    problem = f"{trouble}\n\n" if trouble else ""
    head = (
        f"{problem}{request.step.id}: your reply. Fill in the form and save; the brief stands below it.\n"
        "Outside of texts, lines that begin with # are left out. Close it without a change to leave the step open;\n"
        f"a lone {GIVE_UP} gives the step up for good. One JSON object is taken as well.\n"
    )
    # Help lines carry `#|`, so that the person's own comments survive a second attempt.
    own = "\n".join(line for line in draft.splitlines() if not line.startswith(_OURS)).strip()
    return f"{_commented(head)}\n{own}\n\n{_commented(request.brief.text)}"


def _commented(text: str) -> str:
    return "".join(f"{_OURS} {line}".rstrip() + "\n" for line in text.splitlines())


def _without_comments(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith("#")).strip()


async def _in_editor(editor: str, step: str, page: str) -> str | None:
    """Return the text as the editor left it; None when it did not start or reported a failure."""
    # A private directory: a draft may hold what other users must not read.
    with tempfile.TemporaryDirectory(prefix="moot-") as directory:
        path = Path(directory) / "reply.toml"
        # A prompt may quote bytes that are not UTF-8, which must come back unchanged.
        path.write_text(page, "utf-8", "surrogateescape")
        err(f"{step}: your editor opens ({editor}).\n")
        try:
            # Split as a shell would: EDITOR often has options, such as `code --wait`.
            process = await asyncio.create_subprocess_exec(*shlex.split(editor), str(path))
        except (OSError, ValueError) as error:
            err(
                f"{editor!r} cannot be started ({error}); set VISUAL or EDITOR, or unset both to type here.\n"
            )
            return None
        try:
            with _ctrl_c_is_the_editors():
                code = await process.wait()
        finally:
            # The wait was cancelled: an editor that goes on would hold the terminal after moot has ended.
            if process.returncode is None:
                process.terminate()
                await process.wait()
        # Editors such as vim (`:cq`) end with an error to say that the text is to be dropped.
        if code != 0:
            err(f"The editor ended with {code}.\n")
            return None
        try:
            return read_plain(path, _DRAFT_BYTES_MAX).decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return None
        except OSError as error:
            err(f"What the editor left cannot be read: {(error.strerror or str(error)).lower()}.\n")
            return None


@contextmanager
def _ctrl_c_is_the_editors() -> Generator[None]:
    """Ignore Ctrl-C while an editor has the terminal, where it is an ordinary key."""
    # Python lets only the main thread set signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # The terminal sends Ctrl-C to both processes; without this it would end the run while the editor is open.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Lines:
    """Lines of stdin, waited for without a thread, so that Ctrl-C ends the waiting at once."""

    def __init__(self) -> None:
        self._kept = b""
        self._ended = False

    async def next(self) -> str:
        """Return the next line; an empty string at the end."""
        try:
            descriptor = sys.stdin.fileno()
        # A stdin without a descriptor, as in tests and notebooks, cannot be waited for.
        except (io.UnsupportedOperation, ValueError):
            return sys.stdin.readline()
        while b"\n" not in self._kept and not self._ended:
            # A blocking read would keep the event loop, and with it all other seats, waiting.
            await _readable(descriptor)
            more = os.read(descriptor, _READ_BYTES)
            self._kept += more
            self._ended = not more
        line, end, self._kept = self._kept.partition(b"\n")
        return (line + end).decode("utf-8", "surrogateescape")


async def _readable(descriptor: int) -> None:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    try:
        loop.add_reader(descriptor, ready.set)
    except PermissionError:
        return  # a plain file never waits
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
