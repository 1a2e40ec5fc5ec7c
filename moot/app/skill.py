"""The skill for agent hosts: files that are copied into a directory of skills."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from ledger.store.disk import read_plain, write_out, writing
from moot.errors import MootError
from moot.view.results import SkillFiles

NAME: Final = "structured-deliberation"


def install_skill(directory: Path) -> SkillFiles:
    """Copy the skill into a directory of skills; files changed by hand are never touched.

    Raises `MootError` and `WriteFailed`.
    """
    source, target = _source(), directory / NAME
    files = {path.relative_to(source): path for path in sorted(source.rglob("*")) if path.is_file()}
    foreign = _foreign(target, files)
    if foreign:
        raise MootError(
            "exists",
            f"{foreign} is not what this moot installed",
            str(target),
            "move it away first, or name another directory",
        )
    with writing(target):
        for name, path in files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            write_out(target / name, path.read_bytes())
    return SkillFiles(directory=str(target), files=[str(target / name) for name in files])


def _source() -> Path:
    """Return the skill's directory: below the package in a wheel, next to it in a clone."""
    # The wheel carries the skill inside the package; a checkout has it with the plugin that ships it.
    package = Path(__file__).parents[1]
    for place in (package / "skills" / NAME, package.parent / "integrations" / "plugin" / "skills" / NAME):
        if (place / "SKILL.md").is_file():
            return place
    raise MootError("missing", "this installation has no skill", str(package), "install moot again")


def _foreign(target: Path, files: dict[Path, Path]) -> str | None:
    """Return the first file at the target that differs from what this version would write."""
    # Files of an older version differ too: they are kept, because edits by hand cannot be told apart from them.
    for path in sorted(target.rglob("*")) if target.is_dir() else ():
        if path.is_file():
            ours = files.get(path.relative_to(target))
            if ours is None or not _is_alike(path, ours.read_bytes()):
                return str(path)
    # A plain file in the place of the directory would be overwritten.
    return str(target) if target.is_file() else None


def _is_alike(path: Path, content: bytes) -> bool:
    try:
        return read_plain(path, len(content)) == content
    except OSError:  # it is longer, or can no longer be read
        return False
