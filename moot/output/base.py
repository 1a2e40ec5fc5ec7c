"""What `--json` prints: closed, frozen models. Lists, not tuples, so that `model_dump()` equals the JSON."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Output(BaseModel):
    """An object that a verb prints, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, defer_build=True)
