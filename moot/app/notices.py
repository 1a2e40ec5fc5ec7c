"""Who is told when a run waits or ends: a program, or an address, that the person named on the command line.

Nothing is told unless it was asked for, and no deliberation file can ask. A notice that fails is a warning: what the
run is does not hang on who was told.
"""

from __future__ import annotations

import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

import msgspec

from moot.app.seat_specs import LOOPBACK
from moot.app.session import Session
from moot.environment import read_settings
from moot.errors import usage
from moot.view.played import RunEnd

SECONDS_MAX: Final = 20.0
"""How long a program or an address may take; then it is a warning."""
TOLD_CHARACTERS: Final = 200
Warn = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Notices:
    """`on_wait`, `on_end`: a program in its words, an http address, or nobody. Raises `MootError` for others."""

    on_wait: str | None
    on_end: str | None
    warn: Warn
    offline: bool = False

    def __post_init__(self) -> None:
        for name, target in (("--on-wait", self.on_wait), ("--on-end", self.on_end)):
            if target is not None:
                _check(name, target, is_offline=self.offline or read_settings().offline)

    def tell(self, end: RunEnd) -> None:
        """Send how the run stands, the object of `moot run --json`, to whom it concerns."""
        target = self.on_end if end.state == "finished" else self.on_wait
        if target is None:
            return
        content = msgspec.json.encode(end)
        failed = _post(target, content) if _is_address(target) else _start(target, content)
        if failed:
            name = "--on-end" if end.state == "finished" else "--on-wait"
            self.warn(f"warning: {name} was not told: {failed[:TOLD_CHARACTERS]}; the run is as it is\n")

    def tell_after_reply(self, session: Session) -> None:
        """The same after a reply was handed in; while other replies are open, nobody is told."""
        state = session.state.life
        if state == "running" and session.open_ids:
            return
        closing = session.state.closing
        reason = closing.reason if closing is not None else None
        self.tell(end_of(session, "waiting" if state == "running" else state, reason))


def end_of(
    session: Session,
    state: Literal["finished", "waiting", "paused", "stopped", "failed"],
    reason: str | None,
    detail: str = "",
) -> RunEnd:
    """How a run came out, or what it waits for: replies, else experiments and questions to a person."""
    awaited = session.open_ids or [*session.experiments, *session.questions]
    return RunEnd(
        run=str(session.path),
        state=state,
        reason=reason,
        waiting=awaited if state in ("waiting", "paused") else [],
        detail=detail,
        quorum=session.quorum,
        outcome=session.outcome,
    )


def _is_address(target: str) -> bool:
    return target.lower().startswith(("http://", "https://"))


def _check(name: str, target: str, *, is_offline: bool) -> None:
    """Refuse before the run begins what could not be told at its end."""
    if _is_address(target):
        try:
            host = urlsplit(target).hostname
        except ValueError:
            host = None
        if not host:
            raise usage(f"{target!r} is no address", "give http://HOST/… or a program in its words", name)
        if is_offline and host not in LOOPBACK:
            raise usage(f"offline: {host} is not this machine", "leave out --offline, or the address", name)
        return
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise usage(f"{target!r} cannot be read: {error}", "quote it as for a shell", name) from None
    if not words:
        raise usage("nothing to start", "give a program in its words, or an http address", name)


def _start(target: str, content: bytes) -> str:
    """Start the program with the object on its standard input; why it failed, or nothing. No shell reads the words."""
    try:
        ran = subprocess.run(
            shlex.split(target), input=content, capture_output=True, timeout=SECONDS_MAX, check=False
        )
    except subprocess.TimeoutExpired:
        return f"the program took more than {SECONDS_MAX:g} seconds"
    except OSError as error:
        return f"the program cannot be started: {(error.strerror or str(error)).lower()}"
    if ran.returncode == 0:
        return ""
    said = " ".join(ran.stderr.decode("utf-8", "replace").split())
    return f"the program ended with {ran.returncode}" + (f": {said}" if said else "")


def _opener() -> urllib.request.OpenerDirector:
    """One that follows no redirect: what the person named is told, and nobody that it points at."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _post(target: str, content: bytes) -> str:
    """Post the object; why it failed, or nothing. A proxy of the environment is used, a redirect is not followed."""
    request = urllib.request.Request(
        target, content, {"Content-Type": "application/json", "User-Agent": "moot"}, method="POST"
    )
    try:
        with _opener().open(request, timeout=SECONDS_MAX):
            return ""
    except urllib.error.HTTPError as error:
        return f"the address answered {error.code}"
    except (OSError, ValueError) as error:
        return f"the address cannot be reached: {getattr(error, 'reason', error)}"
