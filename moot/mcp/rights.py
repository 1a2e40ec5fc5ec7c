"""Access rights over the Model Context Protocol: one table of tools and rights, and the tokens that grant them.

A token is an HMAC of run and role under a secret of the directory of runs, so that it survives a restart and no ledger
holds a secret. Reading and writing are two rights: the end of a run opens it to all readers and grants nothing else, so
a seat's token never acts as a person. The server cannot stop a seat from reading the files directly:
`call.isolation` says `trusted`.
"""

from __future__ import annotations

import errno
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, Literal

from ledger.store.disk import plain_file, readable, write_out, writing
from moot.errors import MootError
from rounds.run.session import RunSession

OPERATOR: Final = "operator"
SECRET_NAME: Final = ".moot-seats"
_BYTES: Final = 32
_SECRET: Final = re.compile(rb"(?:[0-9a-f]{2}){%d,1024}\n?" % _BYTES)

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})
"""Errors of a file system without hard links."""

Holder = Literal["nobody", "seat", "operator"]
"""Owner of a token: `nobody` when a call has none."""


class Right(StrEnum):
    """A right that a call may need, in words."""

    KNOW = "know what moot can do, and which runs there are"
    OPEN = "open a run of one's own"
    PLACE = "see where a run stands"
    SEAT = "read a seat's brief and answer it"
    READ = "read what a run says"
    ACT = "act as the person who runs it"


EVERYBODY: Final[frozenset[Holder]] = frozenset({"nobody", "seat", "operator"})
WITH_A_TOKEN: Final[frozenset[Holder]] = frozenset({"seat", "operator"})
OPERATOR_ALONE: Final[frozenset[Holder]] = frozenset({"operator"})

WHILE_OPEN: Final[Mapping[Right, frozenset[Holder]]] = {
    Right.KNOW: EVERYBODY,
    Right.OPEN: EVERYBODY,
    Right.PLACE: EVERYBODY,
    Right.SEAT: WITH_A_TOKEN,
    Right.READ: OPERATOR_ALONE,
    Right.ACT: OPERATOR_ALONE,
}
ONCE_FINISHED: Final[Mapping[Right, frozenset[Holder]]] = {**WHILE_OPEN, Right.READ: EVERYBODY}

RIGHT_OF: Final[Mapping[str, Right]] = {
    "protocols": Right.KNOW,
    "gate": Right.KNOW,
    "new": Right.OPEN,
    "status": Right.PLACE,
    "next": Right.SEAT,
    "submit": Right.SEAT,
    "claims": Right.READ,
    "decisions": Right.READ,
    "check": Right.READ,
    "signals": Right.READ,
    "forecasts": Right.READ,
    "log": Right.READ,
    "show": Right.READ,
    "why": Right.READ,
    "diff": Right.READ,
    "report": Right.READ,
    "give_up": Right.ACT,
    "answer": Right.ACT,
    "override": Right.ACT,
    "ack": Right.ACT,
    "ask": Right.ACT,
    "note": Right.ACT,
    "fork": Right.ACT,
    "moot://runs": Right.KNOW,
    "moot://runs/{run}/briefs/{step}": Right.READ,
}
"""Tool or resource → the right that it needs. A resource takes no token, so its holder is always `nobody`."""


class NotAllowed(MootError):
    """A token without the needed right; the message says which token has it."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__("not_allowed", what, "token", fix)


@dataclass(frozen=True, slots=True)
class Rights:
    """The tokens of the runs below one directory."""

    secret: bytes

    def token(self, run: str, role: str) -> str:
        """Return the token of a seat, or of the operator."""
        message = f"{run}|{role}".encode("utf-8", "surrogatepass")
        return f"{role}.{hmac.new(self.secret, message, 'sha256').hexdigest()[:40]}"

    def tokens(self, session: RunSession) -> dict[str, str]:
        """Return role → token, the operator's first."""
        name = session.run.path.name
        # Computed and never stored: the secret is the only thing to protect.
        return {role: self.token(name, role) for role in (OPERATOR, *session.book().state.roles)}

    def role_of(self, run: str, token: str | None) -> str | None:
        """Return the role of a token; None without a token. Raises `NotAllowed` for a token that is not of this run."""
        if token is None:
            return None
        role = token.partition(".")[0]
        actual, wanted = (text.encode("utf-8", "surrogatepass") for text in (token, self.token(run, role)))
        # Compared in constant time, so that a token cannot be guessed byte by byte.
        if not hmac.compare_digest(actual, wanted):
            raise NotAllowed(
                f"that is no token of run {run}",
                "`new` gave one for every seat and one for the operator",
            )
        return role

    def is_of(self, session: RunSession, token: str | None) -> bool:
        """Return whether a token was made for a run."""
        try:
            return self.role_of(session.run.path.name, token) is not None
        except NotAllowed:
            return False

    def check(self, door: str, session: RunSession, token: str | None, role: str | None = None) -> str | None:
        """Return the role whose steps a call may touch; None means every role. Raises `NotAllowed`.

        `door` is a tool or a resource of `RIGHT_OF`, `role` the seat that the call names, if it names one.
        """
        right = RIGHT_OF[door]
        # The token is judged before the right, so that a forged one is refused even for public tools.
        whose = self.role_of(session.run.path.name, token)
        holder: Holder = "nobody" if whose is None else "operator" if whose == OPERATOR else "seat"
        # Sealed forecasts and other seats' prompts must stay unread only as long as they can influence an answer.
        allowed = ONCE_FINISHED if session.book().state.finished else WHILE_OPEN
        if holder not in allowed[right]:
            raise _refusal(right, door)
        if right is not Right.SEAT or holder == "operator":
            return role
        # A seat sees only its own steps: another's prompt could hold what it must not know.
        if role is not None and role != whose:
            raise NotAllowed(
                f"this token is {whose}'s and opens none of {role[:40]}'s steps",
                "give the seat's own token, or the operator's",
            )
        return whose


def _refusal(right: Right, door: str) -> NotAllowed:
    if right is Right.SEAT:
        return NotAllowed("a step is opened by a token", "give its seat's, or the operator's")
    if right is Right.READ:
        return NotAllowed(
            "while the run is open this shows what a seat must not see",
            "give the operator's token, or call `next` with your own",
        )
    return NotAllowed(
        f"`{door}` acts as the person who runs the deliberation, and so takes the operator's token",
        "a seat asks its operator; `moot mcp --tokens RUN` prints the tokens for whoever holds the files",
    )


def rights_in(runs: Path) -> Rights:
    """Return the rights of a directory of runs; its secret is created when it is first needed, with mode 0600.

    Raises `MootError` for a secret that could be guessed, `WriteFailed` and `Unreadable`.
    """
    place = runs / SECRET_NAME
    if not os.path.lexists(place):
        with writing(place):
            _make_secret(place)
    with readable(place), plain_file(place) as file:
        content = file.read(4 * 1024)
    if not _SECRET.fullmatch(content):
        raise MootError(
            "bad_secret",
            f"this file is not a secret of {_BYTES} bytes in hexadecimal digits: tokens made from it could be forged",
            str(place),
            "remove it: the next start makes a new one, and `moot mcp --tokens RUN` prints the new tokens",
        )
    return Rights(bytes.fromhex(content.decode("ascii")))


def _make_secret(place: Path) -> None:
    """Put a new secret at `place`, whole or not at all; a secret of another process is kept."""
    place.parent.mkdir(parents=True, exist_ok=True)
    content = secrets.token_hex(_BYTES).encode()
    try:
        # Never in the place of another secret, whose tokens may be in use.
        write_out(place, content, mode=0o600, over=False)
    except FileExistsError:
        pass
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        write_out(place, content, mode=0o600)
