"""`moot install-skill`: put the skill where agent hosts look for it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from ledger.store.disk import write_out, writing
from moot.cli.options import JsonOption, QuietOption
from moot.errors import GOOD, MootError, usage
from moot.terminal.streams import out_json, show
from moot.view.results import SkillFiles

NAME = "structured-deliberation"


def install_skill(
    to: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="A directory of skills: .claude/skills, ~/.claude/skills, .agents/skills."
        ),
    ] = ".claude/skills",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")
    ] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take the skill away again.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Copy the skill `structured-deliberation` into a directory of skills, or take it away.

    Files that are there and were changed by hand are never overwritten or removed: the skill is then refused whole.

    Example: moot install-skill --to .claude/skills --dry-run
    """
    source, target = _source(), Path(to).expanduser() / NAME
    files = {path.relative_to(source): path for path in sorted(source.rglob("*")) if path.is_file()}
    foreign = _foreign(target, files)
    if foreign:
        raise MootError(
            "exists",
            f"{foreign} is not what this moot installed",
            str(target),
            "move it away first, or choose another --to",
        )
    if uninstall and not target.is_dir():
        raise usage("the skill is not there", "name the directory with --to", str(target))
    if not dry_run:
        _remove(target) if uninstall else _write(target, files)
    found = SkillFiles(
        directory=str(target),
        files=[str(target / name) for name in files],
        done="removed" if uninstall else "written",
        dry_run=dry_run,
    )
    if json:
        out_json(found)
    elif not quiet:
        word = f"would be {found.done}" if dry_run else found.done
        show("".join(f"{word}  {name}\n" for name in found.files))
    return GOOD


def _source() -> Path:
    """The skill as it ships: in the wheel below the package, in a clone beside it."""
    package = Path(__file__).parents[1]
    for place in (package / "skills" / NAME, package.parent / "skills" / NAME):
        if (place / "SKILL.md").is_file():
            return place
    raise MootError("missing", "this installation has no skill", str(package), "install moot again")


def _foreign(target: Path, files: dict[Path, Path]) -> str | None:
    """A file in the way that is not ours as we would write it."""
    for path in sorted(target.rglob("*")) if target.is_dir() else ():
        if path.is_file():
            ours = files.get(path.relative_to(target))
            if ours is None or ours.read_bytes() != path.read_bytes():
                return str(path)
    return str(target) if target.is_file() else None


def _write(target: Path, files: dict[Path, Path]) -> None:
    with writing(target):
        for name, source in files.items():
            place = target / name
            place.parent.mkdir(parents=True, exist_ok=True)
            write_out(place, source.read_bytes())


def _remove(target: Path) -> None:
    with writing(target):
        shutil.rmtree(target)
