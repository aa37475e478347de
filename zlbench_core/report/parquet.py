"""The tables once more as parquet, with types: what is an empty cell there is null here."""

from __future__ import annotations

from pathlib import Path

from zlbench_core.results.frames import read_frame, write_parquet
from zlbench_core.results.tables import AB, STATUS, SUMMARY

TABLES = (STATUS, SUMMARY, AB)


def copy_tables(folder: Path) -> list[Path]:
    """Write {ops_status,summary,ab}.parquet beside their CSV files. Raises ReadError where one is missing."""
    paths = [folder / f"{table.name}.parquet" for table in TABLES]
    for table, path in zip(TABLES, paths, strict=True):
        write_parquet(path, table, read_frame(path.with_suffix(".csv"), table))
    return paths
