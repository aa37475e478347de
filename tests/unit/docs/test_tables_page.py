"""docs/tables.md has of each table of a campaign the columns that it is written from."""

from __future__ import annotations

import re

import pytest

from zlbench_core.common.places import PACKAGE
from zlbench_core.results.tables import TABLES

PAGE = (PACKAGE.parent / "docs" / "tables.md").read_text(encoding="utf-8")
COLUMNS = re.compile(r"^\| column \|.*\n(?:\|.*\n)+", re.MULTILINE)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_page_has_the_columns_of_a_table(table):
    section = PAGE.partition(f"\n## {table.name}.csv\n")[2].partition("\n## ")[0]
    found = COLUMNS.findall(section)
    assert found == ["".join(f"{line}\n" for line in table.described())]


def test_every_column_says_what_it_means():
    for table in TABLES:
        assert len(set(table.names)) == len(table.columns)
        assert all(column.meaning.strip() and "|" not in column.meaning for column in table.columns)
        assert {column.name for column in table.columns if column.unit == "ms"} == {
            name for name in table.names if name.endswith("_ms")
        }
