"""Seals: keys on disk, and the head of a run signed with one."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

import moot
from ledger.audit.seal import (
    Checkpoint,
    NoteRefused,
    Signer,
    Verifier,
    origin_of,
    read_signer,
    read_verifier,
    seal,
)
from ledger.format.canonical import Head, line_hash
from ledger.store import disk
from ledger.store.disk import read_plain, refuse_link, write_failed, write_out, writing
from ledger.store.failures import Damaged, Problem
from moot.app.inputs import write_document
from moot.errors import MootError, usage
from moot.view.results import HeadSigned

KEY_BYTES_MAX: Final = 1 << 12


def write_key(directory: Path, key: Signer) -> tuple[Path, Path]:
    """Write NAME.key (readable by its owner alone) and NAME.pub; never over an existing key."""
    with writing(directory):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    secret, public = directory / f"{key.name}.key", directory / f"{key.name}.pub"
    try:
        # The mode is set when the file is created: a later chmod would leave a moment in which others can read it.
        write_out(secret, f"{key.secret()}\n".encode(), mode=0o600, over=False)
    except FileExistsError:
        raise usage("there is a key of that name already", "choose another name", str(secret)) from None
    except OSError as error:
        raise write_failed(error, secret) from error
    # The public half is written last: a .pub file without its key would only mislead.
    with writing(public):
        write_out(public, f"{key.verifier}\n".encode())
    return secret, public


def secret_key(path: Path) -> Signer:
    """Return the signer in a key file. Raises `MootError` when others can read the file."""
    text = _text(path)
    # A key that others can read proves nothing about who signed.
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise MootError(
            "key_exposed", "others can read this key", str(path), f"chmod 600 {path}, or make a new one"
        )
    try:
        return read_signer(text)
    except NoteRefused as error:
        raise usage(str(error), "name a file that `moot seal --new-key` wrote", str(path)) from None


def public_key(path: Path) -> Verifier:
    """Return the verifier in a public key file. Raises `MootError`."""
    try:
        return read_verifier(_text(path))
    except NoteRefused as error:
        raise usage(str(error), "name the .pub file of the key that signed", str(path)) from None


def _text(path: Path) -> str:
    try:
        return read_plain(path, KEY_BYTES_MAX).decode()
    except (OSError, UnicodeDecodeError):
        raise usage("cannot read this key file", "name a file that you can read", str(path)) from None


def sealed(run: Path, key: Path, out: Path | None) -> HeadSigned:
    """Sign the head of a run after verifying it whole; keep the note in the run and at `out`.

    Raises `MootError` for an unusable key, `Damaged` for a damaged run, `WriteFailed` and `Unreadable`.
    """
    signer = secret_key(key)
    # A signature vouches for the whole history, so a damaged run must never get one.
    report = moot.verify(run)
    if report.damaged or report.head is None:
        problems = tuple(Problem(row.what, row.seq, row.stream, row.line) for row in report.problems)
        raise Damaged(problems or (Problem("no head"),), str(run))
    # The origin of a note is the hash of the first line: it identifies the run wherever it is copied to.
    first = next(line for _, _, line in moot.open_run(run).lines())
    head = Head(report.head.seq, report.head.hash)
    note = seal(Checkpoint(origin_of(line_hash(first)), head), signer)
    kept = run / "checkpoints" / f"{head.seq}-{signer.name}.note"
    # A link named `checkpoints` would put the note outside of the run.
    refuse_link(kept.parent)
    with writing(kept):
        kept.parent.mkdir(exist_ok=True)
        disk.settle(run)
        write_out(kept, note.encode())
    if out:
        with writing(out):
            out.parent.mkdir(parents=True, exist_ok=True)
        write_document(out, note.encode())
    return HeadSigned(str(run), head.seq, head.hash, signer.name, str(out or kept))
