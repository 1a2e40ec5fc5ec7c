"""A reply whose shape is right and whose content would have been refused, put on a ledger all the same."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import orjson
import pytest

from ledger.state.book import book
from tests.protocols.test_planted import PLAIN, _Kept, judged, run


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "comparative" else name for name in PLAIN]
)
def test_every_reply_with_foreign_ids_is_found_and_nothing_breaks(name: str) -> None:
    whole = run(name)
    assert isinstance(whole.blobs, _Kept)
    for place, event in enumerate(whole.events):
        if event.call is None:
            continue
        reply = _foreign(orjson.loads(whole.blobs.content[event.call.reply]))
        content = orjson.dumps(reply)
        if content == whole.blobs.content[event.call.reply]:
            continue  # a step that names nobody else
        sha256 = hashlib.sha256(content).hexdigest()
        attempts = tuple(msgspec.structs.replace(one, reply=sha256) for one in event.call.attempts)
        call = msgspec.structs.replace(event.call, reply=sha256, attempts=attempts)
        events = list(whole.events)
        events[place] = msgspec.structs.replace(event, call=call)
        planted = book(events, _Kept({**whole.blobs.content, sha256: content}))
        found = {finding.code for finding in judged(name, planted).findings}
        assert "FLW001" in found, event.step


def _foreign(value: Any, key: str = "") -> Any:
    """The reply with every id in it replaced by one that does not exist, or is none."""
    if isinstance(value, dict):
        return {name: _foreign(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [_foreign(inner, key) for inner in value]
    named = key in (
        "of",
        "to",
        "target",
        "argument_id",
        "ref",
        "surviving",
        "blockers",
        "option",
        "criterion",
    )
    return "nonsense" if named and isinstance(value, str) else value


def test_a_structured_reply_with_foreign_ids_is_found_too() -> None:
    from tests.validators.factory import CONTEXT, Store, base, findings

    whole = base()
    assert isinstance(whole.blobs, Store)
    seen = 0
    for place, event in enumerate(whole.events):
        if event.call is None:
            continue
        content = orjson.dumps(_foreign(orjson.loads(whole.blobs.content[event.call.reply])))
        content = content.replace(b'"claim_id":"C', b'"claim_id":"X')
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 == event.call.reply:
            continue
        events = list(whole.events)
        call = msgspec.structs.replace(event.call, reply=sha256)
        events[place] = msgspec.structs.replace(event, call=call)
        planted = book(events, Store({**whole.blobs.content, sha256: content}))
        assert findings(planted, CONTEXT), event.step
        seen += 1
    assert seen > 5
