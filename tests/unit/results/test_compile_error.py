"""What a Triton compile error becomes: its type, its place and its cause. From logs of pytest 9.2 and Triton 3.6."""

from __future__ import annotations

import json

from zlbench_core.results.log_reader import read_log
from zlbench_core.results.reader import read_run

HEAD = """============================= test session starts ==============================
collected 1 item

=================================== FAILURES ===================================
_________________________________ test_rowcomp _________________________________
"""
ERROR = """triton.compiler.errors.CompilationError: at 7:15:
def rowcomp_loop(x_ptr, out_ptr, cols, BLOCK: tl.constexpr):
        x = tl.load(x_ptr + row * cols + offs, mask=offs < cols, other=float("-inf"))
        best = tl.maximun(best, x.to(tl.float32))
               ^
AttributeError("module 'triton.language' has no attribute 'maximun'")"""
TAIL = """
../triton/compiler/compiler.py:80: CompilationError
=========================== short test summary info ============================
FAILED test_rowcomp.py::test_rowcomp - triton.compiler.errors.CompilationErro...
============================== 1 failed in 1.73s ===============================
"""
CAUSE = "AttributeError(\"module 'triton.language' has no attribute 'maximun'\")"
# A helper that does not compile: its error has no traceback, so pytest prints it without its mark.
HELPER = f"""triton.compiler.errors.CompilationError: at 2:11:
def inner(x):
    return tl.maximun(x, x)
           ^
{CAUSE}

The above exception was the direct cause of the following exception:

    def test_rowcomp():
>       compile(ASTSource(outer, {{"p": "*fp32"}}, {{}}), target=GPUTarget("cuda", 90, 32))
"""
AROUND = """triton.compiler.errors.CompilationError: at 3:16:
def outer(p):
    tl.store(p, inner(x))
                ^"""


def marked(error: str) -> str:
    return "".join(f"E       {line}\n" for line in error.splitlines())


def reason(tmp_path, log: str, told: str | None = None) -> str:
    (tmp_path / "run.log").write_text(HEAD + log + TAIL)
    if told is not None:
        entry = {"result": "failed", "test_case": "test_rowcomp.py::test_rowcomp", "reason": told}
        (tmp_path / "result.json").write_text(json.dumps({"rowcomp": entry}))
    [failure] = read_run(tmp_path, identity={}).failures if told else read_log(tmp_path / "run.log").failures
    return failure.message


def test_the_cause_of_a_compile_error_stands_in_its_reason(tmp_path):
    expected = f"triton.compiler.errors.CompilationError: at 7:15: {CAUSE}"
    assert reason(tmp_path, marked(ERROR)) == expected
    assert reason(tmp_path, marked(ERROR), told=ERROR) == expected


def test_the_error_of_a_helper_is_the_cause_of_its_callers(tmp_path):
    expected = f"triton.compiler.errors.CompilationError: at 3:16: {CAUSE}"
    assert reason(tmp_path, HELPER + marked(AROUND)) == expected
    assert reason(tmp_path, HELPER + marked(AROUND), told=AROUND) == expected


def test_a_helper_with_a_traceback_of_its_own_is_the_cause_too(tmp_path):
    inner = marked(ERROR) + "\na.py:80: CompilationError\n\n" + HELPER.split("\n", 6)[6]
    assert reason(tmp_path, inner + marked(AROUND)).endswith(f"at 3:16: {reason(tmp_path, marked(ERROR))}")


def test_an_error_that_says_what_it_is_in_its_first_line_keeps_it(tmp_path):
    error = (
        "AssertionError: Tensor-likes are not close!\n\nMismatched elements: 1 / 4\nGreatest difference: 2"
    )
    assert reason(tmp_path, marked(error)) == "AssertionError: Tensor-likes are not close!"
