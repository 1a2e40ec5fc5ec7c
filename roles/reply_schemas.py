"""Write the schemas of the replies to `schemas/replies/`: `python -m roles.reply_schemas [--check]`.

There is one file per type of reply. The schemas are frozen with the brief version, because a brief holds their hash.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

import schemas
from roles.replies import (
    ActionArtifact,
    AssessmentReply,
    CheckReply,
    ClosingReply,
    CriticArtifact,
    DriftReply,
    GuardianArtifact,
    ObserverArtifact,
    PositionReply,
    Reply,
    ResolveReply,
    RetrospectiveReply,
    ReviewReply,
    StatementReply,
)
from roles.schema import schema_of

DIRECTORY: Final = schemas.DIRECTORY / "replies"


REPLIES: Final[tuple[type[Reply], ...]] = (
    StatementReply,
    ActionArtifact,
    GuardianArtifact,
    ObserverArtifact,
    CriticArtifact,
    PositionReply,
    CheckReply,
    ReviewReply,
    AssessmentReply,
    DriftReply,
    ResolveReply,
    RetrospectiveReply,
    ClosingReply,
)


def main(arguments: Sequence[str]) -> int:
    """Write the schemas; with --check, compare them with the files and print the names that differ."""
    wanted = {f"replies/{kind.__name__}.json": schemas.text_of(schema_of(kind)) for kind in REPLIES}
    return schemas.main(arguments, "roles.reply_schemas", wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
