"""The suite's own record of a block: what `--record json` and `--record log` hold with all digits.

{"op_name": ..., "dtype": ..., "mode": ..., "level": ..., "result": [{"shape_detail": ..., "latency": ...}]}
"""

from __future__ import annotations

import json
from typing import Any

from zlbench_core.common.text import one_line, printable
from zlbench_core.errors import ReadError
from zlbench_core.results.rows import FAILED, SUCCESS, Row, positive
from zlbench_core.results.sizes import canonical_size


def rows_of_record(record: Any) -> list[Row]:
    """The rows of one record. Some benchmarks store it as text inside the JSON; that is read too.

    Raises ReadError where it is no record.
    """
    if isinstance(record, str):
        record = _parsed(record)
    if not isinstance(record, dict) or not isinstance(record.get("result"), list):
        raise ReadError("no benchmark record: an object with a list `result` is expected")
    op, dtype = record.get("op_name"), record.get("dtype")
    if not isinstance(op, str) or not isinstance(dtype, str):
        raise ReadError("no benchmark record: `op_name` and `dtype` are expected to be text")
    head = (printable(op), printable(dtype), _text(record.get("mode")), _text(record.get("level")))
    return [_row(head, metrics) for metrics in record["result"]]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"no benchmark record: {error}") from None


def _text(value: Any) -> str | None:
    return printable(value) if isinstance(value, str) else None


def _row(head: tuple[str, str, str | None, str | None], metrics: Any) -> Row:
    if not isinstance(metrics, dict):
        raise ReadError(f"no benchmark record: {head[0]} {head[1]} has a row that is no object")
    error = metrics.get("error_msg")
    return Row(
        *head,
        canonical_size(metrics.get("shape_detail")),
        status=SUCCESS if error is None else FAILED,
        latency_base=positive(metrics.get("latency_base")),
        latency=positive(metrics.get("latency")),
        speedup=positive(metrics.get("speedup")),
        tflops=positive(metrics.get("tflops")),
        gbps_base=positive(metrics.get("gbps_base")),
        gbps=positive(metrics.get("gbps")),
        error=None if error is None else one_line(str(error)),
    )
