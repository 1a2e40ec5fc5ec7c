"""Verbs that check and keep a run: `check`, `verify`, `seal`, `redact` and `rm`."""

from __future__ import annotations

import os
import re
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Final

import typer

import moot
from ledger.audit.seal import NOTE_BYTES_MAX, NoteRefused, Verifier, read_seal, signer
from ledger.format.canonical import Head
from ledger.plain_text import counted
from ledger.redaction.redacted_copy import redacted_copy
from ledger.redaction.removal import in_words, redact as remove
from ledger.redaction.words import INSTEAD
from ledger.store.disk import plain_file, read_plain
from ledger.store.store import RunStore
from moot.api import open_run
from moot.app.runs import check_is_run, find_run, reason_to_keep, remove_run
from moot.app.seals import public_key, sealed, write_key
from moot.app.session import kept_name, kept_words, names
from moot.cli.command import (
    RUN_HELP,
    ByOption,
    JsonOption,
    QuietOption,
    RunArgument,
    VerbResult,
    confirmation,
    run_names,
)
from moot.environment import git_identity, now
from moot.errors import GOOD, NO, MootError, refuse, usage
from moot.terminal.streams import indented, out, out_json
from moot.view.findings import check_sarif, check_text, github_text, verify_text
from moot.view.labels import calls_of, caveats
from moot.view.results import KeyMade, Redacted
from validators.rulebook import PhaseUnknown

CHECK_FORMATS = ("text", "json", "github", "sarif")


def check(
    run: RunArgument,
    phase: Annotated[
        str | None,
        typer.Option(metavar="PHASE", help="Judge the ledger as it stood when this phase last ended."),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", metavar="FORM", help="text, json, github or sarif.")
    ] = "text",
    json: JsonOption = False,
) -> VerbResult | int:
    """Report every rule that the ledger breaks. Exit code 1 when a finding is an error; warnings are allowed.

    Example: moot check @last --format github
    """
    refuse(
        format not in CHECK_FORMATS,
        f"no format {format!r}",
        f"choose one of {', '.join(CHECK_FORMATS)}",
        "--format",
    )
    refuse(
        json and format in ("github", "sarif"),
        f"--json and --format {format} are two forms",
        "give one of them",
        "--format",
    )
    ours = open_run(find_run(run))
    try:
        report = moot.check(ours, phase)
    except PhaseUnknown:
        raise usage(
            f"no round of this run has reached phase {phase!r}", "phases are A to H and S", "--phase"
        ) from None
    code = GOOD if report.ok else NO
    match format:
        case "json":
            out_json(report)
            return code
        case "sarif":
            return VerbResult(report, lambda: indented(check_sarif(report, moot.version())), code, out)
        case "github":
            return VerbResult(report, lambda: github_text(report), code)
        case _:
            # Events that do not begin with an opening are judged too, and have nothing else to say.
            state = ours.raw_book.state
            labels = caveats(state, calls_of(ours.events)) if state.opened is not None else []
            return VerbResult(report, lambda: check_text(report, labels), code)


CHECKPOINT: Final = re.compile(r"([0-9]{1,15}):([0-9a-f]{64})")


def verify(
    run: RunArgument,
    checkpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE or SEQ:HASH",
            help="A seal or a head that you kept: does the run still begin with it? Repeatable.",
        ),
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option(metavar="PUB", help="A public key that seals are checked with. Repeatable."),
    ] = None,
) -> VerbResult:
    """Look at every byte up to the head: chain, canonical bytes, schemas, blobs. Nothing is changed.

    Exit code 3 when the run is damaged, 1 when it is intact but does not begin with a given checkpoint.

    Example: moot verify @last --checkpoint 412:9f2c…
    """
    # Keys are read first, because a checkpoint can only be believed with its signer's key.
    keys = tuple(public_key(path) for path in key or ())
    heads = [_head(text, keys) for text in checkpoint or ()]
    report = moot.verify(find_run(run), heads)
    return VerbResult(report, lambda: verify_text(report), report.exit_code, insists=not report.ok)


def _head(text: str, keys: tuple[Verifier, ...]) -> Head:
    # A file with such a name would need a path in front: a bare SEQ:HASH is always a head.
    match = CHECKPOINT.fullmatch(text)
    if match is not None:
        return Head(int(match[1]), match[2])
    try:
        note = read_plain(text, NOTE_BYTES_MAX).decode()
    except (OSError, UnicodeDecodeError):
        fix = "name a note that `moot seal` wrote, or SEQ:HASH as `moot verify` prints the head"
        raise usage(f"no checkpoint {text!r}", fix, "--checkpoint") from None
    try:
        # The text of a note is only trusted up to what its signature covers.
        return read_seal(note, keys)[0].head
    except NoteRefused as error:
        fix = "give the signer's public key with --key" if not keys else "check the note and the key it names"
        raise usage(str(error), fix, text) from None


KEY_FIX: Final = "choose a file such as keys/alice.key or keys/audit-2026.key"


def seal(
    run: Annotated[str | None, typer.Argument(metavar="RUN", help=RUN_HELP, autocompletion=run_names)] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="The secret key to sign with.")] = None,
    new_key: Annotated[
        Path | None,
        typer.Option(
            "--new-key", metavar="FILE", help="Make a key instead: FILE.key and FILE.pub, named after FILE."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the note here too: keep it where the run is not."),
    ] = None,
) -> VerbResult:
    """Sign a checkpoint of the head, after the whole run was verified.

    The note goes to <run>/checkpoints. It proves something only where it is kept apart from the run: `moot verify
    --checkpoint FILE --key PUB` then detects a rollback and a rewriting of the whole ledger. --new-key keys/alice.key
    makes an Ed25519 key first. The secret half is written for its owner alone and never printed.

    Example: moot seal @last --key keys/alice.key
    """
    # Making a key and sealing are two calls, so that a wrong path never signs with a fresh key.
    if new_key is not None:
        refuse(
            run is not None or key is not None or out is not None,
            "--new-key only makes a key",
            "seal the run in a second call",
            "--new-key",
        )
        return _new_key(new_key)
    if run is None:
        raise usage("no run to seal", "name a run, or make a key with --new-key FILE", "moot seal")
    if key is None:
        raise usage("no key", "add --key FILE, and make one with `moot seal --new-key FILE`", "moot seal")
    checkpoint = sealed(find_run(run), key, out)
    where = f"sealed @{checkpoint.seq} {checkpoint.hash} by {checkpoint.key}"
    return VerbResult(checkpoint, lambda: f"{where}: {checkpoint.note}\n")


def _new_key(file: Path) -> VerbResult:
    """Write a new key pair into one directory; the key is named after the file."""
    name = file.name.removesuffix(".key")
    try:
        # 32 random bytes of the system are the whole Ed25519 secret.
        key = signer(name, os.urandom(32))
    except NoteRefused as error:
        raise usage(str(error), KEY_FIX, "--new-key") from None
    # The name becomes part of every note, and a leading dot would hide the key file.
    refuse(
        not name.isprintable() or name.startswith("."),
        "the file's name becomes the key's name, and must be printable",
        KEY_FIX,
        "--new-key",
    )
    secret, public = write_key(file.parent, key)
    places = f"secret  {secret}  (keep it; it is not shown)\npublic  {public}\n"
    result = KeyMade(name, str(secret), str(public), str(key.verifier))
    return VerbResult(result, lambda: f"{places}        {key.verifier}\n")


SECRET_BYTES_MAX: Final = 100_000


def redact(
    run: RunArgument,
    blobs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BLOB",
            help="A document (K-1) or a step, with their words, or a blob's hash.",
        ),
    ] = None,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="Why; recorded, and shown with the run.")] = "",
    secret: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A file with words to remove from lines and blobs (- for stdin)."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write a copy without the words there.")
    ] = None,
    by: ByOption = None,
) -> VerbResult:
    """Remove what must not be kept. What was removed, and why, stays on the ledger.

    A document or a step goes with every blob that holds its words, and `moot verify` then says "redacted" instead of
    "missing". Where the words stand in a line of the ledger nothing is removed and the places are named: the copy that
    --out writes leaves them out, and says in its opening of which head it is a redacted copy; the old run is left as
    it is. Neither wipes a disk, a backup or a clone.

    Example: moot redact @last K-1 --reason 'the document names a customer'
    """
    # Checked first: the reason goes on the ledger, and a removal without a valid one must not start.
    kept_words(reason, "--reason")
    path = find_run(run)
    person = git_identity() if by is None else kept_name(by)
    refuse(
        not blobs and secret is None,
        "say what to remove",
        "name blobs, or give --secret FILE with --out DIR",
        "redact",
    )
    # A run's own lines are never rewritten: its hashes would break, so lines are only redacted in a copy.
    if out is None:
        refuse(secret is not None, "words inside lines go only from a copy", "give --out DIR", "redact")
        removed = remove(RunStore(path), blobs or [], reason, at=now(), person=person)
        written, gone, left = names(removed.events), list(removed.blobs), list(removed.left)
        result = Redacted(str(path), None, written, gone, [], left, removed.unsearched)
    else:
        # Read from a file or stdin, because arguments end up in the shell's history and the process list.
        words = _secret(secret) if secret is not None else None
        copied = redacted_copy(
            RunStore(path), out, words, reason, name=path.name, at=now(), names=blobs or (), person=person
        )
        changed = [f"@{seq}" for seq in copied.changed]
        # The last event of the copy is the record of the redaction.
        written = names(copied.run.events()[-1:])
        result = Redacted(str(path), str(out), written, list(copied.left_out), changed, [], copied.unsearched)
    return VerbResult(result, lambda: _redacted_text(result))


def _secret(source: str) -> str:
    """Return the words in a file or on stdin, without the line feed at the end. They are printed nowhere."""
    try:
        with nullcontext(sys.stdin.buffer) if source == "-" else plain_file(Path(source)) as file:
            raw = file.read(SECRET_BYTES_MAX + 1)
        # A part of a secret must not pass for the whole of it, so longer input is refused, not cut.
        refuse(
            len(raw) > SECRET_BYTES_MAX,
            f"more than {SECRET_BYTES_MAX} bytes of words",
            "name the words that must go",
            source,
        )
        # `echo secret > file` adds a line feed that is not part of the secret, and would keep it from being found.
        return raw.decode("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError):
        raise usage("cannot read the secret", "name a text file that you can read", source) from None


def _redacted_text(result: Redacted) -> str:
    lines = [f"removed {sha256}" for sha256 in result.blobs]
    lines += [f"replaced by {INSTEAD} in {place}" for place in result.changed]
    lines += [f"recorded as {event}" for event in result.events]
    # Said plainly: a blob is gone, but a person may believe that the words are gone everywhere.
    if result.left:
        lines.append(
            f"words of it still stand in {in_words(tuple(result.left))}: --out DIR writes a copy without them"
        )
    if result.unsearched:
        lines.append(
            f"not looked for by themselves: {counted(result.unsearched, 'line')}, too short, or moot's own words"
        )
    if result.copy is not None:
        lines.append(f"the copy is {result.copy}; {result.run} still holds what it held: remove it yourself")
    return "".join(f"{line}\n" for line in lines)


def rm(
    run: RunArgument,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove it without asking, also while it is written or waits.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult:
    """Remove the directory of a run. There is no way back.

    On a terminal it asks first. Elsewhere it needs --yes, as does a run that is being written or that waits. It removes
    only a directory that is a run and holds nothing else, and follows no link out of it.

    Example: moot rm 2026-03-04-kfmr
    """
    path = find_run(run)
    # Before the question, so that a yes is never given for a directory that cannot be removed.
    check_is_run(path)
    if not yes:
        reason = reason_to_keep(path)
        if reason is not None:
            raise MootError(
                "in_use", reason, str(path), "wait until it ends, or add --yes to remove it all the same"
            )
        # --json and --quiet come from scripts, and a script must not remove a run by accident.
        agreed = confirmation(silent=json or quiet)
        if agreed is None:
            raise MootError(
                "not_agreed", "nothing was removed", str(path), "add --yes: there is no terminal to ask on"
            )
        if not agreed(f"{path} will be removed for good.\n", "Remove it?"):
            raise MootError("not_agreed", "nothing was removed", str(path), "answer y to remove it")
    removed = remove_run(path)
    return VerbResult(removed, lambda: f"removed {removed.run}\n")
