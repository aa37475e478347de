from __future__ import annotations

import pyarrow.parquet
import pytest

from zlbench_core.report.parquet import TABLES, copy_tables
from zlbench_core.results.csv_files import read_table


@pytest.fixture
def tables(folder):
    lines = read_table(folder.path / "ops_status.csv")
    lines[0].update(reason="'=SUM(1)", pytest_exit="-9")
    folder.write_table("ops_status.csv", lines)
    copy_tables(folder.path)
    return {table.name: pyarrow.parquet.read_table(folder.path / f"{table.name}.parquet") for table in TABLES}


def test_each_table_has_the_columns_of_its_csv(tables):
    assert {name: tuple(found.column_names) for name, found in tables.items()} == {
        table.name: table.names for table in TABLES
    }


def test_numbers_are_numbers_with_all_their_digits(tables, folder):
    column = tables["ab"].column("latency_a_ms").to_pylist()
    assert [repr(value) for value in column] == [line["latency_a_ms"] for line in folder.table("ab.csv")]
    assert str(tables["ab"].schema.field("round").type) == "int64"
    assert str(tables["summary"].schema.field("ratio").type) == "double"


def test_an_empty_cell_is_null(tables):
    assert set(tables["summary"].column("speedup").to_pylist()) == {None}
    assert set(tables["summary"].column("note").to_pylist()) == {None}


def test_text_is_without_the_spreadsheets_quote(tables):
    assert tables["ops_status"].column("reason")[0].as_py() == "=SUM(1)"
    assert tables["ops_status"].column("pytest_exit")[0].as_py() == -9
