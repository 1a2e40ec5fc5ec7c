"""Read a stream of server-sent events as JSON values, however its bytes are split.

The SDKs have readers of their own, but those fail on an event without data (`retry: 10`) and coerce values that should
be counts (`true`, `"900"`).
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any, Final

# A CR at the end of a piece may be the first half of a CR LF, so it is not a line end until the next piece arrives.
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?=[^\n])", re.DOTALL)
END: Final = b"[DONE]"
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


async def events_in(pieces: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    """Yield the JSON value of each event until `[DONE]`. Raises `ValueError` for data that is not JSON."""
    data: list[bytes] = []
    async for line in _lines_in(pieces):
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif not line and data:
            text, data = b"\n".join(data), []
            if text.strip() == END:
                return
            # Blank data carries nothing and would not parse as JSON.
            if text.strip():
                yield json.loads(text)


async def _lines_in(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    # Pieces of an unfinished line are joined once, because a line may be megabytes long.
    begun: list[bytes] = []
    is_first = True
    async for piece in pieces:
        begun.append(piece)
        # Two pieces are enough: a line end is at most two bytes, so it cannot span three pieces.
        if not _LINE_END.search(b"".join(begun[-2:])):
            continue
        *lines, rest = _LINE_END.split(b"".join(begun))
        begun = [rest]
        for line in lines:
            # The specification of server-sent events allows one byte order mark, at the very start.
            yield line.removeprefix(BYTE_ORDER_MARK) if is_first else line
            is_first = False
    # A server may close without the blank line that ends the last event, so one is added here.
    for line in (*b"".join(begun).splitlines(), b""):
        yield line
