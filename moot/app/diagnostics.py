"""Checks of this machine for what deliberations need. They change nothing and show no key."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

import moot
from ledger.redaction.masking import masked
from ledger.store import disk
from ledger.store.failures import LedgerError, WriteFailed
from ledger.store.lock import locked
from ledger.store.store import RunStore
from moot.app.runs import example_directories, examples
from moot.environment import Settings
from moot.errors import MootError, install_line
from moot.view.results import Examined
from roles.seats.registry import PROVIDERS, Provider

COLUMNS_AT_LEAST: Final = 80


def examine(settings: Settings) -> Iterator[Examined]:
    """Yield every check of this machine, those that stop a run first."""
    yield _ok("python", f"{platform.python_version()} ({platform.system()})")
    yield _ok("moot", moot.version())
    yield from _runs(settings.runs)
    yield _terminal()
    colour = "on" if settings.colour else "off: no terminal"
    yield _ok("colour", "off: NO_COLOR is set" if os.environ.get("NO_COLOR") else colour)
    yield _encoding()
    yield _ok("offline", "on: no seat may leave this machine" if settings.offline else "off")
    rows = PROVIDERS.values()
    for sdk in dict.fromkeys(row.sdk for row in rows if row.sdk is not None):
        seats = ", ".join(row.name for row in rows if row.sdk == sdk)
        yield _extra(sdk.package, f"seats of {seats}", sdk.fix)
    yield _key([row.key for row in rows if row.key is not None])
    yield from (_address(row) for row in rows if row.address_variable)
    models = {row.name: row.model for row in rows if row.model is not None}
    named = " and ".join(f"`--seats {name}`" for name in models)
    yield _ok("model", f"{' and '.join(models.values())}, where {named} name none")
    yield from _programs()
    yield _prices()
    yield _sandbox()
    yield _examples()


def _runs(runs: Path) -> Iterator[Examined]:
    """Yield whether new runs can be written, and whether they survive a crash."""
    # A new `runs` directory is made with the first run, so its nearest existing parent is what must be writable.
    above = next((path for path in (runs, *runs.absolute().parents) if path.exists()), Path("/"))
    if not above.is_dir():
        yield _fault("runs", f"{runs} is not a directory", f"move the file {above} away, or set MOOT_RUNS")
        return
    try:
        # Permission bits do not tell on a read-only or network file system: only a trial write does.
        with tempfile.TemporaryDirectory(prefix=".moot-doctor-", dir=above) as directory:
            yield _ok("runs", str(runs) if above == runs else f"{runs} (made when needed)")
            yield _durable(Path(directory))
    except OSError as error:
        why = error.strerror or str(error)
        yield _fault(
            "runs", f"{runs} cannot be written: {why}", "set MOOT_RUNS to a directory that you may write"
        )


def _durable(directory: Path) -> Examined:
    """Try locks and syncs on a file of their own."""
    fix = "put the runs on a local file system: set MOOT_RUNS"
    try:
        with locked(directory):
            disk.append(directory / "lock", b"moot", 0)
            disk.settle(directory)
    except (OSError, WriteFailed) as error:
        return _fault("file system", f"no locks or fsync there: {error}", fix)
    return _ok("file system", "locks and fsync work")


def _terminal() -> Examined:
    if not sys.stdout.isatty():
        return _ok("terminal", "stdout is none: plain lines instead of the live view")
    columns, lines = shutil.get_terminal_size()
    size = f"{columns} × {lines}"
    if os.environ.get("TERM") in (None, "", "dumb"):
        return _missing(
            "terminal", f"{size}, TERM is not set", "set TERM for the live view, such as TERM=xterm-256color"
        )
    if columns < COLUMNS_AT_LEAST:
        return _missing(
            "terminal", size, f"widen it to {COLUMNS_AT_LEAST} columns; from 120 on every seat has its own"
        )
    return _ok("terminal", size)


def _encoding() -> Examined:
    encoding = (sys.stdout.encoding or "unknown").lower()
    if encoding.replace("-", "") != "utf8":
        return _missing(
            "encoding", encoding, "set LANG=C.UTF-8: shapes such as ✗ are shown escaped without it"
        )
    return _ok("encoding", encoding)


def _extra(name: str, what_for: str, fix: str) -> Examined:
    # Looking for the package is enough: importing an SDK takes up to a second, and there are several of them.
    if find_spec(name) is None:
        return _missing(f"extra {name}", f"not installed (only for {what_for})", install_line(fix))
    try:
        return _ok(f"extra {name}", version(name))
    # A vendored or editable SDK can be imported without package metadata, so it has no version to show.
    except PackageNotFoundError:
        return _ok(f"extra {name}", "installed")


def _key(keys: list[str]) -> Examined:
    present = [name for name in keys if os.environ.get(name)]
    if present:
        return _ok("key", f"{', '.join(present)} {'is' if len(present) == 1 else 'are'} set (not shown)")
    fix = f"only model seats over a network need one: export {keys[0]}=…; host, human, ollama and tape do not"
    return _missing("key", f"none of {', '.join(keys)} is set", fix)


def _address(row: Provider) -> Examined:
    name, variable = f"endpoint {row.name}", row.address_variable
    if not os.environ.get(variable):
        return _ok(name, f"{variable} is not set: {row.address}")
    # Only scheme, host and port are shown: an address may carry a password or a token in the rest.
    parts = urlsplit(row.at(None, os.environ).address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return _missing(
            name, f"{variable} is no http address", f"unset {variable}, or give https://host[:port]"
        )
    port = f":{parts.port}" if parts.port else ""
    return _ok(name, f"{variable}: {parts.scheme}://{parts.hostname}{port}")


def _programs() -> Iterator[Examined]:
    """Yield the programs that seats need, with what each of them can still reach."""
    from roles.seats.presets import found_version

    absent: list[str] = []
    for row in PROVIDERS.values():
        version_ = found_version(row.program) if row.program else None
        if version_ is None:
            absent += [row.program] if row.program else []
            continue
        about = f"isolation trusted: {row.open_to_it}" if row.open_to_it else f"--seats {row.example}"
        yield _ok(f"seat {row.name}", f"{version_ or 'installed'}; {about}")
    if absent:
        yield _ok("other seats", f"not installed, and not needed: {', '.join(absent)}")


def _prices() -> Examined:
    from moot.app.seats import prices_file, prices_in_force

    try:
        own, prices = prices_file(), prices_in_force()
    except (MootError, OSError) as error:
        return _missing(
            "prices", f"the price list: {error}", "name a readable price list, or unset MOOT_PRICES"
        )
    whose = (
        f"{own} over the installed list" if own else "the installed list; your own over it: MOOT_PRICES=FILE"
    )
    return _ok("prices", f"of {prices.dated}, {len(prices.models)} models: {whose}")


def _sandbox() -> Examined:
    """Return whether programs of replies can run here, by trying the sandbox."""
    from rounds.experiments.bench import self_test

    test = self_test()
    if test.passed:
        word = "; moot asks before it runs programs here (MOOT_WATCHED=1: your word)" if test.watched else ""
        return _ok("experiments", f"programs run in a sandbox: {test.text}{word}")
    return _missing("experiments", f"off, no program runs without a sandbox: {test.text}", test.fix)


def _examples() -> Examined:
    summaries: list[str] = []
    for path in examples():
        try:
            state = RunStore(path).book().state
        except LedgerError as error:
            fix = f"restore it: `moot verify {path}` says what is wrong"
            return _missing("examples", f"{path.name}: {error.what}", fix)
        summaries.append(
            f"{path.name} ({'finished' if state.finished else f'unfinished, round {state.round}'})"
        )
    if not summaries:
        places = ", ".join(str(place) for place in example_directories()[:2])
        return _missing(
            "examples", f"none in {places}", "for `moot demo` work in a checkout, or name a run of your own"
        )
    if not any("(finished)" in summary for summary in summaries):
        return _missing("examples", ", ".join(summaries), "none is finished: name a run, `moot demo RUN`")
    return _ok("examples", ", ".join(summaries))


def _row(
    name: str, text: str, fix: str | None = None, *, state: Literal["ok", "missing", "fault"]
) -> Examined:
    return Examined(name=name, state=state, found=masked(text), fix=fix)


_ok = partial(_row, state="ok")
_missing = partial(_row, state="missing")
_fault = partial(_row, state="fault")
