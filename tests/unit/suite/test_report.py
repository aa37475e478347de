from __future__ import annotations

import torch

from zlbench_core.suite.report import Block, Row


def block(*rows: Row) -> Block:
    return Block("mm", "torch.float16", "kernel", "core", list(rows))


def test_layout_is_the_one_of_a_real_log() -> None:
    """Copied from a run of FlagGems at ed2508bcb on an H200 (cg_sort, k_sort)."""
    detail = ([torch.Size([64, 64])], {"dim": -1, "descending": False})
    row = Row(shape_detail=detail, latency_base=0.013952, latency=1.867744, speedup=0.013952 / 1.867744)
    text = Block("sort", "torch.float16", "kernel", "core", [row]).as_text()
    assert text.splitlines() == [
        "",
        "Operator: sort  Performance Test (dtype=torch.float16, mode=kernel,level=core)",
        "Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup          Size Detail",
        "-----------------------------------------------------------------------------------------------",
        "SUCCESS               0.013952            1.867744               0.007          "
        "([torch.Size([64, 64])], {'dim': -1, 'descending': False})",
    ]


def test_failed_and_unmeasured_rows_have_no_numbers() -> None:
    text = block(Row(shape_detail=[8]), Row(shape_detail=[9], error_msg="wrong")).as_text()
    assert [line.split() for line in text.splitlines()[-2:]] == [
        ["SUCCESS", "N/A", "N/A", "N/A", "[8]"],
        ["FAILED", "N/A", "N/A", "N/A", "[9]"],
    ]


def test_optional_columns_are_in_every_row_of_the_block() -> None:
    measured = Row(shape_detail=[8], latency=2.0, tflops=1.5, gbps=3.0, gbps_base=4.0)
    lines = block(measured, Row(shape_detail=[9])).as_text().splitlines()
    assert lines[2].split("  ")[-1].strip() == "Size Detail"
    assert "TFLOPS" in lines[2]
    assert lines[4].split() == ["SUCCESS", "N/A", "2.000000", "N/A", "1.500", "4.000", "3.000", "[8]"]
    assert lines[5].split() == ["SUCCESS", "N/A", "N/A", "N/A", "N/A", "N/A", "N/A", "[9]"]
