"""The viewer as a process: a port, an address with a token when others can reach it, and an end by Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn

from moot.errors import MootError
from moot.terminal.streams import err
from moot.web.app import create_app
from moot.web.connections import Complaints, Connection, limits
from moot.web.guard import Address, is_loopback
from moot.web.run_index import Shelf
from moot.web.templating import compiled

PORT: Final = 8710
PORTS_TRIED: Final = 20
TOKEN_BYTES: Final = 24
NICE: Final = 10
"""Who looks on gives way to who works: a deliberation on the same machine comes first."""


def listen(host: str, port: int | None) -> socket.socket:
    """A socket that listens on `port`; with None on the first free one from 8710 on. Raises `MootError`."""
    wanted = range(PORT, PORT + PORTS_TRIED) if port is None else (port,)
    refused: OSError | None = None
    for one in wanted:
        try:
            family, kind, protocol, _, where = socket.getaddrinfo(host, one, type=socket.SOCK_STREAM)[0]
            made = socket.socket(family, kind, protocol)
        except OSError as error:
            raise _cannot(host, port, error) from error
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(where)
        except OSError as error:
            made.close()
            refused = error
        else:
            made.listen(limits().backlog)
            made.setblocking(False)
            return made
    assert refused is not None, "there was a port to try"
    raise _cannot(host, port, refused)


def _cannot(host: str, port: int | None, error: OSError) -> MootError:
    where = f"{host}:{PORT if port is None else port}"
    reason = (error.strerror or str(error)).lower()
    return MootError("cannot_listen", f"cannot listen: {reason}", where, "name another port with --port")


def address_of(host: str, listening: socket.socket) -> Address:
    """Where that socket is; every host that is not loopback gets a new token."""
    port: int = listening.getsockname()[1]
    return Address(host, port, None if is_loopback(host) else secrets.token_urlsafe(TOKEN_BYTES))


def url_of(address: Address, path: str = "/") -> str:
    """What a browser is given."""
    host = f"[{address.host}]" if ":" in address.host and not address.host.startswith("[") else address.host
    host = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)
    token = f"?token={address.token}" if address.token else ""
    return f"http://{host}:{address.port}{path}{token}"


class _Server(uvicorn.Server):
    """Says when it is up."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        asyncio.get_running_loop().set_exception_handler(Complaints(err))
        await super().startup(sockets)
        self._ready()


def serve(root: Path, address: Address, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Answer until somebody ends it; `ready` is called once it does."""
    shelf = Shelf(root)
    with contextlib.suppress(OSError):
        os.nice(NICE)
    compiled()
    threading.Thread(target=_read_ahead, args=(shelf,), daemon=True).start()
    config = uvicorn.Config(
        create_app(shelf, address),
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=1,
        http=Connection,
        backlog=limits().backlog,
        h11_max_incomplete_event_size=32_768,
    )
    _Server(config, ready).run(sockets=[listening])


def _read_ahead(shelf: Shelf) -> None:
    """Read the runs before somebody asks for them; who asks meanwhile waits for nothing but their own."""
    with contextlib.suppress(OSError):
        shelf.lines()
