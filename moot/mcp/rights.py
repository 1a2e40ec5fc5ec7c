"""Who may see what while a run is open: a token for each seat, and one for whoever runs the deliberation.

A token is an HMAC of run and role under a secret of the directory of runs, so that it survives a restart and nothing
secret stands in a ledger. A seat's token opens its own steps and nothing else until the run is finished; the operator's
opens everything. A seat that reads the files past the server is not held off: `call.isolation` says `trusted`.
"""

from __future__ import annotations

import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rounds.session import Session

OPERATOR: Final = "operator"
SECRET_NAME: Final = ".moot-seats"
_BYTES: Final = 32


class NotAllowed(Exception):
    """A token that does not open what was asked for; the message says which one would."""


@dataclass(frozen=True, slots=True)
class Rights:
    """The tokens of the runs below one directory."""

    secret: bytes

    def token(self, run: str, role: str) -> str:
        """The token of a seat, or of the operator."""
        return f"{role}.{hmac.new(self.secret, f'{run}|{role}'.encode(), 'sha256').hexdigest()[:40]}"

    def tokens(self, session: Session) -> dict[str, str]:
        """Role → token, the operator's first."""
        name = session.run.path.name
        return {role: self.token(name, role) for role in (OPERATOR, *session.book().state.roles)}

    def role_of(self, run: str, token: str | None) -> str | None:
        """Whose token it is; None without one. Raises `NotAllowed` for one that is nobody's."""
        if token is None:
            return None
        role = token.partition(".")[0]
        if not hmac.compare_digest(token.encode(), self.token(run, role).encode()):
            raise NotAllowed(
                f"that is no token of run {run}; `new` gave one for every seat and one for the operator"
            )
        return role

    def check_reading(self, session: Session, token: str | None) -> None:
        """Whether everything of a run may be read: it is finished, or the operator asks."""
        role = self.role_of(session.run.path.name, token)
        if session.book().state.finished or role == OPERATOR:
            return
        raise NotAllowed(
            "while the run is open this shows what a seat must not see; give the operator's token, "
            "or call `next` with your own"
        )

    def check_seat(self, session: Session, token: str | None, role: str | None) -> str | None:
        """The role whose steps a token opens; None is every role, for the operator. Raises `NotAllowed`."""
        holder = self.role_of(session.run.path.name, token)
        if holder is None:
            raise NotAllowed("a step is opened by its seat's token, or by the operator's")
        if holder == OPERATOR:
            return role
        if role is not None and role != holder:
            raise NotAllowed(f"this token is {holder}'s and opens none of {role}'s steps")
        return holder


def rights_in(runs: Path) -> Rights:
    """The rights of a directory of runs; its secret is made when it is first needed, readable by its owner alone."""
    place = runs / SECRET_NAME
    try:
        return Rights(_read(place))
    except FileNotFoundError:
        runs.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return Rights(_read(place))
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(_BYTES))
    return Rights(_read(place))


def _read(place: Path) -> bytes:
    return bytes.fromhex(place.read_text("ascii").strip())
