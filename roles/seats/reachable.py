"""Find out cheaply whether anything listens at an address."""

from __future__ import annotations

import socket
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

SECONDS_MAX: Final = 3.0
PORTS: Final = {"http": 80, "https": 443}


def unreachable(url: str) -> str | None:
    """Return why nothing can be sent to an address; None when a connection opens, or a proxy stands in between."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or PORTS.get(parts.scheme)
    except ValueError:
        return f"{url} is not an address"
    if host is None or port is None:
        return f"{url} is not an address: write http://HOST:PORT/v1"
    # Behind a proxy the address need not be reachable from here, and only a request would show whether it answers.
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
