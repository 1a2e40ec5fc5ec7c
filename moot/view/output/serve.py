"""`moot serve --json`: where the viewer listens."""

from __future__ import annotations

from moot.view.output.base import Output


class Serving(Output, frozen=True):
    """Printed once, when the viewer answers. `url` carries the token that any address but loopback needs."""

    url: str
    host: str
    port: int
    runs: str
    token: str | None
