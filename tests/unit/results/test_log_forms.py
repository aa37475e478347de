"""Every form the suite's table had. historic_forms.txt is what the formatters of those commits print."""

from __future__ import annotations

from pathlib import Path

import pytest

from zlbench_core.results.log_reader import read_log

FORMS = Path(__file__).with_name("historic_forms.txt").read_text()
COMMITS = ["4e6cb3b2e", "2c4de710f", "335ab1324", "6c68d204c", "633d91115", "502387569", "ed2508bcb"]
MODES = {"502387569": "kernel", "ed2508bcb": "cudagraph"}
NUMBERS = ("latency_base", "latency", "speedup", "tflops", "gbps_base", "gbps")


def rows_of(make_log, commit: str, op: str):
    text = "".join(part.partition("\n")[2] for part in FORMS.split("@@ ") if part.startswith(commit))
    report = read_log(make_log(text))
    assert report.notes == []
    return [row for row in report.table if row.op == op]


def numbers(row) -> tuple:
    return tuple(getattr(row, name) for name in NUMBERS)


@pytest.mark.parametrize("commit", COMMITS)
def test_each_form_gives_the_same_rows(make_log, commit):
    rows = rows_of(make_log, commit, "mm")
    assert [(row.dtype, row.level, row.status, row.size, row.latency_base, row.latency) for row in rows] == [
        ("torch.float16", "core", "SUCCESS", "[[1024, 384], [384, 384]]", 0.010912, 0.109536),
        ("torch.float16", "core", "SUCCESS", '[[[64, 64]], {"dim": -1, "descending": false}]', 2.68, 2.17),
    ]
    assert {row.mode for row in rows} == {MODES.get(commit, "cuda")}


@pytest.mark.parametrize("commit", COMMITS)
def test_a_run_for_latency_only_knows_no_speedup(make_log, commit):
    (row,) = rows_of(make_log, commit, "latency_only")
    assert numbers(row) == (None, 0.2, None, None, None, None)
    assert row.usable


@pytest.mark.parametrize("commit", COMMITS)
def test_a_row_without_its_tflops_keeps_its_size(make_log, commit):
    rows = rows_of(make_log, commit, "with_tflops")
    assert [row.size for row in rows] == ["[[64, 64]]", "[[0, 64]]"]
    has_tflops = commit not in ("4e6cb3b2e", "2c4de710f")
    assert [row.tflops for row in rows] == [12.5 if has_tflops else None, None]
    assert {row.speedup for row in rows} == {2.0}


@pytest.mark.parametrize("commit", ["6c68d204c", "633d91115", "502387569", "ed2508bcb"])
def test_bandwidth_stands_with_and_without_tflops(make_log, commit):
    assert [numbers(row) for row in rows_of(make_log, commit, "with_gbps")] == [
        (0.5, 0.25, 2.0, None, 100.5, 201.0)
    ]
    assert [numbers(row) for row in rows_of(make_log, commit, "with_both")] == [
        (0.5, 0.25, 2.0, 1.5, 100.5, 201.0)
    ]


@pytest.mark.parametrize("commit", COMMITS)
def test_sizes_of_any_values_and_rows_without_a_latency(make_log, commit):
    first, second = rows_of(make_log, commit, "odd")
    assert first.size == '[[8], "ij,jk->ik", null, true, Infinity, "torch.float16"]'
    assert (second.size, second.latency, second.usable) == ("{}", None, False)
    assert second.status == ("SUCCESS" if commit == "4e6cb3b2e" else "FAILED")


def test_the_oldest_tables_have_a_size_and_no_detail(make_log):
    text = (
        "\nbenchmark/test_pointwise_perf.py::test_perf_cat Operator cat Performance Test (torch.float16)\n"
        "Size        Torch Latency (ms)   Gems Latency (ms)\n"
        "--------------------------------------------------\n"
        "1024                0.00968981            0.126279\n"
        "6144                 0.0551608            1.5e-05\n"
    )
    rows = read_log(make_log(text)).table
    assert [(row.op, row.dtype, row.mode, row.size, row.latency_base, row.latency) for row in rows] == [
        ("cat", "torch.float16", None, "1024", 0.00968981, 0.126279),
        ("cat", "torch.float16", None, "6144", 0.0551608, 1.5e-05),
    ]


def test_progress_characters_and_colours_are_glued_to_lines(make_log, block):
    text = (
        ".note from op\n.s"
        + block().lstrip("\n")
        + "Fs\x1b[31mFAILED\x1b[0m: Operator=toy_g dtype={dtype} err=<<<{e}>>>\n"
        + "benchmark/test_toy.py::test_toy \n\x1b[1m"
        + block(op="toy").lstrip("\n").replace("SUCCESS", "\x1b[32mSUCCESS\x1b[0m")
        + "PASSED\n"
    )
    report = read_log(make_log(text))
    assert [row.op for row in report.table] == ["mm", "toy"]
    assert [(failure.kind, failure.op) for failure in report.failures] == [("event", "toy_g")]


def test_the_tuners_lines_between_rows_end_no_table(make_log, block):
    rows = [("[torch.Size([8])]", 0.2, 0.1), ("[torch.Size([9])]", 0.4, 0.3)]
    lines = block(rows=rows).splitlines()
    foreign = [
        "Triton autotuning for function k finished after 1.55s; config key: (8,),",
        "best config:",
        "0.1",
    ]
    text = "\n".join([*lines[:5], *foreign, *lines[5:]])
    assert [row.size for row in read_log(make_log(text)).table] == ["[[8]]", "[[9]]"]


def test_numbers_in_a_foreign_line_are_no_row_of_the_oldest_form(make_log):
    text = FORMS.partition("@@ 2c4de710f")[0].replace(
        "N/A                   2.68", "12 0.5 0.5\n3 warnings about 0.5\nN/A                   2.68"
    )
    assert [row.latency for row in read_log(make_log(text)).table if row.op == "mm"] == [0.109536, 2.17]


@pytest.mark.parametrize("old", ["Torch Latency (ms)", "Torch Latency (ms) "])
def test_a_baseline_by_another_name_is_flagged_and_keeps_its_column(make_log, block, old):
    text = block(op="indexer").replace(old, "vLLM CUDA Latency (ms)")
    report = read_log(make_log(text))
    assert [(row.latency_base, row.latency) for row in report.table] == [(0.2, 0.1)]
    assert report.redefined == {"indexer": "columns vLLM CUDA Latency (ms)"}
    assert "indexer: columns are not torch/gems" in report.notes[0]


def test_a_benchmark_that_says_what_its_columns_mean_is_flagged(make_log, block):
    mapping = "Column mapping: Torch Latency = standard alignment; Gems Latency = fast path\n"
    report = read_log(make_log(block(op="mm") + mapping + block(op="moe") + block(op="add")))
    assert list(report.redefined) == ["moe"]


def test_an_unknown_column_beside_ours_is_left_out(make_log):
    text = (
        "Operator: mm  Performance Test (dtype=torch.float16, mode=kernel,level=core)\n"
        "Status       Torch Latency (ms)    Gems Latency (ms)         Gems Speedup    vs Base  Size Detail\n"
        "SUCCESS   0.2   0.1   2.000   1.5   [torch.Size([8])]\n"
        "SUCCESS   0.2   0.1   2.000   [torch.Size([9])]\n"
    )
    report = read_log(make_log(text))
    assert [numbers(row) for row in report.table] == [(0.2, 0.1, 2.0, None, None, None)]
    assert any("a row of mm torch.float16 with 3 values was left out" in note for note in report.notes)


def test_info_lines_that_are_no_records_are_skipped_and_counted(make_log):
    record = (
        '[INFO] {"op_name": "mm", "dtype": "torch.float16", "mode": "kernel", "level": "core", "result": '
        '[{"shape_detail": [[8]], "latency_base": 0.25, "latency": 0.123456789, "speedup": 2.0}]}\n'
    )
    text = (
        "[INFO] Automatically detected platform cuda.\n"
        "[INFO] Benchmark record logger enabled\n"
        + record
        + "[INFO] {'op_name': 'mm', 'recommended_core_shapes': [(8,)], 'shape_desc': 'M'}\n"
        + record.replace("mm", "add")
        + "[INFO] {broken json\n"
    )
    report = read_log(make_log(text))
    assert [(row.op, row.size, row.latency) for row in report.records] == [
        ("mm", "[[8]]", 0.123456789),
        ("add", "[[8]]", 0.123456789),
    ]
    assert report.notes == ["log: an [INFO] line is no record (4 x)"]


def test_a_row_that_the_logs_end_cuts_is_no_row(make_log, block):
    text = block(rows=[("[torch.Size([8])]", 0.2, 0.1), ("[torch.Size([64, 64])]", 0.2, 0.1)]).rstrip()
    whole = read_log(make_log(text))
    assert len(whole.table) == 2
    for lost in (1, 2, 5, 40, 60):
        report = read_log(make_log(text[:-lost]))
        assert [row.size for row in report.table] == ["[[8]]"], lost


def test_inf_nan_zero_and_negative_latencies_are_no_measurement(make_log, block):
    text = block().replace("0.100000", "{}")
    for value in ("inf", "nan", "0.000000", "-1.000000", "N/A"):
        (row,) = read_log(make_log(text.format(value))).table
        assert (row.latency, row.latency_base, row.usable) == (None, 0.2, False), value


def test_a_speedup_that_prints_as_zero_is_worked_out(make_log, block):
    (row,) = read_log(make_log(block(rows=[("[torch.Size([8])]", 0.001, 19.0)]))).table
    assert row.speedup == pytest.approx(0.001 / 19.0)


def test_pytests_closing_line_in_its_forms(make_log):
    for text, counts in {
        "1 passed in 0.13s\n": (1, 0, 0, 0),
        "=== 3 failed, 1 passed, 4 warnings in 14.68s ===\n": (1, 3, 0, 0),
        "==== 1 passed in 162.97s (0:02:42) ====\n": (1, 0, 0, 0),
        "==== 2 skipped, 1 error in 90061.00s (1 day, 1:01:01) ====\n": (0, 0, 1, 2),
        "\x1b[32m==== \x1b[32m\x1b[1m1 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m ====\n": (1, 0, 0, 0),
        "no tests ran in 0.01s\n": (0, 0, 0, 0),
    }.items():
        summary = read_log(make_log(text)).summary
        assert (summary.passed, summary.failed, summary.errors, summary.skipped) == counts, text
    assert read_log(make_log("the operator passed in 3 tests\n")).summary is None


def test_usage_errors_and_skips_keep_their_reasons(make_log):
    text = (
        "ERROR: not found: /fg/benchmark/test_mm.py::test_nn\n"
        "ERROR benchmark/test_x.py - ImportError: no module named y\n"
        "SKIPPED [1] benchmark/test_fft.py:20: CUDA is not available\n"
    )
    report = read_log(make_log(text))
    assert [(failure.kind, failure.node, failure.message) for failure in report.failures] == [
        ("error", None, "not found: /fg/benchmark/test_mm.py::test_nn"),
        ("error", "benchmark/test_x.py", "ImportError: no module named y"),
    ]
    assert report.skipped == ["benchmark/test_fft.py:20: CUDA is not available"]


def test_markers_are_counted_where_they_are_printed_and_not_again_in_tracebacks(make_log):
    text = (
        "BENCHMARK_DIRECT_NO_CUDAGRAPH op=mm reason=legacy stream\n" * 2
        + ".AUTOTUNE_REPLAY_FALLBACK reason=key_missing\n"
        + f"{' FAILURES ':=^40}\n"
        + "E   RuntimeError: BENCHMARK_CAPTURE_POISONED\n"
        + "E   also BENCHMARK_CAPTURE_POISONED and BENCHMARK_DIRECT_NO_CUDAGRAPH\n"
    )
    assert read_log(make_log(text)).markers == {
        "BENCHMARK_DIRECT_NO_CUDAGRAPH": 2,
        "AUTOTUNE_REPLAY_FALLBACK": 1,
        "BENCHMARK_CAPTURE_POISONED": 1,
    }


def test_names_of_variables_are_no_markers(make_log):
    assert read_log(make_log("ZL_AUTOTUNE_MODE=record TRITON_PRINT_AUTOTUNING=1\n")).markers == {}
