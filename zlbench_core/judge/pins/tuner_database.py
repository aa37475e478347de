"""FlagGems' persistent tuner cache, an SQLite file `TunedConfig_{vendor}_triton_{major}_{minor}.db`, as pins.

Two tables a kernel (FlagGems src/flag_gems/utils/libentry.py and models/sql.py, ed2508bcb):
`{kernel}_{hash}[_flagtune_{mode}][_benchmark_{protocol}]-{md5}` has the winner of each key, and
`{kernel}_{hash}_benchmark_v{n}-{md5}` the p50, p20 and p80 of each config in milliseconds.
"""

from __future__ import annotations

import gzip
import math
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.errors import ReadError
from zlbench_core.judge.pins.pin_sets import PinSet
from zlbench_core.pins.keys import key_id
from zlbench_core.pins.near_ties import Timed, Timing, near_ties, ranking
from zlbench_core.pins.records import NO_VALID_CONFIG, Entry

OPTIONS = ("num_warps", "num_ctas", "num_stages", "maxnreg")  # of triton.Config; other columns are its kwargs
PERCENTILES = ("p50", "p20", "p80")
_NAME = re.compile(r"(?P<kernel>\w+?)_(?P<hash>[0-9a-f]{32}(?:[0-9a-f]{32})?)(?:_\w+)?-[0-9a-f]{32}")
_FILE = re.compile(r"TunedConfig_(?P<vendor>\w+?)_triton_(?P<major>\d+)_(?P<minor>\d+)\.db")
RUNNERS_UP, NEAR_TIES = 5, 10


@dataclass(frozen=True)
class _Table:
    kernel: str
    hash: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    @property
    def has_times(self) -> bool:
        return set(PERCENTILES) <= set(self.columns)

    @property
    def key_columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name.startswith("key_"))

    def records(self) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        """Each row's key and its other columns."""
        n_keys = len(self.key_columns)
        for row in self.rows:
            yield list(row[:n_keys]), dict(zip(self.columns[n_keys:], row[n_keys:], strict=True))


def is_tuner_database(path: Path) -> bool:
    return path.is_file() and path.name.endswith((".db", ".db.gz", ".sqlite"))


def read_tuner_database(path: Path) -> PinSet:
    """The winners of a tuner database (plain or gzipped) with their times and near ties, hooks unknown.

    Raises ReadError when it is no such database.
    """
    try:
        with _plain(path) as plain, closing(_open(plain)) as connection:
            tables = list(_tables(connection))
    except (OSError, EOFError, sqlite3.Error) as error:
        raise ReadError(f"{path} is no tuner database: {' '.join(str(error).split())}") from None
    if not tables:
        raise ReadError(f"{path} holds no table of a tuner: <kernel>_<hash>...-<md5> is expected")
    timed = [table for table in tables if table.has_times]
    entries = [
        entry
        for table in tables
        if not table.has_times
        for entry in _entries(table, [one for one in timed if one.kernel == table.kernel])
    ]
    return PinSet(path.name.partition(".")[0], entries, _meta(path))


@contextmanager
def _plain(path: Path) -> Iterator[Path]:
    if path.suffix != ".gz":
        yield path
        return
    with tempfile.NamedTemporaryFile(suffix=".db") as stream:
        stream.write(gzip.decompress(path.read_bytes()))
        stream.flush()
        yield Path(stream.name)


def _open(path: Path) -> sqlite3.Connection:
    # Immutable: a database that is looked at gets no journal beside it.
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)


def _tables(connection: sqlite3.Connection) -> Iterator[_Table]:
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall()
    for (name,) in names:
        match = _NAME.fullmatch(name)
        if match is None:
            continue
        quoted = name.replace('"', '""')
        found = connection.execute(f'SELECT * FROM "{quoted}"')
        columns = tuple(column[0] for column in found.description)
        yield _Table(match["kernel"], match["hash"], columns, found.fetchall())


def _entries(table: _Table, timed: Sequence[_Table]) -> Iterator[Entry]:
    for key, columns in table.records():
        timings = [one for other in timed for one in _timings(other, key)]
        winner = _config(columns)
        own = next((one.timing for one in timings if one.config == winner), None)
        ranked = ranking(timings)
        valid = own is None or own.finite
        yield Entry(
            kernel=table.kernel,
            kernel_id=table.kernel,
            source_digest=table.hash,
            key=key,
            key_id=key_id(key),
            winner=winner if valid else None,
            winner_ms=own.p50 if own is not None and own.finite else None,
            reason=None if valid else NO_VALID_CONFIG,
            runners_up=_listed([one for one in ranked if one.config != winner][:RUNNERS_UP]),
            near_ties=_listed([one for one in near_ties(ranked) if one.config != winner][:NEAR_TIES]),
            n_configs=len(timings),
            n_finite=len(ranked),
            pre_hook=False,
            tuner="LibTuner",
        )


def _timings(table: _Table, key: list[Any]) -> Iterator[Timed]:
    """The timings of a key; a benchmark's key is the winner's key and the protocol of the timing after it."""
    for exact, columns in table.records():
        if exact[: len(key)] == key:
            values = [columns.pop(name) for name in PERCENTILES]
            yield Timed(
                _config(columns), Timing(*(math.nan if one is None else float(one) for one in values))
            )


def _config(columns: dict[str, Any]) -> dict[str, Any]:
    options = {name: columns[name] for name in OPTIONS if columns.get(name) is not None}
    return {"kwargs": {name: value for name, value in columns.items() if name not in OPTIONS}, **options}


def _listed(timed: list[Timed]) -> list[dict[str, Any]]:
    return [{"config": one.config, "ms": one.timing.p50} for one in timed]


def _meta(path: Path) -> dict[str, Any]:
    """What a database's file name says of its origin; there is no more."""
    match = _FILE.match(path.name)
    known = {"compiler": {"triton": f"{match['major']}.{match['minor']}"}} if match else {}
    return {"tuner_database": path.name, **known}
