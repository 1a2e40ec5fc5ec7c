"""Scripted answers for the fake: the reply that the script gives for the step that a prompt asks for."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from ledger.store.store import RunStore
from roles.brief import derive
from roles.prompt_set import PromptSet, read_prompt_set
from roles.protocol import open_steps
from rounds.protocols import protocol_of
from tests.fake_api.server import Answerer
from tests.rounds.scripted import Script

STEP: Final = re.compile(r"\br\d+\.[A-Za-z]\w*(?:\.[a-z0-9_]+)?\.[a-z]\w*(?:~\d+)?")


def answering(path: Path, script: Script | None = None) -> Answerer:
    """Answers for the run at `path`, read from its ledger at every request."""
    made = script or Script()
    prompts: list[PromptSet] = []

    def answer(prompt: str, body: dict[str, Any]) -> str:
        book = RunStore(path).book()
        opened = book.state.opened
        assert opened is not None, "the run is opened before anybody is asked"
        protocol = protocol_of(opened)
        if not prompts:
            content = book.blobs.read(opened.prompt_set)
            assert content is not None, "the prompt set is kept"
            prompts.append(read_prompt_set(content))
        asked = set(STEP.findall(prompt))
        step = next((one for one in open_steps(protocol, book.state) if one.id in asked), None)
        assert step is not None, f"none of {asked} is open"
        brief = derive(book, protocol, step, prompts[0])
        try:
            reply = made.reply(book, step, brief.saw).decode()
        except (
            StopIteration,
            LookupError,
            ValueError,
        ):  # a degraded run shows less than the script wants to cite
            reply = "{}"
        return enveloped(reply, body)

    return answer


def enveloped(reply: str, body: dict[str, Any]) -> str:
    """A reply in the form that the request's output schema asks for."""
    form = (body.get("output_config") or {}).get("format") or {}
    form = (body.get("response_format") or {}).get("json_schema") or form
    names = list(form.get("schema", {}).get("properties", {}))
    return json.dumps({"reply": reply}) if names == ["reply"] else reply
