"""Check cheaply whether a server listens at an address."""

from __future__ import annotations

import socket
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

SECONDS_MAX: Final = 3.0
PORTS: Final = {"http": 80, "https": 443}


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
    proxies = getproxies()
    if (parts.scheme in proxies or "all" in proxies) and not proxy_bypass(host):
        return None
    try:
        socket.create_connection((host, port), SECONDS_MAX).close()
    except TimeoutError:
        return f"cannot reach {url}: no connection within {SECONDS_MAX:g} s"
    except OSError as error:
        return f"cannot reach {url}: {(error.strerror or str(error)).lower()}"
    return None
