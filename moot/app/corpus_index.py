"""The rows of many runs in one DuckDB file, kept in the cache: a run is read again only when its head has changed.

    with Corpus(runs) as corpus:
        corpus.refresh()            # reads what is new
        corpus.ask("SELECT …")      # columns and rows

A question can read the tables and nothing else: no file, no network, and it can change nothing.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Self

import orjson

from ledger.result import Result
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.app.corpus import TABLES, rows_of
from moot.environment import cache
from moot.errors import usage

if TYPE_CHECKING:
    import duckdb

INSTALL: Final = "pip install 'duckdb>=2.0'"
LAYOUT: Final = "1"
"""Changes when a table does: then everything is read anew."""
ROWS_MAX: Final = 100_000


class Asked(Result, frozen=True):
    """What a question came to. `cut`: there were more rows than are given."""

    columns: list[str]
    rows: list[list[Any]]
    cut: bool


class Refreshed(Result, frozen=True):
    """`runs` are known now, `read` of them were read this time; `damaged` could not be read and are left out."""

    runs: int
    read: int
    gone: int
    damaged: list[str]


class Corpus:
    """The runs below a directory, or one run, as tables. Raises `MootError` where DuckDB is not installed."""

    def __init__(self, place: Path) -> None:
        try:
            import duckdb
        except ImportError:
            raise usage("DuckDB is not installed", INSTALL, "moot query") from None
        if not place.is_dir():
            raise usage(f"no directory {place}", "name a run, or a directory of runs", str(place))
        self._duckdb: Final[Any] = duckdb
        self.place: Final = place.resolve()
        name = sha256(f"{LAYOUT}|{duckdb.__version__}|{self.place}".encode()).hexdigest()[:24]
        self.file: Final = cache() / f"corpus-{name}.duckdb"

    def __enter__(self) -> Self:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held between calls: other processes may ask meanwhile."""

    def refresh(self) -> Refreshed:
        """Read the runs that are new or have changed, and forget those that are gone."""
        found = {self._name(head.parent): head.read_bytes() for head in self._heads()}
        with self._opened(read_only=False) as connection:
            for table, columns in TABLES.items():
                listed = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({listed})")
            connection.execute("CREATE TABLE IF NOT EXISTS known (run VARCHAR PRIMARY KEY, head BLOB)")
            known = dict(connection.execute("SELECT run, head FROM known").fetchall())
            stale = [run for run in known if found.get(run) != known[run]]
            fresh = {run: head for run, head in found.items() if known.get(run) != head}
            damaged = self._put(connection, stale, fresh) if stale or fresh else []
        return Refreshed(
            runs=len(found) - len(damaged), read=len(fresh) - len(damaged), gone=len(set(stale) - set(fresh)),
            damaged=damaged,
        )  # fmt: skip

    def ask(self, sql: str) -> Asked:
        """Columns and rows. Raises `MootError` with what DuckDB says of a question that it cannot answer."""
        with self._opened(read_only=True) as connection:
            try:
                answer = connection.execute(sql)
                columns = [column[0] for column in answer.description or ()]
                rows = answer.fetchmany(ROWS_MAX + 1)
            except self._duckdb.Error as error:
                what = str(error).strip().partition("\n")[0]
                tables = "; ".join(f"{name}({', '.join(columns)})" for name, columns in TABLES.items())
                raise usage(what, f"the tables are {tables}", "SQL") from None
        shown = [[_plain(value) for value in row] for row in rows[:ROWS_MAX]]
        return Asked(columns=columns, rows=shown, cut=len(rows) > ROWS_MAX)

    def export(self, directory: Path) -> list[str]:
        """Every table as a Parquet file in a directory; the files."""
        directory.mkdir(parents=True, exist_ok=True)
        files = [directory / f"{table}.parquet" for table in TABLES]
        with self._opened(read_only=True, files=True) as connection:
            for table, file in zip(TABLES, files, strict=True):
                quoted = str(file).replace("'", "''")
                connection.execute(
                    f"COPY (SELECT * FROM {table} ORDER BY ALL) TO '{quoted}' (FORMAT parquet)"
                )
        return [str(file) for file in files]

    def _opened(self, *, read_only: bool, files: bool = False) -> duckdb.DuckDBPyConnection:
        limits = (
            {}
            if files or not read_only
            else {"enable_external_access": "false", "lock_configuration": "true"}
        )
        made: duckdb.DuckDBPyConnection = self._duckdb.connect(
            str(self.file), read_only=read_only, config=limits
        )
        return made

    def _heads(self) -> Iterator[Path]:
        if (self.place / "head").is_file():
            yield self.place / "head"
            return
        for folder, folders, names in os.walk(self.place):
            if "head" in names:
                folders.clear()  # no run lies in a run
                yield Path(folder) / "head"

    def _name(self, run: Path) -> str:
        return run.name if run == self.place else run.relative_to(self.place).as_posix()

    def _put(
        self, connection: duckdb.DuckDBPyConnection, stale: list[str], fresh: Mapping[str, bytes]
    ) -> list[str]:
        """Take the rows of some runs out and those of others in, all or nothing; runs that could not be read."""
        folder = Path(tempfile.mkdtemp(dir=self.file.parent))
        try:
            with ExitStack() as stack:
                files = {table: stack.enter_context(open(folder / table, "wb")) for table in TABLES}
                damaged = [run for run in sorted(fresh) if not self._written(run, files)]
            connection.execute("BEGIN")
            for table in (*TABLES, "known"):
                connection.executemany(
                    f"DELETE FROM {table} WHERE run = ?", [[run] for run in stale]
                ) if stale else None
            for table, columns in TABLES.items():
                kinds = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items()) + "}"
                source = str(folder / table).replace("'", "''")
                connection.execute(
                    f"INSERT INTO {table} SELECT * FROM read_json('{source}', format = 'newline_delimited', "
                    f"columns = {kinds})"
                )
            rows = [[run, head] for run, head in fresh.items() if run not in damaged]
            if rows:
                connection.executemany("INSERT INTO known VALUES (?, ?)", rows)
            connection.execute("COMMIT")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return damaged

    def _written(self, run: str, files: Mapping[str, BinaryIO]) -> bool:
        """Write the rows of a run behind those of the others; whether it could be read."""
        path = self.place if run == self.place.name and (self.place / "head").is_file() else self.place / run
        try:
            store = RunStore(path)
            rows = [
                (table, orjson.dumps(row)) for table, row in rows_of(run, store.book(), store.head().hash)
            ]
        except (LedgerError, OSError):
            return False
        for table, row in rows:
            files[table].write(row + b"\n")
        return True


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
