"""Who may do what over the Model Context Protocol: one table of tools and rights, and the tokens that open them.

A token is an HMAC of run and role under a secret of the directory of runs, so that it survives a restart and nothing
secret stands in a ledger. Reading and writing are two rights: the end of a run opens what it says to everybody and
nothing else, so a seat's token never acts as a person. A seat that reads the files past the server is not held off:
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

from ledger.store.disk import NEW, Disk, plain_file, readable, write_fully, writing
from moot.errors import MootError
from rounds.run.session import RunSession

OPERATOR: Final = "operator"
SECRET_NAME: Final = ".moot-seats"
_BYTES: Final = 32
_SECRET: Final = re.compile(rb"(?:[0-9a-f]{2}){%d,1024}\n?" % _BYTES)

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})
"""What a file system without hard links says."""

Holder = Literal["nobody", "seat", "operator"]
"""Whose token it is: nobody's when none was given."""


class Right(StrEnum):
    """What a caller wants, in words."""

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
"""Tool, or resource, → the right it takes. A resource has no place for a token: it is read by nobody."""


class NotAllowed(MootError):
    """A token that does not open what was asked for; the words say which one would."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__("not_allowed", what, "token", fix)


@dataclass(frozen=True, slots=True)
class Rights:
    """The tokens of the runs below one directory."""

    secret: bytes

    def token(self, run: str, role: str) -> str:
        """The token of a seat, or of the operator."""
        said = f"{run}|{role}".encode("utf-8", "surrogatepass")
        return f"{role}.{hmac.new(self.secret, said, 'sha256').hexdigest()[:40]}"

    def tokens(self, session: RunSession) -> dict[str, str]:
        """Role → token, the operator's first."""
        name = session.run.path.name
        return {role: self.token(name, role) for role in (OPERATOR, *session.book().state.roles)}

    def role_of(self, run: str, token: str | None) -> str | None:
        """Whose token it is; None without one. Raises `NotAllowed` for one that is nobody's."""
        if token is None:
            return None
        role = token.partition(".")[0]
        given, wanted = (text.encode("utf-8", "surrogatepass") for text in (token, self.token(run, role)))
        if not hmac.compare_digest(given, wanted):
            raise NotAllowed(
                f"that is no token of run {run}",
                "`new` gave one for every seat and one for the operator",
            )
        return role

    def is_of(self, session: RunSession, token: str | None) -> bool:
        """Whether a token was made for a run."""
        try:
            return self.role_of(session.run.path.name, token) is not None
        except NotAllowed:
            return False

    def check(self, door: str, session: RunSession, token: str | None, role: str | None = None) -> str | None:
        """The role whose steps a call may touch; None is every role. Raises `NotAllowed`.

        `door` is a tool or a resource of `RIGHT_OF`, `role` the seat that the call names, if it names one.
        """
        right = RIGHT_OF[door]
        whose = self.role_of(session.run.path.name, token)
        holder: Holder = "nobody" if whose is None else "operator" if whose == OPERATOR else "seat"
        allowed = ONCE_FINISHED if session.book().state.finished else WHILE_OPEN
        if holder not in allowed[right]:
            raise _refusal(right, door)
        if right is not Right.SEAT or holder == "operator":
            return role
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
    """The rights of a directory of runs; its secret is made when it is first needed, readable by its owner alone.

    Raises `MootError` for a secret that could be guessed, `WriteFailed` and `Unreadable`.
    """
    place = runs / SECRET_NAME
    if not os.path.lexists(place):
        with writing(place):
            _make_secret(place)
    with readable(place), plain_file(place) as file:
        found = file.read(4 * 1024)
    if not _SECRET.fullmatch(found):
        raise MootError(
            "bad_secret",
            f"this file is not a secret of {_BYTES} bytes in hexadecimal digits: tokens made from it could be forged",
            str(place),
            "remove it: the next start makes a new one, and `moot mcp --tokens RUN` prints the new tokens",
        )
    return Rights(bytes.fromhex(found.decode("ascii")))


def _make_secret(place: Path) -> None:
    """Put a new secret at `place` whole or not at all; one that another process put there meanwhile stays."""
    place.parent.mkdir(parents=True, exist_ok=True)
    temporary = place.with_name(f"{SECRET_NAME}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(temporary, NEW | os.O_EXCL, 0o600)
        try:
            write_fully(descriptor, secrets.token_hex(_BYTES).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.link(temporary, place)  # a rename would take the place of a secret whose tokens are in use
        except FileExistsError:
            pass
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.rename(temporary, place)
    finally:
        temporary.unlink(missing_ok=True)
    Disk().settle(place.parent)
