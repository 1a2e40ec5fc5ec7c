"""Check cheaply whether a server listens at an address."""

from __future__ import annotations

import socket
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

SECONDS_MAX: Final = 3.0
PORTS: Final = {"http": 80, "https": 443}


def proxy_of(url: str) -> str | None:
    """Return the host and port of the proxy that the environment sets for an address; None without one."""
    try:
        parts = urlsplit(url)
        proxies = getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if not proxy or not parts.hostname or proxy_bypass(parts.hostname):
            return None
    # A malformed address has no proxy, and the caller reports it in its own words.
    except ValueError:
        return None
    # A proxy's address may contain a password, which must not be printed.
    return proxy.rpartition("@")[2].rpartition("://")[2].rstrip("/")


def unreachable(url: str) -> str | None:
    """Return why an address cannot be reached; None when a connection opens, or when a proxy is in between."""
    try:
        # Both lines raise `ValueError`: for a broken IPv6 address, and for a port that is no number.
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return f"{url} is not an address"
    if host is None or port is None:
        return f"{url} is not an address: write http://HOST:PORT/v1"
    # Behind a proxy the address need not be reachable from this machine, and only a request shows whether it answers.
    if proxy_of(url) is not None:
        return None
    try:
        socket.create_connection((host, port), SECONDS_MAX).close()
    except TimeoutError:
        return f"cannot reach {url}: no connection within {SECONDS_MAX:g} s"
    except OSError as error:
        return f"cannot reach {url}: {(error.strerror or str(error)).lower()}"
    return None
