"""The suite as the runner starts it: real processes, real kernels, tiny shapes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import zlbench_core
from zlbench_core.results.reader import read_run

SUITE = Path(zlbench_core.__file__).parent / "suite"
RunPytest = Callable[..., "subprocess.CompletedProcess[str]"]

OPS = ("add", "bmm", "cross_entropy", "dropout", "layer_norm", "mm", "silu", "softmax", "sum")
TINY = """
BlasBenchmark: {shapes: [[2, 16, 32, 16]]}
RowBenchmark: {shapes: [[8, 48]]}
PointwiseBenchmark: {shapes: [[8, 48]]}
"""
USER_SUITE = """
import pytest
import torch
import triton
import triton.language as tl

from zlbench_core.suite import base


@triton.jit
def forgetful_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)  # a longer row is cut off
    mask = columns < N
    row = tl.load(x_ptr + tl.program_id(0) * N + columns, mask=mask, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(row, axis=0))


def forgetful_sum(x, dim):
    out = torch.zeros(x.shape[0], dtype=x.dtype)
    forgetful_kernel[(x.shape[0],)](x, out, x.shape[1], BLOCK=16)
    return out


@triton.jit
def uninterpretable_kernel(out_ptr):
    tl.store(out_ptr, tl.inline_asm_elementwise("", "=r", [], dtype=tl.int32, is_pure=True, pack=1))


def impatient_sum(x, dim):
    if x.shape[1] > 16:
        uninterpretable_kernel[(1,)](torch.zeros(1, dtype=torch.int32))
    return forgetful_sum(x, dim)


@pytest.mark.forgetful
def test_forgetful():
    base.RowBenchmark(op_name="forgetful", torch_op=torch.sum, op=forgetful_sum).run()


@pytest.mark.impatient
def test_impatient():
    base.RowBenchmark(op_name="impatient", torch_op=torch.sum, op=impatient_sum).run()
"""
USER_SHAPES = "RowBenchmark: {shapes: [[2, 16], [2, 48], [3, 16]]}"


def saved_run(folder: Path, done: Any) -> Path:
    (folder / "run.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def suite_run(run_pytest: RunPytest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All operators, float32: the folder with run.log and result.json."""
    folder = tmp_path_factory.mktemp("suite")
    (folder / "shapes.yaml").write_text(TINY, encoding="utf-8")
    files = [f"test_{op}.py" for op in OPS]
    options = ["--dtypes", "float32", "--shape_file", str(folder / "shapes.yaml"), "--iter", "1"]
    output = ["--record", "json", "--output", str(folder / "result.json")]
    done = run_pytest(SUITE, *files, *options, *output)
    assert done.returncode == 0, done.stdout + done.stderr
    return saved_run(folder, done)


@pytest.fixture(scope="module")
def user_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("user")
    (folder / "test_sums.py").write_text(USER_SUITE, encoding="utf-8")
    (folder / "shapes.yaml").write_text(USER_SHAPES, encoding="utf-8")
    return folder


def run_user_suite(run_pytest: RunPytest, suite: Path, folder: Path, **variables: str) -> tuple[int, Path]:
    options = ["-p", "zlbench_core.suite.conftest", "--dtypes", "float32", "--shape_file", "shapes.yaml"]
    output = ["--record", "json", "--output", str(folder / "result.json")]
    done = run_pytest(suite, "test_sums.py", *options, *output, "--iter", "1", **variables)
    return done.returncode, saved_run(folder, done)


def test_every_operator_is_right_and_timed(suite_run: Path) -> None:
    results = json.loads((suite_run / "result.json").read_text(encoding="utf-8"))
    assert sorted(results) == sorted(OPS)
    for op, entry in results.items():
        assert (entry["result"], entry["test_case"]) == ("passed", f"test_{op}.py::test_{op}")
        (block,) = entry["details"]
        assert (block["dtype"], block["mode"], block["level"]) == ("torch.float32", "kernel", "core")
        assert all(row["latency"] > 0 and row["error_msg"] is None for row in block["result"])
        assert all(row["speedup"] == row["latency_base"] / row["latency"] for row in block["result"])


def test_shapes_come_from_the_file_or_where_the_class_sets_them_from_code(suite_run: Path) -> None:
    results = json.loads((suite_run / "result.json").read_text(encoding="utf-8"))
    details = {
        op: [row["shape_detail"] for row in entry["details"][0]["result"]] for op, entry in results.items()
    }
    assert details["mm"] == [[[16, 16], [16, 32]]]
    assert details["bmm"] == [[[2, 16, 16], [2, 16, 32]]]
    assert details["softmax"] == [[[8, 48], 1]]
    assert details["layer_norm"] == [[[8, 48], [48], [48], [48]]]
    assert details["cross_entropy"] == [[[8, 100], [8]], [[16, 512], [16]]]


def test_log_and_json_agree(suite_run: Path, tmp_path: Path) -> None:
    both = read_run(suite_run)
    (tmp_path / "run.log").write_bytes((suite_run / "run.log").read_bytes())
    log_only = read_run(tmp_path)
    assert len(both.rows) == len(log_only.rows) == len(OPS) + 1
    for row, logged in zip(both.rows, log_only.rows, strict=True):
        assert row.key == logged.key
        assert row.latency == pytest.approx(logged.latency, abs=1e-6)
    assert not both.failures


def test_wrong_result_fails_its_row_and_the_test_and_the_other_rows_are_timed(
    run_pytest: RunPytest, user_suite: Path, tmp_path: Path
) -> None:
    code, folder = run_user_suite(run_pytest, user_suite, tmp_path)
    assert code == 1
    entry = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    rows = entry["forgetful"]["details"][0]["result"]
    assert [row["latency"] is not None for row in rows] == [True, False, True]
    assert "wrong result of forgetful torch.float32" in rows[1]["error_msg"]
    assert "2 of 2 elements differ from the float64 reference" in rows[1]["error_msg"]
    assert rows[1]["error_msg"] in entry["forgetful"]["reason"]
    log = (folder / "run.log").read_text(encoding="utf-8")
    assert f"FAILED: Operator=forgetful dtype=torch.float32 err=<<<{rows[1]['error_msg']}>>>" in log
    assert len([line for line in log.splitlines() if line.startswith("FAILED  ")]) == 2
    # Another error ends the benchmark: its later rows are not run.
    rows = entry["impatient"]["details"][0]["result"]
    assert [row["error_msg"] for row in rows] == [None, "inline_asm not supported in interpreter mode"]
    assert entry["impatient"]["result"] == "failed"
    assert {failure.node for failure in read_run(folder).failures} >= {"test_sums.py::test_forgetful"}


def test_without_measuring_kernels_compile_and_nothing_runs(
    run_pytest: RunPytest, user_suite: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    variables = {"ZL_MEASURE": "0", "ZL_TARGET": "hip:gfx942", "TRITON_CACHE_DIR": str(cache)}
    code, folder = run_user_suite(run_pytest, user_suite, tmp_path, **variables)
    assert code == 0  # one kernel would be wrong, the other one would raise
    entry = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    rows = entry["forgetful"]["details"][0]["result"]
    assert [(row["latency"], row["error_msg"]) for row in rows] == [(None, None)] * 3
    log = (folder / "run.log").read_text(encoding="utf-8")
    assert (
        "SUCCESS                    N/A                 N/A                 N/A          [torch.Size([2, 48])"
        in log
    )
    assert list(cache.rglob("forgetful_kernel.amdgcn"))


@pytest.mark.parametrize(
    ("arguments", "variables", "words"),
    [
        (["--level", "full"], {}, "invalid choice: 'full'"),
        ([], {"ZL_BACKEND": "tpu"}, "unknown backend 'tpu'"),
    ],
)
def test_bad_options_are_one_line(
    run_pytest: RunPytest, arguments: list[str], variables: dict[str, str], words: str
) -> None:
    done = run_pytest(SUITE, "test_add.py", *arguments, **variables)
    assert done.returncode == 4
    assert words in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
