"""Whatever stands in the files: a result or a ReadError, in bounded time."""

from __future__ import annotations

import json
from contextlib import suppress

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zlbench_core.errors import ReadError
from zlbench_core.results.reader import read_run
from zlbench_core.results.sizes import canonical_size, size_from_log
from zlbench_core.results.status import STATUSES, operator_status

QUICK = settings(
    max_examples=100,
    deadline=None,  # the machine is shared; pytest-timeout is the bound
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    derandomize=True,
)
PIECES = st.sampled_from(
    [
        "\nOperator: mm  Performance Test (dtype=torch.float16, mode=kernel,level=core)\n",
        "Operator cat Performance Test (torch.float16)\n",
        "Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup          Size Detail\n",
        "Size        Torch Latency (ms)    Gems Latency (ms)\n",
        "SUCCESS               0.006976            0.178240               0.039          [torch.Size([8])]\n",
        "SUCCESS               N/A            0.178240               N/A          N/A\n",
        "FAILED                N/A            N/A               N/A          {}\n",
        "384   0.1   0.2\n",
        "\x1b[31mFAILED\x1b[0m: Operator=x dtype={dtype} err=<<<{e}>>>\n",
        "FAILED benchmark/test_x.py::test_y - E\n",
        f"{' FAILURES ':=^80}\n",
        f"{' test_y ':_^80}\n",
        "E   RuntimeError: boom\n",
        '[INFO] {"op_name": "mm", "dtype": "f", "result": [{}]}\n',
        "=== 1 failed, 2 passed in 1.00s ===\n",
        "BENCHMARK_DIRECT_NO_CUDAGRAPH\n",
        ".F",
        "\r",
        "\0",
        "rc=1\n",
    ]
)
LOGS = st.lists(PIECES | st.text(max_size=20) | st.binary(max_size=20), max_size=25)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
METRICS = st.dictionaries(
    st.sampled_from(["shape_detail", "latency", "latency_base", "speedup", "tflops", "error_msg"]), VALUES
)
RECORDS = st.fixed_dictionaries(
    {"op_name": st.text(max_size=4) | VALUES, "dtype": st.just("f"), "result": st.lists(METRICS, max_size=3)}
)
REPORTS = st.dictionaries(
    st.text(max_size=5),
    st.fixed_dictionaries(
        {
            "details": st.lists(RECORDS | VALUES, max_size=3),
            "result": VALUES,
            "test_case": VALUES,
            "reason": VALUES,
        }
    )
    | VALUES,
    max_size=3,
)


def judge(folder) -> None:
    with suppress(ReadError):
        result = read_run(folder)
        assert operator_status(result).status in STATUSES
        assert all(row.latency is None or row.latency > 0 for row in result.rows)
        assert all(text.isprintable() for row in result.rows for text in (row.op, row.dtype, row.size))


@QUICK
@given(pieces=LOGS)
def test_any_log_is_read_or_refused(tmp_path, pieces):
    content = b"".join(
        piece if isinstance(piece, bytes) else piece.encode("utf-8", "replace") for piece in pieces
    )
    (tmp_path / "run.log").write_bytes(content)
    judge(tmp_path)


@QUICK
@given(report=REPORTS, log=st.none() | LOGS)
def test_any_report_is_read_or_refused(tmp_path, report, log):
    (tmp_path / "result.json").write_text(json.dumps(report))
    (tmp_path / "run.log").unlink(missing_ok=True)
    if log is not None:
        (tmp_path / "run.log").write_bytes(b"".join(p if isinstance(p, bytes) else p.encode() for p in log))
    judge(tmp_path)


@QUICK
@given(content=st.binary(max_size=200), samples=st.binary(max_size=200))
def test_any_bytes_in_any_file_are_read_or_refused(tmp_path, content, samples):
    (tmp_path / "run.log").write_bytes(b"BENCHMARK_DIRECT_NO_CUDAGRAPH\n=== 1 passed in 1s ===\n" + content)
    (tmp_path / "result.json").write_bytes(content)
    (tmp_path / "samples.jsonl").write_bytes(samples)
    (tmp_path / "run_identity.json").write_bytes(samples)
    judge(tmp_path)


SIZES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=15,
)


@QUICK
@given(value=SIZES)
def test_pythons_repr_and_json_give_one_size(value):
    assert size_from_log(repr(value)) == (canonical_size(json.loads(json.dumps(value))), True)
