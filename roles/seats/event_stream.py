"""Read a stream of server-sent events as JSON values, whatever pieces it comes in.

The SDKs have readers of their own. They fail on an event without data (`retry: 10`), and turn what should be a count
(`true`, `"900"`) into one.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any, Final

# A CR at the end of a piece may be half of a CR LF, so it waits for the next piece.
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?=[^\n])", re.DOTALL)
END: Final = b"[DONE]"
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


async def events_in(pieces: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    """Yield the JSON value of each event up to the end. Raises `ValueError` for data that is not JSON."""
    data: list[bytes] = []
    async for line in _lines_in(pieces):
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line and data:
            text, data = b"\n".join(data), []
            if text.strip() == END:
                return
            if text.strip():
                yield json.loads(text)


async def _lines_in(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    begun: list[
        bytes
    ] = []  # pieces of a line without an end: joined once, since a line may be megabytes long
    is_first = True
    async for piece in pieces:
        begun.append(piece)
        if not _LINE_END.search(b"".join(begun[-2:])):
            continue
        *lines, rest = _LINE_END.split(b"".join(begun))
        begun = [rest]
        for line in lines:
            yield line.removeprefix(BYTE_ORDER_MARK) if is_first else line
            is_first = False
    for line in (*b"".join(begun).splitlines(), b""):
        yield line
