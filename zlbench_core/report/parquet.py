"""The tables once more as parquet, with types: what is an empty cell there is null here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from zlbench_core.common.files import atomic_open
from zlbench_core.results.tables import AB_FIELDS, STATUS_FIELDS, SUMMARY_FIELDS, read_table

TABLES = {"ops_status": STATUS_FIELDS, "summary": SUMMARY_FIELDS, "ab": AB_FIELDS}
INTEGERS = frozenset({"occurrence", "round", "rounds", "rows", "pytest_exit"})
NUMBERS = frozenset(
    {"latency_torch_ms", "latency_a_ms", "latency_b_ms", "speedup", "ratio", "ratio_min", "ratio_max"}
)


def write_parquet(folder: Path) -> list[Path]:
    """Write {ops_status,summary,ab}.parquet beside their CSV files. Raises ReadError where one is missing."""
    return [_write(folder, name, fields) for name, fields in TABLES.items()]


def _write(folder: Path, name: str, fields: Sequence[str]) -> Path:
    import pyarrow
    from pyarrow import parquet

    lines = read_table(folder / f"{name}.csv")
    types = {"int": pyarrow.int64(), "float": pyarrow.float64(), "str": pyarrow.string()}
    columns = {
        field: pyarrow.array([_value(line.get(field, ""), field) for line in lines], types[_kind(field)])
        for field in fields
    }
    path = folder / f"{name}.parquet"
    with atomic_open(path, "wb") as stream:
        parquet.write_table(pyarrow.table(columns), stream)
    return path


def _kind(field: str) -> str:
    return "int" if field in INTEGERS else "float" if field in NUMBERS else "str"


def _value(cell: str, field: str) -> int | float | str | None:
    if cell == "":
        return None
    kind = _kind(field)
    return int(cell) if kind == "int" else float(cell) if kind == "float" else cell
