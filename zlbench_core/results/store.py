"""rounds.parquet and samples.parquet: what a campaign's verdicts rest on, and the samples behind it.

rounds.parquet has one line per row and round; whatever holds for the campaign or an operator stands as JSON in
the file's own metadata, so that the file alone is enough. docs/tables.md says what each column means.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from zlbench_core.campaign.looks import Looks
from zlbench_core.common.files import atomic_open
from zlbench_core.errors import ReadError
from zlbench_core.verdicts.stored import RowRound, StoredCampaign, StoredOperator, StoredRow

SCHEMA_VERSION = 2
ROUNDS_NAME = "rounds.parquet"
SAMPLES_NAME = "samples.parquet"
_META = b"zlbench"
_TEXT, _FLOAT, _INT = pa.string(), pa.float64(), pa.int64()

ROUNDS_SCHEMA = pa.schema(
    [
        ("op", _TEXT),
        ("dtype", _TEXT),
        ("mode", _TEXT),
        ("size", _TEXT),
        ("occurrence", _INT),
        ("batch", _INT),
        ("round", _INT),
        ("log_ratio", _FLOAT),
        ("span", _FLOAT),
        ("t_a_ms", _FLOAT),
        ("t_b_ms", _FLOAT),
        ("first_side", _TEXT),
    ]
)
SAMPLES_SCHEMA = pa.schema(
    [
        ("op", _TEXT),
        ("side", _TEXT),
        ("round", _INT),
        ("place", _INT),
        ("fg_op_name", _TEXT),
        ("dtype", _TEXT),
        ("mode", _TEXT),
        ("size", _TEXT),
        ("occurrence", _INT),
        ("role", _TEXT),
        ("node", _TEXT),
        ("seq", _INT),
        ("timer", _TEXT),
        ("batch", _INT),
        ("flush_l2", pa.bool_()),
        ("value_ms", _FLOAT),
        ("fallback", _TEXT),
        ("superblock", _INT),
        ("order", _TEXT),
        ("block", _INT),
        ("samples_ms", pa.list_(_FLOAT)),
        ("extra", _TEXT),
    ]
)
SampleLine = tuple[Any, ...]  # the values of SAMPLES_SCHEMA, in its order
_ROW_FIELDS = ("op", "dtype", "mode", "size", "occurrence", "batch")
_ROUND_FIELDS = tuple(field.name for field in fields(RowRound))


def write_rounds(path: Path | str, stored: StoredCampaign) -> None:
    """Write rounds.parquet, whole or not at all."""
    lines = [line for operator in stored.operators for row in operator.rows for line in _lines(operator, row)]
    meta = {"schema_version": SCHEMA_VERSION, **_facts(stored)}
    schema = ROUNDS_SCHEMA.with_metadata({_META: json.dumps(meta, sort_keys=True, allow_nan=False).encode()})
    with atomic_open(path, "wb") as stream:
        table = pa.Table.from_arrays(_arrays(lines, ROUNDS_SCHEMA), schema=schema)
        pq.write_table(table, stream, compression="zstd")


def read_rounds(path: Path | str) -> StoredCampaign:
    """The stored campaign. Raises ReadError, one line, where the file is missing, torn or of another schema."""
    try:
        table = pq.read_table(path, memory_map=False)
        meta = json.loads((table.schema.metadata or {})[_META])
        if (version := meta.pop("schema_version")) != SCHEMA_VERSION:
            raise ReadError(f"stored rounds {path} are of schema {version!r}; {SCHEMA_VERSION} is expected")
        return _campaign(meta, table.select(ROUNDS_SCHEMA.names).to_pylist())
    except FileNotFoundError:
        raise ReadError(f"no stored rounds: {path} does not exist") from None
    except (OSError, pa.ArrowException, ValueError, KeyError, TypeError, AttributeError) as error:
        told = " ".join(str(error).split())
        raise ReadError(f"unreadable stored rounds {path}: {type(error).__name__} {told}") from None


@contextmanager
def samples_writer(path: Path | str) -> Iterator[Any]:
    """Yields a function that appends packed_samples to samples.parquet, as one row group; atomic as a whole."""
    with (
        atomic_open(path, "wb") as stream,
        pq.ParquetWriter(stream, SAMPLES_SCHEMA, compression="zstd") as out,
    ):

        def append(packed: bytes) -> None:
            samples = pa.ipc.read_record_batch(pa.py_buffer(packed), SAMPLES_SCHEMA)
            if samples.num_rows:
                out.write_batch(samples)

        yield append


def packed_samples(lines: Iterable[SampleLine]) -> bytes:
    """Lines as an Arrow message, which goes from process to process ten times as fast as a table."""
    batch = pa.RecordBatch.from_arrays(_arrays(lines, SAMPLES_SCHEMA), schema=SAMPLES_SCHEMA)
    return batch.serialize().to_pybytes()


def read_samples_table(path: Path | str, columns: list[str] | None = None) -> list[dict[str, Any]]:
    """The lines of a samples.parquet. Raises ReadError, one line, where it cannot be read."""
    try:
        return pq.read_table(path, columns=columns, memory_map=False).to_pylist()
    except (OSError, pa.ArrowException, KeyError) as error:
        raise ReadError(f"cannot read samples {path}: {' '.join(str(error).split())}") from None


def _arrays(lines: Iterable[tuple[Any, ...]], schema: pa.Schema) -> list[pa.Array]:
    columns = list(zip(*lines, strict=True)) or [()] * len(schema)
    return [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]


def _lines(operator: StoredOperator, row: StoredRow) -> Iterator[tuple[Any, ...]]:
    """The values of ROUNDS_SCHEMA, in its order."""
    head = (operator.op, *(getattr(row, name) for name in _ROW_FIELDS[1:]))
    for number, one in enumerate(row.rounds, start=1):
        yield (*head, number, *(getattr(one, name) for name in _ROUND_FIELDS))


def _facts(stored: StoredCampaign) -> dict[str, Any]:
    # Without the rows, which asdict would copy one by one.
    facts = asdict(replace(stored, operators=tuple(replace(one, rows=()) for one in stored.operators)))
    for operator in facts["operators"]:
        del operator["rows"]
    return facts


def _campaign(meta: dict[str, Any], lines: list[dict[str, Any]]) -> StoredCampaign:
    rows: dict[str, list[StoredRow]] = {}
    for head, group in groupby(lines, key=lambda line: tuple(line[name] for name in _ROW_FIELDS)):
        rows.setdefault(head[0], []).append(_row(head, list(group)))
    operators = tuple(_operator(facts, tuple(rows.pop(facts["op"], ()))) for facts in meta.pop("operators"))
    if rows:
        raise ValueError(f"rows of {', '.join(rows)}, which is no operator of the campaign")
    tuples = {name: tuple(meta.pop(name)) for name in ("declared_axis", "sides")}
    return StoredCampaign(**{**meta, **tuples, "operators": operators})


def _row(head: tuple[Any, ...], lines: list[dict[str, Any]]) -> StoredRow:
    if [line["round"] for line in lines] != list(range(1, len(lines) + 1)):
        raise ValueError(f"the rounds of {head[0]} {head[3]} are not numbered from 1 without a gap")
    rounds = tuple(RowRound(*(line[name] for name in _ROUND_FIELDS)) for line in lines)
    return StoredRow(**dict(zip(_ROW_FIELDS[1:], head[1:], strict=True)), rounds=rounds)


def _operator(facts: dict[str, Any], rows: tuple[StoredRow, ...]) -> StoredOperator:
    tuples = {name: tuple(facts[name]) for name in ("refusals", "exclusions", "hazards")}
    return StoredOperator(**{**facts, **tuples, "looks": Looks(**facts["looks"]), "rows": rows})
